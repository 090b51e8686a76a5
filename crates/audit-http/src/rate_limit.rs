//! How often one credential may ask: a token bucket for each, in this process. Off unless configured.
//!
//! A bucket holds so many tokens, each request takes one, and they come back at a steady rate. The headers are those of
//! `draft-ietf-httpapi-ratelimit-headers-07`. A bucket that is full again is as good as none, so only those in use are
//! held; several nodes count each on its own.

use crate::caller::credential_text;
use crate::error::ApiError;
use crate::state::HttpState;
use actix_web::body::{BoxBody, MessageBody};
use actix_web::dev::{ServiceRequest, ServiceResponse};
use actix_web::http::header::{HeaderMap, HeaderName, HeaderValue};
use actix_web::middleware::Next;
use actix_web::{Error, HttpMessage, web};
use audit_app::AppError;
use std::collections::HashMap;
use std::hash::{BuildHasher, RandomState};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Buckets held at once. Beyond that those that are full are forgotten, and if there are none, all.
const BUCKETS_MAX: usize = 100_000;

const LIMIT: HeaderName = HeaderName::from_static("ratelimit-limit");
const REMAINING: HeaderName = HeaderName::from_static("ratelimit-remaining");
const RESET: HeaderName = HeaderName::from_static("ratelimit-reset");

/// How often a credential may ask.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RateLimit {
    /// Requests a second, in the long run; at least 1.
    pub per_second: u32,
    /// Requests at once, after a pause; at least 1.
    pub burst: u32,
}

/// The buckets of all credentials.
pub(crate) struct Buckets {
    limit: RateLimit,
    /// By a hash that nobody outside can aim at: of a collision two credentials share a bucket.
    hasher: RandomState,
    /// When each bucket is full again.
    full_at: Mutex<HashMap<u64, Instant>>,
}

/// What a credential has left.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Allowance {
    limit: u32,
    remaining: u32,
    /// Until the bucket is full.
    reset: Duration,
    /// Until a request may be made; nothing when this one may.
    wait: Option<Duration>,
}

impl Buckets {
    pub(crate) fn new(limit: RateLimit) -> Self {
        Self {
            limit,
            hasher: RandomState::new(),
            full_at: Mutex::default(),
        }
    }

    /// Takes a token from the bucket of `credential`, if there is one.
    ///
    /// The time at which a bucket is full again says everything (the virtual scheduling of the generic cell rate
    /// algorithm, ITU-T I.371): each token taken moves it on by the time in which one comes back.
    pub(crate) fn take(&self, credential: &str, now: Instant) -> Allowance {
        let RateLimit { per_second, burst } = self.limit;
        let token = Duration::from_secs(1) / per_second;
        let mut buckets = self.full_at.lock().unwrap_or_else(PoisonError::into_inner);
        if buckets.len() >= BUCKETS_MAX {
            buckets.retain(|_, full_at| *full_at > now);
            if buckets.len() >= BUCKETS_MAX {
                buckets.clear();
            }
        }
        let full_at = buckets.entry(self.hasher.hash_one(credential)).or_insert(now);
        let missing = full_at.saturating_duration_since(now);
        let capacity = token * burst;
        let after = missing + token;
        if after > capacity {
            return Allowance {
                limit: burst,
                remaining: 0,
                reset: missing,
                wait: Some(after - capacity),
            };
        }
        *full_at = now + after;
        let remaining = (capacity - after).as_nanos() / token.as_nanos().max(1);
        Allowance {
            limit: burst,
            remaining: u32::try_from(remaining).unwrap_or(u32::MAX),
            reset: after,
            wait: None,
        }
    }
}

impl Allowance {
    /// Tells the client.
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

/// Lets a request through if its credential may ask now. What is left is told by the middleware that renders answers.
pub(crate) async fn with_rate_limit(
    request: ServiceRequest,
    next: Next<impl MessageBody + 'static>,
) -> Result<ServiceResponse<BoxBody>, Error> {
    let state = request.app_data::<web::Data<HttpState>>();
    let buckets = state.and_then(|state| state.buckets.as_ref());
    let allowance = buckets
        .zip(credential_text(request.request()))
        .map(|(buckets, text)| buckets.take(without_scheme(text), Instant::now()));
    if let Some(allowance) = allowance {
        request.extensions_mut().insert(allowance);
        if let Some(wait) = allowance.wait {
            let error = ApiError::from(AppError::RateLimited {
                message: "this credential asks too often".to_owned(),
                retry_after_seconds: ceil_seconds(wait).max(1),
            });
            return Ok(request.error_response(error));
        }
    }
    next.call(request).await.map(ServiceResponse::map_into_boxed_body)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_burst_is_let_through_and_then_one_request_for_each_token_that_comes_back() {
        let buckets = Buckets::new(RateLimit {
            per_second: 10,
            burst: 3,
        });
        let start = Instant::now();
        let remaining: Vec<_> = (0..3).map(|_| buckets.take("a", start).remaining).collect();
        assert_eq!(remaining, [2, 1, 0]);
        let refused = buckets.take("a", start);
        assert_eq!(refused.wait, Some(Duration::from_millis(100)));
        assert_eq!(refused.reset, Duration::from_millis(300));
        assert_eq!(buckets.take("b", start).wait, None, "each credential has its own");
        let later = start + Duration::from_millis(100);
        assert_eq!(buckets.take("a", later).wait, None);
        assert!(buckets.take("a", later).wait.is_some());
        let rested = start + Duration::from_secs(5);
        assert_eq!(buckets.take("a", rested).remaining, 2);
    }
}
