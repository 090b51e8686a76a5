//! The service: its parts, and the project and environment that a request may access.

use crate::activity::Activity;
use crate::backups::Backups;
use crate::cells::Cells;
use crate::destinations::Sending;
use crate::destinations::worker::Worker;
use crate::directory::{Directory, Present, ProjectConfiguration};
use crate::dispatcher::{DeliveryCounters, Wake};
use crate::error::{AppError, Result};
use crate::export::Exports;
use crate::feed::Feeds;
use crate::lifecycle::Lifecycles;
use crate::lifecycle::worker::RemovalWorker;
use crate::log::{Anchoring, LogSigner, Signing, TenantMaps, TileRoots, Witnessing};
use crate::measured::Measured;
use crate::redaction::engines::Engines;
use crate::secrets::{ServiceSecret, of_viewers};
use crate::self_audit::{ReadLimit, SelfAudit};
use crate::settings::Settings;
use crate::turns::ReaderTurns;
use audit_auth::{Principal, ViewerSecret};
use audit_domain::{
    Clock, CursorKey, Entropy, Environment, KeyId, LogName, ProjectId, Timestamp, Violations,
};
use audit_redact::Engine;
use audit_secrets::{KeyRing, Secret};
use audit_store::{Deployment, Key, KeyUse, LedgerId, Reader, Store, StoreError};
use parking_lot::Mutex;
use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::{Arc, OnceLock};

/// The audit log service. Its methods block, unless they are `async`.
pub struct AuditLog {
    pub(crate) store: Arc<Store>,
    /// The store of the home cell: [`Self::store`], unless this is the service of another cell. It has the directory, and
    /// what belongs to the deployment: organizations, master keys and secrets.
    pub(crate) home_store: Arc<Store>,
    /// The other cells, in the service of the home cell.
    pub(crate) cells: Cells,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) entropy: Arc<dyn Entropy>,
    pub(crate) settings: Settings,
    pub(crate) directory: Directory,
    /// Of all cells.
    pub(crate) engines: Arc<Engines>,
    pub(crate) cursor_key: CursorKey,
    pub(crate) stream_engine: Engine,
    pub(crate) log_signer: OnceLock<LogSigner>,
    pub(crate) tile_roots: TileRoots,
    pub(crate) signing: Signing,
    pub(crate) anchoring: Anchoring,
    pub(crate) backups: Backups,
    pub(crate) tenant_maps: TenantMaps,
    pub(crate) witnessing: Witnessing,
    pub(crate) wake: Arc<Wake>,
    pub(crate) deliveries: DeliveryCounters,
    pub(crate) destination_worker: Worker,
    pub(crate) lifecycles: Lifecycles,
    pub(crate) removal_worker: RemovalWorker,
    pub(crate) feeds: Feeds,
    pub(crate) exports: Exports,
    pub(crate) sending: Sending,
    pub(crate) turns: ReaderTurns,
    /// Of all cells.
    pub(crate) self_audit: Arc<SelfAudit>,
    pub(crate) read_limit: ReadLimit,
    /// Of all cells, in the service of the home cell.
    pub(crate) activity: Activity,
    pub(crate) measured: Mutex<Measured>,
    pub(crate) pending: Mutex<PendingDeliveries>,
    keys_used: Mutex<HashMap<KeyId, KeyUse>>,
}

/// The project and environment that a request names in addition to its credential.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Selection {
    /// From `X-Project-Id` or `project_id`.
    pub project_id: Option<ProjectId>,
    /// From `environment`; only for master keys.
    pub environment: Option<Environment>,
}

/// The pending deliveries of all nodes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PendingDeliveries {
    /// The number of pending deliveries.
    pub count: i64,
    /// The age of the oldest one, in seconds.
    pub oldest_seconds: i64,
}

/// The project, environment and ledger that a principal accesses.
pub(crate) struct Scope {
    pub(crate) project: Arc<ProjectConfiguration>,
    pub(crate) environment: Environment,
    pub(crate) ledger_id: LedgerId,
}

impl Scope {
    /// The name of the log within its deployment.
    pub(crate) fn log_name(&self) -> String {
        format!("{}/{}", self.project.project.id, self.environment.as_str())
    }

    /// The same, as the content hashes of its events have it.
    pub(crate) fn log(&self) -> LogName {
        LogName::new(self.project.project.id, self.environment)
    }
}

/// The parts of a service that are given.
struct Parts {
    store: Arc<Store>,
    home_store: Arc<Store>,
    has_cells: bool,
    clock: Arc<dyn Clock>,
    entropy: Arc<dyn Entropy>,
    settings: Settings,
    cursor_key: CursorKey,
    engines: Arc<Engines>,
    self_audit: Arc<SelfAudit>,
}

impl Parts {
    fn compose(mut self) -> Result<Arc<AuditLog>> {
        let store = &self.store;
        self.settings.digest_key.get_or_insert_with(|| store.digest_key());
        let wake = Arc::new(Wake::default());
        let listener = Arc::clone(&wake);
        self.store.on_deliveries(move || listener.due())?;
        Ok(Arc::new(AuditLog {
            feeds: Feeds::new(self.store.readers_max()),
            exports: Exports::default(),
            sending: Sending::default(),
            turns: ReaderTurns::new(self.store.readers_max()),
            self_audit: self.self_audit,
            read_limit: ReadLimit::default(),
            store: self.store,
            home_store: self.home_store,
            cells: Cells::new(self.has_cells),
            clock: self.clock,
            entropy: self.entropy,
            stream_engine: self.settings.stream_engine(),
            directory: Directory::default(),
            engines: self.engines,
            cursor_key: self.cursor_key,
            log_signer: OnceLock::new(),
            tile_roots: TileRoots::default(),
            signing: Signing::new(self.settings.signer.clone()),
            anchoring: Anchoring::default(),
            backups: Backups::default(),
            tenant_maps: TenantMaps::default(),
            witnessing: Witnessing::new(self.settings.witnesses.clone()),
            wake,
            deliveries: DeliveryCounters::default(),
            destination_worker: Worker::default(),
            lifecycles: Lifecycles::default(),
            removal_worker: RemovalWorker::default(),
            activity: Activity::new(self.settings.project_metrics),
            measured: Mutex::default(),
            pending: Mutex::default(),
            keys_used: Mutex::default(),
            settings: self.settings,
        }))
    }
}

/// The key of cursors, if the database has all secrets of the service. Nothing is locked.
fn stored_secrets(store: &Store) -> Result<Option<Vec<u8>>> {
    store.read(|reader| {
        let has_viewer_secret = !reader.viewer_secrets()?.is_empty();
        let key = reader.secret(ServiceSecret::CursorKey.name())?;
        Ok(key.filter(|_| has_viewer_secret))
    })
}

/// Creates the secrets of the service. Several nodes may start on an empty database at the same time: the first one creates
/// them for all. Returns the key of cursors as it is stored.
fn create_secrets(
    store: &Store,
    now: Timestamp,
    entropy: &Arc<dyn Entropy>,
    keys: &KeyRing,
) -> Result<Vec<u8>> {
    let seal = |bytes: [u8; Secret::BYTES], place| keys.seal(&bytes, &place, entropy.bytes());
    let cursor_key = ServiceSecret::CursorKey;
    let new_key = seal(entropy.bytes(), cursor_key.place());
    let new_secret = ViewerSecret::generate(entropy.bytes());
    let sealed_secret = seal(*new_secret.as_bytes(), of_viewers(new_secret.kid()));
    store.configure(Deployment, move |configurator| -> Result<Vec<u8>> {
        if configurator.viewer_secrets()?.is_empty() {
            configurator.rotate_viewer_secret((new_secret.kid(), &sealed_secret), now, now)?;
        }
        if let Some(key) = configurator.secret(cursor_key.name())? {
            return Ok(key);
        }
        configurator.insert_secret(cursor_key.name(), &new_key, now)?;
        Ok(new_key)
    })
}

impl AuditLog {
    /// Opens the service. Creates its secrets if the database is new.
    ///
    /// # Errors
    /// When the database fails; [`AppError::SealedSecret`] when the encryption keys are not those of the database.
    pub fn open(
        store: Store,
        clock: Arc<dyn Clock>,
        entropy: Arc<dyn Entropy>,
        settings: Settings,
    ) -> Result<Arc<Self>> {
        let key = match stored_secrets(&store)? {
            Some(key) => key,
            None => create_secrets(&store, clock.now(), &entropy, &settings.encryption)?,
        };
        let key = ServiceSecret::CursorKey.open(&key, &settings.encryption)?;
        let has_cells = store.read(|reader| reader.has_cells())?;
        let store = Arc::new(store);
        let engines = Engines::new(settings.hash_key.clone());
        let self_audit = SelfAudit::open(&store, settings.self_audit, clock.now(), &entropy)?;
        let parts = Parts {
            engines: Arc::new(engines),
            self_audit,
            home_store: Arc::clone(&store),
            store,
            has_cells,
            clock,
            entropy,
            settings,
            cursor_key: CursorKey::new(*key.as_bytes()),
        };
        parts.compose()
    }

    /// The service of a cell of this deployment.
    pub(crate) fn in_cell(&self, store: Store) -> Result<Arc<Self>> {
        let parts = Parts {
            engines: Arc::clone(&self.engines),
            self_audit: Arc::clone(&self.self_audit),
            store: Arc::new(store),
            home_store: Arc::clone(&self.home_store),
            has_cells: false,
            clock: Arc::clone(&self.clock),
            entropy: Arc::clone(&self.entropy),
            settings: self.settings.clone(),
            cursor_key: self.cursor_key.clone(),
        };
        parts.compose()
    }

    /// The scope of a request.
    pub(crate) fn scope(
        &self,
        reader: &mut Reader<'_>,
        principal: &Principal,
        selection: Selection,
    ) -> Result<Scope> {
        self.scope_at(reader, &mut self.directory.present(), principal, selection)
    }

    /// The id of the project that a request changes.
    pub(crate) fn project_id(&self, principal: &Principal, selection: Selection) -> Result<ProjectId> {
        self.store
            .read(|reader| Ok(self.scope(reader, principal, selection)?.project.project.id))
    }

    /// The scope of a log, for work that no request has asked for.
    pub(crate) fn scope_of(&self, project_id: ProjectId, environment: Environment) -> Result<Scope> {
        let project = self.store.read(|reader| {
            let mut present = self.directory.present();
            present.project(reader, &self.settings, project_id)
        })?;
        let project = project.ok_or(AppError::NotFound("project"))?;
        let ledger_id = ledger_of(&project, environment)?;
        Ok(Scope {
            project,
            environment,
            ledger_id,
        })
    }

    pub(crate) fn scope_at(
        &self,
        reader: &mut Reader<'_>,
        present: &mut Present<'_>,
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
        let project = present.project(reader, &self.settings, project_id)?;
        let project = project
            .filter(|project| project.project.organization_id == principal.organization_id())
            .ok_or(AppError::NotFound("project"))?;
        let environment = environment_of(principal, selection.environment)?;
        let ledger_id = ledger_of(&project, environment)?;
        Ok(Scope {
            project,
            environment,
            ledger_id,
        })
    }

    pub(crate) fn note_use(&self, id: KeyId, at: Timestamp, from: Option<IpAddr>) {
        self.keys_used.lock().insert(id, KeyUse { id, at, from });
    }

    /// The key with its last use, if that is not written to the database yet.
    pub(crate) fn with_unwritten_use(&self, mut key: Key) -> Key {
        let unwritten = self.keys_used.lock().get(&key.id).copied();
        if let Some(unwritten) = unwritten.filter(|unwritten| key.last_used_at < Some(unwritten.at)) {
            key.last_used_at = Some(unwritten.at);
            key.last_used_from = unwritten.from;
        }
        key
    }

    /// Writes the last uses of keys. Call it every few seconds: `lastUsedAt` may lag by up to a minute.
    ///
    /// # Errors
    /// When the database cannot be written. The uses are then kept for the next call.
    pub fn write_key_uses(&self) -> Result<()> {
        let uses = self.keys_used.lock().clone();
        if uses.is_empty() {
            return Ok(());
        }
        let written: Vec<KeyUse> = uses.values().copied().collect();
        self.store
            .write(move |writer| writer.set_keys_last_used(&written).map_err(AppError::from))?;
        // A key that was used again during the write keeps its newer use.
        self.keys_used
            .lock()
            .retain(|id, used| uses.get(id) != Some(used));
        Ok(())
    }

    /// Checks that the database accepts writes and responds within a second.
    ///
    /// # Errors
    /// [`AppError::Unavailable`] when it does not.
    pub fn check_ready(&self) -> Result<()> {
        Ok(self.store.check_writable()?)
    }

    /// Writes all queued requests and accepts no more. Closes the cells too.
    pub fn close(&self) {
        for cell in self.cells.opened() {
            cell.close();
        }
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

pub(crate) fn environment_of(principal: &Principal, selected: Option<Environment>) -> Result<Environment> {
    match (principal, selected) {
        (Principal::Master(_), selected) => Ok(selected.unwrap_or(Environment::Live)),
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
