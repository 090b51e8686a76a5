//! The events of the audited log, in log order: from `GET /events/feed`, or, if the server has no feed, from all pages of
//! `GET /events`.

use super::server::{Fetched, LogServer};
use super::{AuditResult, Failure};
use anyhow::Context;
use audit_domain::{ContentHash, ContentSalt, LogName, Timestamp, canonical, logged_at};
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
}

impl Event {
    fn read(event: &Value, log: Option<&LogName>) -> AuditResult<Self> {
        let mut event: Map<String, Value> = event.as_object().context("an event is not an object")?.clone();
        let content_hash = event.remove("content_hash").unwrap_or_default();
        let salt = event.remove("content_salt").unwrap_or_default();
        // The only other member that is not part of the hashed text.
        event.remove("redacted");
        let id = event.get("id").and_then(Value::as_str).unwrap_or("no id");
        let tenant_id = event.get("tenant_id").and_then(Value::as_str);
        let mut text = String::with_capacity(768);
        canonical::write_object(&mut text, &event);
        let salt: Option<ContentSalt> = salt.as_str().and_then(|salt| salt.parse().ok());
        let computed = salt
            .zip(log)
            .and_then(|(salt, log)| ContentHash::of(&text, &salt, log));
        Ok(Self {
            id: id.to_owned(),
            tenant_id: tenant_id.unwrap_or_default().to_owned(),
            logged_at: logged_at(&event),
            leaf: computed.map(|computed| Hash::of_event(&computed)),
            has_matching_hash: computed.is_some_and(|computed| content_hash == computed.to_string()),
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

    /// The feed cursor behind the range.
    pub(super) fn into_cursor(self) -> Option<String> {
        let is_at_end = self.page.is_empty() && self.skipped == 0;
        self.cursor
            .filter(|_| is_at_end && matches!(self.from, Source::Feed))
    }

    fn read(&mut self) -> AuditResult<()> {
        let (path, name, limit) = match self.from {
            // At most the wanted events, so that the cursor points behind the last of them.
            Source::Feed => (
                "events/feed",
                "after",
                PAGE_EVENTS_MAX.min(self.skipped + self.wanted),
            ),
            Source::Pages(_) => ("events", "cursor", PAGE_EVENTS_MAX),
        };
        let mut parameters = vec![("limit", limit.max(1).to_string())];
        parameters.extend(self.cursor.clone().map(|cursor| (name, cursor)));
        match self.server.json(path, &parameters)? {
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
        self.has_more = body["has_more"] == true;
        self.cursor = body["cursor"].as_str().map(str::to_owned);
        Ok(())
    }
}
