//! Metrics in Prometheus' text format.

mod destinations;
mod measured;
mod otlp;
mod removals;

pub use otlp::MetricTimes;

use crate::tls_metrics::TlsMetrics;
use actix_web::http::{Method, StatusCode};
use audit_app::{AuditLog, Ingested, Tracer};
use audit_transport::TlsStatus;
use destinations::DestinationMetrics;
use measured::MeasuredMetrics;
use parking_lot::Mutex;
use prometheus::proto::MetricFamily;
use prometheus::{
    Encoder, Histogram, HistogramOpts, HistogramVec, IntCounter, IntCounterVec, IntGauge, IntGaugeVec, Opts,
    Registry, TextEncoder,
};
use removals::RemovalMetrics;
use serde_json::Value;
use std::cell::RefCell;
use std::sync::Arc;
use std::sync::atomic::Ordering;

/// Counters and histograms of this process.
pub(crate) struct Metrics {
    registry: Registry,
    requests: IntCounterVec,
    duration_seconds: HistogramVec,
    events_accepted: IntCounter,
    events_repeated: IntCounter,
    events_refused: IntCounter,
    fields_redacted: IntCounter,
    commits: IntCounter,
    events_stored: IntCounter,
    queue_depth: IntGauge,
    events_to_rebuild: IntGauge,
    key_filter_bytes: IntGauge,
    alerts_fired: IntCounter,
    alerts_suppressed: IntCounter,
    webhook_attempts: IntCounterVec,
    deliveries_pending: IntGauge,
    oldest_pending_seconds: IntGauge,
    destinations: DestinationMetrics,
    removals: RemovalMetrics,
    inconsistent_logs: IntGauge,
    log_alarms: IntCounter,
    forged_heads: IntGauge,
    replica_queries: IntCounterVec,
    anchor_failures: IntCounterVec,
    anchors_pending: IntGaugeVec,
    last_anchor_seconds: IntGauge,
    backups: IntCounter,
    backup_failures: IntCounter,
    backup_every_seconds: IntGauge,
    last_backup_seconds: IntGauge,
    without_quorum: IntGauge,
    witness_requests: IntCounterVec,
    feed_readers: IntGauge,
    feed_waiting: IntGauge,
    exports_running: IntGauge,
    tls: Option<TlsMetrics>,
    measured: MeasuredMetrics,
    /// Outcomes of the spans, and their counts as metrics have them; only with a tracer.
    spans: Option<(Arc<Tracer>, IntCounterVec)>,
    /// Held while counters are updated from those of the service.
    rendering: Mutex<()>,
}

/// The counters of the requests of one route, method and status.
struct RequestCounters {
    requests: IntCounter,
    duration_seconds: Histogram,
}

/// The counters of a route that one thread has used, so that a request looks for them neither by text nor under a lock.
#[derive(Default)]
pub(crate) struct RouteCounters(RefCell<Vec<(Method, StatusCode, RequestCounters)>>);

impl RouteCounters {
    /// Runs `work` with the counters of this method and status, which are looked up with `find` the first time.
    fn with(
        &self,
        method: &Method,
        status: StatusCode,
        find: impl FnOnce() -> RequestCounters,
        work: impl FnOnce(&RequestCounters),
    ) {
        let mut used = self.0.borrow_mut();
        match used.iter().find(|(of, with, _)| of == method && *with == status) {
            Some((_, _, counters)) => work(counters),
            None => {
                let counters = find();
                work(&counters);
                // Clients may invent methods.
                if known_method(method.as_str()).is_some() {
                    used.push((method.clone(), status, counters));
                }
            }
        }
    }
}

/// The method, if HTTP defines it.
pub(crate) fn known_method(method: &str) -> Option<&str> {
    const METHODS: [&str; 7] = ["GET", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "HEAD"];
    Some(method).filter(|method| METHODS.contains(method))
}

impl Metrics {
    pub(crate) fn new(tls: Option<Arc<TlsStatus>>, tracer: Option<Arc<Tracer>>) -> prometheus::Result<Self> {
        let registry = Registry::new();
        let tls = tls
            .map(|status| TlsMetrics::register(status, &registry))
            .transpose()?;
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
        let counters = |name: &str, help: &str, labels: &[&str]| -> prometheus::Result<IntCounterVec> {
            let counters = IntCounterVec::new(Opts::new(name, help), labels)?;
            registry.register(Box::new(counters.clone()))?;
            Ok(counters)
        };
        let anchors_pending = IntGaugeVec::new(
            Opts::new("audit_anchors_pending", "Anchors that a place does not have yet."),
            &["place"],
        )?;
        registry.register(Box::new(anchors_pending.clone()))?;
        let span_counts = || {
            let help = "Spans of this process, by outcome.";
            counters("audit_otlp_spans_total", help, &["outcome"])
        };
        let spans = tracer.map(|tracer| Ok::<_, prometheus::Error>((tracer, span_counts()?)));
        let buckets = vec![
            0.000_5, 0.001, 0.002_5, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0,
        ];
        let duration_seconds = HistogramVec::new(
            HistogramOpts::new(
                "audit_http_request_duration_seconds",
                "Time to answer, by method and route.",
            )
            .buckets(buckets),
            &["method", "route"],
        )?;
        registry.register(Box::new(duration_seconds.clone()))?;
        Ok(Self {
            events_accepted: counter(
                "audit_events_accepted_total",
                "Events answered with an id, repeats included.",
            )?,
            events_repeated: counter("audit_events_repeated_total", "Events that were stored before.")?,
            events_refused: counter(
                "audit_events_refused_total",
                "Events of accepted batches that were refused.",
            )?,
            fields_redacted: counter("audit_fields_redacted_total", "Fields that redaction changed.")?,
            commits: counter(
                "audit_store_commits_total",
                "Transactions of this process that stored events.",
            )?,
            events_stored: counter("audit_store_events_total", "Events that this process stored.")?,
            queue_depth: gauge("audit_store_queue_depth", "Requests that wait to be written.")?,
            events_to_rebuild: gauge(
                "audit_store_events_to_rebuild",
                "Stored events that a rebuild of the index has not reached.",
            )?,
            key_filter_bytes: gauge(
                "audit_store_key_filter_bytes",
                "Memory of the filters of idempotency keys of earlier months.",
            )?,
            alerts_fired: counter("audit_alerts_fired_total", "Alerts that this process raised.")?,
            alerts_suppressed: counter(
                "audit_alerts_suppressed_total",
                "Alerts that this process counted, but did not raise: their project had too many in one minute.",
            )?,
            deliveries_pending: gauge(
                "audit_webhook_deliveries_pending",
                "Deliveries to enabled webhooks that are not finished, on all nodes.",
            )?,
            oldest_pending_seconds: gauge(
                "audit_webhook_oldest_pending_seconds",
                "Age of the oldest of them; 0 when there is none.",
            )?,
            inconsistent_logs: gauge(
                "audit_logs_inconsistent",
                "Logs that this process does not sign, because they contradict their last checkpoint.",
            )?,
            forged_heads: gauge(
                "audit_logs_forged",
                "Logs that take no events, because this service did not write their heads.",
            )?,
            last_anchor_seconds: gauge(
                "audit_anchor_last_timestamp_seconds",
                "Start of the last interval that has an anchor, in seconds since 1970; 0 for none.",
            )?,
            backups: counter(
                "audit_backups_total",
                "Backups that this process has made and verified.",
            )?,
            backup_failures: counter(
                "audit_backup_failures_total",
                "Attempts of this process that led to no backup.",
            )?,
            backup_every_seconds: gauge(
                "audit_backup_interval_seconds",
                "Interval of the backups of this process; 0 if it makes none.",
            )?,
            last_backup_seconds: gauge(
                "audit_backup_last_timestamp_seconds",
                "Beginning of the last verified backup, in seconds since 1970; 0 for none.",
            )?,
            without_quorum: gauge(
                "audit_logs_without_quorum",
                "Logs whose latest checkpoint was published without a quorum of witnesses, more than a second ago.",
            )?,
            log_alarms: counter(
                "audit_log_alarms_total",
                "Times that this process found a log that contradicts its last checkpoint, or without the checkpoint it should have.",
            )?,
            feed_readers: gauge(
                "audit_feed_readers",
                "Requests and streams that follow the feed of this process.",
            )?,
            feed_waiting: gauge(
                "audit_feed_waiting",
                "Those of them that have everything and wait for more.",
            )?,
            exports_running: gauge("audit_exports_running", "Exports that run in this process.")?,
            replica_queries: counters(
                "audit_replica_queries_total",
                "Queries that a read replica could have served, by what it did.",
                &["outcome"],
            )?,
            webhook_attempts: counters(
                "audit_webhook_attempts_total",
                "Attempts of this process to deliver, by what they led to.",
                &["outcome"],
            )?,
            anchor_failures: counters(
                "audit_anchor_failures_total",
                "Attempts of this process that brought an anchor to no place, by place.",
                &["place"],
            )?,
            witness_requests: counters(
                "audit_witness_requests_total",
                "Requests of this process to witnesses, by what they led to.",
                &["outcome"],
            )?,
            requests: counters(
                "audit_http_requests_total",
                "Requests answered, by method, route and status.",
                &["method", "route", "status"],
            )?,
            tls,
            destinations: DestinationMetrics::register(&registry)?,
            removals: RemovalMetrics::register(&registry)?,
            measured: MeasuredMetrics::register(&registry)?,
            spans: spans.transpose()?,
            rendering: Mutex::default(),
            anchors_pending,
            duration_seconds,
            registry,
        })
    }

    /// Counts a request. `known` has the counters of its route, if it matched one.
    pub(crate) fn request(
        &self,
        known: Option<&RouteCounters>,
        method: &Method,
        route: &str,
        status: StatusCode,
        seconds: f64,
    ) {
        let count = |counters: &RequestCounters| {
            counters.requests.inc();
            counters.duration_seconds.observe(seconds);
        };
        match known {
            Some(known) => known.with(method, status, || self.counters(method, route, status), count),
            None => count(&self.counters(method, route, status)),
        }
    }

    fn counters(&self, method: &Method, route: &str, status: StatusCode) -> RequestCounters {
        // Clients may invent methods, and every label value stays in memory permanently.
        let method = known_method(method.as_str()).unwrap_or("other");
        let requests = [method, route, status.as_str()];
        RequestCounters {
            requests: self.requests.with_label_values(&requests),
            duration_seconds: self.duration_seconds.with_label_values(&[method, route]),
        }
    }

    fn read_deliveries(&self, service: &AuditLog) {
        let statistics = service.delivery_statistics();
        let outcomes = [
            ("delivered", statistics.delivered),
            ("retried", statistics.retried),
            ("failed", statistics.failed),
        ];
        for (outcome, count) in outcomes {
            let counter = self.webhook_attempts.with_label_values(&[outcome]);
            counter.inc_by(count.saturating_sub(counter.get()));
        }
        let pending = service.pending_deliveries();
        self.deliveries_pending.set(pending.count);
        self.oldest_pending_seconds.set(pending.oldest_seconds);
    }

    fn read_anchors(&self, service: &AuditLog) {
        self.last_anchor_seconds.set(service.last_anchor_seconds());
        for statistics in service.anchor_statistics() {
            let place = [statistics.place.as_str()];
            let failures = self.anchor_failures.with_label_values(&place);
            failures.inc_by(statistics.failures.saturating_sub(failures.get()));
            let pending = i64::try_from(statistics.pending).unwrap_or(i64::MAX);
            self.anchors_pending.with_label_values(&place).set(pending);
        }
    }

    fn read_backups(&self, service: &AuditLog) {
        let statistics = service.backup_statistics();
        self.backups
            .inc_by(statistics.made.saturating_sub(self.backups.get()));
        self.backup_failures
            .inc_by(statistics.failures.saturating_sub(self.backup_failures.get()));
        self.backup_every_seconds.set(statistics.every_seconds);
        self.last_backup_seconds.set(statistics.last_seconds);
    }

    fn read_readers(&self, service: &AuditLog) {
        let reading = service.reading_statistics();
        let gauge = |count: usize| i64::try_from(count).unwrap_or(i64::MAX);
        self.inconsistent_logs.set(gauge(service.inconsistent_logs()));
        self.forged_heads.set(gauge(service.forged_heads()));
        self.without_quorum.set(gauge(service.logs_without_quorum()));
        let witnesses = service.witness_statistics();
        let outcomes = [
            ("cosigned", witnesses.cosigned),
            ("refused", witnesses.refused),
            ("failed", witnesses.failed),
        ];
        for (outcome, count) in outcomes {
            let counter = self.witness_requests.with_label_values(&[outcome]);
            counter.inc_by(count.saturating_sub(counter.get()));
        }
        let alarms = service.log_alarms().saturating_sub(self.log_alarms.get());
        self.log_alarms.inc_by(alarms);
        self.feed_readers.set(gauge(reading.feed_readers));
        self.feed_waiting.set(gauge(reading.feed_waiting));
        self.exports_running.set(gauge(reading.exports));
        let replica = service.replica_statistics();
        let outcomes = [
            ("served", replica.served),
            ("behind", replica.behind),
            ("failed", replica.failed),
        ];
        for (outcome, count) in outcomes {
            let counter = self.replica_queries.with_label_values(&[outcome]);
            counter.inc_by(count.saturating_sub(counter.get()));
        }
    }

    pub(crate) fn ingested(&self, ingested: &Ingested) {
        self.events_accepted.inc_by(ingested.ids.len() as u64);
        self.events_repeated.inc_by(ingested.repeated_count as u64);
        self.events_refused.inc_by(ingested.refused.len() as u64);
        self.fields_redacted.inc_by(ingested.redacted_count as u64);
    }

    /// All of them as text, without a database query.
    pub(crate) fn render(&self, service: &AuditLog) -> prometheus::Result<Vec<u8>> {
        let mut text = Vec::new();
        TextEncoder::new().encode(&self.gather(service), &mut text)?;
        Ok(text)
    }

    /// All of them as OTLP has them in JSON.
    pub(crate) fn otlp(&self, service: &AuditLog, times: MetricTimes) -> Vec<Value> {
        otlp::metrics(&self.gather(service), times)
    }

    fn read_spans(&self) {
        let Some((tracer, counters)) = &self.spans else {
            return;
        };
        let counts = tracer.counts();
        let outcomes = [
            ("exported", &counts.exported),
            ("dropped", &counts.dropped),
            ("failed", &counts.failed),
        ];
        for (outcome, count) in outcomes {
            let counter = counters.with_label_values(&[outcome]);
            counter.inc_by(count.load(Ordering::Relaxed).saturating_sub(counter.get()));
        }
    }

    fn gather(&self, service: &AuditLog) -> Vec<MetricFamily> {
        // Two concurrent updates would both add the difference.
        let _turn = self.rendering.lock();
        let statistics = service.statistics();
        self.alerts_fired
            .inc_by(statistics.alerts.saturating_sub(self.alerts_fired.get()));
        self.alerts_suppressed.inc_by(
            statistics
                .suppressed_alerts
                .saturating_sub(self.alerts_suppressed.get()),
        );
        self.read_deliveries(service);
        self.destinations.read(service);
        self.removals.read(service);
        self.read_readers(service);
        self.read_anchors(service);
        if let Some(tls) = &self.tls {
            tls.read();
        }
        self.read_backups(service);
        self.measured.read(service);
        self.commits
            .inc_by(statistics.commits.saturating_sub(self.commits.get()));
        self.events_stored
            .inc_by(statistics.events.saturating_sub(self.events_stored.get()));
        self.queue_depth
            .set(i64::try_from(statistics.queue_depth).unwrap_or(i64::MAX));
        self.events_to_rebuild
            .set(i64::try_from(statistics.events_to_rebuild).unwrap_or(i64::MAX));
        self.key_filter_bytes
            .set(i64::try_from(statistics.key_filter_bytes).unwrap_or(i64::MAX));
        self.read_spans();
        self.registry.gather()
    }
}
