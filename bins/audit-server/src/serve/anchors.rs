//! The thread that makes and sends anchors.

use audit_app::{AnchorInterval, AnchorPlaces, AuditLog};
use std::sync::{Arc, mpsc};
use std::time::Duration;

/// The interval at which the thread looks for work.
const LOOK_INTERVAL_MS: u64 = 1_000;
/// How long a stop waits for a running request to a place. Its anchor is sent again after the next start.
const STOP_SECONDS_MAX: u64 = 2;

/// What a server does with anchors.
pub(crate) struct Anchors {
    pub(crate) every: AnchorInterval,
    pub(crate) places: AnchorPlaces,
}

/// The thread that makes and sends anchors.
pub(super) struct AnchorWorker {
    /// The thread stops when this is dropped.
    stop: mpsc::Sender<()>,
    stopped: mpsc::Receiver<()>,
}

impl AnchorWorker {
    /// Starts the thread if there are places.
    pub(super) fn start(service: &Arc<AuditLog>, anchors: Option<Anchors>) -> std::io::Result<Option<Self>> {
        let Some(anchors) = anchors.filter(|anchors| !anchors.places.is_empty()) else {
            return Ok(None);
        };
        let (stop, stopping) = mpsc::channel();
        let (ended, stopped) = mpsc::channel();
        let service = Arc::clone(service);
        let thread = std::thread::Builder::new().name("anchors".to_owned());
        thread.spawn(move || {
            work(&service, &anchors, &stopping);
            drop(ended);
        })?;
        Ok(Some(Self { stop, stopped }))
    }

    /// Stops the thread, or leaves it to its request.
    pub(super) fn stop(self) {
        drop(self.stop);
        let wait = Duration::from_secs(STOP_SECONDS_MAX);
        if self.stopped.recv_timeout(wait) == Err(mpsc::RecvTimeoutError::Timeout) {
            log::warn!("an anchor is being sent, and is sent again after the next start");
        }
    }
}

fn work(service: &Arc<AuditLog>, anchors: &Anchors, stopping: &mpsc::Receiver<()>) {
    let mut is_failing = false;
    loop {
        let made = service.make_anchor(anchors.every, &anchors.places);
        match made.and_then(|()| service.send_anchors(&anchors.places)) {
            Ok(()) => is_failing = false,
            Err(error) if is_failing => log::debug!("cannot make or send anchors: {error}"),
            Err(error) => {
                log::warn!("cannot make or send anchors: {:#}", anyhow::Error::from(error));
                is_failing = true;
            }
        }
        let pause = Duration::from_millis(LOOK_INTERVAL_MS);
        if stopping.recv_timeout(pause) != Err(mpsc::RecvTimeoutError::Timeout) {
            return;
        }
    }
}
