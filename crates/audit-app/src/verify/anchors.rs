//! Anchors as the trusted copy: what they show of each log and its map of tenants, for the comparison with the database.

use super::finding::{Finding, Problem};
use super::walk::Walk;
use crate::error::Result;
use crate::log::stored_keys;
use audit_anchors::{TimeStamp, TimeStampRoots};
use audit_domain::Timestamp;
use audit_ledger::AnchorFile;
use audit_ledger::{AnchorError, AnchoredMap, SignedAnchor, TenantMapKey, TreeHead, VerifierKey};
use audit_secrets::KeyRing;
use audit_store::{DatabaseUrl, inspect};
use std::collections::BTreeMap;
use std::sync::Arc;

/// A time stamp that is older or newer than this is noted. Authorities are asked at once, and again after failures.
const EARLY_SECONDS_MAX: i64 = 300;
const LATE_SECONDS_MAX: i64 = 3_600;

/// A head of a log in an anchor.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AnchoredHead {
    /// Size and root.
    pub head: TreeHead,
    /// The name of the first anchor that has it.
    pub anchor: Arc<str>,
}

/// A map of tenants in an anchor.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AnchoredTenantMap {
    /// Size, root and binding.
    pub map: AnchoredMap,
    /// The name of the first anchor that has it.
    pub anchor: Arc<str>,
}

/// What anchors have of a log, in the order of the anchors.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AnchoredLog {
    /// Its heads.
    pub heads: Vec<AnchoredHead>,
    /// Its maps of tenants.
    pub maps: Vec<AnchoredTenantMap>,
}

/// What anchors have of each log, by project and environment.
pub type AnchoredLogs = BTreeMap<String, AnchoredLog>;

/// What is wrong with an anchor, or with the one before it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AnchorFinding {
    /// The name of the anchor.
    pub anchor: String,
    /// The problem.
    pub problem: String,
}

/// The report on a set of anchors.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AnchorReport {
    /// The number of anchors.
    pub anchors: usize,
    /// The number of those with a time stamp.
    pub stamped: usize,
    /// The start of the first and of the last interval.
    pub range: Option<(Timestamp, Timestamp)>,
    /// What contradicts.
    pub findings: Vec<AnchorFinding>,
    /// Intervals without an anchor, and clocks that differ. They may have harmless causes.
    pub notes: Vec<String>,
    /// What the anchors that a key has signed have of the logs.
    pub logs: AnchoredLogs,
}

/// The keys in the database that verify anchors and checkpoints, the present one first.
///
/// # Errors
/// When the database cannot be read, or the key is encrypted with another key.
pub fn keys_in_database(url: &DatabaseUrl, keys: &KeyRing) -> Result<Vec<VerifierKey>> {
    inspect(url, |reader| stored_keys(reader, keys))
}

/// Verifies anchors: their signatures, their order and their time stamps. With `roots`, the time stamps must be by these
/// authorities; without, only that they are over the anchors is checked.
pub fn verify_anchors(
    files: &[AnchorFile],
    keys: &[VerifierKey],
    roots: Option<&TimeStampRoots>,
) -> AnchorReport {
    let mut report = AnchorReport {
        anchors: files.len(),
        ..AnchorReport::default()
    };
    let mut opened = Vec::new();
    for file in files {
        match SignedAnchor::open(&file.document, keys) {
            Ok(signed) => {
                let own = signed.anchor().file_name();
                // A copy may have any other name.
                if is_file_name(&file.name) && file.name != own {
                    report.add(&file.name, &format!("it is the anchor {own}"));
                }
                report.check_stamp(file, &signed, roots);
                opened.push((file, signed));
            }
            Err(error) => report.add(&file.name, &describe(&error)),
        }
    }
    opened.sort_by_key(|(_, signed)| signed.anchor().number);
    for pair in opened.windows(2) {
        let [(before_file, before), (file, next)] = pair else {
            continue;
        };
        report.check_later((&before_file.name, before), (&file.name, next));
    }
    let due = |signed: &SignedAnchor| signed.anchor().due;
    if let (Some((_, first)), Some((_, last))) = (opened.first(), opened.last()) {
        report.range = Some((due(first), due(last)));
    }
    for (file, signed) in &opened {
        report.add_logs(&file.name, signed);
    }
    report
}

/// Whether a name is one of the file of an anchor.
fn is_file_name(name: &str) -> bool {
    let is_as_in_form = |(is, form): (u8, u8)| match form {
        b'0' => is.is_ascii_digit(),
        form => is == form,
    };
    let form = "00000000T000000Z";
    name.len() == form.len() && name.bytes().zip(form.bytes()).all(is_as_in_form)
}

fn describe(error: &AnchorError) -> String {
    format!("it is not an anchor that the log's key has signed: {error}")
}

impl AnchorReport {
    fn add(&mut self, anchor: &str, problem: &str) {
        self.findings.push(AnchorFinding {
            anchor: anchor.to_owned(),
            problem: problem.to_owned(),
        });
    }

    fn check_stamp(&mut self, file: &AnchorFile, signed: &SignedAnchor, roots: Option<&TimeStampRoots>) {
        let Some(bytes) = &file.time_stamp else {
            return;
        };
        self.stamped += 1;
        let checked = TimeStamp::parse(bytes).and_then(|stamp| {
            stamp.check_digest(signed.digest().as_bytes())?;
            roots.map_or(Ok(()), |roots| stamp.verify(roots))?;
            Ok(stamp)
        });
        match checked {
            Ok(stamp) => {
                let stated = signed.anchor().time;
                let late = stamp.time().as_seconds() - stated.as_seconds();
                if !(-EARLY_SECONDS_MAX..=LATE_SECONDS_MAX).contains(&late) {
                    self.notes.push(format!(
                        "anchor {} states the time {stated}, and its time stamp {}",
                        file.name,
                        stamp.time()
                    ));
                }
            }
            Err(error) => self.add(&file.name, &format!("its time stamp is wrong: {error}")),
        }
    }

    /// Compares an anchor with the one before it.
    fn check_later(&mut self, before: (&str, &SignedAnchor), next: (&str, &SignedAnchor)) {
        let (one, other) = (before.1.anchor(), next.1.anchor());
        if before.1.note() == next.1.note() {
            // Two copies of one anchor.
            return;
        }
        if let Err(error) = before.1.check_later(next.1) {
            self.add(
                next.0,
                &format!("it contradicts the anchor {}: {error}", before.0),
            );
        }
        let missing = other.number.saturating_sub(one.number + 1);
        if missing > 0 {
            self.notes.push(format!(
                "{missing} anchors are missing between {} and {}",
                before.0, next.0
            ));
        } else if other.due
            > one
                .due
                .plus_seconds(i64::from(one.every_seconds.max(other.every_seconds)))
        {
            self.notes
                .push(format!("no anchor was made between {} and {}", before.0, next.0));
        }
    }

    fn add_logs(&mut self, name: &str, signed: &SignedAnchor) {
        let anchor: Arc<str> = name.into();
        for (log, head) in &signed.anchor().heads {
            let heads = &mut self.logs.entry(log.clone()).or_default().heads;
            if heads.last().is_none_or(|last| last.head != *head) {
                heads.push(AnchoredHead {
                    head: *head,
                    anchor: Arc::clone(&anchor),
                });
            }
        }
        for (log, map) in &signed.anchor().maps {
            let maps = &mut self.logs.entry(log.clone()).or_default().maps;
            if maps.last().is_none_or(|last| last.map != *map) {
                maps.push(AnchoredTenantMap {
                    map: *map,
                    anchor: Arc::clone(&anchor),
                });
            }
        }
    }
}

impl Walk<'_, '_> {
    /// Compares the tree with what anchors show of the log. Of each kind the first contradiction is found: the anchors after
    /// it have the same. Returns the number of events that the anchors confirm.
    pub(super) fn check_anchored(&mut self, heads: &[AnchoredHead], size: u64) -> u64 {
        let cut_off = heads.iter().find(|anchored| anchored.head.size > size);
        if let Some(anchored) = cut_off {
            let problem = Problem::AnchoredCutOff(Arc::clone(&anchored.anchor));
            self.findings
                .add(Finding::events(size..anchored.head.size, problem));
        }
        let mut verified = 0;
        for anchored in heads {
            let TreeHead { size, root } = anchored.head;
            match self.root_at(size) {
                Some(found) if found == root => verified = size,
                Some(_) => {
                    let problem = Problem::AnchoredDifferent(Arc::clone(&anchored.anchor));
                    let range = verified.min(size - 1)..size;
                    self.findings.add(Finding::events(range, problem));
                    break;
                }
                None => {}
            }
        }
        verified
    }

    /// Compares the maps of tenants in anchors with those of the events. `confirmed` events are the ones that were anchored: a map
    /// of more events may differ because of them. The first contradiction is found.
    pub(super) fn check_anchored_maps(
        &mut self,
        maps: &[AnchoredTenantMap],
        key: Option<&TenantMapKey>,
        confirmed: u64,
    ) {
        let walked = self.maps.take();
        let root_at = |size| walked.as_ref().and_then(|walked| walked.root_at(size));
        for AnchoredTenantMap { map, anchor } in maps {
            if key.is_none_or(|key| key.binding(map.size) != map.binding) {
                let problem = Problem::AnchoredMapSecret(Arc::clone(anchor));
                self.findings.add(Finding::log(problem));
                return;
            }
            let is_other = root_at(map.size).is_some_and(|root| root != map.root);
            if is_other && map.size <= confirmed {
                let problem = Problem::AnchoredMap(Arc::clone(anchor));
                self.findings.add(Finding::events(0..map.size, problem));
                return;
            }
        }
    }
}

#[cfg(test)]
mod tests;
