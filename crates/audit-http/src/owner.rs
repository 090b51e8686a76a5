//! The owner of what a request makes the service hold.

use crate::client_address::client_of;
use crate::state::HttpState;
use actix_web::{HttpMessage, HttpRequest, web};
use audit_admission::{Budget, Held};
use audit_domain::OrganizationId;

/// Who answers for what a request holds.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum Owner {
    /// The organization of an admitted credential, however many keys and tokens it has.
    Organization(OrganizationId),
    /// The address of a client without one; see [`client_of`].
    Address(String),
}

/// Bytes that owners share.
pub(crate) type Memory = Budget<Owner>;
/// The bytes that one request holds.
pub(crate) type HeldBytes = Held<Owner>;

impl Owner {
    /// The address of the client.
    pub(crate) fn address(request: &HttpRequest, state: &HttpState) -> Self {
        Self::Address(client_of(request, &state.trusted_proxies))
    }

    /// Notes the owner with the request. Its response is then counted as the owner's.
    pub(crate) fn note(self, request: &HttpRequest) {
        request.extensions_mut().insert(self);
    }

    /// The owner of the response to a request: the noted one, or else the address.
    pub(crate) fn of(request: &HttpRequest, state: &web::Data<HttpState>) -> Self {
        let noted = request.extensions().get::<Self>().cloned();
        noted.unwrap_or_else(|| Self::address(request, state))
    }
}
