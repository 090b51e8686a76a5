//! The service: its parts, and who may do what to which project.

use crate::directory::{Directory, ProjectConfiguration, Snapshot};
use crate::dispatcher::{DeliveryCounters, DeliveryStatistics, Wake};
use crate::error::{AppError, Result};
use crate::export::Exports;
use crate::feed::Feeds;
use crate::log::{LogSigner, TileRoots};
use crate::settings::Settings;
use crate::streams::stream_engine;
use audit_auth::{Principal, ViewerSecret};
use audit_domain::{Clock, CursorKey, Entropy, Environment, KeyId, ProjectId, Timestamp, Violations};
use audit_redact::Engine;
use audit_store::{LedgerId, Reader, Store, StoreError, StoreStatistics};
use parking_lot::Mutex;
use std::collections::HashMap;
use std::sync::{Arc, OnceLock};

/// The audit log service. Its methods block, unless they are `async`.
pub struct AuditLog {
    pub(crate) store: Store,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) entropy: Arc<dyn Entropy>,
    pub(crate) settings: Settings,
    pub(crate) directory: Directory,
    pub(crate) cursor_key: CursorKey,
    pub(crate) stream_engine: Engine,
    pub(crate) log_signer: OnceLock<LogSigner>,
    pub(crate) tile_roots: Arc<TileRoots>,
    pub(crate) wake: Arc<Wake>,
    pub(crate) deliveries: DeliveryCounters,
    pub(crate) feeds: Feeds,
    pub(crate) exports: Exports,
    pending: Mutex<PendingDeliveries>,
    keys_used: Mutex<HashMap<KeyId, Timestamp>>,
}

/// Which project and environment a request names, beside its credential.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Selection {
    /// From `X-Project-Id` or `project_id`.
    pub project_id: Option<ProjectId>,
    /// From `environment`; for master keys only.
    pub environment: Option<Environment>,
}

/// What waits to be delivered, on all nodes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PendingDeliveries {
    /// How many deliveries.
    pub count: i64,
    /// Since when the oldest has waited, in seconds.
    pub oldest_seconds: i64,
}

/// What a principal acts on.
pub(crate) struct Scope {
    pub(crate) snapshot: Arc<Snapshot>,
    pub(crate) project: Arc<ProjectConfiguration>,
    pub(crate) environment: Environment,
    pub(crate) ledger_id: LedgerId,
}

const CURSOR_KEY: &str = "cursor_key";

impl AuditLog {
    /// Composes the service; makes its own secrets when the database is new.
    ///
    /// # Errors
    /// When the database cannot be asked.
    pub fn open(
        store: Store,
        clock: Arc<dyn Clock>,
        entropy: Arc<dyn Entropy>,
        settings: Settings,
    ) -> Result<Arc<Self>> {
        let now = clock.now();
        let new_key: [u8; 32] = entropy.bytes();
        let new_secret = ViewerSecret::generate(entropy.bytes());
        // Several nodes may start at once on an empty database: one of them makes the secrets.
        let key = store.configure(move |configurator| -> Result<Vec<u8>> {
            if configurator.viewer_secrets()?.is_empty() {
                configurator.rotate_viewer_secret((new_secret.kid(), new_secret.as_bytes()), now, now)?;
            }
            if let Some(key) = configurator.secret(CURSOR_KEY)? {
                return Ok(key);
            }
            configurator.insert_secret(CURSOR_KEY, &new_key, now)?;
            Ok(new_key.to_vec())
        })?;
        let key = key
            .try_into()
            .map_err(|_| AppError::from(StoreError::Damaged { what: "cursor key" }))?;
        let wake = Arc::new(Wake::default());
        let told = Arc::clone(&wake);
        store.on_deliveries(move || told.due())?;
        Ok(Arc::new(Self {
            feeds: Feeds::new(store.readers_max()),
            exports: Exports::default(),
            store,
            clock,
            entropy,
            stream_engine: stream_engine(settings.hash_key.as_ref()),
            settings,
            directory: Directory::default(),
            cursor_key: CursorKey::new(key),
            log_signer: OnceLock::new(),
            tile_roots: Arc::default(),
            wake,
            deliveries: DeliveryCounters::default(),
            pending: Mutex::default(),
            keys_used: Mutex::default(),
        }))
    }

    /// The project and environment that a request acts on.
    pub(crate) fn scope(
        &self,
        reader: &mut Reader<'_>,
        principal: &Principal,
        selection: Selection,
    ) -> Result<Scope> {
        let snapshot = self.directory.current(reader)?;
        self.scope_at(reader, snapshot, principal, selection)
    }

    /// The project that a request changes.
    pub(crate) fn project_id(&self, principal: &Principal, selection: Selection) -> Result<ProjectId> {
        self.store
            .read(|reader| Ok(self.scope(reader, principal, selection)?.project.project.id))
    }

    pub(crate) fn scope_at(
        &self,
        reader: &mut Reader<'_>,
        snapshot: Arc<Snapshot>,
        principal: &Principal,
        selection: Selection,
    ) -> Result<Scope> {
        let project_id = match (own_project(principal), selection.project_id) {
            (Some(own), None) => own,
            (Some(own), Some(named)) if own == named => own,
            (Some(_), Some(_)) => return Err(AppError::NotFound("project")),
            (None, Some(named)) => named,
            (None, None) => only_project(reader, principal)?,
        };
        let project = snapshot.project(reader, &self.settings, project_id)?;
        let project = project
            .filter(|project| project.project.organization_id == principal.organization_id())
            .ok_or(AppError::NotFound("project"))?;
        let environment = environment_of(principal, selection.environment)?;
        let ledger_id = ledger_of(&project, environment)?;
        Ok(Scope {
            snapshot,
            project,
            environment,
            ledger_id,
        })
    }

    pub(crate) fn note_use(&self, key_id: KeyId) {
        let now = self.clock.now();
        self.keys_used.lock().insert(key_id, now);
    }

    /// When a key was used, if that is not written yet.
    pub(crate) fn noted_use(&self, key_id: KeyId) -> Option<Timestamp> {
        self.keys_used.lock().get(&key_id).copied()
    }

    /// Writes when keys were last used. To be called every few seconds: `lastUsedAt` may lag by up to a minute.
    ///
    /// # Errors
    /// When the database cannot be written; what was noted is then kept for the next time.
    pub fn write_key_uses(&self) -> Result<()> {
        let noted = self.keys_used.lock().clone();
        if noted.is_empty() {
            return Ok(());
        }
        let written = noted.clone();
        self.store.write(move |writer| -> Result<()> {
            written
                .into_iter()
                .try_for_each(|(id, at)| writer.set_key_last_used(id, at))
                .map_err(AppError::from)
        })?;
        let mut uses = self.keys_used.lock();
        uses.retain(|id, at| noted.get(id) != Some(at));
        Ok(())
    }

    /// Whether the database answers.
    ///
    /// # Errors
    /// [`AppError::Unavailable`] when it does not.
    pub fn check_ready(&self) -> Result<()> {
        self.store
            .read(|reader| reader.configuration_version().map(|_| ()).map_err(AppError::from))
    }

    /// What the store has done, and what waits.
    pub fn statistics(&self) -> StoreStatistics {
        self.store.statistics()
    }

    /// What attempts to deliver have led to, in this process.
    pub fn delivery_statistics(&self) -> DeliveryStatistics {
        self.deliveries.read()
    }

    /// What waited to be delivered when it was last counted.
    pub fn pending_deliveries(&self) -> PendingDeliveries {
        *self.pending.lock()
    }

    /// Counts what waits to be delivered, which takes the longer the more it is. To be called every few seconds.
    ///
    /// # Errors
    /// When the database cannot be asked; what was counted before stays.
    pub fn count_pending_deliveries(&self) -> Result<()> {
        let counted = self.store.query(|reader| reader.pending_deliveries())?;
        let now = self.clock.now().as_seconds();
        let age = |oldest: Timestamp| (now - oldest.as_seconds()).max(0);
        *self.pending.lock() = PendingDeliveries {
            count: counted.count,
            oldest_seconds: counted.oldest_created_at.map_or(0, age),
        };
        Ok(())
    }

    /// Finishes what waits to be written, and takes no more.
    pub fn close(&self) {
        if let Err(error) = self.write_key_uses() {
            log::warn!("cannot write the last uses of keys: {error}");
        }
        self.store.close();
    }
}

fn own_project(principal: &Principal) -> Option<ProjectId> {
    match principal {
        Principal::Master(_) => None,
        Principal::Project(key) => Some(key.project_id),
        Principal::Viewer(viewer) => Some(viewer.project_id),
    }
}

fn only_project(reader: &mut Reader<'_>, principal: &Principal) -> Result<ProjectId> {
    match reader.projects(principal.organization_id())?.as_slice() {
        [only] => Ok(only.id),
        [] => Err(AppError::NotFound("project")),
        _ => {
            let message =
                "the organization has several projects; name one here or in the header X-Project-Id";
            Err(Violations::one("project_id", message).into())
        }
    }
}

pub(crate) fn environment_of(principal: &Principal, asked: Option<Environment>) -> Result<Environment> {
    match (principal, asked) {
        (Principal::Master(_), asked) => Ok(asked.unwrap_or(Environment::Live)),
        (Principal::Project(key), None) => Ok(key.environment),
        (Principal::Viewer(_), None) => Ok(Environment::Live),
        (Principal::Project(_) | Principal::Viewer(_), Some(_)) => {
            Err(Violations::one("environment", "only a master key can choose the environment").into())
        }
    }
}

pub(crate) fn ledger_of(project: &ProjectConfiguration, environment: Environment) -> Result<LedgerId> {
    let ledger = project.ledgers.get(&environment).copied();
    ledger.ok_or_else(|| {
        AppError::from(StoreError::Damaged {
            what: "project without ledgers",
        })
    })
}
