//! Organizations, projects and keys, as the database has them.

use audit_domain::{Environment, KeyId, KeyLimits, MetadataPath, OrganizationId, Plan, ProjectId, Timestamp};
use std::net::IpAddr;

/// An organization.
#[derive(Clone, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "the fields are the columns")]
pub struct Organization {
    pub id: OrganizationId,
    pub name: String,
    pub plan: Plan,
    pub created_at: Timestamp,
}

/// A project.
#[derive(Clone, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "the fields are the columns")]
pub struct Project {
    pub id: ProjectId,
    pub organization_id: OrganizationId,
    pub name: String,
    pub created_at: Timestamp,
    /// An archived project takes no events of clients.
    pub archived_at: Option<Timestamp>,
    /// The members of the metadata by which events can be filtered.
    pub metadata_filter_paths: Vec<MetadataPath>,
}

/// What is changed of a project. Absent values are kept.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[expect(missing_docs, reason = "the fields are the columns")]
pub struct ProjectUpdate {
    pub name: Option<String>,
    /// `Some(None)`: it is archived no longer.
    pub archived_at: Option<Option<Timestamp>>,
    pub metadata_filter_paths: Option<Vec<MetadataPath>>,
}

/// A key, without its text.
#[derive(Clone, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "the fields are the columns")]
pub struct Key {
    pub id: KeyId,
    pub organization_id: OrganizationId,
    /// `None` for a master key.
    pub project: Option<(ProjectId, Environment)>,
    pub name: String,
    /// The first characters of the key.
    pub prefix: String,
    pub created_at: Timestamp,
    /// Up to a minute old.
    pub last_used_at: Option<Timestamp>,
    /// The address of the client then, if it is known.
    pub last_used_from: Option<IpAddr>,
    pub revoked_at: Option<Timestamp>,
    /// How often all console sessions of the key were ended.
    pub sessions_ended: i64,
    pub limits: KeyLimits,
}

/// The SHA-256 of a key's text.
pub type KeyTextHash = [u8; 32];

/// A use of a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KeyUse {
    /// The key.
    pub id: KeyId,
    /// When it was used.
    pub at: Timestamp,
    /// The address of the client, if it is known.
    pub from: Option<IpAddr>,
}
