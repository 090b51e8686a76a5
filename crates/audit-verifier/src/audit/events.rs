//! The events of the audited log, in log order: from `GET /events/feed`, or, if the server has no feed, from all pages of
//! `GET /events`.

use super::server::{Fetched, LogServer};
use super::{AuditResult, Failure};
use anyhow::Context;
use audit_domain::{LifecycleEvent, LogName, StoredSalt, Timestamp, canonical, logged_at};
use audit_ledger::Hash;
use serde_json::{Map, Value};
use std::collections::{HashMap, VecDeque};
use std::ops::Range;

/// The `limit` of one request.
const PAGE_EVENTS_MAX: u64 = 200;

/// An event of the server, hashed again.
pub(super) struct Event {
    pub(super) id: String,
    pub(super) tenant_id: String,
    /// The leaf hash of its canonical text, salt and log. `None` where they are not those of an event.
    pub(super) leaf: Option<Hash>,
    /// Whether its `content_hash` is the hash of its canonical text.
    pub(super) has_matching_hash: bool,
    /// When the log received it.
    pub(super) logged_at: Option<Timestamp>,
    /// Its salt, or what an erasure left of it.
    pub(super) salt: Option<StoredSalt>,
    /// Its fields; those of an event of the service that tells of removals as they were read.
    pub(super) object: Map<String, Value>,
}

impl Event {
    fn read(event: &Value, log: Option<&LogName>) -> AuditResult<Self> {
        let mut event: Map<String, Value> = event.as_object().context("an event is not an object")?.clone();
        let content_hash = event.remove("content_hash").unwrap_or_default();
        let whole = LifecycleEvent::is_lifecycle(&event).then(|| event.clone());
        let salt = StoredSalt::take_members(&mut event);
        // The only other member that is not part of the hashed text.
        event.remove("redacted");
        let text_of = |name: &str| event.get(name).and_then(Value::as_str);
        let id = text_of("id").unwrap_or("no id").to_owned();
        let tenant_id = text_of("tenant_id").unwrap_or_default().to_owned();
        let mut text = String::with_capacity(768);
        canonical::write_object(&mut text, &event);
        let computed = salt
            .as_ref()
            .zip(log)
            .and_then(|(salt, log)| salt.content_hash(&text, log));
        Ok(Self {
            id,
            tenant_id,
            logged_at: logged_at(&event),
            leaf: computed.map(|computed| Hash::of_event(&computed)),
            has_matching_hash: computed.is_some_and(|computed| content_hash == computed.to_string()),
            salt,
            object: whole.unwrap_or(event),
        })
    }
}

/// Iterates over the events of a range of the log.
pub(super) struct EventSource<'a> {
    server: &'a LogServer,
    /// The log as content hashes name it. `None` where it has no project: then no event has its hash.
    log: Option<LogName>,
    from: Source,
    page: VecDeque<Event>,
    has_more: bool,
    has_read: bool,
    cursor: Option<String>,
    /// The cursor before the last page, and how many events of it were returned or skipped.
    before: Option<String>,
    taken: u64,
    first: u64,
    /// Events to skip before the first wanted one, when there is no cursor to it.
    skipped: u64,
    wanted: u64,
}

enum Source {
    Feed,
    /// Pages are not in log order: events that were read and not yet returned, by leaf hash.
    Pages(HashMap<Hash, Event>),
}

impl<'a> EventSource<'a> {
    /// `cursor` is the feed cursor before the first event, if known.
    pub(super) fn new(
        server: &'a LogServer,
        log: Option<LogName>,
        seqs: Range<u64>,
        cursor: Option<String>,
    ) -> Self {
        Self {
            server,
            log,
            from: Source::Feed,
            page: VecDeque::new(),
            has_more: true,
            has_read: false,
            before: None,
            taken: 0,
            first: seqs.start,
            skipped: if cursor.is_some() { 0 } else { seqs.start },
            cursor,
            wanted: seqs.end - seqs.start,
        }
    }

    /// The next event, which should have the hash `leaf`. `None`: the server has no more.
    pub(super) fn next(&mut self, leaf: &Hash) -> AuditResult<Option<Event>> {
        if let Source::Pages(unreturned) = &mut self.from
            && let Some(event) = unreturned.remove(leaf)
        {
            return Ok(Some(event));
        }
        loop {
            while let Some(event) = self.page.pop_front() {
                self.taken += 1;
                match &mut self.from {
                    Source::Feed if self.skipped > 0 => self.skipped -= 1,
                    Source::Feed => {
                        self.wanted = self.wanted.saturating_sub(1);
                        return Ok(Some(event));
                    }
                    Source::Pages(_) if event.leaf == Some(*leaf) => return Ok(Some(event)),
                    Source::Pages(unreturned) => {
                        if let Some(leaf) = event.leaf {
                            unreturned.insert(leaf, event);
                        }
                    }
                }
            }
            if !self.has_more {
                return Ok(None);
            }
            self.read()?;
        }
    }

    /// Instead of the event that was returned last, its position has a removed one. It is that of a later position.
    pub(super) fn put_back(&mut self, event: Event) {
        match &mut self.from {
            Source::Feed => {
                self.taken -= 1;
                self.page.push_front(event);
            }
            // Never: of pages only the event with the wanted leaf is returned.
            Source::Pages(_) => {}
        }
    }

    /// The feed cursor behind the range.
    pub(super) fn into_cursor(self) -> AuditResult<Option<String>> {
        if self.skipped > 0 || !matches!(self.from, Source::Feed) {
            return Ok(None);
        }
        if self.page.is_empty() || self.taken == 0 {
            return Ok(if self.page.is_empty() {
                self.cursor
            } else {
                self.before
            });
        }
        // In place of removed events the last page has later ones, which are not of the range.
        match self.server.feed(self.taken, self.before.as_deref())? {
            Fetched::Found(page) => Ok(page["cursor"].as_str().map(str::to_owned)),
            Fetched::Refused(_) => Ok(None),
        }
    }

    fn read(&mut self) -> AuditResult<()> {
        let read = match self.from {
            // At most the wanted events, so that the cursor points behind the last of them.
            Source::Feed => {
                let limit = PAGE_EVENTS_MAX.min(self.skipped + self.wanted).max(1);
                self.server.feed(limit, self.cursor.as_deref())?
            }
            Source::Pages(_) => {
                let mut parameters = vec![("limit", PAGE_EVENTS_MAX.to_string())];
                parameters.extend(self.cursor.clone().map(|cursor| ("cursor", cursor)));
                self.server.json("events", &parameters)?
            }
        };
        match read {
            Fetched::Found(body) => self.take(&body),
            Fetched::Refused(why) if !self.has_read && self.cursor.is_some() => {
                log::warn!(
                    "reading the events from the start, because the server refuses the saved cursor: {why}"
                );
                (self.cursor, self.skipped) = (None, self.first);
                Ok(())
            }
            Fetched::Refused(_) if !self.has_read && matches!(self.from, Source::Feed) => {
                self.from = Source::Pages(HashMap::new());
                Ok(())
            }
            Fetched::Refused(why) => Err(Failure::Inconsistent(format!(
                "the server does not return the events: {why}"
            ))),
        }
    }

    fn take(&mut self, body: &Value) -> AuditResult<()> {
        let events = body["events"]
            .as_array()
            .context("a page has no list of events")?;
        for event in events {
            self.page.push_back(Event::read(event, self.log.as_ref())?);
        }
        self.has_read = true;
        self.before = self.cursor.take();
        self.taken = 0;
        self.has_more = body["has_more"] == true;
        self.cursor = body["cursor"].as_str().map(str::to_owned);
        Ok(())
    }
}
