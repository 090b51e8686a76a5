//! The owner of a configuration, and its version.

use audit_domain::{OrganizationId, ProjectId};

/// The version of a configuration. Each change draws another one at random, so that none is used twice, even after the
/// database has lost its latest commits (a failover to a replica that lags, a restored backup).
///
/// Versions have no order: a cached configuration is current if its version equals the stored one. This does not compile:
///
/// ```compile_fail,E0369
/// # use audit_store::ConfigurationVersion;
/// fn is_older(cached: ConfigurationVersion, stored: ConfigurationVersion) -> bool {
///     cached < stored // error: binary operation `<` cannot be applied
/// }
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ConfigurationVersion(pub(crate) i64);

/// The owner of what belongs to no organization: the secrets of the service, and the list of organizations.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Deployment;

/// The owner of a part of the configuration.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Owner {
    /// The deployment. No node caches what it owns.
    Deployment,
    /// An organization. What it owns belongs to the configuration of each of its projects.
    Organization(OrganizationId),
    /// A project.
    Project(ProjectId),
}

impl From<Deployment> for Owner {
    fn from(_: Deployment) -> Self {
        Self::Deployment
    }
}

impl From<OrganizationId> for Owner {
    fn from(id: OrganizationId) -> Self {
        Self::Organization(id)
    }
}

impl From<ProjectId> for Owner {
    fn from(id: ProjectId) -> Self {
        Self::Project(id)
    }
}
