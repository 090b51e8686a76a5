//! The threads of a server: those of each cell, and the one that follows the list of cells.

use super::background::Background;
use actix_web::rt::time::timeout;
use anyhow::Context;
use audit_app::{AuditLog, Deliveries, Destinations, Removals, Sender, WitnessThreads};
use parking_lot::Mutex;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::oneshot::{self, error::TryRecvError};

/// How long a server that starts waits until its cells are open. Connecting to a server that does not respond takes longer.
const FIRST_CELLS_WAIT: Duration = Duration::from_secs(10);

/// The threads of all open cells.
pub(super) struct CellWorkers {
    /// The thread that follows the list, and a channel that closes after the first attempt to open each cell. `None` on SQLite, which
    /// has no cells.
    list: Option<(Background, oneshot::Receiver<()>)>,
    self_audit: Background,
    home: Workers,
    others: Arc<Mutex<Others>>,
}

/// The threads of one cell.
struct Workers {
    service: Arc<AuditLog>,
    background: Background,
    deliveries: Deliveries,
    destinations: Option<Destinations>,
    removals: Option<Removals>,
    witnessing: Option<WitnessThreads>,
}

/// The threads of the cells other than the home cell.
#[derive(Default)]
struct Others {
    is_stopped: bool,
    workers: Vec<Workers>,
}

impl Workers {
    fn start(service: &Arc<AuditLog>, sender: Sender) -> std::io::Result<Self> {
        Ok(Self {
            removals: service.start_removals()?,
            background: Background::start(service)?,
            deliveries: service.start_deliveries(sender)?,
            destinations: service.start_destinations()?,
            witnessing: service.start_witnessing()?,
            service: Arc::clone(service),
        })
    }

    fn stop(self) {
        let stopping = self.background.request_stop();
        // Their attempts end while those of the deliveries do.
        if let Some(destinations) = &self.destinations {
            destinations.request_stop();
        }
        if let Some(removals) = &self.removals {
            removals.request_stop();
        }
        self.deliveries.stop();
        if let Some(destinations) = self.destinations {
            destinations.stop();
        }
        if let Some(removals) = self.removals {
            removals.stop();
        }
        stopping.join();
        if let Err(error) = self.service.sign_checkpoints() {
            log::warn!(
                "cannot sign the last checkpoints, another server or the next start does: {:#}",
                anyhow::Error::from(error)
            );
        }
        if let Some(witnessing) = self.witnessing {
            witnessing.stop();
        }
    }
}

impl CellWorkers {
    /// Starts the threads of the home cell, and those of each other cell when it is opened.
    pub(super) fn start(home: &Arc<AuditLog>, sender: Sender) -> anyhow::Result<Self> {
        let others = Arc::new(Mutex::new(Others::default()));
        let (opened, sender_of_others) = (Arc::clone(&others), sender.clone());
        home.on_cell(move |service| {
            start_workers(&opened, service, &sender_of_others);
        })?;
        let has_list = !home.cells().context("cannot read the list of cells")?.is_empty();
        Ok(Self {
            home: Workers::start(home, sender)?,
            self_audit: Background::record_self_audit_switch(home)?,
            list: has_list.then(|| Background::follow_cells(home)).transpose()?,
            others,
        })
    }

    /// Waits for the first attempt to open each cell, at most [`FIRST_CELLS_WAIT`]: requests that arrive while their cell is being
    /// opened get 503 if that takes long.
    pub(super) async fn wait_until_open(&mut self) {
        let Some((_, opened)) = &mut self.list else {
            return;
        };
        if timeout(FIRST_CELLS_WAIT, opened).await.is_err() {
            log::warn!("some cells are not open yet; requests for their projects get 503 until they are");
        }
    }

    /// Ends the threads after their current step. One that still opens the first cells is not waited for: it may wait for a database
    /// that does not respond, and starts nothing more.
    pub(super) fn stop(self) {
        let list = self.list.map(|(list, mut opened)| {
            let is_opening = opened.try_recv() == Err(TryRecvError::Empty);
            (list.request_stop(), is_opening)
        });
        let self_audit = self.self_audit.request_stop();
        let others = {
            let mut others = self.others.lock();
            others.is_stopped = true;
            std::mem::take(&mut others.workers)
        };
        self.home.stop();
        others.into_iter().for_each(Workers::stop);
        if let Some((list, false)) = list {
            list.join();
        }
        self_audit.join();
    }
}

/// Starts the threads of a cell that was opened.
fn start_workers(others: &Mutex<Others>, service: &Arc<AuditLog>, sender: &Sender) {
    if let Err(error) = service.check_secrets() {
        log::error!("a cell: {:#}", anyhow::Error::from(error));
    }
    let mut others = others.lock();
    if others.is_stopped {
        return;
    }
    match Workers::start(service, sender.clone()) {
        Ok(workers) => others.workers.push(workers),
        Err(error) => log::error!(
            "cannot start the threads of a cell: {:#}",
            anyhow::Error::from(error)
        ),
    }
}
