//! Threads that work beside the writers: the indexer and, on SQLite, the checkpointer of the write-ahead log.

use crate::error::{Result, StoreError};
use crate::signal::Signal;
use std::sync::Arc;
use std::thread::JoinHandle;

/// Starts a named thread.
pub(crate) fn spawn(name: String, work: impl FnOnce() + Send + 'static) -> Result<JoinHandle<()>> {
    let thread = std::thread::Builder::new().name(name);
    thread
        .spawn(work)
        .map_err(|error| StoreError::Unreachable(format!("cannot start a thread: {error}")))
}

/// Waits for a thread to end.
pub(crate) fn join(name: &str, thread: JoinHandle<()>) {
    if thread.join().is_err() {
        log::error!("the {name} thread ended in a panic");
    }
}

/// A thread that works until its signal is closed.
pub(crate) struct Worker {
    name: &'static str,
    stop: Box<dyn Fn() + Send>,
    thread: JoinHandle<()>,
}

impl Worker {
    /// Starts `work`, which ends when `signal` is closed.
    pub(crate) fn start<T: Send + 'static>(
        name: &'static str,
        signal: &Arc<Signal<T>>,
        work: impl FnOnce(&Signal<T>) + Send + 'static,
    ) -> Result<Self> {
        let (observed, closed) = (Arc::clone(signal), Arc::clone(signal));
        Ok(Self {
            name,
            stop: Box::new(move || closed.close()),
            thread: spawn(name.to_owned(), move || work(&observed))?,
        })
    }

    /// Stops the worker, and waits until it has finished its work in progress.
    fn end(self) {
        (self.stop)();
        join(self.name, self.thread);
    }
}

/// The workers of an open store, in the order in which they end.
#[derive(Default)]
pub(crate) struct Workers {
    /// End before the writers do.
    pub(crate) before_writers: Vec<Worker>,
    /// End after the last commit.
    pub(crate) after_writers: Vec<Worker>,
}

impl Workers {
    /// Ends those that end before the writers.
    pub(crate) fn end_first(&mut self) {
        self.before_writers.drain(..).for_each(Worker::end);
    }

    /// Ends the rest, once the writers have ended.
    pub(crate) fn end_last(&mut self) {
        self.after_writers.drain(..).for_each(Worker::end);
    }
}
