//! The places to which anchors go, and whether they take them.

use audit_anchors::{Bucket, TimeStampAuthority};
use audit_domain::{Timestamp, words};
use audit_webhooks::{Sender, WebhookSecret, WebhookUrl};
use parking_lot::Mutex;
use std::collections::BTreeMap;
use std::fmt::Display;
use std::path::PathBuf;

/// The pauses after failed attempts: the first one, and the longest.
const PAUSE_SECONDS_MIN: i64 = 30;
const PAUSE_SECONDS_MAX: i64 = 3_600;

words! {
    /// A place to which anchors go, as metrics name it.
    pub enum AnchorPlace {
        /// The authority that stamps them with its time.
        TimeStamp = "time_stamp",
        /// The webhook.
        Webhook = "webhook",
        /// The bucket.
        Bucket = "bucket",
        /// The directory of this node.
        Directory = "directory",
    }
}

/// The configured places.
#[derive(Debug, Default)]
pub struct AnchorPlaces {
    /// Stamps anchors with its time.
    pub authority: Option<TimeStampAuthority>,
    /// Receives them.
    pub webhook: Option<AnchorWebhook>,
    /// Stores them.
    pub bucket: Option<Bucket>,
    /// Stores them. Each node has its own, or several share one.
    pub directory: Option<PathBuf>,
}

/// A webhook that receives anchors.
#[derive(Debug)]
pub struct AnchorWebhook {
    /// Sends as to other webhooks.
    pub sender: Sender,
    /// The receiver.
    pub url: WebhookUrl,
    /// Signs the messages.
    pub secret: WebhookSecret,
}

/// What this process knows of a place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PlaceStatistics {
    /// The place.
    pub place: AnchorPlace,
    /// The number of failed attempts.
    pub failures: u64,
    /// The number of anchors that it does not have yet.
    pub pending: usize,
}

impl AnchorPlaces {
    /// Whether there are none.
    pub const fn is_empty(&self) -> bool {
        let Self {
            authority,
            webhook,
            bucket,
            directory,
        } = self;
        authority.is_none() && webhook.is_none() && bucket.is_none() && directory.is_none()
    }
}

/// The state of each place that was used.
#[derive(Debug, Default)]
pub(super) struct PlaceStates(Mutex<BTreeMap<&'static str, PlaceState>>);

#[derive(Debug)]
struct PlaceState {
    place: AnchorPlace,
    failures: u64,
    pending: usize,
    /// The attempts that failed since the last success.
    failed: u32,
    /// When the next attempt may begin.
    retry_at: Timestamp,
}

impl PlaceStates {
    fn with<T>(&self, place: AnchorPlace, change: impl FnOnce(&mut PlaceState) -> T) -> T {
        let mut states = self.0.lock();
        let state = states.entry(place.as_str()).or_insert(PlaceState {
            place,
            failures: 0,
            pending: 0,
            failed: 0,
            retry_at: Timestamp::MIN,
        });
        change(state)
    }

    /// Whether an attempt may begin. A longer pause than there is means that the clock was set back.
    pub(super) fn is_ready(&self, place: AnchorPlace, now: Timestamp) -> bool {
        let longest = now.plus_seconds(PAUSE_SECONDS_MAX);
        self.with(place, |state| state.retry_at <= now || state.retry_at > longest)
    }

    /// Notes the result of an attempt. Logs the first failure, and the end of failures.
    pub(super) fn note<T>(
        &self,
        place: AnchorPlace,
        result: Result<T, impl Display>,
        now: Timestamp,
    ) -> Option<T> {
        self.with(place, |state| match result {
            Ok(value) => {
                if state.failed > 0 {
                    log::info!("anchors: {} works again", place.as_str());
                }
                state.failed = 0;
                Some(value)
            }
            Err(error) => {
                if state.failed == 0 {
                    log::error!("anchors: {} does not take an anchor: {error}", place.as_str());
                } else {
                    log::debug!("anchors: {}: {error}", place.as_str());
                }
                let pause = PAUSE_SECONDS_MIN << state.failed.min(16);
                state.retry_at = now.plus_seconds(pause.min(PAUSE_SECONDS_MAX));
                state.failed += 1;
                state.failures += 1;
                None
            }
        })
    }

    /// Notes how many anchors a place does not have.
    pub(super) fn note_pending(&self, place: AnchorPlace, pending: usize) {
        self.with(place, |state| state.pending = pending);
    }

    pub(super) fn statistics(&self) -> Vec<PlaceStatistics> {
        let states = self.0.lock();
        let of = |state: &PlaceState| PlaceStatistics {
            place: state.place,
            failures: state.failures,
            pending: state.pending,
        };
        states.values().map(of).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_that_fails_is_left_alone_for_longer_and_longer() {
        let (states, place) = (PlaceStates::default(), AnchorPlace::Bucket);
        let mut now = Timestamp::from_seconds(1_768_473_000);
        let mut pauses = Vec::new();
        for _ in 0..10 {
            assert!(states.is_ready(place, now));
            assert_eq!(states.note(place, Err::<(), _>("no"), now), None);
            let pause = (0..).find(|seconds| states.is_ready(place, now.plus_seconds(*seconds)));
            pauses.extend(pause);
            now = now.plus_seconds(*pauses.last().unwrap());
        }
        assert_eq!(pauses, [30, 60, 120, 240, 480, 960, 1_920, 3_600, 3_600, 3_600]);
        assert!(states.is_ready(AnchorPlace::Webhook, now.plus_seconds(-1)));
        assert_eq!(states.note(place, Ok::<_, &str>(7), now), Some(7));
        states.note(place, Err::<(), _>("no"), now);
        assert!(states.is_ready(place, now.plus_seconds(30)));
        assert_eq!(states.statistics()[0].failures, 11);
    }
}
