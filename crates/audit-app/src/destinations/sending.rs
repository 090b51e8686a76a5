//! Records that are sent at once, on behalf of a request: tests, and events that were set aside.

use super::{Destination, open_config, require_paid_plan};
use crate::error::{AppError, Result};
use crate::service::{AuditLog, Selection};
use audit_auth::{DestinationOwner, Principal};
use audit_destinations::{
    Attempt, Batch, BatchId, Config, DestinationId, Encoded, OcsfOptions, Payload, Record, RecordFormat,
    StreamPart, Verdict, encode,
};
use audit_domain::{LogName, OrganizationId, ProjectId, Timestamp};
use audit_store::{DestinationRow, LoggedEvent, StoreError};
use parking_lot::Mutex;
use std::collections::HashMap;
use std::sync::Arc;

/// The maximum number of requests of one organization that send at once. Each can wait for the receiver until an attempt ends.
const ORGANIZATION_SENDS_MAX: usize = 2;
/// The same of the viewers of one tenant.
const TENANT_SENDS_MAX: usize = 1;
/// What a client waits that has reached it, in seconds: about as long as an attempt.
const SENDS_RETRY_SECONDS: u64 = 15;

audit_domain::words! {
    /// What became of an attempt to send.
    pub enum DestinationVerdict {
        /// The receiver took the record.
        Delivered = "delivered",
        /// No response, or one by which the receiver may take the record later.
        Retry = "retry",
        /// The receiver refused the credentials.
        Credentials = "credentials",
        /// The receiver refused the record.
        Refused = "refused",
    }
}

impl From<&Verdict> for DestinationVerdict {
    fn from(verdict: &Verdict) -> Self {
        match verdict {
            Verdict::Delivered => Self::Delivered,
            Verdict::Retry { .. } => Self::Retry,
            Verdict::Credentials => Self::Credentials,
            Verdict::Refused => Self::Refused,
        }
    }
}

/// An attempt to send one record.
#[derive(Clone, Debug)]
pub struct DestinationAttempt {
    /// What became of it.
    pub verdict: DestinationVerdict,
    /// The HTTP status of the response; `None` without one.
    pub status: Option<u16>,
    /// What was sent, without secrets.
    pub request: String,
    /// The beginning of the response, or why there is none.
    pub response: String,
}

impl From<Attempt> for DestinationAttempt {
    fn from(attempt: Attempt) -> Self {
        Self {
            verdict: (&attempt.verdict).into(),
            status: attempt.status,
            request: attempt.request,
            response: attempt.response,
        }
    }
}

/// Whose requests are counted together: those with the keys of an organization, or the viewers of a tenant.
type Sender = (OrganizationId, Option<(ProjectId, String)>);
/// The number of requests that send.
type RunningCounts = Mutex<HashMap<Sender, usize>>;

/// The requests that send at once.
#[derive(Default)]
pub(crate) struct Sending(Arc<RunningCounts>);

impl Sending {
    /// # Errors
    /// [`AppError::RateLimited`] when the organization has [`ORGANIZATION_SENDS_MAX`], or the tenant of a viewer [`TENANT_SENDS_MAX`].
    pub(super) fn begin(&self, principal: &Principal) -> Result<Slot> {
        let (tenant, sends_max, whose) = match principal {
            Principal::Viewer(viewer) => {
                let tenant = Some((viewer.project_id, viewer.tenant_id.clone()));
                (tenant, TENANT_SENDS_MAX, "a tenant")
            }
            Principal::Master(_) | Principal::Project(_) => (None, ORGANIZATION_SENDS_MAX, "an organization"),
        };
        let sender = (principal.organization_id(), tenant);
        let mut running = self.0.lock();
        let own = running.entry(sender.clone()).or_default();
        if *own >= sends_max {
            return Err(AppError::RateLimited {
                message: format!("at most {sends_max} tests and resends of {whose} run at once"),
                retry_after_seconds: SENDS_RETRY_SECONDS,
            });
        }
        *own += 1;
        Ok(Slot {
            running: Arc::clone(&self.0),
            sender,
        })
    }
}

/// Counts a request that sends until it is dropped.
pub(super) struct Slot {
    running: Arc<RunningCounts>,
    sender: Sender,
}

impl Drop for Slot {
    fn drop(&mut self) {
        let mut running = self.running.lock();
        if let Some(own) = running.get_mut(&self.sender) {
            *own -= 1;
        }
        running.retain(|_, own| *own > 0);
    }
}

/// Writes the records of a destination.
pub(super) struct Encoder {
    id: String,
    log: LogName,
    format: RecordFormat,
    ocsf: OcsfOptions,
    at: Timestamp,
}

impl Encoder {
    pub(super) fn of(destination: &Destination, project_id: ProjectId, at: Timestamp) -> Self {
        Self {
            id: destination.id.to_string(),
            log: LogName::new(project_id, destination.environment),
            format: destination.format,
            ocsf: OcsfOptions {
                include_raw: destination.include_raw,
                classes: destination.ocsf_classes.clone(),
            },
            at,
        }
    }

    pub(super) fn in_format(self, format: RecordFormat) -> Self {
        Self { format, ..self }
    }

    pub(super) fn event(&self, logged: &LoggedEvent, run: u64, position: u64) -> Result<Encoded> {
        let json = logged.event.to_json()?;
        let payload = Payload::Event {
            seq: logged.seq,
            json: json.get(),
        };
        Ok(self.encode(payload, run, position))
    }

    /// A made-up record.
    fn test(&self) -> Encoded {
        self.encode(Payload::Test, 0, 0)
    }

    fn encode(&self, payload: Payload<'_>, run: u64, position: u64) -> Encoded {
        let stream = StreamPart {
            destination: &self.id,
            log: self.log.as_str(),
            run,
            position,
        };
        encode(&Record { stream, payload }, self.format, &self.ocsf, self.at)
    }
}

impl AuditLog {
    /// Sends a made-up record. Does not change how far the destination is, and sends also where it is paused.
    ///
    /// # Errors
    /// [`AppError::NotFound`]; [`AppError::Forbidden`] on the free plan; [`AppError::RateLimited`] when the organization sends
    /// too much at once.
    pub fn test_destination(
        &self,
        owner: &DestinationOwner,
        selection: Selection,
        id: DestinationId,
    ) -> Result<DestinationAttempt> {
        let _slot = self.sending.begin(owner)?;
        let (project_id, row) = self.destination_to_send(owner, selection, id)?;
        let config = open_config(&row.config, &row, &self.settings.encryption)?;
        let destination = Destination::open(&row, &self.settings.encryption)?;
        let now = self.clock.now();
        let batch_id = BatchId {
            destination: row.id,
            run: 0,
            first_position: 0,
            records: 1,
            first_seq: 0,
            end_seq: 0,
            at: now,
        };
        self.send_record(
            &config,
            batch_id,
            Encoder::of(&destination, project_id, now).test(),
        )
    }

    /// The destination of a request that sends, and its project.
    pub(super) fn destination_to_send(
        &self,
        owner: &DestinationOwner,
        selection: Selection,
        id: DestinationId,
    ) -> Result<(ProjectId, DestinationRow)> {
        self.store.read(|reader| {
            let access = self.destination_access(reader, owner, selection)?;
            let row = access.destination(reader, id)?;
            require_paid_plan(reader, access.project_id)?;
            Ok((access.project_id, row))
        })
    }

    /// Sends one record. Blocks until the attempt ends.
    pub(super) fn send_record(
        &self,
        config: &Config,
        id: BatchId,
        record: Encoded,
    ) -> Result<DestinationAttempt> {
        let sender = self.settings.destination_sender.as_ref();
        let sender = sender.ok_or(AppError::Unavailable(StoreError::Stopped))?;
        let now = id.at;
        let batch = Batch {
            id,
            records: vec![record],
        };
        // Too many names of receivers are being looked up.
        let attempt = sender.send(config, &batch, now);
        let attempt = attempt.map_err(|_| AppError::Unavailable(StoreError::Overloaded))?;
        Ok(attempt.into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use audit_auth::{MasterKey, Viewer};
    use audit_domain::{KeyId, KeyScopes};

    fn master(number: u8) -> Principal {
        Principal::Master(MasterKey {
            key_id: KeyId::from_random([number; 16]),
            organization_id: OrganizationId::from_random([number; 16]),
            scopes: KeyScopes::ALL,
            client: None,
        })
    }

    fn viewer(tenant: &str) -> Principal {
        Principal::Viewer(Viewer {
            organization_id: OrganizationId::from_random([1; 16]),
            project_id: ProjectId::from_random([1; 16]),
            tenant_id: tenant.to_owned(),
            tier: "full".to_owned(),
            token_id: "1".to_owned(),
            client: None,
        })
    }

    #[test]
    fn an_organization_sends_twice_at_once_and_delays_no_other() {
        let sending = Sending::default();
        let (one, other) = (master(1), master(2));
        let first = sending.begin(&one).unwrap();
        let second = sending.begin(&one).unwrap();
        assert!(matches!(sending.begin(&one), Err(AppError::RateLimited { .. })));
        let third = sending.begin(&other).unwrap();
        drop(first);
        drop(sending.begin(&one).unwrap());
        drop((second, third));
        assert!(sending.0.lock().is_empty());
    }

    #[test]
    fn a_tenant_sends_once_at_once_and_delays_neither_its_organization_nor_another_tenant() {
        let sending = Sending::default();
        let first = sending.begin(&viewer("acme")).unwrap();
        assert!(matches!(
            sending.begin(&viewer("acme")),
            Err(AppError::RateLimited { .. })
        ));
        let others =
            [viewer("other"), master(1), master(1)].map(|principal| sending.begin(&principal).unwrap());
        drop(first);
        drop(sending.begin(&viewer("acme")).unwrap());
        drop(others);
        assert!(sending.0.lock().is_empty());
    }

    #[test]
    fn a_verdict_on_one_record_is_one_word() {
        for (verdict, word) in [
            (Verdict::Delivered, DestinationVerdict::Delivered),
            (Verdict::Retry { after: None }, DestinationVerdict::Retry),
            (Verdict::Credentials, DestinationVerdict::Credentials),
            (Verdict::Refused, DestinationVerdict::Refused),
        ] {
            assert_eq!(DestinationVerdict::from(&verdict), word);
        }
    }
}
