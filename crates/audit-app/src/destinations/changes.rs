//! The destinations of a project, listed and changed.

use super::access::Access;
use super::configuration::{ConfigParts, DestinationChange, check_record_format};
use super::{
    DESTINATIONS_MAX, Destination, DestinationProgress, DestinationReport, NewDestination,
    TENANT_DESTINATIONS_MAX, TENANTS_DESTINATIONS_MAX, require_paid_plan,
};
use crate::error::{AppError, Result};
use crate::self_audit::{Changed, Requester, ServiceEvent};
use crate::service::{AuditLog, Selection};
use audit_auth::DestinationOwner;
use audit_destinations::{DestinationId, Kind, RunState};
use audit_domain::{Environment, ProjectId, Timestamp, Violations};
use audit_store::{Configurator, DestinationRow, DestinationRunRow, LedgerId, MAIN_RUN, Reader};

/// A run that begins at `cursor_seq`.
pub(super) fn new_run(
    id: &str,
    number: i64,
    ledger_id: LedgerId,
    cursor_seq: u64,
    kind: Kind,
    now: Timestamp,
) -> DestinationRunRow {
    DestinationRunRow {
        destination_id: id.to_owned(),
        number,
        ledger_id: ledger_id.0,
        cursor_seq: cursor_seq.cast_signed(),
        end_seq: None,
        position: 0,
        chain: audit_ledger::StreamChain::START.as_bytes().to_vec(),
        planned: None,
        batch_max: i64::try_from(kind.limits().records_max).unwrap_or(i64::MAX),
        state: RunState::Active.to_string(),
        attempts: 0,
        next_attempt_at: now.as_micros(),
        leased_until: 0,
        lease: None,
        set_aside_in_a_row: 0,
        checkpoint_at: now.as_micros(),
        checkpoint_position: 0,
        last_success_at: None,
        last_error: None,
        delivered: 0,
    }
}

impl AuditLog {
    /// The destinations of a project and environment, or of the tenant of a viewer, oldest first.
    ///
    /// # Errors
    /// When the principal has no access to the project or to destinations.
    pub fn destinations(
        &self,
        owner: &DestinationOwner,
        selection: Selection,
    ) -> Result<Vec<DestinationReport>> {
        self.store.query(|reader| {
            let access = self.destination_access(reader, owner, selection)?;
            let rows = reader.destinations(access.project_id, access.environment)?;
            let seen = rows.into_iter().filter(|row| access.sees(row));
            seen.map(|row| self.destination_report(reader, &row)).collect()
        })
    }

    /// A destination of a project.
    ///
    /// # Errors
    /// [`AppError::NotFound`].
    pub fn destination(
        &self,
        owner: &DestinationOwner,
        selection: Selection,
        id: DestinationId,
    ) -> Result<DestinationReport> {
        self.store.query(|reader| {
            let access = self.destination_access(reader, owner, selection)?;
            let row = access.destination(reader, id)?;
            self.destination_report(reader, &row)
        })
    }

    fn destination_report(&self, reader: &mut Reader<'_>, row: &DestinationRow) -> Result<DestinationReport> {
        Ok(DestinationReport {
            destination: Destination::open(row, &self.settings.encryption)?,
            progress: DestinationProgress::read(reader, row, self.clock.now())?,
        })
    }

    /// Creates a destination. It gets the events from its own creation on; [`Self::start_replay`] sends earlier ones.
    ///
    /// # Errors
    /// [`AppError::Invalid`] names the settings and credentials that are not as they must be; [`AppError::Forbidden`] on the free
    /// plan, when the project or the tenant has as many destinations as it may have, and when the tier of a viewer does not allow them.
    pub fn create_destination(
        &self,
        owner: &DestinationOwner,
        selection: Selection,
        new: NewDestination,
    ) -> Result<DestinationReport> {
        let access = self.access_to_change(owner, in_environment(selection, &new)?)?;
        self.store.read(|reader| {
            require_paid_plan(reader, access.project_id)?;
            access.require_kind(reader, new.kind)
        })?;
        check_record_format(new.kind, new.format)?;
        let filter = access.confined(new.filter)?;
        let parts = ConfigParts::of(self, &access);
        let (config, made) = parts.parse(new.kind, &new.settings, new.credentials)?;
        let (project_id, ledger_id, now) = (access.project_id, access.ledger_id, self.clock.now());
        let id = DestinationId::new(now, self.entropy.bytes()).to_string();
        let row = DestinationRow {
            config: parts.seal(&config, &id, &project_id.to_string()),
            id,
            project_id: project_id.to_string(),
            environment: access.environment.to_string(),
            name: new.name.to_string(),
            kind: new.kind.to_string(),
            format: new.format.to_string(),
            include_raw: new.include_raw,
            ocsf_classes: new.ocsf_classes.to_json().to_string(),
            filter: filter.to_json().to_string(),
            previous_config: None,
            paused: new.paused,
            created_at: now.as_micros(),
            created_by_tenant: access.tenant.clone(),
        };
        let destination = Destination {
            signing_secret: made,
            ..Destination::open(&row, &parts.keys)?
        };
        let created = self.change_project(project_id, &Requester::from(owner), move |configurator| {
            require_paid_plan(configurator, project_id)?;
            require_room(configurator, &access)?;
            let size = configurator.ledger_size(ledger_id)?;
            let run = new_run(&row.id, MAIN_RUN, ledger_id, size, destination.kind, now);
            configurator.insert_destination(&row, &run)?;
            let event = ServiceEvent::destination(None, Some(&destination));
            let progress = DestinationProgress::read(configurator, &row, now)?;
            Ok(Changed::if_some(
                DestinationReport {
                    destination,
                    progress,
                },
                event,
            ))
        });
        self.wake_destinations();
        created
    }

    /// Changes a destination. A change of its configuration, or `paused: false`, also lets a run that waits or is parked try again
    /// at once.
    ///
    /// # Errors
    /// [`AppError::NotFound`]; [`AppError::Invalid`] names the fields that are not as they must be; [`AppError::Forbidden`] when a
    /// master key changes more than `paused` of the destination of a tenant.
    pub fn change_destination(
        &self,
        owner: &DestinationOwner,
        selection: Selection,
        id: DestinationId,
        mut change: DestinationChange,
    ) -> Result<DestinationReport> {
        let access = self.access_to_change(owner, selection)?;
        change.filter = change.filter.map(|filter| access.confined(filter)).transpose()?;
        let (project_id, parts, now) = (
            access.project_id,
            ConfigParts::of(self, &access),
            self.clock.now(),
        );
        let lease = self.entropy.bytes();
        let changed = self.change_project(project_id, &Requester::from(owner), move |configurator| {
            let row = access.destination(configurator, id)?;
            let before = Destination::open(&row, &parts.keys)?;
            if !change.only_pauses() {
                access.require_own(&before)?;
            }
            let changed = change.apply(&row, &before, &parts)?;
            let resumes =
                !changed.row.paused && (change.paused == Some(false) || changed.row.config != row.config);
            // The destination before its runs, as in a delivery: otherwise the two could deadlock.
            if changed.row != row {
                configurator.update_destination(&row, &changed.row)?;
            }
            let was_parked = resumes && resume_runs(configurator, &row.id, now, &lease)?;
            let destination = Destination {
                signing_secret: changed.made,
                ..Destination::open(&changed.row, &parts.keys)?
            };
            let is_rotated = change.credentials.is_some();
            let events = ServiceEvent::destination_changed(&before, &destination, is_rotated, was_parked);
            let progress = DestinationProgress::read(configurator, &changed.row, now)?;
            Ok(Changed::by_all(
                DestinationReport {
                    destination,
                    progress,
                },
                events,
            ))
        });
        self.wake_destinations();
        changed
    }

    /// Deletes a destination, with its list of events that were set aside.
    ///
    /// # Errors
    /// [`AppError::NotFound`].
    pub fn delete_destination(
        &self,
        owner: &DestinationOwner,
        selection: Selection,
        id: DestinationId,
    ) -> Result<()> {
        let access = self.access_to_change(owner, selection)?;
        let keys = self.settings.encryption.clone();
        self.change_project(access.project_id, &Requester::from(owner), move |configurator| {
            let row = access.destination(configurator, id)?;
            let destination = Destination::open(&row, &keys)?;
            match configurator.delete_destination(&row.id)? {
                true => Ok(Changed::if_some(
                    (),
                    ServiceEvent::destination(Some(&destination), None),
                )),
                false => Err(AppError::NotFound("destination")),
            }
        })
    }
}

/// The selection of a new destination, whose body may name the environment.
fn in_environment(selection: Selection, new: &NewDestination) -> Result<Selection> {
    match (selection.environment, new.environment) {
        (Some(query), Some(body)) if query != body => {
            Err(Violations::one("environment", "must be that of the query string").into())
        }
        (query, body) => Ok(Selection {
            environment: body.or(query),
            ..selection
        }),
    }
}

/// That one more destination may be created.
///
/// # Errors
/// [`AppError::Forbidden`].
fn require_room(configurator: &mut Configurator<'_, ProjectId>, access: &Access) -> Result<()> {
    let mut owners = Vec::new();
    for environment in Environment::ALL {
        let rows = configurator.destinations(access.project_id, *environment)?;
        owners.extend(rows.into_iter().map(|row| row.created_by_tenant));
    }
    let own = owners.iter().filter(|owner| **owner == access.tenant).count();
    let of_tenants = owners.iter().flatten().count();
    let message = match access.tenant {
        None if own >= DESTINATIONS_MAX => format!("a project has at most {DESTINATIONS_MAX} destinations"),
        Some(_) if own >= TENANT_DESTINATIONS_MAX => {
            format!("a tenant has at most {TENANT_DESTINATIONS_MAX} destinations")
        }
        Some(_) if of_tenants >= TENANTS_DESTINATIONS_MAX => {
            format!("the tenants of a project have at most {TENANTS_DESTINATIONS_MAX} destinations together")
        }
        None | Some(_) => return Ok(()),
    };
    Err(AppError::Forbidden(message))
}

/// Lets the runs of a destination that wait or are parked try again at once. Returns whether one was parked. A run that waits keeps its state
/// until the receiver has taken something: the operator then learns that it has recovered. A run that a node is just working on goes on by
/// itself.
fn resume_runs(
    configurator: &mut Configurator<'_, ProjectId>,
    id: &str,
    now: Timestamp,
    lease: &[u8; 16],
) -> Result<bool> {
    let mut was_parked = false;
    for run in configurator.destination_runs(id)? {
        let is_waiting = run.state != RunState::Active.as_str() || run.next_attempt_at > now.as_micros();
        if !is_waiting || !configurator.lease_destination_run(id, run.number, now, now, lease)? {
            continue;
        }
        // A node may have written it before the lease.
        let runs = configurator.destination_runs(id)?;
        let Some(run) = runs.into_iter().find(|leased| leased.number == run.number) else {
            continue;
        };
        let is_parked = run.state == RunState::Parked.as_str();
        let mut resumed = DestinationRunRow {
            next_attempt_at: now.as_micros(),
            leased_until: 0,
            lease: None,
            set_aside_in_a_row: 0,
            ..run
        };
        if is_parked {
            RunState::Active.as_str().clone_into(&mut resumed.state);
        }
        // Delayed without failed attempts means late while the receiver takes records, and that the operator knows.
        if resumed.state != RunState::Delayed.as_str() {
            resumed.attempts = 0;
        }
        was_parked |= configurator.update_destination_run(lease, &resumed)? && is_parked;
    }
    Ok(was_parked)
}
