//! Asking witnesses for cosignatures (C2SP `tlog-witness`).
//!
//! A published checkpoint is handed over in memory. Threads of their own, a few for each witness, send it and verify the
//! cosignatures; one more stores these beside the checkpoint. So signing, commits and receipts wait for no witness, and a witness
//! that hangs delays no other. [`rounds`] decides who is asked for what.
//!
//! A checkpoint that no witness was asked for, because its node died or had too much to do, is found by a scan once a minute.

mod asking;
pub(crate) mod cosigned;
mod rounds;
pub(crate) mod threads;

use audit_ledger::{Policy, WitnessKey};
use audit_store::{LedgerId, NewCheckpoint};
use parking_lot::{Condvar, Mutex};
use rounds::{Published, Rounds};
use std::collections::{BTreeSet, HashMap, HashSet};
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;
use tokio::sync::watch;

/// The maximum number of logs of which refusals are logged one by one.
const LOGGED_REFUSALS_MAX: usize = 1_000;
/// The maximum number of logs of which it is remembered what a witness has cosigned last.
const SIZES_MAX: usize = 50_000;

/// Sends requests to witnesses.
pub trait WitnessClient: Send + Sync {
    /// `POST <url>/add-checkpoint` with this body. Ends within a few seconds.
    ///
    /// # Errors
    /// The reason why there is no response.
    fn add_checkpoint(&self, url: &str, body: &str) -> std::result::Result<WitnessReply, String>;
}

/// The response of a witness.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WitnessReply {
    /// The HTTP status.
    pub status: u16,
    /// The body.
    pub body: String,
}

/// The witnesses of a deployment.
pub struct Witnesses {
    policy: Policy,
    client: Box<dyn WitnessClient>,
}

/// The policy needs more witnesses than can be asked.
#[derive(Debug, thiserror::Error)]
#[error("the quorum cannot be reached: the witnesses with a URL are too few")]
pub struct UnreachableQuorum;

impl Witnesses {
    /// The witnesses of a policy, which are asked by this client.
    ///
    /// # Errors
    /// [`UnreachableQuorum`] if the witnesses that have a URL are no quorum.
    pub fn new(
        policy: Policy,
        client: Box<dyn WitnessClient>,
    ) -> std::result::Result<Self, UnreachableQuorum> {
        match policy.is_reachable() {
            true => Ok(Self { policy, client }),
            false => Err(UnreachableQuorum),
        }
    }
}

impl fmt::Debug for Witnesses {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_tuple("Witnesses").field(&self.policy).finish()
    }
}

/// The results of the requests of this process to witnesses.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct WitnessStatistics {
    /// Cosignatures received.
    pub cosigned: u64,
    /// Checkpoints that a witness does not cosign.
    pub refused: u64,
    /// Requests without the response of a witness.
    pub failed: u64,
}

/// What this process knows of its witnesses.
pub(crate) struct Witnessing {
    witnesses: Option<Arc<Witnesses>>,
    /// Those with a URL.
    asked: Vec<AskedWitness>,
    rounds: Mutex<Rounds>,
    /// Held while a proof is made: the threads of all witnesses use one database connection at a time.
    proving: Mutex<()>,
    changed: Condvar,
    is_stopped: std::sync::atomic::AtomicBool,
    cosigned: AtomicU64,
    refused: AtomicU64,
    failed: AtomicU64,
    /// How often cosignatures were stored.
    stored: watch::Sender<u64>,
}

/// A witness that is asked.
struct AskedWitness {
    name: String,
    key: WitnessKey,
    url: String,
    known: Mutex<Known>,
}

/// What is known of a witness.
#[derive(Default)]
struct Known {
    /// The sizes of the last checkpoints that it has cosigned.
    sizes: HashMap<LedgerId, u64>,
    is_failing: bool,
    /// The refusals that were logged: status, and the log where it matters.
    logged: HashSet<(u16, Option<LedgerId>)>,
}

impl Known {
    fn set_size(&mut self, ledger_id: LedgerId, size: u64) {
        if self.sizes.len() >= SIZES_MAX {
            self.sizes.clear();
        }
        self.sizes.insert(ledger_id, size);
    }
}

impl Witnessing {
    pub(crate) fn new(witnesses: Option<Arc<Witnesses>>) -> Self {
        let known = witnesses
            .iter()
            .flat_map(|witnesses| witnesses.policy.witnesses());
        let asked: Vec<AskedWitness> = known
            .filter_map(|witness| {
                Some(AskedWitness {
                    name: witness.name.clone(),
                    key: witness.key.clone(),
                    url: witness.url.clone()?,
                    known: Mutex::default(),
                })
            })
            .collect();
        let names: Vec<String> = asked.iter().map(|witness| witness.name.clone()).collect();
        let of_quorum = witnesses.clone();
        let is_quorum = move |cosigners: &BTreeSet<usize>| {
            let cosigners = cosigners.iter().filter_map(|index| names.get(*index));
            let cosigners: BTreeSet<&str> = cosigners.map(String::as_str).collect();
            let witnesses = of_quorum.as_ref();
            witnesses.is_some_and(|witnesses| witnesses.policy.is_quorum(&cosigners))
        };
        Self {
            rounds: Mutex::new(Rounds::new(asked.len(), Box::new(is_quorum))),
            proving: Mutex::default(),
            witnesses,
            asked,
            changed: Condvar::new(),
            is_stopped: false.into(),
            cosigned: AtomicU64::new(0),
            refused: AtomicU64::new(0),
            failed: AtomicU64::new(0),
            stored: watch::Sender::default(),
        }
    }

    /// Changes when cosignatures were stored. `None` where no witnesses are asked.
    pub(super) fn stored_cosignatures(&self) -> Option<watch::Receiver<u64>> {
        (!self.asked.is_empty()).then(|| self.stored.subscribe())
    }

    /// Requests cosignatures of published checkpoints. Returns at once.
    pub(super) fn submit<'a>(&self, published: impl Iterator<Item = &'a NewCheckpoint>) {
        self.submit_all(published.map(|new| Published {
            ledger_id: new.ledger_id,
            size: new.checkpoint.size,
            note: new.checkpoint.note.clone(),
        }));
    }

    fn submit_all(&self, published: impl Iterator<Item = Published>) {
        if self.asked.is_empty() {
            return;
        }
        let now = Instant::now();
        {
            let mut rounds = self.rounds.lock();
            published.for_each(|published| rounds.submit(published, now));
        }
        self.changed.notify_all();
    }

    fn is_stopped(&self) -> bool {
        self.is_stopped.load(Ordering::Relaxed)
    }

    fn count(&self, counter: impl Fn(&Self) -> &AtomicU64) {
        counter(self).fetch_add(1, Ordering::Relaxed);
    }
}

impl fmt::Debug for Witnessing {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_tuple("Witnessing")
            .field(&self.witnesses)
            .finish()
    }
}
