//! How many events each project has stored in the last minute, for metrics with a bounded number of projects.

use audit_domain::ProjectId;
use parking_lot::Mutex;
use std::collections::HashMap;
use std::time::{Duration, Instant};

/// The length of a window.
const WINDOW: Duration = Duration::from_secs(60);
/// Projects that are counted in a window, at most. The events of further ones are counted together.
const COUNTED_PROJECTS_MAX: usize = 10_000;

/// The counts of a process.
#[derive(Debug, Default)]
pub(crate) struct Activity {
    /// Projects that are named, at most; 0: nothing is counted.
    named_max: usize,
    windows: Mutex<Windows>,
}

/// The events of the last complete minute.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ActivityReport {
    /// The projects with the most events, most first.
    pub projects: Vec<(ProjectId, u64)>,
    /// The events of all others.
    pub others: u64,
}

#[derive(Debug, Default)]
struct Windows {
    began: Option<Instant>,
    counts: HashMap<ProjectId, u64>,
    /// The events of projects beyond [`COUNTED_PROJECTS_MAX`].
    uncounted: u64,
    last: ActivityReport,
}

impl Activity {
    pub(crate) fn new(named_max: usize) -> Self {
        Self {
            named_max,
            windows: Mutex::default(),
        }
    }

    /// Counts events that a project has stored.
    pub(crate) fn note(&self, project_id: ProjectId, events: u64) {
        if self.named_max > 0 && events > 0 {
            self.note_at(project_id, events, Instant::now());
        }
    }

    fn note_at(&self, project_id: ProjectId, events: u64, now: Instant) {
        let mut windows = self.windows.lock();
        windows.advance(now, self.named_max);
        let is_full = windows.counts.len() >= COUNTED_PROJECTS_MAX;
        match windows.counts.get_mut(&project_id) {
            Some(count) => *count += events,
            None if is_full => windows.uncounted += events,
            None => drop(windows.counts.insert(project_id, events)),
        }
    }

    /// The last complete minute; `None` if nothing is counted.
    pub(crate) fn report(&self) -> Option<ActivityReport> {
        (self.named_max > 0).then(|| self.report_at(Instant::now()))
    }

    fn report_at(&self, now: Instant) -> ActivityReport {
        let mut windows = self.windows.lock();
        windows.advance(now, self.named_max);
        windows.last.clone()
    }
}

impl Windows {
    /// Begins the window of this moment, if it has not begun.
    fn advance(&mut self, now: Instant, named_max: usize) {
        let Some(began) = self.began else {
            self.began = Some(now);
            return;
        };
        let elapsed = now.saturating_duration_since(began);
        if elapsed < WINDOW {
            return;
        }
        let counts = std::mem::take(&mut self.counts);
        let uncounted = std::mem::take(&mut self.uncounted);
        // A whole window without an event and without a reader of the counts has passed since: the counts belong to an earlier minute.
        self.last = match elapsed < 2 * WINDOW {
            true => ActivityReport::of(counts, uncounted, named_max),
            false => ActivityReport::default(),
        };
        self.began = Some(now);
    }
}

impl ActivityReport {
    fn of(counts: HashMap<ProjectId, u64>, uncounted: u64, named_max: usize) -> Self {
        let mut projects: Vec<(ProjectId, u64)> = counts.into_iter().collect();
        projects
            .sort_unstable_by_key(|(project_id, count)| (std::cmp::Reverse(*count), project_id.to_string()));
        let others = projects.split_off(projects.len().min(named_max));
        Self {
            others: uncounted + others.iter().map(|(_, count)| count).sum::<u64>(),
            projects,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn project(number: u8) -> ProjectId {
        ProjectId::from_random([number; 16])
    }

    #[test]
    fn the_busiest_projects_are_named_and_the_others_summed() {
        let (activity, start) = (Activity::new(2), Instant::now());
        for (number, events) in [(1, 5), (2, 7), (3, 1), (4, 1), (1, 5)] {
            activity.note_at(project(number), events, start);
        }
        let early = start + WINDOW - Duration::from_nanos(1);
        assert_eq!(
            activity.report_at(early),
            ActivityReport::default(),
            "not complete"
        );
        let report = activity.report_at(start + WINDOW);
        assert_eq!(report.projects, [(project(1), 10), (project(2), 7)]);
        assert_eq!(report.others, 2);
        assert_eq!(activity.report_at(start + 2 * WINDOW), ActivityReport::default());
    }

    #[test]
    fn counts_of_an_earlier_minute_are_not_those_of_the_last_one() {
        let (activity, start) = (Activity::new(1), Instant::now());
        activity.note_at(project(1), 5, start);
        assert_eq!(activity.report_at(start + 2 * WINDOW), ActivityReport::default());
    }

    #[test]
    fn the_number_of_counted_projects_is_bounded() {
        let (activity, start) = (Activity::new(1), Instant::now());
        for number in 0..=COUNTED_PROJECTS_MAX as u128 {
            activity.note_at(ProjectId::from_random(number.to_be_bytes()), 1, start);
        }
        assert_eq!(activity.windows.lock().counts.len(), COUNTED_PROJECTS_MAX);
        let report = activity.report_at(start + WINDOW);
        assert_eq!(report.others, COUNTED_PROJECTS_MAX as u64);
    }

    #[test]
    fn nothing_is_counted_unless_it_is_asked_for() {
        let activity = Activity::new(0);
        activity.note(project(1), 1);
        assert!(activity.windows.lock().counts.is_empty() && activity.report().is_none());
    }
}
