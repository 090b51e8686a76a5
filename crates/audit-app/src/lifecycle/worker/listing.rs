//! The erasures whose lists this process makes. The identifiers of the persons are nowhere else.

use super::collect::{Collected, in_present_forms};
use super::taken::LISTING_LEASE_SECONDS;
use crate::erasure::subject::{Identifiers, Subject};
use crate::error::Result;
use crate::service::AuditLog;
use audit_domain::{Hold, Lifecycle, LogName, ProjectId, Timestamp};
use audit_ledger::RemovalKind;
use audit_redact::Engine;
use audit_store::{LedgerId, RemovalRow};
use parking_lot::Mutex;
use std::collections::HashMap;
use std::fmt;

/// How old the lease of a list gets before it is renewed, in seconds.
const LISTING_RENEWAL_SECONDS: i64 = LISTING_LEASE_SECONDS / 3;

/// What makes the list of an erasure.
pub(crate) struct Listing {
    pub(super) subject: Subject,
    /// Those in force when it began.
    pub(super) holds: Vec<Hold>,
    /// The token of its lease.
    pub(crate) lease: [u8; 16],
    pub(super) collected: Collected,
}

impl fmt::Debug for Listing {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("Listing(…)")
    }
}

impl Listing {
    /// Finds a person in a log with these lifecycle events.
    pub(crate) fn new(
        engine: &Engine,
        identifiers: &Identifiers,
        (log, fold): (&LogName, &Lifecycle),
        lease: [u8; 16],
    ) -> Self {
        let holds = fold.holds().map(|(_, hold)| in_present_forms(engine, hold));
        Self {
            subject: Subject::new(engine, identifiers),
            holds: holds.collect(),
            lease,
            collected: Collected::new(RemovalKind::Erasure, log),
        }
    }
}

/// A list between two turns.
#[derive(Debug)]
struct Waiting {
    listing: Listing,
    removal: (ProjectId, LedgerId, u32),
    /// When its lease was renewed.
    leased_at: Timestamp,
}

/// The lists that are being made, by id of the erasure. The number of a removal that has ended may be that of another one.
#[derive(Debug, Default)]
pub(crate) struct Listings(Mutex<HashMap<String, Waiting>>);

impl Listings {
    /// Keeps one whose row was leased at this time.
    pub(crate) fn put(
        &self,
        project_id: ProjectId,
        row: &RemovalRow,
        listing: Listing,
        leased_at: Timestamp,
    ) {
        if let Some(request) = &row.request {
            let waiting = Waiting {
                listing,
                removal: (project_id, row.ledger_id, row.number),
                leased_at,
            };
            self.0.lock().insert(request.id.clone(), waiting);
        }
    }

    /// The token of the lease of a row whose list this process makes.
    pub(super) fn lease(&self, row: &RemovalRow) -> Option<[u8; 16]> {
        let request = row.request.as_ref()?;
        let listings = self.0.lock();
        listings.get(&request.id).map(|waiting| waiting.listing.lease)
    }

    /// Takes the one of a row out. What it has collected is lost unless it is put back.
    pub(crate) fn take(&self, row: &RemovalRow) -> Option<Listing> {
        let request = row.request.as_ref()?;
        self.0.lock().remove(&request.id).map(|waiting| waiting.listing)
    }

    /// The removals whose leases have to be renewed at `now`, each with its token.
    fn due(&self, now: Timestamp) -> Vec<((ProjectId, LedgerId, u32), [u8; 16])> {
        let mut listings = self.0.lock();
        let is_due = |waiting: &&mut Waiting| waiting.leased_at.plus_seconds(LISTING_RENEWAL_SECONDS) <= now;
        let due = listings.values_mut().filter(is_due);
        due.map(|waiting| {
            waiting.leased_at = now;
            (waiting.removal, waiting.listing.lease)
        })
        .collect()
    }
}

impl AuditLog {
    /// Renews the leases of the lists that wait while other removals go on: another node would cancel them.
    ///
    /// # Errors
    /// When the database fails.
    pub(super) fn renew_listings(&self) -> Result<()> {
        let now = self.clock.now();
        let until = now.plus_seconds(LISTING_LEASE_SECONDS);
        for ((project_id, ledger_id, number), lease) in self.removal_worker.listings.due(now) {
            // One that has another lease has ended, which its next turn finds.
            self.store.write_for(project_id, move |writer| {
                writer.lease_removal(ledger_id, number, &lease, now, until)
            })?;
        }
        Ok(())
    }
}
