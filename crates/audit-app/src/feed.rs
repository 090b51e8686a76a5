//! The feed: the events of a ledger, each once, in commit order.
//!
//! A cursor is the position of the next event in the ledger. Positions are assigned under the lock of the ledger's head,
//! which is held until the commit. So a reader that sees a position sees all earlier ones: no event commits late behind a
//! cursor. Hidden events advance the cursor too.
//!
//! A waiting reader holds neither a thread nor a connection. A commit of this process to the ledger wakes it. For commits of
//! other processes, one of the waiting readers polls twice a second on behalf of all.

mod page;

use crate::authentication::Presented;
use crate::cells::{PLACES_TRIED_MAX, is_of_other_cell};
use crate::error::{AppError, Result};
use crate::reading::ReadRequest;
use crate::service::{AuditLog, Selection};
use audit_auth::Readers;
use audit_domain::{EventFilter, PageLimit};
use audit_store::StoreError;
use page::{ReadPage, Start};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;
use tokio::sync::{Mutex, Semaphore, watch};
use tokio::time::{Instant, sleep, sleep_until};

pub use page::{FeedEvent, FeedPage};

/// The interval at which a waiting reader's credential is looked up again.
const CREDENTIAL_INTERVAL_MS: u64 = 4_000;
/// The interval at which waiting readers poll for commits of other processes.
const POLL_INTERVAL_MS: u64 = 500;
/// The minimum interval between the pages of a reader that is caught up, so that many small commits become one page. A
/// page for each commit and reader would cost more than the commits.
const PAGE_INTERVAL_MS: u64 = 100;
/// The feed uses one in this many of the connections for queries.
const CONNECTIONS_SHARE: u32 = 4;

/// A request to follow the feed.
#[derive(Clone, Debug)]
pub struct FeedRequest {
    /// The filter. Ids in it are unredacted, as the client sent them.
    pub filter: EventFilter,
    /// The cursor to continue from; `None` for the beginning of the ledger.
    pub after: Option<String>,
    /// The maximum number of events of a page.
    pub limit: PageLimit,
}

/// The state that all readers of the feed share.
pub(crate) struct Feeds {
    /// Limits concurrent page reads. A reader that waits for a permit holds no other resource.
    reads: Arc<Semaphore>,
    /// When commits of other processes were last polled for.
    polled_at: Mutex<Instant>,
    stopping: watch::Sender<bool>,
    readers: AtomicUsize,
    waiting: AtomicUsize,
}

/// Counts one until it is dropped.
struct CountGuard<'a>(&'a AtomicUsize);

impl<'a> CountGuard<'a> {
    fn new(count: &'a AtomicUsize) -> Self {
        count.fetch_add(1, Ordering::Relaxed);
        Self(count)
    }
}

impl Drop for CountGuard<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

impl Feeds {
    pub(crate) fn new(connections_max: u32) -> Self {
        Self {
            reads: Arc::new(Semaphore::new(
                (connections_max / CONNECTIONS_SHARE).max(1) as usize
            )),
            polled_at: Mutex::new(Instant::now()),
            stopping: watch::Sender::new(false),
            readers: AtomicUsize::new(0),
            waiting: AtomicUsize::new(0),
        }
    }

    pub(crate) fn readers(&self) -> usize {
        self.readers.load(Ordering::Relaxed)
    }

    pub(crate) fn waiting(&self) -> usize {
        self.waiting.load(Ordering::Relaxed)
    }

    pub(crate) fn stop(&self) {
        self.stopping.send_replace(true);
    }
}

/// A reader that follows the feed.
pub struct Follower {
    service: Arc<AuditLog>,
    request: Arc<ReadRequest>,
    limit: PageLimit,
    /// The cursor of the request; used for the first page.
    after: Option<String>,
    /// The position after the first page.
    progress: Option<Progress>,
    read_at: Instant,
}

/// The position of a follower in the ledger.
struct Progress {
    next_seq: u64,
    /// The size of the ledger.
    arrivals: watch::Receiver<u64>,
    is_caught_up: bool,
}

impl Drop for Follower {
    fn drop(&mut self) {
        self.service.feeds.readers.fetch_sub(1, Ordering::Relaxed);
    }
}

impl Presented<Readers> {
    /// Follows the feed for the holder of the credential, which is looked up for every page.
    pub fn follow(self, selection: Selection, request: FeedRequest) -> Follower {
        let FeedRequest { filter, after, limit } = request;
        let service = Arc::clone(&self.service);
        service.feeds.readers.fetch_add(1, Ordering::Relaxed);
        Follower {
            service,
            request: Arc::new(ReadRequest {
                presented: self,
                selection,
                filter,
            }),
            limit,
            after,
            progress: None,
            read_at: Instant::now(),
        }
    }
}

impl AuditLog {
    /// Polls for commits of other processes, unless another reader does or just did.
    async fn poll_arrivals(self: &Arc<Self>) {
        let Ok(mut polled_at) = self.feeds.polled_at.try_lock() else {
            return;
        };
        if polled_at.elapsed() < Duration::from_millis(POLL_INTERVAL_MS) {
            return;
        }
        let this = Arc::clone(self);
        match tokio::task::spawn_blocking(move || this.store.look_for_arrivals()).await {
            Ok(Ok(())) => {}
            Ok(Err(error)) => log::warn!("cannot check for events of other nodes: {error}"),
            Err(error) => log::error!("the check for events of other nodes failed: {error}"),
        }
        *polled_at = Instant::now();
    }
}

impl Follower {
    /// The next page. It is empty only if no event arrived within `max_wait`, if many rows were read that the reader may not
    /// see, or if the process is shutting down.
    ///
    /// # Errors
    /// [`AppError::Invalid`] when the cursor belongs to another feed; the errors of [`Presented::authenticate`].
    pub async fn next(&mut self, max_wait: Duration) -> Result<FeedPage> {
        let deadline = Instant::now() + max_wait;
        loop {
            let authenticate_at = self.read_at + Duration::from_millis(CREDENTIAL_INTERVAL_MS);
            self.wait(deadline.min(authenticate_at)).await;
            let page = self.read_in_its_cell().await?;
            let is_last_try = Instant::now() >= deadline || self.is_stopping();
            if !page.events.is_empty() || page.has_more || is_last_try {
                return Ok(page);
            }
        }
    }

    /// Whether the process is shutting down.
    pub fn is_stopping(&self) -> bool {
        *self.service.feeds.stopping.borrow()
    }

    /// Waits until there may be new events, at most until `until`.
    async fn wait(&mut self, until: Instant) {
        let Some(progress) = self.progress.as_mut().filter(|progress| progress.is_caught_up) else {
            return;
        };
        let (service, next_seq) = (&self.service, progress.next_seq);
        let _waiting = CountGuard::new(&service.feeds.waiting);
        let earliest = self.read_at + Duration::from_millis(PAGE_INTERVAL_MS);
        let mut stopping = service.feeds.stopping.subscribe();
        let arrival = async {
            if progress.arrivals.wait_for(|size| *size > next_seq).await.is_err() {
                std::future::pending::<()>().await;
            }
            sleep_until(earliest).await;
        };
        tokio::pin!(arrival);
        loop {
            tokio::select! {
                () = &mut arrival => return,
                _ = stopping.wait_for(|is_stopping| *is_stopping) => return,
                () = sleep_until(until) => return,
                () = sleep(Duration::from_millis(POLL_INTERVAL_MS)) => service.poll_arrivals().await,
            }
        }
    }

    /// Reads a page in the cell of the project, which may move at any time.
    async fn read_in_its_cell(&mut self) -> Result<FeedPage> {
        for _ in 0..PLACES_TRIED_MAX {
            let error = match self.read().await {
                Err(error) if is_of_other_cell(&error) => error,
                outcome => return outcome,
            };
            let request = Arc::clone(&self.request);
            let look_up = move || {
                let found = request
                    .presented
                    .in_other_cell(request.selection.project_id, &error)?;
                found.ok_or(error)
            };
            let found = tokio::task::spawn_blocking(look_up).await;
            let found = found.unwrap_or_else(|error| Err(AppError::internal(error)))?;
            self.service.feeds.readers.fetch_sub(1, Ordering::Relaxed);
            self.service = Arc::clone(&found.service);
            self.service.feeds.readers.fetch_add(1, Ordering::Relaxed);
            self.request = Arc::new(ReadRequest {
                presented: found,
                ..(*self.request).clone()
            });
        }
        Err(AppError::Unavailable(StoreError::ProjectMoved))
    }

    async fn read(&mut self) -> Result<FeedPage> {
        let permit = Arc::clone(&self.service.feeds.reads).acquire_owned().await;
        let permit = permit.map_err(AppError::internal)?;
        let (service, request, limit) = (Arc::clone(&self.service), Arc::clone(&self.request), self.limit);
        let start = match (&self.progress, &self.after) {
            (Some(progress), _) => Start::Seq(progress.next_seq),
            (None, Some(after)) => Start::Cursor(after.clone()),
            (None, None) => Start::Beginning,
        };
        // The task owns the permit, because it continues if the reader disconnects.
        let read = tokio::task::spawn_blocking(move || {
            let page = service.feed_page(&request, &start, limit);
            drop(permit);
            page
        });
        let read = read.await.map_err(AppError::internal)??;
        let ReadPage {
            page,
            next_seq,
            arrivals,
        } = read;
        self.progress = Some(Progress {
            next_seq,
            arrivals,
            is_caught_up: !page.has_more,
        });
        self.read_at = Instant::now();
        Ok(page)
    }
}
