//! Which runs are delivered at once. Pure.

use std::collections::{HashMap, HashSet};

/// A run that is delivered, or waits for it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Lane {
    pub(super) destination_id: String,
    pub(super) number: i64,
    pub(super) organization_id: String,
    /// Whether a tenant has created the destination.
    pub(super) is_of_tenant: bool,
    /// Whether its last attempt has failed.
    pub(super) is_failing: bool,
    /// Whether its receiver has never taken a batch.
    pub(super) is_untried: bool,
    /// Whether the attempt in this lane was slow, once it has ended.
    pub(super) is_slow: bool,
}

/// A run that has a lane.
#[derive(Debug)]
struct Running {
    organization_id: String,
    is_of_tenant: bool,
    /// Whether it has failed or was slow.
    is_hindered: bool,
    /// Whether it is that, or untried.
    is_unproven: bool,
}

/// The runs that this process delivers.
///
/// A receiver that does not respond, or takes its time, holds its lane. Runs that have failed or were slow together have four lanes,
/// and with those whose receiver has never taken a batch they leave two of the ten lanes to all others. So many receivers that do not respond delay none
/// that works while they are new, and others only until each was tried once.
#[derive(Debug, Default)]
pub(super) struct Lanes {
    /// At most [`Self::RUNS_MAX`].
    runs: HashMap<(String, i64), Running>,
    /// Those whose last attempt here was slow.
    slow: HashSet<(String, i64)>,
}

impl Lanes {
    /// The most runs at once.
    pub(super) const RUNS_MAX: usize = 10;
    /// The most runs of one organization at once.
    pub(super) const OF_ORGANIZATION_MAX: usize = 2;
    /// The most of these at once that are of its tenants, so that their receivers leave a lane to those of the organization.
    pub(super) const OF_TENANTS_MAX: usize = 1;
    /// The most runs at once whose last attempt has failed or was slow.
    pub(super) const HINDERED_MAX: usize = 4;
    /// The most of these, and of runs whose receiver has never taken a batch, at once.
    pub(super) const UNPROVEN_MAX: usize = 8;
    /// The most slow runs that are remembered. With one more, all are tried as fast ones again.
    const SLOW_MAX: usize = 10_000;

    pub(super) fn is_full(&self) -> bool {
        self.runs.len() == Self::RUNS_MAX
    }

    pub(super) fn is_empty(&self) -> bool {
        self.runs.is_empty()
    }

    /// Takes the lane if it is free. Give it back with [`Self::finish`].
    pub(super) fn take(&mut self, lane: Lane) -> Option<Lane> {
        let key = (lane.destination_id.clone(), lane.number);
        let is_hindered = lane.is_failing || self.slow.contains(&key);
        let is_unproven = is_hindered || lane.is_untried;
        let count = |is_counted: &dyn Fn(&Running) -> bool| {
            self.runs.values().filter(|running| is_counted(running)).count()
        };
        let is_own = |running: &Running| running.organization_id == lane.organization_id;
        let is_free = !self.is_full()
            && !self.runs.contains_key(&key)
            && count(&is_own) < Self::OF_ORGANIZATION_MAX
            && (!lane.is_of_tenant
                || count(&|running| is_own(running) && running.is_of_tenant) < Self::OF_TENANTS_MAX)
            && (!is_hindered || count(&|running| running.is_hindered) < Self::HINDERED_MAX)
            && (!is_unproven || count(&|running| running.is_unproven) < Self::UNPROVEN_MAX);
        if !is_free {
            return None;
        }
        let running = Running {
            organization_id: lane.organization_id.clone(),
            is_of_tenant: lane.is_of_tenant,
            is_hindered,
            is_unproven,
        };
        self.runs.insert(key, running);
        Some(lane)
    }

    pub(super) fn finish(&mut self, lane: Lane) {
        let key = (lane.destination_id, lane.number);
        self.runs.remove(&key);
        match lane.is_slow {
            true if self.slow.len() >= Self::SLOW_MAX => self.slow.clear(),
            true => {
                self.slow.insert(key);
            }
            false => {
                self.slow.remove(&key);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lane(organization: usize, destination: usize, is_failing: bool) -> Lane {
        Lane {
            destination_id: format!("dst_{organization}_{destination}"),
            number: 0,
            organization_id: organization.to_string(),
            is_of_tenant: false,
            is_failing,
            is_untried: false,
            is_slow: false,
        }
    }

    /// The lanes that organizations with many runs get.
    fn taken(lanes: &mut Lanes, organizations: usize, is_failing: bool) -> Vec<Lane> {
        let wanted = (0..organizations).flat_map(|of| (0..5).map(move |number| lane(of, number, is_failing)));
        wanted.filter_map(|wanted| lanes.take(wanted)).collect()
    }

    #[test]
    fn frozen_receivers_of_one_organization_hold_two_lanes_until_they_time_out() {
        let mut lanes = Lanes::default();
        let mut frozen = taken(&mut lanes, 1, false);
        assert_eq!(frozen.len(), 2);
        assert!(
            lanes.take(lane(1, 0, false)).is_some(),
            "a second organization waits for nothing"
        );
        lanes.finish(frozen.remove(0));
        // They have failed now.
        assert!(lanes.take(lane(0, 3, true)).is_some());
        assert_eq!(lanes.take(lane(0, 4, true)), None);
    }

    #[test]
    fn runs_that_have_failed_leave_lanes_to_others() {
        let mut lanes = Lanes::default();
        let failing = taken(&mut lanes, 50, true);
        assert_eq!(failing.len(), Lanes::HINDERED_MAX);
        let working = taken(&mut lanes, 50, false);
        assert_eq!(working.len(), Lanes::RUNS_MAX - Lanes::HINDERED_MAX);
        assert!(lanes.is_full());
        failing
            .into_iter()
            .chain(working)
            .for_each(|lane| lanes.finish(lane));
        assert!(lanes.is_empty() && lanes.slow.is_empty());
    }

    #[test]
    fn runs_that_were_slow_leave_lanes_to_others_until_they_are_fast() {
        let mut lanes = Lanes::default();
        // All of them have taken every batch.
        for _ in 0..2 {
            for first in 0..50 {
                let lane = lanes.take(lane(first, 0, false)).unwrap();
                let is_slow = true;
                lanes.finish(Lane { is_slow, ..lane });
            }
        }
        let slow: Vec<Lane> = (0..50)
            .filter_map(|number| lanes.take(lane(number, 0, false)))
            .collect();
        assert_eq!(slow.len(), Lanes::HINDERED_MAX);
        assert!(lanes.take(lane(50, 0, false)).is_some(), "another one has a lane");
        slow.into_iter().for_each(|lane| lanes.finish(lane));
        let fast = (0..5).filter_map(|number| lanes.take(lane(number, 0, false)));
        assert_eq!(fast.count(), 5, "those four were fast now");
    }

    #[test]
    fn runs_whose_receiver_is_new_leave_two_lanes_to_others() {
        let mut lanes = Lanes::default();
        let untried = |organization| Lane {
            is_untried: true,
            ..lane(organization, 0, false)
        };
        let new = (0..50).filter_map(|organization| lanes.take(untried(organization)));
        let new: Vec<Lane> = new.collect();
        assert_eq!(new.len(), Lanes::UNPROVEN_MAX);
        assert_eq!(
            lanes.take(lane(60, 0, true)),
            None,
            "one that has failed waits too"
        );
        let working = taken(&mut lanes, 50, false);
        assert_eq!(working.len(), Lanes::RUNS_MAX - Lanes::UNPROVEN_MAX);
        new.into_iter().chain(working).for_each(|lane| lanes.finish(lane));
        assert!(lanes.is_empty());
    }

    #[test]
    fn tenants_leave_a_lane_to_their_organization() {
        let of_tenant = |organization, destination| Lane {
            is_of_tenant: true,
            ..lane(organization, destination, false)
        };
        let mut lanes = Lanes::default();
        let first = lanes.take(of_tenant(1, 1)).unwrap();
        assert_eq!(lanes.take(of_tenant(1, 2)), None);
        assert!(lanes.take(of_tenant(2, 1)).is_some(), "of another organization");
        let own = lanes.take(lane(1, 3, false)).unwrap();
        assert_eq!(lanes.take(lane(1, 4, false)), None);
        lanes.finish(first);
        let second = lanes.take(lane(1, 4, false)).unwrap();
        assert_eq!(lanes.take(of_tenant(1, 2)), None, "both lanes are taken");
        lanes.finish(own);
        assert!(lanes.take(of_tenant(1, 2)).is_some());
        lanes.finish(second);
    }

    #[test]
    fn a_run_has_one_lane() {
        let mut lanes = Lanes::default();
        let main = lanes.take(lane(1, 1, false)).unwrap();
        assert_eq!(lanes.take(lane(1, 1, false)), None);
        let replay = Lane {
            number: 1,
            ..lane(1, 1, false)
        };
        assert!(lanes.take(replay).is_some());
        lanes.finish(main);
        assert!(lanes.take(lane(1, 1, false)).is_some());
    }
}
