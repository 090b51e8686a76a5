//! The threads of a server: those of each cell, and the one that follows the list of cells.

use super::background::Background;
use anyhow::Context;
use audit_app::{AuditLog, Deliveries, Sender, WitnessThreads};
use parking_lot::Mutex;
use std::sync::Arc;

/// The threads of all open cells.
pub(super) struct CellWorkers {
    /// `None` on SQLite, which has no cells.
    list: Option<Background>,
    self_audit: Background,
    home: Workers,
    others: Arc<Mutex<Others>>,
}

/// The threads of one cell.
struct Workers {
    service: Arc<AuditLog>,
    background: Background,
    deliveries: Deliveries,
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
            background: Background::start(service)?,
            deliveries: service.start_deliveries(sender)?,
            witnessing: service.start_witnessing()?,
            service: Arc::clone(service),
        })
    }

    fn stop(self) {
        let stopping = self.background.request_stop();
        self.deliveries.stop();
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
        home.on_cell(move |service| start_workers(&opened, service, &sender_of_others))?;
        let has_list = !home.cells().context("cannot read the list of cells")?.is_empty();
        Ok(Self {
            home: Workers::start(home, sender)?,
            self_audit: Background::record_self_audit_switch(home)?,
            list: has_list.then(|| Background::follow_cells(home)).transpose()?,
            others,
        })
    }

    /// Ends the threads after their current step.
    pub(super) fn stop(self) {
        let list = self.list.map(Background::request_stop);
        let self_audit = self.self_audit.request_stop();
        let others = {
            let mut others = self.others.lock();
            others.is_stopped = true;
            std::mem::take(&mut others.workers)
        };
        self.home.stop();
        others.into_iter().for_each(Workers::stop);
        if let Some(list) = list {
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
