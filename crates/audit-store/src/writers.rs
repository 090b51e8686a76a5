//! The writing threads, and their replacement when one hangs.
//!
//! libpq has no timeout for a response, and a server that is frozen sends none: a stopped process keeps its connections
//! open, and its kernel acknowledges what they receive. So a writer can wait forever. It cannot be interrupted, but
//! another one can take its place: a writer whose work takes longer than a request waits for its commit loses its ledgers
//! to a new one, with a connection of its own. The old thread ends when its call returns. What it commits by then is
//! stored, after its clients were told that the outcome is unknown.

use crate::database::Database;
use crate::error::Result;
use crate::queue::Queue;
use crate::workers;
use crate::writer::{Commits, Slot, WriterThread};
use parking_lot::{Condvar, Mutex};
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::Duration;

/// Replaced writers that still hang, at most. Each holds a connection.
const REPLACED_WRITERS_MAX: usize = 8;
/// After how long a writer may be blocked by a session whose client hangs.
const BLOCKED_AFTER: Duration = Duration::from_secs(1);
/// How often the writers are looked at.
const SUPERVISION_INTERVAL: Duration = Duration::from_millis(250);

/// The writing threads of a store.
pub(crate) struct Writers {
    shared: Arc<Shared>,
    supervisor: Option<JoinHandle<()>>,
}

struct Shared {
    database: Arc<Database>,
    commits: Arc<Commits>,
    queue: Arc<Queue>,
    /// After how long a writer hangs.
    limit: Duration,
    /// How many writers work.
    count: usize,
    crew: Mutex<Crew>,
    changed: Condvar,
}

#[derive(Default)]
struct Crew {
    /// The writers that were not replaced and have not ended.
    current: Vec<Arc<Slot>>,
    /// Replaced writers that have not ended.
    replaced: usize,
    /// The number of the next writer.
    next_number: usize,
    is_closing: bool,
}

impl Writers {
    /// Starts `count` writers, each with an open session. A writer hangs when its work takes longer than `limit`.
    pub(crate) fn start(
        database: &Arc<Database>,
        commits: &Arc<Commits>,
        queue: &Arc<Queue>,
        count: usize,
        limit: Duration,
    ) -> Result<Self> {
        let shared = Arc::new(Shared {
            database: Arc::clone(database),
            commits: Arc::clone(commits),
            queue: Arc::clone(queue),
            limit,
            count,
            crew: Mutex::default(),
            changed: Condvar::new(),
        });
        let mut writers = Self {
            shared: Arc::clone(&shared),
            supervisor: None,
        };
        for _ in 0..count {
            let writer = WriterThread::open(database, commits)?;
            shared.start(writer, &mut shared.crew.lock())?;
        }
        if database.can_hang() {
            writers.supervisor = Some(workers::spawn("writers".to_owned(), move || shared.supervise())?);
        }
        Ok(writers)
    }

    /// Waits until every writer has ended, except those that hang. The queue is closed.
    pub(crate) fn close(&mut self) {
        let mut crew = self.shared.crew.lock();
        crew.is_closing = true;
        self.shared.changed.notify_all();
        let can_hang = self.shared.database.can_hang();
        let hangs = |slot: &Arc<Slot>| can_hang && slot.hangs(self.shared.limit);
        while !crew.current.iter().all(hangs) {
            self.shared.changed.wait_for(&mut crew, SUPERVISION_INTERVAL);
        }
        let hanging = crew.current.len() + crew.replaced;
        drop(crew);
        if hanging > 0 {
            log::warn!("{hanging} writers hang; what they were storing may be stored or not");
        }
        if let Some(supervisor) = self.supervisor.take() {
            workers::join("writers", supervisor);
        }
    }
}

impl Shared {
    fn start(self: &Arc<Self>, writer: WriterThread, crew: &mut Crew) -> Result<()> {
        let (this, slot) = (Arc::clone(self), Arc::clone(&writer.slot));
        let own = Arc::clone(&slot);
        workers::spawn(format!("writer-{}", crew.next_number), move || {
            writer.run(&this.queue);
            this.ended(&own);
        })?;
        crew.next_number += 1;
        crew.current.push(slot);
        Ok(())
    }

    fn ended(&self, slot: &Arc<Slot>) {
        let mut crew = self.crew.lock();
        match slot.is_replaced() {
            true => crew.replaced -= 1,
            false => crew.current.retain(|other| !Arc::ptr_eq(other, slot)),
        }
        self.changed.notify_all();
    }

    /// Replaces writers that hang, until the writers close.
    fn supervise(self: &Arc<Self>) {
        let mut crew = self.crew.lock();
        while !crew.is_closing {
            if crew.current.iter().any(|slot| slot.hangs(BLOCKED_AFTER)) {
                self.database.end_stuck_sessions();
            }
            self.replace_hanging(&mut crew);
            self.changed.wait_for(&mut crew, SUPERVISION_INTERVAL);
        }
    }

    fn replace_hanging(self: &Arc<Self>, crew: &mut Crew) {
        for slot in crew.current.clone() {
            if crew.replaced >= REPLACED_WRITERS_MAX {
                break;
            }
            if !slot.replace(self.limit, &self.queue) {
                continue;
            }
            log::error!("a writer waits for the database for too long; another one takes its place");
            crew.current.retain(|other| !Arc::ptr_eq(other, &slot));
            crew.replaced += 1;
            self.database.forget_commits();
        }
        while crew.current.len() < self.count {
            let writer = WriterThread::new(&self.database, &self.commits);
            if let Err(error) = self.start(writer, crew) {
                log::error!("cannot start a writer: {error}");
                break;
            }
        }
        let is_stalled = crew.current.iter().all(|slot| slot.hangs(self.limit));
        self.queue.set_stalled(is_stalled);
    }
}
