//! Cells: the services of all cells behind that of the home cell, and which of them a request belongs to.
//!
//! A cell is an [`AuditLog`] of its own. Its projects' requests run there as in any deployment. From the home cell it reads
//! what belongs to the deployment: master keys, the secrets of viewer tokens, of cursors and of the log.
//!
//! A request begins in the cell that is cached for its credential, or else in the home cell, which refuses a project that it does
//! not have. Then the directory is read, and the request begins again in the cell of the project. So a deployment without cells
//! reads no directory.

pub(crate) mod administration;
pub(crate) mod routing;
mod services;

use crate::credential_hash::CredentialHash;
use crate::service::AuditLog;
use audit_domain::ProjectId;
use audit_store::CellId;
use parking_lot::Mutex;
use quick_cache::sync::Cache;
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

/// Credentials, and projects, whose cell is cached, at most.
const CACHED_PLACES_MAX: usize = 100_000;
/// How often it is logged that a project is missing in its cell.
const MISSING_LOGGED_EVERY: Duration = Duration::from_secs(60);

type Listener = Box<dyn Fn(&Arc<AuditLog>) + Send + Sync>;

/// The cells of a deployment other than the home cell, as this process knows them.
pub(crate) struct Cells {
    /// Whether there are any.
    exist: AtomicBool,
    /// How many requests were refused because the cell of their project does not have it, and when that was last logged.
    missing: AtomicU64,
    missing_logged_at: Mutex<Option<Instant>>,
    opened: Mutex<BTreeMap<CellId, Arc<Mutex<Slot>>>>,
    /// Where it is not the home cell.
    of_credentials: Cache<CredentialHash, CellId>,
    of_projects: Cache<ProjectId, CellId>,
    /// The generation of the directory from which the cached places are.
    generation: AtomicU64,
    listener: OnceLock<Listener>,
}

/// A cell of the directory.
#[derive(Default)]
struct Slot {
    service: Option<Arc<AuditLog>>,
    failed_at: Option<Instant>,
}

impl Cells {
    pub(crate) fn new(exist: bool) -> Self {
        Self {
            exist: AtomicBool::new(exist),
            missing: AtomicU64::new(0),
            missing_logged_at: Mutex::default(),
            opened: Mutex::default(),
            of_credentials: Cache::new(CACHED_PLACES_MAX),
            of_projects: Cache::new(CACHED_PLACES_MAX),
            generation: AtomicU64::new(0),
            listener: OnceLock::new(),
        }
    }

    /// The open cells.
    pub(crate) fn opened(&self) -> Vec<Arc<AuditLog>> {
        let slots: Vec<_> = self.opened.lock().values().cloned().collect();
        let service = |slot: &Arc<Mutex<Slot>>| slot.try_lock()?.service.clone();
        slots.iter().filter_map(service).collect()
    }

    /// How many requests were refused because the cell of their project does not have it, or does not have its key.
    pub(crate) fn missing(&self) -> u64 {
        self.missing.load(Ordering::Relaxed)
    }

    /// Counts a request for a project that its cell does not have, and says so once a minute.
    fn note_missing(&self, project_id: ProjectId) {
        self.missing.fetch_add(1, Ordering::Relaxed);
        let mut logged_at = self.missing_logged_at.lock();
        if logged_at.is_some_and(|at| at.elapsed() < MISSING_LOGGED_EVERY) {
            return;
        }
        *logged_at = Some(Instant::now());
        log::error!(
            "the cell of project {project_id} does not have it or one of its keys, so its server has lost commits (a failover, or an \
             older backup): such requests get 503; `audit-server log verify` lists the projects"
        );
    }

    /// Forgets the places of another generation of the directory, which may have lost them.
    fn follow_directory(&self, generation: u64) {
        if self.generation.swap(generation, Ordering::Relaxed) != generation {
            self.of_credentials.clear();
            self.of_projects.clear();
        }
    }

    fn opened_service(&self, id: CellId) -> Option<Arc<AuditLog>> {
        let slot = self.opened.lock().get(&id).cloned()?;
        slot.try_lock()?.service.clone()
    }
}
