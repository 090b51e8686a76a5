//! The client.

mod builder;

use crate::buffer::{Entry, REQUEST_EVENTS_MAX, body_of};
use crate::error::Error;
use crate::event::NewEvent;
use crate::recorder::{Overflow, Recorder, Stats};
use crate::transport::{Call, Transport, json_of, outcomes_of};
use audit_domain::Environment;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

pub use builder::ClientBuilder;

/// What a client that is dropped without [`Client::close`] waits for its events.
const DROP_SECONDS_MAX: u64 = 5;

/// A client of the service. Clones share one queue and one background thread; the last one that is dropped sends what is queued,
/// for up to 5 seconds.
///
/// Make one for each process and keep it.
#[derive(Clone)]
pub struct Client {
    pub(crate) shared: Arc<Shared>,
}

pub(crate) struct Shared {
    pub(crate) transport: Transport,
    recorder: Arc<Recorder>,
    ingest_path: String,
    claim_token: Option<String>,
    pub(crate) environment: Option<Environment>,
}

impl Drop for Shared {
    fn drop(&mut self) {
        self.recorder.close(Duration::from_secs(DROP_SECONDS_MAX));
    }
}

impl fmt::Debug for Client {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Without the key.
        formatter
            .debug_struct("Client")
            .field("base_url", &self.shared.transport.base_url)
            .field("stats", &self.stats())
            .finish_non_exhaustive()
    }
}

impl Client {
    /// Begins a client of the service at this address, such as `https://audit.example.com`.
    pub fn builder(base_url: impl Into<String>) -> ClientBuilder {
        ClientBuilder::new(base_url.into())
    }

    /// Takes an event to be sent in the background. Returns when it is in the queue, or on the disk with a spool. While the queue
    /// is full it waits for room, unless [`ClientBuilder::overflow`] says otherwise.
    ///
    /// `false` if there was no room and the client has [`Overflow::DropNewest`], and for an event that the service would refuse: this is
    /// reported at once, and an error only with [`ClientBuilder::raise_invalid`]. What the service says is reported to
    /// [`ClientBuilder::on_result`], and logged as an error if there is none.
    ///
    /// # Errors
    /// [`Error::QueueFull`] if there was no room, [`Error::Spool`] if the spool cannot be written, [`Error::Closed`].
    /// [`Error::Argument`] with [`ClientBuilder::raise_invalid`].
    pub fn record(&self, event: NewEvent) -> Result<bool, Error> {
        self.shared.recorder.record_event(event, None)
    }

    /// As [`Self::record`], with another choice for a full queue.
    ///
    /// # Errors
    /// As [`Self::record`].
    pub fn record_or(&self, event: NewEvent, overflow: Overflow) -> Result<bool, Error> {
        self.shared.recorder.record_event(event, Some(overflow))
    }

    /// Sends one event and returns its id when it is stored durably. Retried as events of the queue are.
    ///
    /// # Errors
    /// [`Error::Api`] if the service refuses it, [`Error::Network`] if no attempt got a response.
    pub fn ingest(&self, event: NewEvent) -> Result<String, Error> {
        let call = self.ingest_call(event.into_entry().body.to_vec());
        let parse = |body: &[u8]| Ok(only(outcomes_of(&json_of(body)?, 1)?));
        self.shared.transport.blocking(&call, parse)?
    }

    /// As [`Self::ingest`], and waits for the signed receipt of the event, which comes about a second later: its proof in one file, for
    /// `verify_receipt`. Anonymous streams have none.
    ///
    /// # Errors
    /// As [`Self::ingest`].
    pub fn ingest_with_receipt(&self, event: NewEvent) -> Result<(String, String), Error> {
        let call = self.ingest_call(event.into_entry().body.to_vec()).with_receipts();
        let parse = |body: &[u8]| {
            let response = json_of(body)?;
            let id = only(outcomes_of(&response, 1)?);
            let receipt = response["receipts"][0].as_str().map(str::to_owned);
            Ok(id.map(|id| (id, receipt)))
        };
        let (id, receipt) = self.shared.transport.blocking(&call, parse)??;
        // A repeat after a lost response has the same outcome, so another attempt would not help.
        let receipt =
            receipt.ok_or_else(|| Error::network(format!("{id} is stored; the response has no receipt")))?;
        Ok((id, receipt))
    }

    /// Sends 1 to 100 events in one request. Returns for each its id, or why it was refused, when they are stored durably.
    ///
    /// # Errors
    /// [`Error::Argument`] for another number of events, [`Error::Api`] if the service refuses all, [`Error::Network`].
    pub fn ingest_all(
        &self,
        events: impl IntoIterator<Item = NewEvent>,
    ) -> Result<Vec<Result<String, Error>>, Error> {
        let entries: Vec<Entry> = events.into_iter().map(NewEvent::into_entry).collect();
        if !(1..=REQUEST_EVENTS_MAX).contains(&entries.len()) {
            let message = format!("must be 1 to {REQUEST_EVENTS_MAX}, not {}", entries.len());
            return Err(Error::argument("events", message));
        }
        let call = self.ingest_call(body_of(&entries));
        let parse = |body: &[u8]| outcomes_of(&json_of(body)?, entries.len());
        self.shared.transport.blocking(&call, parse)
    }

    pub(crate) fn ingest_call(&self, body: Vec<u8>) -> Call {
        Call::new("POST", self.shared.ingest_path.clone()).body(body)
    }

    /// Sends what waits. `true` if every event that was recorded since the last flush is stored.
    ///
    /// `false` if one was refused or dropped, or still waits after `max`; it is sent later. With a longer `Retry-After` it returns at once.
    pub fn flush(&self, max: Duration) -> bool {
        self.shared.recorder.flush(max)
    }

    /// As [`Self::flush`], for asynchronous code of any runtime, whose timeout bounds it. `false` if the client was closed before.
    pub fn flushed(&self) -> impl Future<Output = bool> + Send + 'static {
        Arc::clone(&self.shared.recorder).flushed()
    }

    /// Flushes and ends the recording of this client and its clones, with the same result. Events that remain stay in a spool, or are
    /// reported as [`Error::NotSent`].
    pub fn close(&self, max: Duration) -> bool {
        self.shared.recorder.close(max)
    }

    /// Counts of the events that were given to [`Self::record`].
    pub fn stats(&self) -> Stats {
        self.shared.recorder.stats()
    }

    pub(crate) fn count_middleware_error(&self) {
        self.shared.recorder.count_middleware_error();
    }

    /// The token of the anonymous stream, if the client has one. A holder of the token can claim the stream.
    pub fn claim_token(&self) -> Option<&str> {
        self.shared.claim_token.as_deref()
    }
}

/// The outcome of a request with one event, which [`outcomes_of`] has counted.
fn only(outcomes: Vec<Result<String, Error>>) -> Result<String, Error> {
    outcomes.into_iter().next().unwrap_or(Err(Error::NotSent))
}
