//! `audit-server db cells`: creates and lists cells, and places new projects in them.

use crate::options::{DatabaseOptions, Output};
use crate::service::open_to_administer;
use anyhow::Context;
use audit_app::{AuditLog, CellReport, NewCell};
use audit_cli::printable_lines;
use audit_store::DatabaseUrl;
use clap::Subcommand;
use comfy_table::Table;
use comfy_table::presets::NOTHING;
use serde_json::{Value, json};
use std::io::Write;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// The commands.
#[derive(Debug, Subcommand)]
pub enum CellsCommand {
    /// Create a cell. It takes no new projects until `place` says so. Running servers find it by themselves. Where its database has
    /// Citus, Citus places it on one of its servers.
    Create {
        /// Name: lower-case letters, digits and underscores.
        name: String,
        /// Schema of the cell; by default, `cell_` and the name.
        #[arg(long)]
        schema: Option<String>,
        #[command(flatten)]
        database: DatabaseOptions,
    },
    /// List the cells with their sizes. The home cell is the database itself.
    List {
        /// Measure for this many seconds how many events are stored per second.
        #[arg(long, value_name = "SECONDS", default_value_t = 0, value_parser = clap::value_parser!(u64).range(0..=3_600))]
        rate: u64,
        #[command(flatten)]
        output: Output,
        #[command(flatten)]
        database: DatabaseOptions,
    },
    /// Place new projects in these cells, and in no others. Each new project gets the one with the fewest projects.
    Place {
        /// Names of cells; `home` is the database itself.
        #[arg(required = true)]
        names: Vec<String>,
        #[command(flatten)]
        database: DatabaseOptions,
    },
}

/// Runs the command.
pub fn run(command: &CellsCommand) -> anyhow::Result<ExitCode> {
    match command {
        CellsCommand::Create {
            name,
            schema,
            database,
        } => create(name, schema.as_ref(), database),
        CellsCommand::List {
            rate,
            output,
            database,
        } => list(*rate, output, database),
        CellsCommand::Place { names, database } => {
            let home = open_to_administer(database)?;
            home.place_new_projects_in(names)?;
            home.close();
            say(&format!("new projects are placed in {}", names.join(", ")))
        }
    }
}

fn say(line: &str) -> anyhow::Result<ExitCode> {
    writeln!(std::io::stdout().lock(), "{line}")?;
    Ok(ExitCode::SUCCESS)
}

fn create(name: &str, schema: Option<&String>, database: &DatabaseOptions) -> anyhow::Result<ExitCode> {
    let schema = schema.cloned().unwrap_or_else(|| format!("cell_{name}"));
    // Before anything is created.
    format!("postgres://host/database?schema={schema}")
        .parse::<DatabaseUrl>()
        .context("--schema")?;
    let home = open_to_administer(database)?;
    let cell = NewCell {
        name: name.to_owned(),
        schema,
    };
    home.create_cell(&cell)?;
    home.close();
    say(&format!(
        "cell {name} is in the schema {}; place new projects there with `audit-server db cells place {name}`",
        cell.schema
    ))
}

fn list(rate_seconds: u64, output: &Output, database: &DatabaseOptions) -> anyhow::Result<ExitCode> {
    let home = open_to_administer(database)?;
    let before = home.cell_reports()?;
    let rates = (rate_seconds > 0)
        .then(|| measure(&home, &before, rate_seconds))
        .transpose()?;
    home.close();
    let rate = |index: usize| rates.as_ref().and_then(|rates| rates.get(index).copied());
    let mut stdout = std::io::stdout().lock();
    if output.json {
        let values = before
            .iter()
            .enumerate()
            .map(|(index, report)| to_json(report, rate(index)));
        writeln!(stdout, "{}", Value::Array(values.collect()))?;
        return Ok(ExitCode::SUCCESS);
    }
    let mut table = Table::new();
    table.load_style(NOTHING);
    table.set_header([
        "cell",
        "projects",
        "events",
        "MiB",
        "events/s",
        "takes projects",
        "database",
    ]);
    for (index, report) in before.iter().enumerate() {
        let size = report.size.as_ref();
        let number = |value: Option<i64>| value.map_or_else(|| "?".to_owned(), |value| value.to_string());
        table.add_row([
            report.name.clone(),
            number(size.map(|size| size.projects)),
            number(size.map(|size| size.events)),
            number(size.map(|size| size.bytes / (1024 * 1024))),
            rate(index).map_or_else(String::new, |rate| format!("{rate:.0}")),
            if report.takes_projects { "yes" } else { "no" }.to_owned(),
            match &report.server {
                Some(server) => format!("{} on {server}", report.url),
                None => report.url.clone(),
            },
        ]);
    }
    writeln!(stdout, "{}", printable_lines(&table.to_string()))?;
    Ok(ExitCode::SUCCESS)
}

/// The events per second of each cell.
fn measure(home: &Arc<AuditLog>, before: &[CellReport], seconds: u64) -> anyhow::Result<Vec<f64>> {
    let started = Instant::now();
    std::thread::sleep(Duration::from_secs(seconds));
    let after = home.cell_reports()?;
    let elapsed = started.elapsed().as_secs_f64();
    let events = |report: &CellReport| report.size.map_or(0, |size| size.events);
    let pairs = before.iter().zip(&after);
    Ok(pairs
        .map(|(before, after)| (events(after) - events(before)).max(0) as f64 / elapsed)
        .collect())
}

fn to_json(report: &CellReport, rate: Option<f64>) -> Value {
    json!({
        "name": report.name,
        "database": report.url,
        "server": report.server,
        "takes_projects": report.takes_projects,
        "reachable": report.size.is_some(),
        "projects": report.size.map(|size| size.projects),
        "events": report.size.map(|size| size.events),
        "bytes": report.size.map(|size| size.bytes),
        "events_per_second": rate,
    })
}
