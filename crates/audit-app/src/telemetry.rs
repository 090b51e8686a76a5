//! Traces of requests (OpenTelemetry): what they waited for.
//!
//! A request has one span, and a child for each wait that is timed with [`timed`]: the admission of its credential, the commit of
//! its events, a query. The trace of the client is continued (W3C Trace Context). Spans go to a bounded queue and are dropped
//! when it is full: a collector that is slow or away delays no request. Without a tracer nothing is recorded.

mod context;

pub use context::TraceContext;

use audit_domain::{Clock, Entropy};
use parking_lot::Mutex;
use std::future::Future;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::time::{Duration, Instant};

/// Spans that wait to be exported, at most: some 2 MiB.
pub const QUEUED_SPANS_MAX: usize = 8_192;
/// Children of a request, at most.
const CHILDREN_MAX: usize = 16;

/// The value of an attribute.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AttributeValue {
    /// A text.
    Text(String),
    /// A number.
    Number(i64),
}

/// The kind of a span, with the number that OTLP gives it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SpanKind {
    /// Work within the service.
    Internal = 1,
    /// A request that the service responds to.
    Server = 2,
}

/// A piece of work that has ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Span {
    /// The trace that it belongs to.
    pub trace_id: [u8; 16],
    /// Its own id.
    pub id: [u8; 8],
    /// The span that caused it; `None` at the root of a trace.
    pub parent_id: Option<[u8; 8]>,
    /// What it is.
    pub name: String,
    /// Its kind.
    pub kind: SpanKind,
    /// When it began, in nanoseconds since the Unix epoch.
    pub start_nanos: i64,
    /// When it ended.
    pub end_nanos: i64,
    /// Names of OpenTelemetry's semantic conventions, or of the service.
    pub attributes: Vec<(&'static str, AttributeValue)>,
    /// Whether the service failed.
    pub is_error: bool,
}

/// Outcomes of the spans of a process.
#[derive(Debug, Default)]
pub struct SpanCounts {
    /// The collector has accepted them.
    pub exported: AtomicU64,
    /// The queue was full.
    pub dropped: AtomicU64,
    /// The collector did not accept them.
    pub failed: AtomicU64,
}

/// Records the spans of requests.
pub struct Tracer {
    queue: SyncSender<Span>,
    counts: Arc<SpanCounts>,
    clock: Arc<dyn Clock>,
    entropy: Arc<dyn Entropy>,
}

/// A request whose span has begun.
pub struct RequestSpan {
    context: TraceContext,
    id: [u8; 8],
    start_nanos: i64,
    started: Instant,
    /// Name, start and end since `started`.
    children: Mutex<Vec<(&'static str, Duration, Duration)>>,
}

tokio::task_local! {
    /// The request that the present task works for.
    static CURRENT: Arc<RequestSpan>;
}

/// Runs `work`, and records how long it took in the request that the task works for, if there is one.
pub(crate) async fn timed<T>(name: &'static str, work: impl Future<Output = T>) -> T {
    let _timing = Timing::begin(name);
    work.await
}

/// Records how long it existed in the request that the task works for, if there is one.
pub(crate) struct Timing(Option<(Arc<RequestSpan>, &'static str, Duration)>);

impl Timing {
    /// Begins.
    pub(crate) fn begin(name: &'static str) -> Self {
        let request = CURRENT.try_with(Arc::clone).ok();
        Self(request.map(|request| {
            let start = request.started.elapsed();
            (request, name, start)
        }))
    }
}

impl Drop for Timing {
    fn drop(&mut self) {
        let Some((request, name, start)) = self.0.take() else {
            return;
        };
        let end = request.started.elapsed();
        let mut children = request.children.lock();
        if children.len() < CHILDREN_MAX {
            children.push((name, start, end));
        }
    }
}

impl RequestSpan {
    /// Runs `work` for this request.
    pub async fn scope<T>(self: &Arc<Self>, work: impl Future<Output = T>) -> T {
        CURRENT.scope(Arc::clone(self), work).await
    }

    fn at(&self, since_start: Duration) -> i64 {
        let nanos = i64::try_from(since_start.as_nanos()).unwrap_or(i64::MAX);
        self.start_nanos.saturating_add(nanos)
    }
}

impl Tracer {
    /// A tracer, and the queue of its spans.
    pub fn new(clock: Arc<dyn Clock>, entropy: Arc<dyn Entropy>) -> (Self, Receiver<Span>, Arc<SpanCounts>) {
        let (queue, spans) = sync_channel(QUEUED_SPANS_MAX);
        let counts = Arc::<SpanCounts>::default();
        let tracer = Self {
            queue,
            counts: Arc::clone(&counts),
            clock,
            entropy,
        };
        (tracer, spans, counts)
    }

    /// Outcomes of the spans.
    pub fn counts(&self) -> &SpanCounts {
        &self.counts
    }

    /// Begins the span of a request with these `traceparent` headers. `None` if the client does not want it to be recorded.
    pub fn begin(&self, traceparent: Option<&str>) -> Option<Arc<RequestSpan>> {
        let context = traceparent.and_then(TraceContext::parse);
        let context = context.unwrap_or_else(|| TraceContext::root(nonzero(self.entropy.as_ref())));
        context.is_sampled.then(|| {
            Arc::new(RequestSpan {
                context,
                id: nonzero(self.entropy.as_ref()),
                start_nanos: self.clock.now().as_micros().saturating_mul(1_000),
                started: Instant::now(),
                children: Mutex::default(),
            })
        })
    }

    /// Ends the span of a request. Never waits: without room in the queue the span is dropped and counted.
    pub fn end(
        &self,
        request: &RequestSpan,
        name: String,
        attributes: Vec<(&'static str, AttributeValue)>,
        is_error: bool,
    ) {
        let end = request.started.elapsed();
        for (name, start, end) in request.children.lock().drain(..) {
            self.send(Span {
                trace_id: request.context.trace_id,
                id: nonzero(self.entropy.as_ref()),
                parent_id: Some(request.id),
                name: name.to_owned(),
                kind: SpanKind::Internal,
                start_nanos: request.at(start),
                end_nanos: request.at(end),
                attributes: Vec::new(),
                is_error: false,
            });
        }
        self.send(Span {
            trace_id: request.context.trace_id,
            id: request.id,
            parent_id: request.context.parent_id,
            name,
            kind: SpanKind::Server,
            start_nanos: request.start_nanos,
            end_nanos: request.at(end),
            attributes,
            is_error,
        });
    }

    fn send(&self, span: Span) {
        if self.queue.try_send(span).is_err() {
            self.counts.dropped.fetch_add(1, Ordering::Relaxed);
        }
    }
}

/// A random id. That of zeros is not valid.
fn nonzero<const N: usize>(entropy: &dyn Entropy) -> [u8; N] {
    let mut id = [0; N];
    entropy.fill(&mut id);
    if id == [0; N] {
        id[N - 1] = 1;
    }
    id
}

#[cfg(test)]
mod tests {
    use super::*;
    use audit_domain::Timestamp;

    struct Fixed;

    impl Entropy for Fixed {
        fn fill(&self, bytes: &mut [u8]) {
            bytes.fill(7);
        }
    }

    const PARENT: &str = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";

    fn tracer() -> (Tracer, Receiver<Span>, Arc<SpanCounts>) {
        Tracer::new(Arc::new(Timestamp::from_seconds(1_800_000_000)), Arc::new(Fixed))
    }

    #[tokio::test]
    async fn a_wait_is_a_child_of_the_request_that_continues_the_trace_of_the_client() {
        let (tracer, spans, _) = tracer();
        let request = tracer.begin(Some(PARENT)).unwrap();
        let outcome = request.scope(async { timed("commit", async { 5 }).await }).await;
        assert_eq!(outcome, 5);
        tracer.end(&request, "POST /x".to_owned(), Vec::new(), true);
        let (child, root) = (spans.recv().unwrap(), spans.recv().unwrap());
        assert_eq!((child.name.as_str(), child.parent_id), ("commit", Some(root.id)));
        assert_eq!(
            root.parent_id,
            Some([0xb7, 0xad, 0x6b, 0x71, 0x69, 0x20, 0x33, 0x31])
        );
        assert_eq!((root.trace_id[0], child.trace_id), (0x0a, root.trace_id));
        assert!(root.start_nanos <= child.start_nanos && child.end_nanos <= root.end_nanos);
        assert!(root.is_error && root.kind == SpanKind::Server);
    }

    #[tokio::test]
    async fn outside_of_a_request_nothing_is_recorded() {
        assert_eq!(timed("commit", async { 5 }).await, 5);
    }

    #[test]
    fn a_request_that_its_client_does_not_sample_is_not_recorded() {
        let (tracer, _spans, _) = tracer();
        assert!(tracer.begin(Some(&PARENT.replace("-01", "-00"))).is_none());
        assert!(tracer.begin(Some("not a traceparent")).is_some(), "a new trace");
        assert!(tracer.begin(None).is_some());
    }

    #[test]
    fn a_full_queue_drops_spans_and_counts_them() {
        let (tracer, spans, counts) = tracer();
        let end = |_| tracer.end(&tracer.begin(None).unwrap(), String::new(), Vec::new(), false);
        (0..QUEUED_SPANS_MAX).for_each(end);
        assert_eq!(counts.dropped.load(Ordering::Relaxed), 0);
        end(0);
        assert_eq!(counts.dropped.load(Ordering::Relaxed), 1);
        assert_eq!(spans.try_iter().count(), QUEUED_SPANS_MAX);
    }
}
