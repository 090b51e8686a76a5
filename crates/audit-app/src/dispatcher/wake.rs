//! What the deciding thread waits for.

use super::results::Finished;
use audit_webhooks::{Course, Lane};
use parking_lot::{Condvar, Mutex};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// What the deciding thread waits for.
#[derive(Debug, Default)]
pub(crate) struct Wake {
    news: Mutex<News>,
    changed: Condvar,
}

#[derive(Debug, Default)]
pub(super) struct News {
    /// Something may be due.
    is_due: bool,
    pub(super) is_stopping: bool,
    /// Attempts that have ended.
    pub(super) ended: Vec<Ended>,
}

/// The end of an attempt, or of a lane that none was made in.
#[derive(Debug)]
pub(super) struct Ended {
    pub(super) lane: Lane,
    /// How it went; `None` when none was made.
    pub(super) course: Option<Course>,
    /// What is to be written of it.
    pub(super) finished: Option<Finished>,
}

impl Wake {
    /// Says that something may be due.
    pub(crate) fn due(&self) {
        self.tell(|news| news.is_due = true);
    }

    /// Says that no more is to be begun.
    pub(super) fn stop(&self) {
        self.tell(|news| news.is_stopping = true);
    }

    fn tell(&self, change: impl FnOnce(&mut News)) {
        change(&mut self.news.lock());
        self.changed.notify_all();
    }

    /// Waits for news, at most for `time`.
    pub(super) fn wait(&self, time: Duration) -> News {
        let is_quiet = |news: &mut News| !news.is_due && !news.is_stopping && news.ended.is_empty();
        let mut news = self.news.lock();
        self.changed.wait_while_for(&mut news, is_quiet, time);
        News {
            is_due: std::mem::take(&mut news.is_due),
            is_stopping: news.is_stopping,
            ended: std::mem::take(&mut news.ended),
        }
    }

    /// Waits for the ends of attempts, at most until `end`; none when that has come.
    pub(super) fn wait_for_ends(&self, end: Instant) -> Vec<Ended> {
        let left = end.saturating_duration_since(Instant::now());
        let is_quiet = |news: &mut News| news.ended.is_empty();
        let mut news = self.news.lock();
        self.changed.wait_while_for(&mut news, is_quiet, left);
        std::mem::take(&mut news.ended)
    }
}

/// A lane in use. Tells of its end, however that comes about.
#[derive(Debug)]
pub(super) struct Running {
    wake: Arc<Wake>,
    lane: Option<Lane>,
    course: Option<Course>,
    finished: Option<Finished>,
}

impl Running {
    pub(super) fn new(wake: &Arc<Wake>, lane: Lane) -> Self {
        Self {
            wake: Arc::clone(wake),
            lane: Some(lane),
            course: None,
            finished: None,
        }
    }

    /// The attempt begins. Should it end in a panic, it has failed.
    pub(super) fn begin(&mut self) {
        self.course = Some(Course::Failed);
    }

    pub(super) fn end(mut self, course: Option<Course>, finished: Finished) {
        self.course = course;
        self.finished = Some(finished);
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let (course, finished) = (self.course, self.finished.take());
        if let Some(lane) = self.lane.take() {
            let ended = Ended {
                lane,
                course,
                finished,
            };
            self.wake.tell(|news| news.ended.push(ended));
        }
    }
}
