//! The service audits itself: a change of keys, rules, tiers, webhooks, destinations, alerts, streams, projects and plans is an event in
//! the log of the project that it concerns. So are exports and new viewer tokens.
//!
//! The event is stored in the transaction of the change, so neither exists without the other. A change is made through
//! [`AuditLog::change`](crate::AuditLog::change), whose closure returns [`Changed`]: it has to say which events the change is.
//!
//! Lock order: the change locks first what it always does. The ledger of its event is locked with the configuration of its
//! project, or, for a change of an organization, after the ledgers of its projects. `deployment` is locked last.

mod catalogue;
mod changes;
pub(crate) mod decision;
mod limit;
pub(crate) mod recorder;
mod requester;
mod settings;
mod switch;

pub use catalogue::ServiceAction;
pub(crate) use catalogue::ServiceEvent;
pub(crate) use decision::SelfAudit;
pub(crate) use limit::ReadLimit;
pub use limit::{KEY_READS_PER_MINUTE_MAX, VIEWERS_READS_PER_MINUTE_MAX};
pub use requester::Requester;

use crate::error::Result;
use audit_domain::{OrganizationId, ProjectId};
use audit_store::Reader;

/// The result of a change, and the events that it is.
pub(crate) struct Changed<T> {
    value: T,
    events: Vec<ServiceEvent>,
}

impl<T> Changed<T> {
    /// Nothing was changed that has an event.
    pub(crate) const fn nothing(value: T) -> Self {
        Self {
            value,
            events: Vec::new(),
        }
    }

    /// A change that is one event.
    pub(crate) fn by(value: T, event: ServiceEvent) -> Self {
        Self {
            value,
            events: vec![event],
        }
    }

    /// [`Self::by`] if something was changed, otherwise [`Self::nothing`].
    pub(crate) fn if_some(value: T, event: Option<ServiceEvent>) -> Self {
        Self {
            value,
            events: event.into_iter().collect(),
        }
    }

    /// A change that is several events.
    pub(crate) const fn by_all(value: T, events: Vec<ServiceEvent>) -> Self {
        Self { value, events }
    }
}

/// The log that records a change.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Place {
    /// In that of the project that it concerns.
    Project(ProjectId),
    /// In that of the oldest project of an organization, for a change that concerns all of them: an organization has up to a
    /// thousand projects, and an event in each would occupy the writer for long.
    FirstProjectOf(OrganizationId),
}

impl Place {
    /// The project; `None` where this cell has none.
    fn project(self, reader: &mut Reader<'_>) -> Result<Option<ProjectId>> {
        match self {
            Self::Project(id) => Ok(Some(id)),
            Self::FirstProjectOf(organization_id) => first_project(reader, organization_id),
        }
    }
}

/// The oldest project of an organization that this cell has.
fn first_project(reader: &mut Reader<'_>, organization_id: OrganizationId) -> Result<Option<ProjectId>> {
    for project in reader.projects(organization_id)? {
        if reader.configuration_version(project.id)?.is_some() {
            return Ok(Some(project.id));
        }
    }
    Ok(None)
}
