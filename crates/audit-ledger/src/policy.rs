//! Trust policies: C2SP `tlog-policy`. Which logs are trusted, and which witnesses must have cosigned.

use crate::merge::{merge_signatures, note_text};
use crate::{CheckpointError, KeyError, Origin, SignedCheckpoint, VerifierKey, WitnessKey};
use std::collections::{BTreeMap, BTreeSet};

/// A policy file. Its text names logs, witnesses and groups of them, and the quorum.
///
/// ```
/// use audit_ledger::Policy;
///
/// let policy: Policy = "
///     log audit.example.com+4ffeabe4+AQOhB7/zzhC+HXDdGOdLwJln5NYwm6UNXx3chmQSVTG4
///     quorum none
/// ".parse()?;
/// assert_eq!((policy.logs().len(), policy.witnesses().len()), (1, 0));
/// # Ok::<(), audit_ledger::PolicyError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Policy {
    logs: Vec<VerifierKey>,
    witnesses: Vec<PolicyWitness>,
    groups: BTreeMap<String, Group>,
    /// The name of a witness or a group; `None` without cosignatures.
    quorum: Option<String>,
}

/// A witness of a policy.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PolicyWitness {
    /// The name within the policy.
    pub name: String,
    /// The key.
    pub key: WitnessKey,
    /// The prefix of the URL that accepts checkpoints.
    pub url: Option<String>,
}

/// Witnesses and groups, of which a number must have cosigned.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Group {
    needed: usize,
    members: Vec<String>,
}

/// A text is not a policy, or a checkpoint does not satisfy it.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PolicyError {
    /// A line is not one of the format.
    #[error("line {line}: {problem}")]
    Line {
        /// The number of the line, from 1.
        line: usize,
        /// What is wrong with it.
        problem: &'static str,
    },
    /// A key cannot be read.
    #[error("line {line}: {source}")]
    Key {
        /// The number of the line, from 1.
        line: usize,
        /// The cause.
        #[source]
        source: KeyError,
    },
    /// There is no line `quorum`, or there are two.
    #[error("a policy has exactly one line with the quorum")]
    Quorum,
    /// No log of the policy signed the checkpoint.
    #[error(transparent)]
    Checkpoint(#[from] CheckpointError),
    /// Too few witnesses cosigned the checkpoint.
    #[error("the checkpoint is cosigned by {} of the witnesses, which is not the quorum", .0.len())]
    TooFewWitnesses(Vec<String>),
}

/// Of `tlog-policy`: it recommends at least 32 of each.
const LINES_MAX: usize = 1_000;

impl Policy {
    /// The trusted logs.
    pub fn logs(&self) -> &[VerifierKey] {
        &self.logs
    }

    /// The known witnesses.
    pub fn witnesses(&self) -> &[PolicyWitness] {
        &self.witnesses
    }

    /// Whether cosignatures by these witnesses, by their names in the policy, are the quorum.
    pub fn is_quorum(&self, cosigners: &BTreeSet<&str>) -> bool {
        self.quorum
            .as_deref()
            .is_none_or(|quorum| self.has_cosigned(quorum, cosigners))
    }

    /// The names of the witnesses whose valid cosignatures are on a note.
    pub fn cosigners(&self, note: &str) -> BTreeSet<&str> {
        let cosigned = self
            .witnesses
            .iter()
            .filter(|witness| witness.key.find(note).is_some());
        cosigned.map(|witness| witness.name.as_str()).collect()
    }

    /// A note with the valid cosignatures that the policy's witnesses have left on `other`, a note of the same text, and whether
    /// they are the quorum. Signatures of others on `other` are left out.
    pub fn cosigned(&self, note: &str, other: &str) -> (String, bool) {
        let mut cosigned = note.to_owned();
        for witness in &self.witnesses {
            let cosignature = witness.key.find(other);
            let line = cosignature
                .map(|cosignature| format!("{}\n{}", note_text(other).unwrap_or_default(), cosignature.line));
            if let Some(merged) = line.and_then(|line| merge_signatures(&cosigned, &line)) {
                cosigned = merged;
            }
        }
        let is_quorum = self.is_quorum(&self.cosigners(&cosigned));
        (cosigned, is_quorum)
    }

    /// Whether the quorum can be reached with the cosignatures of the witnesses that have a URL.
    pub fn is_reachable(&self) -> bool {
        let asked = self.witnesses.iter().filter(|witness| witness.url.is_some());
        self.is_quorum(&asked.map(|witness| witness.name.as_str()).collect())
    }

    /// Verifies a checkpoint: a log of the policy signed it, and a quorum of witnesses cosigned it.
    ///
    /// # Errors
    /// [`PolicyError::Checkpoint`] and [`PolicyError::TooFewWitnesses`].
    pub fn verify(&self, note: &str, origin: &Origin) -> Result<SignedCheckpoint, PolicyError> {
        let signed = SignedCheckpoint::open(note, origin, &self.logs)?;
        let cosigners = self.cosigners(note);
        match self.is_quorum(&cosigners) {
            true => Ok(signed),
            false => Err(PolicyError::TooFewWitnesses(
                cosigners.into_iter().map(str::to_owned).collect(),
            )),
        }
    }

    /// Recursion ends: a group names only what was defined before it.
    fn has_cosigned(&self, name: &str, cosigners: &BTreeSet<&str>) -> bool {
        match self.groups.get(name) {
            None => cosigners.contains(name),
            Some(group) => {
                let members = group.members.iter();
                members
                    .filter(|member| self.has_cosigned(member, cosigners))
                    .count()
                    >= group.needed
            }
        }
    }
}

/// Reads a policy line by line.
#[derive(Default)]
struct Parser {
    logs: Vec<VerifierKey>,
    witnesses: Vec<PolicyWitness>,
    groups: BTreeMap<String, Group>,
    quorum: Option<Option<String>>,
    /// The names that are members of a group.
    members: BTreeSet<String>,
}

impl std::str::FromStr for Policy {
    type Err = PolicyError;

    fn from_str(text: &str) -> Result<Self, PolicyError> {
        let mut parser = Parser::default();
        for (index, text) in text.split('\n').enumerate() {
            let line = index + 1;
            let wrong = |problem| PolicyError::Line { line, problem };
            if line > LINES_MAX {
                return Err(wrong("a policy has at most 1,000 lines"));
            }
            if text
                .bytes()
                .any(|byte| byte != b'\t' && (byte < b' ' || byte == 0x7f))
            {
                return Err(wrong("control characters are not allowed"));
            }
            let items: Vec<&str> = text.split([' ', '\t']).filter(|item| !item.is_empty()).collect();
            match items.as_slice() {
                [] => {}
                [first, ..] if first.starts_with('#') => {}
                ["log", key] | ["log", key, _] => parser.log(line, key)?,
                ["witness", name, key] => parser.witness(line, name, key, None)?,
                ["witness", name, key, url] => parser.witness(line, name, key, Some(url))?,
                ["group", name, needed, members @ ..] => {
                    parser.group(name, needed, members).map_err(wrong)?;
                }
                ["quorum", name] => parser.quorum(name, line)?,
                _ => return Err(wrong("must be a log, a witness, a group or the quorum")),
            }
        }
        Ok(Self {
            logs: parser.logs,
            witnesses: parser.witnesses,
            groups: parser.groups,
            quorum: parser.quorum.ok_or(PolicyError::Quorum)?,
        })
    }
}

impl Parser {
    fn log(&mut self, line: usize, key: &str) -> Result<(), PolicyError> {
        let key: VerifierKey = key.parse().map_err(|source| PolicyError::Key { line, source })?;
        if self.logs.iter().any(|log| log.public_key() == key.public_key()) {
            let problem = "another line has the key of this log";
            return Err(PolicyError::Line { line, problem });
        }
        self.logs.push(key);
        Ok(())
    }

    fn witness(&mut self, line: usize, name: &str, key: &str, url: Option<&&str>) -> Result<(), PolicyError> {
        let key: WitnessKey = key.parse().map_err(|source| PolicyError::Key { line, source })?;
        let wrong = |problem| PolicyError::Line { line, problem };
        if self
            .witnesses
            .iter()
            .any(|witness| witness.key.public_key() == key.public_key())
        {
            return Err(wrong("another line has the key of this witness"));
        }
        self.check_new(name).map_err(wrong)?;
        self.witnesses.push(PolicyWitness {
            name: name.to_owned(),
            key,
            url: url.map(ToString::to_string),
        });
        Ok(())
    }

    fn group(&mut self, name: &str, needed: &str, members: &[&str]) -> Result<(), &'static str> {
        self.check_new(name)?;
        let needed = match needed {
            "all" => members.len(),
            "any" => 1,
            number => number
                .parse()
                .map_err(|_| "a group has `all`, `any` or a number before its members")?,
        };
        if !(1..=members.len()).contains(&needed) {
            return Err("a group has members, and needs at least one of them and at most all");
        }
        for member in members {
            if !self.is_defined(member) {
                return Err("a member of the group is not defined on a line before it");
            }
            if !self.members.insert((*member).to_owned()) {
                return Err("a witness or group is a member at most once");
            }
        }
        let members = members.iter().map(ToString::to_string).collect();
        self.groups.insert(name.to_owned(), Group { needed, members });
        Ok(())
    }

    fn quorum(&mut self, name: &str, line: usize) -> Result<(), PolicyError> {
        if self.quorum.is_some() {
            return Err(PolicyError::Quorum);
        }
        if name != NONE && !self.is_defined(name) {
            let problem = "the quorum is not defined on a line before it";
            return Err(PolicyError::Line { line, problem });
        }
        self.quorum = Some((name != NONE).then(|| name.to_owned()));
        Ok(())
    }

    fn is_defined(&self, name: &str) -> bool {
        self.groups.contains_key(name) || self.witnesses.iter().any(|witness| witness.name == name)
    }

    fn check_new(&self, name: &str) -> Result<(), &'static str> {
        match name == NONE || self.is_defined(name) {
            true => Err("the name is already defined"),
            false => Ok(()),
        }
    }
}

/// The name of the quorum without cosignatures.
const NONE: &str = "none";

#[cfg(test)]
mod tests;
