//! A read replica: a standby of the database, which queries over events read when it has everything that the database had
//! when the request began.
//!
//! The size of a ledger says whether a standby has its events, so nothing needs to be known of positions in the
//! write-ahead log, and a client of any node finds what it has stored through any other.

use crate::access::Reader;
use crate::append::LedgerId;
use crate::configuration::ConfigurationVersion;
use crate::database::url::of_standby;
use crate::database::{AnySession, Database, DatabaseUrl};
use crate::error::{Result, StoreError};
use crate::readers::ReaderPool;
use crate::schema::ledgers;
use crate::store::HEAD_KEY_ID;
use diesel::{ExpressionMethods, OptionalExtension, QueryDsl, RunQueryDsl};
use parking_lot::Mutex;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

/// How long a query waits for the standby to replay what the database had committed.
const CATCH_UP_MAX: Duration = Duration::from_millis(100);
/// How often it looks meanwhile.
const CATCH_UP_INTERVAL: Duration = Duration::from_millis(5);
/// How long a standby is left alone after it failed.
const REST: Duration = Duration::from_secs(10);

/// What became of the queries that a replica could have served.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ReplicaStatistics {
    /// It served them.
    pub served: u64,
    /// It did not have all events yet, so the database served them.
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

/// A standby and its sessions.
pub(crate) struct Replica {
    url: DatabaseUrl,
    readers: ReaderPool,
    /// That of the database.
    identity: Identity,
    is_same: AtomicBool,
    rests_until: Mutex<Option<Instant>>,
    served: AtomicU64,
    behind: AtomicU64,
    failed: AtomicU64,
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
            rests_until: Mutex::default(),
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

    /// What `read` returns, if the replica has the first `size` events of the ledger. Blocks.
    pub(crate) fn serve<T>(
        &self,
        ledger_id: LedgerId,
        size: u64,
        read: impl Fn(&mut Reader<'_>) -> Result<T>,
    ) -> Option<T> {
        if self
            .rests_until
            .lock()
            .is_some_and(|until| Instant::now() < until)
        {
            self.failed.fetch_add(1, Ordering::Relaxed);
            return None;
        }
        match self.read(ledger_id, size, read) {
            Ok(Some(found)) => {
                if self.rests_until.lock().take().is_some() {
                    log::info!("queries use the replica {} again", self.url);
                }
                self.served.fetch_add(1, Ordering::Relaxed);
                Some(found)
            }
            Ok(None) => {
                self.behind.fetch_add(1, Ordering::Relaxed);
                None
            }
            Err(error) => {
                self.failed.fetch_add(1, Ordering::Relaxed);
                if self.rests_until.lock().replace(Instant::now() + REST).is_none() {
                    log::warn!(
                        "queries use the database itself: the replica {}: {error}",
                        self.url
                    );
                }
                None
            }
        }
    }

    fn read<T>(
        &self,
        ledger_id: LedgerId,
        size: u64,
        read: impl Fn(&mut Reader<'_>) -> Result<T>,
    ) -> Result<Option<T>> {
        self.readers.read(|reader| {
            self.check_same(reader.session())?;
            let deadline = Instant::now() + CATCH_UP_MAX;
            while served_size(reader.session(), ledger_id)?.is_none_or(|served| served < size) {
                if Instant::now() >= deadline {
                    return Ok(None);
                }
                thread::sleep(CATCH_UP_INTERVAL);
            }
            let found = read(reader)?;
            // A ledger that was moved to another cell loses its events only after it is not served any more.
            let is_served = served_size(reader.session(), ledger_id)?.is_some();
            Ok(is_served.then_some(found))
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

/// The number of events of a ledger that this cell serves.
fn served_size(session: &mut AnySession, ledger_id: LedgerId) -> Result<Option<u64>> {
    let size: Option<i64> = ledgers::table
        .find(ledger_id.0)
        .filter(ledgers::configuration_version.ne(ConfigurationVersion::NOT_SERVED))
        .select(ledgers::size)
        .get_result(session)
        .optional()?;
    Ok(size.map(i64::cast_unsigned))
}
