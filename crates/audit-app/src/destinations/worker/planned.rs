//! What a run stores between two commits: the batch in flight, or how far a batch reached that was refused.

use crate::destinations::classes_of;
use audit_destinations::{OcsfOptions, RecordFormat};
use audit_domain::Timestamp;
use audit_store::DestinationRunRow;
use serde_json::{Value, json};

/// What is committed before a batch is sent. After a crash, the same batch is made of it: the same bytes under the same id.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Plan {
    /// The batch has the events from the cursor up to here that match the filter.
    pub(super) end_seq: u64,
    /// The number of its records.
    pub(super) records: u64,
    /// The filter of the destination when the batch was planned.
    pub(super) filter: Value,
    /// Fingerprint of its settings at that time: another receiver gets another batch. `None` if they could not be read.
    pub(super) settings: Option<String>,
    pub(super) format: RecordFormat,
    pub(super) ocsf: OcsfOptions,
    pub(super) at: Timestamp,
    /// The only record, if it is a checkpoint.
    pub(super) checkpoint: Option<PlannedCheckpoint>,
    /// The end of a longer batch that was refused before: see [`refused_end_seq`].
    pub(super) refused_end_seq: Option<u64>,
}

/// What a checkpoint record is made of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct PlannedCheckpoint {
    /// The note of the stream.
    pub(super) note: String,
    /// That of the log.
    pub(super) log_checkpoint: String,
    /// The note names all events that were set aside up to this position.
    pub(super) covered_position: u64,
}

impl Plan {
    /// The text that is stored.
    pub(super) fn to_text(&self) -> String {
        let mut plan = json!({
            "end_seq": self.end_seq, "records": self.records, "filter": self.filter, "format": self.format.as_str(),
            "include_raw": self.ocsf.include_raw, "ocsf_classes": self.ocsf.classes.to_json(), "at": self.at.as_micros(), "settings": self.settings,
            "refused_end_seq": self.refused_end_seq,
        });
        if let Some(checkpoint) = &self.checkpoint {
            plan["checkpoint"] = json!(checkpoint.note);
            plan["log_checkpoint"] = json!(checkpoint.log_checkpoint);
            plan["covered_position"] = json!(checkpoint.covered_position);
        }
        plan.to_string()
    }

    /// Reads what [`Self::to_text`] writes; `None` for another text.
    pub(super) fn parse(text: &str) -> Option<Self> {
        let mut plan: Value = serde_json::from_str(text).ok()?;
        let text = |name: &str| plan.get(name).and_then(Value::as_str).map(str::to_owned);
        let notes = text("checkpoint").zip(text("log_checkpoint"));
        let checkpoint = notes.zip(plan["covered_position"].as_u64());
        Some(Self {
            end_seq: plan["end_seq"].as_u64()?,
            records: plan["records"].as_u64()?,
            format: plan["format"].as_str()?.parse().ok()?,
            ocsf: OcsfOptions {
                include_raw: plan["include_raw"].as_bool()?,
                classes: classes_of(plan["ocsf_classes"].clone())?,
            },
            at: Timestamp::from_micros(plan["at"].as_i64()?),
            settings: text("settings"),
            refused_end_seq: plan["refused_end_seq"].as_u64(),
            checkpoint: checkpoint.map(|((note, log_checkpoint), covered_position)| PlannedCheckpoint {
                note,
                log_checkpoint,
                covered_position,
            }),
            filter: plan["filter"].take(),
        })
    }
}

/// What is stored of a refused batch of several events, whose end this is, once its plan is no longer in flight.
pub(super) fn refused_text(end_seq: u64) -> String {
    json!({ "refused_end_seq": end_seq }).to_string()
}

fn refused_end_in(text: &str) -> Option<u64> {
    let planned: Value = serde_json::from_str(text).ok()?;
    planned["refused_end_seq"].as_u64()
}

/// The end of the events of a batch that was refused, until the run has passed it. The receiver may have some of them.
pub(super) fn refused_end_seq(run: &DestinationRunRow) -> Option<u64> {
    let end = refused_end_in(run.planned.as_deref()?);
    end.filter(|end| *end > run.cursor_seq.cast_unsigned())
}

/// The batch in flight; `Some(None)` for a text that is no plan.
pub(super) fn planned(run: &DestinationRunRow) -> Option<Option<Plan>> {
    let text = run.planned.as_deref()?;
    let plan = Plan::parse(text);
    (plan.is_some() || refused_end_in(text).is_none()).then_some(plan)
}
