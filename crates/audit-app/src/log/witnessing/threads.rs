//! The threads that ask witnesses and store cosignatures.

use super::WitnessStatistics;
use super::rounds::{Next, Published};
use crate::error::Result;
use crate::service::AuditLog;
use audit_store::LedgerId;
use std::collections::BTreeSet;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, mpsc};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// Concurrent requests to one witness.
const LANES: usize = 4;
/// How often cosignatures are stored.
const STORE_INTERVAL: Duration = Duration::from_millis(100);
/// The interval of the scans for checkpoints without a quorum, and of the steps of one scan.
const SCAN_INTERVAL: Duration = Duration::from_secs(60);
const SCAN_STEP_INTERVAL: Duration = Duration::from_secs(1);
/// The node that signed a checkpoint gets this long to have it cosigned before another one asks.
const SETTLED_SECONDS: i64 = 5;

/// Handle of the threads that ask witnesses. Stop them with [`WitnessThreads::stop`].
pub struct WitnessThreads {
    service: Arc<AuditLog>,
    stop: mpsc::Sender<()>,
    storing: JoinHandle<()>,
}

impl WitnessThreads {
    /// Stores the cosignatures that have arrived, and asks no more. Requests in flight are abandoned: the checkpoints are
    /// found by the scan of another node or of the next start.
    pub fn stop(self) {
        self.service.witnessing.is_stopped.store(true, Ordering::Relaxed);
        self.service.witnessing.changed.notify_all();
        drop(self.stop);
        if self.storing.join().is_err() {
            log::error!("the thread that stores cosignatures panicked");
        }
    }
}

impl AuditLog {
    /// Starts the threads that ask the witnesses of the settings. `None` without witnesses.
    ///
    /// # Errors
    /// When a thread cannot be started.
    pub fn start_witnessing(self: &Arc<Self>) -> std::io::Result<Option<WitnessThreads>> {
        if self.witnessing.asked.is_empty() {
            return Ok(None);
        }
        for lane in 0..self.witnessing.asked.len() * LANES {
            let (service, witness) = (Arc::clone(self), lane / LANES);
            let thread = std::thread::Builder::new().name(format!("witness-{witness}"));
            thread.spawn(move || service.ask_witness(witness))?;
        }
        let (stop, stopped) = mpsc::channel();
        let service = Arc::clone(self);
        let thread = std::thread::Builder::new().name("cosignatures".to_owned());
        let storing = thread.spawn(move || service.store_cosignatures(&stopped))?;
        Ok(Some(WitnessThreads {
            service: Arc::clone(self),
            stop,
            storing,
        }))
    }

    /// The number of logs whose latest checkpoint has no quorum of witnesses a second after this process has published it.
    pub fn logs_without_quorum(&self) -> usize {
        let of_cells = self.cells.opened();
        let of_cells: usize = of_cells.iter().map(|cell| cell.logs_without_quorum()).sum();
        let now = Instant::now();
        self.witnessing.rounds.lock().count_without_quorum(now) + of_cells
    }

    /// The results of the requests of this process to witnesses.
    pub fn witness_statistics(&self) -> WitnessStatistics {
        let read = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        let mut sum = WitnessStatistics {
            cosigned: read(&self.witnessing.cosigned),
            refused: read(&self.witnessing.refused),
            failed: read(&self.witnessing.failed),
        };
        for cell in self.cells.opened() {
            let of_cell = cell.witness_statistics();
            sum.cosigned += of_cell.cosigned;
            sum.refused += of_cell.refused;
            sum.failed += of_cell.failed;
        }
        sum
    }

    /// Asks one witness until the process stops.
    fn ask_witness(&self, witness: usize) {
        let witnessing = &self.witnessing;
        while !witnessing.is_stopped() {
            let published = {
                let mut rounds = witnessing.rounds.lock();
                match rounds.take(witness, Instant::now()) {
                    Next::Ask(published) => published,
                    Next::Wait(Some(pause)) => {
                        witnessing.changed.wait_for(&mut rounds, pause);
                        continue;
                    }
                    Next::Wait(None) => {
                        if !witnessing.is_stopped() {
                            witnessing.changed.wait_for(&mut rounds, SCAN_STEP_INTERVAL);
                        }
                        continue;
                    }
                }
            };
            let outcome = self.ask(&witnessing.asked[witness], &published);
            let now = Instant::now();
            witnessing.rounds.lock().finish(witness, &published, outcome, now);
            witnessing.changed.notify_all();
        }
    }

    /// Stores cosignatures, and looks for checkpoints without a quorum, until `stopped` closes.
    fn store_cosignatures(&self, stopped: &mpsc::Receiver<()>) {
        let mut scan = Scan::default();
        let mut is_without_quorum = false;
        loop {
            let is_stopping = stopped.recv_timeout(STORE_INTERVAL) != Err(mpsc::RecvTimeoutError::Timeout);
            let unwritten = self.witnessing.rounds.lock().take_unwritten(Instant::now());
            let is_new = !unwritten.is_empty();
            match self.store_collected(unwritten) {
                Ok(()) if is_new => self.witnessing.stored.send_modify(|stored| *stored += 1),
                Ok(()) => {}
                Err(error) => log::warn!("cannot store cosignatures: {error}"),
            }
            if is_stopping {
                return;
            }
            scan.step(self);
            is_without_quorum = self.note_quorum(is_without_quorum);
        }
    }

    /// Logs when the first log is without a quorum, and when none is.
    fn note_quorum(&self, was_without: bool) -> bool {
        let count = self.witnessing.rounds.lock().count_without_quorum(Instant::now());
        match (count, was_without) {
            (0, true) => log::info!("every checkpoint has a quorum of witnesses again"),
            (1.., false) => log::warn!(
                "{count} checkpoints were published without a quorum of witnesses; the metric audit_logs_without_quorum has the \
                 present number"
            ),
            _ => {}
        }
        count > 0
    }
}

/// The scan for checkpoints without a quorum.
struct Scan {
    is_first: bool,
    after: Option<LedgerId>,
    next_at: Instant,
}

impl Default for Scan {
    fn default() -> Self {
        Self {
            is_first: true,
            after: None,
            next_at: Instant::now(),
        }
    }
}

impl Scan {
    fn step(&mut self, service: &AuditLog) {
        if Instant::now() < self.next_at {
            return;
        }
        self.after = service
            .submit_uncosigned(self.after, self.is_first)
            .unwrap_or_else(|error| {
                log::warn!("cannot look for checkpoints without a quorum: {error}");
                None
            });
        self.is_first &= self.after.is_some();
        self.next_at = Instant::now()
            + match self.after {
                Some(_) => SCAN_STEP_INTERVAL,
                None => SCAN_INTERVAL,
            };
    }
}

impl AuditLog {
    /// Requests cosignatures of checkpoints without a quorum, of a part of all ledgers behind `after`. Returns where the next part begins.
    fn submit_uncosigned(&self, after: Option<LedgerId>, is_first: bool) -> Result<Option<LedgerId>> {
        let now = self.clock.now();
        let signed_before = match is_first {
            true => now.plus_seconds(1),
            false => now.plus_seconds(-SETTLED_SECONDS),
        };
        let found = self
            .store
            .read(|reader| reader.uncosigned_ledgers(after, signed_before))?;
        for ledger_ids in found.ledger_ids.chunks(100) {
            let states = self.store.read(|reader| reader.signing_states(ledger_ids))?;
            let signer = self.log_signer()?;
            let published = states.into_iter().filter_map(|state| {
                let origin = signer.origin(&state.name).ok()?;
                let checkpoint = state.checkpoint?;
                // A note in the database that the log has not signed is none of a witness's business.
                signer.open(&checkpoint.note, &origin).ok()?;
                Some(Published {
                    ledger_id: state.ledger_id,
                    size: checkpoint.size,
                    note: checkpoint.note,
                })
            });
            self.witnessing.submit_all(published);
        }
        let uncosigned: BTreeSet<LedgerId> = found.ledger_ids.into_iter().collect();
        let mut rounds = self.witnessing.rounds.lock();
        rounds.settle(after, found.last, &uncosigned, Instant::now());
        Ok(found.last)
    }
}
