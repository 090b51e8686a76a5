//! The metrics of destinations.

use audit_app::{AuditLog, DestinationState};
use prometheus::{IntCounter, IntGauge, IntGaugeVec, Opts, Registry};

/// Counters of this process, and gauges of the last measurement.
pub(super) struct DestinationMetrics {
    runs: IntGaugeVec,
    delivered: IntCounter,
    set_aside: IntCounter,
    lag_events: IntGauge,
    lag_seconds: IntGauge,
}

impl DestinationMetrics {
    pub(super) fn register(registry: &Registry) -> prometheus::Result<Self> {
        let counter = |name: &str, help: &str| -> prometheus::Result<IntCounter> {
            let counter = IntCounter::new(name, help)?;
            registry.register(Box::new(counter.clone()))?;
            Ok(counter)
        };
        let gauge = |name: &str, help: &str| -> prometheus::Result<IntGauge> {
            let gauge = IntGauge::new(name, help)?;
            registry.register(Box::new(gauge.clone()))?;
            Ok(gauge)
        };
        let runs = Opts::new("audit_destinations", "Destinations by state, of all nodes.");
        let runs = IntGaugeVec::new(runs, &["state"])?;
        registry.register(Box::new(runs.clone()))?;
        Ok(Self {
            runs,
            delivered: counter(
                "audit_destination_events_delivered_total",
                "Events that receivers of destinations have taken from this process.",
            )?,
            set_aside: counter(
                "audit_destination_events_set_aside_total",
                "Events that receivers of destinations have refused from this process for good.",
            )?,
            lag_events: gauge(
                "audit_destination_lag_events",
                "Most events of a log that a destination has not come to, of all nodes; paused ones do not count.",
            )?,
            lag_seconds: gauge(
                "audit_destination_lag_seconds",
                "Age of the oldest event that a destination has not come to, of all nodes; paused and parked ones do not count.",
            )?,
        })
    }

    pub(super) fn read(&self, service: &AuditLog) {
        let statistics = service.destination_statistics();
        let measured = statistics.measured;
        for state in DestinationState::ALL {
            let count = measured.by_state.get(state).copied();
            self.runs
                .with_label_values(&[state.as_str()])
                .set(count.unwrap_or_default());
        }
        let counted = [
            (&self.delivered, statistics.delivered),
            (&self.set_aside, statistics.set_aside),
        ];
        for (counter, count) in counted {
            counter.inc_by(count.saturating_sub(counter.get()));
        }
        self.lag_events.set(measured.events_max);
        self.lag_seconds.set(measured.seconds_max);
    }
}
