//! Retention: the policies of the logs, and removals that destinations or a missing archive hold back.

use super::{Finding, Severity, Subject, finding};
use anyhow::Context;
use audit_app::{StoredRetention, stored_retention};
use audit_domain::Timestamp;

/// A plan that waits for a destination for so long after its grace is reported, in days.
const BEHIND_DAYS: i64 = 20;
/// A plan that waits for an archive for so long after its grace is reported, in days.
const UNARCHIVED_DAYS: i64 = 1;
/// The policies that are listed, at most.
const LISTED_MAX: usize = 20;

pub(super) fn policies(subject: &Subject<'_>) -> anyhow::Result<Vec<Finding>> {
    let url = subject.options.database.url()?;
    let logs = stored_retention(&url, subject.now).with_context(|| format!("cannot read {url}"))?;
    Ok(of_logs(&logs, subject.now))
}

fn of_logs(logs: &[StoredRetention], now: Timestamp) -> Vec<Finding> {
    let delayed = logs.iter().filter_map(|log| of_delay(log, now));
    let unarchived = logs.iter().filter_map(|log| of_archive(log, now));
    let listed = logs.iter().take(LISTED_MAX).map(described);
    let others = logs.len().saturating_sub(LISTED_MAX);
    let others = (others > 0).then(|| format!("{others} more logs have a policy"));
    let notes = listed.chain(others).map(|policy| {
        finding(
            Severity::Note,
            policy,
            "`GET /api/v1/retention` has more (docs/lifecycle.md#for-operators)",
        )
    });
    delayed.chain(unarchived).chain(notes).collect()
}

/// The policy of a log, its next removal, and the destinations that this one waits for.
fn described(log: &StoredRetention) -> String {
    let next = match &log.plan {
        None => "no removal is planned".to_owned(),
        Some(plan) => {
            let of = format!(
                "next removal, of {} events, not before {}",
                plan.events, plan.not_before
            );
            let archive = plan.waits_for_archive.then_some("an archive");
            let destinations = plan.destinations.iter().map(String::as_str);
            let waits_for: Vec<&str> = destinations.chain(archive).collect();
            match waits_for.is_empty() {
                true => of,
                false => format!("{of}, waiting for {}", waits_for.join(", ")),
            }
        }
    };
    format!(
        "{}: policy of {} days since {}, {next}",
        log.log, log.days, log.since
    )
}

/// A plan that is due and waits for an archive, for as long as there is none.
fn of_archive(log: &StoredRetention, now: Timestamp) -> Option<Finding> {
    let plan = log.plan.as_ref().filter(|plan| plan.waits_for_archive)?;
    let due = plan.not_before.plus_seconds(UNARCHIVED_DAYS * 86_400);
    (due <= now).then(|| {
        finding(
            Severity::Warning,
            format!(
                "{}: {} events stay longer than the policy says, because no archive that the log names has them",
                log.log, plan.events
            ),
            "run `audit-server archive create --record` (docs/archive.md), or set a policy without `archive` (docs/lifecycle.md#for-operators)",
        )
    })
}

/// A plan that destinations hold back until it does not wait for them any longer.
fn of_delay(log: &StoredRetention, now: Timestamp) -> Option<Finding> {
    let plan = log.plan.as_ref().filter(|plan| !plan.destinations.is_empty())?;
    let due = plan.not_before.plus_seconds(BEHIND_DAYS * 86_400);
    (due <= now).then(|| {
        finding(
            Severity::Warning,
            format!(
                "{}: destinations are {BEHIND_DAYS} days behind the policy: {} events go at {} without having been delivered to {}",
                log.log,
                plan.events,
                plan.waits_until,
                plan.destinations.join(", ")
            ),
            "repair or delete the destinations (docs/destinations.md), or cancel the plan (docs/lifecycle.md#for-operators)",
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use audit_app::StoredPlan;

    const SINCE: Timestamp = Timestamp::from_seconds(1_800_000_000);

    fn log(destinations: &[&str]) -> StoredRetention {
        let destinations = destinations.iter().map(|id| (*id).to_owned());
        StoredRetention {
            log: "p/live".to_owned(),
            days: 365,
            since: SINCE,
            plan: Some(StoredPlan {
                events: 7,
                not_before: SINCE.plus_seconds(86_400),
                waits_until: SINCE.plus_seconds(31 * 86_400),
                destinations: destinations.collect(),
                waits_for_archive: false,
            }),
        }
    }

    fn on_day(day: i64, log: &StoredRetention) -> Vec<(Severity, String)> {
        let found = of_logs(std::slice::from_ref(log), SINCE.plus_seconds(day * 86_400));
        found.into_iter().map(|one| (one.severity, one.problem)).collect()
    }

    #[test]
    fn a_policy_is_a_note_with_its_next_removal() {
        let planned = "p/live: policy of 365 days since 2027-01-15T08:00:00.000Z, next removal, of 7 events, not before 2027-01-16T08:00:00.000Z";
        assert_eq!(on_day(0, &log(&[])), [(Severity::Note, planned.to_owned())]);
        let waiting = format!("{planned}, waiting for dst_1, dst_2");
        assert_eq!(on_day(0, &log(&["dst_1", "dst_2"])), [(Severity::Note, waiting)]);
        let mut unplanned = log(&[]);
        unplanned.plan = None;
        let unplanned = on_day(0, &unplanned);
        let problem = &unplanned[0].1;
        assert!(problem.ends_with(", no removal is planned"), "{unplanned:?}");
    }

    #[test]
    fn a_destination_that_is_20_days_behind_a_policy_is_found() {
        let severities = |day, destinations: &[&str]| -> Vec<Severity> {
            let found = on_day(day, &log(destinations));
            found.into_iter().map(|(severity, _)| severity).collect()
        };
        assert_eq!(severities(20, &["dst_1"]), [Severity::Note]);
        assert_eq!(severities(21, &["dst_1"]), [Severity::Warning, Severity::Note]);
        assert_eq!(severities(21, &[]), [Severity::Note]);
    }

    #[test]
    fn a_plan_that_waits_for_an_archive_for_a_day_is_found() {
        let mut waiting = log(&["dst_1"]);
        waiting.plan.as_mut().unwrap().waits_for_archive = true;
        let [note] = on_day(1, &waiting).try_into().unwrap();
        assert!(note.1.ends_with(", waiting for dst_1, an archive"), "{note:?}");
        let found = on_day(2, &waiting);
        assert_eq!(found[0].0, Severity::Warning, "{found:?}");
    }

    #[test]
    fn of_many_policies_some_are_listed() {
        let logs = vec![log(&[]); LISTED_MAX + 3];
        let found = of_logs(&logs, SINCE);
        assert_eq!(found.len(), LISTED_MAX + 1);
        assert_eq!(found[LISTED_MAX].problem, "3 more logs have a policy");
    }
}
