//! One client that asks one query after another.

use super::order::{QueriesOrder, Query, QueryReport};
use super::page::{PageReader, cursor_of, events_of};
use crate::latency::Latencies;
use std::time::{Duration, Instant};

/// A query while it is measured.
struct Measured {
    /// With the cursor of its page.
    target: String,
    events: u32,
    requests: u32,
    latencies: Latencies,
}

/// Carries out the order.
pub(crate) fn run(order: &QueriesOrder) -> anyhow::Result<Vec<Option<QueryReport>>> {
    let began = Instant::now();
    let mut reader = PageReader::connect(order.address, &order.project_key)?;
    let mut all = Vec::with_capacity(order.queries.len());
    for query in &order.queries {
        let target = find_page(&mut reader, query)?;
        all.push(target.map(Measured::new));
    }
    let time_max = Duration::from_millis(order.round_ms_max);
    let round_requests = order.requests.div_ceil(order.rounds).max(1);
    for _ in 0..order.rounds {
        for query in all.iter_mut().flatten() {
            query.ask(&mut reader, round_requests, time_max)?;
        }
    }
    let mut unsettled: Vec<&mut Measured> = all.iter_mut().flatten().collect();
    unsettled.retain(|query| query.latencies.has_long_tail());
    for _ in 0..order.extra_requests / round_requests {
        if began.elapsed() > Duration::from_millis(order.extra_ms_max) {
            break;
        }
        for query in &mut unsettled {
            query.ask(&mut reader, round_requests, time_max)?;
        }
    }
    Ok(all.into_iter().map(|query| query.map(Measured::report)).collect())
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

    fn ask(&mut self, reader: &mut PageReader, requests: u32, time_max: Duration) -> anyhow::Result<()> {
        let began = Instant::now();
        for _ in 0..requests {
            let (page, took) = reader.get(&self.target)?;
            self.latencies.add(took);
            if self.requests == 0 {
                self.events = events_of(page);
            }
            self.requests += 1;
            if began.elapsed() > time_max {
                break;
            }
        }
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
