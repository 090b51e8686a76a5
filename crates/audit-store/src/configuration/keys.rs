//! Master keys and project keys.

use super::owner::ConfigurationVersion;
use super::rows::{Key, KeyTextHash, KeyUse};
use super::schema::api_keys;
use crate::access::{Configurator, Reader, Writer};
use crate::columns::{read_list, stored, write_list};
use crate::database::{AnySession, on_database};
use crate::error::{Result, StoreError};
use crate::schema::ledgers as ledger_rows;
use audit_domain::{
    Environment, KeyId, KeyLimits, KeyScope, KeyScopes, OrganizationId, ProjectId, Timestamp,
};
use diesel::dsl::min;
use diesel::prelude::*;

/// A key that was found by the hash of its text.
#[derive(Clone, Debug)]
pub struct FoundKey {
    /// The key.
    pub key: Key,
    /// The hash that is stored, for the caller to compare in constant time.
    pub hash: KeyTextHash,
    /// The version of its project's configuration, as of the same moment; `None` for a master key.
    pub configuration_version: Option<ConfigurationVersion>,
}

#[derive(Queryable, Selectable)]
#[diesel(table_name = api_keys)]
struct KeyRow {
    id: String,
    organization_id: String,
    project_id: Option<String>,
    environment: Option<String>,
    name: String,
    prefix: String,
    created_at: i64,
    last_used_at: Option<i64>,
    last_used_from: Option<String>,
    revoked_at: Option<i64>,
    expires_at: Option<i64>,
    scopes: Option<String>,
    networks: Option<String>,
    sessions_ended: i64,
}

fn read_key(row: KeyRow) -> Result<Key> {
    let project = match (row.project_id, row.environment) {
        (Some(project_id), Some(environment)) => Some((
            stored(&project_id, "project id")?,
            stored(&environment, "environment")?,
        )),
        _ => None,
    };
    Ok(Key {
        id: stored(&row.id, "key id")?,
        organization_id: stored(&row.organization_id, "organization id")?,
        project,
        name: row.name,
        prefix: row.prefix,
        created_at: Timestamp::from_micros(row.created_at),
        last_used_at: row.last_used_at.map(Timestamp::from_micros),
        last_used_from: row
            .last_used_from
            .map(|address| stored(&address, "address of a client"))
            .transpose()?,
        revoked_at: row.revoked_at.map(Timestamp::from_micros),
        sessions_ended: row.sessions_ended,
        limits: KeyLimits {
            expires_at: row.expires_at.map(Timestamp::from_micros),
            scopes: row
                .scopes
                .map(|scopes| read_list::<KeyScope>(&scopes, "scope of a key"))
                .transpose()?
                .map(KeyScopes::from_iter),
            networks: row
                .networks
                .map(|networks| read_list(&networks, "network of a key"))
                .transpose()?,
        },
    })
}

/// Keys.
#[expect(
    clippy::missing_errors_doc,
    reason = "all fail only when the database cannot be queried"
)]
impl Reader<'_> {
    /// When the next key ends that is valid now; `None` while none has an end.
    pub fn next_key_end(&mut self, now: Timestamp) -> Result<Option<Timestamp>> {
        let next: Option<i64> = api_keys::table
            .filter(api_keys::revoked_at.is_null())
            .filter(api_keys::expires_at.gt(now.as_micros()))
            .select(min(api_keys::expires_at))
            .get_result(self.session())?;
        Ok(next.map(Timestamp::from_micros))
    }

    /// The key whose text has this hash, revoked or not. The index compares SHA-256 hashes, which reveals nothing about the
    /// text.
    pub fn key_by_hash(&mut self, hash: &KeyTextHash) -> Result<Option<FoundKey>> {
        let live_ledger = ledger_rows::project_id
            .nullable()
            .eq(api_keys::project_id)
            .and(ledger_rows::environment.eq(Environment::Live.as_str()));
        let row = api_keys::table
            .left_join(ledger_rows::table.on(live_ledger))
            .filter(api_keys::key_hash.eq(hash.as_slice()))
            .select((
                KeyRow::as_select(),
                api_keys::key_hash,
                ledger_rows::configuration_version.nullable(),
            ))
            .get_result::<(KeyRow, Vec<u8>, Option<i64>)>(self.session())
            .optional()?;
        let Some((row, stored_hash, version)) = row else {
            return Ok(None);
        };
        let stored_hash = stored_hash
            .try_into()
            .map_err(|_| StoreError::Damaged { what: "key hash" })?;
        Ok(Some(FoundKey {
            key: read_key(row)?,
            hash: stored_hash,
            configuration_version: version.map(ConfigurationVersion),
        }))
    }

    /// One key.
    pub fn key(&mut self, id: KeyId) -> Result<Option<Key>> {
        let row = api_keys::table
            .find(id.to_string())
            .select(KeyRow::as_select())
            .get_result(self.session())
            .optional()?;
        row.map(read_key).transpose()
    }

    /// The project keys of an organization that this cell has, oldest first; those of one project when it is given.
    pub fn project_keys(
        &mut self,
        organization_id: OrganizationId,
        project_id: Option<ProjectId>,
    ) -> Result<Vec<Key>> {
        let mut query = api_keys::table
            .filter(api_keys::organization_id.eq(organization_id.to_string()))
            .filter(api_keys::project_id.is_not_null())
            .select(KeyRow::as_select())
            .order((api_keys::created_at, api_keys::id))
            .into_boxed();
        if let Some(project_id) = project_id {
            query = query.filter(api_keys::project_id.eq(project_id.to_string()));
        }
        query.load(self.session())?.into_iter().map(read_key).collect()
    }

    /// The master keys of an organization, oldest first.
    pub fn master_keys(&mut self, organization_id: OrganizationId) -> Result<Vec<Key>> {
        let rows = api_keys::table
            .filter(api_keys::organization_id.eq(organization_id.to_string()))
            .filter(api_keys::project_id.is_null())
            .select(KeyRow::as_select())
            .order((api_keys::created_at, api_keys::id))
            .load(self.session())?;
        rows.into_iter().map(read_key).collect()
    }
}

#[expect(
    clippy::missing_errors_doc,
    reason = "all fail only when the database cannot be written"
)]
impl Configurator<'_, OrganizationId> {
    /// Adds a master key. Only the hash of its text is stored.
    pub fn insert_master_key(&mut self, key: &Key, hash: &KeyTextHash) -> Result<()> {
        // Master keys are read at each use.
        insert_key(self.uncached_session(), key, hash)
    }

    /// Revokes a master key; `false` when it is revoked already. Requests of the key that are being prepared are refused as stale.
    pub fn revoke_master_key(&mut self, id: KeyId, now: Timestamp) -> Result<bool> {
        let key = api_keys::table
            .find(id.to_string())
            .filter(api_keys::organization_id.eq(self.owner().to_string()))
            .filter(api_keys::project_id.is_null())
            .filter(api_keys::revoked_at.is_null());
        self.change_if_found(|session| {
            let revoked = diesel::update(key)
                .set(api_keys::revoked_at.eq(Some(now.as_micros())))
                .execute(session)?;
            Ok(revoked > 0)
        })
    }

    /// Ends the console sessions of a master key that began after `ended` ends; `false` when they have ended.
    pub fn end_master_key_sessions(&mut self, id: KeyId, ended: i64) -> Result<bool> {
        let key = api_keys::table
            .find(id.to_string())
            .filter(api_keys::organization_id.eq(self.owner().to_string()))
            .filter(api_keys::project_id.is_null())
            .filter(api_keys::sessions_ended.eq(ended));
        let next = api_keys::sessions_ended.eq(ended + 1);
        // Master keys are read at each use.
        Ok(diesel::update(key).set(next).execute(self.uncached_session())? > 0)
    }

    /// Ends a master key at this time, unless it ends earlier or is revoked.
    pub fn end_master_key(&mut self, id: KeyId, at: Timestamp) -> Result<()> {
        let key = api_keys::table
            .find(id.to_string())
            .filter(api_keys::organization_id.eq(self.owner().to_string()))
            .filter(api_keys::project_id.is_null())
            .filter(api_keys::revoked_at.is_null())
            .filter(
                api_keys::expires_at
                    .is_null()
                    .or(api_keys::expires_at.gt(at.as_micros())),
            );
        let end = api_keys::expires_at.eq(Some(at.as_micros()));
        self.change_if_found(|session| Ok(diesel::update(key).set(end).execute(session)? > 0))?;
        Ok(())
    }
}

#[expect(
    clippy::missing_errors_doc,
    reason = "all fail only when the database cannot be written"
)]
impl Writer<'_> {
    /// Stores when and from where keys were last used, unless a later use is stored. On PostgreSQL it leaves out the keys that another
    /// transaction has locked, so it never waits for one and cannot deadlock; another node then stores a use of the same seconds,
    /// or the key is being revoked.
    pub fn set_keys_last_used(&mut self, uses: &[KeyUse]) -> Result<()> {
        on_database!(self.session(), key_uses::write(uses))
    }
}

#[expect(
    clippy::missing_errors_doc,
    reason = "all fail only when the database cannot be written"
)]
impl Configurator<'_, ProjectId> {
    /// Adds a key. Only the hash of its text is stored.
    pub fn insert_key(&mut self, key: &Key, hash: &KeyTextHash) -> Result<()> {
        insert_key(self.session()?, key, hash)
    }

    /// Revokes a key; `false` when it is revoked already.
    pub fn revoke_key(&mut self, id: KeyId, now: Timestamp) -> Result<bool> {
        let active = api_keys::table
            .find(id.to_string())
            .filter(api_keys::project_id.eq(self.owner().to_string()))
            .filter(api_keys::revoked_at.is_null());
        self.change_if_found(|session| {
            let revoked = diesel::update(active)
                .set(api_keys::revoked_at.eq(Some(now.as_micros())))
                .execute(session)?;
            Ok(revoked > 0)
        })
    }

    /// Writes name, end and networks of a key; `false` when the project has no such key that is not revoked.
    pub fn update_key(&mut self, key: &Key) -> Result<bool> {
        let active = api_keys::table
            .find(key.id.to_string())
            .filter(api_keys::project_id.eq(self.owner().to_string()))
            .filter(api_keys::revoked_at.is_null());
        let settings = (
            api_keys::name.eq(&key.name),
            api_keys::expires_at.eq(key.limits.expires_at.map(Timestamp::as_micros)),
            api_keys::networks.eq(key.limits.networks.as_deref().map(write_list)),
        );
        self.change_if_found(|session| Ok(diesel::update(active).set(settings).execute(session)? > 0))
    }

    /// Ends the console sessions of a key that began after `ended` ends; `false` when they have ended.
    pub fn end_key_sessions(&mut self, id: KeyId, ended: i64) -> Result<bool> {
        let key = api_keys::table
            .find(id.to_string())
            .filter(api_keys::project_id.eq(self.owner().to_string()))
            .filter(api_keys::sessions_ended.eq(ended));
        let next = api_keys::sessions_ended.eq(ended + 1);
        self.change_if_found(|session| Ok(diesel::update(key).set(next).execute(session)? > 0))
    }

    /// Ends a key at this time, unless it ends earlier or is revoked.
    pub fn end_key(&mut self, id: KeyId, at: Timestamp) -> Result<()> {
        let key = api_keys::table
            .find(id.to_string())
            .filter(api_keys::project_id.eq(self.owner().to_string()))
            .filter(api_keys::revoked_at.is_null())
            .filter(
                api_keys::expires_at
                    .is_null()
                    .or(api_keys::expires_at.gt(at.as_micros())),
            );
        let end = api_keys::expires_at.eq(Some(at.as_micros()));
        self.change_if_found(|session| Ok(diesel::update(key).set(end).execute(session)? > 0))?;
        Ok(())
    }
}

pub(super) fn insert_key(session: &mut AnySession, key: &Key, hash: &KeyTextHash) -> Result<()> {
    let (project_id, environment) = key.project.unzip();
    let scopes = key.limits.scopes.map(|scopes| scopes.iter().collect::<Vec<_>>());
    diesel::insert_into(api_keys::table)
        .values((
            api_keys::id.eq(key.id.to_string()),
            api_keys::organization_id.eq(key.organization_id.to_string()),
            api_keys::project_id.eq(project_id.map(|id| id.to_string())),
            api_keys::environment.eq(environment.map(Environment::as_str)),
            api_keys::name.eq(&key.name),
            api_keys::prefix.eq(&key.prefix),
            api_keys::key_hash.eq(hash.as_slice()),
            api_keys::created_at.eq(key.created_at.as_micros()),
            api_keys::expires_at.eq(key.limits.expires_at.map(Timestamp::as_micros)),
            api_keys::scopes.eq(scopes.map(|scopes| write_list(&scopes))),
            api_keys::networks.eq(key.limits.networks.as_deref().map(write_list)),
        ))
        .execute(session)?;
    Ok(())
}
