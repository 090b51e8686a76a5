//! On behalf of whom a request acts on destinations: a project, or a tenant of it.

use super::{Destination, DestinationFilter};
use crate::error::{AppError, Result};
use crate::reading::{require_route, visible_tier};
use crate::self_audit::Requester;
use crate::service::{AuditLog, Selection};
use audit_auth::{DestinationOwner, Principal};
use audit_destinations::{DestinationId, Kind};
use audit_domain::{Environment, ProjectId, ViewerRoute, Violations};
use audit_store::{DestinationRow, LedgerId, Reader};
use audit_webhooks::AddressPolicy;

/// The destinations that a request can name. A destination of another owner is not found.
#[derive(Clone, Debug)]
pub(super) struct Access {
    pub(super) project_id: ProjectId,
    pub(super) environment: Environment,
    pub(super) ledger_id: LedgerId,
    /// The tenant of a viewer; `None` for the project, which sees the destinations of its tenants as well.
    pub(super) tenant: Option<String>,
}

impl AuditLog {
    /// The access of the holder of a credential.
    ///
    /// # Errors
    /// [`AppError::Forbidden`] when the tier of a viewer does not allow destinations.
    pub(super) fn destination_access(
        &self,
        reader: &mut Reader<'_>,
        owner: &DestinationOwner,
        selection: Selection,
    ) -> Result<Access> {
        let scope = self.scope(reader, owner, selection)?;
        if let Some(tier) = visible_tier(&scope, owner)? {
            require_route(&tier, ViewerRoute::Destinations)?;
        }
        Ok(Access {
            project_id: scope.project.project.id,
            environment: scope.environment,
            ledger_id: scope.ledger_id,
            tenant: match &**owner {
                Principal::Viewer(viewer) => Some(viewer.tenant_id.clone()),
                Principal::Master(_) | Principal::Project(_) => None,
            },
        })
    }

    /// The same for a request that changes something. Those of a tenant are limited, because each is an event in the log of the project.
    ///
    /// # Errors
    /// As [`Self::destination_access`]; [`AppError::RateLimited`].
    pub(super) fn access_to_change(&self, owner: &DestinationOwner, selection: Selection) -> Result<Access> {
        let access = self
            .store
            .read(|reader| self.destination_access(reader, owner, selection))?;
        if access.tenant.is_some() {
            self.read_limit
                .count(access.project_id, &Requester::from(owner), self.clock.now())?;
        }
        Ok(access)
    }
}

impl Access {
    /// Whether the request can see a destination of the project.
    pub(super) fn sees(&self, row: &DestinationRow) -> bool {
        self.tenant.is_none() || row.created_by_tenant == self.tenant
    }

    /// # Errors
    /// [`AppError::NotFound`], also for a destination of another owner.
    pub(super) fn destination(&self, reader: &mut Reader<'_>, id: DestinationId) -> Result<DestinationRow> {
        reader
            .destination(self.project_id, &id.to_string())?
            .filter(|row| self.sees(row))
            .ok_or(AppError::NotFound("destination"))
    }

    /// The filter that a request asks for: that of a tenant lets only the events of the tenant pass.
    ///
    /// # Errors
    /// When it names another tenant.
    pub(super) fn confined(&self, filter: DestinationFilter) -> Result<DestinationFilter> {
        match &self.tenant {
            Some(tenant) if filter.names_other_than(tenant) => {
                let message = "must be absent, or the tenant of the viewer token alone";
                Err(Violations::one("filter.tenant_ids", message).into())
            }
            Some(tenant) => Ok(filter.of_tenant(tenant)),
            None => Ok(filter),
        }
    }

    /// The addresses that a new configuration can have. Private ones are for the receivers of the operator: a tenant would reach
    /// into the network of the service, and read the responses.
    pub(super) fn addresses(&self, of_service: AddressPolicy) -> AddressPolicy {
        match self.tenant {
            Some(_) => AddressPolicy::Public,
            None => of_service,
        }
    }

    /// # Errors
    /// When the project does not let its tenants create destinations of this kind.
    pub(super) fn require_kind(&self, reader: &mut Reader<'_>, kind: Kind) -> Result<()> {
        if self.tenant.is_none() {
            return Ok(());
        }
        let allowed = reader.portal(self.project_id)?.destination_kinds;
        match allowed.is_none_or(|kinds| kinds.iter().any(|allowed| allowed == kind.as_str())) {
            true => Ok(()),
            false => Err(Violations::one("kind", "is not among the kinds that the portal allows").into()),
        }
    }

    /// That a request with a master key changes only `paused` of a destination of a tenant: its filter and its receiver are the tenant's.
    ///
    /// # Errors
    /// [`AppError::Forbidden`].
    pub(super) fn require_own(&self, destination: &Destination) -> Result<()> {
        match destination.created_by_tenant == self.tenant {
            true => Ok(()),
            false => Err(AppError::Forbidden(
                "a master key can only pause, resume and delete the destination of a tenant".to_owned(),
            )),
        }
    }
}
