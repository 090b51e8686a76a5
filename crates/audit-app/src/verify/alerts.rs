//! Compares the alerts of a ledger with the events that raised them.

use super::finding::{Finding, Problem};
use super::removals::Removed;
use super::walk::Walk;
use crate::error::Result;
use audit_alerts::SampleEvent;
use audit_domain::{ERASED_TEXT, EventId};
use audit_store::{StoreError, StoredAlert};

/// The number of alerts of one read.
const PAGE_ALERTS: i64 = 1_000;

impl Walk<'_, '_> {
    /// Verifies that every alert is one that its sample events raised. An alert is not verified where a removal may have taken one of them,
    /// or an erasure a part of one.
    pub(super) fn check_alerts(&mut self, removed: &Removed) -> Result<()> {
        let mut after = Vec::new();
        loop {
            let alerts = self.reader.stored_alerts(self.ledger_id, &after, PAGE_ALERTS)?;
            let Some(last) = alerts.last() else {
                return Ok(());
            };
            after.clone_from(&last.id);
            for alert in alerts {
                self.check_alert(&alert, removed)?;
            }
        }
    }

    fn check_alert(&mut self, stored: &StoredAlert, removed: &Removed) -> Result<()> {
        let Some(alert) = &stored.alert else {
            let id = stored.id.iter().map(|byte| format!("{byte:02x}")).collect();
            self.findings.add(Finding::log(Problem::AlertDamaged(id)));
            return Ok(());
        };
        if removed.has_erasures && alert.group_key == ERASED_TEXT {
            return Ok(());
        }
        let mut samples = Vec::with_capacity(alert.sample_event_ids.len());
        for id in &alert.sample_event_ids {
            match self.sample_event(*id) {
                Ok(Some((sample, false))) => samples.push(sample),
                Ok(Some((_, true))) => return Ok(()),
                Ok(None) if removed.before.is_some_and(|before| id.time() < before) => return Ok(()),
                Ok(None) => {
                    self.findings.add(Finding {
                        seqs: None,
                        id: Some(*id),
                        problem: Problem::AlertOfNoEvent {
                            alert: alert.id.to_string(),
                        },
                    });
                    return Ok(());
                }
                // The walk over the events reports it.
                Err(StoreError::DamagedEvent(_) | StoreError::Damaged { .. }) => return Ok(()),
                Err(error) => return Err(error.into()),
            }
        }
        if let Some(column) = alert.contradiction(&samples) {
            let alert = alert.id.to_string();
            self.findings
                .add(Finding::log(Problem::AlertContradicted { alert, column }));
        }
        Ok(())
    }

    /// A sample event, and whether parts of it were erased.
    fn sample_event(&mut self, id: EventId) -> Result<Option<(SampleEvent, bool)>, StoreError> {
        let Some(logged) = self.reader.event(self.ledger_id, id)? else {
            return Ok(None);
        };
        let is_erased = logged.event.content_salt.erased().is_some();
        Ok(Some((SampleEvent::of(id, &logged.event.facets()?), is_erased)))
    }
}
