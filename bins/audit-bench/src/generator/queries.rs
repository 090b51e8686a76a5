//! One client that asks one query after another, of one service or of several in turns.

use super::order::{AskedService, QueriesOrder, Query, QueryReport};
use super::page::{PageReader, cursor_of, events_of};
use crate::latency::Latencies;
use std::time::{Duration, Instant};

/// A service while it is asked.
struct Asked {
    reader: PageReader,
    /// In the order of the queries; none for a query whose answer has fewer pages.
    queries: Vec<Option<Measured>>,
}

/// A query while it is measured.
struct Measured {
    /// With the cursor of its page.
    target: String,
    events: u32,
    requests: u32,
    latencies: Latencies,
}

/// Carries out the order.
pub(crate) fn run(order: &QueriesOrder) -> anyhow::Result<Vec<Vec<Option<QueryReport>>>> {
    let began = Instant::now();
    let services = order.services.iter().map(Asked::find);
    let mut services = services.collect::<anyhow::Result<Vec<_>>>()?;
    let queries = order.services.first().map_or(0, |service| service.queries.len());
    let extra_max = Duration::from_millis(order.extra_ms_max);

    ask_in_rounds(&mut services, 0..queries, order.requests, order, None)?;
    let unsettled: Vec<usize> = (0..queries)
        .filter(|query| has_long_tail(&services, *query))
        .collect();
    let end = Some(began + extra_max);
    ask_in_rounds(&mut services, unsettled, order.extra_requests, order, end)?;
    let different: Vec<usize> = (0..queries).filter(|query| differs(&services, *query)).collect();
    let end = Some(Instant::now() + extra_max);
    ask_in_rounds(&mut services, different, order.decisive_requests, order, end)?;
    Ok(services.into_iter().map(Asked::report).collect())
}

/// Asks each of these queries so many times, a few times in each round; no more rounds after `end`.
fn ask_in_rounds(
    services: &mut [Asked],
    queries: impl IntoIterator<Item = usize> + Clone,
    requests: u32,
    order: &QueriesOrder,
    end: Option<Instant>,
) -> anyhow::Result<()> {
    let time_max = Duration::from_millis(order.round_ms_max);
    let round_requests = order.requests.div_ceil(order.rounds).max(1);
    for _ in 0..requests.div_ceil(round_requests) {
        if end.is_some_and(|end| Instant::now() > end) {
            break;
        }
        for query in queries.clone() {
            ask(services, query, round_requests, time_max)?;
        }
    }
    Ok(())
}

/// Whether p99 of the query is not settled at some service.
fn has_long_tail(services: &[Asked], query: usize) -> bool {
    let measured = services.iter().filter_map(|service| service.measured(query));
    measured
        .map(|measured| &measured.latencies)
        .any(Latencies::has_long_tail)
}

/// Whether p99 of the query is more than twice as high at one service as at another.
fn differs(services: &[Asked], query: usize) -> bool {
    let measured = services.iter().filter_map(|service| service.measured(query));
    let p99s: Vec<u32> = measured
        .map(|measured| measured.latencies.clone().summary().p99_us)
        .collect();
    let (least, most) = (p99s.iter().min(), p99s.iter().max());
    least.zip(most).is_some_and(|(least, most)| *most > 2 * *least)
}

/// Asks all services the same, request by request, so that whatever disturbs one disturbs the other as well.
fn ask(services: &mut [Asked], query: usize, requests: u32, time_max: Duration) -> anyhow::Result<()> {
    let began = Instant::now();
    for _ in 0..requests {
        for service in services.iter_mut() {
            if let Some(measured) = &mut service.queries[query] {
                measured.ask(&mut service.reader)?;
            }
        }
        if began.elapsed() > time_max {
            break;
        }
    }
    Ok(())
}

impl Asked {
    fn find(service: &AskedService) -> anyhow::Result<Self> {
        let mut reader = PageReader::connect(service.address, &service.project_key)?;
        let mut queries = Vec::with_capacity(service.queries.len());
        for query in &service.queries {
            queries.push(find_page(&mut reader, query)?.map(Measured::new));
        }
        Ok(Self { reader, queries })
    }

    fn measured(&self, query: usize) -> Option<&Measured> {
        self.queries[query].as_ref()
    }

    fn report(self) -> Vec<Option<QueryReport>> {
        let queries = self.queries.into_iter();
        queries.map(|query| query.map(Measured::report)).collect()
    }
}

/// Follows cursors up to the page.
fn find_page(reader: &mut PageReader, query: &Query) -> anyhow::Result<Option<String>> {
    let mut target = query.target.clone();
    for _ in 1..query.page {
        let (page, _) = reader.get(&target)?;
        let Some(cursor) = cursor_of(page)? else {
            return Ok(None);
        };
        let separator = if query.target.contains('?') { '&' } else { '?' };
        target = format!("{}{separator}cursor={cursor}", query.target);
    }
    Ok(Some(target))
}

impl Measured {
    fn new(target: String) -> Self {
        Self {
            target,
            events: 0,
            requests: 0,
            latencies: Latencies::default(),
        }
    }

    fn ask(&mut self, reader: &mut PageReader) -> anyhow::Result<()> {
        let (page, took) = reader.get(&self.target)?;
        self.latencies.add(took);
        if self.requests == 0 {
            self.events = events_of(page);
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
