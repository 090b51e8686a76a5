//! An event as it is stored: its canonical text with the envelope the service added, and the hash over it.

use crate::content_hash::{EVENTS_AT_ONCE, PartsHash, hash_together};
use crate::field_texts::FieldRanges;
use crate::{
    ContentHash, ContentSalt, Event, EventField, EventId, EventJson, EventText, LogName, PartProofs,
    StoredSalt, Timestamp, ViewerTier, canonical,
};
use audit_sha256::Batch;
use serde_json::{Map, Value};
use std::fmt::Display;

/// The identity of a stored event, and when the service received it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stamp {
    /// The event's id.
    pub id: EventId,
    /// When it was received, to the millisecond.
    pub received_at: Timestamp,
}

impl Stamp {
    /// The earliest stamp at or after `self` that may follow `last` in a log, where ids increase strictly and
    /// `received_at` never decreases.
    #[must_use]
    pub fn following(self, last: Option<Stamp>) -> Self {
        match last {
            Some(last) if self.id <= last.id || self.received_at < last.received_at => Self {
                id: last.id.successor(),
                received_at: last.received_at.max(self.received_at),
            },
            _ => self,
        }
    }
}

impl Stamp {
    /// The later of both ids and of both times.
    #[must_use]
    pub fn latest(self, other: Option<Stamp>) -> Self {
        other.map_or(self, |other| Self {
            id: self.id.max(other.id),
            received_at: self.received_at.max(other.received_at),
        })
    }
}

/// A redacted event with its stamp, in the form that is hashed, stored and read back: the canonical JSON of
/// everything a full read returns but `content_hash`, `content_salt` and `redacted`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Record {
    stamp: Stamp,
    logged_at: Timestamp,
    occurred_at: Timestamp,
    occurred_when_received: bool,
    redacted: bool,
    canonical: String,
    ranges: FieldRanges,
}

impl Record {
    /// Stamps an event that has been redacted.
    pub fn new(event: &Event, redacted: bool, stamp: Stamp) -> Self {
        Self::of_text(event, &event.to_text(), redacted, stamp)
    }

    /// [`Self::new`] for an event whose text has been written already.
    pub fn of_text(event: &Event, text: &EventText, redacted: bool, stamp: Stamp) -> Self {
        /// An upper bound of what the envelope adds.
        const ENVELOPE_BYTES: usize = 144;
        let received_at = stamp.received_at.truncated_to_millis();
        let occurred_at = event.occurred_at.unwrap_or(received_at);
        let mut canonical = String::with_capacity(text.as_str().len() + ENVELOPE_BYTES);
        let mut add = |before: &str, name: &str, value: &dyn Display| {
            canonical.push_str(before);
            let added_at = canonical.len();
            canonical.extend([",\"", name, "\":"]);
            let start = canonical.len();
            canonical::write_plain(&mut canonical, value);
            (start..canonical.len(), canonical.len() - added_at)
        };
        let [before_id, before_occurred, before_received, rest] = text.around_envelope();
        let (id, id_bytes) = add(before_id, "id", &stamp.id);
        let (occurred, occurred_bytes) = add(before_occurred, "occurred_at", &occurred_at);
        let (received, received_bytes) = add(before_received, "received_at", &received_at);
        canonical.push_str(rest);
        let mut ranges = text.ranges_with_envelope([id_bytes, occurred_bytes, received_bytes]);
        ranges.set(EventField::Id, id);
        ranges.set(EventField::OccurredAt, occurred);
        ranges.set(EventField::ReceivedAt, received);
        Self {
            stamp: Stamp { received_at, ..stamp },
            logged_at: received_at,
            occurred_at,
            occurred_when_received: event.occurred_at.is_none(),
            redacted,
            canonical,
            ranges,
        }
    }

    /// The record of an event of an anonymous stream that a project claims, after more was redacted of it. Its stamp and times stay.
    ///
    /// # Errors
    /// [`DamagedEvent`] when the object is not an event.
    pub fn claimed(
        mut object: Map<String, Value>,
        redacted: bool,
        stamp: Stamp,
        occurred_at: Timestamp,
        claimed_at: Timestamp,
    ) -> Result<Self, DamagedEvent> {
        let claimed_at = claimed_at.truncated_to_millis();
        object.insert(EventField::ClaimedAt.to_string(), claimed_at.to_string().into());
        let mut canonical = String::with_capacity(768);
        canonical::write_object(&mut canonical, &object);
        let ranges = FieldRanges::find(&canonical).ok_or_else(|| DamagedEvent::no_event(stamp.id))?;
        Ok(Self {
            stamp,
            logged_at: claimed_at,
            occurred_at,
            occurred_when_received: false,
            redacted,
            canonical,
            ranges,
        })
    }

    /// The record with its content hash in a log.
    #[must_use]
    pub fn hashed(self, content_salt: ContentSalt, log: &LogName) -> HashedRecord {
        let fields = self.ranges.of(&self.canonical);
        let hashed = hash_together(&[(fields, content_salt)], log, &mut Batch::default());
        let [hash] = hashed.try_into().expect("one event has one hash");
        self.with_hash(content_salt, RecordHash(hash))
    }

    /// The content hashes of the records of a batch, in their order. Hashing them together takes less time than one after the other.
    pub fn hashes<'a>(
        records: impl Iterator<Item = (&'a Self, ContentSalt)>,
        log: &LogName,
    ) -> Vec<RecordHash> {
        let mut batch = Batch::default();
        let fields = records.map(|(record, salt)| (record.ranges.of(&record.canonical), salt));
        let fields: Vec<_> = fields.collect();
        let together = fields.chunks(EVENTS_AT_ONCE);
        let hashes = together.flat_map(|fields| hash_together(fields, log, &mut batch));
        hashes.map(RecordHash).collect()
    }

    /// The record with its hash, which was computed with this salt.
    #[must_use]
    pub fn with_hash(self, content_salt: ContentSalt, hash: RecordHash) -> HashedRecord {
        let RecordHash((parts, content_hash)) = hash;
        HashedRecord {
            record: self,
            content_salt,
            content_hash,
            parts,
        }
    }

    /// Gives the record another stamp. Needed when a record was prepared before another that was stored first:
    /// stamps must follow each other in the order of the log. Ids and times have fixed widths.
    pub fn restamp(&mut self, stamp: Stamp) {
        let received_at = stamp.received_at.truncated_to_millis();
        self.stamp = Stamp { received_at, ..stamp };
        self.logged_at = received_at;
        self.overwrite(EventField::Id, &stamp.id.to_string());
        self.overwrite(EventField::ReceivedAt, &received_at.to_string());
        if self.occurred_when_received {
            self.occurred_at = received_at;
            self.overwrite(EventField::OccurredAt, &received_at.to_string());
        }
    }

    /// Gives the record of a claimed event another time of the claim.
    fn claim_at(&mut self, claimed_at: Timestamp) {
        self.logged_at = claimed_at;
        self.overwrite(EventField::ClaimedAt, &claimed_at.to_string());
    }

    /// Writes another id or time between the quotation marks of its value.
    fn overwrite(&mut self, field: EventField, text: &str) {
        let start = self.ranges.start(field) + 1;
        self.canonical.replace_range(start..start + text.len(), text);
    }

    /// Id and time of receipt.
    pub fn stamp(&self) -> Stamp {
        self.stamp
    }

    /// When the event happened.
    pub fn occurred_at(&self) -> Timestamp {
        self.occurred_at
    }

    /// Whether redaction changed the event.
    pub fn redacted(&self) -> bool {
        self.redacted
    }

    /// The canonical JSON that is hashed and stored.
    pub fn canonical(&self) -> &str {
        &self.canonical
    }

    #[cfg(test)]
    pub(crate) fn field_ranges(&self) -> &FieldRanges {
        &self.ranges
    }
}

/// The content hash of a record in a log: see [`Record::hashes`].
#[derive(Debug)]
pub struct RecordHash((PartsHash, ContentHash));

/// A record with its content hash in a log.
#[derive(Clone, Debug)]
pub struct HashedRecord {
    record: Record,
    content_salt: ContentSalt,
    content_hash: ContentHash,
    /// Everything but the stamp has been hashed, so that another stamp costs little.
    parts: PartsHash,
}

impl HashedRecord {
    /// [`Record::restamp`]. Hashes three blocks.
    pub fn restamp(&mut self, stamp: Stamp) {
        self.record.restamp(stamp);
        self.hash_again();
    }

    /// Makes sure that a claimed event does not enter the log before the event that precedes it there: [`Self::logged_at`] never
    /// decreases. The stamps of other events see to that.
    pub fn claimed_after(&mut self, last: Timestamp) {
        let is_claimed = !self
            .record
            .ranges
            .of(&self.record.canonical)
            .get(EventField::ClaimedAt)
            .is_empty();
        if is_claimed && self.record.logged_at < last {
            self.record.claim_at(last);
            self.hash_again();
        }
    }

    fn hash_again(&mut self) {
        let fields = self.record.ranges.of(&self.record.canonical);
        self.content_hash = self.parts.content_hash(&fields);
    }

    /// Id and time of receipt.
    pub fn stamp(&self) -> Stamp {
        self.record.stamp
    }

    /// When it entered the log: the time of the claim, or else that of receipt.
    pub fn logged_at(&self) -> Timestamp {
        self.record.logged_at
    }

    /// When the event happened.
    pub fn occurred_at(&self) -> Timestamp {
        self.record.occurred_at
    }

    /// Whether redaction changed the event.
    pub fn redacted(&self) -> bool {
        self.record.redacted
    }

    /// The canonical JSON that is hashed and stored.
    pub fn canonical(&self) -> &str {
        &self.record.canonical
    }

    /// The tenant, by the canonical JSON.
    pub fn tenant_id(&self) -> Option<String> {
        let record = &self.record;
        serde_json::from_str(record.ranges.text(EventField::TenantId, &record.canonical)?).ok()
    }

    /// The content hash.
    pub fn content_hash(&self) -> ContentHash {
        self.content_hash
    }

    /// The random bytes in the content hash.
    pub fn content_salt(&self) -> &ContentSalt {
        &self.content_salt
    }
}

/// An event read back from the store.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredEvent {
    /// Its id.
    pub id: EventId,
    /// When it happened.
    pub occurred_at: Timestamp,
    /// The canonical JSON that was stored.
    pub canonical: String,
    /// The hash that was stored beside it.
    pub content_hash: ContentHash,
    /// The random bytes in the hash, or what an erasure left of them.
    pub content_salt: StoredSalt,
    /// Whether redaction changed the event.
    pub redacted: bool,
}

/// The stored text is not one that the service writes.
#[derive(Debug, thiserror::Error)]
#[error("the stored text of event {id} is not an event")]
pub struct DamagedEvent {
    /// The event.
    pub id: EventId,
    #[source]
    source: serde_json::Error,
}

impl DamagedEvent {
    /// The error for a text that has not the members of an event.
    fn no_event(id: EventId) -> Self {
        let source = serde::de::Error::custom("its members are not those of an event");
        Self { id, source }
    }
}

impl StoredEvent {
    /// The content hash that its text and salt have in a log. `None` where they are not those of an event.
    pub fn computed_hash(&self, log: &LogName) -> Option<ContentHash> {
        self.content_salt.content_hash(&self.canonical, log)
    }

    /// The event as a full read returns it, as JSON text: the stored text with `content_hash`, `content_salt` and `redacted` added. An
    /// event of which parts were erased has `erased` and `parts` instead of the salt: [`StoredSalt::to_members`].
    ///
    /// # Errors
    /// [`DamagedEvent`] when the stored text is not JSON.
    pub fn to_json(&self) -> Result<EventJson, DamagedEvent> {
        EventJson::parse(self.json_text()).map_err(|source| self.damaged(source))
    }

    /// [`Self::to_json`] of an event whose [`Self::facets`] were read, which has checked the stored text. To check it again would be most of
    /// the cost.
    pub fn to_checked_json(&self) -> EventJson {
        EventJson::of_checked(self.json_text())
    }

    fn json_text(&self) -> String {
        let rest = self.canonical.strip_prefix('{').unwrap_or_default();
        let salt = match &self.content_salt {
            StoredSalt::Whole(salt) => format!("\"content_salt\":\"{salt}\""),
            parts => {
                let members = canonical::to_string(&parts.to_members().into());
                members[1..members.len() - 1].to_owned()
            }
        };
        format!(
            "{{\"content_hash\":\"{}\",{salt},\"redacted\":{},{rest}",
            self.content_hash, self.redacted
        )
    }

    /// The stored text as a JSON object.
    ///
    /// # Errors
    /// [`DamagedEvent`] when the stored text is not a JSON object.
    pub fn to_stored_object(&self) -> Result<Map<String, Value>, DamagedEvent> {
        serde_json::from_str(&self.canonical).map_err(|source| self.damaged(source))
    }

    /// The event as a full read returns it, as a JSON object.
    ///
    /// # Errors
    /// [`DamagedEvent`] when the stored text is not a JSON object.
    pub fn to_object(&self) -> Result<Map<String, Value>, DamagedEvent> {
        let mut object = self.to_stored_object()?;
        object.insert("content_hash".to_owned(), self.content_hash.to_string().into());
        object.extend(self.content_salt.to_members());
        object.insert("redacted".to_owned(), self.redacted.into());
        Ok(object)
    }

    /// What a reader of the tier needs to compute the content hash from the fields that it sees.
    ///
    /// # Errors
    /// [`DamagedEvent`] when the stored text is not an event.
    pub fn part_proofs(&self, tier: &ViewerTier) -> Result<PartProofs, DamagedEvent> {
        let is_hidden = |part| tier.hides_of(part);
        let proofs = match &self.content_salt {
            StoredSalt::Whole(salt) => PartProofs::new(&self.canonical, salt, is_hidden),
            StoredSalt::Parts(parts) => parts.proofs().clone().hiding(&self.canonical, is_hidden),
        };
        proofs.ok_or_else(|| DamagedEvent::no_event(self.id))
    }

    pub(crate) fn damaged(&self, source: serde_json::Error) -> DamagedEvent {
        DamagedEvent { id: self.id, source }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Environment, ProjectId, canonical};
    use serde_json::json;

    fn event(occurred_at: Option<&str>) -> Event {
        let mut value = json!({
            "action": "user.created", "category": "mutation", "tenant_id": "t\u{1f600}", "idempotency_key": "k",
            "actor": {"id": "a", "type": "user", "name": "n", "email": "e", "on_behalf_of": {"id": "b", "type": "user"}},
            "targets": [{"id": "x", "type": "y", "name": "z"}, {"id": "v", "type": "w"}], "outcome": "failure",
            "context": {"ip_address": "i", "user_agent": "u", "location": "l", "session_id": "s"},
            "metadata": {"b": 1.50, "a": [true, null]}, "changes": [{"field": "f", "before": 1, "after": {"z": 1, "a": 2}}, {"field": "g", "before": null}],
        });
        if let Some(occurred_at) = occurred_at {
            value["occurred_at"] = json!(occurred_at);
        }
        Event::from_json(value, Timestamp::from_seconds(1_768_473_000)).unwrap()
    }

    fn stamp(millis: i64, random: u8) -> Stamp {
        let received_at = Timestamp::from_millis(millis);
        Stamp {
            id: EventId::new(received_at, [random; 10]),
            received_at,
        }
    }

    const SALT: ContentSalt = ContentSalt::from_bytes([3; 16]);

    fn log() -> LogName {
        LogName::new(ProjectId::from_random([1; 16]), Environment::Live)
    }

    #[test]
    fn the_text_is_canonical_and_the_hash_can_be_recomputed_from_a_read() {
        for occurred_at in [None, Some("2026-01-15T10:30:00+01:00")] {
            let record = Record::new(&event(occurred_at), true, stamp(1_768_473_000_123, 1));
            let value: Value = serde_json::from_str(record.canonical()).unwrap();
            assert_eq!(canonical::to_string(&value), record.canonical());
            let record = record.hashed(SALT, &log());
            let stored = StoredEvent {
                id: record.stamp().id,
                occurred_at: record.occurred_at(),
                canonical: record.canonical().to_owned(),
                content_hash: record.content_hash(),
                content_salt: SALT.into(),
                redacted: true,
            };
            let mut read: Map<String, Value> = serde_json::from_str(stored.to_json().unwrap().get()).unwrap();
            assert_eq!(read, stored.to_object().unwrap());
            assert_eq!(read.remove("redacted"), Some(json!(true)));
            let hash = read.remove("content_hash").unwrap();
            let salt = read.remove("content_salt").unwrap().as_str().unwrap().parse();
            let text = canonical::to_string(&Value::Object(read));
            let computed = ContentHash::of(&text, &salt.unwrap(), &log()).unwrap();
            assert_eq!(hash, json!(computed.to_string()));
        }
    }

    #[test]
    fn a_restamped_record_equals_one_made_with_that_stamp() {
        for occurred_at in [None, Some("2026-01-15T10:30:00Z")] {
            let event = event(occurred_at);
            let mut record = Record::new(&event, false, stamp(1_768_473_000_123, 1));
            let mut hashed = record.clone().hashed(SALT, &log());
            let [first, second] = [stamp(1_768_473_000_999, 2), stamp(1_768_473_001_000, 3)];
            for stamp in [first, second] {
                record.restamp(stamp);
                hashed.restamp(stamp);
                let expected = Record::new(&event, false, stamp);
                assert_eq!((&record, &hashed.record), (&expected, &expected));
                assert_eq!(
                    hashed.content_hash(),
                    expected.hashed(SALT, &log()).content_hash()
                );
            }
        }
    }

    #[test]
    fn a_claimed_event_enters_the_log_when_it_is_claimed_and_not_before_the_last_one() {
        let stamp = stamp(1_768_473_000_123, 1);
        let before = Record::new(&event(None), false, stamp);
        let object: Map<String, Value> = serde_json::from_str(before.canonical()).unwrap();
        let claimed = |millis| {
            let at = Timestamp::from_micros(millis * 1_000 + 7);
            Record::claimed(object.clone(), false, stamp, before.occurred_at(), at).unwrap()
        };
        let [earlier, later] = [1_768_474_000_000, 1_768_475_000_000];
        let mut record = claimed(earlier).hashed(SALT, &log());
        assert_eq!(record.logged_at(), Timestamp::from_millis(earlier));
        record.claimed_after(Timestamp::from_millis(earlier - 1));
        assert_eq!(record.record, claimed(earlier));
        record.claimed_after(Timestamp::from_millis(later));
        assert_eq!(record.record, claimed(later));
        let hash = ContentHash::of(record.canonical(), &SALT, &log());
        assert_eq!(Some(record.content_hash()), hash);
        let mut sent = before.clone().hashed(SALT, &log());
        sent.claimed_after(Timestamp::from_millis(later));
        assert_eq!(sent.record, before);
    }

    #[test]
    fn stamps_of_a_log_never_go_back() {
        let last = stamp(1_000, 5);
        assert_eq!(stamp(1_000, 6).following(Some(last)), stamp(1_000, 6));
        assert_eq!(stamp(2_000, 1).following(Some(last)), stamp(2_000, 1));
        for late in [stamp(1_000, 4), stamp(999, 9), last] {
            let moved = late.following(Some(last));
            assert!(moved.id > last.id && moved.received_at == last.received_at);
        }
        assert_eq!(last.following(None), last);
    }
}
