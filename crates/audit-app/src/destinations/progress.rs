//! How far a destination is.

use super::{damaged, logged_at};
use crate::error::Result;
use audit_destinations::RunState;
use audit_domain::{Plan, ProjectId, Timestamp};
use audit_store::{DestinationRow, DestinationRunRow, LedgerId, MAIN_RUN, Reader};
use serde_json::Value;

audit_domain::words! {
    /// The state of a destination or of its replay.
    pub enum DestinationState {
        /// Events are sent as they arrive.
        Active = "active",
        /// The receiver does not take records now. They are sent again until it does.
        Delayed = "delayed",
        /// The receiver refuses the credentials. They are tried again every five minutes.
        Credentials = "credentials",
        /// The receiver refused several events in a row. Nothing is sent until it is resumed.
        Parked = "parked",
        /// Nothing is sent until it is resumed; or while the organization is on the free plan.
        Paused = "paused",
    }
}

impl From<RunState> for DestinationState {
    fn from(state: RunState) -> Self {
        match state {
            RunState::Active => Self::Active,
            RunState::Delayed => Self::Delayed,
            RunState::Credentials => Self::Credentials,
            RunState::Parked => Self::Parked,
        }
    }
}

/// How far a destination is.
#[derive(Clone, Debug)]
pub struct DestinationProgress {
    /// Its state.
    pub state: DestinationState,
    /// The number of the last record that was delivered; 0 at first.
    pub position: i64,
    /// The position in the log of the next event.
    pub cursor_seq: i64,
    /// Events of the log that it has not come to, those that its filter leaves out and removed ones included.
    pub lag_events: i64,
    /// How long the log has had the first of these, in seconds; `None` without one.
    pub lag_seconds: Option<i64>,
    /// When the receiver last took records.
    pub last_success_at: Option<Timestamp>,
    /// The last attempt that failed since then.
    pub last_error: Option<DestinationError>,
    /// When the next attempt may begin, after one that failed.
    pub next_attempt_at: Option<Timestamp>,
    /// The number of events that the receiver refused.
    pub set_aside: i64,
    /// The replay that runs.
    pub replay: Option<ReplayProgress>,
}

/// An attempt that failed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DestinationError {
    /// When.
    pub at: Timestamp,
    /// The HTTP status of the response; `None` without one.
    pub status: Option<i64>,
    /// What was sent, without secrets.
    pub request: String,
    /// The beginning of the response, or why there is none.
    pub response: String,
}

impl DestinationError {
    /// Reads what a run has stored: JSON with these members.
    fn parse(text: &str) -> Option<Self> {
        let stored: Value = serde_json::from_str(text).ok()?;
        let text = |name: &str| Some(stored.get(name)?.as_str()?.to_owned());
        Some(Self {
            at: Timestamp::parse_rfc3339(&text("at")?).ok()?,
            status: stored.get("status").and_then(Value::as_i64),
            request: text("request")?,
            response: text("response")?,
        })
    }
}

/// How far a replay is.
#[derive(Clone, Debug)]
pub struct ReplayProgress {
    /// Its number, which each of its records has as `run`.
    pub number: i64,
    /// The number of the last record that was delivered; 0 at first.
    pub position: i64,
    /// The position in the log of the next event.
    pub cursor_seq: i64,
    /// Where it ends: the position in the log of the first event that it leaves out.
    pub end_seq: i64,
    /// Its state.
    pub state: DestinationState,
}

impl ReplayProgress {
    /// `is_paused`: whether nothing is sent.
    pub(super) fn of(run: &DestinationRunRow, is_paused: bool) -> Result<Self> {
        Ok(Self {
            number: run.number,
            position: run.position,
            cursor_seq: run.cursor_seq,
            end_seq: run.end_seq.ok_or_else(damaged)?,
            state: state_of(run, is_paused)?,
        })
    }
}

fn state_of(run: &DestinationRunRow, is_paused: bool) -> Result<DestinationState> {
    let state: RunState = run.state.parse().map_err(|_| damaged())?;
    Ok(match is_paused {
        true => DestinationState::Paused,
        false => state.into(),
    })
}

impl DestinationProgress {
    /// How far a destination is at `now`.
    pub(super) fn read(reader: &mut Reader<'_>, row: &DestinationRow, now: Timestamp) -> Result<Self> {
        // Before the run, which is at least as new: an event that was set aside has a position that the run has passed.
        let set_aside = reader.set_aside_count(&row.id)?;
        let runs = reader.destination_runs(&row.id)?;
        let main = runs
            .iter()
            .find(|run| run.number == MAIN_RUN)
            .ok_or_else(damaged)?;
        let replay = runs.iter().find(|run| run.number != MAIN_RUN);
        let (ledger_id, cursor) = (LedgerId(main.ledger_id), main.cursor_seq.cast_unsigned());
        let size = reader.ledger_size(ledger_id)?.cast_signed();
        let next = reader.logged_events(ledger_id, cursor, 1)?;
        let logged_at = next.first().map(|next| logged_at(&next.event)).transpose()?;
        let last_error = main.last_error.as_deref();
        let last_error = last_error.map(|text| DestinationError::parse(text).ok_or_else(damaged));
        let project_id: ProjectId = row.project_id.parse().map_err(|_| damaged())?;
        let is_paused = row.paused || reader.plan_of(project_id)? == Plan::Free;
        let state = state_of(main, is_paused)?;
        let waits = matches!(state, DestinationState::Delayed | DestinationState::Credentials);
        Ok(Self {
            state,
            position: main.position,
            cursor_seq: main.cursor_seq,
            lag_events: (size - main.cursor_seq).max(0),
            lag_seconds: logged_at.map(|at| (now.as_seconds() - at.as_seconds()).max(0)),
            last_success_at: main.last_success_at.map(Timestamp::from_micros),
            last_error: last_error.transpose()?,
            next_attempt_at: waits.then(|| Timestamp::from_micros(main.next_attempt_at)),
            set_aside,
            replay: replay.map(|run| ReplayProgress::of(run, is_paused)).transpose()?,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stored_error_is_read() {
        let text =
            r#"{"at":"2026-01-15T10:30:00.000Z","status":503,"request":"POST https://a","response":"busy"}"#;
        let error = DestinationError {
            at: Timestamp::from_seconds(1_768_473_000),
            status: Some(503),
            request: "POST https://a".to_owned(),
            response: "busy".to_owned(),
        };
        assert_eq!(DestinationError::parse(text), Some(error.clone()));
        let without = DestinationError {
            status: None,
            ..error
        };
        assert_eq!(
            DestinationError::parse(&text.replace("503", "null")),
            Some(without)
        );
        assert_eq!(DestinationError::parse(&text.replace("\"at\"", "\"when\"")), None);
    }

    #[test]
    fn every_state_of_a_run_has_the_same_word_in_the_interface() {
        for state in RunState::ALL {
            assert_eq!(DestinationState::from(*state).as_str(), state.as_str());
        }
    }
}
