//! What people read: progress on standard error, tables on standard output.

use crate::results::{Phase, QueryResult, Results, Size, Turn, ratio};
use crate::targets::{Bound, Verdict};
use comfy_table::{CellAlignment, Table, presets::ASCII_MARKDOWN};
use std::collections::BTreeMap;
use std::io::Write;

/// Queries that are listed because they grow most.
const GROWING_QUERIES_MAX: usize = 12;

/// A line on standard error.
pub(crate) fn progress(line: &str) -> anyhow::Result<()> {
    writeln!(std::io::stderr().lock(), "· {line}")?;
    Ok(())
}

/// Text on standard output.
pub(crate) fn print(text: &str) -> anyhow::Result<()> {
    let mut stdout = std::io::stdout().lock();
    stdout.write_all(text.as_bytes())?;
    stdout.flush()?;
    Ok(())
}

/// All tables of one database.
pub(crate) fn tables(results: &Results) -> String {
    let mut parts = vec![
        format!("\n# {}\n\n{}", results.database_version, results.machine.line()),
        section("Limits", &limits(results)),
        section(
            "`/healthz` and single events in turns, 64 connections",
            &turns(results),
        ),
        section("Ingest", &phases(results, &results.ingest)),
        section(
            "Loading, batches of 100 over 16 connections, 1 % of them imports of old events",
            &phases(results, &results.loads),
        ),
        section("Overload", &phases(results, &results.overload)),
        section("Size on disk", &sizes(results)),
        section("Queries by one filter, p50 / p99 in ms", &single_filters(results)),
        section(
            "Queries by two filters, the worst p99 in ms of all values",
            &pairs(results),
        ),
    ];
    if results.has_growth() {
        let title = "Queries that grow most, ms at the first and the last size";
        parts.push(section(title, &growing(results)));
    }
    parts.push(section("Targets", &targets(&results.targets)));
    parts.join("\n")
}

fn section(title: &str, table: &Table) -> String {
    format!("\n## {title}\n\n{table}\n")
}

/// Every column but the first holds numbers.
fn table(header: Vec<String>, rows: impl IntoIterator<Item = Vec<String>>) -> Table {
    let mut table = Table::new();
    table.load_style(ASCII_MARKDOWN).set_header(header).add_rows(rows);
    for column in table.column_iter_mut().skip(1) {
        column.set_cell_alignment(CellAlignment::Right);
    }
    table
}

/// The words of a header, with `|` between them.
fn words(header: &str) -> Vec<String> {
    header.split('|').map(|word| word.trim().to_owned()).collect()
}

/// `before`, a column for each size, and `after`.
fn with_sizes(results: &Results, before: &str, after: &str) -> Vec<String> {
    let sizes = results.plan.sizes.iter().map(|size| format!("at {size}"));
    words(before)
        .into_iter()
        .chain(sizes)
        .chain(words(after))
        .collect()
}

fn limits(results: &Results) -> Table {
    let raw = results.raw.iter().map(|rate| {
        vec![
            format!("rows without index, {} a transaction", rate.transaction_rows),
            rate.connections.to_string(),
            whole(rate.rows_per_second),
            String::new(),
            String::new(),
            whole(rate.bytes_per_row),
        ]
    });
    let health = results.health.iter().map(|phase| {
        vec![
            "/healthz".to_owned(),
            phase.connections.to_string(),
            whole(phase.requests_per_second()),
            milliseconds(phase.latency.p50_ms()),
            milliseconds(phase.latency.p99_ms()),
            String::new(),
        ]
    });
    let header = words("limit | connections | per second | p50 ms | p99 ms | bytes/row");
    table(header, raw.chain(health))
}

fn turns(results: &Results) -> Table {
    let row = |turn: &Turn| {
        vec![
            turn.singles.events_before.to_string(),
            whole(turn.health.requests_per_second()),
            whole(turn.singles.events_per_second()),
            format!("{:.2}", turn.share()),
            milliseconds(turn.singles.latency.p99_ms()),
            optional(turn.singles.usage.server_cpu_us, tenths),
        ]
    };
    let header = words(
        "events before | /healthz, requests/s | single events/s | of /healthz | p99 ms | server µs/event",
    );
    table(header, results.turns.iter().map(row))
}

fn phases(results: &Results, phases: &[Phase]) -> Table {
    let header = words(
        "events before | batch | conn. | requests/s | events/s | of raw | p50 ms | p99 ms | 503 | failed | \
         disk B/event | written B/event | server µs/event | client µs/event | peak MiB",
    );
    let raw = results.raw_rows_per_second();
    let row = |phase: &Phase| {
        let usage = &phase.usage;
        vec![
            phase.events_before.to_string(),
            phase.batch.to_string(),
            phase.connections.to_string(),
            whole(phase.requests_per_second()),
            whole(phase.events_per_second()),
            format!("{:.2}", ratio(phase.events_per_second(), raw)),
            milliseconds(phase.latency.p50_ms()),
            milliseconds(phase.latency.p99_ms()),
            share(phase.unavailable_share()),
            phase.failures().to_string(),
            optional(usage.disk_bytes_per_event, whole),
            optional(usage.written_bytes_per_event, whole),
            optional(usage.server_cpu_us, tenths),
            optional(usage.generator_cpu_us, tenths),
            optional(usage.peak_memory_mib, whole),
        ]
    };
    table(header, phases.iter().map(row))
}

fn sizes(results: &Results) -> Table {
    let row_bytes = results.raw.last().map_or(0.0, |rate| rate.bytes_per_row);
    let row = |size: &Size| {
        let bytes_per_event = ratio(size.disk_bytes as f64, size.events as f64);
        vec![
            size.events.to_string(),
            tenths(size.disk_bytes as f64 / 1_048_576.0),
            whole(bytes_per_event),
            format!("{:.2}", ratio(bytes_per_event, row_bytes)),
            optional(size.peak_memory_mib, whole),
        ]
    };
    let header = words("events | MiB | bytes/event | of rows alone | peak MiB");
    table(header, results.sizes.iter().map(row))
}

fn single_filters(results: &Results) -> Table {
    let row = |query: &QueryResult| {
        let kind = &query.kind;
        let mut row = vec![kind.filters.clone(), kind.levels.clone(), kind.page.to_string()];
        row.extend(results.plan.sizes.iter().map(|size| {
            query.at(*size).map_or_else(String::new, |at| {
                let (p50, p99) = (at.latency.p50_ms(), at.latency.p99_ms());
                format!("{} / {}", milliseconds(p50), milliseconds(p99))
            })
        }));
        let found = query.at.last().map_or(0, |at| at.found);
        row.extend([optional(query.growth(results.ends()), tenths), found.to_string()]);
        row
    };
    let is_single = |query: &&QueryResult| query.kind.filter_count < 2 && !query.at.is_empty();
    table(
        with_sizes(results, "filter | value | page", "growth of p99 | found"),
        results.queries.iter().filter(is_single).map(row),
    )
}

/// One row for each pair of filters: the worst of its combinations of values, and of their deep pages.
fn pairs(results: &Results) -> Table {
    let mut by_filters = BTreeMap::<&str, Vec<&QueryResult>>::new();
    let pairs = results
        .queries
        .iter()
        .filter(|query| query.kind.filter_count == 2);
    for query in pairs {
        by_filters.entry(&query.kind.filters).or_default().push(query);
    }
    let rows = by_filters.into_iter().map(|(filters, queries)| {
        let mut row = vec![filters.to_owned(), queries.len().to_string()];
        for size in &results.plan.sizes {
            let p99 = queries.iter().filter_map(|query| query.at(*size));
            let worst = p99.map(|at| at.latency.p99_ms()).fold(0.0, f64::max);
            row.push(milliseconds(worst));
        }
        let growths = queries.iter().filter_map(|query| query.growth(results.ends()));
        row.push(tenths(growths.fold(0.0, f64::max)));
        row
    });
    table(with_sizes(results, "filters | queries", "worst growth"), rows)
}

fn growing(results: &Results) -> Table {
    let (first, last) = results.ends();
    let measured =
        |query| -> Option<(f64, &QueryResult)> { Some((QueryResult::growth(query, (first, last))?, query)) };
    let mut queries: Vec<(f64, &QueryResult)> = results.queries.iter().filter_map(measured).collect();
    queries.sort_by(|one, other| other.0.total_cmp(&one.0));
    queries.truncate(GROWING_QUERIES_MAX);
    let rows = queries.into_iter().map(|(growth, query)| {
        let p50 = |size| query.at(size).map(|at| at.latency.p50_ms());
        let p99 = |size| query.at(size).map(|at| at.latency.p99_ms());
        vec![
            format!("{} ({})", query.kind.filters, query.kind.levels),
            query.kind.page.to_string(),
            query.at(last).map_or(0, |at| at.found).to_string(),
            optional(p50(first), milliseconds),
            optional(p50(last), milliseconds),
            optional(query.growth_of_median((first, last)), tenths),
            optional(p99(first), milliseconds),
            optional(p99(last), milliseconds),
            tenths(growth),
        ]
    });
    let header =
        words("query | page | found | first p50 | last p50 | growth | first p99 | last p99 | growth");
    table(header, rows)
}

fn targets(verdicts: &[Verdict]) -> Table {
    let row = |verdict: &Verdict| {
        let wanted = match verdict.bound {
            Bound::AtLeast(least) => format!("at least {}", short(least)),
            Bound::AtMost(most) => format!("at most {}", short(most)),
        };
        let aim = optional(verdict.aim, |aim| format!(", aim {}", short(aim)));
        let met = if verdict.is_met { "ok" } else { "MISSED" };
        vec![
            verdict.name.clone(),
            short(verdict.measured),
            wanted + &aim,
            met.to_owned(),
        ]
    };
    table(words("target | measured | wanted |"), verdicts.iter().map(row))
}

fn optional(value: Option<f64>, format: fn(f64) -> String) -> String {
    value.map_or_else(String::new, format)
}

fn whole(value: f64) -> String {
    format!("{value:.0}")
}

fn tenths(value: f64) -> String {
    format!("{value:.1}")
}

fn milliseconds(value: f64) -> String {
    format!("{value:.2}")
}

fn share(value: f64) -> String {
    if value > 0.0 {
        format!("{:.1} %", value * 100.0)
    } else {
        String::new()
    }
}

fn short(value: f64) -> String {
    if value >= 100.0 {
        whole(value)
    } else {
        format!("{value:.2}")
    }
}
