//! A read replica: a standby of the database, which queries over events read when it has everything that the database had
//! when the request began.
//!
//! The head of a ledger says whether a standby has its events, so nothing needs to be known of positions in the
//! write-ahead log, and a client of any node finds what it has stored through any other. The size alone would not do: after a
//! failover that lost commits, a standby that was not rebuilt has other events at the end of the log.

use crate::access::Reader;
use crate::database::url::of_standby;
use crate::database::{AnySession, Database, DatabaseUrl};
use crate::error::{Result, StoreError};
use crate::head_keys::HEAD_KEY_ID;
use crate::ids::LedgerId;
use crate::readers::ReaderPool;
use crate::schema::ledgers;
use diesel::prelude::*;
use parking_lot::Mutex;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

/// How long a query waits for the standby to replay what the database had committed.
const CATCH_UP_MAX: Duration = Duration::from_millis(100);
/// How often it looks meanwhile.
const CATCH_UP_INTERVAL: Duration = Duration::from_millis(5);
/// How long a standby is left alone after it failed, or did not catch up: each query would wait for it, and hold a session.
const REST: Duration = Duration::from_secs(10);

/// Outcomes of the queries that a replica could have served.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ReplicaStatistics {
    /// It served them.
    pub served: u64,
    /// It did not have all events yet, or had not caught up shortly before, so the database served them.
    pub behind: u64,
    /// It failed or had failed shortly before, so the database served them.
    pub failed: u64,
}

impl ReplicaStatistics {
    /// The sums.
    #[must_use]
    pub const fn plus(self, other: Self) -> Self {
        Self {
            served: self.served + other.served,
            behind: self.behind + other.behind,
            failed: self.failed + other.failed,
        }
    }
}

/// What tells two deployments apart: the id of the key of their heads, which is chosen at the first start, and its time in
/// microseconds.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Identity(Option<(Vec<u8>, i64)>);

impl Identity {
    pub(crate) fn of(session: &mut AnySession) -> Result<Self> {
        Ok(Self(Reader::new(session).dated_secret(HEAD_KEY_ID)?))
    }
}

/// The log of a ledger as a request finds it in the database: what a standby must have to serve the request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LogEnd {
    size: u64,
    /// The right edge of the tree, encoded.
    edge: Vec<u8>,
}

impl LogEnd {
    /// The end of a log of `size` events with this right edge.
    pub(crate) fn new(size: i64, edge: Option<Vec<u8>>) -> Self {
        Self {
            size: size.cast_unsigned(),
            edge: edge.unwrap_or_default(),
        }
    }
}

/// Why a standby does not serve a query.
#[derive(Clone, Copy, Debug)]
enum Refusal {
    Behind,
    Failed,
}

/// A standby and its sessions.
pub(crate) struct Replica {
    url: DatabaseUrl,
    readers: ReaderPool,
    /// That of the database.
    identity: Identity,
    is_same: AtomicBool,
    rest: Mutex<Option<Rest>>,
    served: AtomicU64,
    behind: AtomicU64,
    failed: AtomicU64,
}

/// The time in which a standby is left alone.
#[derive(Clone, Copy)]
struct Rest {
    until: Instant,
    reason: Refusal,
}

impl Replica {
    /// A replica of the database with this identity. Connects when it is used.
    pub(crate) fn new(url: &DatabaseUrl, sessions_max: u32, identity: Identity) -> Result<Self> {
        let url = of_standby(url);
        let database = Arc::new(Database::existing(&url)?);
        Ok(Self {
            url,
            readers: ReaderPool::open_later(&database, sessions_max),
            identity,
            is_same: AtomicBool::new(false),
            rest: Mutex::default(),
            served: AtomicU64::new(0),
            behind: AtomicU64::new(0),
            failed: AtomicU64::new(0),
        })
    }

    pub(crate) const fn url(&self) -> &DatabaseUrl {
        &self.url
    }

    pub(crate) fn statistics(&self) -> ReplicaStatistics {
        ReplicaStatistics {
            served: self.served.load(Ordering::Relaxed),
            behind: self.behind.load(Ordering::Relaxed),
            failed: self.failed.load(Ordering::Relaxed),
        }
    }

    /// What `read` returns, if the replica has all events of the log that ends here. `database` has the log itself. Blocks.
    pub(crate) fn serve<T>(
        &self,
        ledger_id: LedgerId,
        end: &LogEnd,
        database: &ReaderPool,
        read: impl Fn(&mut Reader<'_>) -> Result<T>,
    ) -> Option<T> {
        let rest = *self.rest.lock();
        if let Some(rest) = rest.filter(|rest| Instant::now() < rest.until) {
            self.count(rest.reason);
            return None;
        }
        match self.read(ledger_id, end, database, read) {
            Ok(Some(found)) => {
                if self.rest.lock().take().is_some() {
                    log::info!("queries use the replica {} again", self.url);
                }
                self.served.fetch_add(1, Ordering::Relaxed);
                Some(found)
            }
            Ok(None) => {
                self.leave_alone(Refusal::Behind, "it is behind");
                None
            }
            Err(error) => {
                self.leave_alone(Refusal::Failed, &error.to_string());
                None
            }
        }
    }

    fn count(&self, reason: Refusal) {
        let counter = match reason {
            Refusal::Behind => &self.behind,
            Refusal::Failed => &self.failed,
        };
        counter.fetch_add(1, Ordering::Relaxed);
    }

    /// Counts a refused query, and has the next ones use the database without a look at the replica.
    fn leave_alone(&self, reason: Refusal, error: &str) {
        self.count(reason);
        let until = Instant::now() + REST;
        if self.rest.lock().replace(Rest { until, reason }).is_none() {
            log::warn!(
                "queries use the database itself: the replica {}: {error}",
                self.url
            );
        }
    }

    fn read<T>(
        &self,
        ledger_id: LedgerId,
        end: &LogEnd,
        database: &ReaderPool,
        read: impl Fn(&mut Reader<'_>) -> Result<T>,
    ) -> Result<Option<T>> {
        self.readers.read(|reader| {
            self.check_same(reader.session())?;
            let began = Instant::now();
            let found = loop {
                match log_end(reader.session(), ledger_id)? {
                    Some(found) if found.size >= end.size => break found,
                    _ if began.elapsed() >= CATCH_UP_MAX => return Ok(None),
                    _ => thread::sleep(CATCH_UP_INTERVAL),
                }
            };
            if !continues(reader, ledger_id, &found, end, database)? {
                let reason = "it has events that the database does not have: rebuild it".to_owned();
                return Err(StoreError::Unsupported(reason));
            }
            read(reader).map(Some)
        })
    }

    /// Refuses a server that has another database.
    fn check_same(&self, session: &mut AnySession) -> Result<()> {
        if self.is_same.load(Ordering::Relaxed) {
            return Ok(());
        }
        if Identity::of(session)? != self.identity {
            let reason = "it is not a standby of this database".to_owned();
            return Err(StoreError::Unsupported(reason));
        }
        self.is_same.store(true, Ordering::Relaxed);
        Ok(())
    }
}

/// The end of the log of a ledger.
fn log_end(session: &mut AnySession, ledger_id: LedgerId) -> Result<Option<LogEnd>> {
    let found: Option<(i64, Option<Vec<u8>>)> = ledgers::table
        .find(ledger_id.0)
        .select((ledgers::size, ledgers::frontier))
        .get_result(session)
        .optional()?;
    Ok(found.map(|(size, frontier)| LogEnd::new(size, frontier)))
}

/// Whether the log that a standby has is the one that ends at `end`, or continues it. `found` is not shorter.
///
/// A content hash contains random bytes, so two histories that differ before `end` have different ones at its last event.
fn continues(
    standby: &mut Reader<'_>,
    ledger_id: LedgerId,
    found: &LogEnd,
    end: &LogEnd,
    database: &ReaderPool,
) -> Result<bool> {
    if found.size == end.size {
        return Ok(found.edge == end.edge);
    }
    let Some(last) = end.size.checked_sub(1) else {
        // Whatever a standby has follows an empty log.
        return Ok(true);
    };
    let here = standby.content_hashes(ledger_id, last..end.size)?;
    let there = database.read(|reader| reader.content_hashes(ledger_id, last..end.size))?;
    Ok(here == there)
}
