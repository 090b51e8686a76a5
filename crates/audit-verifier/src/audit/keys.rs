//! The keys of the audited log: the one that the auditor trusts, and those that it leads to by the statements of its rotations.

use super::server::{Fetched, LogServer};
use super::state::State;
use super::{AuditOptions, AuditResult, Failure};
use crate::read_key;
use anyhow::anyhow;
use audit_ledger::{KeyRotation, SignedCheckpoint, VerifierKey, key_successors};
use std::slice::from_ref;

/// Keys of one log.
pub(super) struct Keys {
    /// From the trusted one to the latest one.
    pub(super) all: Vec<VerifierKey>,
    /// The statements that lead there.
    rotations: Vec<KeyRotation>,
}

impl Keys {
    /// The key that must have signed what the server shows now.
    pub(super) fn latest(&self) -> &VerifierKey {
        self.all.last().unwrap_or(&self.all[0])
    }

    /// Checks that the latest key has signed a checkpoint. An earlier one is valid for what the auditor has seen before, and no
    /// longer: it may have been rotated because somebody else has it.
    pub(super) fn check_signature(&self, offered: &SignedCheckpoint) -> AuditResult<()> {
        let origin = offered.checkpoint().origin();
        let opened = SignedCheckpoint::open(offered.note(), origin, from_ref(self.latest()));
        opened.map(|_| ()).map_err(|error| {
            Failure::Inconsistent(format!(
                "the key was rotated to {}, which has not signed the checkpoint: {error}",
                self.latest()
            ))
        })
    }

    pub(super) fn into_state(self) -> (VerifierKey, Vec<KeyRotation>) {
        (self.latest().clone(), self.rotations)
    }
}

/// The keys that must have signed the checkpoints. A key on the command line must be the saved one, or lead to it.
pub(super) fn trusted(
    options: &AuditOptions,
    saved: Option<&State>,
    server: &LogServer,
) -> AuditResult<Keys> {
    let given = read_key(options.verifier_key.as_deref())?;
    let mut rotations = saved.map(|saved| saved.rotations.clone()).unwrap_or_default();
    for rotation in statements(server)? {
        if !rotations.contains(&rotation) {
            rotations.push(rotation);
        }
    }
    let known = match (given, saved) {
        (Some(given), Some(saved)) if !key_successors(&given, &rotations).contains(&saved.key) => {
            return Err(Failure::Inconclusive(anyhow!(
                "--verifier-key is not the key in {}",
                options.state.display()
            )));
        }
        (_, Some(saved)) => saved.key.clone(),
        (Some(given), None) => given,
        (None, None) => shown(server)?,
    };
    Ok(Keys {
        all: key_successors(&known, &rotations),
        rotations,
    })
}

/// The key that the server shows.
fn shown(server: &LogServer) -> AuditResult<VerifierKey> {
    let text = match server.text("log/key")? {
        Fetched::Found(text) => text,
        Fetched::Refused(why) => return Err(anyhow!("GET log/key: {why}").into()),
    };
    let key = text.trim_end().parse();
    key.map_err(|error| Failure::Inconsistent(format!("the server returns an invalid key: {error}")))
}

/// The rotations that the server shows. A server that does not know them has none.
fn statements(server: &LogServer) -> AuditResult<Vec<KeyRotation>> {
    let text = match server.text("log/key/rotations")? {
        Fetched::Found(text) => text,
        Fetched::Refused(_) => return Ok(Vec::new()),
    };
    let rotations = KeyRotation::open_all(&text);
    rotations.map_err(|error| {
        Failure::Inconsistent(format!(
            "the server returns an invalid rotation of its key: {error}"
        ))
    })
}
