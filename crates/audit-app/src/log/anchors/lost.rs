//! Anchors that were sent and that the database has lost: a failover to an asynchronous standby loses the newest commits. Another
//! anchor with the same number would contradict the one that was sent, so that one is stored again.
//!
//! What this process has sent it remembers. What others have sent is read back from the places that can be read: the directory and
//! the bucket. An anchor counts only with a signature of the log's key, so no place can plant one.

use super::{AnchorInterval, AnchorPlaces};
use crate::error::{AppError, Result};
use crate::log::LogSigner;
use crate::service::AuditLog;
use audit_anchors::{PlaceError, TimeStamp, read_from};
use audit_domain::Timestamp;
use audit_ledger::{Anchor, SignedAnchor};
use audit_store::StoredAnchor;

/// The maximum number of anchors that are looked for in a place. Usually it is one: that of the present interval.
const LOOKED_FOR_MAX: usize = 100;
/// The maximum size of a time stamp.
const TIME_STAMP_BYTES_MAX: u64 = 64 * 1024;

/// The extensions of files and objects.
pub(super) const DOCUMENT: &str = ".anchor";
pub(super) const TIME_STAMP: &str = ".tsr";

impl AnchorPlaces {
    /// Calls `found` with each content of this name, until it returns a value.
    fn read<T>(
        &self,
        name: &str,
        bytes_max: u64,
        now: Timestamp,
        found: impl Fn(&[u8]) -> Option<T>,
    ) -> Result<Option<T>, PlaceError> {
        let directory = self.directory.as_deref();
        let in_directory = directory.map_or(Ok(None), |directory| read_from(directory, name, bytes_max));
        if let Ok(Some(content)) = &in_directory
            && let Some(value) = found(content)
        {
            return Ok(Some(value));
        }
        let bucket = self.bucket.as_ref();
        let in_bucket = bucket.map_or(Ok(None), |bucket| bucket.read(name, bytes_max, now))?;
        match in_bucket.as_deref().and_then(found) {
            Some(value) => Ok(Some(value)),
            None => in_directory.map(|_| None),
        }
    }
}

/// The starts of intervals between the last anchor and the present one, latest first.
fn dues_behind(last: Option<&StoredAnchor>, every: AnchorInterval, due: Timestamp) -> Vec<Timestamp> {
    let Some(last) = last else {
        return vec![due];
    };
    let every = i64::from(every.seconds);
    let before = |steps: usize| due.plus_seconds(-every * steps as i64);
    (0..LOOKED_FOR_MAX)
        .map(before)
        .take_while(|due| *due > last.due_at)
        .collect()
}

impl AuditLog {
    /// The last anchor that was made before or for the interval that begins at `due`, also where the database has lost it.
    pub(super) fn last_anchor(
        &self,
        places: &AnchorPlaces,
        every: AnchorInterval,
        due: Timestamp,
    ) -> Result<Option<StoredAnchor>> {
        self.restore_remembered_anchor()?;
        let last = self.store.read(|reader| reader.last_anchor())?;
        let number = last.as_ref().map_or(0, |last| last.number);
        let signer = self.log_signer()?;
        for due in dues_behind(last.as_ref(), every, due) {
            match read_back(places, signer, due, number, self.clock.now()) {
                Ok(Some(lost)) => {
                    self.restore_anchor(lost)?;
                    return Ok(self.store.read(|reader| reader.last_anchor())?);
                }
                Ok(None) => {}
                Err(error) => {
                    log::warn!(
                        "anchors cannot be read back, so the next one follows that in the database: {error}"
                    );
                    break;
                }
            }
        }
        Ok(last)
    }

    /// Remembers an anchor that the log's key has signed, if it is later than the one that is remembered.
    pub(super) fn remember_anchor(&self, anchor: &SignedAnchor, time_stamp: Option<&[u8]>) {
        let stored = stored(anchor, time_stamp.map(<[u8]>::to_vec));
        let mut newest = self.anchoring.newest.lock();
        if newest
            .as_ref()
            .is_none_or(|newest| newest.number <= stored.number)
        {
            *newest = Some(stored);
        }
    }

    /// Stores the remembered anchor again if the database has lost it.
    pub(super) fn restore_remembered_anchor(&self) -> Result<()> {
        let Some(newest) = self.anchoring.newest.lock().clone() else {
            return Ok(());
        };
        let last = self.store.read(|reader| reader.last_anchor())?;
        let is_lost = last.is_none_or(|last| last.number < newest.number && last.due_at < newest.due_at);
        match is_lost {
            true => self.restore_anchor(newest),
            false => Ok(()),
        }
    }

    fn restore_anchor(&self, lost: StoredAnchor) -> Result<()> {
        let (number, now) = (lost.number, self.clock.now());
        let is_restored = self.store.write(move |writer| {
            let is_inserted = writer.insert_anchor(lost.number, lost.due_at, &lost.document, now)?;
            if let Some(time_stamp) = lost.time_stamp.filter(|_| is_inserted) {
                writer.store_time_stamp(lost.number, &time_stamp)?;
            }
            Ok::<_, AppError>(is_inserted)
        })?;
        if is_restored {
            log::warn!("anchor {number} was sent, and the database had lost it: it is stored again");
        }
        Ok(())
    }
}

/// The anchor of an interval in a place, if the log's key has signed it and its number is higher than this one.
fn read_back(
    places: &AnchorPlaces,
    signer: &LogSigner,
    due: Timestamp,
    number: i64,
    now: Timestamp,
) -> Result<Option<StoredAnchor>, PlaceError> {
    let name = Anchor::file_name_of(due);
    let is_later = |anchor: &Anchor| anchor.due == due && anchor.number > number.unsigned_abs();
    let document = format!("{name}{DOCUMENT}");
    let opened = places.read(&document, Anchor::BYTES_MAX as u64, now, |bytes| {
        let opened = signer.open_anchor(std::str::from_utf8(bytes).ok()?).ok()?;
        is_later(opened.anchor()).then_some(opened)
    })?;
    let Some(anchor) = opened else {
        return Ok(None);
    };
    let digest = *anchor.digest().as_bytes();
    let stamp = format!("{name}{TIME_STAMP}");
    let time_stamp = places.read(&stamp, TIME_STAMP_BYTES_MAX, now, |bytes| {
        let is_its_own = TimeStamp::parse(bytes).is_ok_and(|stamp| stamp.check_digest(&digest).is_ok());
        is_its_own.then(|| bytes.to_vec())
    })?;
    Ok(Some(stored(&anchor, time_stamp)))
}

fn stored(anchor: &SignedAnchor, time_stamp: Option<Vec<u8>>) -> StoredAnchor {
    StoredAnchor {
        number: anchor.anchor().number.cast_signed(),
        due_at: anchor.anchor().due,
        document: anchor.note().to_owned(),
        time_stamp,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn last(due_at: Timestamp) -> StoredAnchor {
        StoredAnchor {
            number: 1,
            due_at,
            document: String::new(),
            time_stamp: None,
        }
    }

    #[test]
    fn anchors_are_looked_for_behind_the_last_one() {
        let every: AnchorInterval = "1h".parse().unwrap();
        let due = Timestamp::parse_rfc3339("2026-01-15T10:00:00Z").unwrap();
        let hours_before = |hours: i64| due.plus_seconds(-3_600 * hours);
        let looked_for = |hours| dues_behind(Some(&last(hours_before(hours))), every, due);
        assert_eq!(dues_behind(None, every, due), [due]);
        assert_eq!(looked_for(0), []);
        assert_eq!(looked_for(1), [due]);
        assert_eq!(looked_for(3), [due, hours_before(1), hours_before(2)]);
        assert_eq!(looked_for(1_000).len(), LOOKED_FOR_MAX);
    }
}
