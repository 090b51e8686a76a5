//! What an erasure cannot reach.

use crate::destinations::DestinationFilter;
use crate::error::Result;
use crate::service::{AuditLog, Scope};
use audit_store::MAIN_RUN;

audit_domain::words! {
    /// A place where an erased event may still be.
    pub enum OutOfReachKind {
        /// A destination to which events were delivered.
        Destination = "destination",
        /// Receipts, proofs, evidence archives and archives.
        Receipt = "receipt",
        /// Backups.
        Backup = "backup",
        /// Programs that send or read events.
        Client = "client",
        /// The configuration of the project.
        Configuration = "configuration",
        /// Files of PostgreSQL.
        Postgres = "postgres",
    }
}

/// A place where an erased event may still be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OutOfReach {
    /// The kind of place.
    pub kind: OutOfReachKind,
    /// The name of a destination.
    pub name: Option<String>,
    /// What may be there, and how it ends.
    pub detail: String,
}

/// The places that every log has.
const PLACES: [(OutOfReachKind, &str); 5] = [
    (
        OutOfReachKind::Receipt,
        "receipts, proofs, exports, evidence archives and archives that were made before have what they showed",
    ),
    (
        OutOfReachKind::Backup,
        "backups that were made before have these events until they are deleted; repeat the erasure after a restore",
    ),
    (
        OutOfReachKind::Client,
        "programs that sent or read these events may have copies of them",
    ),
    (
        OutOfReachKind::Configuration,
        "rules, tiers, filters and holds that name the person are not changed, and masked values are not found; notes on alerts are in the \
         live log, where texts of the identifiers find them",
    ),
    (
        OutOfReachKind::Postgres,
        "free space of the newest months and of the index, and the write-ahead log, may have these bytes until PostgreSQL uses it again",
    ),
];

/// A destination that has got events.
pub(super) struct Delivered {
    name: String,
    /// The position behind the last event that it has got.
    end: u64,
    /// Whether `audit.events.erased` is delivered to it.
    is_told: bool,
}

impl AuditLog {
    /// The destinations of a log.
    pub(super) fn delivered(&self, scope: &Scope) -> Result<Vec<Delivered>> {
        let (project_id, environment) = (scope.project.project.id, scope.environment);
        self.store.read(|reader| {
            let mut delivered = Vec::new();
            for destination in reader.destinations(project_id, environment)? {
                let runs = reader.destination_runs(&destination.id)?;
                let main = runs.iter().find(|run| run.number == MAIN_RUN);
                let filter = DestinationFilter::of(&destination);
                delivered.push(Delivered {
                    end: main.map_or(0, |run| run.cursor_seq.cast_unsigned()),
                    is_told: filter.is_ok_and(|filter| filter.is_of_all_tenants()),
                    name: destination.name,
                });
            }
            Ok(delivered)
        })
    }

    /// What an erasure whose first event is at this position cannot reach.
    pub(super) fn out_of_reach(&self, delivered: &[Delivered], first_seq: Option<u64>) -> Vec<OutOfReach> {
        let reached = delivered
            .iter()
            .filter(|one| first_seq.is_some_and(|first| first < one.end));
        let destinations = reached.map(|one| OutOfReach {
            kind: OutOfReachKind::Destination,
            name: Some(one.name.clone()),
            detail: match one.is_told {
                true => "it may have got some of these events; it gets audit.events.erased".to_owned(),
                false => "it may have got some of these events, and does not learn of the erasure".to_owned(),
            },
        });
        let has_place = |kind: OutOfReachKind| {
            // Only PostgreSQL has cells.
            kind != OutOfReachKind::Postgres || self.store.can_have_cells()
        };
        let places = PLACES.iter().filter(|(kind, _)| has_place(*kind));
        let places = places.map(|(kind, detail)| OutOfReach {
            kind: *kind,
            name: None,
            detail: (*detail).to_owned(),
        });
        destinations.chain(places).collect()
    }
}
