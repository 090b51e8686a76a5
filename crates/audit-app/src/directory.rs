//! The cache of the configuration.
//!
//! Every entry has the version that the configuration of its project had when it was read. A read first compares the version
//! with the database. An ingest uses the cache without a check; the transaction that stores its events refuses them as stale
//! if the version is another one. So no node uses a revoked key or a deleted rule, and an ingest needs no lookup. A change
//! in one project makes the entries of that project stale, and no others.
//!
//! Master keys and the secrets of viewer tokens belong to no single project. They are read at each use.

use crate::alert_rules;
use crate::error::Result;
use crate::redaction::engines::ProjectRules;
use crate::settings::Settings;
use audit_alerts::RuleSet;
use audit_auth::KeyHash;
use audit_domain::{Environment, Plan, ProjectId};
use audit_store::{ConfigurationVersion, FoundKey, Key, LedgerId, Project, Reader, StoredTier};
use quick_cache::sync::Cache;
use std::collections::HashMap;
use std::sync::Arc;

/// The configuration of a project.
#[derive(Debug)]
pub(crate) struct ProjectConfiguration {
    pub(crate) version: ConfigurationVersion,
    pub(crate) project: Project,
    pub(crate) daily_events_max: Option<u64>,
    pub(crate) ledgers: HashMap<Environment, LedgerId>,
    pub(crate) rules: ProjectRules,
    pub(crate) alert_rules: RuleSet,
    /// The webhooks that alerts are delivered to.
    pub(crate) webhook_ids: Arc<[String]>,
    pub(crate) tiers: Vec<StoredTier>,
}

/// A key of a project.
#[derive(Clone, Debug)]
pub(crate) struct CachedKey {
    /// The version of the project's configuration that the key belongs to.
    pub(crate) version: ConfigurationVersion,
    pub(crate) project_id: ProjectId,
    pub(crate) key: Arc<Key>,
}

/// The maximum number of cached keys, and of cached projects. At the limit, an entry that was not used for long is evicted.
const CACHED_ENTRIES_MAX: usize = 10_000;

/// The cached configuration of this process.
#[derive(Debug)]
pub(crate) struct Directory {
    keys: Cache<[u8; KeyHash::BYTES], CachedKey>,
    projects: Cache<ProjectId, Arc<ProjectConfiguration>>,
}

impl Default for Directory {
    fn default() -> Self {
        Self {
            keys: Cache::new(CACHED_ENTRIES_MAX),
            projects: Cache::new(CACHED_ENTRIES_MAX),
        }
    }
}

impl Directory {
    /// A project key, if it is cached. It may be out of date.
    pub(crate) fn cached_key(&self, hash: &KeyHash) -> Option<CachedKey> {
        self.keys.get(hash.as_bytes())
    }

    /// A project, if it is cached. It may be out of date.
    pub(crate) fn cached_project(&self, id: ProjectId) -> Option<Arc<ProjectConfiguration>> {
        self.projects.get(&id)
    }

    /// The present configuration, for one request.
    pub(crate) const fn present(&self) -> Present<'_> {
        Present {
            directory: self,
            version: None,
        }
    }
}

/// The present configuration, as one request sees it. The version of a project is read once, before everything that it
/// covers.
pub(crate) struct Present<'a> {
    directory: &'a Directory,
    version: Option<(ProjectId, ConfigurationVersion)>,
}

impl Present<'_> {
    /// The version of a project's configuration; `None` when there is no such project.
    fn version(&mut self, reader: &mut Reader<'_>, id: ProjectId) -> Result<Option<ConfigurationVersion>> {
        if let Some((known, version)) = self.version
            && known == id
        {
            return Ok(Some(version));
        }
        let version = reader.configuration_version(id)?;
        self.version = version.map(|version| (id, version));
        Ok(version)
    }

    /// The key with this hash. That of a project comes from the cache or the database, a master key from the database.
    pub(crate) fn key(&mut self, reader: &mut Reader<'_>, hash: &KeyHash) -> Result<Option<Arc<Key>>> {
        if let Some(cached) = self.directory.cached_key(hash)
            && self.version(reader, cached.project_id)? == Some(cached.version)
        {
            return Ok(Some(cached.key));
        }
        let found = reader.key_by_hash(hash.as_bytes())?;
        let is_same = |found: &FoundKey| KeyHash::from_bytes(found.hash) == *hash;
        let Some(found) = found.filter(is_same) else {
            return Ok(None);
        };
        let key = Arc::new(found.key);
        if let (Some((project_id, _)), Some(version)) = (key.project, found.configuration_version) {
            self.version = Some((project_id, version));
            let cached = CachedKey {
                version,
                project_id,
                key: Arc::clone(&key),
            };
            self.directory.keys.insert(*hash.as_bytes(), cached);
        }
        Ok(Some(key))
    }

    /// The configuration of a project, from the cache or the database.
    pub(crate) fn project(
        &mut self,
        reader: &mut Reader<'_>,
        settings: &Settings,
        id: ProjectId,
    ) -> Result<Option<Arc<ProjectConfiguration>>> {
        let Some(version) = self.version(reader, id)? else {
            return Ok(None);
        };
        if let Some(cached) = self.directory.cached_project(id)
            && cached.version == version
        {
            return Ok(Some(cached));
        }
        let Some(configuration) = load_project(reader, settings, id, version)?.map(Arc::new) else {
            return Ok(None);
        };
        // A change during the load is in it in part. The change can be lost in a failover, after which the version read
        // before it is the current one again.
        if reader.configuration_version(id)? == Some(version) {
            self.directory.projects.insert(id, Arc::clone(&configuration));
        }
        Ok(Some(configuration))
    }
}

/// The webhooks that alerts of a project are delivered to.
fn webhook_ids(reader: &mut Reader<'_>, project_id: ProjectId, plan: Plan) -> Result<Arc<[String]>> {
    if plan == Plan::Free {
        return Ok(Arc::new([]));
    }
    let enabled = reader
        .webhooks(project_id)?
        .into_iter()
        .filter(|webhook| webhook.enabled);
    Ok(enabled.map(|webhook| webhook.id).collect())
}

/// The configuration of a project that the transaction of `reader` has locked.
pub(crate) fn load_present(
    reader: &mut Reader<'_>,
    settings: &Settings,
    id: ProjectId,
) -> Result<Option<ProjectConfiguration>> {
    match reader.configuration_version(id)? {
        Some(version) => load_project(reader, settings, id, version),
        None => Ok(None),
    }
}

fn load_project(
    reader: &mut Reader<'_>,
    settings: &Settings,
    id: ProjectId,
    version: ConfigurationVersion,
) -> Result<Option<ProjectConfiguration>> {
    let Some(project) = reader.project(id)? else {
        return Ok(None);
    };
    let Some(organization) = reader.organization(project.organization_id)? else {
        return Ok(None);
    };
    Ok(Some(ProjectConfiguration {
        version,
        project,
        daily_events_max: settings.daily_events_max(organization.plan),
        ledgers: reader.ledgers(id)?,
        rules: ProjectRules::new(reader.redaction_rules(id)?),
        alert_rules: alert_rules::compile_rules(
            id,
            reader.alert_rules(id)?,
            organization.plan,
            &settings.identifier_engine(),
        ),
        webhook_ids: webhook_ids(reader, id, organization.plan)?,
        tiers: reader.tiers(id)?,
    }))
}

#[cfg(test)]
mod tests;
