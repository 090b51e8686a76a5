//! Switching the recording of the service's own changes off or on.
//!
//! The switch is an event in the log of every project. A background thread of the server stores them, one project
//! after the other, after the start: a deployment can have very many projects. Until all have it, each start continues; the
//! idempotency key of the event stores it once in each log.

use super::decision::{Decision, decide};
use super::{Requester, ServiceEvent};
use crate::error::Result;
use crate::service::AuditLog;
use audit_store::Deployment;
use std::sync::Arc;

impl AuditLog {
    /// Switches the recording of the service's own changes on or off, for this process and for processes that open the database
    /// from now on. [`Self::record_self_audit_switch`] records it.
    ///
    /// # Errors
    /// When the database fails.
    pub fn set_self_audit(&self, is_on: bool) -> Result<()> {
        decide(&self.home_store, is_on, self.clock.now(), &self.entropy)?;
        self.self_audit.set(is_on);
        Ok(())
    }

    /// Stores the event of the last switch in the log of every project, unless that was done. Blocks, for about a commit for
    /// each project, until `is_stopped`. Repeat it after an error.
    ///
    /// # Errors
    /// When a database fails. The next call continues.
    pub fn record_self_audit_switch(self: &Arc<Self>, is_stopped: impl Fn() -> bool) -> Result<()> {
        let stored = self.home_store.read(Decision::read)?;
        let Some(decision) = stored.filter(|decision| !decision.is_recorded) else {
            return Ok(());
        };
        let switch_id: String = decision.id.iter().map(|byte| format!("{byte:02x}")).collect();
        for (_, projects) in self.organizations()? {
            for project in projects {
                if is_stopped() {
                    return Ok(());
                }
                let event = ServiceEvent::self_audit_switched(decision.is_on, &project, &switch_id);
                let service = self.cell_of_project(project.id)?;
                service.store_event(project.id, &Requester::Operator, &event)?;
            }
        }
        let now = self.clock.now();
        self.home_store.configure(Deployment, move |configurator| {
            // Unless it was switched again meanwhile.
            if Decision::read(configurator)? != Some(decision) {
                return Ok(());
            }
            let recorded = Decision {
                is_recorded: true,
                ..decision
            };
            recorded.write(configurator, now)
        })
    }
}
