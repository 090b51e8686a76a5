//! The metrics of removals.

use audit_app::{AuditLog, RemovalState, WaitingFor};
use prometheus::{IntCounter, IntGaugeVec, Opts, Registry};

/// Counters of this process, and gauges of the last round of its thread.
pub(super) struct RemovalMetrics {
    open: IntGaugeVec,
    waiting: IntGaugeVec,
    removed: IntCounter,
    alarms: IntCounter,
}

impl RemovalMetrics {
    pub(super) fn register(registry: &Registry) -> prometheus::Result<Self> {
        let counter = |name: &str, help: &str| -> prometheus::Result<IntCounter> {
            let counter = IntCounter::new(name, help)?;
            registry.register(Box::new(counter.clone()))?;
            Ok(counter)
        };
        let gauges = |name: &str, help: &str, label: &str| -> prometheus::Result<IntGaugeVec> {
            let gauges = IntGaugeVec::new(Opts::new(name, help), &[label])?;
            registry.register(Box::new(gauges.clone()))?;
            Ok(gauges)
        };
        Ok(Self {
            open: gauges(
                "audit_removals_open",
                "Removals of events that are not done, by state, of all nodes.",
                "state",
            )?,
            waiting: gauges(
                "audit_removal_waiting",
                "Logs whose removal waits, by what it waits for.",
                "for",
            )?,
            removed: counter(
                "audit_removed_events_total",
                "Events that this process has removed.",
            )?,
            alarms: counter(
                "audit_lifecycle_alarms_total",
                "Times that this process found something of a removal, or an event to be removed, that is not as the service wrote it.",
            )?,
        })
    }

    pub(super) fn read(&self, service: &AuditLog) {
        let statistics = service.removal_statistics();
        for state in RemovalState::ALL {
            let count = statistics.open.get(state).copied();
            self.open
                .with_label_values(&[state.as_str()])
                .set(count.unwrap_or_default());
        }
        for reason in WaitingFor::ALL {
            let count = statistics.waiting.get(reason).copied();
            self.waiting
                .with_label_values(&[reason.as_str()])
                .set(count.unwrap_or_default());
        }
        let counted = [
            (&self.removed, statistics.removed),
            (&self.alarms, statistics.alarms),
        ];
        for (counter, count) in counted {
            counter.inc_by(count.saturating_sub(counter.get()));
        }
    }
}
