//! The periodic work of a server: maintenance, signing checkpoints, and the maps of tenants.

use audit_app::{AuditLog, Purged};
use audit_cli::SystemEntropy;
use audit_domain::Entropy;
use audit_store::LedgerId;
use std::sync::{Arc, mpsc};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};
use tokio::sync::oneshot;

/// The interval of maintenance, which writes the last uses of keys.
const MAINTENANCE_INTERVAL_SECONDS: u64 = 5;
/// Pending deliveries are counted, and the database is measured, in that interval too. A slow count is followed by a pause this many times as long.
const COUNT_PAUSE_FACTOR: u32 = 20;
/// The interval at which the list of cells is read.
const CELLS_INTERVAL_MS: u64 = 1_000;
/// The interval of the purge of expired data.
const PURGE_INTERVAL_SECONDS: u64 = 300;
/// The interval of signing checkpoints, which may lag by at most a second.
const CHECKPOINT_INTERVAL_MS: u64 = 800;
/// The interval of the scans for logs that a node left unsigned when it died. A scan looks at a part of the ledgers after each
/// signing.
const SCAN_INTERVAL: Duration = Duration::from_secs(60);

/// After an error, the switch of self-audit is recorded after this time.
const SELF_AUDIT_RETRY_INTERVAL: Duration = Duration::from_secs(5);

/// How soon the maps of tenants are brought up to date that lack many events. A request may wait for it.
const TENANT_MAPS_INTERVAL: Duration = Duration::from_millis(50);

/// The node that stored an event gets this long to sign it before another one does.
const SETTLED_SECONDS: u32 = 5;

/// The threads of the periodic work.
pub(super) struct Background {
    /// A thread stops when its sender is dropped.
    stop: Vec<mpsc::Sender<()>>,
    threads: Vec<JoinHandle<()>>,
}

/// Threads that stop after their current step.
pub(super) struct Stopping(Vec<JoinHandle<()>>);

impl Background {
    pub(super) fn start(service: &Arc<AuditLog>) -> std::io::Result<Self> {
        // Metrics have no measurement before this one, and the first request can be one for metrics.
        measure(service);
        let mut background = Self {
            stop: Vec::new(),
            threads: Vec::new(),
        };
        background.spawn("background", service, maintain)?;
        background.spawn("checkpoints", service, sign_checkpoints)?;
        background.spawn("tenant maps", service, update_tenant_maps)?;
        Ok(background)
    }

    /// Records that the operator has switched self-audit on or off.
    pub(super) fn record_self_audit_switch(home: &Arc<AuditLog>) -> std::io::Result<Self> {
        let mut background = Self {
            stop: Vec::new(),
            threads: Vec::new(),
        };
        background.spawn("self-audit", home, record_self_audit_switch)?;
        Ok(background)
    }

    /// Follows the list of cells. The channel closes after the first attempt to open each.
    pub(super) fn follow_cells(home: &Arc<AuditLog>) -> std::io::Result<(Self, oneshot::Receiver<()>)> {
        let mut background = Self {
            stop: Vec::new(),
            threads: Vec::new(),
        };
        let (opened, all_opened) = oneshot::channel();
        background.spawn("cells", home, move |home, stopped| {
            follow_cells(home, stopped, opened);
        })?;
        Ok((background, all_opened))
    }

    fn spawn(
        &mut self,
        name: &str,
        service: &Arc<AuditLog>,
        work: impl FnOnce(&Arc<AuditLog>, &mpsc::Receiver<()>) + Send + 'static,
    ) -> std::io::Result<()> {
        let (stop, stopped) = mpsc::channel();
        let service = Arc::clone(service);
        let thread = std::thread::Builder::new().name(name.to_owned());
        self.threads.push(thread.spawn(move || work(&service, &stopped))?);
        self.stop.push(stop);
        Ok(())
    }

    pub(super) fn request_stop(self) -> Stopping {
        drop(self.stop);
        Stopping(self.threads)
    }
}

impl Stopping {
    pub(super) fn join(self) {
        for thread in self.0 {
            if thread.join().is_err() {
                log::error!("a background thread panicked");
            }
        }
    }
}

/// Waits for `interval`. Returns whether the work goes on.
fn pause(stopped: &mpsc::Receiver<()>, interval: Duration) -> bool {
    stopped.recv_timeout(interval) == Err(mpsc::RecvTimeoutError::Timeout)
}

/// Signs checkpoints until `stopped` closes.
fn sign_checkpoints(service: &Arc<AuditLog>, stopped: &mpsc::Receiver<()>) {
    let mut scan = UnsignedScan::default();
    while scan.is_running {
        scan.step(service, None);
    }
    check_remembered(service);
    // So that nodes that were started together do not scan together.
    let mut delay = [0];
    SystemEntropy.fill(&mut delay);
    scan.next_at += SCAN_INTERVAL * u32::from(delay[0]) / 256;
    while pause(stopped, Duration::from_millis(CHECKPOINT_INTERVAL_MS)) {
        if let Err(error) = service.sign_checkpoints() {
            log::warn!("cannot sign checkpoints: {:#}", anyhow::Error::from(error));
        }
        scan.step(service, Some(SETTLED_SECONDS));
    }
}

/// Finds the logs that are shorter than this node knows: the database lost its latest commits.
fn check_remembered(service: &AuditLog) {
    let mut after = None;
    loop {
        after = match service.check_remembered(after) {
            Ok(Some(next)) => Some(next),
            Ok(None) => return,
            Err(error) => {
                return log::warn!(
                    "cannot check the logs against the state file: {:#}",
                    anyhow::Error::from(error)
                );
            }
        };
    }
}

/// Brings the maps of tenants up to date until `stopped` closes.
fn update_tenant_maps(service: &Arc<AuditLog>, stopped: &mpsc::Receiver<()>) {
    let mut wait = Duration::ZERO;
    while pause(stopped, wait) {
        let is_more = service.update_tenant_maps().unwrap_or_else(|error| {
            log::warn!(
                "cannot update the maps of tenants: {:#}",
                anyhow::Error::from(error)
            );
            false
        });
        wait = match is_more {
            true => Duration::ZERO,
            false => TENANT_MAPS_INTERVAL,
        };
    }
}

/// The scan for logs that a node left unsigned when it died.
struct UnsignedScan {
    is_running: bool,
    /// Where the next part of the ledgers begins.
    after: Option<LedgerId>,
    /// When the next scan begins.
    next_at: Instant,
}

impl Default for UnsignedScan {
    fn default() -> Self {
        Self {
            is_running: true,
            after: None,
            next_at: Instant::now() + SCAN_INTERVAL,
        }
    }
}

impl UnsignedScan {
    /// Scans a part of the ledgers, unless the next scan has not begun.
    fn step(&mut self, service: &AuditLog, settled_seconds: Option<u32>) {
        if !self.is_running && Instant::now() < self.next_at {
            return;
        }
        if !self.is_running {
            self.next_at = Instant::now() + SCAN_INTERVAL;
        }
        let after = service.sign_unsigned(self.after, settled_seconds);
        self.after = after.unwrap_or_else(|error| {
            log::warn!("cannot look for unsigned logs: {:#}", anyhow::Error::from(error));
            None
        });
        self.is_running = self.after.is_some();
    }
}

/// Stores the event of the last switch of self-audit in the log of every project, or until `stopped` closes.
fn record_self_audit_switch(home: &Arc<AuditLog>, stopped: &mpsc::Receiver<()>) {
    let is_stopped = || stopped.try_recv() == Err(mpsc::TryRecvError::Disconnected);
    while let Err(error) = home.record_self_audit_switch(is_stopped) {
        log::warn!(
            "cannot record yet that self-audit was switched on or off: {:#}",
            anyhow::Error::from(error)
        );
        if !pause(stopped, SELF_AUDIT_RETRY_INTERVAL) {
            return;
        }
    }
}

/// Opens new cells, and completes interrupted changes, until `stopped` closes. Closes `opened` after the first attempt to open each cell.
fn follow_cells(home: &Arc<AuditLog>, stopped: &mpsc::Receiver<()>, opened: oneshot::Sender<()>) {
    let mut opened = Some(opened);
    loop {
        if let Err(error) = home.open_cells() {
            log::warn!("cannot read the list of cells: {:#}", anyhow::Error::from(error));
        }
        drop(opened.take());
        if let Err(error) = home.complete_interrupted_changes() {
            log::warn!(
                "cannot complete interrupted changes of organizations and streams: {:#}",
                anyhow::Error::from(error)
            );
        }
        if !pause(stopped, Duration::from_millis(CELLS_INTERVAL_MS)) {
            return;
        }
    }
}

/// Maintains the database until `stopped` closes.
fn maintain(service: &Arc<AuditLog>, stopped: &mpsc::Receiver<()>) {
    let purge_interval = Duration::from_secs(PURGE_INTERVAL_SECONDS);
    let mut purged_at = None::<Instant>;
    let mut next_count_at = Instant::now();
    while pause(stopped, Duration::from_secs(MAINTENANCE_INTERVAL_SECONDS)) {
        if let Err(error) = service.write_key_uses() {
            log::warn!(
                "cannot write the last uses of keys: {:#}",
                anyhow::Error::from(error)
            );
        }
        if Instant::now() >= next_count_at {
            let started_at = Instant::now();
            if let Err(error) = service.count_pending_deliveries() {
                log::warn!(
                    "cannot count the pending deliveries: {:#}",
                    anyhow::Error::from(error)
                );
            }
            measure(service);
            measure_destinations(service);
            next_count_at = Instant::now() + COUNT_PAUSE_FACTOR * started_at.elapsed();
        }
        if purged_at.is_none_or(|at| at.elapsed() >= purge_interval) {
            purged_at = Some(Instant::now());
            purge(service);
        }
    }
}

fn measure(service: &AuditLog) {
    if let Err(error) = service.measure() {
        log::warn!("cannot measure the database: {:#}", anyhow::Error::from(error));
    }
}

fn measure_destinations(service: &AuditLog) {
    if let Err(error) = service.measure_destinations() {
        log::warn!(
            "cannot measure the destinations: {:#}",
            anyhow::Error::from(error)
        );
    }
}

fn purge(service: &AuditLog) {
    match service.purge() {
        Ok(purged) if purged == Purged::default() => {}
        Ok(purged) => log::info!("purged {}", describe(purged)),
        Err(error) => log::warn!("cannot purge expired data: {:#}", anyhow::Error::from(error)),
    }
}

fn describe(purged: Purged) -> String {
    let Purged {
        streams,
        clients,
        deliveries,
        webhooks,
        secrets,
        set_aside,
        groups,
    } = purged;
    let counts = [
        (streams, "expired streams"),
        (clients, "stream clients"),
        (deliveries, "finished deliveries"),
        (webhooks, "deliveries and records of deleted webhooks"),
        (secrets, "replaced webhook secrets"),
        (set_aside, "events set aside by deleted destinations"),
        (groups, "idle alert groups"),
    ];
    let counts = counts.into_iter().filter(|(count, _)| *count > 0);
    let counts: Vec<String> = counts.map(|(count, kind)| format!("{count} {kind}")).collect();
    counts.join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_purge_is_described_by_what_it_removed() {
        let purged = Purged {
            streams: 2,
            groups: 1,
            ..Purged::default()
        };
        assert_eq!(describe(purged), "2 expired streams, 1 idle alert groups");
    }
}
