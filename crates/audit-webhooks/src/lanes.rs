//! How many attempts run at once, so that no endpoint takes the place of the others.

use std::collections::HashMap;
use std::hash::Hash;

/// The attempts in flight in this process, by endpoint.
///
/// An endpoint whose last attempt was answered with 2xx has [`Self::PROVEN_MAX`] lanes. One that failed, or was not
/// tried yet since the process started, has [`Self::UNPROVEN_MAX`]: an endpoint that lets every attempt run into the
/// timeout holds up one lane, not all of them.
///
/// ```
/// use audit_webhooks::Lanes;
///
/// let mut lanes = Lanes::default();
/// assert!(lanes.start("a") && !lanes.start("a"));
/// assert_eq!(lanes.at_limit(), ["a"]);
/// lanes.finish(&"a", true);
/// assert!(lanes.start("a") && lanes.start("a"));
/// ```
#[derive(Clone, Debug)]
pub struct Lanes<K> {
    endpoints: HashMap<K, Endpoint>,
    in_flight: usize,
}

/// An endpoint is kept while it differs from one that was never seen.
#[derive(Clone, Copy, Debug, Default)]
struct Endpoint {
    in_flight: usize,
    is_proven: bool,
}

impl Endpoint {
    const fn is_at_limit(self) -> bool {
        let max = if self.is_proven {
            Lanes::<()>::PROVEN_MAX
        } else {
            Lanes::<()>::UNPROVEN_MAX
        };
        self.in_flight >= max
    }
}

impl<K> Default for Lanes<K> {
    fn default() -> Self {
        Self {
            endpoints: HashMap::new(),
            in_flight: 0,
        }
    }
}

impl<K> Lanes<K> {
    /// The most attempts in flight.
    pub const IN_FLIGHT_MAX: usize = 64;
    /// The most attempts in flight to an endpoint whose last attempt succeeded.
    pub const PROVEN_MAX: usize = 4;
    /// The most attempts in flight to any other endpoint.
    pub const UNPROVEN_MAX: usize = 1;
    /// The most endpoints that are remembered. Past it, those without an attempt in flight are forgotten, and each has
    /// to prove itself again with one attempt.
    pub const ENDPOINTS_MAX: usize = 4_096;
}

impl<K: Clone + Eq + Hash> Lanes<K> {
    /// How many more attempts may be started now, whomever to.
    pub fn free(&self) -> usize {
        Self::IN_FLIGHT_MAX - self.in_flight
    }

    /// The endpoints that may take no further attempt now, in no order; at most [`Self::IN_FLIGHT_MAX`].
    pub fn at_limit(&self) -> Vec<K> {
        let at_limit = |(key, endpoint): (&K, &Endpoint)| endpoint.is_at_limit().then(|| key.clone());
        self.endpoints.iter().filter_map(at_limit).collect()
    }

    /// Takes a lane for an attempt to `key`; `false` when it may take none now.
    #[must_use]
    pub fn start(&mut self, key: K) -> bool {
        let is_at_limit = self
            .endpoints
            .get(&key)
            .is_some_and(|endpoint| endpoint.is_at_limit());
        if self.free() == 0 || is_at_limit {
            return false;
        }
        self.endpoints.entry(key).or_default().in_flight += 1;
        self.in_flight += 1;
        self.forget_when_too_many();
        true
    }

    /// Gives back the lane of an attempt to `key`. `succeeded` says whether it was answered with 2xx. An attempt that
    /// was not started is ignored.
    pub fn finish(&mut self, key: &K, succeeded: bool) {
        let Some(endpoint) = self
            .endpoints
            .get_mut(key)
            .filter(|endpoint| endpoint.in_flight > 0)
        else {
            return;
        };
        endpoint.in_flight -= 1;
        endpoint.is_proven = succeeded;
        if endpoint.in_flight == 0 && !succeeded {
            self.endpoints.remove(key);
        }
        self.in_flight -= 1;
    }

    fn forget_when_too_many(&mut self) {
        if self.endpoints.len() > Self::ENDPOINTS_MAX {
            self.endpoints.retain(|_, endpoint| endpoint.in_flight > 0);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn an_endpoint_has_one_lane_until_it_succeeds_and_again_when_it_fails() {
        let mut lanes = Lanes::default();
        assert!(lanes.start(1));
        assert!(!lanes.start(1), "not tried yet");
        lanes.finish(&1, true);
        for _ in 0..4 {
            assert!(lanes.start(1));
        }
        assert!(!lanes.start(1), "four at most");
        assert_eq!((lanes.at_limit(), lanes.free()), (vec![1], 60));

        lanes.finish(&1, false);
        assert!(!lanes.start(1), "three are still in flight");
        lanes.finish(&1, false);
        lanes.finish(&1, false);
        assert!(!lanes.start(1), "one is still in flight");
        lanes.finish(&1, false);
        assert!(lanes.start(1) && !lanes.start(1));
    }

    #[test]
    fn dead_endpoints_leave_lanes_to_the_others() {
        let mut lanes = Lanes::default();
        for dead in 0..63 {
            assert!(lanes.start(dead) && !lanes.start(dead));
        }
        assert!(lanes.start(100));
        assert_eq!(lanes.free(), 0);
        assert!(!lanes.start(101), "64 at most");
        lanes.finish(&100, true);
        assert!(lanes.start(101));
    }

    #[test]
    fn memory_is_bounded() {
        let mut lanes = Lanes::default();
        let in_flight = 1_000_000;
        assert!(lanes.start(in_flight));
        for key in 0..10_000 {
            assert!(lanes.start(key));
            lanes.finish(&key, true);
            assert!(lanes.endpoints.len() <= Lanes::<i32>::ENDPOINTS_MAX);
        }
        assert_eq!((lanes.at_limit(), lanes.free()), (vec![in_flight], 63));
        for key in 0..10_000 {
            assert!(lanes.start(key));
            lanes.finish(&key, false);
        }
        assert_eq!(lanes.endpoints.len(), 1, "what failed needs no memory");
    }

    #[test]
    fn finishing_what_was_not_started_changes_nothing() {
        let mut lanes = Lanes::default();
        lanes.finish(&1, true);
        assert!(lanes.start(1) && !lanes.start(1));
        lanes.finish(&1, true);
        lanes.finish(&1, false);
        assert!(
            lanes.start(1) && lanes.start(1),
            "the second finish was of no attempt"
        );
        assert_eq!(lanes.free(), 62);
    }

    proptest! {
        #[test]
        fn a_lane_is_refused_exactly_at_a_limit(steps in prop::collection::vec((0u8..20, 0u8..4), 0..400)) {
            let (mut lanes, mut running, mut proven) = (Lanes::default(), Vec::new(), [false; 20]);
            for (key, step) in steps {
                let in_flight = running.iter().filter(|other| **other == key).count();
                let max = if proven[usize::from(key)] { 4 } else { 1 };
                if step > 1 {
                    let may_start = running.len() < 64 && in_flight < max;
                    prop_assert_eq!(lanes.at_limit().contains(&key), in_flight >= max);
                    prop_assert_eq!(lanes.start(key), may_start);
                    running.extend(may_start.then_some(key));
                } else if let Some(index) = running.iter().position(|other| *other == key) {
                    running.swap_remove(index);
                    proven[usize::from(key)] = step == 1;
                    lanes.finish(&key, step == 1);
                }
                prop_assert_eq!(lanes.free(), 64 - running.len());
            }
        }
    }
}
