//! Where an auditor gets the events from, in the order of the log: `GET /events/feed`, or, from servers that have none,
//! all pages of `GET /events`.

use super::server::{LogServer, Reply};
use super::{Audited, Failure};
use anyhow::Context;
use audit_domain::{ContentHash, canonical};
use audit_ledger::Hash;
use serde_json::{Map, Value};
use std::collections::{HashMap, VecDeque};
use std::ops::Range;

/// Events that one request asks for.
const PAGE_EVENTS_MAX: u64 = 200;

/// An event as the server shows it, hashed anew.
pub(super) struct Event {
    pub(super) id: String,
    /// Of its text.
    pub(super) leaf: Hash,
    /// Whether the content hash beside it is that of its text.
    pub(super) is_labelled_right: bool,
}

impl Event {
    fn read(event: &Value) -> Audited<Self> {
        let mut event: Map<String, Value> = event.as_object().context("an event is no object")?.clone();
        let shown = event.remove("content_hash").unwrap_or_default();
        // The one member besides that is about the event and not of it.
        event.remove("redacted");
        let id = event
            .get("id")
            .and_then(Value::as_str)
            .unwrap_or("an event without an id");
        let mut text = String::with_capacity(768);
        canonical::write_object(&mut text, &event);
        let computed = ContentHash::of(&text);
        Ok(Self {
            id: id.to_owned(),
            leaf: Hash::of_event(&computed),
            is_labelled_right: shown == computed.to_string(),
        })
    }
}

/// The events at some places of the log, one after the other.
pub(super) struct EventSource<'a> {
    server: &'a LogServer,
    from: Source,
    page: VecDeque<Event>,
    has_more: bool,
    has_read: bool,
    cursor: Option<String>,
    first: u64,
    /// How many are passed over before the first that is wanted, where no cursor leads to it.
    skipped: u64,
    wanted: u64,
}

enum Source {
    Feed,
    /// The pages, and the events of them that were not asked for yet.
    Pages(HashMap<Hash, Event>),
}

impl<'a> EventSource<'a> {
    /// `cursor` leads to the first of them, if one is known.
    pub(super) fn new(server: &'a LogServer, seqs: Range<u64>, cursor: Option<String>) -> Self {
        Self {
            server,
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

    /// The next event; `None` when there is no more. `leaf` is the hash that it should have.
    pub(super) fn next(&mut self, leaf: &Hash) -> Audited<Option<Event>> {
        if let Source::Pages(unasked) = &mut self.from
            && let Some(event) = unasked.remove(leaf)
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
                    Source::Pages(_) if event.leaf == *leaf => return Ok(Some(event)),
                    Source::Pages(unasked) => drop(unasked.insert(event.leaf, event)),
                }
            }
            if !self.has_more {
                return Ok(None);
            }
            self.read()?;
        }
    }

    /// Where to go on behind what was asked for.
    pub(super) fn into_cursor(self) -> Option<String> {
        let is_at_end = self.page.is_empty() && self.skipped == 0;
        self.cursor
            .filter(|_| is_at_end && matches!(self.from, Source::Feed))
    }

    fn read(&mut self) -> Audited<()> {
        let (path, name, limit) = match self.from {
            // No more than is wanted, so that the cursor leads to what follows.
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
            Reply::Found(answer) => self.take(&answer),
            Reply::Refused(why) if !self.has_read && self.cursor.is_some() => {
                log::warn!("the events are read from the first one on: the cursor is refused: {why}");
                (self.cursor, self.skipped) = (None, self.first);
                Ok(())
            }
            Reply::Refused(_) if !self.has_read && matches!(self.from, Source::Feed) => {
                self.from = Source::Pages(HashMap::new());
                Ok(())
            }
            Reply::Refused(why) => Err(Failure::Wrong(format!("the log does not show its events: {why}"))),
        }
    }

    fn take(&mut self, answer: &Value) -> Audited<()> {
        let events = answer["events"].as_array().context("a page has no events")?;
        for event in events {
            self.page.push_back(Event::read(event)?);
        }
        self.has_read = true;
        self.has_more = answer["has_more"] == true;
        self.cursor = answer["cursor"].as_str().map(str::to_owned);
        Ok(())
    }
}
