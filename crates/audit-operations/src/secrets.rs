//! `audit-server secrets`: how the secrets in the database are encrypted, and encrypting them with another key.

use crate::administration::print;
use crate::options::{DatabaseOptions, Output};
use crate::service::{command_store, open_with_keys};
use anyhow::{Context, bail};
use audit_app::{KeyId, KeyRing, SecretState, SecretStatus, Settings, secrets_status};
use audit_cli::print_error;
use clap::Subcommand;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::fmt::Write;
use std::process::ExitCode;

/// The commands.
#[derive(Debug, Subcommand)]
pub enum SecretsCommand {
    /// Print how the secrets in the database are encrypted, and with which keys.
    ///
    /// Exit code 0: all are as the configured key would store them, so the previous keys can be removed. 1: some are not.
    Status {
        #[command(flatten)]
        output: Output,
        #[command(flatten)]
        database: DatabaseOptions,
    },
    /// Encrypt every secret in the database with the present encryption key. Servers keep running.
    ///
    /// Can be repeated, also after an interruption. Exit code 0: all are encrypted with the present key. 1: some are not.
    Rewrap {
        /// Also encrypt secrets in plain text. Only for a database that had no encryption key before: in any other database,
        /// such a secret was planted.
        #[arg(long)]
        seal_plain: bool,
        #[command(flatten)]
        output: Output,
        #[command(flatten)]
        database: DatabaseOptions,
    },
}

/// Runs the command.
pub fn run(command: &SecretsCommand) -> anyhow::Result<ExitCode> {
    match command {
        SecretsCommand::Status { output, database } => status(output, database),
        SecretsCommand::Rewrap {
            seal_plain,
            output,
            database,
        } => rewrap(*seal_plain, output, database),
    }
}

fn rewrap(seal_plain: bool, output: &Output, database: &DatabaseOptions) -> anyhow::Result<ExitCode> {
    let keys = database.keys()?.clone();
    let Some(current) = keys.current_id() else {
        bail!(
            "there is no encryption key: give --encryption-key, --encryption-key-file or --encryption-key-command"
        );
    };
    let keys = match seal_plain {
        true => keys.accepting_plain(),
        false => keys,
    };
    let service = open_with_keys(database, keys, Settings::default(), command_store(1), None)?;
    let done = service.rewrap_secrets()?;
    if done.failed.is_empty() {
        // From now on no server starts without the key.
        service.check_secrets()?;
    }
    let log_key = done.has_sealed_log_key.then(|| service.log_key()).transpose()?;
    service.close();
    let value = json!({
        "key_id": current.to_string(),
        "sealed": done.sealed,
        "rewrapped": done.rewrapped,
        "unchanged": done.unchanged,
        "changed_meanwhile": done.changed_meanwhile,
        "failed": done.failed.len(),
    });
    let mut lines = format!(
        "encryption key {current}: {} secrets encrypted that were in plain text, {} encrypted anew, {} unchanged\n",
        done.sealed, done.rewrapped, done.unchanged
    );
    if let Some(key) = log_key {
        writeln!(
            lines,
            "the signing key of the log was in plain text. Compare it with the key that auditors have: {key}"
        )?;
    }
    for failure in &done.failed {
        print_error(&failure.to_string());
    }
    if done.changed_meanwhile > 0 {
        let count = done.changed_meanwhile;
        print_error(&format!(
            "{count} secrets were changed meanwhile: run the command again"
        ));
    }
    print(output, &value, &lines)?;
    Ok(exit_code(done.failed.is_empty() && done.changed_meanwhile == 0))
}

fn exit_code(is_complete: bool) -> ExitCode {
    match is_complete {
        true => ExitCode::SUCCESS,
        false => ExitCode::FAILURE,
    }
}

fn status(output: &Output, database: &DatabaseOptions) -> anyhow::Result<ExitCode> {
    let (url, keys) = (database.url()?, database.keys()?);
    let secrets = secrets_status(&url, keys).with_context(|| format!("cannot read {url}"))?;
    print(
        output,
        &status_json(&secrets, keys),
        &status_lines(&secrets, keys)?,
    )?;
    let expected = keys.current_id().map_or(SecretState::Plain, SecretState::Sealed);
    let is_right = |secret: &SecretStatus| secret.state == expected && secret.opens;
    Ok(exit_code(secrets.iter().all(is_right)))
}

fn count_of(secrets: &[SecretStatus], id: KeyId) -> usize {
    let is_sealed = |secret: &&SecretStatus| secret.state == SecretState::Sealed(id);
    secrets.iter().filter(is_sealed).count()
}

fn status_json(secrets: &[SecretStatus], keys: &KeyRing) -> Value {
    let secret = |secret: &SecretStatus| {
        let (state, key_id) = match secret.state {
            SecretState::Plain => ("plain", None),
            SecretState::Sealed(id) => ("encrypted", Some(id.to_string())),
            SecretState::Damaged => ("damaged", None),
        };
        json!({
            "cell": secret.cell,
            "secret": secret.place.to_string(),
            "state": state,
            "key_id": key_id,
            "opens": secret.opens,
        })
    };
    let key = |key: &audit_app::EncryptionKey| {
        json!({
            "id": key.id().to_string(),
            "is_current": keys.current_id() == Some(key.id()),
            "secrets": count_of(secrets, key.id()),
        })
    };
    json!({
        "keys": keys.keys().iter().map(key).collect::<Vec<_>>(),
        "secrets": secrets.iter().map(secret).collect::<Vec<_>>(),
    })
}

fn status_lines(secrets: &[SecretStatus], keys: &KeyRing) -> anyhow::Result<String> {
    let mut counts = BTreeMap::new();
    for secret in secrets {
        let row = (&secret.cell, secret.place.table(), secret.state, secret.opens);
        *counts.entry(row).or_insert(0) += 1;
    }
    let mut lines = String::new();
    for ((cell, table, state, opens), count) in counts {
        let state = match state {
            SecretState::Plain => "in plain text".to_owned(),
            SecretState::Sealed(id) => format!("encrypted with the key {id}"),
            SecretState::Damaged => "damaged".to_owned(),
        };
        let hint = if opens {
            ""
        } else {
            ", and cannot be used with the configured keys"
        };
        writeln!(lines, "{cell}  {table}  {count} {state}{hint}")?;
    }
    for key in keys.keys() {
        let (id, count) = (key.id(), count_of(secrets, key.id()));
        let is_current = keys.current_id() == Some(id);
        let kind = if is_current {
            "encryption key"
        } else {
            "previous key"
        };
        writeln!(lines, "{kind} {id}: {count} secrets")?;
    }
    Ok(lines)
}
