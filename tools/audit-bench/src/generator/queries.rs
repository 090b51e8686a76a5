//! One connection per service that sends one query after another, to all services in turn.

use super::client::{HttpClient, cursor_of, events_on_page};
use super::job::{QueriedService, QueriesJob, Query, QueryReport};
use crate::latency::Latencies;
use std::time::{Duration, Instant};

/// The connection to a service and its measurements.
struct Session {
    client: HttpClient,
    /// In the order of the queries; none for a query whose result has fewer pages than requested.
    queries: Vec<Option<QueryMeasurement>>,
}

struct QueryMeasurement {
    /// Includes the cursor of the measured page.
    target: String,
    events: u32,
    requests: u32,
    latencies: Latencies,
}

/// Runs the job.
pub(crate) fn run(job: &QueriesJob) -> anyhow::Result<Vec<Vec<Option<QueryReport>>>> {
    let began = Instant::now();
    let sessions = job.services.iter().map(Session::open);
    let mut sessions = sessions.collect::<anyhow::Result<Vec<_>>>()?;
    let queries = job.services.first().map_or(0, |service| service.queries.len());
    let extra_max = Duration::from_millis(job.extra_ms_max);

    measure(&mut sessions, 0..queries, job.requests, job, None)?;
    let long_tails: Vec<usize> = (0..queries)
        .filter(|query| has_long_tail(&sessions, *query))
        .collect();
    let end = Some(began + extra_max);
    measure(&mut sessions, long_tails, job.long_tail_requests, job, end)?;
    let outliers: Vec<usize> = (0..queries)
        .filter(|query| is_outlier(&sessions, *query))
        .collect();
    let end = Some(Instant::now() + extra_max);
    measure(&mut sessions, outliers, job.outlier_requests, job, end)?;
    Ok(sessions.into_iter().map(Session::report).collect())
}

/// Sends `requests` of each of these queries, spread over rounds. No round starts after `end`.
fn measure(
    sessions: &mut [Session],
    queries: impl IntoIterator<Item = usize> + Clone,
    requests: u32,
    job: &QueriesJob,
    end: Option<Instant>,
) -> anyhow::Result<()> {
    let time_max = Duration::from_millis(job.round_ms_max);
    let round_requests = job.requests.div_ceil(job.rounds).max(1);
    for _ in 0..requests.div_ceil(round_requests) {
        if end.is_some_and(|end| Instant::now() > end) {
            break;
        }
        for query in queries.clone() {
            measure_round(sessions, query, round_requests, time_max)?;
        }
    }
    Ok(())
}

/// Alternates between the sessions request by request, so that a disturbance of the machine affects all of them.
fn measure_round(
    sessions: &mut [Session],
    query: usize,
    requests: u32,
    time_max: Duration,
) -> anyhow::Result<()> {
    let began = Instant::now();
    for _ in 0..requests {
        for session in sessions.iter_mut() {
            if let Some(measurement) = &mut session.queries[query] {
                measurement.send(&mut session.client)?;
            }
        }
        if began.elapsed() > time_max {
            break;
        }
    }
    Ok(())
}

/// Whether the query has a long tail at one service or more.
fn has_long_tail(sessions: &[Session], query: usize) -> bool {
    let measured = sessions.iter().filter_map(|session| session.measurement(query));
    measured
        .map(|measurement| &measurement.latencies)
        .any(Latencies::has_long_tail)
}

/// Whether the p99 of the query differs more than twofold between services.
fn is_outlier(sessions: &[Session], query: usize) -> bool {
    let measured = sessions.iter().filter_map(|session| session.measurement(query));
    let p99s: Vec<u32> = measured
        .map(|measurement| measurement.latencies.clone().summary().p99_us)
        .collect();
    let (least, most) = (p99s.iter().min(), p99s.iter().max());
    least.zip(most).is_some_and(|(least, most)| *most > 2 * *least)
}

impl Session {
    fn open(service: &QueriedService) -> anyhow::Result<Self> {
        let mut client = HttpClient::connect(service.address, &service.project_key)?;
        let mut queries = Vec::with_capacity(service.queries.len());
        for query in &service.queries {
            queries.push(find_page(&mut client, query)?.map(QueryMeasurement::new));
        }
        Ok(Self { client, queries })
    }

    fn measurement(&self, query: usize) -> Option<&QueryMeasurement> {
        self.queries[query].as_ref()
    }

    fn report(self) -> Vec<Option<QueryReport>> {
        let queries = self.queries.into_iter();
        queries.map(|query| query.map(QueryMeasurement::report)).collect()
    }
}

/// Follows cursors to the page; none if the result ends before it.
fn find_page(client: &mut HttpClient, query: &Query) -> anyhow::Result<Option<String>> {
    let mut target = query.target.clone();
    for _ in 1..query.page {
        let (page, _) = client.get(&target)?;
        let Some(cursor) = cursor_of(page)? else {
            return Ok(None);
        };
        let separator = if query.target.contains('?') { '&' } else { '?' };
        target = format!("{}{separator}cursor={cursor}", query.target);
    }
    Ok(Some(target))
}

impl QueryMeasurement {
    fn new(target: String) -> Self {
        Self {
            target,
            events: 0,
            requests: 0,
            latencies: Latencies::default(),
        }
    }

    fn send(&mut self, client: &mut HttpClient) -> anyhow::Result<()> {
        let (page, took) = client.get(&self.target)?;
        self.latencies.add(took);
        if self.requests == 0 {
            self.events = events_on_page(page);
        }
        self.requests += 1;
        Ok(())
    }

    fn report(self) -> QueryReport {
        QueryReport {
            requests: self.requests,
            events: self.events,
            latency: self.latencies.summary(),
        }
    }
}
