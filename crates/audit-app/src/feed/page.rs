//! One page of the feed.

use crate::error::{AppError, Result};
use crate::events::{RemovedBefore, as_stored, found_json, permitted, visible_json};
use crate::reading::{ReadAccess, ReadRequest};
use crate::service::{AuditLog, Scope};
use audit_auth::Principal;
use audit_domain::{EventFilter, EventJson, FeedPosition, ViewerRoute, Violations};
use audit_store::{FetchSize, LedgerId, Reader};
use tokio::sync::watch;

/// The maximum number of rows that are read for one page. A filter that matches few rows must not hold a connection for long.
const PAGE_ROWS_MAX: u64 = 5_000;
/// The maximum number of rows of one fetch.
const FETCHED_ROWS_MAX: usize = 250;
/// A page ends with the event that reaches this size.
const PAGE_BYTES_MAX: usize = 256 * 1024;

/// Instead of a cursor: the end of the ledger.
const LATEST: &str = "latest";

/// An event of the feed.
#[derive(Debug)]
pub struct FeedEvent {
    /// The event without the fields that the reader may not see.
    pub json: EventJson,
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
    /// Whether there are committed events after this page; for a viewer, ones that it may see.
    pub has_more: bool,
    /// What removals have taken of the log; `None` without a removal.
    pub removed_before: Option<RemovedBefore>,
}

/// The begin of a page.
pub(super) enum Start {
    Beginning,
    Cursor(String),
    At(FeedPosition),
}

/// A page, and the state for the next one.
pub(super) struct ReadPage {
    pub(super) page: FeedPage,
    pub(super) next: FeedPosition,
    /// Whether all events of the ledger were read.
    pub(super) is_caught_up: bool,
    /// Whether the page has as many events as it may.
    pub(super) is_full: bool,
    /// Whether `has_more` of the page depends only on events that the reader may see. Where it does not, more has to be read.
    pub(super) is_settled: bool,
    /// The size of the ledger. Subscribed before the page was read.
    pub(super) arrivals: watch::Receiver<u64>,
}

impl ReadPage {
    /// This page with the events of the next one.
    pub(super) fn followed_by(mut self, mut next: Self) -> Self {
        if let (true, Some(last)) = (next.page.events.is_empty(), self.page.events.last_mut()) {
            last.cursor.clone_from(&next.page.cursor);
        }
        self.page.events.append(&mut next.page.events);
        next.page.events = self.page.events;
        next.is_full |= self.is_full;
        next
    }
}

impl AuditLog {
    /// A page of at most `limit` events. Blocks.
    ///
    /// A viewer must not learn how many events others store. So all cursors are different, the one of the last event is that
    /// of the page, and `has_more` is about events that the viewer may see.
    pub(super) fn feed_page(&self, request: &ReadRequest, start: &Start, limit: usize) -> Result<ReadPage> {
        let (mut read, scope) = self
            .store
            .query(|reader| self.read_feed_page(reader, request, start, limit))?;
        if read.next.removal > 0 {
            read.page.removed_before = self.known_removed_before(&scope);
        }
        Ok(read)
    }

    fn read_feed_page(
        &self,
        reader: &mut Reader<'_>,
        request: &ReadRequest,
        start: &Start,
        limit: usize,
    ) -> Result<(ReadPage, Scope)> {
        let access = request
            .presented
            .read_access(reader, request.selection, Some(ViewerRoute::Feed))?;
        let ledger_id = access.scope.ledger_id;
        let filter = permitted(&access.principal, &access.scope, request.filter.clone())?;
        let cursor_scope = cursor_scope(&access, &filter);
        // Subscribe before reading the size, so that no later commit is missed.
        let arrivals = self.store.arrivals(ledger_id);
        let size = reader.ledger_size(ledger_id)?;
        // Read before the events: of a removal that begins meanwhile the next page tells.
        let removal = newest_begun_removal(reader, ledger_id)?;
        let is_viewer = matches!(access.principal, Principal::Viewer(_));
        let seal = |seq: u64| self.seal_position(FeedPosition { seq, removal }, &cursor_scope, is_viewer);
        let start = match start {
            Start::Beginning => FeedPosition { seq: 0, removal },
            Start::Cursor(text) if text == LATEST => FeedPosition { seq: size, removal },
            Start::Cursor(text) => {
                let opened = self.cursor_key.open_count(text, &cursor_scope);
                FeedPosition::from_count(opened.map_err(|error| Violations::one("after", error))?)
            }
            Start::At(position) => *position,
        };
        if start.seq > size {
            let message = "is ahead of the log; the database has lost events since, for example by a restore";
            return Err(Violations::one("after", message).into());
        }
        if start.removal < removal && reader.missed_removal(ledger_id, start.removal, start.seq)? {
            return Err(AppError::EventsRemoved {
                cursor: seal(start.seq),
            });
        }
        let unread = UnreadRange {
            ledger_id,
            start: start.seq,
            size,
            removal,
            filter: as_stored(&self.stream_engine, filter),
            limit,
            is_viewer,
        };
        let found = unread.read(reader, &access)?;
        let page = found.into_page(&unread, arrivals, seal);
        Ok((page, access.scope))
    }

    fn seal_position(&self, position: FeedPosition, cursor_scope: &str, is_viewer: bool) -> String {
        let (key, count) = (&self.cursor_key, position.to_count());
        match is_viewer {
            true => key.seal_hidden_count(count, self.entropy.bytes(), cursor_scope),
            false => key.seal_count(count, cursor_scope),
        }
    }
}

/// The number of the newest removal that has begun to take events; 0 without one. The newest one of all may be a plan: a cursor must
/// not count it as known. A log has one plan of retention at most.
fn newest_begun_removal(reader: &mut Reader<'_>, ledger_id: LedgerId) -> Result<u32> {
    let newest = reader.newest_removal(ledger_id)?;
    let Some(before) = newest.checked_sub(1) else {
        return Ok(0);
    };
    let has_begun = reader.missed_removal(ledger_id, before, 0)?;
    Ok(if has_begun { newest } else { before })
}

/// The range of events that a reader has not read yet.
struct UnreadRange {
    ledger_id: LedgerId,
    start: u64,
    /// The size of the ledger.
    size: u64,
    /// The number of the newest removal that has begun.
    removal: u32,
    filter: EventFilter,
    limit: usize,
    is_viewer: bool,
}

/// Events with their positions, and the position of the next page.
struct PageEvents {
    events: Vec<(u64, EventJson)>,
    next_seq: u64,
    is_full: bool,
    /// Whether the event at `next_seq` was read and belongs to the next page.
    has_next: bool,
}

impl PageEvents {
    fn into_page(
        self,
        unread: &UnreadRange,
        arrivals: watch::Receiver<u64>,
        seal: impl Fn(u64) -> String,
    ) -> ReadPage {
        let is_caught_up = self.next_seq >= unread.size;
        let cursor = seal(self.next_seq);
        let of_event = |(seq, json)| FeedEvent {
            json,
            cursor: seal(seq + 1),
        };
        let mut events: Vec<_> = self.events.into_iter().map(of_event).collect();
        if let (true, Some(last)) = (unread.is_viewer, events.last_mut()) {
            last.cursor.clone_from(&cursor);
        }
        ReadPage {
            page: FeedPage {
                events,
                cursor,
                has_more: !is_caught_up,
                removed_before: None,
            },
            next: FeedPosition {
                seq: self.next_seq,
                removal: unread.removal,
            },
            is_caught_up,
            is_full: self.is_full,
            is_settled: !unread.is_viewer || self.has_next || is_caught_up,
            arrivals,
        }
    }
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
            is_full: self.limit == 0,
            has_next: false,
        };
        while found.next_seq < end {
            let missing = self.limit.saturating_sub(found.events.len());
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
                // Rows are gone. Skip them: stopping here would hide all later events from every reader.
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
                if found.is_full {
                    found.next_seq = logged.seq;
                    found.has_next = true;
                    return Ok(found);
                }
                let json = match shows_everything {
                    true => visible_json(&logged.event, tier)?,
                    false => found_json(&logged.event, tier)?,
                };
                bytes += json.get().len();
                found.events.push((logged.seq, json));
                found.is_full = found.events.len() == self.limit || bytes >= PAGE_BYTES_MAX;
                if found.is_full && !self.is_viewer {
                    return Ok(found);
                }
            }
        }
        Ok(found)
    }

    /// Logs that events are missing, unless a removal has taken the first one.
    fn log_missing_events(&self, reader: &mut Reader<'_>, seq: u64) -> Result<()> {
        if !reader.removed_rows(self.ledger_id, seq..seq + 1)?.is_empty() {
            return Ok(());
        }
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

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::Map;

    fn page(is_viewer: bool) -> ReadPage {
        let unread = UnreadRange {
            ledger_id: LedgerId(1),
            start: 0,
            size: 9,
            removal: 0,
            filter: EventFilter::default(),
            limit: 2,
            is_viewer,
        };
        let found = PageEvents {
            events: vec![(2, EventJson::of(Map::new())), (4, EventJson::of(Map::new()))],
            next_seq: 9,
            is_full: false,
            has_next: false,
        };
        found.into_page(&unread, watch::channel(9).1, |seq| seq.to_string())
    }

    /// A stream sends the cursor of a page alone where that of its last event is another.
    #[test]
    fn a_viewer_gets_no_other_cursor_where_events_of_others_follow_its_own() {
        let cursors = |page: ReadPage| {
            let events = page.page.events.into_iter().map(|event| event.cursor);
            events.chain([page.page.cursor]).collect::<Vec<_>>()
        };
        assert_eq!(cursors(page(true)), ["3", "9", "9"]);
        assert_eq!(cursors(page(false)), ["3", "5", "9"]);
    }

    #[test]
    fn a_page_that_only_others_follow_is_the_last_one_of_a_viewer() {
        let read = page(true);
        assert!(read.is_settled && !read.page.has_more);
    }
}
