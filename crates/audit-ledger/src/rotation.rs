//! Rotations of the key of a log: statements by which a key names the one that follows it.
//!
//! A statement is a signed note. Its text is
//!
//! ```text
//! audit-log key rotation/v1
//! <the key so far>
//! <the new key>
//! ```
//!
//! Both keys sign it: the old one authorizes the new one, and the new one accepts. So nobody without the old key can rotate, and
//! nobody can claim another deployment's key as the successor of one's own. The second line is no number, so no statement is a
//! checkpoint.

use crate::checkpoint::{CheckpointError, SignedCheckpoint};
use crate::key::{KeyError, SigningKey, VerifierKey, signature_line};
use crate::note::{NoteError, SignedNote};
use std::slice::from_ref;

/// The first line of a statement.
const HEADER: &str = "audit-log key rotation/v1";

/// A verified statement.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeyRotation {
    old: VerifierKey,
    new: VerifierKey,
    note: String,
}

/// A text is not a statement of a rotation.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum KeyRotationError {
    /// It is not a note, or one of the two keys has not signed it.
    #[error(transparent)]
    Note(#[from] NoteError),
    /// A key cannot be read.
    #[error(transparent)]
    Key(#[from] KeyError),
    /// The text has other lines.
    #[error("a rotation has the line \"{HEADER}\", the old key and the new key")]
    Lines,
    /// The keys are equal, or have different names.
    #[error("a rotation is from one key to another one of the same name")]
    Keys,
    /// Two statements name different successors of one key: somebody else has used it.
    #[error("two keys follow the key {0}: somebody else has had it")]
    TwoSuccessors(String),
    /// There are more than [`KeyRotation::CHAIN_MAX`] statements.
    #[error("there are more than {} rotations", KeyRotation::CHAIN_MAX)]
    TooMany,
}

impl KeyRotation {
    /// Most statements in one text.
    pub const CHAIN_MAX: usize = 1_000;

    /// The text of the statement that a new key follows an old one. Both sign it.
    pub fn text(old: &VerifierKey, new: &VerifierKey) -> String {
        format!("{HEADER}\n{old}\n{new}\n")
    }

    /// The statement with signatures over its [text](Self::text), which may have been made elsewhere, such as in an HSM.
    ///
    /// # Errors
    /// [`KeyRotationError`] if one is not a signature of its key, or if it is the same key or has another name.
    pub fn attach(
        old: &VerifierKey,
        new: &VerifierKey,
        by_old: &[u8],
        by_new: &[u8],
    ) -> Result<Self, KeyRotationError> {
        let line = |key: &VerifierKey, signature| signature_line(key.name(), key.id(), signature);
        let (by_old, by_new) = (line(old, by_old), line(new, by_new));
        Self::open(&format!("{}\n{by_old}{by_new}", Self::text(old, new)))
    }

    /// Parses and verifies a statement.
    ///
    /// # Errors
    /// [`KeyRotationError`] names the check that failed.
    pub fn open(note: &str) -> Result<Self, KeyRotationError> {
        let signed = SignedNote::parse(note)?;
        let lines = signed
            .text()
            .strip_suffix('\n')
            .map(|text| text.split('\n').collect::<Vec<_>>());
        let Some([HEADER, old, new]) = lines.as_deref() else {
            return Err(KeyRotationError::Lines);
        };
        let (old, new): (VerifierKey, VerifierKey) = (old.parse()?, new.parse()?);
        if old == new || old.name() != new.name() {
            return Err(KeyRotationError::Keys);
        }
        signed.verify(from_ref(&old))?;
        signed.verify(from_ref(&new))?;
        Ok(Self {
            old,
            new,
            note: note.to_owned(),
        })
    }

    /// Reads statements, each of which begins behind the end of the one before it.
    ///
    /// # Errors
    /// [`KeyRotationError`] of the first one that is not valid, or names another successor than one before it.
    pub fn open_all(text: &str) -> Result<Vec<Self>, KeyRotationError> {
        let starts: Vec<usize> = text
            .match_indices(HEADER)
            .map(|(start, _)| start)
            .filter(|start| *start == 0 || text[..*start].ends_with('\n'))
            .collect();
        if starts.len() > Self::CHAIN_MAX {
            return Err(KeyRotationError::TooMany);
        }
        if starts.first().unwrap_or(&text.len()) != &0 {
            return Err(KeyRotationError::Lines);
        }
        let ends = starts.iter().skip(1).copied().chain([text.len()]);
        let statements = starts.iter().zip(ends);
        let rotations = statements.map(|(start, end)| Self::open(&text[*start..end]));
        let rotations: Vec<Self> = rotations.collect::<Result<_, _>>()?;
        for (index, Self { old, new, .. }) in rotations.iter().enumerate() {
            if rotations[..index]
                .iter()
                .any(|other| other.old == *old && other.new != *new)
            {
                return Err(KeyRotationError::TwoSuccessors(old.to_string()));
            }
        }
        Ok(rotations)
    }

    /// The key so far.
    pub const fn old(&self) -> &VerifierKey {
        &self.old
    }

    /// The key that follows it.
    pub const fn new_key(&self) -> &VerifierKey {
        &self.new
    }

    /// The statement with both signatures.
    pub fn note(&self) -> &str {
        &self.note
    }
}

/// The keys that follow a known one, by these statements; the known one is the first.
pub fn key_successors(known: &VerifierKey, rotations: &[KeyRotation]) -> Vec<VerifierKey> {
    let mut keys = vec![known.clone()];
    while let Some(rotation) = keys
        .last()
        .and_then(|last| rotations.iter().find(|rotation| rotation.old == *last))
    {
        if keys.contains(&rotation.new) {
            break;
        }
        keys.push(rotation.new.clone());
    }
    keys
}

/// The keys that a known one has followed, by these statements, the known one included: latest first.
pub fn key_predecessors(known: &VerifierKey, rotations: &[KeyRotation]) -> Vec<VerifierKey> {
    let mut keys = vec![known.clone()];
    while let Some(rotation) = keys
        .last()
        .and_then(|last| rotations.iter().find(|rotation| rotation.new == *last))
    {
        if keys.contains(&rotation.old) {
            break;
        }
        keys.push(rotation.old.clone());
    }
    keys
}

impl SigningKey {
    /// The statement that another key of the same name follows this one.
    ///
    /// # Errors
    /// [`KeyRotationError::Keys`] if it is the same key or has another name.
    pub fn rotate_to(&self, new: &Self) -> Result<KeyRotation, KeyRotationError> {
        let (old, following) = (self.verifier(), new.verifier());
        let (by_old, by_new) = (
            self.sign_rotation(old, following),
            new.sign_rotation(old, following),
        );
        KeyRotation::attach(old, following, &by_old, &by_new)
    }

    /// The signature of this key, one of the two, over the statement that a new key follows an old one.
    pub fn sign_rotation(&self, old: &VerifierKey, new: &VerifierKey) -> Vec<u8> {
        self.signature(&KeyRotation::text(old, new))
    }

    /// Adds the signature of this key to a checkpoint that another key of the log has signed.
    pub fn sign_as_well(&self, signed: &SignedCheckpoint) -> SignedCheckpoint {
        let line = self.signature_line(&signed.checkpoint().to_string());
        signed.with_line(&line)
    }
}

impl VerifierKey {
    /// Adds a signature of this key that was made elsewhere to a checkpoint that another key of the log has signed.
    ///
    /// # Errors
    /// [`CheckpointError::Note`] if it is not a signature of this key.
    pub fn attach_as_well(
        &self,
        signed: &SignedCheckpoint,
        signature: &[u8],
    ) -> Result<SignedCheckpoint, CheckpointError> {
        let with = signed.with_line(&signature_line(self.name(), self.id(), signature));
        SignedCheckpoint::open(with.note(), with.checkpoint().origin(), from_ref(self))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Checkpoint, Frontier, KeyName, Origin};

    fn key(seed: u8) -> SigningKey {
        named("log.example", seed)
    }

    fn named(name: &str, seed: u8) -> SigningKey {
        SigningKey::from_seed(KeyName::parse(name).unwrap(), &[seed; 32]).unwrap()
    }

    #[test]
    fn a_chain_of_statements_leads_from_key_to_key() {
        let (one, two, three) = (key(1), key(2), key(3));
        let rotations = [one.rotate_to(&two).unwrap(), two.rotate_to(&three).unwrap()];
        let text: String = rotations.iter().map(KeyRotation::note).collect();
        let read = KeyRotation::open_all(&text).unwrap();
        assert_eq!(read, rotations);
        let all = [&one, &two, &three].map(|key| key.verifier().clone());
        assert_eq!(key_successors(&all[0], &read), all);
        assert_eq!(key_successors(&all[1], &read), all[1..]);
        assert_eq!(key_successors(&all[2], &read), all[2..]);
        assert_eq!(key_successors(key(4).verifier(), &read).len(), 1);
        let mut reversed = all.clone();
        reversed.reverse();
        assert_eq!(key_predecessors(&all[2], &read), reversed);
        assert_eq!(KeyRotation::open_all(""), Ok(Vec::new()));
        let by_thief = one.rotate_to(&key(5)).unwrap();
        let both = format!("{text}{}", by_thief.note());
        let refused = KeyRotation::open_all(&both);
        assert_eq!(refused, Err(KeyRotationError::TwoSuccessors(all[0].to_string())));
        // A circle ends.
        let back = [rotations[0].clone(), two.rotate_to(&one).unwrap()];
        assert_eq!(key_successors(&all[0], &back), all[..2]);
    }

    #[test]
    fn every_changed_bit_of_a_statement_is_refused() {
        let rotation = key(1).rotate_to(&key(2)).unwrap();
        let note = rotation.note().as_bytes();
        for bit in 0..note.len() * 8 {
            let mut changed = note.to_vec();
            changed[bit / 8] ^= 1 << (bit % 8);
            let Ok(changed) = String::from_utf8(changed) else {
                continue;
            };
            assert!(KeyRotation::open(&changed).is_err(), "bit {bit}: {changed}");
        }
    }

    #[test]
    fn both_keys_must_sign_and_have_one_name() {
        let (one, two) = (key(1), key(2));
        let text = format!("{HEADER}\n{}\n{}\n", one.verifier(), two.verifier());
        for signer in [&one, &two, &key(3)] {
            let note = format!("{text}\n{}", signer.signature_line(&text));
            assert!(matches!(KeyRotation::open(&note), Err(KeyRotationError::Note(_))));
        }
        assert_eq!(one.rotate_to(&key(1)), Err(KeyRotationError::Keys));
        assert_eq!(
            one.rotate_to(&named("other.example", 2)),
            Err(KeyRotationError::Keys)
        );
        for text in [
            "nonsense",
            "audit-log key rotation/v1\n",
            "x\naudit-log key rotation/v1\n",
        ] {
            assert!(KeyRotation::open_all(text).is_err(), "{text:?}");
        }
    }

    #[test]
    fn a_checkpoint_of_two_keys_verifies_with_either() {
        let (one, two) = (key(1), key(2));
        let origin = Origin::parse("log.example/a").unwrap();
        let signed = two.sign(Checkpoint::new(origin.clone(), Frontier::new().head()));
        let both = one.sign_as_well(&signed);
        for key in [&one, &two] {
            let keys = [key.verifier().clone()];
            assert_eq!(SignedCheckpoint::open(both.note(), &origin, &keys).unwrap(), both);
        }
        let stranger = [key(3).verifier().clone()];
        assert!(SignedCheckpoint::open(both.note(), &origin, &stranger).is_err());
    }
}
