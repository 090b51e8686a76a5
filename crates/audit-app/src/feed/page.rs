//! One page of the feed.

use crate::error::Result;
use crate::events::{as_stored, permitted, visible_json};
use crate::reading::{ReadAccess, ReadRequest};
use crate::service::AuditLog;
use audit_domain::{EventFilter, PageLimit, Violations};
use audit_store::{FetchSize, LedgerId, Reader};
use serde_json::value::RawValue;
use tokio::sync::watch;

/// The maximum number of rows that are read for one page. A filter that matches few rows must not hold a connection for long.
const PAGE_ROWS_MAX: u64 = 5_000;
/// The maximum number of rows of one fetch.
const FETCHED_ROWS_MAX: usize = 250;
/// A page ends with the event that reaches this size.
const PAGE_BYTES_MAX: usize = 256 * 1024;

/// An event of the feed.
#[derive(Debug)]
pub struct FeedEvent {
    /// The event without the fields that the reader may not see.
    pub json: Box<RawValue>,
    /// The cursor after this event.
    pub cursor: String,
}

/// A page of the feed.
#[derive(Debug)]
pub struct FeedPage {
    /// The events in commit order.
    pub events: Vec<FeedEvent>,
    /// The cursor after this page, also if it has no events.
    pub cursor: String,
    /// Whether there are committed events after this page.
    pub has_more: bool,
}

/// The begin of a page.
pub(super) enum Start {
    Beginning,
    Cursor(String),
    Seq(u64),
}

/// A page, and the state for the next one.
pub(super) struct ReadPage {
    pub(super) page: FeedPage,
    pub(super) next_seq: u64,
    /// The size of the ledger. Subscribed before the page was read.
    pub(super) arrivals: watch::Receiver<u64>,
}

impl AuditLog {
    /// A page of the feed. Blocks.
    pub(super) fn feed_page(
        &self,
        request: &ReadRequest,
        start: &Start,
        limit: PageLimit,
    ) -> Result<ReadPage> {
        self.store.query(|reader| {
            let access = request.presented.read_access(reader, request.selection)?;
            let ledger_id = access.scope.ledger_id;
            let filter = permitted(&access.principal, request.filter.clone());
            let cursor_scope = cursor_scope(&access, &filter);
            let start = match start {
                Start::Beginning => 0,
                Start::Cursor(text) => {
                    let opened = self.cursor_key.open_count(text, &cursor_scope);
                    opened.map_err(|error| Violations::one("after", error))?
                }
                Start::Seq(seq) => *seq,
            };
            // Subscribe before reading the size, so that no later commit is missed.
            let arrivals = self.store.arrivals(ledger_id);
            let size = reader.ledger_size(ledger_id)?;
            if start > size {
                let message =
                    "is ahead of the log; the database has lost events since, for example by a restore";
                return Err(Violations::one("after", message).into());
            }
            let unread = UnreadRange {
                ledger_id,
                start,
                size,
                filter: as_stored(&access.scope, filter),
                limit: limit.get(),
            };
            let PageEvents { events, next_seq } = unread.read(reader, &access)?;
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

/// The range of events that a reader has not read yet.
struct UnreadRange {
    ledger_id: LedgerId,
    start: u64,
    /// The size of the ledger.
    size: u64,
    filter: EventFilter,
    limit: usize,
}

/// Events with their positions, and the position of the next page.
struct PageEvents {
    events: Vec<(u64, Box<RawValue>)>,
    next_seq: u64,
}

impl UnreadRange {
    fn read(&self, reader: &mut Reader<'_>, access: &ReadAccess) -> Result<PageEvents> {
        let tier = access.tier.as_ref();
        let shows_everything = tier.is_none() && self.filter == EventFilter::default();
        let end = self.size.min(self.start.saturating_add(PAGE_ROWS_MAX));
        let (mut bytes, mut fetch) = (0_usize, FetchSize::default());
        let mut found = PageEvents {
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
            let remaining = usize::try_from(end - found.next_seq).unwrap_or(usize::MAX);
            // Rows that would be read and dropped because the page is full are not fetched.
            let fitting = fetch.rows_of(PAGE_BYTES_MAX.saturating_sub(bytes));
            let fetched_max = wanted.min(FETCHED_ROWS_MAX).min(remaining).min(fitting);
            let fetched = reader.logged_events(self.ledger_id, found.next_seq, fetched_max)?;
            if fetched.is_empty() {
                // Rows were deleted. Skip them: stopping here would hide all later events from every reader.
                self.log_missing_events(reader, found.next_seq)?;
                found.next_seq = end;
            }
            for logged in fetched {
                if logged.seq != found.next_seq {
                    self.log_missing_events(reader, found.next_seq)?;
                }
                found.next_seq = logged.seq + 1;
                fetch.note(&logged.event);
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

    fn log_missing_events(&self, reader: &mut Reader<'_>, seq: u64) -> Result<()> {
        let log = reader.ledger_name(self.ledger_id)?;
        log::error!("events are missing from the log {log} at position {seq}");
        Ok(())
    }
}

/// The scope of a cursor: it is valid only for the same ledger, tier and filter. Ids in the filter are unredacted. Their
/// stored forms depend on the redaction rules, and a cursor must stay valid when those change.
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
