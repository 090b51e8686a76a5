//! Traces and metrics for an OpenTelemetry collector: OTLP over HTTP, in its JSON encoding.
//!
//! One thread sends what the requests have recorded. A collector that is slow or away costs spans, which are counted, and nothing
//! else.

mod json;

use audit_app::{Span, SpanCounts};
use audit_cli::SystemClock;
use audit_domain::Clock;
use audit_http::{HttpState, MetricTimes};
use audit_operations::otlp_options::Collector;
use serde_json::Value;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, mpsc};
use std::time::{Duration, Instant};

/// The interval at which spans are sent.
const SPANS_INTERVAL: Duration = Duration::from_secs(1);
/// The interval at which metrics are sent: the default of the specification.
const METRICS_INTERVAL: Duration = Duration::from_secs(60);
/// Spans of one request to the collector.
const BATCH_SPANS_MAX: usize = 512;
/// One request to the collector, from the connection to the end of the response.
const REQUEST_SECONDS_MAX: u64 = 10;
/// How long a stop waits for the last spans.
const STOP_SECONDS_MAX: u64 = 2;

/// The thread that sends.
pub(crate) struct Exporter {
    stop: mpsc::Sender<()>,
    ended: mpsc::Receiver<()>,
}

/// What the thread works with.
struct Export {
    collector: Collector,
    agent: ureq::Agent,
    spans: mpsc::Receiver<Span>,
    counts: Arc<SpanCounts>,
    state: Arc<HttpState>,
    start_nanos: i64,
    failures: Failures,
}

/// Reports the first of consecutive failures, and their end.
#[derive(Default)]
struct Failures(AtomicU64);

impl Exporter {
    pub(crate) fn start(
        collector: Collector,
        spans: mpsc::Receiver<Span>,
        counts: Arc<SpanCounts>,
        state: Arc<HttpState>,
    ) -> std::io::Result<Self> {
        let (stop, stopped) = mpsc::channel();
        let (end, ended) = mpsc::channel();
        let agent = ureq::Agent::config_builder()
            .http_status_as_error(false)
            .max_redirects(0)
            .timeout_global(Some(Duration::from_secs(REQUEST_SECONDS_MAX)))
            .user_agent(concat!("audit-server/", env!("CARGO_PKG_VERSION")))
            .build();
        let export = Export {
            collector,
            agent: agent.into(),
            spans,
            counts,
            state,
            start_nanos: now_nanos(),
            failures: Failures::default(),
        };
        let thread = std::thread::Builder::new().name("otlp".to_owned());
        thread.spawn(move || {
            export.run(&stopped);
            // The receiver may be gone: a stop waits for a limited time.
            end.send(()).ok();
        })?;
        Ok(Self { stop, ended })
    }

    /// Sends what was recorded, for a limited time.
    pub(crate) fn stop(self) {
        drop(self.stop);
        if self
            .ended
            .recv_timeout(Duration::from_secs(STOP_SECONDS_MAX))
            .is_err()
        {
            log::info!("the last spans are not sent: the collector does not respond");
        }
    }
}

fn now_nanos() -> i64 {
    SystemClock.now().as_micros().saturating_mul(1_000)
}

impl Export {
    fn run(&self, stopped: &mpsc::Receiver<()>) {
        let mut next_metrics = Instant::now() + METRICS_INTERVAL;
        loop {
            let goes_on = stopped.recv_timeout(SPANS_INTERVAL) == Err(mpsc::RecvTimeoutError::Timeout);
            self.send_spans();
            if Instant::now() >= next_metrics || !goes_on {
                next_metrics = Instant::now() + METRICS_INTERVAL;
                self.send_metrics();
            }
            if !goes_on {
                return;
            }
        }
    }

    /// Sends the spans in the queue. After a failure the rest stays there, and the oldest ones of a full queue are kept.
    fn send_spans(&self) {
        loop {
            let batch: Vec<Span> = self.spans.try_iter().take(BATCH_SPANS_MAX).collect();
            if batch.is_empty() {
                return;
            }
            let count = batch.len() as u64;
            let body = json::traces(&batch, &self.collector.service_name);
            let is_sent = self.send("/v1/traces", &body);
            let counter = match is_sent {
                true => &self.counts.exported,
                false => &self.counts.failed,
            };
            counter.fetch_add(count, Ordering::Relaxed);
            if !is_sent {
                return;
            }
        }
    }

    fn send_metrics(&self) {
        let times = MetricTimes {
            start_nanos: self.start_nanos,
            now_nanos: now_nanos(),
        };
        let body = json::metrics(self.state.otlp_metrics(times), &self.collector.service_name);
        self.send("/v1/metrics", &body);
    }

    /// Whether the collector has accepted it.
    fn send(&self, path: &str, body: &Value) -> bool {
        let url = format!("{}{path}", self.collector.endpoint);
        let mut request = self.agent.post(&url).header("content-type", "application/json");
        for (name, value) in &self.collector.headers {
            request = request.header(name, value);
        }
        let sent = match request.send(body.to_string()) {
            Ok(response) if response.status().is_success() => Ok(()),
            Ok(response) => Err(format!("{path} responds with {}", response.status().as_u16())),
            // The error may name the URL, which may have a credential.
            Err(error) => Err(match error {
                ureq::Error::Timeout(_) => format!("{path} does not respond in time"),
                ureq::Error::Io(error) => format!("{path}: {error}"),
                _ => format!("{path} cannot be reached"),
            }),
        };
        self.failures.note(&sent);
        sent.is_ok()
    }
}

impl Failures {
    fn note(&self, sent: &Result<(), String>) {
        match sent {
            Ok(()) => {
                let failures = self.0.swap(0, Ordering::Relaxed);
                if failures > 0 {
                    log::info!("the OpenTelemetry collector accepts data again, after {failures} failures");
                }
            }
            Err(reason) if self.0.fetch_add(1, Ordering::Relaxed) == 0 => {
                log::warn!("the OpenTelemetry collector does not accept data: {reason}");
            }
            Err(_) => {}
        }
    }
}
