//! The cache of the configuration.
//!
//! Every entry belongs to one configuration version. A read first compares the version with the database. An ingest uses
//! the cache without a check; the transaction that stores its events refuses them as stale if the version has changed. So
//! no node uses a revoked key or a deleted rule, and an ingest needs no lookup.

use crate::error::Result;
use crate::settings::Settings;
use crate::{alert_rules, redaction};
use audit_alerts::RuleSet;
use audit_auth::{KeyHash, ViewerSecret};
use audit_domain::{Environment, Plan, ProjectId};
use audit_redact::Engine;
use audit_store::{Key, LedgerId, Project, Reader, StoredTier};
use parking_lot::{Mutex, RwLock};
use std::collections::HashMap;
use std::sync::{Arc, OnceLock};

/// The configuration of a project.
#[derive(Debug)]
pub(crate) struct ProjectConfiguration {
    pub(crate) project: Project,
    pub(crate) daily_events_max: Option<u64>,
    pub(crate) ledgers: HashMap<Environment, LedgerId>,
    pub(crate) engine: Engine,
    pub(crate) alert_rules: RuleSet,
    /// The webhooks that alerts are delivered to.
    pub(crate) webhook_ids: Arc<[String]>,
    pub(crate) tiers: Vec<StoredTier>,
}

/// The maximum number of cached keys, and of cached projects. At the limit the cache is cleared.
const CACHED_ENTRIES_MAX: usize = 10_000;

/// The cached configuration of one version.
#[derive(Debug, Default)]
pub(crate) struct Snapshot {
    pub(crate) version: i64,
    keys: Mutex<HashMap<[u8; KeyHash::BYTES], Arc<Key>>>,
    projects: Mutex<HashMap<ProjectId, Arc<ProjectConfiguration>>>,
    viewer_secrets: OnceLock<Arc<Vec<ViewerSecret>>>,
}

/// The newest snapshot of this process.
#[derive(Debug, Default)]
pub(crate) struct Directory {
    newest: RwLock<Arc<Snapshot>>,
}

impl Directory {
    /// The newest snapshot, which may be out of date.
    pub(crate) fn newest(&self) -> Arc<Snapshot> {
        Arc::clone(&self.newest.read())
    }

    /// A snapshot of the version that `reader` sees.
    pub(crate) fn current(&self, reader: &mut Reader<'_>) -> Result<Arc<Snapshot>> {
        let version = reader.configuration_version()?;
        let newest = self.newest();
        if newest.version == version {
            return Ok(newest);
        }
        let mut newest = self.newest.write();
        if newest.version < version {
            *newest = Arc::new(Snapshot {
                version,
                ..Snapshot::default()
            });
        }
        Ok(Arc::clone(&newest))
    }
}

impl Snapshot {
    /// A key, if it is cached.
    pub(crate) fn cached_key(&self, hash: &KeyHash) -> Option<Arc<Key>> {
        self.keys.lock().get(hash.as_bytes()).cloned()
    }

    /// A project, if it is cached.
    pub(crate) fn cached_project(&self, id: ProjectId) -> Option<Arc<ProjectConfiguration>> {
        self.projects.lock().get(&id).cloned()
    }

    /// The key with this hash, from the cache or the database.
    pub(crate) fn key(&self, reader: &mut Reader<'_>, hash: &KeyHash) -> Result<Option<Arc<Key>>> {
        if let Some(key) = self.cached_key(hash) {
            return Ok(Some(key));
        }
        let found = reader.key_by_hash(hash.as_bytes())?;
        let is_same = |(_, stored): &(Key, [u8; KeyHash::BYTES])| KeyHash::from_bytes(*stored) == *hash;
        let Some((key, _)) = found.filter(is_same) else {
            return Ok(None);
        };
        let key = Arc::new(key);
        let mut keys = self.keys.lock();
        if keys.len() >= CACHED_ENTRIES_MAX {
            keys.clear();
        }
        keys.insert(*hash.as_bytes(), Arc::clone(&key));
        Ok(Some(key))
    }

    /// The configuration of a project, from the cache or the database.
    pub(crate) fn project(
        &self,
        reader: &mut Reader<'_>,
        settings: &Settings,
        id: ProjectId,
    ) -> Result<Option<Arc<ProjectConfiguration>>> {
        if let Some(project) = self.cached_project(id) {
            return Ok(Some(project));
        }
        let Some(configuration) = load_project(reader, settings, id)?.map(Arc::new) else {
            return Ok(None);
        };
        let mut projects = self.projects.lock();
        if projects.len() >= CACHED_ENTRIES_MAX {
            projects.clear();
        }
        projects.insert(id, Arc::clone(&configuration));
        Ok(Some(configuration))
    }

    /// The secrets that verify viewer tokens. The first one signs.
    pub(crate) fn viewer_secrets(&self, reader: &mut Reader<'_>) -> Result<Arc<Vec<ViewerSecret>>> {
        if let Some(secrets) = self.viewer_secrets.get() {
            return Ok(Arc::clone(secrets));
        }
        let mut stored = reader.viewer_secrets()?;
        stored.sort_by_key(|secret| secret.retired_at.is_some());
        let secrets = Arc::new(
            stored
                .into_iter()
                .map(|secret| ViewerSecret::from_parts(secret.kid, secret.secret))
                .collect(),
        );
        Ok(Arc::clone(self.viewer_secrets.get_or_init(|| secrets)))
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

fn load_project(
    reader: &mut Reader<'_>,
    settings: &Settings,
    id: ProjectId,
) -> Result<Option<ProjectConfiguration>> {
    let Some(project) = reader.project(id)? else {
        return Ok(None);
    };
    let Some(organization) = reader.organization(project.organization_id)? else {
        return Ok(None);
    };
    let rules = reader.redaction_rules(id)?;
    Ok(Some(ProjectConfiguration {
        project,
        daily_events_max: settings.daily_events_max(organization.plan),
        ledgers: reader.ledgers(id)?,
        engine: redaction::compile_rules(&rules, settings.hash_key.as_ref())?,
        alert_rules: alert_rules::compile_rules(reader.alert_rules(id)?, organization.plan),
        webhook_ids: webhook_ids(reader, id, organization.plan)?,
        tiers: reader.tiers(id)?,
    }))
}
