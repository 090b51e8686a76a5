//! The tables of `scale`.

use super::ScaleResults;
use super::activity::{Processors, Wait};
use super::creation::Creation;
use super::deployment::{Load, Rounds};
use super::events::{GROWTH_MAX, Growth};
use super::ledgers::{Background, Ledgers, LedgersRow, Turns};
use super::nodes::NodesRow;
use super::projects::CreationRate;
use crate::print::{columns, milliseconds, optional, section, table, whole};
use crate::results::{median, ratio};
use comfy_table::Table;

/// Waits listed with a load.
const WAITS_MAX: usize = 3;
/// Sessions below which a wait is not listed.
const WAIT_SESSIONS_MIN: f64 = 0.1;

/// The columns of [`load_cells`].
const LOAD_COLUMNS: &str = "p50 ms | p99 ms | errors | nodes µs/event | PostgreSQL µs/event | WAL B/event | CPU nodes | CPU PostgreSQL | \
                            CPU machine | sessions by wait";

/// The tables of all parts that were measured.
pub(crate) fn tables(results: &ScaleResults) -> String {
    let mut parts = vec![format!(
        "\n# Scale: {}\n\n{}\n\nBegan {}, took {:.0} s. Server {}, benchmark at {}. {} rounds of {} s each.\n",
        results.database_version,
        results.machine.line(),
        results.began_at,
        results.seconds,
        results.server,
        results.commit.as_deref().unwrap_or("an unknown commit"),
        results.plan.rounds,
        results.plan.measured_ms / 1_000,
    )];
    if let Some(rows) = &results.nodes {
        parts.push(section("Nodes and projects", &nodes(rows)));
    }
    if let Some(ledgers) = &results.ledgers {
        let title = "Number of projects: single events over 64 connections to one project and to all, as many as possible, and half as many as all store";
        parts.push(section(title, &active(ledgers)));
        parts.push(section("Number of projects: without load", &idle(ledgers)));
        parts.push(section("Statements without load, by time", &statements(ledgers)));
    }
    if let Some(creation) = &results.creation {
        let title = "Ingest beside the creation of projects on another node";
        parts.push(section(title, &beside(creation)));
    }
    if let Some(growth) = &results.events {
        parts.push(section("Queries by number of events", &queries(growth)));
        parts.push(section("Queries that grow most", &growing(growth)));
    }
    parts.join("\n")
}

fn nodes(rows: &[NodesRow]) -> Table {
    let base = |row: &NodesRow| {
        let same = |other: &&NodesRow| {
            other.nodes == rows[0].nodes && other.projects == 1 && other.shape == row.shape
        };
        rows.iter()
            .find(same)
            .map_or(0.0, |other| other.rounds.median.events_per_second())
    };
    let row = |row: &NodesRow| {
        let mut cells = vec![
            row.nodes.to_string(),
            row.projects.to_string(),
            row.shape.batch.to_string(),
            row.shape.connections.to_string(),
        ];
        cells.extend(rate_cells(&row.rounds));
        let rate = row.rounds.median.events_per_second();
        cells.push(format!("{:.2}", ratio(rate, base(row))));
        cells.extend(load_cells(&row.rounds.median));
        cells
    };
    let header = columns(&format!(
        "nodes | projects | batch | conn. | events/s | range | ratio | {LOAD_COLUMNS}"
    ));
    table(header, rows.iter().map(row))
}

/// Median, and range over the rounds.
fn rate_cells(rounds: &Rounds) -> [String; 2] {
    [
        whole(rounds.median.events_per_second()),
        format!("{:.0}–{:.0}", rounds.least, rounds.greatest),
    ]
}

fn load_cells(load: &Load) -> Vec<String> {
    let mut cells = vec![
        milliseconds(load.latency.p50_ms()),
        milliseconds(load.latency.p99_ms()),
        load.errors().to_string(),
    ];
    cells.extend(load.cpu_us.map(|us| optional(us, whole)));
    cells.push(whole(load.wal_bytes_per_event));
    let Processors {
        nodes,
        postgres,
        machine,
    } = load.processors;
    cells.extend([nodes, postgres, machine].map(|busy| optional(busy, milliseconds)));
    cells.push(waits(&load.waits));
    cells
}

fn waits(waits: &[Wait]) -> String {
    let listed = waits
        .iter()
        .filter(|wait| wait.sessions >= WAIT_SESSIONS_MIN)
        .take(WAITS_MAX);
    let texts: Vec<String> = listed
        .map(|wait| format!("{} {:.1}", wait.name, wait.sessions))
        .collect();
    texts.join(", ")
}

fn active(ledgers: &Ledgers) -> Table {
    let rows = ledgers.rows.iter().flat_map(|row| {
        let full = active_cells(row.projects, "full", &row.full);
        full.into_iter()
            .chain(active_cells(row.projects, "half", &row.half))
    });
    let header = columns(&format!(
        "projects | load | active | events/s | range | ratio | p99 ratio | {LOAD_COLUMNS}"
    ));
    table(header, rows)
}

fn active_cells(projects: usize, load: &str, turns: &Turns) -> [Vec<String>; 2] {
    [(1, &turns.one), (projects, &turns.all)].map(|(active, rounds)| {
        let mut cells = vec![projects.to_string(), load.to_owned(), active.to_string()];
        cells.extend(rate_cells(rounds));
        // Without many projects both rows are the same load.
        let ratio = |value: f64| {
            if active > 1 {
                milliseconds(value)
            } else {
                String::new()
            }
        };
        cells.extend([ratio(turns.rate_ratio()), ratio(turns.p99_ratio())]);
        cells.extend(load_cells(&rounds.median));
        cells
    })
}

fn idle(ledgers: &Ledgers) -> Table {
    let rows = ledgers.rows.iter().flat_map(|row| {
        [("no events", &row.idle), ("10 events/s to one", &row.trickle)]
            .map(|(load, background)| idle_cells(row, load, background))
    });
    let header = columns(
        "projects | created/s | settled after s | load | CPU node ms/s | CPU PostgreSQL ms/s | transactions/s | \
         statements/s | rows read/s | rows written/s | WAL bytes/s",
    );
    table(header, rows)
}

fn idle_cells(row: &LedgersRow, load: &str, background: &Background) -> Vec<String> {
    let Background { processors, rates } = background;
    let per_second = |busy: Option<f64>| optional(busy.map(|busy| busy * 1_000.0), whole);
    let creation = Some(row.creation).filter(|creation| creation.projects > 1);
    vec![
        row.projects.to_string(),
        optional(creation.map(CreationRate::per_second), whole),
        row.settle_seconds
            .map_or_else(|| "never".to_owned(), |seconds| seconds.to_string()),
        load.to_owned(),
        per_second(processors.nodes),
        per_second(processors.postgres),
        whole(rates.transactions),
        optional(rates.statements, whole),
        whole(rates.rows_read),
        whole(rates.rows_written),
        whole(rates.wal_bytes),
    ]
}

fn statements(ledgers: &Ledgers) -> Table {
    let rows = ledgers.rows.iter().flat_map(|row| {
        row.idle.rates.top.iter().take(3).map(|statement| {
            vec![
                row.projects.to_string(),
                statement.calls.to_string(),
                milliseconds(statement.milliseconds),
                statement.rows.to_string(),
                format!("`{}`", statement.text.replace('|', "\\|")),
            ]
        })
    });
    table(columns("projects | calls | ms in all | rows | statement"), rows)
}

fn beside(creation: &Creation) -> Table {
    let created = median(creation.rates.iter().map(|rate| rate.per_second()).collect());
    let row = |name: &str, rounds: &Rounds, ratio: String, created: String| {
        let mut cells = vec![name.to_owned()];
        cells.extend(rate_cells(rounds));
        cells.extend([ratio, created]);
        cells.extend(load_cells(&rounds.median));
        cells
    };
    let header = columns(&format!(
        "load | events/s | range | ratio | projects/s | {LOAD_COLUMNS}"
    ));
    table(
        header,
        [
            row("events alone", &creation.without, String::new(), String::new()),
            row(
                "with creation of projects",
                &creation.with,
                milliseconds(creation.ratio()),
                whole(created),
            ),
        ],
    )
}

fn queries(growth: &Growth) -> Table {
    let pair = |[first, last]: [f64; 2]| {
        [
            milliseconds(first),
            milliseconds(last),
            milliseconds(ratio(last, first)),
        ]
    };
    let row = |name: &str, values: [f64; 2]| {
        let mut cells = vec![name.to_owned()];
        cells.extend(pair(values));
        cells
    };
    let header = vec![
        format!("{} queries", growth.queries),
        format!("ms at {}", growth.first),
        format!("ms at {}", growth.last),
        "growth".to_owned(),
    ];
    let mut rows = vec![
        row("median p50", growth.p50_ms),
        row("median p99", growth.p99_ms),
        row("highest p99", growth.highest_p99_ms),
    ];
    for (name, count) in [("p50", growth.growing_p50), ("p99", growth.growing_p99)] {
        rows.push(vec![
            format!("queries whose {name} grows to more than {GROWTH_MAX} times"),
            String::new(),
            String::new(),
            count.to_string(),
        ]);
    }
    rows.push(vec![
        "bytes per event; events/s of the load".to_owned(),
        String::new(),
        whole(growth.bytes_per_event),
        whole(growth.load_events_per_second),
    ]);
    table(header, rows)
}

fn growing(growth: &Growth) -> Table {
    let rows = growth.most.iter().map(|query| {
        vec![
            query.query.clone(),
            milliseconds(query.first_p99_ms),
            milliseconds(query.last_p99_ms),
            milliseconds(query.growth),
        ]
    });
    table(columns("query | first p99 ms | last p99 ms | growth"), rows)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_largest_waits_are_listed() {
        let wait = |name: &str, sessions| Wait {
            name: name.to_owned(),
            sessions,
        };
        let all = [
            wait("running", 1.25),
            wait("IO: WALSync", 0.5),
            wait("Lock: tuple", 0.01),
        ];
        assert_eq!(waits(&all), "running 1.2, IO: WALSync 0.5");
        assert_eq!(waits(&[]), "");
    }
}
