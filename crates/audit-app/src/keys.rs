//! Project keys and master keys: creation, listing, rotation, revocation.

use crate::error::{AppError, Result};
use crate::self_audit::{Changed, Requester, ServiceEvent};
use crate::service::AuditLog;
use audit_auth::{KeyHolder, KeyKind, KeyText, Principal};
use audit_domain::{
    Environment, KeyId, KeyLimits, KeyScope, Name, Network, OrganizationId, ProjectId, Timestamp, Violations,
};
use audit_store::{CellId, Configurator, Key, KeyTextHash, StoreError};
use std::sync::Arc;
use std::time::Duration;

/// A new key. Its text is not stored, so it cannot be shown again.
#[derive(Debug)]
pub struct NewKey {
    /// The full key.
    pub text: KeyText,
    /// The stored metadata.
    pub key: Key,
}

/// A change of a project key. `Some(None)` lifts a limit.
#[derive(Clone, Debug, Default)]
#[expect(missing_docs, reason = "as in Key and KeyLimits")]
pub struct KeyChange {
    pub name: Option<Name>,
    pub expires_at: Option<Option<Timestamp>>,
    pub networks: Option<Option<Vec<Network>>>,
}

impl KeyChange {
    /// The key with the change.
    fn apply(self, key: &Key) -> Key {
        let limits = &key.limits;
        Key {
            name: self
                .name
                .map_or_else(|| key.name.clone(), |name| name.as_str().to_owned()),
            limits: KeyLimits {
                expires_at: self.expires_at.unwrap_or(limits.expires_at),
                scopes: limits.scopes,
                networks: self.networks.unwrap_or_else(|| limits.networks.clone()),
            },
            ..key.clone()
        }
    }
}

/// On whose behalf keys are managed.
#[derive(Clone, Copy, Debug)]
pub enum KeyManager<'a> {
    /// The operator's, who reaches every organization.
    Operator,
    /// That of a key.
    Holder(&'a Principal),
}

/// The maximum number of keys of a project that are not revoked.
pub const PROJECT_KEYS_MAX: usize = 1_000;
/// The maximum number of master keys of an organization that are not revoked.
pub const MASTER_KEYS_MAX: usize = 100;
/// How long the old key of a rotation stays valid, at most: 30 days.
pub const KEY_OVERLAP_MAX: Duration = Duration::from_secs(30 * 24 * 60 * 60);
/// How long it does unless the request says otherwise: a day.
pub const KEY_OVERLAP_DEFAULT: Duration = Duration::from_secs(24 * 60 * 60);

impl KeyManager<'_> {
    fn requester(self) -> Requester {
        match self {
            Self::Operator => Requester::Operator,
            Self::Holder(principal) => principal.into(),
        }
    }

    /// Whether the organization's keys are within reach.
    fn reaches(self, organization_id: OrganizationId) -> bool {
        match self {
            Self::Operator => true,
            Self::Holder(principal) => principal.organization_id() == organization_id,
        }
    }

    /// The project of a project key that can be managed.
    fn managed_project(self, key: &Key) -> Option<ProjectId> {
        let (project_id, _) = key.project?;
        let can_manage = match self {
            Self::Operator | Self::Holder(Principal::Master(_)) => self.reaches(key.organization_id),
            Self::Holder(Principal::Project(own)) => own.project_id == project_id,
            Self::Holder(Principal::Viewer(_)) => false,
        };
        can_manage.then_some(project_id)
    }
}

impl AuditLog {
    pub(crate) fn new_key(
        &self,
        organization_id: OrganizationId,
        project: Option<(ProjectId, Environment)>,
        name: &str,
        limits: KeyLimits,
    ) -> NewKey {
        let kind = project.map_or(KeyKind::Master, |(_, environment)| KeyKind::Project(environment));
        let text = KeyText::generate(kind, self.entropy.bytes());
        let key = Key {
            id: KeyId::from_random(self.entropy.bytes()),
            organization_id,
            project,
            name: name.to_owned(),
            prefix: text.prefix().to_owned(),
            created_at: self.clock.now(),
            last_used_at: None,
            last_used_from: None,
            revoked_at: None,
            sessions_ended: 0,
            limits,
        };
        NewKey { text, key }
    }

    /// The limits of the key on whose behalf keys are made; no limits for the operator.
    fn limits_of(&self, manager: KeyManager<'_>) -> Result<KeyLimits> {
        match manager {
            KeyManager::Operator => Ok(KeyLimits::default()),
            KeyManager::Holder(Principal::Master(master)) => {
                let found = self.home_store.read(|reader| reader.key(master.key_id))?;
                Ok(found.ok_or(AppError::InvalidKey)?.limits)
            }
            // Other kinds make none.
            KeyManager::Holder(_) => Err(AppError::NotFound("key")),
        }
    }

    /// The limits of a new key, no wider than those of the key that makes it.
    fn limits_within(&self, manager: KeyManager<'_>, limits: KeyLimits) -> Result<KeyLimits> {
        check_end(&limits, self.clock.now())?;
        let within = limits.within(&self.limits_of(manager)?);
        within.map_err(|wider| Violations::one(wider.field(), wider).into())
    }

    /// A key of the same kind, name and limits. A key that expires is followed by one that is valid for as long, and no longer than the key
    /// that rotates it.
    fn successor(&self, manager: KeyManager<'_>, old: &Key) -> Result<NewKey> {
        let maker = self.limits_of(manager)?;
        let now = self.clock.now();
        require_valid(old, now)?;
        let validity = |end: Timestamp| end.as_micros().saturating_sub(old.created_at.as_micros());
        let latest = Timestamp::MAX.as_micros() - 1;
        let expires_at = old
            .limits
            .expires_at
            .map(|end| now.as_micros().saturating_add(validity(end)).min(latest));
        let ends = [expires_at.map(Timestamp::from_micros), maker.expires_at];
        let limits = KeyLimits {
            expires_at: ends.into_iter().flatten().min(),
            ..old.limits.clone()
        };
        // Neither wider than its maker nor narrower than the key that clients use.
        if limits.check_within(&maker).is_err() {
            return Err(AppError::Forbidden(
                "the key may be used from networks that the key which rotates it may not be used from"
                    .to_owned(),
            ));
        }
        let mut new = self.new_key(old.organization_id, old.project, &old.name, limits);
        // The instant from which its validity was counted.
        new.key.created_at = now;
        Ok(new)
    }

    fn end_of_overlap(&self, overlap: Duration) -> Timestamp {
        let micros = i64::try_from(overlap.min(KEY_OVERLAP_MAX).as_micros()).unwrap_or(i64::MAX);
        Timestamp::from_micros(self.clock.now().as_micros().saturating_add(micros))
    }

    /// Creates a key for a project.
    ///
    /// # Errors
    /// [`AppError::NotFound`] when there is no such project within reach, [`AppError::Forbidden`] when the project has
    /// [`PROJECT_KEYS_MAX`] keys, [`AppError::Invalid`] when the key would have expired or be wider than the one that makes it.
    pub fn create_project_key(
        self: &Arc<Self>,
        manager: KeyManager<'_>,
        (project_id, environment): (ProjectId, Environment),
        name: &Name,
        limits: KeyLimits,
    ) -> Result<NewKey> {
        let limits = self.limits_within(manager, limits)?;
        let project = self
            .store
            .read(|reader| reader.project(project_id).map_err(AppError::from))?;
        let owner = project.map(|project| project.organization_id);
        let owner = owner.filter(|owner| manager.reaches(*owner));
        let owner = owner.ok_or(AppError::NotFound("project"))?;
        let new = self.new_key(owner, Some((project_id, environment)), name.as_str(), limits);
        let hash = *new.text.hash().as_bytes();
        self.insert_key(new.key.clone(), hash, project_id, &manager.requester())?;
        Ok(new)
    }

    /// Adds a key to a project in its cell. The directory gets it first: a key that only the directory has is unknown.
    pub(crate) fn insert_key(
        self: &Arc<Self>,
        key: Key,
        hash: KeyTextHash,
        project_id: ProjectId,
        requester: &Requester,
    ) -> Result<()> {
        let service = self.cell_of_project(project_id)?;
        self.enter_key(&service, &key, &hash)?;
        service.change_project(project_id, requester, move |configurator| {
            insert_project_key(configurator, &key, &hash)?;
            Ok(Changed::by((), ServiceEvent::key_created(&key)))
        })
    }

    /// Adds a key of another cell to the directory.
    fn enter_key(&self, cell: &Self, key: &Key, hash: &KeyTextHash) -> Result<()> {
        if !cell.is_cell() {
            return Ok(());
        }
        let (key, hash) = (key.clone(), *hash);
        let entered = self
            .store
            .write(move |writer| writer.insert_key_of_cell(&key, &hash));
        match entered {
            // By an attempt before the project was moved.
            Ok(()) | Err(StoreError::Duplicate) => Ok(()),
            Err(error) => Err(error.into()),
        }
    }

    /// Project keys. A master key lists those of its organization, optionally of one project; a project key lists those of
    /// its own project.
    ///
    /// # Errors
    /// [`AppError::NotFound`] when the principal has no access to the named project.
    pub fn keys(self: &Arc<Self>, principal: &KeyHolder, project_id: Option<ProjectId>) -> Result<Vec<Key>> {
        let only = match (&**principal, project_id) {
            (Principal::Project(own), Some(named)) if named != own.project_id => {
                return Err(AppError::NotFound("project"));
            }
            (Principal::Project(own), _) => Some(own.project_id),
            (_, named) => named,
        };
        match only {
            Some(project_id) => self.keys_of_project(KeyManager::Holder(principal), project_id),
            None => self.keys_of_organization(principal.organization_id()),
        }
    }

    /// The keys of a project.
    ///
    /// # Errors
    /// [`AppError::NotFound`] when it is not within reach.
    pub fn keys_of_project(
        self: &Arc<Self>,
        manager: KeyManager<'_>,
        project_id: ProjectId,
    ) -> Result<Vec<Key>> {
        let service = self.cell_of_project(project_id)?;
        let keys = service.store.read(|reader| {
            let project = reader.project(project_id)?;
            let project = project.filter(|project| manager.reaches(project.organization_id));
            let project = project.ok_or(AppError::NotFound("project"))?;
            Ok::<_, AppError>(reader.project_keys(project.organization_id, Some(project_id))?)
        })?;
        Ok(keys
            .into_iter()
            .map(|key| service.with_unwritten_use(key))
            .collect())
    }

    fn keys_of_organization(self: &Arc<Self>, id: OrganizationId) -> Result<Vec<Key>> {
        let keys_here = |service: &Self| {
            let keys = service.store.read(|reader| reader.project_keys(id, None))?;
            Ok::<_, AppError>(
                keys.into_iter()
                    .map(|key| service.with_unwritten_use(key))
                    .collect::<Vec<_>>(),
            )
        };
        let mut keys = keys_here(self)?;
        let cells = self.home_store.read(|reader| reader.cells_of_organization(id))?;
        if cells.is_empty() {
            return Ok(keys);
        }
        for cell in cells {
            keys.extend(keys_here(&*self.cell(cell)?)?);
        }
        keys.sort_by_key(|key| (key.created_at, key.id.to_string()));
        Ok(keys)
    }

    /// The cell of a project key; the home cell also where there is no such key.
    pub(crate) fn cell_of_key(self: &Arc<Self>, id: KeyId) -> Result<Arc<Self>> {
        let placement = self.store.read(|reader| reader.placement_of_key_id(id))?;
        self.cell(placement.map_or(CellId::HOME, |placement| placement.cell))
    }

    /// A project key within reach, and its project.
    fn managed_key(&self, manager: KeyManager<'_>, id: KeyId) -> Result<(Key, ProjectId)> {
        let key = self.store.read(|reader| reader.key(id).map_err(AppError::from))?;
        let found = key.and_then(|key| {
            let project_id = manager.managed_project(&key)?;
            Some((key, project_id))
        });
        found.ok_or(AppError::NotFound("key"))
    }

    /// A project key within reach of the principal; of the named project only.
    ///
    /// # Errors
    /// [`AppError::NotFound`].
    pub fn key(self: &Arc<Self>, principal: &KeyHolder, named: Option<ProjectId>, id: KeyId) -> Result<Key> {
        let service = self.cell_of_key(id)?;
        let (key, project_id) = service.managed_key(KeyManager::Holder(principal), id)?;
        match named.is_none_or(|named| named == project_id) {
            true => Ok(service.with_unwritten_use(key)),
            false => Err(AppError::NotFound("key")),
        }
    }

    /// Revokes a project key. Does nothing to a revoked key.
    ///
    /// # Errors
    /// [`AppError::NotFound`] when no project key with this id is within reach.
    pub fn revoke_key(self: &Arc<Self>, manager: KeyManager<'_>, id: KeyId) -> Result<()> {
        let service = self.cell_of_key(id)?;
        let now = service.clock.now();
        let (key, project_id) = service.managed_key(manager, id)?;
        service.change_project(project_id, &manager.requester(), move |configurator| {
            let is_revoked = configurator.revoke_key(id, now)?;
            let event = is_revoked.then(|| ServiceEvent::key_revoked(&key));
            Ok(Changed::if_some((), event))
        })
    }

    /// Changes name, end and networks of a project key. A key that a change makes wider is then no wider than the key that changes it.
    ///
    /// # Errors
    /// [`AppError::NotFound`] when no project key with this id is within reach, [`AppError::Conflict`] when it is not
    /// valid any more, [`AppError::Invalid`] when the key would have expired or be wider than it may be.
    pub fn change_key(
        self: &Arc<Self>,
        manager: KeyManager<'_>,
        id: KeyId,
        change: KeyChange,
    ) -> Result<Key> {
        let maker = self.limits_of(manager)?;
        let service = self.cell_of_key(id)?;
        let now = service.clock.now();
        let (_, project_id) = service.managed_key(manager, id)?;
        let key = service.change_project(project_id, &manager.requester(), move |configurator| {
            let before = configurator.key(id)?.ok_or(AppError::NotFound("key"))?;
            require_valid(&before, now)?;
            let after = change.apply(&before);
            if after == before {
                return Ok(Changed::nothing(after));
            }
            check_end(&after.limits, now)?;
            if after.limits.check_within(&before.limits).is_err() {
                let within = after.limits.check_within(&maker);
                within.map_err(|wider| Violations::one(wider.field(), wider))?;
            }
            configurator.update_key(&after)?;
            let event = ServiceEvent::key_updated(&before, &after);
            Ok(Changed::by(after, event))
        })?;
        Ok(service.with_unwritten_use(key))
    }

    /// Replaces a project key: creates one with the same name, environment and limits, and ends the old one after `overlap`,
    /// unless it ends earlier. Both happen or neither.
    ///
    /// # Errors
    /// [`AppError::NotFound`] when no project key with this id is within reach, [`AppError::Conflict`] when it is not
    /// valid any more, [`AppError::Forbidden`] when the project has [`PROJECT_KEYS_MAX`] keys.
    pub fn rotate_key(
        self: &Arc<Self>,
        manager: KeyManager<'_>,
        id: KeyId,
        overlap: Duration,
    ) -> Result<NewKey> {
        let service = self.cell_of_key(id)?;
        let (old, project_id) = service.managed_key(manager, id)?;
        let new = service.successor(manager, &old)?;
        let hash = *new.text.hash().as_bytes();
        let end = service.end_of_overlap(overlap);
        self.enter_key(&service, &new.key, &hash)?;
        service.change_project(project_id, &manager.requester(), move |configurator| {
            insert_project_key(configurator, &new.key, &hash)?;
            configurator.end_key(id, end)?;
            let event = ServiceEvent::key_rotated(&old, &new.key, end);
            Ok(Changed::by(new, event))
        })
    }
}

/// Master keys, which only the home cell has.
impl AuditLog {
    /// Creates another master key of an organization.
    ///
    /// # Errors
    /// [`AppError::NotFound`] when the organization does not exist, [`AppError::Forbidden`] when it has
    /// [`MASTER_KEYS_MAX`] keys, [`AppError::Invalid`] when the key would have expired or be wider than the one that makes it.
    pub fn create_master_key(
        &self,
        manager: KeyManager<'_>,
        organization_id: OrganizationId,
        name: &Name,
        limits: KeyLimits,
    ) -> Result<NewKey> {
        let limits = self.limits_within(manager, limits)?;
        let new = self.new_key(organization_id, None, name.as_str(), limits);
        self.change_organization(organization_id, &manager.requester(), move |configurator| {
            configurator
                .organization(organization_id)?
                .ok_or(AppError::NotFound("organization"))?;
            insert_master_key(configurator, &new)?;
            let event = ServiceEvent::key_created(&new.key);
            Ok(Changed::by(new, event))
        })
    }

    /// The master keys of an organization, oldest first.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn master_keys(&self, organization_id: OrganizationId) -> Result<Vec<Key>> {
        let keys = self.store.read(|reader| reader.master_keys(organization_id))?;
        Ok(keys.into_iter().map(|key| self.with_unwritten_use(key)).collect())
    }

    /// A master key within reach.
    ///
    /// # Errors
    /// [`AppError::NotFound`].
    pub fn master_key(&self, manager: KeyManager<'_>, id: KeyId) -> Result<Key> {
        let key = self.managed_master_key(manager, id)?;
        Ok(self.with_unwritten_use(key))
    }

    /// A master key within reach.
    fn managed_master_key(&self, manager: KeyManager<'_>, id: KeyId) -> Result<Key> {
        let key = self.store.read(|reader| reader.key(id).map_err(AppError::from))?;
        let key = key.filter(|key| key.project.is_none() && manager.reaches(key.organization_id));
        key.ok_or(AppError::NotFound("master key"))
    }

    /// Revokes a master key. Does nothing to a revoked key.
    ///
    /// # Errors
    /// [`AppError::NotFound`] when no master key with this id is within reach; [`AppError::Forbidden`] when it is the last
    /// one that can administer the organization for good, unless the operator revokes it, who can create another one.
    pub fn revoke_master_key(&self, manager: KeyManager<'_>, id: KeyId) -> Result<()> {
        let now = self.clock.now();
        let key = self.managed_master_key(manager, id)?;
        let organization_id = key.organization_id;
        let may_be_last = matches!(manager, KeyManager::Operator);
        self.change_organization(organization_id, &manager.requester(), move |configurator| {
            let remain = configurator.master_keys(organization_id)?;
            let is_revoked = remain.iter().any(|key| key.id == id && key.revoked_at.is_some());
            let is_last = !remain.iter().any(|key| key.id != id && administers(key));
            if is_last && !is_revoked && !may_be_last {
                return Err(AppError::Forbidden(
                    "this is the last master key that does not expire and has the scope admin; create another one first"
                        .to_owned(),
                ));
            }
            let is_revoked = configurator.revoke_master_key(id, now)?;
            let event = is_revoked.then(|| ServiceEvent::key_revoked(&key));
            Ok(Changed::if_some((), event))
        })
    }

    /// Replaces a master key, as [`Self::rotate_key`] replaces a project key.
    ///
    /// # Errors
    /// [`AppError::NotFound`], [`AppError::Conflict`] and [`AppError::Forbidden`] as there.
    pub fn rotate_master_key(&self, manager: KeyManager<'_>, id: KeyId, overlap: Duration) -> Result<NewKey> {
        let old = self.managed_master_key(manager, id)?;
        let new = self.successor(manager, &old)?;
        let end = self.end_of_overlap(overlap);
        self.change_organization(old.organization_id, &manager.requester(), move |configurator| {
            insert_master_key(configurator, &new)?;
            configurator.end_master_key(id, end)?;
            let event = ServiceEvent::key_rotated(&old, &new.key, end);
            Ok(Changed::by(new, event))
        })
    }
}

fn check_end(limits: &KeyLimits, now: Timestamp) -> Result<()> {
    match limits.have_expired(now) {
        false => Ok(()),
        true => Err(Violations::one("expires_at", "must be in the future").into()),
    }
}

fn require_valid(key: &Key, now: Timestamp) -> Result<()> {
    match key.revoked_at.is_some() || key.limits.have_expired(now) {
        false => Ok(()),
        true => Err(AppError::Conflict("the key is not valid any more".to_owned())),
    }
}

/// Whether a master key can create other keys, for good.
fn administers(key: &Key) -> bool {
    let limits = &key.limits;
    key.revoked_at.is_none() && limits.expires_at.is_none() && limits.scopes().contain(KeyScope::Admin)
}

fn insert_project_key(
    configurator: &mut Configurator<'_, ProjectId>,
    key: &Key,
    hash: &KeyTextHash,
) -> Result<()> {
    let project_id = key.project.map(|(project_id, _)| project_id);
    let keys = configurator.project_keys(key.organization_id, project_id)?;
    require_fewer(&keys, PROJECT_KEYS_MAX, "a project has at most")?;
    Ok(configurator.insert_key(key, hash)?)
}

fn insert_master_key(configurator: &mut Configurator<'_, OrganizationId>, new: &NewKey) -> Result<()> {
    let keys = configurator.master_keys(new.key.organization_id)?;
    require_fewer(&keys, MASTER_KEYS_MAX, "an organization has at most")?;
    Ok(configurator.insert_master_key(&new.key, new.text.hash().as_bytes())?)
}

fn require_fewer(keys: &[Key], max: usize, subject: &str) -> Result<()> {
    match keys.iter().filter(|key| key.revoked_at.is_none()).count() < max {
        true => Ok(()),
        false => Err(AppError::Forbidden(format!(
            "{subject} {max} keys of this kind that are not revoked"
        ))),
    }
}
