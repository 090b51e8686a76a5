//! `audit-server`: the audit log service, its administration, and import.
//!
//! This is the only place that reads the clock, randomness and the environment, and the only one that prints.

mod administration;
mod arguments;
mod demo;
mod http;
mod import;
mod ledger;
mod serve;
mod surroundings;

use arguments::{Arguments, Command};
use clap::Parser;
use std::io::Write;
use std::process::ExitCode;

/// Most of what an event needs in memory is allocated by one thread and freed by another.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    log_to_standard_error();
    let outcome = match arguments.command {
        Command::Serve(options) => serve::serve(&options),
        Command::Demo(options) => demo::demo(&options),
        Command::Import(options) => import::run(&options),
        Command::Log(command) => ledger::run(&command),
        Command::Routes => administration::routes(),
        Command::Org(command) => administration::organizations(&command),
        Command::Project(command) => administration::projects(&command),
        Command::Key(command) => administration::keys(&command),
        Command::MasterKey(command) => administration::master_keys(&command),
        Command::ViewerSecret(command) => administration::viewer_secret(&command),
    };
    match outcome {
        Ok(code) => code,
        // Whoever reads our output has read enough, as in `audit-server routes | head`.
        Err(error) if is_broken_pipe(&error) => ExitCode::SUCCESS,
        Err(error) => {
            say_error(&error);
            ExitCode::FAILURE
        }
    }
}

/// Targets that are never logged, whatever `RUST_LOG` says: of what goes to webhooks they would show addresses with the
/// tokens in them, and whole requests.
const SILENT_TARGETS: [&str; 3] = ["ureq", "ureq_proto", "rustls"];

/// Everything but [`SILENT_TARGETS`].
struct DiscreetLogger(env_logger::Logger);

impl log::Log for DiscreetLogger {
    fn enabled(&self, metadata: &log::Metadata<'_>) -> bool {
        !is_silent(metadata.target()) && self.0.enabled(metadata)
    }

    fn log(&self, record: &log::Record<'_>) {
        if !is_silent(record.target()) {
            self.0.log(record);
        }
    }

    fn flush(&self) {
        self.0.flush();
    }
}

fn is_silent(target: &str) -> bool {
    let krate = target.split("::").next().unwrap_or_default();
    SILENT_TARGETS.contains(&krate)
}

/// What is logged goes there, as `RUST_LOG` says.
fn log_to_standard_error() {
    let environment = env_logger::Env::default().default_filter_or("info");
    let logger = env_logger::Builder::from_env(environment).build();
    let level_max = logger.filter();
    // There is none yet: this is the first thing that the process does.
    if log::set_boxed_logger(Box::new(DiscreetLogger(logger))).is_ok() {
        log::set_max_level(level_max);
    }
}

fn is_broken_pipe(error: &anyhow::Error) -> bool {
    error
        .downcast_ref::<std::io::Error>()
        .is_some_and(|error| error.kind() == std::io::ErrorKind::BrokenPipe)
}

/// One line, whatever it is made of.
fn say_error(error: &anyhow::Error) {
    let line = format!("{error:#}").replace('\n', " ");
    // Nowhere is left to say that standard error is closed.
    writeln!(std::io::stderr(), "audit-server: {line}").ok();
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_shows_requests_to_webhooks_is_silent() {
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
