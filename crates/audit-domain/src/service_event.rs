//! The service's own events: what was changed in the service itself, in the log of the project that it concerns.
//!
//! They are ordinary events. What tells them apart is the combination of tenant and action, which no client can send.

use crate::event::Action;

/// The tenant of the service's own events.
pub const SERVICE_TENANT_ID: &str = "audit-server";
/// How the actions of the service's own events begin.
pub const SERVICE_ACTION_PREFIX: &str = "audit.";

/// Whether an event of this tenant and action is one of the service's own.
///
/// ```
/// use audit_domain::{SERVICE_TENANT_ID, is_service_event};
/// let action = "audit.api_key.created".parse()?;
/// assert!(is_service_event(SERVICE_TENANT_ID, &action));
/// assert!(!is_service_event("acme", &action));
/// # Ok::<(), audit_domain::ActionError>(())
/// ```
pub fn is_service_event(tenant_id: &str, action: &Action) -> bool {
    tenant_id == SERVICE_TENANT_ID && action.as_str().starts_with(SERVICE_ACTION_PREFIX)
}
