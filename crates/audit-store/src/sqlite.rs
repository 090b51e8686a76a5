//! The store on embedded SQLite: one writer, which holds the whole database while it writes.
//!
//! Events are stored in the order of the log (`entry.rs`), so a commit appends to the end of the file. The order of time
//! is a narrow table (`event_times`). The index is a file of its own (`index.rs`).

pub(crate) mod append;
pub(crate) mod backup;
pub(crate) mod connection;
pub(crate) mod copy;
mod entry;
mod event_ids;
pub(crate) mod events;
mod index;
pub(crate) mod index_verification;
pub(crate) mod inspection;
mod key_filter;
pub(crate) mod key_uses;
mod keys;
mod read_only;
pub(crate) mod removals;
mod rows;
mod schema;
mod seen_keys;
pub(crate) mod senders;
pub(crate) mod space;
mod statements;
pub(crate) mod status;
pub(crate) mod streams;
pub(crate) mod tree;
mod wal;

use crate::append::known_senders::KnownSenders;
use crate::database::session::Session;
use crate::error::{Result, StoreError};
use crate::ids::LedgerId;
use crate::ledgers::actions::KnownActions;
use crate::ledgers::heads::Heads;
use crate::migrate;
use crate::options::StoreOptions;
use crate::search::CACHED_BYTES_MAX;
use crate::signal::{Progress, Rebuild, Signal};
use crate::tree::partial_tiles::PartialTiles;
use crate::workers::{Worker, Workers};
use audit_domain::IdempotencyWindow;
use audit_index::BlockCache;
use connection::Purpose;
use diesel::SqliteConnection;
use event_ids::IdProbes;
use index::backlog::{BacklogCommits, BacklogEntry, WriterBacklog};
use index::indexer::Indexer;
use seen_keys::SeenKeys;
use space::Place;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};
use wal::{Checkpointer, Stage, WalWatch};

/// Page cache of a connection that overwrites unused space, in KiB.
const OVERWRITING_CACHE_KIB: u32 = 1024;

/// A connection with the cached state of its database.
pub(crate) type SqliteSession = Session<SqliteConnection, Memory>;

/// The cached state of a session.
#[derive(Default)]
pub(crate) struct Memory {
    pub(crate) shared: Arc<Shared>,
    pub(crate) appends: AppendMemory,
    /// The ledgers to which transactions have appended since [`crate::writer::WriterThread`] last took them.
    pub(crate) extended: BTreeSet<LedgerId>,
    /// Whether a commit failed so that it may be stored or not: the session must not be used any more.
    pub(crate) is_doubtful: bool,
}

/// The cached state that all sessions of the process share.
pub(crate) struct Shared {
    /// The heads that the process may continue; none in a process that only reads.
    heads: OnceLock<Arc<Heads>>,
    /// Cached blocks of the index.
    blocks: BlockCache,
    /// Cached commits of the backlog.
    backlog: BacklogCommits,
    /// Cached probes of searches by id.
    id_probes: IdProbes,
    /// The progress of the indexer. The position is the last indexed commit.
    pub(crate) progress: Arc<Signal<Progress>>,
    /// The events that a rebuild of the index has not indexed yet.
    pub(crate) rebuild: Signal<Rebuild>,
    /// The stage of the write-ahead log's checkpoint.
    wal: Arc<Signal<Stage>>,
    /// The window in which an idempotency key is known.
    pub(crate) window: IdempotencyWindow,
}

impl Default for Shared {
    fn default() -> Self {
        Self {
            heads: OnceLock::new(),
            blocks: BlockCache::new(CACHED_BYTES_MAX),
            backlog: BacklogCommits::default(),
            id_probes: IdProbes::default(),
            progress: Arc::default(),
            rebuild: Signal::default(),
            wal: Arc::default(),
            window: IdempotencyWindow::default(),
        }
    }
}

impl Shared {
    /// The heads that the process may continue.
    pub(crate) fn heads(&self) -> Result<Arc<Heads>> {
        let heads = self.heads.get().map(Arc::clone);
        heads.ok_or_else(|| {
            StoreError::HeadKey("the store was opened without the key of the heads".to_owned())
        })
    }

    /// Sets the key of the heads, once.
    pub(crate) fn set_heads(&self, heads: Arc<Heads>) {
        // A second call has the same key.
        self.heads.get_or_init(|| heads);
    }
}

/// The state that the writing session caches between commits. All of it can be read again from the database.
#[derive(Default)]
pub(crate) struct AppendMemory {
    /// `None` in a session that looks up every key.
    keys: Option<SeenKeys>,
    actions: KnownActions,
    senders: KnownSenders,
    partial_tiles: Arc<PartialTiles>,
    backlog: WriterBacklog,
    wal: WalWatch,
    /// The backlog entry of the transaction in progress.
    pending: Option<BacklogEntry>,
}

fn require_file(path: &Path, missing: &str) -> Result<()> {
    match path.exists() {
        true => Ok(()),
        false => Err(StoreError::Unreachable(format!("{}: {missing}", path.display()))),
    }
}

/// An open database.
pub(crate) struct Database {
    path: PathBuf,
    pub(crate) shared: Arc<Shared>,
}

impl Database {
    /// Opens the database at `path`, creating it if it does not exist, and its index.
    pub(crate) fn open(path: &Path, options: &StoreOptions) -> Result<Self> {
        let mut connection = connection::connect(path, Purpose::Prepare)?;
        space::require_page_table(&mut connection)?;
        connection::checkpoint_at_start(&mut connection);
        migrate::sqlite(&mut connection)?;
        space::warn_if_not_overwritten(&mut connection, path)?;
        let shared = Shared {
            window: options.idempotency_window,
            ..Shared::default()
        };
        if let Some(events) = index::prepare(path, &mut connection)? {
            shared.rebuild.begin(events);
        }
        Ok(Self {
            path: path.to_owned(),
            shared: Arc::new(shared),
        })
    }

    /// The existing database at `path`, which is not prepared for the service.
    pub(crate) fn existing(path: &Path) -> Result<Self> {
        require_file(path, "there is no such database")?;
        Ok(Self {
            path: path.to_owned(),
            shared: Arc::default(),
        })
    }

    /// Fails if there is no index.
    pub(crate) fn require_index(&self) -> Result<()> {
        let missing = "the index file does not exist; the next start of the server rebuilds it";
        require_file(&index::file::path(&self.path), missing)
    }

    fn session(&self, purpose: Purpose, appends: AppendMemory) -> Result<SqliteSession> {
        let connection = connection::connect(&self.path, purpose)?;
        Ok(self.session_of(connection, appends))
    }

    fn session_of(&self, connection: SqliteConnection, appends: AppendMemory) -> SqliteSession {
        Session {
            connection,
            memory: Memory {
                shared: Arc::clone(&self.shared),
                appends,
                extended: BTreeSet::new(),
                is_doubtful: false,
            },
        }
    }

    /// Opens a session that changes nothing and has no index.
    pub(crate) fn open_inspector(&self) -> Result<SqliteSession> {
        let connection = read_only::connect_read_only(&self.path)?;
        Ok(self.session_of(connection, AppendMemory::default()))
    }

    pub(crate) fn open_reader(&self) -> Result<SqliteSession> {
        self.session(Purpose::Read, AppendMemory::default())
    }

    pub(crate) fn open_writer(&self) -> Result<SqliteSession> {
        let appends = AppendMemory {
            keys: Some(SeenKeys::new(self.shared.window)),
            ..AppendMemory::default()
        };
        self.session(Purpose::Write, appends)
    }

    /// [`space::overwrite_unused`] of the database and then of the index. Returns the place of the next step; `None` at the end.
    pub(crate) fn overwrite_unused(&self, place: Place) -> Result<Option<Place>> {
        let mut connection = match place.is_index {
            false => connection::open_to_copy(&self.path, OVERWRITING_CACHE_KIB)?,
            true => index::connect_again(&self.path)?,
        };
        let next = space::overwrite_unused(&mut connection, place.last_page)?;
        Ok(match next {
            Some(last_page) => Some(Place { last_page, ..place }),
            None => (!place.is_index).then_some(Place {
                is_index: true,
                last_page: space::LAST_PAGE,
            }),
        })
    }

    /// Moves the write-ahead logs of the database and of the index into their files, and empties them.
    pub(crate) fn empty_logs(&self) -> Result<()> {
        space::empty_log(&mut connection::connect(&self.path, Purpose::Write)?)?;
        space::empty_log(&mut index::connect(&self.path)?)
    }

    /// Starts the indexer and the checkpointer.
    pub(crate) fn start_workers(&self, options: &StoreOptions) -> Result<Workers> {
        let Shared { progress, wal, .. } = &*self.shared;
        let indexer = Indexer::open(&self.path, Arc::clone(&self.shared), options.indexing_interval)?;
        // A killed process may not have indexed its last commits.
        progress.wake();
        let checkpointer = Checkpointer::open(&self.path)?;
        Ok(Workers {
            before_writers: vec![Worker::start("wal", wal, move |stage| checkpointer.run(stage))?],
            after_writers: vec![Worker::start("indexer", progress, move |progress| {
                indexer.run(progress);
            })?],
        })
    }
}
