//! The store: an open database, its pools of readers, its writers and its workers.

use crate::access::{Configurator, Reader, Writer};
use crate::append::request::{AppendOutcome, AppendRequest, Destination, NewEvent, Origin};
use crate::cells::rows::Cell;
use crate::configuration::{Deployment, Owner};
use crate::copy::record::refuse_unserved;
use crate::database::transaction::write_transaction;
use crate::database::{AnySession, Database, DatabaseUrl, Place};
use crate::error::{Result, StoreError};
use crate::head_keys::{HeadKeys, head_key};
use crate::ids::LedgerId;
use crate::ledgers::heads::Heads;
use crate::options::StoreOptions;
use crate::queue::{Queue, Ticket, Transaction, Turn, WaitingAppend};
use crate::readers::ReaderPool;
use crate::recent::RecentEvent;
use crate::replica::{Identity, LogEnd, Replica, ReplicaStatistics};
use crate::shortage::Found;
use crate::waiting;
use crate::workers::Workers;
use crate::writer::Commits;
use crate::writers::Writers;
use audit_domain::{Clock, DigestKey, IdempotencyWindow, Month, Timestamp};
use audit_ledger::{Frontier, TreeHead};
use parking_lot::Mutex;
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::ops::Range;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, mpsc};
use std::time::Instant;
use tokio::sync::{oneshot, watch};

/// Sessions for look-ups, at most.
const LOOKUP_SESSIONS_MAX: u32 = 4;

/// Counts of this process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StoreStatistics {
    /// Transactions that stored events.
    pub commits: u64,
    /// Events stored by this process.
    pub events: u64,
    /// Alerts raised by this process.
    pub alerts: u64,
    /// Alerts that this process did not raise, because their project had too many in one minute.
    pub suppressed_alerts: u64,
    /// Requests and transactions in the write queue.
    pub queue_depth: usize,
    /// Stored events that a rebuild of the index has not reached yet. Queries find them, slowly.
    pub events_to_rebuild: u64,
    /// Memory of the filters of idempotency keys of earlier months on PostgreSQL, in bytes.
    pub key_filter_bytes: u64,
}

impl StoreStatistics {
    /// The sums.
    #[must_use]
    pub const fn plus(self, other: Self) -> Self {
        Self {
            commits: self.commits + other.commits,
            events: self.events + other.events,
            alerts: self.alerts + other.alerts,
            suppressed_alerts: self.suppressed_alerts + other.suppressed_alerts,
            queue_depth: self.queue_depth + other.queue_depth,
            events_to_rebuild: self.events_to_rebuild + other.events_to_rebuild,
            key_filter_bytes: self.key_filter_bytes + other.key_filter_bytes,
        }
    }
}

/// The audit log's storage. Share it by reference; [`Store::close`] ends its threads.
pub struct Store {
    queue: Arc<Queue>,
    commits: Arc<Commits>,
    database: Arc<Database>,
    options: StoreOptions,
    heads: Arc<Heads>,
    /// For look-ups by key, which take microseconds: credentials and configuration.
    lookups: ReaderPool,
    /// For queries over events, which can take long and must not delay look-ups.
    readers: ReaderPool,
    /// For the same, where there is one.
    replica: Option<Replica>,
    threads: Mutex<Threads>,
    /// For what was erased up to a time, where the unused space of SQLite's files is overwritten next.
    overwriting: Mutex<BTreeMap<Timestamp, Place>>,
}

/// The threads of an open store.
struct Threads {
    writers: Writers,
    workers: Workers,
}

impl Store {
    /// Opens the database, bringing its schema up to date first.
    ///
    /// # Errors
    /// [`StoreError::Unreachable`] when there is no database to open, [`StoreError::NewerSchema`] when a newer version of
    /// the program has created it, [`StoreError::UnfinishedCopy`] and [`StoreError::Moved`] when it may not be served.
    pub fn open(
        url: &DatabaseUrl,
        options: StoreOptions,
        keys: &dyn HeadKeys,
        clock: &Arc<dyn Clock>,
    ) -> Result<Self> {
        let database = Arc::new(Database::open(url, &options, clock)?);
        refuse_unserved(&mut database.open_writer()?)?;
        let heads = Arc::new(Heads::new(
            head_key(&database, keys, clock)?,
            options.unsigned_max,
        ));
        database.set_heads(Arc::clone(&heads));
        let queue = Arc::new(Queue::new(options.queue));
        let commits = Arc::new(Commits::new(&heads, clock));
        let count = database.writers(&options);
        let writers = Writers::start(&database, &commits, &queue, count, options.write_timeout)?;
        let workers = database.start_workers(&options, clock)?;
        Ok(Self {
            queue,
            commits,
            lookups: ReaderPool::open(&database, LOOKUP_SESSIONS_MAX, options.session_wait)?,
            readers: ReaderPool::open(&database, options.readers_max, options.session_wait)?,
            replica: None,
            database,
            options,
            heads,
            threads: Mutex::new(Threads { writers, workers }),
            overwriting: Mutex::default(),
        })
    }

    /// Serves event queries and summaries from a standby when it is caught up. It need not be reachable.
    ///
    /// # Errors
    /// [`StoreError::Unsupported`] on SQLite.
    pub fn with_replica(mut self, url: &DatabaseUrl) -> Result<Self> {
        if !self.database.can_have_standbys() {
            return Err(StoreError::Unsupported("SQLite has no standbys".to_owned()));
        }
        let identity = self.read(|reader| Identity::of(reader.session()))?;
        self.replica = Some(Replica::new(url, self.options.readers_max, identity)?);
        Ok(self)
    }

    /// Fails when [`Self::append`] would refuse a request now whose body has so many bytes. Before the events are prepared: of an
    /// organization that floods the queue, no request is to be parsed, redacted and hashed only to be refused.
    ///
    /// # Errors
    /// [`StoreError::Overloaded`], or why the queue takes nothing.
    pub fn check_room(&self, destination: &Destination, body_bytes: usize) -> Result<()> {
        self.heads.unsigned.check(destination.ledger_id)?;
        self.queue
            .check_room(Owner::Organization(destination.organization_id), body_bytes)
    }

    /// Appends the events of one request, except repeats; on an error, none, unless it is [`StoreError::OutcomeUnknown`].
    /// They are in the queue when this returns. The future resolves after the commit, or after
    /// [`StoreOptions::write_timeout`], and needs the timer of a tokio runtime.
    ///
    /// # Errors
    /// [`StoreError::Overloaded`], [`StoreError::Stale`], [`StoreError::DailyLimit`], [`StoreError::ForgedHead`],
    /// [`StoreError::Unsigned`], [`StoreError::OutcomeUnknown`], or the database's own.
    pub fn append(
        &self,
        destination: Destination,
        events: Vec<NewEvent>,
    ) -> impl Future<Output = AppendOutcome> {
        let pushed = self.push(destination, events, Origin::Sent);
        async move {
            let (ticket, mut outcome) = pushed?;
            match tokio::time::timeout(self.options.write_timeout, &mut outcome).await {
                Ok(outcome) => outcome.unwrap_or_else(|_| Err(abandoned())),
                Err(_) => self.expired(ticket, &mut outcome),
            }
        }
    }

    /// [`Self::append`] for callers that may block.
    ///
    /// # Errors
    /// As [`Self::append`].
    pub fn append_blocking(&self, destination: Destination, events: Vec<NewEvent>) -> AppendOutcome {
        self.append_of(Origin::Sent, destination, events)
    }

    /// Appends the service's own events. They use up no daily limit. Blocks.
    ///
    /// # Errors
    /// As [`Self::append`].
    pub fn append_service_blocking(&self, destination: Destination, events: Vec<NewEvent>) -> AppendOutcome {
        self.append_of(Origin::Service, destination, events)
    }

    fn append_of(&self, origin: Origin, destination: Destination, events: Vec<NewEvent>) -> AppendOutcome {
        let (ticket, mut outcome) = self.push(destination, events, origin)?;
        match waiting::wait_at_most(&mut outcome, self.options.write_timeout) {
            Some(outcome) => outcome.unwrap_or_else(|_| Err(abandoned())),
            None => self.expired(ticket, &mut outcome),
        }
    }

    /// The outcome of a request whose time has passed.
    fn expired(&self, ticket: Ticket, outcome: &mut oneshot::Receiver<AppendOutcome>) -> AppendOutcome {
        if self.queue.withdraw(ticket) {
            return Err(StoreError::Unreachable(format!(
                "no writer took the request within {} s; it was withdrawn",
                self.options.write_timeout.as_secs()
            )));
        }
        outcome.try_recv().unwrap_or_else(|_| Err(self.unconfirmed()))
    }

    fn unconfirmed(&self) -> StoreError {
        StoreError::OutcomeUnknown(format!(
            "no response within {} s",
            self.options.write_timeout.as_secs()
        ))
    }

    fn push(
        &self,
        destination: Destination,
        events: Vec<NewEvent>,
        origin: Origin,
    ) -> Result<(Ticket, oneshot::Receiver<AppendOutcome>)> {
        self.heads.unsigned.check(destination.ledger_id)?;
        let (waiting, outcome) = WaitingAppend::new(AppendRequest::new(destination, events, origin));
        Ok((self.queue.push_append(waiting)?, outcome))
    }

    /// Runs a look-up, which takes microseconds. Blocks, and never waits for a writer.
    ///
    /// # Errors
    /// Those of `work`, and [`StoreError::Unreachable`] when no session is available.
    pub fn read<T, E: From<StoreError>>(
        &self,
        work: impl FnMut(&mut Reader<'_>) -> Result<T, E>,
    ) -> Result<T, E> {
        self.lookups.read(work)
    }

    /// Runs a query over events. Blocks, and never waits for a writer.
    ///
    /// # Errors
    /// As [`Self::read`].
    pub fn query<T, E: From<StoreError>>(
        &self,
        work: impl FnMut(&mut Reader<'_>) -> Result<T, E>,
    ) -> Result<T, E> {
        self.readers.read(work)
    }

    /// How long an idempotency key is known.
    pub const fn idempotency_window(&self) -> IdempotencyWindow {
        self.options.idempotency_window
    }

    /// Whether queries may read a standby.
    pub const fn has_replica(&self) -> bool {
        self.replica.is_some()
    }

    /// Reads a ledger whose log ended at `end` when the request began, from the standby if it has the log. Blocks.
    ///
    /// # Errors
    /// As [`Self::read`].
    pub fn query_ledger<T>(
        &self,
        ledger_id: LedgerId,
        end: &LogEnd,
        work: impl Fn(&mut Reader<'_>) -> Result<T>,
    ) -> Result<T> {
        let replica = self.replica.as_ref();
        let found = replica.and_then(|replica| replica.serve(ledger_id, end, &self.lookups, &work));
        found.map_or_else(|| self.query(work), Ok)
    }

    /// Outcomes of the queries that a standby could have served.
    pub fn replica_statistics(&self) -> ReplicaStatistics {
        let statistics = self.replica.as_ref().map(Replica::statistics);
        statistics.unwrap_or_default()
    }

    /// Writes data that no node caches, such as the time of a key's last use, in one transaction. Blocks.
    ///
    /// # Errors
    /// Those of `work`, which roll everything back, and those of the database.
    pub fn write<T, E>(
        &self,
        work: impl FnOnce(&mut Writer<'_>) -> Result<T, E> + Send + 'static,
    ) -> Result<T, E>
    where
        T: Send + 'static,
        E: From<StoreError> + Send + 'static,
    {
        self.write_for(Deployment, work)
    }

    /// [`Self::write`] on behalf of `owner`, or of [`crate::AnonymousStreams`]: the transactions of owners take turns.
    ///
    /// # Errors
    /// As [`Self::write`].
    pub fn write_for<T, E>(
        &self,
        owner: impl Into<Turn>,
        work: impl FnOnce(&mut Writer<'_>) -> Result<T, E> + Send + 'static,
    ) -> Result<T, E>
    where
        T: Send + 'static,
        E: From<StoreError> + Send + 'static,
    {
        self.transaction(owner, move |session| work(&mut Writer::new(session)))
    }

    /// Changes the configuration of `owner` in one transaction: a `ProjectId`, an `OrganizationId` or the
    /// [`crate::Deployment`]. Transactions of one owner run one at a time. After the commit, no node uses the owner's earlier
    /// configuration. Blocks.
    ///
    /// # Errors
    /// As [`Self::write`].
    pub fn configure<O, T, E>(
        &self,
        owner: O,
        work: impl FnOnce(&mut Configurator<'_, O>) -> Result<T, E> + Send + 'static,
    ) -> Result<T, E>
    where
        O: Copy + Into<Owner> + Send + 'static,
        T: Send + 'static,
        E: From<StoreError> + Send + 'static,
    {
        self.transaction(owner, move |session| {
            owner.into().lock(session)?;
            let mut configurator = Configurator::new(session, owner);
            let outcome = work(&mut configurator)?;
            configurator.finish()?;
            Ok(outcome)
        })
    }

    /// Runs a transaction on a writing thread. Waits as long as an append does.
    fn transaction<T, E>(
        &self,
        owner: impl Into<Turn>,
        work: impl FnOnce(&mut AnySession) -> Result<T, E> + Send + 'static,
    ) -> Result<T, E>
    where
        T: Send + 'static,
        E: From<StoreError> + Send + 'static,
    {
        let (reply, receiver) = mpsc::sync_channel(1);
        // Set by the first of two: the writer that begins the transaction, and the caller that no longer waits for it.
        let is_decided = Arc::new(AtomicBool::new(false));
        let decided = Arc::clone(&is_decided);
        let run: Transaction = Box::new(move |session| {
            if decided.swap(true, Ordering::AcqRel) {
                return true;
            }
            let outcome = match session {
                Ok(session) => write_transaction(session, work),
                Err(error) => Err(error.into()),
            };
            let is_done = outcome.is_ok();
            if reply.send(outcome).is_err() {
                log::debug!("the caller of a transaction does not wait for its result");
            }
            is_done
        });
        self.queue.push_transaction(owner, run)?;
        match receiver.recv_timeout(self.options.write_timeout) {
            Ok(outcome) => outcome,
            Err(mpsc::RecvTimeoutError::Disconnected) => Err(abandoned().into()),
            Err(mpsc::RecvTimeoutError::Timeout) => Err(match is_decided.swap(true, Ordering::AcqRel) {
                true => self.unconfirmed().into(),
                false => StoreError::Unreachable("no writer took the transaction in time".to_owned()).into(),
            }),
        }
    }

    /// A key for digests of requests, the same on every node: derived from the key of the heads.
    pub fn digest_key(&self) -> DigestKey {
        DigestKey::new(self.heads.key().code_of_record("audit digest key 1", b""))
    }

    /// Opens the store of a cell of this directory with the options of this one, bringing its schema up to date first.
    ///
    /// # Errors
    /// As [`Self::open`], and [`StoreError::CellsUnsupported`] on SQLite.
    pub fn open_cell(&self, cell: &Cell, clock: &Arc<dyn Clock>) -> Result<Self> {
        let url = self.cell_url(cell.schema.as_deref())?;
        let options = StoreOptions {
            postgres_groups: None,
            ..self.options
        };
        let store = Self::open(&url, options, self.heads.key(), clock)?;
        match &self.replica {
            // It has the same schemas, unless Citus has placed the tables on another server.
            Some(replica) if store.location().is_none() => {
                store.with_replica(&cell.database_url(replica.url())?)
            }
            _ => Ok(store),
        }
    }

    /// Asks Citus to place the schema of this cell on one of its servers, with all tables. Returns `false`, and does nothing, where the
    /// database does not have Citus. Call it on a store that is closed, before others open the cell.
    ///
    /// # Errors
    /// When Citus refuses it.
    pub fn distribute(&self) -> Result<bool> {
        self.database.distribute()
    }

    /// The server that has the tables of this cell, as host and port, if Citus has placed them.
    pub fn location(&self) -> Option<String> {
        self.database.location()
    }

    /// Whether the database can have cells: only PostgreSQL has them.
    pub fn can_have_cells(&self) -> bool {
        self.database.cell_url(None).is_some()
    }

    /// Changes when a pool or a writer opens a session of the database, as it does after one was lost. The database may have gone back to
    /// an earlier state then: a server that fails over, or is restored, ends all sessions.
    pub fn generation(&self) -> u64 {
        self.database.sessions().unwrap_or_default()
    }

    /// The URL of a cell of this directory.
    ///
    /// # Errors
    /// [`StoreError::CellsUnsupported`] on SQLite.
    pub fn cell_url(&self, schema: Option<&str>) -> Result<DatabaseUrl> {
        let url = self.database.cell_url(schema);
        url.ok_or(StoreError::CellsUnsupported)
    }

    /// Fails unless the database accepts writes and responds within a second. Waits for no append and commits nothing, except on
    /// SQLite after a write that failed because of the disk: then a small commit is tried, once a second.
    ///
    /// # Errors
    /// [`StoreError::Unreachable`], and [`StoreError::Stopped`] when the store is closed.
    pub fn check_writable(&self) -> Result<()> {
        self.queue.check_open()?;
        self.check_shortage()?;
        match self.database.check_writable() {
            Some(found) => found,
            None => self.read(|reader| reader.deployment_version().map(drop)),
        }
    }

    /// Fails if the machine of the database let the last write fail.
    fn check_shortage(&self) -> Result<()> {
        let shortage = &self.commits.shortage;
        // A probe of a database that can hang could take longer than callers wait.
        match shortage.found(!self.database.can_hang(), Instant::now()) {
            Found::Nothing => Ok(()),
            Found::Failed(reason) => Err(StoreError::Unreachable(reason)),
            Found::Probe => {
                let probe = self.configure(Deployment, |configurator| configurator.session().map(drop));
                probe.map_err(|error: StoreError| StoreError::Unreachable(error.to_string()))?;
                log::info!("the database takes writes again");
                shortage.succeeded();
                Ok(())
            }
        }
    }

    /// Gives space of removed events back to the system, in steps. Returns whether there is more to do. On SQLite a step is some
    /// milliseconds of the writer, while more than a quarter of the file is free. On PostgreSQL one month is a step: one without events is
    /// dropped, and one that has lost three tenths of them is written anew, which can take minutes and delays nobody. Blocks.
    ///
    /// With `erased`, no file has what was erased up to that time once it returns `false`: on PostgreSQL each of these months that was not
    /// written anew since is a step, whatever it has lost, but for the newest two and those in which idempotency keys are looked up; on
    /// SQLite what rows have left in pages is overwritten, and the write-ahead logs of database and index are emptied at the end.
    ///
    /// # Errors
    /// As [`Self::write`]; [`StoreError::InUse`] while other sessions use the events on PostgreSQL all the time, and some minutes
    /// longer, or read SQLite's files.
    pub fn give_back_space(&self, months: &BTreeSet<Month>, erased: Option<Timestamp>) -> Result<bool> {
        let now = self.commits.clock.now();
        if let Some(outcome) = self.database.give_back_space(months, now, erased) {
            return outcome;
        }
        if self.transaction(Deployment, AnySession::give_back_pages)? {
            return Ok(true);
        }
        let Some(erased) = erased else {
            return Ok(false);
        };
        let place = self.overwriting.lock().get(&erased).copied();
        let place = place.unwrap_or(Place::FIRST);
        if let Some(next) = self.database.overwrite_unused(place)? {
            self.overwriting.lock().insert(erased, next);
            return Ok(true);
        }
        self.database.empty_logs()?;
        self.overwriting.lock().remove(&erased);
        Ok(false)
    }

    /// Calls `listener` after each commit of this process that adds deliveries, or alerts that still need some.
    ///
    /// # Errors
    /// [`StoreError::Duplicate`] when a listener is set already.
    pub fn on_deliveries(&self, listener: impl Fn() + Send + Sync + 'static) -> Result<()> {
        self.commits.set_listener(Box::new(listener))
    }

    /// The ledgers that this process may have extended since the last call. Their commits have ended.
    pub fn take_extended_ledgers(&self) -> BTreeSet<LedgerId> {
        self.heads.unsigned.take_grown()
    }

    /// Whether commits of this process have grown the tree with the head `earlier` into `later`, and it still knows that. Reads nothing.
    pub fn has_grown_tree(&self, ledger_id: LedgerId, earlier: &TreeHead, later: &Frontier) -> bool {
        self.commits.recent_trees.have_grown(ledger_id, earlier, later)
    }

    /// Makes [`Self::has_grown_tree`] forget the trees of a ledger that are smaller than `size`.
    pub fn forget_smaller_trees(&self, ledger_id: LedgerId, size: u64) {
        self.commits.recent_trees.forget_smaller(ledger_id, size);
    }

    /// Keeps the events of a ledger that this process commits from now on, for [`Self::take_recent_events`].
    pub fn keep_recent_events(&self, ledger_id: LedgerId) {
        self.commits.recent.keep(ledger_id);
    }

    /// The events of a ledger at these positions, if this process has committed all of them and has them in memory. Each is returned
    /// once. They may be events that the database has lost in a failover.
    pub fn take_recent_events(&self, ledger_id: LedgerId, seqs: Range<u64>) -> Option<VecDeque<RecentEvent>> {
        self.commits.recent.take(ledger_id, seqs)
    }

    /// Makes [`Self::take_extended_ledgers`] return these ledgers again.
    pub fn return_extended_ledgers(&self, ledger_ids: impl IntoIterator<Item = LedgerId>) {
        self.heads.unsigned.note_grown(ledger_ids);
    }

    /// Notes that a ledger was signed with the events that it had when [`Self::take_extended_ledgers`] returned it: it takes events.
    pub fn note_signed(&self, ledger_id: LedgerId) {
        self.heads.unsigned.note_signed(ledger_id);
    }

    /// Notes that a ledger had this many events, which were acknowledged, when it could not be signed: with fewer, it takes no
    /// events ([`StoreError::Unsigned`]).
    pub fn note_size(&self, ledger_id: LedgerId, size: u64) {
        self.heads.unsigned.note_size(ledger_id, size);
    }

    /// Notes that a ledger is not signed, because it does not continue what was signed or acknowledged: it takes no events when
    /// [`StoreOptions::unsigned_max`] has passed, or with `stops_now` from now on, until [`Self::note_signed`].
    pub fn note_refused(&self, ledger_id: LedgerId, stops_now: bool) {
        self.heads.unsigned.note_refused(ledger_id, stops_now);
    }

    /// Follows the size of a ledger. Commits of this process update it at once, [`Self::look_for_arrivals`] updates it for
    /// those of other processes; it is 0 before the first update.
    pub fn arrivals(&self, ledger_id: LedgerId) -> watch::Receiver<u64> {
        self.commits.arrivals.subscribe(ledger_id)
    }

    /// Queries the sizes of the followed ledgers, because other processes may have written to them. Blocks.
    ///
    /// # Errors
    /// When the database cannot be queried.
    pub fn look_for_arrivals(&self) -> Result<()> {
        self.read(|reader| self.commits.arrivals.query(reader.session()))
    }

    /// How many queries over events can run concurrently.
    pub fn readers_max(&self) -> u32 {
        self.readers.sessions_max()
    }

    /// The number of ledgers whose heads were found not to be written by the service.
    pub fn forged_heads(&self) -> usize {
        self.heads.forged()
    }

    /// How often the row of an idempotency key, a tile or a removal was found that the service did not write.
    pub fn row_alarms(&self) -> u64 {
        self.heads.row_alarms()
    }

    /// Counts of this process.
    pub fn statistics(&self) -> StoreStatistics {
        let counts = self.commits.counts();
        StoreStatistics {
            commits: counts.commits,
            events: counts.events,
            alerts: counts.alerts,
            suppressed_alerts: counts.suppressed_alerts,
            queue_depth: self.queue.depth(),
            events_to_rebuild: self.database.events_to_rebuild(),
            key_filter_bytes: self.database.key_filter_bytes(),
        }
    }

    /// Waits until a rebuild of the index has finished. Queries and appends need not wait. Blocks.
    pub fn wait_for_rebuild(&self) {
        self.database.wait_for_rebuild();
    }

    /// Refuses further writes, and returns when the waiting ones are committed.
    pub fn close(&self) {
        let Threads { writers, workers } = &mut *self.threads.lock();
        // Before the writers may end: SQLite's last one empties the write-ahead log, which fails beside another checkpoint.
        workers.end_first();
        self.queue.close();
        writers.close();
        workers.end_last();
    }
}

impl Drop for Store {
    fn drop(&mut self) {
        self.close();
    }
}

/// The error of work whose writer ended without reporting an outcome.
fn abandoned() -> StoreError {
    StoreError::OutcomeUnknown("the writer ended in a panic".to_owned())
}
