//! The ledgers that have grown since they were signed last, and those that take no events until they are signed.
//!
//! An attacker with write access to the database can remove an event that was acknowledged and is in no signed checkpoint. Only a node
//! that remembers it notices that. So a ledger that cannot be signed takes events for a limited time only.

use crate::error::{Result, StoreError};
use crate::ids::LedgerId;
use parking_lot::Mutex;
use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet};
use std::time::{Duration, Instant};

/// What a process knows of the signatures that its ledgers lack.
#[derive(Debug)]
pub(crate) struct Unsigned {
    /// How long a ledger takes events that are not signed; `None` for any time, in a process that signs nothing.
    max: Option<Duration>,
    ledgers: Mutex<Ledgers>,
}

#[derive(Debug, Default)]
struct Ledgers {
    /// Have grown since [`Unsigned::take_grown`], to be signed.
    grown: BTreeSet<LedgerId>,
    /// When they stop to take events.
    stop_at: BTreeMap<LedgerId, Instant>,
    /// The sizes that they had when they could not be signed.
    sizes: BTreeMap<LedgerId, u64>,
}

impl Unsigned {
    pub(crate) fn new(max: Option<Duration>) -> Self {
        Self {
            max,
            ledgers: Mutex::default(),
        }
    }

    /// When a ledger stops that cannot be signed from now on. No time of this process is later than that.
    fn stop_at(&self) -> Option<Instant> {
        Instant::now().checked_add(self.max?)
    }

    /// Notes that ledgers have grown, or may have.
    pub(crate) fn note_grown(&self, ledger_ids: impl IntoIterator<Item = LedgerId>) {
        let stop_at = self.stop_at();
        let mut ledgers = self.ledgers.lock();
        for ledger_id in ledger_ids {
            ledgers.grown.insert(ledger_id);
            if let Some(stop_at) = stop_at {
                ledgers.stop_at.entry(ledger_id).or_insert(stop_at);
            }
        }
    }

    /// The ledgers that have grown since the last call.
    pub(crate) fn take_grown(&self) -> BTreeSet<LedgerId> {
        std::mem::take(&mut self.ledgers.lock().grown)
    }

    /// Notes that a ledger is not signed, because it does not continue what was signed or acknowledged. With `stops_now`, it takes
    /// no events from now on.
    pub(crate) fn note_refused(&self, ledger_id: LedgerId, stops_now: bool) {
        let Some(mut stop_at) = self.stop_at() else {
            return;
        };
        if stops_now {
            stop_at = Instant::now();
        }
        let mut ledgers = self.ledgers.lock();
        let known = ledgers.stop_at.entry(ledger_id).or_insert(stop_at);
        *known = stop_at.min(*known);
    }

    /// Notes that a ledger was signed. What it has grown by since is to be signed.
    pub(crate) fn note_signed(&self, ledger_id: LedgerId) {
        let stop_at = self.stop_at();
        let mut ledgers = self.ledgers.lock();
        let has_grown = ledgers.grown.contains(&ledger_id);
        if let Entry::Occupied(mut known) = ledgers.stop_at.entry(ledger_id) {
            match stop_at.filter(|_| has_grown) {
                Some(stop_at) => drop(known.insert(stop_at)),
                None => drop(known.remove()),
            }
        }
    }

    /// Notes that a ledger had this size when it could not be signed: its events were acknowledged.
    pub(crate) fn note_size(&self, ledger_id: LedgerId, size: u64) {
        let mut ledgers = self.ledgers.lock();
        let known = ledgers.sizes.entry(ledger_id).or_default();
        *known = size.max(*known);
    }

    /// Whether a ledger of this size has lost events. It is then looked at by the signer, which reports it. A size that was read without
    /// a lock may be older than what is known.
    pub(crate) fn is_cut_off(&self, ledger_id: LedgerId, size: u64) -> bool {
        let is_cut_off = self
            .ledgers
            .lock()
            .sizes
            .get(&ledger_id)
            .is_some_and(|known| size < *known);
        if is_cut_off {
            self.note_grown([ledger_id]);
        }
        is_cut_off
    }

    /// Refuses events of a ledger that was not signed for too long.
    pub(crate) fn check(&self, ledger_id: LedgerId) -> Result<()> {
        let stop_at = self.ledgers.lock().stop_at.get(&ledger_id).copied();
        match stop_at {
            Some(stop_at) if stop_at <= Instant::now() => Err(StoreError::Unsigned {
                ledger_id: ledger_id.0,
            }),
            _ => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LEDGER: LedgerId = LedgerId(7);
    const OTHER: LedgerId = LedgerId(8);

    fn is_stopped(unsigned: &Unsigned) -> bool {
        let is_stopped = |ledger_id| unsigned.check(ledger_id).is_err();
        assert!(!is_stopped(OTHER));
        is_stopped(LEDGER)
    }

    /// A limit that is reached at once.
    fn impatient() -> Unsigned {
        Unsigned::new(Some(Duration::ZERO))
    }

    fn patient() -> Unsigned {
        Unsigned::new(Some(Duration::from_secs(1 << 20)))
    }

    #[test]
    fn a_ledger_stops_when_it_is_not_signed_in_time_and_goes_on_when_it_is() {
        for (unsigned, stops) in [
            (impatient(), true),
            (patient(), false),
            (Unsigned::new(None), false),
        ] {
            unsigned.note_grown([LEDGER]);
            assert_eq!(is_stopped(&unsigned), stops);
            assert_eq!(unsigned.take_grown(), BTreeSet::from([LEDGER]));
            assert_eq!(is_stopped(&unsigned), stops, "it is being signed");
            unsigned.note_signed(LEDGER);
            assert!(!is_stopped(&unsigned));
        }
    }

    #[test]
    fn what_grows_while_it_is_signed_has_a_limit_of_its_own() {
        let unsigned = impatient();
        unsigned.note_grown([LEDGER]);
        unsigned.take_grown();
        unsigned.note_grown([LEDGER]);
        unsigned.note_signed(LEDGER);
        assert!(is_stopped(&unsigned));
        unsigned.take_grown();
        unsigned.note_signed(LEDGER);
        assert!(!is_stopped(&unsigned));
    }

    #[test]
    fn a_smaller_ledger_than_the_largest_known_one_is_cut_off() {
        let unsigned = Unsigned::new(None);
        assert!(!unsigned.is_cut_off(LEDGER, 0));
        unsigned.note_size(LEDGER, 10);
        unsigned.note_size(LEDGER, 7);
        assert!(!unsigned.is_cut_off(LEDGER, 10) && !unsigned.is_cut_off(OTHER, 9));
        assert!(unsigned.take_grown().is_empty());
        assert!(unsigned.is_cut_off(LEDGER, 9));
        assert_eq!(unsigned.take_grown(), BTreeSet::from([LEDGER]));
    }

    #[test]
    fn a_ledger_can_be_stopped_at_once() {
        let unsigned = patient();
        unsigned.note_refused(LEDGER, false);
        assert!(!is_stopped(&unsigned));
        unsigned.note_refused(LEDGER, true);
        assert!(is_stopped(&unsigned));
        unsigned.note_refused(LEDGER, false);
        unsigned.note_grown([LEDGER]);
        assert!(is_stopped(&unsigned), "no later limit takes its place");
        unsigned.take_grown();
        unsigned.note_signed(LEDGER);
        assert!(!is_stopped(&unsigned));
    }
}
