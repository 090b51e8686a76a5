//! `audit-server import`: stores the events of a file of JSON lines and reports every rejected line.

mod target;

use crate::key_sources::HashKeyOptions;
use crate::options::{DatabaseOptions, ServiceOptions};
use crate::service::open;
use anyhow::{Context, bail};
use audit_app::BATCH_EVENTS_MAX;
use audit_cli::client::Client;
use audit_cli::printable;
use audit_domain::json::without_byte_order_mark;
use audit_domain::{Environment, ProjectId};
use clap::Args;
use indicatif::{ProgressBar, ProgressStyle};
use std::collections::BTreeMap;
use std::fs::File;
use std::io::{BufRead, BufReader, Read, Write};
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::{Duration, Instant};
pub use target::Target;

/// The command line of an import.
#[derive(Debug, Args)]
pub struct ImportOptions {
    /// File with one event per line.
    pub file: PathBuf,
    /// Project that stores the events, directly in the database; takes precedence over --url.
    #[arg(
        long,
        value_name = "UUID",
        env = "AUDIT_PROJECT",
        required_unless_present = "url"
    )]
    pub project: Option<ProjectId>,
    /// live or test.
    #[arg(long, default_value = "live")]
    pub environment: Environment,
    /// URL of a running server, such as `http://127.0.0.1:8080`; needs --key.
    #[arg(long, env = "AUDIT_URL", requires = "key")]
    pub url: Option<String>,
    /// Project or master key of that server.
    #[arg(long, env = "AUDIT_KEY", hide_env_values = true)]
    pub key: Option<String>,
    #[command(flatten)]
    pub database: DatabaseOptions,
    #[command(flatten)]
    pub hash_keys: HashKeyOptions,
    #[command(flatten)]
    pub service: ServiceOptions,
}

/// The largest request body. The service accepts a little more.
const REQUEST_BYTES_MAX: usize = 900 * 1024;
/// Rejected lines that are printed. The rest is counted.
const PRINTED_LINES_MAX: usize = 20;

/// The result of an import.
#[derive(Debug, Default)]
pub struct ImportReport {
    pub(crate) stored: usize,
    /// Events that the database already had, by their idempotency keys.
    pub(crate) duplicates: usize,
    pub(crate) rejected: Rejected,
    pub(crate) elapsed: Duration,
}

/// Rejected lines: how many, and the first of them by their numbers, from 1, with the reason.
#[derive(Debug, Default)]
pub struct Rejected {
    count: usize,
    first: BTreeMap<usize, String>,
}

impl Rejected {
    fn push(&mut self, number: usize, reason: String) {
        self.count += 1;
        self.first.insert(number, reason);
        if self.first.len() > PRINTED_LINES_MAX {
            self.first.pop_last();
        }
    }
}

impl ImportReport {
    fn processed(&self) -> usize {
        self.stored + self.duplicates
    }

    /// One line for people.
    pub fn summary(&self) -> String {
        let rate = self.processed() as f64 / self.elapsed.as_secs_f64().max(0.001);
        format!(
            "{} stored, {} duplicates, {} rejected, in {:.1} s ({rate:.0} events/s)",
            self.stored,
            self.duplicates,
            self.rejected.count,
            self.elapsed.as_secs_f64()
        )
    }

    fn print(&self) -> anyhow::Result<()> {
        let mut stdout = std::io::stdout().lock();
        for (line, reason) in &self.rejected.first {
            writeln!(stdout, "line {line}: {}", printable(reason))?;
        }
        let unprinted = self.rejected.count - self.rejected.first.len();
        if unprinted > 0 {
            writeln!(stdout, "and {unprinted} more rejected lines")?;
        }
        writeln!(stdout, "{}", self.summary())?;
        Ok(())
    }
}

/// The command.
pub fn run(options: &ImportOptions) -> anyhow::Result<ExitCode> {
    let file =
        File::open(&options.file).with_context(|| format!("cannot read {}", options.file.display()))?;
    let bytes = file.metadata().map(|metadata| metadata.len()).unwrap_or(0);
    let target = target(options)?;
    let style = ProgressStyle::with_template("{bar:40} {percent:>3} %  {bytes}/{total_bytes}  {msg}")?;
    let progress = ProgressBar::new(bytes).with_style(style);
    let report = import(BufReader::new(file), &target, &progress)?;
    progress.finish_and_clear();
    report.print()?;
    Ok(match report.rejected.count {
        0 => ExitCode::SUCCESS,
        _ => ExitCode::FAILURE,
    })
}

fn target(options: &ImportOptions) -> anyhow::Result<Target> {
    Ok(match (&options.url, &options.key, options.project) {
        (Some(url), Some(key), None) => Target::Http {
            client: Client::default(),
            url: format!("{}/api/v1/events", url.trim_end_matches('/')),
            key: key.clone(),
        },
        (_, _, Some(project_id)) => Target::Database {
            service: open(
                &options.database,
                options.service.settings(&options.hash_keys)?,
                options.service.store(),
                None,
            )?,
            project_id,
            environment: options.environment,
        },
        _ => bail!("the target is missing: give --project, or --url and --key"),
    })
}

/// Sends every line of `lines` to `target`.
pub fn import(
    mut lines: impl BufRead,
    target: &Target,
    progress: &ProgressBar,
) -> anyhow::Result<ImportReport> {
    let started = Instant::now();
    let mut report = ImportReport::default();
    let mut batch = Batch::default();
    let mut line = Vec::new();
    for number in 1.. {
        let read = read_line(&mut lines, &mut line).with_context(|| format!("cannot read line {number}"))?;
        if read == 0 {
            break;
        }
        progress.inc(read);
        if line.len() > REQUEST_BYTES_MAX {
            let reason = format!("is longer than {REQUEST_BYTES_MAX} bytes");
            report.rejected.push(number, reason);
            continue;
        }
        let text = match number {
            1 => without_byte_order_mark(&line),
            _ => line.as_slice(),
        };
        let text = text.trim_ascii();
        if text.is_empty() {
            continue;
        }
        if !batch.has_room_for(text) {
            batch.send(target, &mut report)?;
            let rate = report.processed() as f64 / started.elapsed().as_secs_f64();
            progress.set_message(format!("{} events, {rate:.0}/s", report.processed()));
        }
        batch.add(number, text);
    }
    batch.send(target, &mut report)?;
    report.elapsed = started.elapsed();
    Ok(report)
}

/// Reads a line, of which `line` gets at most one byte more than a request may have. How many bytes were read; 0 at the end.
fn read_line(lines: &mut impl BufRead, line: &mut Vec<u8>) -> std::io::Result<u64> {
    line.clear();
    let mut read = lines.take(REQUEST_BYTES_MAX as u64 + 1).read_until(b'\n', line)? as u64;
    if line.len() > REQUEST_BYTES_MAX && line.last() != Some(&b'\n') {
        read += lines.skip_until(b'\n')? as u64;
    }
    Ok(read)
}

/// Lines that are sent as one request.
#[derive(Default)]
struct Batch {
    body: Vec<u8>,
    line_numbers: Vec<usize>,
}

impl Batch {
    fn has_room_for(&self, text: &[u8]) -> bool {
        self.line_numbers.len() < BATCH_EVENTS_MAX && self.body.len() + text.len() <= REQUEST_BYTES_MAX
    }

    fn add(&mut self, line_number: usize, text: &[u8]) {
        self.body.extend_from_slice(text);
        self.body.push(b'\n');
        self.line_numbers.push(line_number);
    }

    fn send(&mut self, target: &Target, report: &mut ImportReport) -> anyhow::Result<()> {
        let Some(first) = self.line_numbers.first().copied() else {
            return Ok(());
        };
        let sent = target.send(&self.body, self.line_numbers.len());
        let sent = sent.with_context(|| {
            format!(
                "stopped at line {first}: earlier lines were sent, this line and later ones were not stored"
            )
        })?;
        report.stored += sent.stored;
        report.duplicates += sent.duplicates;
        for (index, reason) in sent.rejected {
            let number = self.line_numbers.get(index);
            let number = number.context("the server rejects an event that the request does not have")?;
            report.rejected.push(*number, reason);
        }
        self.body.clear();
        self.line_numbers.clear();
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use audit_cli::testing::{client, stub};

    fn report_of(lines: impl BufRead, response: &'static str) -> anyhow::Result<ImportReport> {
        let (address, _server) = stub(vec![response]);
        let (client, _) = client();
        let target = Target::Http {
            client,
            url: format!("http://{address}/api/v1/events"),
            key: "pk_live_x".to_owned(),
        };
        import(lines, &target, &ProgressBar::hidden())
    }

    #[test]
    fn an_index_that_the_request_does_not_have_is_an_error_of_the_server() {
        for index in ["1", "-1", "18446744073709551615", "\"0\""] {
            let body = format!(r#"{{"ids":[],"errors":[{{"index":{index},"message":"m"}}]}}"#);
            let response = format!("HTTP/1.1 201 Created\r\nConnection: close\r\n\r\n{body}");
            let outcome = report_of(&b"{}\n"[..], response.leak());
            assert!(outcome.is_err(), "{index}");
        }
    }

    #[test]
    fn a_byte_order_mark_costs_no_line() {
        let (address, server) = stub(vec![
            "HTTP/1.1 201 Created\r\nConnection: close\r\n\r\n{\"ids\":[\"a\",\"b\"]}",
        ]);
        let (client, _) = client();
        let target = Target::Http {
            client,
            url: format!("http://{address}/api/v1/events"),
            key: "pk_live_x".to_owned(),
        };
        let lines = "\u{feff}{\"n\":1}\r\n\r\n{\"n\":2}".as_bytes();
        let report = import(lines, &target, &ProgressBar::hidden()).unwrap();
        assert_eq!((report.stored, report.rejected.count), (2, 0));
        assert_eq!(server.join().unwrap(), ["{\"n\":1}\n{\"n\":2}\n"]);
    }

    #[test]
    fn a_line_without_an_end_takes_no_more_memory_than_a_request() {
        let endless = std::io::repeat(b' ').take(64 << 20);
        let mut lines = BufReader::new(endless.chain(&b"\n{}\n"[..]));
        let mut line = Vec::new();
        assert_eq!(read_line(&mut lines, &mut line).unwrap(), (64 << 20) + 1);
        assert!(line.len() > REQUEST_BYTES_MAX && line.capacity() < 4 * REQUEST_BYTES_MAX);
        assert_eq!(read_line(&mut lines, &mut line).unwrap(), 3);
        assert_eq!(line, b"{}\n");
        assert_eq!(read_line(&mut lines, &mut line).unwrap(), 0);
    }
}
