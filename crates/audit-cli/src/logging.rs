//! The log on standard error.

mod json;
mod members;
mod repeats;

use crate::print::with_variables;
use crate::{SystemClock, printable};
use audit_domain::Clock;
use clap::{Args, ValueEnum};
use env_logger::{Builder, Env, Logger, WriteStyle};
use repeats::{LeftOut, Repeats};
use std::io::{IsTerminal, Write};
use std::sync::OnceLock;
use std::time::Instant;

/// The form of the log.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
#[expect(missing_docs, reason = "as the option has them")]
pub enum LogFormat {
    #[default]
    Text,
    Json,
}

/// Options of the log.
#[derive(Debug, Args)]
pub struct LogOptions {
    /// Form of the log on standard error: text, or json for one JSON object per line.
    #[arg(long, value_name = "FORMAT", env = "AUDIT_LOG_FORMAT", default_value = "text")]
    pub log_format: LogFormat,
}

/// Targets that are never logged, whatever `RUST_LOG` says: their lines contain webhook URLs with tokens, and whole
/// requests.
const SILENT_TARGETS: [&str; 3] = ["ureq", "ureq_proto", "rustls"];

/// Drops [`SILENT_TARGETS`] and what repeats, and escapes control characters: some texts are of clients.
struct FilteredLogger {
    logger: Logger,
    format: LogFormat,
    repeats: Repeats,
}

impl FilteredLogger {
    fn write(&self, record: &log::Record<'_>, message: &str) {
        let message = printable(message);
        let mut copy = record.to_builder();
        log::Log::log(&self.logger, &copy.args(format_args!("{message}")).build());
    }
}

impl log::Log for FilteredLogger {
    fn enabled(&self, metadata: &log::Metadata<'_>) -> bool {
        !is_silent(metadata.target()) && self.logger.enabled(metadata)
    }

    fn log(&self, record: &log::Record<'_>) {
        if is_silent(record.target()) || !self.logger.matches(record) {
            return;
        }
        let now = Instant::now();
        for left_out in self.repeats.take_left_out(now) {
            let LeftOut { count, cause } = left_out;
            let mut summary = log::Record::builder();
            let summary = summary.level(log::Level::Warn).target("audit_server");
            self.write(
                &summary.build(),
                &format!("{count} more lines like this were left out: {cause}"),
            );
        }
        let mut message = record.args().to_string();
        if record.level() <= log::Level::Warn && !self.repeats.admits(record.target(), &message, now) {
            return;
        }
        if self.format == LogFormat::Text {
            members::append(&mut message, record.key_values());
        }
        self.write(record, &message);
    }

    fn flush(&self) {
        self.logger.flush();
    }
}

fn is_silent(target: &str) -> bool {
    let krate = target.split("::").next().unwrap_or_default();
    SILENT_TARGETS.contains(&krate)
}

static FORMAT: OnceLock<LogFormat> = OnceLock::new();

/// The form of the log of this process.
pub fn format() -> LogFormat {
    FORMAT.get().copied().unwrap_or_default()
}

/// Starts the log with the filter in `RUST_LOG`.
pub fn start(format: LogFormat) {
    let environment = Env::default().default_filter_or("info");
    let mut builder = Builder::from_env(environment);
    match format {
        LogFormat::Json => {
            without_colors(&mut builder).format(|out, record| {
                let time = out.timestamp_micros().to_string();
                out.write_all(&json::line(&time, record))
            });
            std::panic::set_hook(Box::new(|panic| log::error!("{panic}")));
        }
        LogFormat::Text if !std::io::stderr().is_terminal() => {
            without_colors(&mut builder).format(|out, record| {
                let (time, target) = (out.timestamp_seconds(), record.target());
                writeln!(out, "[{time} {:<5} {target}] {}", record.level(), record.args())
            });
        }
        LogFormat::Text => {}
    }
    let logger = builder.build();
    let level_max = logger.filter();
    FORMAT.get_or_init(|| format);
    // Fails only if there is a logger already.
    if log::set_boxed_logger(Box::new(FilteredLogger {
        logger,
        format,
        repeats: Repeats::default(),
    }))
    .is_ok()
    {
        log::set_max_level(level_max);
    }
}

/// For lines that have no colors: env_logger would search each for them, which is half of the cost of a line.
fn without_colors(builder: &mut Builder) -> &mut Builder {
    builder.write_style(WriteStyle::Always)
}

/// Writes the error with which the process ends as a line of JSON, whatever `RUST_LOG` says.
pub fn write_final_error(message: &str) {
    let time = SystemClock.now().to_string();
    let mut record = log::Record::builder();
    let record = record.level(log::Level::Error).target("audit_server");
    let message = with_variables(message);
    let message = printable(&message);
    let line = json::line(&time, &record.args(format_args!("{message}")).build());
    // A closed standard error cannot be reported anywhere.
    std::io::stderr().write_all(&line).ok();
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn targets_that_log_webhook_requests_are_silent() {
        for target in [
            "ureq",
            "ureq::unversioned::transport",
            "ureq_proto::client",
            "rustls::client::hs",
        ] {
            assert!(is_silent(target), "{target}");
        }
        for target in ["", "audit_app::dispatcher", "ureqs", "audit_webhooks::ureq"] {
            assert!(!is_silent(target), "{target}");
        }
    }
}
