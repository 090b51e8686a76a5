//! Principals: the holders of verified credentials.

use audit_domain::{Environment, KeyId, KeyScopes, OrganizationId, ProjectId};
use std::net::IpAddr;

/// The holder of a valid credential.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Principal {
    /// The holder of a master key.
    Master(MasterKey),
    /// The holder of a project key.
    Project(ProjectKey),
    /// The holder of a viewer token.
    Viewer(Viewer),
}

/// A valid master key: may do everything in its organization, as far as its scopes go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MasterKey {
    /// The key itself.
    pub key_id: KeyId,
    /// The organization it belongs to.
    pub organization_id: OrganizationId,
    /// What it may do.
    pub scopes: KeyScopes,
    /// The address of the client, if it is known.
    pub client: Option<IpAddr>,
}

/// A valid project key: reads and writes one environment of its project.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ProjectKey {
    /// The key itself.
    pub key_id: KeyId,
    /// The organization that owns the project.
    pub organization_id: OrganizationId,
    /// The project it belongs to.
    pub project_id: ProjectId,
    /// The environment it is confined to.
    pub environment: Environment,
    /// What it may do.
    pub scopes: KeyScopes,
    /// The address of the client, if it is known.
    pub client: Option<IpAddr>,
}

/// A valid viewer token: reads the live events of one tenant that its tier shows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Viewer {
    /// The organization that owns the project.
    pub organization_id: OrganizationId,
    /// The project whose events it reads.
    pub project_id: ProjectId,
    /// The tenant to which every query is confined.
    pub tenant_id: String,
    /// Name of the visibility tier.
    pub tier: String,
    /// The id of the token (`jti`).
    pub token_id: String,
    /// The address of the client, if it is known.
    pub client: Option<IpAddr>,
}

impl Principal {
    /// The organization that the request acts for.
    pub const fn organization_id(&self) -> OrganizationId {
        match self {
            Self::Master(key) => key.organization_id,
            Self::Project(key) => key.organization_id,
            Self::Viewer(viewer) => viewer.organization_id,
        }
    }

    /// What the key may do; `None` for a viewer token, which has no scopes.
    pub const fn scopes(&self) -> Option<KeyScopes> {
        match self {
            Self::Master(key) => Some(key.scopes),
            Self::Project(key) => Some(key.scopes),
            Self::Viewer(_) => None,
        }
    }

    /// The key that was presented; `None` for a viewer token.
    pub const fn key_id(&self) -> Option<KeyId> {
        match self {
            Self::Master(key) => Some(key.key_id),
            Self::Project(key) => Some(key.key_id),
            Self::Viewer(_) => None,
        }
    }
}
