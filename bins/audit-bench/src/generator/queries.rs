//! One client that asks one query after another.

use super::order::{QueriesOrder, Query, QueryReport};
use super::page::{PageReader, cursor_of, events_of};
use crate::latency::Latencies;
use std::time::{Duration, Instant};

/// A query while it is measured.
struct Measured {
    /// With the cursor of its page. None: the answer has fewer pages.
    target: Option<String>,
    events: u32,
    requests: u32,
    latencies: Latencies,
}

/// Carries out the order.
pub(crate) fn run(order: &QueriesOrder) -> anyhow::Result<Vec<QueryReport>> {
    let mut reader = PageReader::connect(order.address, &order.project_key)?;
    let mut all = Vec::with_capacity(order.queries.len());
    for query in &order.queries {
        all.push(Measured {
            target: find_page(&mut reader, query)?,
            events: 0,
            requests: 0,
            latencies: Latencies::default(),
        });
    }
    let time_max = Duration::from_millis(order.round_ms_max);
    let round_requests = order.requests.div_ceil(order.rounds);
    for _ in 0..order.rounds {
        for query in &mut all {
            query.ask(&mut reader, round_requests, time_max)?;
        }
    }
    let mut unsettled: Vec<&mut Measured> = all
        .iter_mut()
        .filter(|query| query.latencies.has_long_tail())
        .collect();
    let round_requests = order.extra_requests.div_ceil(order.rounds);
    for _ in 0..order.rounds {
        for query in &mut unsettled {
            query.ask(&mut reader, round_requests, time_max)?;
        }
    }
    Ok(all.into_iter().map(Measured::report).collect())
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
    fn ask(&mut self, reader: &mut PageReader, requests: u32, time_max: Duration) -> anyhow::Result<()> {
        let Some(target) = &self.target else {
            return Ok(());
        };
        let began = Instant::now();
        for _ in 0..requests {
            let (page, took) = reader.get(target)?;
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
        if self.target.is_none() {
            return QueryReport::NoSuchPage;
        }
        QueryReport::Measured {
            requests: self.requests,
            events: self.events,
            latency: self.latencies.summary(),
        }
    }
}
