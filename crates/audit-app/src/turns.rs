//! Turns of readers: who may use a thread that blocks, and a database connection, next.
//!
//! A turn belongs to the owner of a credential: an organization, and within it a key or the tenant of a viewer token. Waiting for
//! one costs neither a thread nor a connection. A credential that this process has not seen has no owner yet. Its look-up is on
//! behalf of the address of the client, and the turns of look-ups are others, so made-up credentials delay no known one.

mod admission;

use crate::credential_hash::CredentialHash;
use crate::error::{AppError, Result};
use audit_admission::{Busy, Turn, Turns, TurnsOptions};
use audit_auth::Principal;
use audit_domain::{KeyId, OrganizationId, ProjectId};
use audit_store::{Project, StoreError};
use parking_lot::Mutex;
use quick_cache::sync::Cache;
use std::num::NonZero;
use std::sync::Arc;
use std::time::Duration;
use tokio::time::{sleep, timeout};

/// The credentials whose owner is cached, at most: about 200 bytes each.
const OWNERS_MAX: usize = 50_000;
/// Look-ups of unknown credentials at once. The pool of look-ups has four connections.
const LOOK_UPS_MAX: usize = 3;
/// Other requests at once, such as changes of the configuration. They can wait for a writer, so queries have turns of their own.
const REQUESTS_MAX: usize = 16;
/// Requests that wait for a receiver of a destination at once, in turns of their own: an attempt can take longer than any other work.
const SENDS_MAX: usize = 16;
/// Requests of anonymous streams at once. Most of them wait for a writer, which serves one at a time.
const STREAM_REQUESTS_MAX: usize = 4;
/// Requests with events that are parsed and redacted at once, by the processors that there are, in turns of their own: an
/// organization alone gets as many as there are processors.
const PREPARATIONS_PER_PROCESSOR: usize = 2;
/// Requests that wait in an organization, or for an address.
const GROUP_WAITING_MAX: usize = 1_024;
/// Requests that wait for a key, or for a tenant's viewer tokens.
const MEMBER_WAITING_MAX: usize = 256;
/// How long a request waits for its turn.
const TURN_WAIT: Duration = Duration::from_secs(10);
/// How long a response waits for work that has its turn. A query takes a few statements of up to 10 s each.
const WORK_MAX: Duration = Duration::from_secs(30);
/// How long work keeps its turn. A connection to a database that hangs can block forever; without its turn, other requests
/// notice that and have the connections replaced.
const TURN_KEPT: Duration = Duration::from_secs(12);

/// A part of an organization that has a share of its own.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Member {
    /// A key.
    Key(KeyId),
    /// The viewers of a tenant.
    Tenant(ProjectId, Arc<str>),
}

/// The owner of what a request with a credential takes: turns and memory.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct CredentialOwner {
    /// The organization.
    pub organization_id: OrganizationId,
    /// Its key, or the tenant of the viewer token.
    pub member: Member,
}

impl CredentialOwner {
    pub(crate) fn of(principal: &Principal) -> Self {
        let member = match principal {
            Principal::Master(key) => Member::Key(key.key_id),
            Principal::Project(key) => Member::Key(key.key_id),
            Principal::Viewer(viewer) => Member::Tenant(viewer.project_id, viewer.tenant_id.as_str().into()),
        };
        Self {
            organization_id: principal.organization_id(),
            member,
        }
    }
}

/// Turns between organizations, and within one between its keys and tenants.
#[derive(Debug)]
pub(crate) struct OwnedTurns(Arc<Turns<OrganizationId, Member>>);

impl OwnedTurns {
    pub(crate) fn new(options: TurnsOptions) -> Self {
        Self(Turns::new(options))
    }

    /// Waits for a turn.
    ///
    /// # Errors
    /// [`AppError::Unavailable`] when too many of this owner wait, or none came in time.
    pub(crate) async fn take(&self, owner: &CredentialOwner) -> Result<ReadTurn> {
        let CredentialOwner {
            organization_id,
            member,
        } = owner.clone();
        let turn = self.0.take(organization_id, member).await.map_err(busy)?;
        Ok(ReadTurn::new(AnyTurn::Owned(turn)))
    }

    /// Waits for a turn, then, holding it, for a turn to use a reading session. The second wait delays only requests that wait
    /// for a turn of this kind. Requests that need both kinds take them in this order.
    ///
    /// # Errors
    /// As [`Self::take`].
    pub(crate) async fn take_with_session(
        &self,
        sessions: &Self,
        owner: &CredentialOwner,
    ) -> Result<ReadTurn> {
        let CredentialOwner {
            organization_id,
            member,
        } = owner.clone();
        let first = self.0.take(organization_id, member.clone()).await.map_err(busy)?;
        let session = sessions.0.take(organization_id, member).await.map_err(busy)?;
        Ok(ReadTurn::new(AnyTurn::WithSession(first, session)))
    }
}

fn busy(_: Busy) -> AppError {
    AppError::Unavailable(StoreError::Overloaded)
}

/// The turns of a process, and the owners of the credentials that it knows.
pub(crate) struct ReaderTurns {
    owners: Cache<CredentialHash, CredentialOwner>,
    /// The reading sessions of the store: as many turns as sessions, so each turn has a session. Queries, the feed,
    /// exports and pages of alerts share them.
    pub(crate) sessions: OwnedTurns,
    requests: OwnedTurns,
    sends: OwnedTurns,
    preparations: Arc<Turns<OrganizationId, ProjectId>>,
    look_ups: Arc<Turns<String, ()>>,
    streams: Arc<Turns<String, ()>>,
}

impl ReaderTurns {
    /// `connections_max` is the number of connections for queries.
    pub(crate) fn new(connections_max: u32) -> Self {
        let bounds = |permits: usize, share: usize| TurnsOptions {
            permits,
            group_share: share,
            member_share: 1,
            group_waiting_max: GROUP_WAITING_MAX,
            member_waiting_max: MEMBER_WAITING_MAX,
            wait_max: TURN_WAIT,
        };
        Self {
            owners: Cache::new(OWNERS_MAX),
            // An organization alone gets two thirds of the sessions, and one of its members half of them.
            sessions: OwnedTurns::new(bounds(connections_max as usize, 2)),
            requests: OwnedTurns::new(bounds(REQUESTS_MAX, 1)),
            sends: OwnedTurns::new(bounds(SENDS_MAX, 1)),
            preparations: Turns::new(bounds(PREPARATIONS_PER_PROCESSOR * processors(), 1)),
            look_ups: Turns::new(TurnsOptions {
                member_waiting_max: GROUP_WAITING_MAX,
                ..bounds(LOOK_UPS_MAX, 1)
            }),
            streams: Turns::new(bounds(STREAM_REQUESTS_MAX, 1)),
        }
    }

    /// Waits for the turn to parse and redact events of a project.
    ///
    /// # Errors
    /// As [`OwnedTurns::take`].
    pub(crate) async fn preparation(&self, project: &Project) -> Result<ReadTurn> {
        let turn = self.preparations.take(project.organization_id, project.id).await;
        Ok(ReadTurn::new(AnyTurn::Preparation(turn.map_err(busy)?)))
    }
}

#[cfg(test)]
impl ReaderTurns {
    /// The requests that wait for their turn to be parsed and redacted.
    pub(crate) fn waiting_preparations(&self) -> usize {
        self.preparations.waiting()
    }
}

fn processors() -> usize {
    std::thread::available_parallelism().map_or(1, NonZero::get)
}

#[expect(dead_code, reason = "held until it is dropped")]
enum AnyTurn {
    Owned(Turn<OrganizationId, Member>),
    WithSession(Turn<OrganizationId, Member>, Turn<OrganizationId, Member>),
    OfAddress(Turn<String, ()>),
    Preparation(Turn<OrganizationId, ProjectId>),
}

/// A turn. It ends with its work, whether or not the client still waits, or after [`TURN_KEPT`].
pub(crate) struct ReadTurn(Arc<Mutex<Option<AnyTurn>>>);

impl ReadTurn {
    fn new(turn: AnyTurn) -> Self {
        Self(Arc::new(Mutex::new(Some(turn))))
    }

    fn end(&self) {
        drop(self.0.lock().take());
    }

    /// Runs `work` on a thread that may block.
    pub(crate) async fn run<T: Send + 'static>(
        mut self,
        work: impl FnOnce() -> Result<T> + Send + 'static,
    ) -> Result<T> {
        let ends = EndsTurn(Arc::clone(&self.0));
        let work = move || {
            let outcome = work();
            drop(ends);
            outcome
        };
        self.run_and_keep(work).await
    }

    /// As [`Self::run`], but the turn ends when it is dropped after the work.
    pub(crate) async fn run_and_keep<T: Send + 'static>(
        &mut self,
        work: impl FnOnce() -> Result<T> + Send + 'static,
    ) -> Result<T> {
        let working = Arc::clone(&self.0);
        #[expect(clippy::disallowed_methods, reason = "this is the turn")]
        let mut task = tokio::task::spawn_blocking(move || {
            let outcome = work();
            drop(working);
            outcome
        });
        let done = match timeout(TURN_KEPT, &mut task).await {
            Ok(done) => done,
            Err(_) => {
                self.end();
                let rest = timeout(WORK_MAX - TURN_KEPT, task).await;
                rest.map_err(|_| AppError::no_response())?
            }
        };
        done.unwrap_or_else(|error| Err(AppError::internal(error)))
    }
}

/// Where the client has gone, the work continues and ends the turn.
impl Drop for ReadTurn {
    fn drop(&mut self) {
        if Arc::strong_count(&self.0) == 1 || self.0.lock().is_none() {
            return;
        }
        if let Ok(runtime) = tokio::runtime::Handle::try_current() {
            let turn = Arc::clone(&self.0);
            runtime.spawn(async move {
                sleep(TURN_KEPT).await;
                drop(turn.lock().take());
            });
        }
    }
}

/// Ends a turn when its work has ended, also by a panic.
struct EndsTurn(Arc<Mutex<Option<AnyTurn>>>);

impl Drop for EndsTurn {
    fn drop(&mut self) {
        drop(self.0.lock().take());
    }
}

#[cfg(test)]
pub(crate) mod tests;
