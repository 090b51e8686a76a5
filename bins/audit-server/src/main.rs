//! `audit-server`: the audit log service, its administration, and import.
//!
//! This is the only place that reads the clock, randomness and the environment, and the only one that prints.

mod administration;
mod arguments;
mod demo;
mod import;
mod ledger;
mod serve;
mod surroundings;

use arguments::{Arguments, Command};
use clap::Parser;
use std::io::Write;
use std::process::ExitCode;

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    env_logger::Builder::from_env(env_logger::Env::default().default_filter_or("info")).init();
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
