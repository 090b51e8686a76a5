//! The key of the heads: what the database has of it, and how it is chosen.

use crate::access::{Configurator, Reader};
use crate::configuration::{Deployment, Owner};
use crate::database::transaction::write_transaction;
use crate::database::{AnySession, Database};
use crate::error::{Result, StoreError};
use audit_domain::Clock;
use audit_ledger::{HeadKey, HeadKeyId};
use std::sync::Arc;

/// Chooses the key that authenticates the heads of ledgers.
pub trait HeadKeys {
    /// The key that the database names; any key where it names none yet.
    ///
    /// # Errors
    /// [`StoreError::HeadKey`] when there is no such key.
    fn choose(&self, stored: &StoredHeadKey) -> Result<ChosenHeadKey>;
}

/// What the database has of the key of the heads.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct StoredHeadKey {
    /// Its id; `None` in a new database.
    pub id: Option<HeadKeyId>,
    /// The key itself, encrypted.
    pub sealed: Option<Vec<u8>>,
}

/// A key of the heads, and how the database is to store it.
#[derive(Clone, Debug)]
pub struct ChosenHeadKey {
    /// The key.
    pub key: HeadKey,
    /// The key, encrypted, for a database that does not have it; `None` where the database gets its id alone.
    pub sealed: Option<Vec<u8>>,
}

impl HeadKeys for HeadKey {
    fn choose(&self, stored: &StoredHeadKey) -> Result<ChosenHeadKey> {
        match stored.id {
            Some(id) if id != self.id() => Err(StoreError::HeadKey(format!(
                "the heads of the database are of the key {id}, and the given key is {}",
                self.id()
            ))),
            _ => Ok(ChosenHeadKey {
                key: self.clone(),
                sealed: None,
            }),
        }
    }
}

/// The names under which the database stores the id of the key, and the encrypted key.
pub(crate) const HEAD_KEY_ID: &str = "head_key_id";
const HEAD_KEY: &str = "head_key";

/// What the database has of the key of the heads.
pub(crate) fn stored_head_key(session: &mut AnySession) -> Result<StoredHeadKey> {
    let mut reader = Reader::new(session);
    let read = |bytes: Vec<u8>| {
        let what = "id of the key of the heads";
        HeadKeyId::from_slice(&bytes).ok_or(StoreError::Damaged { what })
    };
    Ok(StoredHeadKey {
        id: reader.secret(HEAD_KEY_ID)?.map(read).transpose()?,
        sealed: reader.secret(HEAD_KEY)?,
    })
}

/// The key of the heads. The first node chooses it for all.
pub(crate) fn head_key(database: &Database, keys: &dyn HeadKeys, clock: &Arc<dyn Clock>) -> Result<HeadKey> {
    let mut session = database.open_writer()?;
    let stored = stored_head_key(&mut session)?;
    let chosen = keys.choose(&stored)?;
    if stored.id.is_some() {
        return Ok(chosen.key);
    }
    let stored = write_transaction(&mut session, |session| -> Result<StoredHeadKey> {
        Owner::from(Deployment).lock(session)?;
        // Another node may have chosen meanwhile.
        let found = stored_head_key(session)?;
        let mut configurator = Configurator::new(session, Deployment);
        if found.id.is_none() {
            configurator.insert_secret(HEAD_KEY_ID, chosen.key.id().as_bytes(), clock.now())?;
            if let Some(sealed) = &chosen.sealed {
                configurator.insert_secret(HEAD_KEY, sealed, clock.now())?;
            }
        }
        configurator.finish()?;
        stored_head_key(session)
    })?;
    keys.choose(&stored).map(|chosen| chosen.key)
}
