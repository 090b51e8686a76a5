//! `audit-server import`: events from a file of JSON lines, with a report of every line that was refused.

use crate::arguments::ImportOptions;
use crate::surroundings::open;
use anyhow::{Context, bail};
use audit_app::{AppError, AuditLog, BATCH_EVENTS_MAX};
use audit_domain::{Environment, ProjectId, json};
use indicatif::{ProgressBar, ProgressStyle};
use serde_json::Value;
use std::fs::File;
use std::io::{BufRead, BufReader, Write};
use std::process::ExitCode;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Bytes of one request, at most; below the limit of a body.
const REQUEST_BYTES_MAX: usize = 900 * 1024;
/// Refused lines that are printed; the others are counted.
const PRINTED_LINES_MAX: usize = 20;
/// Requests over HTTP that fail with 5xx or in the network are tried this often.
const ATTEMPTS_MAX: u32 = 5;
/// The wait before the second attempt; each further one is twice as long.
const RETRY_WAIT_MS: u64 = 200;

/// Where the events go.
pub(crate) enum Sink {
    Database {
        service: Arc<AuditLog>,
        project_id: ProjectId,
        environment: Environment,
    },
    Http {
        agent: ureq::Agent,
        url: String,
        key: String,
    },
}

/// What became of a batch: how many were stored, how many were there before, and what was refused, by index.
struct BatchReport {
    stored: usize,
    repeated: usize,
    refused: Vec<(usize, String)>,
}

/// What became of a file.
#[derive(Debug, Default)]
pub(crate) struct ImportReport {
    pub(crate) stored: usize,
    pub(crate) repeated: usize,
    /// Line numbers, from 1, with the reason.
    pub(crate) refused: Vec<(usize, String)>,
    pub(crate) elapsed: Duration,
}

impl ImportReport {
    /// One line for people.
    pub(crate) fn summary(&self) -> String {
        let events = self.stored + self.repeated;
        let rate = events as f64 / self.elapsed.as_secs_f64().max(0.001);
        format!(
            "{} stored, {} there before, {} refused, in {:.1} s ({rate:.0} events/s)",
            self.stored,
            self.repeated,
            self.refused.len(),
            self.elapsed.as_secs_f64()
        )
    }
}

/// The command.
pub(crate) fn run(options: &ImportOptions) -> anyhow::Result<ExitCode> {
    let file =
        File::open(&options.file).with_context(|| format!("cannot read {}", options.file.display()))?;
    let bytes = file.metadata().map(|metadata| metadata.len()).unwrap_or(0);
    let sink = match (&options.url, &options.key, options.project) {
        (Some(url), Some(key), None) => Sink::Http {
            agent: ureq::Agent::config_builder()
                .http_status_as_error(false)
                .build()
                .into(),
            url: format!("{}/api/v1/events", url.trim_end_matches('/')),
            key: key.clone(),
        },
        (_, _, Some(project_id)) => {
            let service = open(
                &options.database,
                options.service.settings(),
                options.service.store(),
            )?;
            Sink::Database {
                service,
                project_id,
                environment: options.environment,
            }
        }
        _ => bail!("--project, or --url and --key, say where the events go"),
    };
    let style = ProgressStyle::with_template("{bar:40} {percent:>3} %  {bytes}/{total_bytes}  {msg}")?;
    let progress = ProgressBar::new(bytes).with_style(style);
    let report = import(BufReader::new(file), &sink, &progress)?;
    progress.finish_and_clear();
    let mut stdout = std::io::stdout().lock();
    for (line, reason) in report.refused.iter().take(PRINTED_LINES_MAX) {
        writeln!(stdout, "line {line}: {reason}")?;
    }
    if report.refused.len() > PRINTED_LINES_MAX {
        writeln!(
            stdout,
            "and {} refused lines more",
            report.refused.len() - PRINTED_LINES_MAX
        )?;
    }
    writeln!(stdout, "{}", report.summary())?;
    Ok(if report.refused.is_empty() {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    })
}

/// Sends every line of `lines` to `sink`.
pub(crate) fn import(
    lines: impl BufRead,
    sink: &Sink,
    progress: &ProgressBar,
) -> anyhow::Result<ImportReport> {
    let started = Instant::now();
    let mut report = ImportReport::default();
    let mut batch = Batch::default();
    for (index, line) in lines.split(b'\n').enumerate() {
        let line = line.with_context(|| format!("cannot read line {}", index + 1))?;
        progress.inc(line.len() as u64 + 1);
        let text = line.trim_ascii();
        if text.is_empty() {
            continue;
        }
        if text.len() > REQUEST_BYTES_MAX {
            report
                .refused
                .push((index + 1, format!("is longer than {REQUEST_BYTES_MAX} bytes")));
            continue;
        }
        // One broken line would spoil the whole request.
        if let Err(error) = json::parse(text) {
            report.refused.push((index + 1, error.to_string()));
            continue;
        }
        if batch.line_numbers.len() == BATCH_EVENTS_MAX || batch.body.len() + text.len() > REQUEST_BYTES_MAX {
            batch.send(sink, &mut report)?;
            let rate = (report.stored + report.repeated) as f64 / started.elapsed().as_secs_f64();
            progress.set_message(format!("{} events, {rate:.0}/s", report.stored + report.repeated));
        }
        batch.add(index + 1, text);
    }
    batch.send(sink, &mut report)?;
    report.refused.sort_unstable();
    report.elapsed = started.elapsed();
    Ok(report)
}

/// Lines that are sent as one request.
#[derive(Default)]
struct Batch {
    body: Vec<u8>,
    line_numbers: Vec<usize>,
}

impl Batch {
    fn add(&mut self, line_number: usize, text: &[u8]) {
        self.body
            .push(if self.line_numbers.is_empty() { b'[' } else { b',' });
        self.body.extend_from_slice(text);
        self.line_numbers.push(line_number);
    }

    fn send(&mut self, sink: &Sink, report: &mut ImportReport) -> anyhow::Result<()> {
        if self.line_numbers.is_empty() {
            return Ok(());
        }
        self.body.push(b']');
        let sent = sink.send(&self.body, self.line_numbers.len());
        let first = self.line_numbers.first().copied().unwrap_or_default();
        let sent = sent.with_context(|| {
            format!("stopped at line {first}; what is before it was sent, what begins there was not stored")
        })?;
        report.stored += sent.stored;
        report.repeated += sent.repeated;
        report.refused.extend(
            sent.refused
                .into_iter()
                .map(|(index, reason)| (self.line_numbers[index], reason)),
        );
        self.body.clear();
        self.line_numbers.clear();
        Ok(())
    }
}

impl Sink {
    fn send(&self, body: &[u8], events: usize) -> anyhow::Result<BatchReport> {
        match self {
            Self::Database {
                service,
                project_id,
                environment,
            } => match service.ingest_blocking(*project_id, *environment, body) {
                Ok(ingested) => Ok(BatchReport {
                    stored: ingested.ids.len() - ingested.repeated_count,
                    repeated: ingested.repeated_count,
                    refused: ingested
                        .refused
                        .iter()
                        .map(|one| (one.index, describe(&one.error)))
                        .collect(),
                }),
                Err(AppError::Invalid(violations)) => {
                    let fields = violations
                        .as_slice()
                        .iter()
                        .map(|one| (one.field.as_str(), one.message.as_str()));
                    Ok(all_refused(fields, events))
                }
                Err(AppError::Conflict(message)) => Ok(all_conflict(&message, events)),
                Err(error) => Err(error.into()),
            },
            Self::Http { agent, url, key } => post(agent, url, key, body, events),
        }
    }
}

fn describe(error: &AppError) -> String {
    match error {
        AppError::Invalid(violations) => {
            let fields = violations
                .as_slice()
                .iter()
                .map(|one| format!("{}: {}", one.field, one.message));
            fields.collect::<Vec<_>>().join("; ")
        }
        other => other.to_string(),
    }
}

/// The reasons of a batch of which nothing was stored; the fields begin with the event's index, `[3].actor`.
fn all_refused<'a>(fields: impl Iterator<Item = (&'a str, &'a str)>, events: usize) -> BatchReport {
    let mut reasons = vec![String::new(); events];
    for (field, message) in fields {
        let parsed = field.strip_prefix('[').and_then(|rest| rest.split_once(']'));
        let index = parsed
            .and_then(|(index, _)| index.parse::<usize>().ok())
            .filter(|index| *index < events);
        let field = parsed.map_or(field, |(_, rest)| rest.trim_start_matches('.'));
        if let Some(reason) = index.and_then(|index| reasons.get_mut(index)) {
            let separator = if reason.is_empty() { "" } else { "; " };
            *reason += &format!("{separator}{field}: {message}");
        }
    }
    BatchReport {
        stored: 0,
        repeated: 0,
        refused: reasons.into_iter().enumerate().collect(),
    }
}

fn all_conflict(message: &str, events: usize) -> BatchReport {
    BatchReport {
        stored: 0,
        repeated: 0,
        refused: (0..events).map(|index| (index, message.to_owned())).collect(),
    }
}

/// Posts a batch as the reference client does: 5xx and failures of the network are tried again.
fn post(
    agent: &ureq::Agent,
    url: &str,
    key: &str,
    body: &[u8],
    events: usize,
) -> anyhow::Result<BatchReport> {
    let mut wait = Duration::from_millis(RETRY_WAIT_MS);
    let mut attempt = 1;
    loop {
        let sent = agent
            .post(url)
            .header("Authorization", format!("Bearer {key}"))
            .header("Content-Type", "application/json")
            .send(body);
        let problem = match sent {
            Ok(mut response) if response.status().as_u16() < 500 => {
                let status = response.status().as_u16();
                let text = response
                    .body_mut()
                    .read_to_string()
                    .context("cannot read the answer")?;
                return read_answer(status, &text, events);
            }
            Ok(response) => format!("the server answers {}", response.status()),
            Err(error) => error.to_string(),
        };
        if attempt == ATTEMPTS_MAX {
            bail!("{problem}");
        }
        log::warn!("{problem}; attempt {attempt} of {ATTEMPTS_MAX}");
        std::thread::sleep(wait);
        (attempt, wait) = (attempt + 1, wait * 2);
    }
}

fn read_answer(status: u16, text: &str, events: usize) -> anyhow::Result<BatchReport> {
    let answer: Value = serde_json::from_str(text).with_context(|| format!("the server answers {status}"))?;
    let text_of = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let details = |error: &Value| -> Vec<(String, String)> {
        let list = error["details"].as_array().cloned().unwrap_or_default();
        list.iter()
            .map(|detail| (text_of(&detail["field"]), text_of(&detail["message"])))
            .collect()
    };
    match (status, text_of(&answer["error"]["code"]).as_str()) {
        (201, _) => {
            let refused = answer["errors"].as_array().cloned().unwrap_or_default();
            let refused: Vec<(usize, String)> = refused
                .iter()
                .map(|error| {
                    let fields: Vec<String> = details(error)
                        .iter()
                        .map(|(field, message)| format!("{field}: {message}"))
                        .collect();
                    let reason = if fields.is_empty() {
                        text_of(&error["message"])
                    } else {
                        fields.join("; ")
                    };
                    (error["index"].as_u64().unwrap_or(0) as usize, reason)
                })
                .collect();
            let accepted = events.saturating_sub(refused.len());
            let repeated = answer["repeated_count"].as_u64().unwrap_or(0) as usize;
            Ok(BatchReport {
                stored: accepted.saturating_sub(repeated),
                repeated,
                refused,
            })
        }
        (400, "validation_error") => {
            let details = details(&answer["error"]);
            Ok(all_refused(
                details
                    .iter()
                    .map(|(field, message)| (field.as_str(), message.as_str())),
                events,
            ))
        }
        (409, _) => Ok(all_conflict(&text_of(&answer["error"]["message"]), events)),
        (_, code) => bail!(
            "the server answers {status} {code}: {}",
            text_of(&answer["error"]["message"])
        ),
    }
}
