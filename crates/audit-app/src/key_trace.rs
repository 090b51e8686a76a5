//! What a key has sent, and from where: for the operator, after the key leaked.

use crate::error::{AppError, Result};
use crate::service::AuditLog;
use audit_domain::{Environment, KeyId, ProjectId};
use audit_store::{KeySenders, LedgerId, SentEvent};
use std::sync::Arc;

/// An event that a key has sent, and the log that has it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TracedEvent {
    /// The project of the log.
    pub project_id: ProjectId,
    /// Live or test.
    pub environment: Environment,
    /// The event, with the address of the client.
    pub event: SentEvent,
}

impl AuditLog {
    /// Calls `visit` with every event that was sent with a project key or master key, log by log in their order, up to the size
    /// that each log has when its turn comes. Reads in parts, so that neither memory nor the database is held.
    ///
    /// # Errors
    /// [`AppError::NotFound`] when there is no such key; when a database fails; an error of `visit`.
    pub fn trace_key<E: From<AppError>>(
        self: &Arc<Self>,
        id: KeyId,
        mut visit: impl FnMut(TracedEvent) -> Result<(), E>,
    ) -> Result<(), E> {
        for project_id in self.projects_of_key(id)? {
            let service = self.cell_of_project(project_id)?;
            let ledgers = service
                .store
                .read(|reader| reader.ledgers(project_id).map_err(AppError::from))?;
            for environment in [Environment::Live, Environment::Test] {
                let Some(ledger_id) = ledgers.get(&environment) else {
                    continue;
                };
                service.trace_in_ledger(*ledger_id, id, |event| {
                    visit(TracedEvent {
                        project_id,
                        environment,
                        event,
                    })
                })?;
            }
        }
        Ok(())
    }

    /// The projects that the key may have sent events to.
    fn projects_of_key(self: &Arc<Self>, id: KeyId) -> Result<Vec<ProjectId>> {
        let found = self.cell_of_key(id)?.store.read(|reader| reader.key(id))?;
        let key = found.ok_or(AppError::NotFound("key"))?;
        match key.project {
            Some((project_id, _)) => Ok(vec![project_id]),
            None => {
                let projects = self.store.read(|reader| reader.projects(key.organization_id))?;
                Ok(projects.into_iter().map(|project| project.id).collect())
            }
        }
    }

    fn trace_in_ledger<E: From<AppError>>(
        &self,
        ledger_id: LedgerId,
        id: KeyId,
        mut visit: impl FnMut(SentEvent) -> Result<(), E>,
    ) -> Result<(), E> {
        let start = |reader: &mut audit_store::Reader<'_>| -> Result<(KeySenders, u64)> {
            Ok((
                reader.senders_of_key(ledger_id, id)?,
                reader.ledger_size(ledger_id)?,
            ))
        };
        let (senders, size) = self.store.query(start)?;
        let mut next = Some(0).filter(|_| !senders.is_empty());
        while let Some(first) = next {
            let part = self.store.query(|reader| {
                let part = reader.sent_events(ledger_id, &senders, first..size);
                part.map_err(AppError::from)
            })?;
            part.events.into_iter().try_for_each(&mut visit)?;
            next = part.next;
        }
        Ok(())
    }
}
