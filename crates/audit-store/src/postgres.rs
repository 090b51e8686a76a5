//! The store on PostgreSQL: several nodes, each with a few writers, take turns on the heads of ledgers.
//!
//! An event is one row; the order of the log is the primary key of `events`. The index is in tables of the database; each
//! node indexes the events that it stored (`index.rs`).

pub(crate) mod append;
pub(crate) mod cells;
pub(crate) mod connection;
pub(crate) mod copy;
mod earlier_keys;
pub(crate) mod events;
mod groups;
mod heads;
mod index;
pub(crate) mod index_verification;
pub(crate) mod inspection;
pub(crate) mod key_uses;
mod months;
mod partitions;
pub(crate) mod place;
mod pooler;
mod readiness;
pub(crate) mod removals;
mod schema;
pub(crate) mod senders;
mod statements;
pub(crate) mod status;
pub(crate) mod streams;
mod stuck_sessions;
#[cfg(feature = "postgres-tls")]
mod tls;
pub(crate) mod tree;

use crate::append::known_senders::{KnownSenders, StoredSenders};
use crate::database::session::Session;
use crate::database::url::split_schema;
use crate::error::{Result, StoreError};
use crate::ids::LedgerId;
use crate::ledgers::actions::{KnownActions, StoredActions};
use crate::ledgers::heads::Heads;
use crate::migrate;
use crate::options::StoreOptions;
use crate::search::CACHED_BYTES_MAX;
use crate::signal::{Patience, Progress, Signal};
use crate::tree::partial_tiles::PartialTiles;
use crate::workers::{Worker, Workers};
use append::KeyLookups;
use audit_domain::{Clock, IdempotencyWindow, Month, Timestamp};
use audit_index::BlockCache;
use connection::Purpose;
use diesel::PgConnection;
use earlier_keys::{EarlierKeys, KeyReader, Requests};
use heads::KnownHeads;
use index::KnownSegments;
use index::backlog::Backlog;
use index::indexer::Indexer;
use parking_lot::Mutex;
use partitions::KnownPartitions;
use place::{Location, Place};
use readiness::Readiness;
use std::collections::BTreeSet;
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, OnceLock};
use std::time::Instant;
use stuck_sessions::StuckSessions;

/// A connection with the cached state of its database.
pub(crate) type PostgresSession = Session<PgConnection, Memory>;

/// The cached state of a session.
pub(crate) struct Memory {
    pub(crate) shared: Arc<Shared>,
    appends: AppendMemory,
    /// The ledgers to which transactions have appended since [`crate::writer::WriterThread`] last took them.
    pub(crate) extended: BTreeSet<LedgerId>,
    /// Whether the server was a standby when the session began.
    is_standby: bool,
    /// See [`connection::take_failure`].
    has_failed: Arc<AtomicBool>,
    /// The server that had the tables when the session began.
    location: Location,
}

impl Memory {
    /// Begins a commit: drops what the session caches if the commits that it is from were forgotten.
    fn begin_commit(&mut self) {
        let commits = self.shared.commits();
        if !Arc::ptr_eq(&commits, &self.appends.commits) {
            self.appends = AppendMemory {
                actions: KnownActions::shared(&commits.actions),
                senders: KnownSenders::shared(&commits.senders),
                commits,
                ..AppendMemory::default()
            };
        }
    }
}

/// The cached state that all sessions of the process share.
pub(crate) struct Shared {
    /// The server that has the tables.
    pub(crate) place: Arc<Place>,
    /// The heads that the process may continue; none in a process that only reads.
    heads: OnceLock<Arc<Heads>>,
    /// Cached blocks of the index.
    blocks: BlockCache,
    /// The segments that those blocks belong to.
    segments: KnownSegments,
    /// See [`Self::commits`].
    commits: Mutex<Arc<CommitMemory>>,
    /// The progress of the indexer. The position is the number of unindexed events of this process.
    pub(crate) progress: Arc<Signal<Progress>>,
    /// The window in which an idempotency key is known.
    window: IdempotencyWindow,
    /// The ledgers whose keys of earlier months are to be read.
    key_requests: Arc<Signal<Requests>>,
    /// Until when no space is given back, because other sessions use the partitions all the time.
    space_in_use: Mutex<Option<Instant>>,
}

impl Shared {
    fn new(url: &str) -> Self {
        Self {
            place: Arc::new(Place::new(url.to_owned())),
            heads: OnceLock::new(),
            blocks: BlockCache::new(CACHED_BYTES_MAX),
            segments: KnownSegments::default(),
            commits: Mutex::default(),
            progress: Arc::default(),
            window: IdempotencyWindow::default(),
            key_requests: Arc::default(),
            space_in_use: Mutex::default(),
        }
    }

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

    /// What the process has cached of its commits. A commit uses one of them from its beginning to its end, so that a commit
    /// to a database that has lost commits leaves nothing in the next one.
    fn commits(&self) -> Arc<CommitMemory> {
        Arc::clone(&self.commits.lock())
    }

    /// Memory of the filters of idempotency keys of earlier months.
    pub(crate) fn key_filter_bytes(&self) -> u64 {
        self.commits().earlier_keys.bytes()
    }

    /// Drops everything that is cached of the process's commits: the outcome of the last one is unknown, or the database was
    /// connected again and may have lost some of them.
    pub(crate) fn forget_commits(&self) {
        *self.commits.lock() = Arc::default();
    }
}

/// Everything that the process caches of its commits, for all its sessions. It is only replaced as a whole, so that a
/// new field is forgotten with the others.
#[derive(Default)]
struct CommitMemory {
    heads: KnownHeads,
    earlier_keys: EarlierKeys,
    actions: Arc<StoredActions>,
    senders: Arc<StoredSenders>,
    partitions: KnownPartitions,
    partial_tiles: Arc<PartialTiles>,
    /// The backlog of this process, and cached tokens of that of other nodes.
    backlog: Backlog,
}

/// The state that a writing session caches between commits. All of it can be read again from the database.
#[derive(Default)]
pub(crate) struct AppendMemory {
    /// The memory that it belongs to.
    commits: Arc<CommitMemory>,
    lookups: KeyLookups,
    actions: KnownActions,
    senders: KnownSenders,
    patience: Patience,
    /// When the session's statements were last planned again.
    planned_at: Option<Instant>,
}

/// An open database.
pub(crate) struct Database {
    pub(crate) shared: Arc<Shared>,
    readiness: Arc<Readiness>,
    stuck_sessions: Arc<StuckSessions>,
}

impl Database {
    /// Opens the database of this URL.
    pub(crate) fn open(url: &str, options: &StoreOptions, clock: &Arc<dyn Clock>) -> Result<Self> {
        pooler::refuse_shared_sessions(url)?;
        let shared = Shared {
            window: options.idempotency_window,
            ..Shared::new(url)
        };
        let (_, schema) = split_schema(url);
        let (mut connection, _) = shared.place.connect(Purpose::Migrate)?;
        migrate::postgres(&mut connection, schema)?;
        if let Some(groups) = options.postgres_groups {
            groups::set(&mut connection, groups)?;
        }
        partitions::create_ahead(&mut connection, &shared, &**clock)?;
        shared.place.follow(&mut Some(connection))?;
        Ok(Self::of(shared))
    }

    /// The existing database of this URL, which is not prepared for the service.
    pub(crate) fn existing(url: &str) -> Self {
        Self::of(Shared::new(url))
    }

    fn of(shared: Shared) -> Self {
        Self {
            readiness: Arc::new(Readiness::new(Arc::clone(&shared.place))),
            stuck_sessions: Arc::new(StuckSessions::new(Arc::clone(&shared.place))),
            shared: Arc::new(shared),
        }
    }

    /// Its URL.
    pub(crate) fn url(&self) -> &str {
        self.shared.place.url()
    }

    /// How many sessions of pools and writers this process has opened.
    pub(crate) fn sessions(&self) -> u64 {
        self.shared.place.sessions()
    }

    /// The server of Citus that has the tables, if they are distributed.
    pub(crate) fn location(&self) -> Option<String> {
        self.shared.place.location().map(|node| node.to_string())
    }

    /// Distributes the schema with Citus, if the database has it. Nothing else may use the schema.
    pub(crate) fn distribute(&self) -> Result<bool> {
        let (mut connection, _) = self.shared.place.connect(Purpose::Migrate)?;
        place::distribute(&mut connection)
    }

    fn session(&self, purpose: Purpose) -> Result<PostgresSession> {
        let (mut connection, location) = self.shared.place.connect(purpose)?;
        self.shared.place.note_session();
        let is_standby = connection::is_standby(&mut connection)?;
        let has_failed = Arc::default();
        connection::note_failures(&mut connection, &has_failed);
        Ok(Session {
            connection,
            memory: Memory {
                shared: Arc::clone(&self.shared),
                appends: AppendMemory::default(),
                extended: BTreeSet::new(),
                is_standby,
                has_failed,
                location,
            },
        })
    }

    pub(crate) fn open_reader(&self) -> Result<PostgresSession> {
        self.session(Purpose::Read)
    }

    pub(crate) fn open_writer(&self) -> Result<PostgresSession> {
        self.session(Purpose::Write)
    }

    /// [`crate::Store::give_back_space`], of the months that no event is stored in at `now`.
    pub(crate) fn give_back_space(
        &self,
        months: &BTreeSet<Month>,
        now: Timestamp,
        erased: Option<Timestamp>,
    ) -> Result<bool> {
        months::give_back(&self.shared, months, now, erased)
    }

    /// Fails unless the database accepts writes and responds within a second.
    pub(crate) fn check_writable(&self) -> Result<()> {
        self.readiness.check()
    }

    /// Ends sessions that block writers and wait for a client that hangs. Returns at once.
    pub(crate) fn end_stuck_sessions(&self) {
        self.stuck_sessions.end();
    }

    /// Starts the indexer, and the reader of idempotency keys.
    pub(crate) fn start_workers(&self, options: &StoreOptions, clock: &Arc<dyn Clock>) -> Result<Workers> {
        let progress = &self.shared.progress;
        let indexer = Indexer::new(Arc::clone(&self.shared), options.indexing_interval, clock);
        let requests = &self.shared.key_requests;
        let reader = KeyReader::new(Arc::clone(&self.shared));
        Ok(Workers {
            before_writers: vec![Worker::start("key reader", requests, move |requests| {
                reader.run(requests);
            })?],
            after_writers: vec![Worker::start("indexer", progress, move |progress| {
                indexer.run(progress);
            })?],
        })
    }
}
