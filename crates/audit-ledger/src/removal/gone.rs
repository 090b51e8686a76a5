//! What is gone of events, by their records. An event may have records of a removal, and of plans that would take what is gone already.

use std::collections::BTreeMap;

/// A record of what is gone of an event.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct GoneRecord {
    /// Position of the event that authorises it.
    pub(super) authority: u64,
    pub(super) is_row: bool,
}

/// Events of which the same removals and plans have records.
pub(super) struct GoneEvents {
    pub(super) first: u64,
    pub(super) events: u64,
}

/// Counts events by their records, which ascend by position.
#[derive(Default)]
pub(super) struct Gone {
    counted: BTreeMap<Vec<GoneRecord>, GoneEvents>,
    /// The last position, and its records.
    last: (u64, Vec<GoneRecord>),
}

impl Gone {
    pub(super) fn add(&mut self, seq: u64, record: GoneRecord) {
        if self.last.0 != seq {
            self.count_last();
            self.last.0 = seq;
        }
        self.last.1.push(record);
    }

    fn count_last(&mut self) {
        let (first, records) = (self.last.0, std::mem::take(&mut self.last.1));
        if !records.is_empty() {
            let counted = self.counted.entry(records);
            counted.or_insert(GoneEvents { first, events: 0 }).events += 1;
        }
    }

    pub(super) fn finish(mut self) -> BTreeMap<Vec<GoneRecord>, GoneEvents> {
        self.count_last();
        self.counted
    }
}
