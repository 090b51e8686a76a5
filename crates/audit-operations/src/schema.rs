//! `audit-server db check`: what a start of this version would do to the schema of the database.

use crate::options::{DatabaseOptions, Output};
use anyhow::Context;
use audit_app::cells_of_deployment;
use audit_cli::{is_broken_pipe, print_error};
use audit_store::{DatabaseUrl, MigrationWork, PendingMigration, SchemaComparison, compare_schema};
use clap::Args;
use serde_json::{Value, json};
use std::io::Write;
use std::process::ExitCode;

/// Exit code: a later release has changed the database, and this version does not start on it.
const EXIT_NEWER: u8 = 1;
/// Exit code: the check could not be completed.
const EXIT_INCONCLUSIVE: u8 = 2;
/// Exit code: a start of this version changes the schema.
const EXIT_PENDING: u8 = 3;

/// The options of the command.
#[derive(Debug, Args)]
pub struct SchemaOptions {
    #[command(flatten)]
    output: Output,
    // `serve` has the others, and so they are accepted. This command needs no key.
    #[command(flatten)]
    database: DatabaseOptions,
}

/// Runs the command.
pub fn run(options: &SchemaOptions) -> anyhow::Result<ExitCode> {
    // Scripts watch the exit code and must tell a newer database from a network failure.
    check(options).or_else(|error| {
        if is_broken_pipe(&error) {
            return Err(error);
        }
        print_error(&format!("{error:#}"));
        Ok(ExitCode::from(EXIT_INCONCLUSIVE))
    })
}

fn check(options: &SchemaOptions) -> anyhow::Result<ExitCode> {
    let url: DatabaseUrl = options.database.database_url.parse().context("--database-url")?;
    let compared = Compared::of_deployment(&url)?;
    let mut stdout = std::io::stdout().lock();
    match options.output.json {
        true => writeln!(stdout, "{}", compared.to_json())?,
        false => compared.print(&mut stdout)?,
    }
    Ok(ExitCode::from(compared.state().exit_code()))
}

/// What this version and a schema are to each other. Later ones decide for a deployment of several cells.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum State {
    Current,
    Pending,
    Newer,
}

impl State {
    const fn exit_code(self) -> u8 {
        match self {
            Self::Current => 0,
            Self::Pending => EXIT_PENDING,
            Self::Newer => EXIT_NEWER,
        }
    }

    const fn name(self) -> &'static str {
        match self {
            Self::Current => "current",
            Self::Pending => "pending",
            Self::Newer => "newer",
        }
    }

    const fn of(schema: &SchemaComparison) -> Self {
        match (schema.newer.is_empty(), schema.pending.is_empty()) {
            (false, _) => Self::Newer,
            (true, false) => Self::Pending,
            (true, true) => Self::Current,
        }
    }
}

/// The schemas of a deployment, one for each cell.
struct Compared {
    cells: Vec<(String, SchemaComparison)>,
}

impl Compared {
    fn of_deployment(url: &DatabaseUrl) -> anyhow::Result<Self> {
        let compare = |url: &DatabaseUrl| {
            compare_schema(url).with_context(|| format!("cannot read the schema of {url}"))
        };
        let home = compare(url)?;
        let is_empty = home.version.is_none();
        let mut cells = vec![("home".to_owned(), home)];
        if !is_empty {
            let others =
                cells_of_deployment(url).with_context(|| format!("cannot read the cells of {url}"))?;
            for cell in others.into_iter().skip(1) {
                let compared = compare(&cell.url)?;
                cells.push((cell.name, compared));
            }
        }
        Ok(Self { cells })
    }

    fn state(&self) -> State {
        let states = self.cells.iter().map(|(_, schema)| State::of(schema));
        states.max().unwrap_or(State::Current)
    }

    fn print(&self, out: &mut impl Write) -> anyhow::Result<()> {
        for (cell, schema) in &self.cells {
            if self.cells.len() > 1 {
                writeln!(out, "cell {cell}")?;
            }
            let size = size(schema.bytes);
            match &schema.version {
                Some(version) => writeln!(out, "schema {version}, database of {size}")?,
                None => writeln!(out, "the database has no tables of this program")?,
            }
            for version in &schema.newer {
                writeln!(out, "    {version}  applied by a later version")?;
            }
            for pending in &schema.pending {
                writeln!(
                    out,
                    "    {}  {}: {}",
                    pending.name,
                    pending.summary,
                    duration(pending)
                )?;
            }
        }
        let version = env!("CARGO_PKG_VERSION");
        match self.state() {
            State::Current => writeln!(out, "version {version} starts without changing the schema")?,
            State::Pending => writeln!(out, "version {version} applies these migrations when it starts")?,
            State::Newer => writeln!(out, "NEWER: version {version} does not start on this database")?,
        }
        Ok(())
    }

    fn to_json(&self) -> Value {
        let pending = |one: &PendingMigration| {
            json!({
                "name": one.name,
                "summary": one.summary,
                "tables": one.work.tables(),
                "rewrites": matches!(one.work, MigrationWork::Rewrites(_)),
                "bytes": one.bytes,
                "seconds": one.work.seconds(one.bytes),
            })
        };
        let cell = |(cell, schema): &(String, SchemaComparison)| {
            json!({
                "cell": cell,
                "schema": schema.version,
                "bytes": schema.bytes,
                "pending": schema.pending.iter().map(pending).collect::<Vec<_>>(),
                "newer": schema.newer,
            })
        };
        json!({
            "state": self.state().name(),
            "version": env!("CARGO_PKG_VERSION"),
            "cells": self.cells.iter().map(cell).collect::<Vec<_>>(),
        })
    }
}

/// How long a migration takes, as far as its work tells.
fn duration(pending: &PendingMigration) -> String {
    let (what, tables) = match pending.work {
        MigrationWork::Constant => return "independent of the size, less than a second".to_owned(),
        MigrationWork::Reads(tables) => ("reads", tables),
        MigrationWork::Rewrites(tables) => ("rewrites", tables),
    };
    let seconds = pending.work.seconds(pending.bytes);
    format!(
        "{what} {}, {}: about {}",
        tables.join(", "),
        size(pending.bytes),
        rounded(seconds)
    )
}

/// Seconds up to two minutes, then minutes, always rounded up.
fn rounded(seconds: f64) -> String {
    match seconds {
        ..=120.0 => format!("{:.0} s", seconds.ceil().max(1.0)),
        _ => format!("{:.0} min", (seconds / 60.0).ceil()),
    }
}

fn size(bytes: u64) -> String {
    const MIB: f64 = 1024.0 * 1024.0;
    match bytes as f64 / MIB {
        mebibytes @ 1024.0.. => format!("{:.1} GiB", mebibytes / 1024.0),
        mebibytes => format!("{mebibytes:.1} MiB"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn schema(pending: Vec<PendingMigration>, newer: &[&str]) -> SchemaComparison {
        SchemaComparison {
            version: Some("20261122000001".to_owned()),
            pending,
            newer: newer.iter().map(ToString::to_string).collect(),
            bytes: 5 << 30,
        }
    }

    fn migration() -> PendingMigration {
        PendingMigration {
            name: "2027-01-10-000001_region",
            summary: "adds the region to each event",
            work: MigrationWork::Rewrites(&["events"]),
            bytes: 3 << 30,
        }
    }

    fn printed(cells: Vec<SchemaComparison>) -> (String, u8) {
        let cells = cells.into_iter().map(|schema| ("home".to_owned(), schema));
        let compared = Compared {
            cells: cells.collect(),
        };
        let mut out = Vec::new();
        compared.print(&mut out).unwrap();
        (String::from_utf8(out).unwrap(), compared.state().exit_code())
    }

    #[test]
    fn a_pending_migration_is_printed_with_its_tables_size_and_time() {
        let (text, code) = printed(vec![schema(vec![migration()], &[])]);
        assert_eq!(code, EXIT_PENDING);
        let time = rounded(migration().work.seconds(3 << 30));
        let line = format!(
            "2027-01-10-000001_region  adds the region to each event: rewrites events, 3.0 GiB: about {time}"
        );
        assert!(text.contains(&line), "{text}");
    }

    #[test]
    fn one_newer_cell_decides_for_the_deployment() {
        let cells = vec![
            schema(vec![migration()], &[]),
            schema(Vec::new(), &["99990101000000"]),
        ];
        let (text, code) = printed(cells);
        assert_eq!(code, EXIT_NEWER);
        assert!(
            text.contains("99990101000000") && text.contains("NEWER"),
            "{text}"
        );
        assert_eq!(printed(vec![schema(Vec::new(), &[])]).1, 0);
    }

    #[test]
    fn times_are_rounded_up() {
        assert_eq!(rounded(0.0), "1 s");
        assert_eq!(rounded(120.0), "120 s");
        assert_eq!(rounded(121.0), "3 min");
    }
}
