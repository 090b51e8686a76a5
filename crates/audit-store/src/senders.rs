//! The events that a key has sent, and from where.

use crate::access::Reader;
use crate::append::senders::SenderId;
use crate::columns::stored;
use crate::database::on_database;
use crate::error::Result;
use crate::ids::LedgerId;
use crate::schema::ledger_senders;
use audit_domain::KeyId;
use diesel::prelude::*;
use std::collections::HashMap;
use std::net::IpAddr;
use std::ops::Range;

/// Rows whose senders are compared in one statement.
const COMPARED_EVENTS_MAX: i64 = 10_000;
/// Texts that one statement reads: 32 MiB at most.
const TEXTS_MAX: usize = 512;

/// The senders of a ledger with one key.
#[derive(Clone, Debug, Default)]
pub struct KeySenders {
    addresses: HashMap<i64, Option<IpAddr>>,
    /// None of them has an event before this one.
    first_seq: Option<i64>,
}

impl KeySenders {
    /// Whether the key has sent no event to the ledger.
    pub fn is_empty(&self) -> bool {
        self.addresses.is_empty()
    }
}

/// An event that a key has sent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SentEvent {
    /// Its position in the log.
    pub seq: u64,
    /// The address of the client, if it was recorded.
    pub address: Option<IpAddr>,
    /// Its canonical text.
    pub canonical: String,
}

/// A part of the events that a key has sent.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SentPage {
    /// In the order of the log.
    pub events: Vec<SentEvent>,
    /// Where the next part begins; `None` after the last one.
    pub next: Option<u64>,
}

/// The row of a sender, for `log verify`. Nothing in it is trusted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StoredSender {
    /// Whether its number is that of its key and address.
    pub is_own: bool,
    /// It has no event before this position.
    pub first_seq: i64,
}

/// The number of a sender, from the texts of its row; `None` where this service does not write them so.
fn number_of(key_id: &str, address: Option<&str>) -> Option<SenderId> {
    let key: KeyId = key_id.parse().ok()?;
    let client = address.map(str::parse::<IpAddr>).transpose().ok()?;
    let is_as_written =
        key.to_string() == key_id && client.map(|client| client.to_string()).as_deref() == address;
    is_as_written.then(|| SenderId::of(key, client))
}

/// Events by their senders.
#[expect(
    clippy::missing_errors_doc,
    reason = "all fail only when the database cannot be queried"
)]
impl Reader<'_> {
    /// The senders of a ledger, by number.
    pub fn stored_senders(&mut self, ledger_id: LedgerId) -> Result<HashMap<i64, StoredSender>> {
        let rows: Vec<(i64, String, Option<String>, i64)> = ledger_senders::table
            .filter(ledger_senders::ledger_id.eq(ledger_id.0))
            .select((
                ledger_senders::sender,
                ledger_senders::key_id,
                ledger_senders::address,
                ledger_senders::first_seq,
            ))
            .load(self.session())?;
        let read = |(sender, key_id, address, first_seq): (i64, String, Option<String>, i64)| {
            let is_own = number_of(&key_id, address.as_deref()) == Some(SenderId(sender));
            (sender, StoredSender { is_own, first_seq })
        };
        Ok(rows.into_iter().map(read).collect())
    }

    /// The senders of a ledger with this key.
    pub fn senders_of_key(&mut self, ledger_id: LedgerId, key_id: KeyId) -> Result<KeySenders> {
        let rows: Vec<(i64, Option<String>, i64)> = ledger_senders::table
            .filter(ledger_senders::ledger_id.eq(ledger_id.0))
            .filter(ledger_senders::key_id.eq(key_id.to_string()))
            .select((
                ledger_senders::sender,
                ledger_senders::address,
                ledger_senders::first_seq,
            ))
            .load(self.session())?;
        let mut senders = KeySenders::default();
        for (sender, address, first_seq) in rows {
            let address = address.map(|address| stored(&address, "address of a sender"));
            senders.addresses.insert(sender, address.transpose()?);
            senders.first_seq = Some(senders.first_seq.map_or(first_seq, |first| first.min(first_seq)));
        }
        Ok(senders)
    }

    /// The first events at these positions or later that these senders have sent. A part may be empty and not be the last.
    pub fn sent_events(
        &mut self,
        ledger_id: LedgerId,
        of: &KeySenders,
        seqs: Range<u64>,
    ) -> Result<SentPage> {
        let Some(first_seq) = of.first_seq else {
            return Ok(SentPage::default());
        };
        let seq_of = |seq: u64| i64::try_from(seq).unwrap_or(i64::MAX);
        let start = seq_of(seqs.start).max(first_seq);
        let end = seq_of(seqs.end).min(start.saturating_add(COMPARED_EVENTS_MAX));
        let compared: Vec<(i64, SenderId)> =
            on_database!(self.session(), senders::of_events(ledger_id, start..end))?;
        let mut found: Vec<(i64, Option<IpAddr>)> = compared
            .into_iter()
            .filter_map(|(seq, sender)| Some((seq, *of.addresses.get(&sender.0)?)))
            .collect();
        let mut next = end;
        if let Some((seq, _)) = found.get(TEXTS_MAX) {
            next = *seq;
            found.truncate(TEXTS_MAX);
        }
        let wanted: Vec<i64> = found.iter().map(|(seq, _)| *seq).collect();
        let mut texts: HashMap<i64, String> = match wanted.is_empty() {
            true => HashMap::new(),
            false => on_database!(self.session(), senders::texts(ledger_id, &wanted))?,
        };
        let events = found.into_iter().filter_map(|(seq, address)| {
            Some(SentEvent {
                seq: seq.unsigned_abs(),
                address,
                canonical: texts.remove(&seq)?,
            })
        });
        Ok(SentPage {
            events: events.collect(),
            next: Some(next.unsigned_abs()).filter(|next| *next < seqs.end),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_of_a_sender_has_its_number_only_as_this_service_writes_it() {
        let key = KeyId::from_random([0xab; 16]);
        let (text, address) = (key.to_string(), "2001:db8::1");
        let number = SenderId::of(key, address.parse().ok());
        assert_eq!(number_of(&text, Some(address)), Some(number));
        assert_eq!(number_of(&text, None), Some(SenderId::of(key, None)));
        assert_ne!(number_of(&text, None), Some(number));
        for (key, address) in [
            (text.to_uppercase(), address),
            (text.clone(), "2001:DB8::1"),
            (text.clone(), "2001:db8:0::1"),
            (text.clone(), ""),
            (String::new(), address),
        ] {
            assert_eq!(number_of(&key, Some(address)), None, "{key} {address}");
        }
    }
}
