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

/// Whether clients may not send events of this tenant and action: those of the service, and those that a reader could take for
/// them. Case and everything but letters and digits make no difference, and a character beyond ASCII stands for any other.
///
/// ```
/// use audit_domain::resembles_service_event;
/// let action = "audit.api_key.created".parse()?;
/// assert!(resembles_service_event("Audit Server", &action));
/// assert!(resembles_service_event("\u{430}udit\u{2010}server", &action));
/// assert!(!resembles_service_event("audit-servers", &action));
/// # Ok::<(), audit_domain::ActionError>(())
/// ```
pub fn resembles_service_event(tenant_id: &str, action: &Action) -> bool {
    let shown = tenant_id.chars().filter(|found| found.is_alphanumeric());
    let expected = SERVICE_TENANT_ID.chars().filter(|found| found.is_alphanumeric());
    let is_alike =
        |(found, expected): (char, char)| !found.is_ascii() || found.eq_ignore_ascii_case(&expected);
    action.as_str().starts_with(SERVICE_ACTION_PREFIX)
        && tenant_id.contains(|found: char| found.is_ascii_alphanumeric())
        && shown.clone().count() == expected.clone().count()
        && shown.zip(expected).all(is_alike)
}
