//! The retention of all logs of a deployment, read from its databases without a key. `log verify` checks the events that say it.

use super::chain::as_stored;
use super::worker::authorise::{BEHIND_SECONDS_MAX, behind};
use crate::error::Result;
use crate::verify::cells_of_deployment;
use audit_domain::{Environment, Lifecycle, LogName, ProjectId, RetentionPlan, Timestamp};
use audit_store::{DatabaseUrl, Reader, inspect};

/// The retention of a log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredRetention {
    /// The log, `<project id>/<environment>`.
    pub log: String,
    /// Days that its policy keeps events. Categories that it keeps longer are not counted.
    pub days: u32,
    /// When the policy was set.
    pub since: Timestamp,
    /// The plan that is not carried out yet.
    pub plan: Option<StoredPlan>,
}

/// A plan that is not carried out yet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredPlan {
    /// How many events it removes.
    pub events: u64,
    /// Its events are not removed before this time, the end of the grace.
    pub not_before: Timestamp,
    /// From this time on it does not wait for destinations.
    pub waits_until: Timestamp,
    /// The ids of the destinations that have not got all of its events, and that it waits for.
    pub destinations: Vec<String>,
    /// Whether it waits for an archive.
    pub waits_for_archive: bool,
}

/// The retention of each log of a deployment whose policy removes events. Needs no key and changes nothing.
///
/// # Errors
/// When a database cannot be read; [`LogInconsistent`](crate::AppError::LogInconsistent) when a lifecycle event was changed or is missing.
pub fn stored_retention(url: &DatabaseUrl, now: Timestamp) -> Result<Vec<StoredRetention>> {
    let mut found = Vec::new();
    for cell in cells_of_deployment(url)? {
        found.extend(inspect(&cell.url, |reader| of_cell(reader, now))?);
    }
    Ok(found)
}

fn of_cell(reader: &mut Reader<'_>, now: Timestamp) -> Result<Vec<StoredRetention>> {
    let mut found = Vec::new();
    for (ledger_id, project_id, environment) in reader.ledgers_with_lifecycle()? {
        let log = LogName::new(project_id, environment);
        let lifecycle = as_stored(reader, project_id, (ledger_id, &log))?;
        let policy = lifecycle.policy_in_force();
        let Some((days, since)) = policy.and_then(|policy| Some((policy.policy.days?, policy.since))) else {
            continue;
        };
        let plan = match lifecycle.fold.open_plan() {
            Some((_, plan)) => Some(stored_plan(
                reader,
                (project_id, environment),
                &lifecycle.fold,
                plan,
                now,
            )?),
            None => None,
        };
        found.push(StoredRetention {
            log: log.as_str().to_owned(),
            days,
            since,
            plan,
        });
    }
    Ok(found)
}

fn stored_plan(
    reader: &mut Reader<'_>,
    log: (ProjectId, Environment),
    fold: &Lifecycle,
    plan: &RetentionPlan,
    now: Timestamp,
) -> Result<StoredPlan> {
    let behind = behind(reader, log, plan, now)?.into_iter();
    let waited_for = behind.filter(|behind| behind.keeps_back);
    Ok(StoredPlan {
        events: plan.events,
        not_before: plan.not_before,
        waits_until: plan.not_before.plus_seconds(BEHIND_SECONDS_MAX),
        destinations: waited_for.map(|behind| behind.destination.id).collect(),
        waits_for_archive: fold.lacks_archive(plan),
    })
}
