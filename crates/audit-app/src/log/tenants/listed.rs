//! The tenants of a log, as its map has them.

use super::growth::Grower;
use super::{CurrentMap, MapFailure};
use crate::error::Result;
use crate::service::{AuditLog, Selection};
use audit_auth::KeyHolder;
use audit_store::StoredTenantLog;

/// A request for a page of tenants.
#[derive(Clone, Debug)]
pub struct TenantsRequest {
    /// The cursor of an earlier response.
    pub cursor: Option<String>,
    /// The maximum number of tenants. A page has fewer where tenants have no events left.
    pub limit: usize,
}

/// A tenant that has events.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ListedTenant {
    /// Its id.
    pub id: String,
    /// The number of its events, removed ones included.
    pub events: u64,
}

/// A page of tenants.
#[derive(Clone, Debug)]
pub struct TenantsResponse {
    /// The tenants, in the order of the map.
    pub tenants: Vec<ListedTenant>,
    /// The cursor of the next page; `None` on the last page.
    pub cursor: Option<String>,
}

impl AuditLog {
    /// One page of the tenants that have events in a project and environment. Covers everything that was acknowledged before the
    /// call. A tenant that is new after the first page may be missing.
    ///
    /// # Errors
    /// [`crate::AppError::Invalid`] when the cursor belongs to another project; [`crate::AppError::LogInconsistent`] when the log
    /// contradicts its checkpoint; when the principal has no access to the project.
    pub fn tenants(
        &self,
        principal: &KeyHolder,
        selection: Selection,
        request: &TenantsRequest,
    ) -> Result<TenantsResponse> {
        let scope = self
            .store
            .read(|reader| self.scope(reader, principal, selection))?;
        let cursor_scope = format!("tenants {}", scope.log_name());
        let after = self.open_id_cursor(request.cursor.as_deref(), &cursor_scope)?;
        let after = after.map(position_of);
        let size = self.store.read(|reader| reader.ledger_size(scope.ledger_id))?;
        self.with_tenant_map(&self.mapped_log(&scope)?, size, Grower::Request, |map| {
            let mut logs = self.tenants_after(map, after, request.limit + 1)?;
            let cursor = self.seal_id_cursor(&mut logs, request.limit, &cursor_scope, cursor_of);
            // The name of a tenant goes with its last event.
            let named = logs.iter().filter(|log| !log.tenant_id.is_empty());
            let tenants = named.map(listed).collect::<Result<_, MapFailure>>()?;
            Ok(TenantsResponse { tenants, cursor })
        })
    }

    fn tenants_after(
        &self,
        map: &CurrentMap<'_>,
        after: Option<(i64, i64)>,
        limit: usize,
    ) -> Result<Vec<StoredTenantLog>, MapFailure> {
        let limit = i64::try_from(limit).unwrap_or(i64::MAX);
        Ok(self
            .store
            .query(|reader| reader.tenant_logs_after(map.log.ledger_id, after, limit))?)
    }
}

fn listed(stored: &StoredTenantLog) -> Result<ListedTenant, MapFailure> {
    let log = stored.read();
    let log = log.ok_or_else(|| MapFailure::forged("a log of a tenant is damaged"))?;
    Ok(ListedTenant {
        events: log.tree.size(),
        id: log.tenant_id,
    })
}

/// Bucket and slot, eight bytes each.
fn cursor_of(stored: &StoredTenantLog) -> Vec<u8> {
    [stored.bucket.to_be_bytes(), stored.slot.to_be_bytes()].concat()
}

fn position_of(cursor: [u8; 16]) -> (i64, i64) {
    let part = |start: usize| i64::from_be_bytes(std::array::from_fn(|index| cursor[start + index]));
    (part(0), part(8))
}
