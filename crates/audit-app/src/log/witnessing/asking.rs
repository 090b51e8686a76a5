//! One request for a cosignature: C2SP `tlog-witness`, `add-checkpoint`.

use super::rounds::{Outcome, Published};
use super::{AskedWitness, LOGGED_REFUSALS_MAX, WitnessReply, Witnessing};
use crate::error::Result;
use crate::log::head_of;
use crate::service::AuditLog;
use audit_ledger::{AddCheckpoint, ConsistencyProof};

/// How often one request is repeated with the size that the witness has.
const CONFLICTS_MAX: u32 = 3;
/// The most bytes of a witness's text in the log.
const REASON_BYTES_MAX: usize = 200;

impl AuditLog {
    /// Asks a witness to cosign a checkpoint.
    pub(super) fn ask(&self, witness: &AskedWitness, published: &Published) -> Outcome {
        let outcome = self.request(witness, published).unwrap_or_else(|error| {
            log::warn!(
                "cannot prove to the witness {} that the log grew: {error}",
                witness.name
            );
            Outcome::Refused
        });
        match &outcome {
            Outcome::Cosigned(_) => self.witnessing.count(|counters| &counters.cosigned),
            Outcome::Refused => self.witnessing.count(|counters| &counters.refused),
            Outcome::Failed => self.witnessing.count(|counters| &counters.failed),
            Outcome::Outdated => {}
        }
        outcome
    }

    fn request(&self, witness: &AskedWitness, published: &Published) -> Result<Outcome> {
        let Published {
            ledger_id,
            size,
            note,
        } = published;
        let known = witness.known.lock().sizes.get(ledger_id).copied();
        // Of a log that this process has not asked about, the witness tells what it has.
        let mut old_size = known.filter(|known| known <= size).unwrap_or(0);
        for _ in 0..CONFLICTS_MAX {
            let request = AddCheckpoint {
                old_size,
                consistency: self.proof_for_witness(published, old_size)?,
                checkpoint: note.clone(),
            };
            let reply = match self.witnessing.send(witness, &request.to_string()) {
                Ok(reply) => reply,
                Err(reason) => return Ok(witness.failed(&reason)),
            };
            let conflict = match reply.status {
                409 => reply.body.trim_end().parse::<u64>().ok(),
                200 => return Ok(witness.cosigned(published, &reply.body)),
                429 | 500.. => return Ok(witness.failed(&said(&reply))),
                _ => return Ok(witness.refused(reply.status, published, &said(&reply))),
            };
            let Some(last) = conflict else {
                return Ok(witness.refused(reply.status, published, "no size"));
            };
            witness.known.lock().set_size(*ledger_id, last);
            if last > *size {
                return self.conflict(witness, published, last);
            }
            old_size = last;
        }
        Ok(witness.refused(409, published, "it names another size each time"))
    }

    /// The witness has cosigned more events than the checkpoint has.
    fn conflict(&self, witness: &AskedWitness, published: &Published, last: u64) -> Result<Outcome> {
        let stored = self
            .store
            .read(|reader| reader.log_checkpoint(published.ledger_id))?;
        if stored.is_some_and(|stored| stored.size >= last) {
            return Ok(Outcome::Outdated);
        }
        let reason = format!(
            "it has cosigned {last} events, and the log has {}",
            published.size
        );
        Ok(witness.refused(409, published, &reason))
    }

    fn proof_for_witness(&self, published: &Published, from: u64) -> Result<ConsistencyProof> {
        if from == 0 || from == published.size {
            return Ok(ConsistencyProof::from_hashes(Vec::new()));
        }
        let _turn = self.witnessing.proving.lock();
        let head = head_of(&published.note)?;
        self.prove_consistency(published.ledger_id, from, published.size, &head, None)
    }
}

impl Witnessing {
    fn send(&self, witness: &AskedWitness, body: &str) -> std::result::Result<WitnessReply, String> {
        let witnesses = self.witnesses.as_ref().ok_or("there are no witnesses")?;
        witnesses.client.add_checkpoint(&witness.url, body)
    }
}

impl AskedWitness {
    /// The cosignature in a response, if it is valid. Only that line is kept, whatever else the witness has sent.
    fn cosigned(&self, published: &Published, body: &str) -> Outcome {
        let Some(cosignature) = self.key.find(&format!("{}{body}", published.note)) else {
            return self.failed("the response has no valid cosignature of its key");
        };
        let mut known = self.known.lock();
        known.set_size(published.ledger_id, published.size);
        if std::mem::take(&mut known.is_failing) {
            log::info!("the witness {} cosigns again", self.name);
        }
        Outcome::Cosigned(cosignature.line)
    }

    fn failed(&self, reason: &str) -> Outcome {
        if !std::mem::replace(&mut self.known.lock().is_failing, true) {
            log::warn!("the witness {} does not cosign: {reason}", self.name);
        }
        Outcome::Failed
    }

    /// Logs a refusal once: for each log where the witness has another history of it, otherwise for each status.
    fn refused(&self, status: u16, published: &Published, reason: &str) -> Outcome {
        let is_of_history = matches!(status, 409 | 422);
        let key = (status, is_of_history.then_some(published.ledger_id));
        let mut known = self.known.lock();
        if known.logged.len() < LOGGED_REFUSALS_MAX && known.logged.insert(key) {
            let origin = published.note.lines().next().unwrap_or_default();
            match is_of_history {
                true => log::error!(
                    "the witness {} has seen another history of the log {origin}: {reason}",
                    self.name
                ),
                false => log::warn!(
                    "the witness {} does not cosign the log {origin}: {status} {reason}",
                    self.name
                ),
            }
        }
        Outcome::Refused
    }
}

/// The status and the first line of a response, for the log.
fn said(reply: &WitnessReply) -> String {
    let line = reply.body.lines().next().unwrap_or_default();
    let mut end = line.len().min(REASON_BYTES_MAX);
    while !line.is_char_boundary(end) {
        end -= 1;
    }
    let line: String = line[..end].chars().filter(|c| !c.is_control()).collect();
    format!("{} {line}", reply.status).trim_end().to_owned()
}
