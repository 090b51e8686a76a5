//! What people read: progress on standard error, tables on standard output.

use crate::results::{Phase, QueryResult, Results};
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
    let parts = [
        format!("\n# {}\n\n{}", results.database_version, results.machine.line()),
        section("Limits", &limits(results)),
        section("Ingest", &phases(results, results.ingest.iter())),
        section(
            "Loading, batches of 100 over 16 connections, 1 % of them imports of old events",
            &phases(results, results.loads.iter()),
        ),
        section("Overload", &phases(results, results.overload.iter())),
        section("Size on disk", &sizes(results)),
        section("Queries by one filter, p50 / p99 in ms", &single_filters(results)),
        section(
            "Queries by two filters, the worst p99 in ms of all values",
            &pairs(results),
        ),
        section(
            "Queries that grow most, ms at the first and the last size",
            &growing(results),
        ),
        section("Targets", &targets(&results.targets)),
    ];
    parts.join("\n")
}

fn section(title: &str, table: &Table) -> String {
    format!("\n## {title}\n\n{table}\n")
}

fn table(header: &[&str]) -> Table {
    let mut table = Table::new();
    table
        .load_style(ASCII_MARKDOWN)
        .set_header(header.iter().copied());
    table
}

/// Every column but the first holds numbers.
fn align(table: &mut Table) {
    for column in table.column_iter_mut().skip(1) {
        column.set_cell_alignment(CellAlignment::Right);
    }
}

fn limits(results: &Results) -> Table {
    let mut table = table(&[
        "limit",
        "connections",
        "per second",
        "p50 ms",
        "p99 ms",
        "bytes/row",
    ]);
    for rate in &results.raw {
        table.add_row([
            format!("rows without index, {} a transaction", rate.transaction_rows),
            rate.connections.to_string(),
            whole(rate.rows_per_second),
            String::new(),
            String::new(),
            whole(rate.bytes_per_row),
        ]);
    }
    for phase in &results.health {
        table.add_row([
            "/healthz".to_owned(),
            phase.connections.to_string(),
            whole(phase.requests_per_second()),
            milliseconds(phase.latency.p50_ms()),
            milliseconds(phase.latency.p99_ms()),
            String::new(),
        ]);
    }
    align(&mut table);
    table
}

fn phases<'a>(results: &Results, phases: impl Iterator<Item = &'a Phase>) -> Table {
    let mut table = table(&[
        "events before",
        "batch",
        "conn.",
        "requests/s",
        "events/s",
        "of raw",
        "p50 ms",
        "p99 ms",
        "503",
        "failed",
        "disk B/event",
        "written B/event",
        "server µs/event",
        "client µs/event",
        "peak MiB",
    ]);
    let raw = results.raw_rows_per_second();
    for phase in phases {
        let usage = &phase.usage;
        table.add_row([
            phase.events_before.to_string(),
            phase.batch.to_string(),
            phase.connections.to_string(),
            whole(phase.requests_per_second()),
            whole(phase.events_per_second()),
            format!("{:.2}", crate::results::ratio(phase.events_per_second(), raw)),
            milliseconds(phase.latency.p50_ms()),
            milliseconds(phase.latency.p99_ms()),
            share(phase.unavailable_share()),
            phase.failures().to_string(),
            optional(usage.disk_bytes_per_event, whole),
            optional(usage.written_bytes_per_event, whole),
            optional(usage.server_cpu_us, tenths),
            optional(usage.generator_cpu_us, tenths),
            optional(usage.peak_memory_mib, whole),
        ]);
    }
    align(&mut table);
    table
}

fn sizes(results: &Results) -> Table {
    let mut table = table(&["events", "MiB", "bytes/event", "of rows alone", "peak MiB"]);
    let row_bytes = results.raw.last().map_or(0.0, |rate| rate.bytes_per_row);
    for size in &results.sizes {
        let bytes_per_event = crate::results::ratio(size.disk_bytes as f64, size.events as f64);
        table.add_row([
            size.events.to_string(),
            tenths(size.disk_bytes as f64 / 1_048_576.0),
            whole(bytes_per_event),
            format!("{:.2}", crate::results::ratio(bytes_per_event, row_bytes)),
            optional(size.peak_memory_mib, whole),
        ]);
    }
    align(&mut table);
    table
}

fn single_filters(results: &Results) -> Table {
    let mut header = vec!["filter".to_owned(), "value".to_owned(), "page".to_owned()];
    let at = |size: &u64| format!("at {size}");
    header.extend(results.plan.sizes.iter().map(at));
    header.extend(["growth of p99".to_owned(), "found".to_owned()]);
    let header: Vec<&str> = header.iter().map(String::as_str).collect();
    let mut table = table(&header);
    let is_single = |query: &&QueryResult| query.kind.filter_count < 2 && !query.at.is_empty();
    for query in results.queries.iter().filter(is_single) {
        let mut row = vec![
            query.kind.filters.clone(),
            query.kind.levels.clone(),
            query.kind.page.to_string(),
        ];
        row.extend(results.plan.sizes.iter().map(|size| {
            query.at(*size).map_or_else(String::new, |at| {
                format!(
                    "{} / {}",
                    milliseconds(at.latency.p50_ms()),
                    milliseconds(at.latency.p99_ms())
                )
            })
        }));
        row.push(growth(query, results));
        row.push(
            query
                .at
                .last()
                .map_or_else(String::new, |at| at.found.to_string()),
        );
        table.add_row(row);
    }
    align(&mut table);
    table
}

fn growth(query: &QueryResult, results: &Results) -> String {
    optional(query.growth(results.ends()), tenths)
}

/// One row for each pair of filters: the worst of its combinations of values, and of their deep pages.
fn pairs(results: &Results) -> Table {
    let mut header = vec!["filters".to_owned(), "queries".to_owned()];
    header.extend(results.plan.sizes.iter().map(|size| format!("at {size}")));
    header.push("worst growth".to_owned());
    let header: Vec<&str> = header.iter().map(String::as_str).collect();
    let mut table = table(&header);
    let mut by_filters = BTreeMap::<&str, Vec<&QueryResult>>::new();
    for query in results
        .queries
        .iter()
        .filter(|query| query.kind.filter_count == 2)
    {
        by_filters.entry(&query.kind.filters).or_default().push(query);
    }
    for (filters, queries) in by_filters {
        let mut row = vec![filters.to_owned(), queries.len().to_string()];
        for size in &results.plan.sizes {
            let p99 = queries.iter().filter_map(|query| query.at(*size));
            row.push(milliseconds(
                p99.map(|at| at.latency.p99_ms()).fold(0.0, f64::max),
            ));
        }
        let growths = queries.iter().filter_map(|query| query.growth(results.ends()));
        row.push(tenths(growths.fold(0.0, f64::max)));
        table.add_row(row);
    }
    align(&mut table);
    table
}

fn growing(results: &Results) -> Table {
    let mut table = table(&[
        "query",
        "page",
        "found",
        "first p50",
        "last p50",
        "growth",
        "first p99",
        "last p99",
        "growth",
    ]);
    let (first, last) = results.ends();
    let mut queries: Vec<(f64, &QueryResult)> = results
        .queries
        .iter()
        .filter_map(|query| Some((query.growth(results.ends())?, query)))
        .collect();
    queries.sort_by(|one, other| other.0.total_cmp(&one.0));
    for (growth, query) in queries.into_iter().take(GROWING_QUERIES_MAX) {
        let p50 = |size| query.at(size).map(|at| at.latency.p50_ms());
        let p99 = |size| query.at(size).map(|at| at.latency.p99_ms());
        table.add_row([
            format!("{} ({})", query.kind.filters, query.kind.levels),
            query.kind.page.to_string(),
            query.at(last).map_or_else(String::new, |at| at.found.to_string()),
            optional(p50(first), milliseconds),
            optional(p50(last), milliseconds),
            optional(query.growth_of_median(results.ends()), tenths),
            optional(p99(first), milliseconds),
            optional(p99(last), milliseconds),
            tenths(growth),
        ]);
    }
    align(&mut table);
    table
}

fn targets(verdicts: &[Verdict]) -> Table {
    let mut table = table(&["target", "measured", "wanted", ""]);
    for verdict in verdicts {
        let wanted = match verdict.bound {
            Bound::AtLeast(least) => format!("at least {}", short(least)),
            Bound::AtMost(most) => format!("at most {}", short(most)),
        };
        let aim = verdict
            .aim
            .map_or_else(String::new, |aim| format!(", aim {}", short(aim)));
        table.add_row([
            verdict.name.clone(),
            short(verdict.measured),
            wanted + &aim,
            if verdict.is_met { "ok" } else { "MISSED" }.to_owned(),
        ]);
    }
    align(&mut table);
    table
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
