//! A reader that follows the feed.

use super::page::{FeedPage, ReadPage, Start};
use crate::authentication::Presented;
use crate::cells::routing::is_of_other_cell;
use crate::error::Result;
use crate::reading::ReadRequest;
use crate::service::{AuditLog, Selection};
use crate::turns::CredentialOwner;
use audit_auth::Readers;
use audit_domain::{EventFilter, FeedPosition, PageLimit};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;
use tokio::sync::watch;
use tokio::time::{Instant, sleep, sleep_until};

/// The interval at which a waiting reader's credential is looked up again.
const CREDENTIAL_INTERVAL_MS: u64 = 4_000;
/// The interval at which waiting readers poll for commits of other processes.
const POLL_INTERVAL_MS: u64 = 500;
/// The minimum interval between the pages of a reader that is caught up, so that many small commits become one page. A
/// page for each commit and reader would cost more than the commits.
const PAGE_INTERVAL_MS: u64 = 100;
/// How long a page of a viewer is searched for, if it does not wait for longer. How many events others have stored shows
/// only where this is too short.
const VIEWER_SEARCH_MS: u64 = 2_000;

/// A request to follow the feed.
#[derive(Clone, Debug)]
pub struct FeedRequest {
    /// The filter. Ids in it are unredacted, as the client sent them.
    pub filter: EventFilter,
    /// The cursor to continue from, or `latest` for the end of the ledger; `None` for its beginning.
    pub after: Option<String>,
    /// The maximum number of events of a page.
    pub limit: PageLimit,
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

/// A reader that follows the feed.
pub struct Follower {
    service: Arc<AuditLog>,
    owner: CredentialOwner,
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
    next: FeedPosition,
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
    /// Follows the feed for the holder of the credential, which is looked up for every page. It was recognised before.
    ///
    /// # Errors
    /// [`Unavailable`](crate::AppError::Unavailable) when the owner of the credential is not known.
    pub fn follow(self, selection: Selection, request: FeedRequest) -> Result<Follower> {
        let FeedRequest { filter, after, limit } = request;
        let owner = self.owner()?;
        let service = Arc::clone(&self.service);
        service.feeds.readers.fetch_add(1, Ordering::Relaxed);
        Ok(Follower {
            service,
            owner,
            request: Arc::new(ReadRequest {
                presented: self,
                selection,
                filter,
            }),
            limit,
            after,
            progress: None,
            read_at: Instant::now(),
        })
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
        #[expect(clippy::disallowed_methods, reason = "one at a time for all readers")]
        let looked = tokio::task::spawn_blocking(move || this.store.look_for_arrivals());
        match looked.await {
            Ok(Ok(())) => {}
            Ok(Err(error)) => log::warn!("cannot check for events of other nodes: {error}"),
            Err(error) => log::error!("the check for events of other nodes failed: {error}"),
        }
        *polled_at = Instant::now();
    }
}

impl Follower {
    /// The next page. It is empty only if no event arrived within `max_wait`, if many rows were read that the reader may not
    /// see, or if the process is shutting down. A viewer's wait does not end because of events that it may not see.
    ///
    /// # Errors
    /// [`Invalid`](crate::AppError::Invalid) when the cursor belongs to another feed;
    /// [`EventsRemoved`](crate::AppError::EventsRemoved) when a removal has taken events behind it; the errors of [`Presented::authenticate`].
    pub async fn next(&mut self, max_wait: Duration) -> Result<FeedPage> {
        let deadline = Instant::now() + max_wait;
        let searched_until = Instant::now() + Duration::from_millis(VIEWER_SEARCH_MS);
        let mut found: Option<ReadPage> = None;
        loop {
            let authenticate_at = self.read_at + Duration::from_millis(CREDENTIAL_INTERVAL_MS);
            self.wait(deadline.min(authenticate_at)).await;
            let read = self.read_in_its_cell(self.limit_after(found.as_ref())).await?;
            let read = match found {
                Some(found) => found.followed_by(read),
                None => read,
            };
            let is_empty = read.page.events.is_empty();
            let is_last_try = Instant::now() >= deadline || self.is_stopping();
            let is_searched = Instant::now() >= searched_until && (is_last_try || !is_empty);
            if !read.is_settled && !is_searched && !self.is_stopping() {
                found = Some(read);
                continue;
            }
            if !is_empty || read.page.has_more || is_last_try {
                return Ok(read.page);
            }
            found = None;
        }
    }

    /// The events that a page may still get.
    fn limit_after(&self, found: Option<&ReadPage>) -> usize {
        match found {
            Some(found) if found.is_full => 0,
            Some(found) => self.limit.get().saturating_sub(found.page.events.len()),
            None => self.limit.get(),
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
        let (service, next_seq) = (&self.service, progress.next.seq);
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

    /// Reads a page in the cell of the project.
    async fn read_in_its_cell(&mut self, limit: usize) -> Result<ReadPage> {
        loop {
            let error = match self.read(limit).await {
                Err(error) if is_of_other_cell(&error) => error,
                outcome => return outcome,
            };
            let request = Arc::clone(&self.request);
            let look_up = move || {
                let ReadRequest {
                    presented, selection, ..
                } = &*request;
                presented.in_other_cell(selection.project_id, error)
            };
            let found = self.request.presented.request(look_up).await?;
            self.service.feeds.readers.fetch_sub(1, Ordering::Relaxed);
            self.service = Arc::clone(&found.service);
            self.service.feeds.readers.fetch_add(1, Ordering::Relaxed);
            self.request = Arc::new(ReadRequest {
                presented: found,
                ..(*self.request).clone()
            });
        }
    }

    async fn read(&mut self, limit: usize) -> Result<ReadPage> {
        let sessions = &self.service.turns.sessions;
        let turn = self
            .service
            .feeds
            .reads
            .take_with_session(sessions, &self.owner)
            .await?;
        let (service, request) = (Arc::clone(&self.service), Arc::clone(&self.request));
        let start = match (&self.progress, &self.after) {
            (Some(progress), _) => Start::At(progress.next),
            (None, Some(after)) => Start::Cursor(after.clone()),
            (None, None) => Start::Beginning,
        };
        let read = turn
            .run(move || service.feed_page(&request, &start, limit))
            .await?;
        self.progress = Some(Progress {
            next: read.next,
            arrivals: read.arrivals.clone(),
            is_caught_up: read.is_caught_up,
        });
        self.read_at = Instant::now();
        Ok(read)
    }
}
