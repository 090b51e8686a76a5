//! The feed: the events of a ledger, each once, in the order in which they were committed.
//!
//! A cursor is the place in the ledger at which reading goes on. Places are given out under the lock of the ledger's
//! head, which is held until the commit, so whoever sees one sees all before it: there is no event that commits late
//! behind a cursor. Events that a reader may not see move the cursor like all others.
//!
//! Whoever waits holds neither a thread nor a connection. It is woken when this process commits to the ledger; what other
//! processes commit is looked for twice a second, by one of those who wait for all of them.

mod page;

use crate::authentication::Presented;
use crate::error::{AppError, Result};
use crate::reading::Asked;
use crate::service::{AuditLog, Selection};
use audit_auth::Readers;
use audit_domain::{EventFilter, PageLimit};
use page::{ReadPage, Start};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;
use tokio::sync::{Mutex, Semaphore, watch};
use tokio::time::{Instant, sleep, sleep_until};

pub use page::{FeedEvent, FeedPage};

/// After how long somebody who waits looks at its credential again.
const CHECK_INTERVAL_MS: u64 = 4_000;
/// How often those who wait look for what other processes have committed.
const LOOK_INTERVAL_MS: u64 = 500;
/// How long a reader that has everything waits at least before it reads again, so that many small commits become one
/// page: a page for each commit and reader would be more work than the commits.
const PAGE_INTERVAL_MS: u64 = 100;
/// Of the connections for queries, the feed uses one in so many.
const CONNECTIONS_SHARE: u32 = 4;

/// What a reader of the feed asks for.
#[derive(Clone, Debug)]
pub struct FeedRequest {
    /// Which events. Ids in it are as the reader knows them.
    pub filter: EventFilter,
    /// The cursor to go on from; from the beginning of the ledger when `None`.
    pub after: Option<String>,
    /// How many events a page holds at most.
    pub limit: PageLimit,
}

/// What all readers of the feed share.
pub(crate) struct Feeds {
    /// Pages that may be read at once; those who wait for their turn hold nothing.
    reads: Arc<Semaphore>,
    /// When somebody last looked for what other processes have committed.
    looked_at: Mutex<Instant>,
    stopping: watch::Sender<bool>,
    readers: AtomicUsize,
    waiting: AtomicUsize,
}

/// Counts one for as long as it lives.
struct Counted<'a>(&'a AtomicUsize);

impl<'a> Counted<'a> {
    fn new(count: &'a AtomicUsize) -> Self {
        count.fetch_add(1, Ordering::Relaxed);
        Self(count)
    }
}

impl Drop for Counted<'_> {
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
            looked_at: Mutex::new(Instant::now()),
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

/// Somebody who follows the feed.
pub struct Follower {
    service: Arc<AuditLog>,
    asked: Arc<Asked>,
    limit: PageLimit,
    /// Where the reader said to begin, until the first page is read.
    after: Option<String>,
    /// The place of the next event, from then on.
    place: Option<Place>,
    read_at: Instant,
}

/// How far a follower has come.
struct Place {
    next_seq: u64,
    /// The size of the ledger.
    arrivals: watch::Receiver<u64>,
    has_everything: bool,
}

impl Drop for Follower {
    fn drop(&mut self) {
        self.service.feeds.readers.fetch_sub(1, Ordering::Relaxed);
    }
}

impl Presented<Readers> {
    /// Follows the feed on behalf of the holder of the credential, which is looked up with every page.
    pub fn follow(self, selection: Selection, request: FeedRequest) -> Follower {
        let FeedRequest { filter, after, limit } = request;
        let service = Arc::clone(&self.service);
        service.feeds.readers.fetch_add(1, Ordering::Relaxed);
        Follower {
            service,
            asked: Arc::new(Asked {
                presented: self,
                selection,
                filter,
            }),
            limit,
            after,
            place: None,
            read_at: Instant::now(),
        }
    }
}

impl AuditLog {
    /// Looks for what other processes have committed, unless somebody else does or just has.
    async fn look_for_arrivals(self: &Arc<Self>) {
        let Ok(mut looked_at) = self.feeds.looked_at.try_lock() else {
            return;
        };
        if looked_at.elapsed() < Duration::from_millis(LOOK_INTERVAL_MS) {
            return;
        }
        let this = Arc::clone(self);
        match tokio::task::spawn_blocking(move || this.store.look_for_arrivals()).await {
            Ok(Ok(())) => {}
            Ok(Err(error)) => log::warn!("cannot check for events of other nodes: {error}"),
            Err(error) => log::error!("the check for events of other nodes failed: {error}"),
        }
        *looked_at = Instant::now();
    }
}

impl Follower {
    /// The next page. Without events only when none came for as long as `patience`, when many rows were looked at that
    /// are not for this reader, or when the process is about to end.
    ///
    /// # Errors
    /// When the cursor is not one of this feed, or the credential no longer holds.
    pub async fn next(&mut self, patience: Duration) -> Result<FeedPage> {
        let deadline = Instant::now() + patience;
        loop {
            let check_at = self.read_at + Duration::from_millis(CHECK_INTERVAL_MS);
            self.wait(deadline.min(check_at)).await;
            let page = self.read().await?;
            let is_over = Instant::now() >= deadline || self.is_stopping();
            if !page.events.is_empty() || page.has_more || is_over {
                return Ok(page);
            }
        }
    }

    /// Whether the process is about to end, so that nothing is worth waiting for.
    pub fn is_stopping(&self) -> bool {
        *self.service.feeds.stopping.borrow()
    }

    /// Waits until there may be something to read, or `until`.
    async fn wait(&mut self, until: Instant) {
        let Some(place) = self.place.as_mut().filter(|place| place.has_everything) else {
            return;
        };
        let (service, next_seq) = (&self.service, place.next_seq);
        let _waits = Counted::new(&service.feeds.waiting);
        let earliest = self.read_at + Duration::from_millis(PAGE_INTERVAL_MS);
        let mut stopping = service.feeds.stopping.subscribe();
        let news = async {
            if place.arrivals.wait_for(|size| *size > next_seq).await.is_err() {
                std::future::pending::<()>().await;
            }
            sleep_until(earliest).await;
        };
        tokio::pin!(news);
        loop {
            tokio::select! {
                () = &mut news => return,
                _ = stopping.wait_for(|is_stopping| *is_stopping) => return,
                () = sleep_until(until) => return,
                () = sleep(Duration::from_millis(LOOK_INTERVAL_MS)) => service.look_for_arrivals().await,
            }
        }
    }

    async fn read(&mut self) -> Result<FeedPage> {
        let permit = Arc::clone(&self.service.feeds.reads).acquire_owned().await;
        let permit = permit.map_err(AppError::internal)?;
        let (service, asked, limit) = (Arc::clone(&self.service), Arc::clone(&self.asked), self.limit);
        let start = match (&self.place, &self.after) {
            (Some(place), _) => Start::Seq(place.next_seq),
            (None, Some(after)) => Start::Cursor(after.clone()),
            (None, None) => Start::Beginning,
        };
        // The permit goes with the work: a reader that hangs up does not end what it has begun.
        let read = tokio::task::spawn_blocking(move || {
            let page = service.feed_page(&asked, &start, limit);
            drop(permit);
            page
        });
        let read = read.await.map_err(AppError::internal)??;
        let ReadPage {
            page,
            next_seq,
            arrivals,
        } = read;
        self.place = Some(Place {
            next_seq,
            arrivals,
            has_everything: !page.has_more,
        });
        self.read_at = Instant::now();
        Ok(page)
    }
}
