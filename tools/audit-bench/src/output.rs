//! The result files of a run: JSON, the printed tables, and charts.

use crate::chart::{Chart, Scale, Series};
use crate::print::tables;
use crate::results::{Phase, QueryResult, Results};
use anyhow::Context;
use std::path::Path;

/// Writes the files of one database into `folder`.
pub(crate) fn write(results: &Results, folder: &Path) -> anyhow::Result<()> {
    let database = results.database.name();
    let mut files = vec![
        (
            format!("{database}.json"),
            serde_json::to_string_pretty(results)? + "\n",
        ),
        (
            format!("{database}-queries.json"),
            one_per_line(&results.queries)?,
        ),
        (
            format!("{database}.md"),
            tables(results).trim_start().to_owned() + "\n",
        ),
    ];
    for (name, chart) in charts(results) {
        files.push((format!("{database}-{name}.svg"), chart.svg()?));
    }
    for (name, text) in files {
        let path = folder.join(name);
        std::fs::write(&path, text).with_context(|| format!("cannot write {}", path.display()))?;
    }
    Ok(())
}

/// A JSON array with one line per query, so that the files of two runs can be compared by `diff`.
fn one_per_line(queries: &[QueryResult]) -> anyhow::Result<String> {
    let lines: Vec<String> = queries
        .iter()
        .map(serde_json::to_string)
        .collect::<Result<_, _>>()?;
    Ok(format!("[\n{}\n]\n", lines.join(",\n")))
}

fn charts(results: &Results) -> [(&'static str, Chart); 4] {
    [
        ("growth", growth(results)),
        ("throughput", throughput(results)),
        ("latency", latency(results)),
        ("queries", queries(results)),
    ]
}

/// Ingest rate while the database grows.
fn growth(results: &Results) -> Chart {
    let mut points = Vec::new();
    for load in &results.loads {
        let mut before = (0, 0.0);
        for window in &load.windows {
            let (events, seconds) = (window.events - before.0, window.seconds - before.1);
            let rate = crate::results::ratio(events as f64, seconds);
            points.push(((load.events_before + window.events) as f64, rate));
            before = (window.events, window.seconds);
        }
    }
    Chart {
        title: format!(
            "{}: batches of 100 while the database grows",
            results.database.title()
        ),
        x_title: "events stored",
        y_title: "events/s",
        x_scale: Scale::Linear,
        y_scale: Scale::Linear,
        series: vec![Series {
            name: "16 connections".to_owned(),
            points,
        }],
    }
}

fn of_batch(phases: &[Phase], batch: usize) -> impl Iterator<Item = &Phase> {
    phases.iter().filter(move |phase| phase.batch == batch)
}

fn throughput(results: &Results) -> Chart {
    let points = |phases: &[Phase], batch, rate: fn(&Phase) -> f64| {
        of_batch(phases, batch)
            .map(|phase| (phase.connections as f64, rate(phase)))
            .collect()
    };
    let mut series = vec![Series {
        name: "/healthz, requests/s".to_owned(),
        points: points(&results.health, 0, Phase::requests_per_second),
    }];
    for batch in crate::plan::BATCHES {
        series.push(Series {
            name: format!("batches of {batch}"),
            points: points(&results.ingest, *batch, Phase::events_per_second),
        });
    }
    Chart {
        title: format!("{}: events/s by connections", results.database.title()),
        x_title: "connections",
        y_title: "events/s",
        x_scale: Scale::Logarithmic,
        y_scale: Scale::Linear,
        series,
    }
}

fn latency(results: &Results) -> Chart {
    let mut series = Vec::new();
    for batch in crate::plan::BATCHES {
        for (name, quantile) in [
            ("p50", (|phase| phase.latency.p50_ms()) as fn(&Phase) -> f64),
            ("p99", |phase| phase.latency.p99_ms()),
        ] {
            let points = of_batch(&results.ingest, *batch);
            series.push(Series {
                name: format!("batches of {batch}, {name}"),
                points: points
                    .map(|phase| (phase.connections as f64, quantile(phase)))
                    .collect(),
            });
        }
    }
    Chart {
        title: format!("{}: response time by connections", results.database.title()),
        x_title: "connections",
        y_title: "ms",
        x_scale: Scale::Logarithmic,
        y_scale: Scale::Logarithmic,
        series,
    }
}

/// Name and predicate of a group of queries.
type Group = (&'static str, fn(&QueryResult) -> bool);

/// Median and highest p99 of each group of queries by size.
fn queries(results: &Results) -> Chart {
    let groups: [Group; 4] = [
        ("one filter", |query| {
            query.kind.filter_count < 2 && query.kind.page == 1 && !is_search(query)
        }),
        ("search", |query| {
            query.kind.filter_count < 2 && query.kind.page == 1 && is_search(query)
        }),
        ("two filters", |query| {
            query.kind.filter_count == 2 && query.kind.page == 1
        }),
        ("page 20", |query| query.kind.page > 1),
    ];
    let mut series = Vec::new();
    for (name, is_member) in groups {
        for (rank_name, permille) in [("median", 500), ("highest", 1_000)] {
            let points = results.plan.sizes.iter().filter_map(|size| {
                let of_group = results.queries.iter().filter(|query| is_member(query));
                let mut p99: Vec<f64> = of_group
                    .filter_map(|query| Some(query.at(*size)?.latency.p99_ms()))
                    .collect();
                p99.sort_by(f64::total_cmp);
                let rank = (p99.len() * permille).div_ceil(1_000);
                Some((*size as f64, *p99.get(rank.checked_sub(1)?)?))
            });
            series.push(Series {
                name: format!("{name}, {rank_name}"),
                points: points.collect(),
            });
        }
    }
    Chart {
        title: format!("{}: p99 of queries by events stored", results.database.title()),
        x_title: "events stored",
        y_title: "ms",
        x_scale: Scale::Logarithmic,
        y_scale: Scale::Logarithmic,
        series,
    }
}

fn is_search(query: &QueryResult) -> bool {
    query.kind.filters.starts_with("search")
}
