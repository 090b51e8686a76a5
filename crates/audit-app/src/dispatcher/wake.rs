//! The attempts that end, of which the dispatcher thread learns.

use super::results::DeliveryResult;
use audit_webhooks::{Course, Lane};
use std::sync::Arc;

/// Wakes the dispatcher thread.
pub(crate) type Wake = crate::wake::Wake<EndedAttempt>;

/// The end of an attempt, or of the reservation of a lane without an attempt.
#[derive(Debug)]
pub(crate) struct EndedAttempt {
    pub(super) lane: Lane,
    /// The course of the attempt; `None` if there was none.
    pub(super) course: Option<Course>,
    /// The result to write; `None` if the attempt panicked or there was none.
    pub(super) result: Option<DeliveryResult>,
}

/// A reserved lane. Signals the end of its attempt when it is dropped, also after a panic.
#[derive(Debug)]
pub(super) struct LaneGuard {
    wake: Arc<Wake>,
    lane: Option<Lane>,
    course: Option<Course>,
    result: Option<DeliveryResult>,
}

impl LaneGuard {
    pub(super) fn new(wake: &Arc<Wake>, lane: Lane) -> Self {
        Self {
            wake: Arc::clone(wake),
            lane: Some(lane),
            course: None,
            result: None,
        }
    }

    /// Marks the begin of the attempt. An attempt that panics has failed.
    pub(super) fn begin(&mut self) {
        self.course = Some(Course::Failed);
    }

    pub(super) fn end(mut self, course: Option<Course>, result: DeliveryResult) {
        self.course = course;
        self.result = Some(result);
    }
}

impl Drop for LaneGuard {
    fn drop(&mut self) {
        let (course, result) = (self.course, self.result.take());
        if let Some(lane) = self.lane.take() {
            let ended = EndedAttempt { lane, course, result };
            self.wake.end(ended);
        }
    }
}
