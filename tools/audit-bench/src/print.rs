//! Progress on standard error and tables on standard output.

use crate::compare::Figure;
use crate::raw_limit::Layout;
use crate::results::{AlternatingRound, Phase, QueryResult, Results, Size, ratio};
use crate::targets::{Bound, TargetCheck};
use comfy_table::{CellAlignment, Table, presets::ASCII_MARKDOWN};
use std::collections::BTreeMap;
use std::io::Write;

/// Rows of the table of the queries that grow most.
const GROWING_QUERIES_MAX: usize = 12;

/// Writes a line to standard error.
pub(crate) fn progress(line: &str) -> anyhow::Result<()> {
    writeln!(std::io::stderr().lock(), "· {line}")?;
    Ok(())
}

/// Writes text to standard output.
pub(crate) fn print(text: &str) -> anyhow::Result<()> {
    let mut stdout = std::io::stdout().lock();
    stdout.write_all(text.as_bytes())?;
    stdout.flush()?;
    Ok(())
}

/// The tables of one database.
pub(crate) fn tables(results: &Results) -> String {
    let mut parts = vec![
        format!("\n# {}\n\n{}", results.database_version, results.machine.line()),
        section("Limits", &limits(results)),
        section(
            "`/healthz` and single events, alternating, 64 connections",
            &alternating(results),
        ),
        section("Ingest", &phases(results, &results.ingest)),
        section(
            "Loading, batches of 100 over 16 connections, 1 % imports of old events",
            &phases(results, &results.loads),
        ),
        section("Overload", &phases(results, &results.overload)),
        section("Size on disk", &sizes(results)),
        section(
            "Queries with one filter, p50 / p99 in ms",
            &single_filters(results),
        ),
        section("Queries with two filters, highest p99 in ms", &pairs(results)),
    ];
    if results.has_growth() {
        let title = "Queries that grow most, ms at the smallest and the largest size";
        parts.push(section(title, &growing(results)));
    }
    parts.push(section("Targets (bold = missed)", &targets(&results.targets)));
    parts.join("\n")
}

pub(crate) fn section(title: &str, table: &Table) -> String {
    format!("\n## {title}\n\n{table}\n")
}

/// Aligns every column but the first to the right.
pub(crate) fn table(header: Vec<String>, rows: impl IntoIterator<Item = Vec<String>>) -> Table {
    let mut table = Table::new();
    table.load_style(ASCII_MARKDOWN).set_header(header).add_rows(rows);
    for column in table.column_iter_mut().skip(1) {
        column.set_cell_alignment(CellAlignment::Right);
    }
    table
}

/// Splits a header row at `|`.
pub(crate) fn columns(header: &str) -> Vec<String> {
    header.split('|').map(|column| column.trim().to_owned()).collect()
}

/// The columns `before`, one column per size, and the columns `after`.
fn with_sizes(results: &Results, before: &str, after: &str) -> Vec<String> {
    let sizes = results.plan.sizes.iter().map(|size| format!("at {size}"));
    columns(before)
        .into_iter()
        .chain(sizes)
        .chain(columns(after))
        .collect()
}

fn limits(results: &Results) -> Table {
    let raw = results.raw.iter().map(|rate| {
        vec![
            format!(
                "{}, {} rows per transaction",
                rate.layout.name(),
                rate.transaction_rows
            ),
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
    let header = columns("limit | connections | per second | p50 ms | p99 ms | bytes/row");
    table(header, raw.chain(health))
}

fn alternating(results: &Results) -> Table {
    let row = |round: &AlternatingRound| {
        vec![
            round.singles.events_before.to_string(),
            whole(round.health.requests_per_second()),
            whole(round.singles.events_per_second()),
            format!("{:.2}", round.share()),
            milliseconds(round.singles.latency.p99_ms()),
            optional(round.singles.usage.server_cpu_us, tenths),
        ]
    };
    let header =
        columns("events stored | /healthz requests/s | single events/s | ratio | p99 ms | server µs/event");
    table(header, results.alternating.iter().map(row))
}

fn phases(results: &Results, phases: &[Phase]) -> Table {
    let header = columns(
        "events stored | batch | conn. | requests/s | events/s | ratio to raw | ratio to own table | p50 ms | p99 ms | 503 | other errors | \
         disk B/event | written B/event | server µs/event | client µs/event | peak MiB",
    );
    let [raw, own] = [Layout::Raw, Layout::Own].map(|layout| results.rows_per_second(layout));
    let row = |phase: &Phase| {
        let usage = &phase.usage;
        vec![
            phase.events_before.to_string(),
            phase.batch.to_string(),
            phase.connections.to_string(),
            whole(phase.requests_per_second()),
            whole(phase.events_per_second()),
            format!("{:.2}", ratio(phase.events_per_second(), raw)),
            format!("{:.2}", ratio(phase.events_per_second(), own)),
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
    let raw = results.raw.iter().rfind(|rate| rate.layout == Layout::Raw);
    let row_bytes = raw.map_or(0.0, |rate| rate.bytes_per_row);
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
    let header = columns("events | MiB | bytes/event | ratio to raw | peak MiB");
    table(header, results.sizes.iter().map(row))
}

fn single_filters(results: &Results) -> Table {
    let row = |query: &QueryResult| {
        let kind = &query.kind;
        let mut row = vec![
            kind.filters.clone(),
            kind.selectivity.clone(),
            kind.page.to_string(),
        ];
        row.extend(results.plan.sizes.iter().map(|size| {
            query.at(*size).map_or_else(String::new, |at| {
                let (p50, p99) = (at.latency.p50_ms(), at.latency.p99_ms());
                format!("{} / {}", milliseconds(p50), milliseconds(p99))
            })
        }));
        let found = query.at.last().map_or(0, |at| at.found);
        row.extend([
            optional(query.p99_growth(results.ends()), tenths),
            found.to_string(),
        ]);
        row
    };
    let is_single = |query: &&QueryResult| query.kind.filter_count < 2 && !query.at.is_empty();
    table(
        with_sizes(results, "filter | selectivity | page", "p99 growth | results"),
        results.queries.iter().filter(is_single).map(row),
    )
}

/// One row for each pair of filters: the highest p99 of all selectivities and pages.
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
            let highest = p99.map(|at| at.latency.p99_ms()).fold(0.0, f64::max);
            row.push(milliseconds(highest));
        }
        let growths = queries
            .iter()
            .filter_map(|query| query.p99_growth(results.ends()));
        row.push(tenths(growths.fold(0.0, f64::max)));
        row
    });
    table(
        with_sizes(results, "filters | queries", "highest p99 growth"),
        rows,
    )
}

fn growing(results: &Results) -> Table {
    let (first, last) = results.ends();
    let measured = |query| -> Option<(f64, &QueryResult)> {
        Some((QueryResult::p99_growth(query, (first, last))?, query))
    };
    let mut queries: Vec<(f64, &QueryResult)> = results.queries.iter().filter_map(measured).collect();
    queries.sort_by(|one, other| other.0.total_cmp(&one.0));
    queries.truncate(GROWING_QUERIES_MAX);
    let rows = queries.into_iter().map(|(growth, query)| {
        let p50 = |size| query.at(size).map(|at| at.latency.p50_ms());
        let p99 = |size| query.at(size).map(|at| at.latency.p99_ms());
        vec![
            format!("{} ({})", query.kind.filters, query.kind.selectivity),
            query.kind.page.to_string(),
            query.at(last).map_or(0, |at| at.found).to_string(),
            optional(p50(first), milliseconds),
            optional(p50(last), milliseconds),
            optional(query.p50_growth((first, last)), tenths),
            optional(p99(first), milliseconds),
            optional(p99(last), milliseconds),
            tenths(growth),
        ]
    });
    let header =
        columns("query | page | results | first p50 | last p50 | growth | first p99 | last p99 | growth");
    table(header, rows)
}

fn targets(checks: &[TargetCheck]) -> Table {
    let row = |check: &TargetCheck| {
        let required = match check.bound {
            Bound::AtLeast(least) => format!("at least {}", short(least)),
            Bound::AtMost(most) => format!("at most {}", short(most)),
        };
        let aim = optional(check.aim, |aim| format!(", aim {}", short(aim)));
        let verdict = if check.is_met { "met" } else { "**missed**" };
        vec![
            check.name.clone(),
            short(check.measured),
            required + &aim,
            verdict.to_owned(),
        ]
    };
    table(columns("target | measured | required |"), checks.iter().map(row))
}

/// The table of a comparison.
pub(crate) fn comparison(figures: &[Figure]) -> String {
    let row = |figure: &Figure| {
        let changes = figure.changes();
        let range = |least, greatest| format!("{} to {}", percent(least), percent(greatest));
        vec![
            figure.name.clone(),
            significant(figure.baseline()),
            significant(figure.candidate()),
            percent(changes.median),
            range(changes.lower_quartile, changes.upper_quartile),
            range(changes.least, changes.greatest),
        ]
    };
    let header = columns("figure | baseline | candidate | change | half of the rounds | all rounds");
    format!("{}\n", table(header, figures.iter().map(row)))
}

/// At least three significant digits above 0.1.
fn significant(value: f64) -> String {
    match value {
        value if value >= 100.0 => whole(value),
        value if value >= 10.0 => tenths(value),
        value => format!("{value:.3}"),
    }
}

fn percent(share: f64) -> String {
    format!("{:+.1} %", share * 100.0)
}

pub(crate) fn optional(value: Option<f64>, format: fn(f64) -> String) -> String {
    value.map_or_else(String::new, format)
}

pub(crate) fn whole(value: f64) -> String {
    format!("{value:.0}")
}

fn tenths(value: f64) -> String {
    format!("{value:.1}")
}

pub(crate) fn milliseconds(value: f64) -> String {
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
