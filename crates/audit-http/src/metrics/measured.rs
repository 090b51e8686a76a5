//! The metrics of what the server measures of its database now and then, and those of single projects.

use audit_app::AuditLog;
use audit_domain::Timestamp;
use prometheus::{IntGauge, IntGaugeVec, Opts, Registry};

/// The label of the projects that are not named.
const OTHER_PROJECTS: &str = "other";

/// Gauges of the last measurement.
pub(super) struct MeasuredMetrics {
    database_bytes: IntGauge,
    wal_bytes: IntGauge,
    index_bytes: IntGauge,
    backlog_events: IntGauge,
    backlog_seconds: IntGauge,
    last_signing_seconds: IntGauge,
    next_key_end_seconds: IntGauge,
    project_events: IntGaugeVec,
}

impl MeasuredMetrics {
    pub(super) fn register(registry: &Registry) -> prometheus::Result<Self> {
        let gauge = |name: &str, help: &str| -> prometheus::Result<IntGauge> {
            let gauge = IntGauge::new(name, help)?;
            registry.register(Box::new(gauge.clone()))?;
            Ok(gauge)
        };
        let project_events = IntGaugeVec::new(
            Opts::new(
                "audit_project_events_last_minute",
                "Events of the busiest projects that this process stored in the last complete minute.",
            ),
            &["project_id"],
        )?;
        registry.register(Box::new(project_events.clone()))?;
        Ok(Self {
            database_bytes: gauge(
                "audit_database_bytes",
                "Size of the database; with cells, of that of the home cell.",
            )?,
            wal_bytes: gauge(
                "audit_database_wal_bytes",
                "Size of the write-ahead log of the database; 0 where the service may not see it. With cells, of that of the home cell.",
            )?,
            index_bytes: gauge(
                "audit_database_index_bytes",
                "Size of the file of the index; 0 on PostgreSQL, where it is in the database.",
            )?,
            backlog_events: gauge(
                "audit_index_backlog_events",
                "Stored events that are not indexed yet, of all nodes.",
            )?,
            backlog_seconds: gauge(
                "audit_index_backlog_seconds",
                "Age of the oldest of them; 0 when there is none.",
            )?,
            last_signing_seconds: gauge(
                "audit_checkpoint_last_timestamp_seconds",
                "When this process last had every log signed that it extended, in seconds since 1970; 0 for never.",
            )?,
            next_key_end_seconds: gauge(
                "audit_key_next_end_timestamp_seconds",
                "When the next valid API key ends, in seconds since 1970; 0 if none has an end.",
            )?,
            project_events,
        })
    }

    pub(super) fn read(&self, service: &AuditLog) {
        let measured = service.measured();
        let storage = &measured.storage;
        self.database_bytes.set(storage.database_bytes);
        self.wal_bytes.set(storage.wal_bytes.unwrap_or(0));
        self.index_bytes.set(storage.index_bytes.unwrap_or(0));
        self.backlog_events.set(storage.backlog_events);
        self.backlog_seconds.set(service.backlog_seconds(&measured));
        self.last_signing_seconds.set(service.last_signing_seconds());
        let next_key_end = measured.next_key_end.map_or(0, Timestamp::as_seconds);
        self.next_key_end_seconds.set(next_key_end);
        // Projects that are not among the busiest any more disappear, so the number of series is bounded.
        self.project_events.reset();
        if let Some(activity) = service.project_activity() {
            let count = |events: u64| i64::try_from(events).unwrap_or(i64::MAX);
            for (project_id, events) in activity.projects {
                let label = project_id.to_string();
                self.project_events
                    .with_label_values(&[label.as_str()])
                    .set(count(events));
            }
            self.project_events
                .with_label_values(&[OTHER_PROJECTS])
                .set(count(activity.others));
        }
    }
}
