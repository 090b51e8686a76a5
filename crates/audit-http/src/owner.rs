//! The owner of what a request makes the service hold.

use crate::client_address::client_of;
use actix_web::{HttpMessage, HttpRequest};
use audit_admission::{Budget, Held, TrustedProxies};
use audit_app::{CredentialOwner, Member};
use audit_domain::OrganizationId;

/// Who answers for what a request holds.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Owner {
    /// The organization of an admitted credential, and within it the key, or the tenant of the viewer token.
    Credential(CredentialOwner),
    /// The address of a client without one; see [`client_of`].
    Address(String),
}

/// Who shares a budget with others.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum Sharer {
    Organization(OrganizationId),
    Address(String),
}

/// Units that owners share: bytes, compressors.
pub(crate) type Shared = Budget<Sharer, Member>;
/// Those that one request holds.
pub(crate) type Holding = Held<Sharer, Member>;

impl Owner {
    /// The address of the client.
    pub(crate) fn address(request: &HttpRequest, proxies: &TrustedProxies) -> Self {
        Self::Address(client_of(request, proxies))
    }

    /// Notes the owner with the request. Its response is then counted as the owner's.
    pub(crate) fn note(self, request: &HttpRequest) {
        request.extensions_mut().insert(self);
    }

    /// The owner of the response to a request: the noted one, or else the address.
    pub(crate) fn of(request: &HttpRequest, proxies: &TrustedProxies) -> Self {
        let noted = request.extensions().get::<Self>().cloned();
        noted.unwrap_or_else(|| Self::address(request, proxies))
    }

    /// A holder of the owner, of no units yet.
    pub(crate) fn hold(self, shared: &Shared) -> Holding {
        let (sharer, member) = self.into_sharer();
        shared.hold_for(sharer, member)
    }

    /// Whose share it has, and its part of that.
    pub(crate) fn into_sharer(self) -> (Sharer, Option<Member>) {
        match self {
            Self::Credential(CredentialOwner {
                organization_id,
                member,
            }) => (Sharer::Organization(organization_id), Some(member)),
            Self::Address(address) => (Sharer::Address(address), None),
        }
    }
}
