//! The events of a log, held against its leaves, and the leaves against its root.

use super::events::{Event, EventSource};
use super::server::LogServer;
use super::{Audited, Failure};
use audit_ledger::{Frontier, Hash, Tile, TileId, TreeHead};
use indicatif::{ProgressBar, ProgressStyle};

/// The events from the end of a tree that is known to the end of one that was signed.
pub(super) struct Replay<'a> {
    server: &'a LogServer,
    frontier: Frontier,
    /// The edge where the last audit ended, as it was then, and as it is found now.
    known: Option<Frontier>,
    found: Option<Frontier>,
    signed: TreeHead,
    events: EventSource<'a>,
    /// The first event that is not the one whose hash the log has.
    difference: Option<String>,
}

impl<'a> Replay<'a> {
    /// From the beginning, or from where `start` is; `cursor` leads to the first event behind that, if one is known.
    pub(super) fn new(
        server: &'a LogServer,
        start: Frontier,
        cursor: Option<String>,
        known: Option<Frontier>,
        signed: TreeHead,
    ) -> Self {
        let events = EventSource::new(server, start.size()..signed.size, cursor);
        Self {
            server,
            frontier: start,
            known,
            found: None,
            signed,
            events,
            difference: None,
        }
    }

    /// Reads everything. Gives the tree's edge at the end, and where to go on reading.
    pub(super) fn run(mut self) -> Audited<(Frontier, Option<String>)> {
        let width = u64::from(TileId::WIDTH_MAX);
        let total = self.signed.size - self.frontier.size();
        let style = "{bar:40} {percent:>3} %  {human_pos}/{human_len} events  {per_sec}";
        let style = ProgressStyle::with_template(style).map_err(anyhow::Error::new)?;
        // Drawn on a terminal only.
        let progress = ProgressBar::new(total).with_style(style);
        while self.frontier.size() < self.signed.size {
            let index = self.frontier.size() / width;
            let wanted = (self.signed.size - index * width).min(width) as u16;
            let id = TileId::new(0, index, wanted).map_err(anyhow::Error::new)?;
            let tile = self.server.tile(id)?;
            let begun = (self.frontier.size() % width) as usize;
            self.compare(&tile, begun)?;
            progress.inc((tile.hashes().len() - begun) as u64);
        }
        progress.finish_and_clear();
        self.conclude()
    }

    /// Takes the leaves of a tile from `begun` on into the tree, and compares the events with them up to the first
    /// difference.
    fn compare(&mut self, tile: &Tile, begun: usize) -> Audited<()> {
        let leaves = tile.hashes().get(begun..).unwrap_or_default();
        for (place, leaf) in leaves.iter().enumerate() {
            if self.difference.is_none() {
                let event = self.events.next(leaf)?;
                self.difference =
                    difference(self.frontier.size(), event.as_ref(), leaf, leaves.get(place + 1));
            }
            self.frontier.append(*leaf);
            if self.known.as_ref().map(Frontier::size) == Some(self.frontier.size()) {
                self.found = Some(self.frontier.clone());
            }
        }
        Ok(())
    }

    fn conclude(self) -> Audited<(Frontier, Option<String>)> {
        let size = self.signed.size;
        let leaves_are_signed = self.frontier.root() == self.signed.root;
        match (self.difference, leaves_are_signed) {
            (None, true) => Ok((self.frontier, self.events.into_cursor())),
            // The leaves are those that were signed, so it is the event that is wrong.
            (Some(difference), true) => Err(Failure::Wrong(difference)),
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
                let what = format!("the tiles of the {size} events do not have the root that the log signed");
                Err(Failure::Wrong(
                    format!("{what}: {details}").trim_end_matches(": ").to_owned(),
                ))
            }
        }
    }
}

/// Between which events the first change is of those that were known, as far as two edges of one tree tell.
fn first_changed(known: &Frontier, found: &Frontier) -> Option<String> {
    let mut pairs = known.edge().zip(found.edge());
    let ((subtree, _), _) = pairs.find(|((_, known), (_, found))| known != found)?;
    let leaves = subtree.leaves();
    Some(format!(
        "events {} to {} are not those of the last audit",
        leaves.start,
        leaves.end - 1
    ))
}

/// What is wrong with the event that stands at a place.
fn difference(seq: u64, event: Option<&Event>, leaf: &Hash, next_leaf: Option<&Hash>) -> Option<String> {
    let Some(event) = event else {
        return Some(format!(
            "event {seq} was removed or changed: the server shows none that it can be"
        ));
    };
    let id = &event.id;
    if event.leaf == *leaf {
        let wrong = format!("event {seq} ({id}) is shown with a content hash that is not its own");
        return (!event.is_labelled_right).then_some(wrong);
    }
    if Some(&event.leaf) == next_leaf {
        return Some(format!(
            "event {seq} was removed: the event behind it, {id}, is shown in its place"
        ));
    }
    Some(format!(
        "event {seq} was changed: {id}, which stands there, is not what was signed"
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_wrong_with_an_event_is_told() {
        let [one, two, other] = ["one", "two", "other"].map(|text| Hash::of_leaf(text.as_bytes()));
        let event = |leaf, is_labelled_right| Event {
            id: "evt_1".to_owned(),
            leaf,
            is_labelled_right,
        };
        let told = |event: Option<&Event>| difference(7, event, &one, Some(&two)).unwrap_or_default();
        assert_eq!(told(Some(&event(one, true))), "");
        assert!(told(Some(&event(one, false))).contains("not its own"));
        assert!(told(Some(&event(two, true))).contains("event 7 was removed"));
        assert!(told(Some(&event(other, true))).contains("event 7 was changed: evt_1"));
        assert!(told(None).contains("event 7 was removed or changed"));
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
            let told = first_changed(&edge(None), &edge(Some(changed))).unwrap();
            assert!(told.contains(range), "{told}");
        }
    }
}
