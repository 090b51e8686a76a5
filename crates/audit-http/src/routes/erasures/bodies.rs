//! The responses of `/api/v1/erasures`.

use crate::schema::{ContentHashText, Id, Time, Word};
use audit_app::{
    ErasureEvent, ErasureEvents, ErasureId, ErasureState, ErasureStatus, OutOfReach, OutOfReachKind,
    WaitingFor,
};
use audit_domain::{Basis, Environment, EventId, EventPart, Extent};
use schemars::JsonSchema;
use serde::Serialize;

/// Copies that the erasure does not reach.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "OutOfReach")]
struct OutOfReachBody {
    #[schemars(with = "Word<OutOfReachKind>")]
    kind: &'static str,
    /// Of a destination its name; otherwise `null`.
    name: Option<String>,
    detail: String,
}

/// An erasure. It has no identifier of the person.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Erasure")]
struct ErasureBody {
    #[schemars(with = "Id<ErasureId>")]
    id: String,
    #[schemars(with = "Word<Environment>")]
    environment: &'static str,
    #[schemars(with = "Word<ErasureState>")]
    state: &'static str,
    #[schemars(with = "Word<Extent>")]
    extent: &'static str,
    #[schemars(with = "Word<Basis>")]
    basis: &'static str,
    ticket: Option<String>,
    #[schemars(with = "Time")]
    created_at: String,
    /// The id of the key that requested it.
    created_by: String,
    /// How many positions of the log have been read.
    read: u64,
    /// How many are read.
    size: u64,
    /// How many events it erases, as a whole or in part.
    events: u64,
    /// How many of these it erases as a whole.
    rows: u64,
    /// How many other events name the person and stay because a hold covers them.
    held: u64,
    /// Commits to these events and their parts; `null` while the log is read. A request to confirm it has this.
    #[schemars(with = "Option<ContentHashText>")]
    digest: Option<String>,
    /// Nothing is erased before this time; `null` before it is confirmed.
    #[schemars(with = "Option<Time>")]
    not_before: Option<String>,
    /// The position of the event that plans it.
    planned_seq: Option<u64>,
    /// The position of the event that authorises it.
    erased_seq: Option<u64>,
    /// When it was authorised.
    #[schemars(with = "Option<Time>")]
    erased_at: Option<String>,
    /// When its work ended.
    #[schemars(with = "Option<Time>")]
    done_at: Option<String>,
    /// What holds it back on this node.
    #[schemars(with = "Option<Word<WaitingFor>>")]
    waiting_for: Option<&'static str>,
    out_of_reach: Vec<OutOfReachBody>,
}

#[derive(Serialize, JsonSchema)]
#[schemars(rename = "ErasureResult")]
pub(in crate::routes) struct OneErasureBody {
    erasure: ErasureBody,
}

#[derive(Serialize, JsonSchema)]
#[schemars(rename = "ErasureList")]
pub(in crate::routes) struct ErasuresBody {
    /// The newest first.
    erasures: Vec<ErasureBody>,
}

/// An event of which an erasure takes something.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "ErasureEvent")]
struct ErasureEventBody {
    /// Its position in the log.
    seq: u64,
    /// `null` where the event is gone.
    #[schemars(with = "Option<Id<EventId>>")]
    id: Option<String>,
    #[schemars(with = "Option<Time>")]
    occurred_at: Option<String>,
    /// `null` where it is gone.
    action: Option<String>,
    /// Whether it is erased as a whole.
    row: bool,
    /// The parts that are erased, as `erased` of an event names them.
    parts: Vec<&'static str>,
}

#[derive(Serialize, JsonSchema)]
#[schemars(rename = "ErasureEventPage")]
pub(in crate::routes) struct ErasureEventsBody {
    /// By position.
    events: Vec<ErasureEventBody>,
    /// Asks for the next page; `null` on the last.
    cursor: Option<String>,
    /// Whether there is a next page.
    has_more: bool,
}

impl From<OutOfReach> for OutOfReachBody {
    fn from(copies: OutOfReach) -> Self {
        Self {
            kind: copies.kind.as_str(),
            name: copies.name,
            detail: copies.detail,
        }
    }
}

impl From<ErasureStatus> for ErasureBody {
    fn from(erasure: ErasureStatus) -> Self {
        Self {
            id: erasure.id,
            environment: erasure.environment.as_str(),
            state: erasure.state.as_str(),
            extent: erasure.extent.as_str(),
            basis: erasure.basis.as_str(),
            ticket: erasure.ticket,
            created_at: erasure.created_at.to_string(),
            created_by: erasure.created_by,
            read: erasure.read,
            size: erasure.size,
            events: erasure.events,
            rows: erasure.rows,
            held: erasure.held,
            digest: erasure.digest,
            not_before: erasure.not_before.map(|at| at.to_string()),
            planned_seq: erasure.planned_seq,
            erased_seq: erasure.erased_seq,
            erased_at: erasure.erased_at.map(|at| at.to_string()),
            done_at: erasure.done_at.map(|at| at.to_string()),
            waiting_for: erasure.waiting_for.map(WaitingFor::as_str),
            out_of_reach: erasure
                .out_of_reach
                .into_iter()
                .map(OutOfReachBody::from)
                .collect(),
        }
    }
}

impl From<ErasureStatus> for OneErasureBody {
    fn from(erasure: ErasureStatus) -> Self {
        Self {
            erasure: erasure.into(),
        }
    }
}

impl From<Vec<ErasureStatus>> for ErasuresBody {
    fn from(erasures: Vec<ErasureStatus>) -> Self {
        Self {
            erasures: erasures.into_iter().map(ErasureBody::from).collect(),
        }
    }
}

impl From<ErasureEvent> for ErasureEventBody {
    fn from(event: ErasureEvent) -> Self {
        Self {
            seq: event.seq,
            id: event.id,
            occurred_at: event.occurred_at.map(|at| at.to_string()),
            action: event.action,
            row: event.row,
            parts: event.parts.into_iter().map(EventPart::as_str).collect(),
        }
    }
}

impl From<ErasureEvents> for ErasureEventsBody {
    fn from(page: ErasureEvents) -> Self {
        Self {
            has_more: page.next.is_some(),
            events: page.events.into_iter().map(ErasureEventBody::from).collect(),
            cursor: page.next.map(|seq| seq.to_string()),
        }
    }
}
