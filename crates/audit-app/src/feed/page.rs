//! One page of the feed.

use crate::error::Result;
use crate::events::{as_stored, permitted, visible_json};
use crate::reading::{Asked, ReadAccess};
use crate::service::AuditLog;
use audit_domain::{EventFilter, PageLimit, Violations};
use audit_store::{LedgerId, Reader};
use serde_json::value::RawValue;
use tokio::sync::watch;

/// Rows that are looked at for one page, at most: a filter that matches few of them must not keep a connection.
const PAGE_ROWS_MAX: u64 = 5_000;
/// Rows that are fetched at once.
const FETCHED_ROWS_MAX: usize = 250;
/// A page is full with the event that reaches this.
const PAGE_BYTES_MAX: usize = 256 * 1024;

/// An event of the feed.
#[derive(Debug)]
pub struct FeedEvent {
    /// As the reader may see it.
    pub json: Box<RawValue>,
    /// Where to go on after it.
    pub cursor: String,
}

/// A page of the feed.
#[derive(Debug)]
pub struct FeedPage {
    /// In the order of their commits.
    pub events: Vec<FeedEvent>,
    /// Where to go on, also when there are no events.
    pub cursor: String,
    /// Whether more was committed already.
    pub has_more: bool,
}

/// Where a page begins.
pub(super) enum Start {
    Beginning,
    Cursor(String),
    Seq(u64),
}

/// A page, and what its reader needs to go on.
pub(super) struct ReadPage {
    pub(super) page: FeedPage,
    pub(super) next_seq: u64,
    /// The size of the ledger from before the page was read on.
    pub(super) arrivals: watch::Receiver<u64>,
}

impl AuditLog {
    /// A page of the feed. Blocks.
    pub(super) fn feed_page(&self, asked: &Asked, start: &Start, limit: PageLimit) -> Result<ReadPage> {
        self.store.query(|reader| {
            let access = asked.presented.read_access(reader, asked.selection)?;
            let ledger_id = access.scope.ledger_id;
            let filter = permitted(&access.principal, asked.filter.clone());
            let cursor_scope = cursor_scope(&access, &filter);
            let start = match start {
                Start::Beginning => 0,
                Start::Cursor(text) => {
                    let opened = self.cursor_key.open_count(text, &cursor_scope);
                    opened.map_err(|error| Violations::one("after", error))?
                }
                Start::Seq(seq) => *seq,
            };
            // Before the size is read: what is committed from here on is told.
            let arrivals = self.store.arrivals(ledger_id);
            let size = reader.ledger_size(ledger_id)?;
            if start > size {
                let message = "is ahead of the log; it belongs to a state of the database that was lost";
                return Err(Violations::one("after", message).into());
            }
            let unread = Unread {
                ledger_id,
                start,
                size,
                filter: as_stored(&access.scope, filter),
                limit: limit.get(),
            };
            let Found { events, next_seq } = unread.read(reader, &access)?;
            let seal = |seq: u64| self.cursor_key.seal_count(seq, &cursor_scope);
            let page = FeedPage {
                events: events
                    .into_iter()
                    .map(|(seq, json)| FeedEvent {
                        json,
                        cursor: seal(seq + 1),
                    })
                    .collect(),
                cursor: seal(next_seq),
                has_more: next_seq < size,
            };
            Ok(ReadPage {
                page,
                next_seq,
                arrivals,
            })
        })
    }
}

/// What a reader has not read.
struct Unread {
    ledger_id: LedgerId,
    start: u64,
    /// The size of the ledger.
    size: u64,
    filter: EventFilter,
    limit: usize,
}

/// Events with their places, and where to go on.
struct Found {
    events: Vec<(u64, Box<RawValue>)>,
    next_seq: u64,
}

impl Unread {
    fn read(&self, reader: &mut Reader<'_>, access: &ReadAccess) -> Result<Found> {
        let tier = access.tier.as_ref();
        let shows_everything = tier.is_none() && self.filter == EventFilter::default();
        let end = self.size.min(self.start.saturating_add(PAGE_ROWS_MAX));
        let mut bytes = 0;
        let mut found = Found {
            events: Vec::new(),
            next_seq: self.start,
        };
        while found.next_seq < end {
            let missing = self.limit - found.events.len();
            let wanted = if shows_everything {
                missing
            } else {
                FETCHED_ROWS_MAX
            };
            let left = usize::try_from(end - found.next_seq).unwrap_or(usize::MAX);
            let fetched_max = wanted.min(FETCHED_ROWS_MAX).min(left);
            let fetched = reader.logged_events(self.ledger_id, found.next_seq, fetched_max)?;
            if fetched.is_empty() {
                // Somebody deleted reader. To stop here for good would keep what follows from every reader.
                let log = reader.ledger_name(self.ledger_id)?;
                log::error!(
                    "events are missing from the log {log} at position {}",
                    found.next_seq
                );
                found.next_seq = end;
            }
            for logged in fetched {
                if logged.seq != found.next_seq {
                    let log = reader.ledger_name(self.ledger_id)?;
                    log::error!(
                        "events are missing from the log {log} at position {}",
                        found.next_seq
                    );
                }
                found.next_seq = logged.seq + 1;
                if !shows_everything && !self.filter.shows(&logged.event, tier)? {
                    continue;
                }
                let json = visible_json(&logged.event, tier)?;
                bytes += json.get().len();
                found.events.push((logged.seq, json));
                if found.events.len() == self.limit || bytes >= PAGE_BYTES_MAX {
                    return Ok(found);
                }
            }
        }
        Ok(found)
    }
}

/// A cursor is good for the same ledger, visibility and filters, and a reader of some events cannot tell from it how
/// many others there are. Ids in the filter are as the reader gave them: which
/// forms are looked for changes with the redaction rules, and a follower must outlive that.
fn cursor_scope(access: &ReadAccess, filter: &EventFilter) -> String {
    let tier = access.tier.as_ref().map(|tier| tier.name.as_str());
    format!(
        "feed {} {} {} {}",
        access.scope.project.project.id,
        access.scope.environment,
        tier.unwrap_or_default(),
        filter.fingerprint()
    )
}
