//! `audit-server log`: verifies, audits and proves the contents of the log.

mod anchors;
mod arguments;
mod export;
mod repair;
mod report;
mod verify;

use crate::service::{command_store, open_with_keys};
use anyhow::Context;
pub use arguments::LogCommand;
use arguments::{KeyOptions, LogKeyOptions, NewNameOptions, RotateKeyOptions};
use audit_app::{AuditLog, KeyRing, Settings};
use audit_cli::{is_broken_pipe, print_error};
use audit_store::require_unused;
use audit_verifier::{EXIT_INCONCLUSIVE, audit, compare, stream};
use std::io::Write;
use std::process::ExitCode;
use std::sync::Arc;

/// Runs the command.
pub fn run(command: &LogCommand) -> anyhow::Result<ExitCode> {
    let outcome = match command {
        LogCommand::Verify(options) => verify::run(options),
        LogCommand::Audit(options) => audit::run(options),
        LogCommand::Compare(options) => compare::run(options),
        LogCommand::Stream(options) => stream::run(options),
        LogCommand::Report(options) => report::run(options),
        LogCommand::Export(options) => export::run(options),
        LogCommand::Key(options) => print_key(options),
        LogCommand::RotateKey(options) => rotate_key(options),
        LogCommand::Repair(options) => repair::run(options),
        LogCommand::NewName(options) => begin_new_name(options),
    };
    // Monitoring watches the exit code and must tell an inconsistent log from a network failure.
    outcome.or_else(|error| {
        if is_broken_pipe(&error) {
            return Err(error);
        }
        print_error(&format!("{error:#}"));
        Ok(ExitCode::from(EXIT_INCONCLUSIVE))
    })
}

fn open_log(options: &LogKeyOptions) -> anyhow::Result<Arc<AuditLog>> {
    let keys = options.database.keys()?.clone();
    open_log_with(options, keys, Settings::default())
}

fn open_log_with(
    options: &LogKeyOptions,
    keys: KeyRing,
    settings: Settings,
) -> anyhow::Result<Arc<AuditLog>> {
    open_with_keys(&options.database, keys, settings, command_store(2), None)
}

fn print_key(options: &KeyOptions) -> anyhow::Result<ExitCode> {
    let service = open_log(&options.log_key)?;
    let text = match options.rotations {
        true => service.log_key_rotations()?,
        false => format!("{}\n", service.log_key()?),
    };
    service.close();
    write!(std::io::stdout(), "{text}")?;
    Ok(ExitCode::SUCCESS)
}

fn rotate_key(options: &RotateKeyOptions) -> anyhow::Result<ExitCode> {
    let program = options.signing.program()?;
    let settings = Settings {
        // Until the rotation it is the present one.
        signing_program: options.signing_before.program()?,
        ..Settings::default()
    };
    // Also replaces a key from before there was an encryption key.
    let keys = options.log_key.database.keys()?.clone().accepting_plain();
    let service = open_log_with(&options.log_key, keys, settings)?;
    let key = match options.retire {
        true => service.retire_log_key()?,
        false => service.rotate_log_key(program.as_ref())?.new_key().clone(),
    };
    service.close();
    writeln!(std::io::stdout(), "{key}")?;
    Ok(ExitCode::SUCCESS)
}

fn begin_new_name(options: &NewNameOptions) -> anyhow::Result<ExitCode> {
    let url = options.log_key.database.url()?;
    require_unused(&url).context("the log has its old name: running servers would go on under it")?;
    let service = open_log(&options.log_key)?;
    let key = service.begin_new_log_name()?;
    service.close();
    // It has sessions of its own.
    drop(service);
    writeln!(std::io::stdout(), "{key}")?;
    require_unused(&url).context(
        "the log has its new name, but a server has started meanwhile and may use the old one: restart it",
    )?;
    Ok(ExitCode::SUCCESS)
}
