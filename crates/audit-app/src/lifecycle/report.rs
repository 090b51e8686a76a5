//! The auditor's report of a log: its policies, holds, removals and erasures, as its lifecycle events say.

use super::chain::as_stored;
use super::holds::LegalHold;
use super::known::LedgerLifecycle;
use super::policy::PolicyInForce;
use crate::error::{AppError, Result};
use crate::service::{AuditLog, Selection};
use crate::verify::cells_of_deployment;
use audit_auth::KeyHolder;
use audit_domain::{Environment, LifecycleEvent, LogName, ProjectId, Timestamp};
use audit_store::{DatabaseUrl, Reader, StoredLedger, inspect};

/// What auditors need to know of a log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LogReport {
    /// The log, `<project id>/<environment>`.
    pub log: String,
    /// When the report was made.
    pub made_at: Timestamp,
    /// The number of positions of the log.
    pub size: u64,
    /// How many of them the checkpoint covers.
    pub signed: Option<u64>,
    /// The last checkpoint, a signed note.
    pub checkpoint: Option<String>,
    /// The policy in force.
    pub policy: Option<PolicyInForce>,
    /// The lifecycle events, ascending by position.
    pub events: Vec<ReportedEvent>,
    /// All holds.
    pub holds: Vec<LegalHold>,
    /// How many events removals and erasures have taken as a whole and no restore has put back, as their events say or a verification has
    /// found.
    pub removed: u64,
    /// Of how many events erasures have taken a part, as their events say.
    pub erased: u64,
    /// What a verification of all events has found; `None` without one.
    pub verified: Option<VerifiedLog>,
}

/// A lifecycle event.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReportedEvent {
    /// Its position.
    pub seq: u64,
    /// When the log received it.
    pub at: Timestamp,
    /// The id of its actor: of a key, or `operator` or `audit-server`.
    pub actor_id: String,
    /// The name of its actor.
    pub actor_name: Option<String>,
    /// What it says.
    pub event: LifecycleEvent,
    /// Of a plan: it was neither carried out nor cancelled.
    pub is_open: bool,
}

/// What a verification of a log has found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct VerifiedLog {
    /// When it began.
    pub at: Timestamp,
    /// The number of positions that it has read.
    pub size: u64,
    /// The number of findings.
    pub findings: u64,
    /// The number of positions without an event that no removal covers.
    pub unexplained: u64,
}

impl LedgerLifecycle {
    fn report(&self, log: &LogName, made_at: Timestamp) -> LogReport {
        let reported = self.fold.events().filter_map(|(seq, at, event)| {
            let own = self.event(seq)?;
            let actor_name = own.event.get("actor").and_then(|actor| actor["name"].as_str());
            Some(ReportedEvent {
                seq,
                at,
                actor_id: own.by().to_owned(),
                actor_name: actor_name.map(str::to_owned),
                event: event.clone(),
                is_open: self.fold.is_open(seq),
            })
        });
        let removed = self.fold.removals().map(|(.., removal)| removal.events);
        let restored = self.fold.restored().map(|(_, restored)| restored.events);
        let restored = restored.fold(0_u64, u64::saturating_add);
        let erased = self.fold.erasures().map(|(.., erasure)| erasure);
        let (rows, events) = erased.fold((0_u64, 0_u64), |(rows, events), erasure| {
            (
                rows.saturating_add(erasure.rows),
                events.saturating_add(erasure.events),
            )
        });
        LogReport {
            log: log.as_str().to_owned(),
            made_at,
            size: 0,
            signed: None,
            checkpoint: None,
            policy: self.policy_in_force(),
            events: reported.collect(),
            holds: self.all_holds(),
            removed: removed.fold(rows, u64::saturating_add).saturating_sub(restored),
            erased: events.saturating_sub(rows),
            verified: None,
        }
    }
}

impl AuditLog {
    /// The report of a log. Of its events only the lifecycle events are verified.
    ///
    /// # Errors
    /// When the principal has no access to the project; [`AppError::LogInconsistent`] when the log was tampered with.
    pub fn log_report(&self, principal: &KeyHolder, selection: Selection) -> Result<LogReport> {
        let scope = self
            .store
            .read(|reader| self.scope(reader, principal, selection))?;
        let report = self.lifecycle(&scope)?.report(&scope.log(), self.clock.now());
        // Later than the lifecycle events, so that it covers them.
        let (size, signed, checkpoint) = self.size_and_checkpoint(&scope)?;
        Ok(LogReport {
            size,
            signed: Some(signed),
            checkpoint: Some(checkpoint),
            ..report
        })
    }
}

/// The report of a log as its database has it, which `log verify` checks. Needs no key and changes nothing.
///
/// # Errors
/// When a database cannot be read; [`AppError::NotFound`] without such a project; [`AppError::LogInconsistent`] when a lifecycle event was
/// changed or is missing.
pub fn stored_report(
    url: &DatabaseUrl,
    (project_id, environment): (ProjectId, Environment),
    now: Timestamp,
) -> Result<LogReport> {
    let id = inspect(url, |reader| {
        Ok::<_, AppError>(reader.cell_of_project(project_id)?)
    })?;
    let mut cells = cells_of_deployment(url)?.into_iter();
    let cell = cells
        .find(|cell| cell.id == id)
        .ok_or(AppError::NotFound("project"))?;
    let log = LogName::new(project_id, environment);
    inspect(&cell.url, |reader| {
        let ledger_id = stored_ledger(reader, project_id, environment)?.ledger_id;
        let report = as_stored(reader, project_id, (ledger_id, &log))?.report(&log, now);
        // Later than the lifecycle events, so that it covers them.
        let ledger = stored_ledger(reader, project_id, environment)?;
        Ok(LogReport {
            size: ledger.size.max(0).unsigned_abs(),
            signed: ledger.checkpoint.as_ref().map(|checkpoint| checkpoint.size),
            checkpoint: ledger.checkpoint.map(|checkpoint| checkpoint.note),
            ..report
        })
    })
}

fn stored_ledger(
    reader: &mut Reader<'_>,
    project_id: ProjectId,
    environment: Environment,
) -> Result<StoredLedger> {
    let mut ledgers = reader.stored_ledgers(Some(project_id))?.into_iter();
    let own = ledgers.find(|ledger| ledger.environment == environment.as_str());
    own.ok_or(AppError::NotFound("project"))
}
