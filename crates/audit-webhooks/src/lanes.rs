//! Concurrency limits and priorities of attempts, so that no endpoint starves the others.

use std::collections::HashMap;

/// The target of attempts. A webhook whose host changes becomes another endpoint, without history.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Endpoint {
    /// The webhook.
    pub webhook_id: String,
    /// The organization of the webhook.
    pub organization_id: String,
    /// The host of its URL.
    pub host: String,
}

/// An endpoint with a delivery due.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Waiting {
    /// The endpoint.
    pub endpoint: Endpoint,
    /// The time at which its oldest delivery became due, in any unit.
    pub due_at: i64,
}

/// The result of an attempt, as it affects the endpoint's priority.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Course {
    /// A 2xx response in less than [`Course::SLOW_MS`].
    Well,
    /// Any other end in less than [`Course::SLOW_MS`].
    Failed,
    /// Any end after [`Course::SLOW_MS`] or longer.
    Slow,
}

impl Course {
    /// The duration, in milliseconds, from which an attempt is slow.
    pub const SLOW_MS: i64 = 5_000;

    /// The result of an attempt of this duration.
    pub const fn of(is_delivered: bool, duration_ms: i64) -> Self {
        match (duration_ms >= Self::SLOW_MS, is_delivered) {
            (true, _) => Self::Slow,
            (false, true) => Self::Well,
            (false, false) => Self::Failed,
        }
    }
}

/// The state of an endpoint after its last attempt.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Standing {
    /// No attempt since the process started.
    #[default]
    Untried,
    /// The last attempt was [`Course::Well`].
    Proven,
    /// The last attempt was not.
    Failing,
}

/// Permission for one attempt, from [`Lanes::choose`]. Return it with [`Lanes::finish`] or [`Lanes::cancel`].
#[derive(Debug, PartialEq, Eq)]
#[must_use]
pub struct Lane {
    endpoint: Endpoint,
    standing: Standing,
}

impl Lane {
    /// The endpoint of the attempt.
    pub const fn endpoint(&self) -> &Endpoint {
        &self.endpoint
    }
}

#[derive(Clone, Copy, Debug, Default)]
struct EndpointState {
    in_flight: usize,
    standing: Standing,
    /// The sequence number of the last attempt; 0 before the first.
    started: u64,
}

#[derive(Clone, Copy, Debug, Default)]
struct OrganizationState {
    in_flight: usize,
    failing: usize,
}

/// The attempts in flight in this process.
///
/// A proven endpoint has [`Self::PROVEN_MAX`] lanes, any other endpoint has one. Failing endpoints come after all others, take
/// turns, and together have half of the lanes; limits per host and per organization apply within that half. Among endpoints of
/// equal priority, the organizations with the fewest attempts in flight come first. So endpoints whose attempts all time out delay
/// others only until each was tried once, for any number of pending deliveries.
///
/// ```
/// use audit_webhooks::{Course, Endpoint, Lanes, Waiting};
///
/// let endpoint = Endpoint { webhook_id: "wh".into(), organization_id: "o".into(), host: "a.example".into() };
/// let waiting = || vec![Waiting { endpoint: endpoint.clone(), due_at: 0 }];
/// let mut lanes = Lanes::default();
/// let mut chosen = lanes.choose(waiting());
/// assert!(chosen.len() == 1 && lanes.choose(waiting()).is_empty());
/// lanes.finish(chosen.remove(0), Course::Well);
/// assert_eq!(lanes.choose(waiting()).len(), 4);
/// ```
#[derive(Debug, Default)]
pub struct Lanes {
    endpoints: HashMap<Endpoint, EndpointState>,
    organizations: HashMap<String, OrganizationState>,
    /// Attempts at endpoints that fail, by host.
    failing_of_host: HashMap<String, usize>,
    in_flight: usize,
    unproven: usize,
    failing: usize,
    started: u64,
}

impl Lanes {
    /// Most attempts in flight.
    pub const IN_FLIGHT_MAX: usize = 64;
    /// Most attempts in flight to failing or untried endpoints.
    pub const UNPROVEN_MAX: usize = 48;
    /// Most attempts in flight to failing endpoints.
    pub const FAILING_MAX: usize = 32;
    /// Most attempts in flight to failing endpoints at one host.
    pub const FAILING_OF_HOST_MAX: usize = 8;
    /// Most attempts in flight to failing endpoints of one organization.
    pub const FAILING_OF_ORGANIZATION_MAX: usize = 8;
    /// Most attempts in flight of one organization.
    pub const OF_ORGANIZATION_MAX: usize = 16;
    /// Most attempts in flight to one proven endpoint. Any other endpoint has one.
    pub const PROVEN_MAX: usize = 4;
    /// Most endpoints in memory. Beyond it, endpoints without an attempt in flight are evicted.
    pub const ENDPOINTS_MAX: usize = 16_384;

    /// The number of free lanes.
    pub const fn free(&self) -> usize {
        Self::IN_FLIGHT_MAX - self.in_flight
    }

    /// Allocates lanes to waiting endpoints by priority: one lane for each, then further lanes for proven endpoints.
    pub fn choose(&mut self, waiting: Vec<Waiting>) -> Vec<Lane> {
        let waiting = self.in_order(waiting);
        let mut chosen = Vec::new();
        for _ in 0..Self::PROVEN_MAX {
            let before = chosen.len();
            for Waiting { endpoint, .. } in &waiting {
                if self.free() == 0 {
                    return chosen;
                }
                chosen.extend(self.start(endpoint));
            }
            if chosen.len() == before {
                break;
            }
        }
        chosen
    }

    fn in_order(&self, mut waiting: Vec<Waiting>) -> Vec<Waiting> {
        let is_failing = |endpoint: &Endpoint| self.standing(endpoint) == Standing::Failing;
        waiting.sort_by_cached_key(|waiting| {
            let failing = is_failing(&waiting.endpoint);
            // Failing endpoints take turns. By due time, the endpoint with the longest backlog would always come first.
            let started = if failing {
                self.started_of(&waiting.endpoint)
            } else {
                0
            };
            (failing, started, waiting.due_at)
        });
        // By organization: attempts in flight plus endpoints ranked so far.
        let mut before: HashMap<(bool, String), usize> = HashMap::new();
        let mut ranked: Vec<(bool, usize, Waiting)> = Vec::with_capacity(waiting.len());
        for waiting in waiting {
            let failing = is_failing(&waiting.endpoint);
            let organization = self
                .organizations
                .get(&waiting.endpoint.organization_id)
                .copied()
                .unwrap_or_default();
            let in_flight = if failing {
                organization.failing
            } else {
                organization.in_flight
            };
            let key = (failing, waiting.endpoint.organization_id.clone());
            let rank = before.entry(key).or_insert(in_flight);
            ranked.push((failing, *rank, waiting));
            *rank += 1;
        }
        ranked.sort_by_key(|(failing, rank, _)| (*failing, *rank));
        ranked.into_iter().map(|(_, _, waiting)| waiting).collect()
    }

    /// Returns a lane after an attempt.
    pub fn finish(&mut self, lane: Lane, course: Course) {
        self.give_back(&lane);
        if let Some(state) = self.endpoints.get_mut(&lane.endpoint) {
            state.standing = match course {
                Course::Well => Standing::Proven,
                Course::Failed | Course::Slow => Standing::Failing,
            };
        }
        self.forget();
    }

    /// Returns a lane without an attempt.
    pub fn cancel(&mut self, lane: &Lane) {
        self.give_back(lane);
    }

    fn standing(&self, endpoint: &Endpoint) -> Standing {
        let known = self.endpoints.get(endpoint);
        known.map_or_else(Standing::default, |state| state.standing)
    }

    fn started_of(&self, endpoint: &Endpoint) -> u64 {
        self.endpoints.get(endpoint).map_or(0, |state| state.started)
    }

    fn may_start(&self, endpoint: &Endpoint, standing: Standing) -> bool {
        let in_flight = self.endpoints.get(endpoint).map_or(0, |state| state.in_flight);
        let organization = self
            .organizations
            .get(&endpoint.organization_id)
            .copied()
            .unwrap_or_default();
        if self.free() == 0 || organization.in_flight >= Self::OF_ORGANIZATION_MAX {
            return false;
        }
        let is_unproven_free = in_flight == 0 && self.unproven < Self::UNPROVEN_MAX;
        match standing {
            Standing::Proven => in_flight < Self::PROVEN_MAX,
            Standing::Untried => is_unproven_free,
            Standing::Failing => {
                let at_host = self.failing_of_host.get(&endpoint.host).copied();
                is_unproven_free
                    && self.failing < Self::FAILING_MAX
                    && at_host.unwrap_or_default() < Self::FAILING_OF_HOST_MAX
                    && organization.failing < Self::FAILING_OF_ORGANIZATION_MAX
            }
        }
    }

    fn start(&mut self, endpoint: &Endpoint) -> Option<Lane> {
        let standing = self.standing(endpoint);
        if !self.may_start(endpoint, standing) {
            return None;
        }
        let is_failing = standing == Standing::Failing;
        self.started += 1;
        self.in_flight += 1;
        self.unproven += usize::from(standing != Standing::Proven);
        self.failing += usize::from(is_failing);
        let state = self.endpoints.entry(endpoint.clone()).or_default();
        state.in_flight += 1;
        state.started = self.started;
        let organization = self
            .organizations
            .entry(endpoint.organization_id.clone())
            .or_default();
        organization.in_flight += 1;
        organization.failing += usize::from(is_failing);
        if is_failing {
            *self.failing_of_host.entry(endpoint.host.clone()).or_default() += 1;
        }
        Some(Lane {
            endpoint: endpoint.clone(),
            standing,
        })
    }

    fn give_back(&mut self, lane: &Lane) {
        let is_failing = lane.standing == Standing::Failing;
        self.in_flight -= 1;
        self.unproven -= usize::from(lane.standing != Standing::Proven);
        self.failing -= usize::from(is_failing);
        if let Some(state) = self.endpoints.get_mut(&lane.endpoint) {
            state.in_flight -= 1;
        }
        if let Some(organization) = self.organizations.get_mut(&lane.endpoint.organization_id) {
            organization.in_flight -= 1;
            organization.failing -= usize::from(is_failing);
            if organization.in_flight == 0 {
                self.organizations.remove(&lane.endpoint.organization_id);
            }
        }
        if is_failing && let Some(of_host) = self.failing_of_host.get_mut(&lane.endpoint.host) {
            *of_host -= 1;
            if *of_host == 0 {
                self.failing_of_host.remove(&lane.endpoint.host);
            }
        }
    }

    /// Bounds memory. Of the endpoints without an attempt in flight, untried and proven ones are evicted first: a proven
    /// endpoint only loses its extra lanes until its next attempt.
    fn forget(&mut self) {
        if self.endpoints.len() > Self::ENDPOINTS_MAX {
            self.endpoints
                .retain(|_, state| state.in_flight > 0 || state.standing == Standing::Failing);
            if self.endpoints.len() > Self::ENDPOINTS_MAX / 2 {
                self.endpoints.retain(|_, state| state.in_flight > 0);
            }
        }
    }
}

#[cfg(test)]
mod tests;
