//! Compares the events of a log with its leaf hashes, and the leaf hashes with its signed root.

use super::events::{Event, EventSource};
use super::removed::Removals;
use super::server::LogServer;
use super::tenants::TenantMaps;
use super::{AuditResult, Failure};
use audit_cli::over_events;
use audit_domain::LogName;
use audit_ledger::{Frontier, Hash, SignedCheckpoint, Tile, TileId, TreeHead};

/// Reads the events between a known tree and a signed, larger one.
pub(super) struct Replay<'a> {
    server: &'a LogServer,
    frontier: Frontier,
    /// The edge at the end of the last audit: as saved, and as the server returns it now.
    known: Option<Frontier>,
    found: Option<Frontier>,
    signed: TreeHead,
    events: EventSource<'a>,
    /// The first event that does not match its leaf hash.
    difference: Option<String>,
    /// To be computed from the events.
    tenants: Option<TenantMaps>,
    removals: Removals<'a>,
}

/// What a replay has found.
pub(super) struct Replayed<'a> {
    /// The edge of the signed tree.
    pub(super) frontier: Frontier,
    /// The feed cursor behind it.
    pub(super) cursor: Option<String>,
    pub(super) tenants: Option<TenantMaps>,
    pub(super) removals: Removals<'a>,
}

impl<'a> Replay<'a> {
    /// `start` is the tree to begin at, and `cursor` the feed cursor there, if known.
    pub(super) fn new(
        server: &'a LogServer,
        start: Frontier,
        cursor: Option<String>,
        known: Option<Frontier>,
        signed: &SignedCheckpoint,
        tenants: Option<TenantMaps>,
        removals: Removals<'a>,
    ) -> Self {
        let log = LogName::of_origin(signed.checkpoint().origin().as_str());
        let signed = *signed.head();
        let events = EventSource::new(server, log, start.size()..signed.size, cursor);
        Self {
            server,
            frontier: start,
            known,
            found: None,
            signed,
            events,
            difference: None,
            tenants,
            removals,
        }
    }

    /// Compares all of them.
    pub(super) fn run(mut self) -> AuditResult<Replayed<'a>> {
        let width = u64::from(TileId::WIDTH_MAX);
        let total = self.signed.size - self.frontier.size();
        let progress = over_events(total)?;
        while self.frontier.size() < self.signed.size {
            let index = self.frontier.size() / width;
            let wanted = (self.signed.size - index * width).min(width) as u16;
            let id = TileId::new(0, index, wanted).map_err(anyhow::Error::new)?;
            let tile = self.server.tile(id)?;
            let known = (self.frontier.size() % width) as usize;
            self.compare(&tile, known)?;
            progress.inc((tile.hashes().len() - known) as u64);
        }
        progress.finish_and_clear();
        self.conclude()
    }

    /// Appends the leaves of a tile after the first `known` to the tree, and compares the events with them up to the
    /// first difference.
    fn compare(&mut self, tile: &Tile, known: usize) -> AuditResult<()> {
        let leaves = tile.hashes().get(known..).unwrap_or_default();
        for (index, leaf) in leaves.iter().enumerate() {
            if self.difference.is_none() {
                self.difference = self.compare_event(leaf, leaves.get(index + 1))?;
            }
            self.frontier.append(*leaf);
            if self.known.as_ref().map(Frontier::size) == Some(self.frontier.size()) {
                self.found = Some(self.frontier.clone());
            }
        }
        Ok(())
    }

    /// Compares the event at the edge of the tree with its leaf. Returns in what they differ.
    fn compare_event(&mut self, leaf: &Hash, next_leaf: Option<&Hash>) -> AuditResult<Option<String>> {
        let seq = self.frontier.size();
        let event = self.events.next(leaf)?;
        if event.as_ref().is_none_or(|event| event.leaf != Some(*leaf))
            && let Some(removed) = self.removals.missing(seq, leaf)?
        {
            if let Some(event) = event {
                self.events.put_back(event);
            }
            if let Some(tenants) = &mut self.tenants {
                tenants.append_removed(seq, removed.label, *leaf);
            }
            return self.removals.note(seq, None);
        }
        if let (Some(tenants), Some(event)) = (&mut self.tenants, &event)
            && let Some(leaf) = event.leaf
        {
            tenants.append(seq, event, leaf);
        }
        match difference(seq, event.as_ref(), leaf, next_leaf) {
            None => self.removals.note(seq, event.as_ref()),
            difference => Ok(difference),
        }
    }

    fn conclude(self) -> AuditResult<Replayed<'a>> {
        let size = self.signed.size;
        let leaves_are_signed = self.frontier.root() == self.signed.root;
        match (self.difference, leaves_are_signed) {
            (None, true) => Ok(Replayed {
                frontier: self.frontier,
                cursor: self.events.into_cursor()?,
                tenants: self.tenants,
                removals: self.removals,
            }),
            // The leaves match the signature, so the event was changed.
            (Some(difference), true) => Err(Failure::Inconsistent(difference)),
            (difference, false) => {
                let first = match (&self.known, &self.found) {
                    (Some(known), Some(found)) => first_changed(known, found),
                    _ => None,
                };
                let details = [first, difference]
                    .into_iter()
                    .flatten()
                    .collect::<Vec<_>>()
                    .join("; ");
                let what = format!("the tiles of the {size} events do not have the signed root");
                Err(Failure::Inconsistent(
                    format!("{what}: {details}").trim_end_matches(": ").to_owned(),
                ))
            }
        }
    }
}

/// The range of events that contains the first change since the last audit, as narrow as two edges can show.
fn first_changed(known: &Frontier, found: &Frontier) -> Option<String> {
    let mut pairs = known.edge().zip(found.edge());
    let ((subtree, _), _) = pairs.find(|((_, known), (_, found))| known != found)?;
    let leaves = subtree.leaves();
    Some(format!(
        "events {} to {} have changed since the last audit",
        leaves.start,
        leaves.end - 1
    ))
}

/// Why `event` is not the event at position `seq`, or `None` if it is.
fn difference(seq: u64, event: Option<&Event>, leaf: &Hash, next_leaf: Option<&Hash>) -> Option<String> {
    let Some(event) = event else {
        return Some(format!(
            "event {seq} is missing or was changed, and no removal in the log covers it: the server returns no event with its hash"
        ));
    };
    let id = &event.id;
    if event.leaf == Some(*leaf) {
        let mismatch = format!("event {seq} ({id}) is returned with the content hash of another text");
        return (!event.has_matching_hash).then_some(mismatch);
    }
    if next_leaf.is_some() && event.leaf.as_ref() == next_leaf {
        return Some(format!(
            "event {seq} is missing, and no removal in the log covers it: the server returns the next event, {id}, at its position"
        ));
    }
    Some(format!(
        "event {seq} was changed: {id}, the event at its position, does not match the signed hash"
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_difference_says_which_event_was_changed_or_removed() {
        let [one, two, other] = ["one", "two", "other"].map(|text| Hash::of_leaf(text.as_bytes()));
        let event = |leaf, has_matching_hash| Event {
            id: "evt_1".to_owned(),
            tenant_id: "acme".to_owned(),
            leaf: Some(leaf),
            has_matching_hash,
            logged_at: None,
            salt: None,
            object: serde_json::Map::new(),
        };
        let described = |event: Option<&Event>| difference(7, event, &one, Some(&two)).unwrap_or_default();
        assert_eq!(described(Some(&event(one, true))), "");
        assert!(described(Some(&event(one, false))).contains("of another text"));
        assert!(described(Some(&event(two, true))).contains("event 7 is missing, and no removal"));
        assert!(described(Some(&event(other, true))).contains("event 7 was changed: evt_1"));
        assert!(described(None).contains("event 7 is missing or was changed"));
    }

    #[test]
    fn the_first_change_is_narrowed_down_to_a_subtree() {
        let edge = |changed: Option<u8>| {
            let mut frontier = Frontier::new();
            for n in 0..14 {
                let data = if Some(n) == changed { [200] } else { [n] };
                frontier.append(Hash::of_leaf(&data));
            }
            frontier
        };
        assert_eq!(first_changed(&edge(None), &edge(None)), None);
        for (changed, range) in [(0, "0 to 7"), (9, "8 to 11"), (13, "12 to 13")] {
            let described = first_changed(&edge(None), &edge(Some(changed))).unwrap();
            assert!(described.contains(range), "{described}");
        }
    }
}
