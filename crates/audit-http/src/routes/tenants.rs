//! `/api/v1/tenants`.

use crate::caller::Caller;
use crate::error::ApiError;
use crate::input::{Fielded, Parameters};
use crate::parameters::{LIMIT_DEFAULT, read_limit};
use crate::reply::Reply;
use crate::schema::{Text, absent_not_null};
use audit_app::{ListedTenant, TenantsRequest};
use audit_auth::{EventsRead, Keys};
use audit_domain::{Fields, limits};
use schemars::JsonSchema;
use serde::Serialize;

/// Tenants of a page, at most.
const TENANTS_MAX: usize = 100;

/// A tenant that has events.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Tenant")]
struct TenantBody {
    #[schemars(with = "Text<1, { limits::ID_CHARS_MAX }>")]
    tenant_id: String,
    /// The number of its events.
    event_count: u64,
}

#[derive(Serialize, JsonSchema)]
#[schemars(rename = "TenantPage")]
pub(super) struct TenantsBody {
    tenants: Vec<TenantBody>,
    /// Asks for the next page; `null` on the last.
    cursor: Option<String>,
    /// Whether there is a next page.
    has_more: bool,
}

/// How many tenants, and after which.
#[derive(JsonSchema)]
#[schemars(transform = absent_not_null)]
#[expect(dead_code, reason = "describes what is read")]
pub(super) struct TenantsQuery {
    /// From an earlier response.
    cursor: Option<String>,
    /// Tenants of a page.
    #[schemars(range(min = 1, max = TENANTS_MAX), extend("default" = LIMIT_DEFAULT), example = 50)]
    limit: Option<u32>,
}

impl From<ListedTenant> for TenantBody {
    fn from(tenant: ListedTenant) -> Self {
        Self {
            tenant_id: tenant.id,
            event_count: tenant.events,
        }
    }
}

impl Fielded for TenantsQuery {
    type Read = TenantsRequest;

    fn read(fields: &mut Fields<'_>) -> Option<TenantsRequest> {
        let cursor = fields.optional_text("cursor", 0, usize::MAX);
        let limit = read_limit(fields, TENANTS_MAX)?;
        Some(TenantsRequest { cursor, limit })
    }
}

/// One page of tenants.
pub(super) async fn list(
    caller: Caller<Keys<EventsRead>>,
    parameters: Parameters<TenantsQuery>,
) -> Result<Reply<TenantsBody>, ApiError> {
    let (selection, query) = parameters.read()?;
    let response = caller
        .read_with_map(move |service, principal| service.tenants(principal, selection, &query))
        .await?;
    Ok(Reply::ok(TenantsBody {
        has_more: response.cursor.is_some(),
        tenants: response.tenants.into_iter().map(TenantBody::from).collect(),
        cursor: response.cursor,
    }))
}

/// The documentation of the endpoints, by the names of their handlers.
pub(super) mod about {
    use crate::about::{About, Sample, Tag};
    use crate::error_code::ErrorCode;

    pub(crate) fn list() -> About {
        About {
            description: "The tenants that have events, the service's own `audit-server` among them, with everything \
                          that was acknowledged before. The order means nothing and stays the same. A tenant whose \
                          first event is stored after the first page was read may be missing. A project key sees the \
                          tenants of its own environment. Not for viewer tokens: a tenant does not learn of others.",
            outcome: "One page of tenants.",
            responses: &[Sample(
                "example",
                r#"{"tenants": [{"tenant_id": "acme", "event_count": 3}], "cursor": "AQGh_LbykbRHZdpNCdZZ5mBwSfB5FUAPoW-h7-Q", "has_more": true}"#,
            )],
            errors: &[ErrorCode::LogInconsistent],
            is_additive: true,
            ..About::new("list_tenants", Tag::Events, "List tenants")
        }
    }
}
