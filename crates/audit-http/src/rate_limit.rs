//! Rate limits: a token bucket for each credential, in this process, off unless configured; and one for each address that asks where to
//! sign in.
//!
//! A bucket holds `burst` tokens, each request takes one, and they come back at a steady rate. The headers are those of
//! `draft-ietf-httpapi-ratelimit-headers-07`. A full bucket is equivalent to none, so full ones are dropped when the
//! table is full. Each node counts on its own.

use crate::error::ApiError;
use actix_web::http::header::{HeaderMap, HeaderName, HeaderValue};
use audit_app::AppError;
use governor::clock::{Clock, DefaultClock, Reference};
use governor::middleware::StateInformationMiddleware;
use governor::nanos::Nanos;
use governor::state::direct::NotKeyed;
use governor::state::keyed::{HashMapStateStore, ShrinkableKeyedStateStore};
use governor::state::{InMemoryState, StateStore};
use governor::{Quota, RateLimiter};
use parking_lot::Mutex;
use std::hash::{BuildHasher, RandomState};
use std::num::NonZeroU32;
use std::time::Duration;

/// Buckets of one credential each, about 2 MiB.
const BUCKETS_MAX: usize = 100_000;
/// Buckets shared by the credentials that arrive while the table is full.
const SHARED_BUCKETS: u64 = 1_024;
/// The shortest time between two sweeps of a full table; each visits every bucket.
const SWEEP_INTERVAL: Duration = Duration::from_secs(1);

const LIMIT: HeaderName = HeaderName::from_static("ratelimit-limit");
const REMAINING: HeaderName = HeaderName::from_static("ratelimit-remaining");
const RESET: HeaderName = HeaderName::from_static("ratelimit-reset");

/// The rate limit of a credential.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RateLimit {
    /// Requests a second, in the long run; at least 1.
    pub per_second: u32,
    /// Requests at once, after a pause; at least 1.
    pub burst: u32,
}

/// The buckets of all credentials. Tests pass a clock of their own.
pub(crate) struct Buckets<C: Clock = DefaultClock> {
    quota: Quota,
    limiter: RateLimiter<u64, BucketTable, C, StateInformationMiddleware>,
    swept_at: Mutex<Option<C::Instant>>,
    /// Keyed, so that no client can choose a credential that collides with another one.
    hasher: RandomState,
}

/// Buckets by the hash of their credential.
///
/// Made-up credentials can fill the table. It then keeps its existing buckets, and the credentials without one share
/// [`SHARED_BUCKETS`] others: a flood neither resets a limit nor grows the table.
struct BucketTable {
    own: HashMapStateStore<u64>,
    shared: Vec<InMemoryState>,
}

/// The remaining allowance of a credential.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Allowance {
    limit: u32,
    remaining: u32,
    /// Until the bucket is full.
    reset: Duration,
    /// The wait before a request is allowed; `None` if this one is.
    wait: Option<Duration>,
}

impl Buckets {
    pub(crate) fn new(limit: RateLimit) -> Self {
        Self::with_clock(limit, DefaultClock::default())
    }
}

impl<C: Clock> Buckets<C> {
    fn with_clock(limit: RateLimit, clock: C) -> Self {
        let at_least_1 = |number| NonZeroU32::new(number).unwrap_or(NonZeroU32::MIN);
        let quota = Quota::per_second(at_least_1(limit.per_second)).allow_burst(at_least_1(limit.burst));
        let table = BucketTable {
            own: HashMapStateStore::default(),
            shared: (0..SHARED_BUCKETS).map(|_| InMemoryState::default()).collect(),
        };
        Self {
            quota,
            limiter: RateLimiter::new(quota, table, clock),
            swept_at: Mutex::default(),
            hasher: RandomState::new(),
        }
    }

    /// Takes a token from the bucket of `credential`, if there is one.
    pub(crate) fn take(&self, credential: &str) -> Allowance {
        let now = self.limiter.clock().now();
        if self.limiter.len() >= BUCKETS_MAX {
            self.drop_full_buckets(now);
        }
        let token = self.quota.replenish_interval();
        let burst = self.quota.burst_size().get();
        match self.limiter.check_key(&self.hasher.hash_one(credential)) {
            Ok(bucket) => {
                let remaining = bucket.remaining_burst_capacity();
                Allowance {
                    limit: burst,
                    remaining,
                    reset: token * burst.saturating_sub(remaining),
                    wait: None,
                }
            }
            Err(refusal) => {
                let wait = refusal.wait_time_from(now);
                Allowance {
                    limit: burst,
                    remaining: 0,
                    reset: wait + token * (burst - 1),
                    wait: Some(wait),
                }
            }
        }
    }

    fn drop_full_buckets(&self, now: C::Instant) {
        let mut swept_at = self.swept_at.lock();
        if swept_at.is_some_and(|at| Duration::from(now.duration_since(at)) < SWEEP_INTERVAL) {
            return;
        }
        *swept_at = Some(now);
        self.limiter.retain_recent();
    }
}

impl StateStore for BucketTable {
    type Key = u64;

    fn measure_and_replace<T, F, E>(&self, key: &u64, decide: F) -> Result<T, E>
    where
        F: Fn(Option<Nanos>) -> Result<(T, Nanos), E>,
    {
        let mut own = self.own.lock();
        if own.len() < BUCKETS_MAX || own.contains_key(key) {
            let bucket = own.entry(*key).or_default();
            return bucket.measure_and_replace(&NotKeyed::NonKey, decide);
        }
        drop(own);
        let bucket = &self.shared[(key % SHARED_BUCKETS) as usize];
        bucket.measure_and_replace(&NotKeyed::NonKey, decide)
    }
}

impl ShrinkableKeyedStateStore<u64> for BucketTable {
    fn retain_recent(&self, drop_below: Nanos) {
        self.own.retain_recent(drop_below);
    }

    fn len(&self) -> usize {
        self.own.lock().len()
    }

    fn is_empty(&self) -> bool {
        self.own.lock().is_empty()
    }
}

impl Allowance {
    /// Takes a token from the bucket of the credential in this text of the header `Authorization`.
    pub(crate) fn take(buckets: &Buckets, text: &str) -> Self {
        buckets.take(without_scheme(text))
    }

    /// Why the request is not allowed, in the words of `message`; `None` if it is.
    pub(crate) fn refusal(&self, message: &str) -> Option<ApiError> {
        let wait = self.wait?;
        Some(ApiError::from(AppError::RateLimited {
            message: message.to_owned(),
            retry_after_seconds: ceil_seconds(wait).max(1),
        }))
    }

    /// Adds the headers that report the allowance.
    pub(crate) fn write(&self, headers: &mut HeaderMap) {
        headers.insert(LIMIT, HeaderValue::from(self.limit));
        headers.insert(REMAINING, HeaderValue::from(self.remaining));
        headers.insert(RESET, HeaderValue::from(ceil_seconds(self.reset)));
    }
}

/// The credential itself: `Bearer` may be written in several ways.
fn without_scheme(text: &str) -> &str {
    text.trim_end().rsplit(' ').next().unwrap_or(text)
}

fn ceil_seconds(time: Duration) -> u64 {
    time.as_secs() + u64::from(time.subsec_nanos() > 0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use governor::clock::FakeRelativeClock;

    fn buckets(per_second: u32, burst: u32) -> (Buckets<FakeRelativeClock>, FakeRelativeClock) {
        let clock = FakeRelativeClock::default();
        let limit = RateLimit { per_second, burst };
        (Buckets::with_clock(limit, clock.clone()), clock)
    }

    #[test]
    fn a_burst_is_let_through_and_then_one_request_for_each_token_that_comes_back() {
        let (buckets, clock) = buckets(10, 3);
        let remaining: Vec<_> = (0..3).map(|_| buckets.take("a").remaining).collect();
        assert_eq!(remaining, [2, 1, 0]);
        let refused = buckets.take("a");
        assert_eq!(refused.wait, Some(Duration::from_millis(100)));
        assert_eq!(refused.reset, Duration::from_millis(300));
        assert_eq!(buckets.take("b").wait, None, "each credential has its own");
        clock.advance(Duration::from_millis(100));
        assert_eq!(buckets.take("a").wait, None);
        assert!(buckets.take("a").wait.is_some());
        clock.advance(Duration::from_millis(4_900));
        assert_eq!(buckets.take("a").remaining, 2);
    }

    #[test]
    fn a_flood_of_new_credentials_neither_resets_a_bucket_in_use_nor_grows_the_table() {
        let (buckets, clock) = buckets(1, 2);
        buckets.take("a");
        buckets.take("a");
        // Forty for each shared bucket, so that all of them are empty.
        for number in 0..BUCKETS_MAX + 40 * 1_024 {
            buckets.take(&format!("made up {number}"));
        }
        assert_eq!(buckets.limiter.len(), BUCKETS_MAX);
        assert!(buckets.take("a").wait.is_some(), "its bucket is empty");
        assert!(
            buckets.take("new").wait.is_some(),
            "it shares a bucket with the flood"
        );

        // The flood has ended, and its buckets are full again.
        clock.advance(Duration::from_secs(5));
        assert_eq!(buckets.take("new").remaining, 1);
        assert_eq!(buckets.limiter.len(), 1);
    }
}
