//! An auditor outside of the server, which trusts nothing but its API key and its state file.
//!
//! An audit
//!
//! 1. fetches the latest checkpoint and checks it against the last one seen: signature, size, consistency proof;
//! 2. reads the leaf hashes of the log and the events, hashes the events again, and compares the two and the signed root;
//! 3. checks that a removal in the log covers each event that is missing, and that it was allowed;
//! 4. checks that no old event is unsigned;
//! 5. computes the map of tenants from the events, and compares it with the signed one;
//! 6. stores the checkpoint in the state file, only if everything matches.

mod cosigned;
mod events;
mod freshness;
mod keys;
mod left_out;
mod removed;
mod replay;
pub(crate) mod server;
pub(crate) mod state;
mod tenants;

use crate::{Age, EXIT_INCONSISTENT, PolicyOptions};
use anyhow::{Context, anyhow};
use audit_cli::printable;
use audit_domain::{Environment, LogName, ProjectId};
use audit_ledger::{ConsistencyProof, Follower, Frontier, Origin, SignedCheckpoint};
use clap::Args;
use removed::Removals;
use replay::{Replay, Replayed};
use serde_json::Value;
use server::{Fetched, LogServer};
use state::State;
use std::io::Write;
use std::path::PathBuf;
use std::process::ExitCode;
use tenants::TenantMaps;

/// The command line of an audit.
#[derive(Debug, Args)]
pub struct AuditOptions {
    /// URL of the server, such as `https://audit.example.com`.
    #[arg(long, env = "AUDIT_URL")]
    url: String,
    /// Project or master key of that server.
    #[arg(long, env = "AUDIT_KEY", hide_env_values = true)]
    key: String,
    /// State file, which is updated by every successful audit. Keep it where the server's operator cannot write.
    #[arg(long, value_name = "FILE")]
    state: PathBuf,
    /// Key that must have signed the checkpoints, as printed by `log key`; by default the key that the server returns to
    /// the first audit.
    #[arg(long, value_name = "KEY")]
    verifier_key: Option<String>,
    /// Project to audit, with a master key.
    #[arg(long, value_name = "UUID")]
    project: Option<ProjectId>,
    /// live or test, with a master key.
    #[arg(long)]
    environment: Option<Environment>,
    /// Age at which an event must be signed, such as 90s or 5m.
    #[arg(long, value_name = "TIME", default_value = "60s")]
    max_unsigned: Age,
    /// Size of the log that the server has acknowledged (`log.size` of a response): at least that many events must be signed.
    #[arg(long, value_name = "SIZE")]
    acknowledged: Option<u64>,
    /// Response of `GET /log/completeness` that a viewer has saved: it must be that of the audited events. May be repeated.
    #[arg(long, value_name = "FILE", conflicts_with = "new_only")]
    tenant_proof: Vec<PathBuf>,
    #[command(flatten)]
    policy: PolicyOptions,
    /// Read only events appended since the last audit. A later change of an older event goes undetected until the next
    /// full audit, and so does a map of tenants that is not that of the events.
    #[arg(long)]
    new_only: bool,
}

/// Why an audit does not succeed.
pub(crate) enum Failure {
    /// The log contradicts its signature, an earlier checkpoint, or its own events.
    Inconsistent(String),
    /// The audit could not be completed.
    Inconclusive(anyhow::Error),
}

impl From<anyhow::Error> for Failure {
    fn from(error: anyhow::Error) -> Self {
        Self::Inconclusive(error)
    }
}

pub(crate) type AuditResult<T> = Result<T, Failure>;

/// Audits the log of a running server, and prints what it has found.
///
/// # Errors
/// When the audit could not be completed.
pub fn run(options: &AuditOptions) -> anyhow::Result<ExitCode> {
    let (line, code) = match audit(options) {
        Ok(summary) => (summary, ExitCode::SUCCESS),
        Err(Failure::Inconsistent(what)) => {
            (format!("INCONSISTENT: {what}"), ExitCode::from(EXIT_INCONSISTENT))
        }
        Err(Failure::Inconclusive(error)) => return Err(error),
    };
    writeln!(std::io::stdout(), "{}", printable(&line))?;
    Ok(code)
}

fn audit(options: &AuditOptions) -> AuditResult<String> {
    let policy = options.policy.read()?;
    let server = LogServer::new(&options.url, &options.key).of(options.project, options.environment);
    let saved = State::load(&options.state)?;
    let keys = keys::trusted(options, saved.as_ref(), &server)?;
    // Before the checkpoint, which then covers it.
    let mut tenants = match options.new_only {
        true => None,
        false => Some(TenantMaps::read(&server, &keys.all, options)),
    };
    let latest = match (server.text("log/checkpoint")?, &saved) {
        (Fetched::Found(note), _) => note,
        (Fetched::Refused(why), None) => return Err(anyhow!("GET log/checkpoint: {why}").into()),
        (Fetched::Refused(why), Some(saved)) => {
            let what = format!(
                "the server does not know the log {} any more: {why}",
                saved.origin
            );
            return Err(Failure::Inconsistent(what));
        }
    };
    let note = match &policy {
        None => latest.clone(),
        Some(policy) => match cosigned::with_quorum(&server, policy, &latest)? {
            Some(note) => note,
            None => return Err(without_quorum(&server, options, saved.as_ref())),
        },
    };
    let mut follower = match &saved {
        Some(saved) => Follower::resume(saved.origin.clone(), keys.all.clone(), &saved.note)
            .with_context(|| format!("{} is inconsistent", options.state.display()))?,
        None => Follower::new(first_origin(&note)?, keys.all.clone()),
    };
    let known = follower.last().map_or(0, |last| last.head().size);
    let offered =
        advance(&mut follower, &server, &note).map_err(|failure| keep_evidence(options, &note, failure))?;
    keys.check_signature(&offered)
        .map_err(|failure| keep_evidence(options, &note, failure))?;
    if policy.is_some() && note != latest {
        cosigned::check_latest(&server, keys.latest(), &offered, &latest)
            .map_err(|failure| keep_evidence(options, &latest, failure))?;
    }
    let removals = Removals::read(&server, offered.head().size)?;
    let is_continued = options.new_only && (removals.is_empty() || is_known(&server, saved.as_ref())?);
    let (start, cursor, last, removals) = match saved {
        Some(saved) if is_continued => (saved.frontier, saved.cursor, None, removals),
        saved => {
            let log = LogName::of_origin(offered.checkpoint().origin().as_str());
            let last = saved.map(|saved| saved.frontier);
            (Frontier::new(), None, last, removals.checked(log))
        }
    };
    let read = offered.head().size - start.size();
    // A log that contradicts its checkpoint has no map; its difference is reported first.
    let (tenants, missing) = match tenants.take().transpose() {
        Ok(Some(mut tenants)) => {
            let is_latest = note == latest || policy.is_none();
            tenants.begin(offered.checkpoint().origin(), offered.head().size, is_latest)?;
            (Some(tenants), None)
        }
        Ok(None) => (None, None),
        Err(failure) => (None, Some(failure)),
    };
    let replay = Replay::new(&server, start, cursor, last, &offered, tenants, removals);
    let replayed = replay.run();
    let Replayed {
        frontier,
        cursor,
        tenants,
        removals,
    } = replayed.map_err(|failure| keep_evidence(options, &note, failure))?;
    let removed = removals
        .finish()
        .map_err(|failure| keep_evidence(options, &note, failure))?;
    if let Some(failure) = missing {
        return Err(keep_evidence(options, &note, failure));
    }
    if let Some(tenants) = tenants {
        tenants
            .finish(&server)
            .map_err(|failure| keep_evidence(options, &note, failure))?;
    }
    let size = frontier.size();
    freshness::check(&server, options, size, cursor.as_deref())
        .map_err(|failure| keep_evidence(options, &note, failure))?;
    let rows_gone = removed
        .as_ref()
        .map_or(0, |report| report.retention + report.erased);
    let summary = format!(
        "{}: {size} events, {} of them new; {} read{}, all match the signed root {}",
        offered.checkpoint().origin(),
        size - known,
        read - rows_gone,
        removed.as_ref().map(removed::described).unwrap_or_default(),
        frontier.root(),
    );
    State::new(keys.into_state(), &offered, frontier, cursor).save(&options.state)?;
    Ok(summary)
}

/// Whether the server accepts the saved cursor of the feed. Without one, the events before it are skipped by their number, which is not
/// known where some of them were removed.
fn is_known(server: &LogServer, saved: Option<&State>) -> AuditResult<bool> {
    match saved.and_then(|saved| saved.cursor.as_deref()) {
        Some(cursor) => Ok(matches!(server.feed(1, Some(cursor))?, Fetched::Found(_))),
        None => Ok(false),
    }
}

/// Why a log of which no checkpoint has a quorum is not audited: it has old events, or it is too young.
fn without_quorum(server: &LogServer, options: &AuditOptions, saved: Option<&State>) -> Failure {
    let size = saved.map_or(0, |saved| saved.frontier.size());
    let cursor = saved.and_then(|saved| saved.cursor.as_deref());
    match freshness::check(server, options, size, cursor) {
        Err(failure) => failure,
        Ok(()) => Failure::Inconclusive(anyhow!("no checkpoint of the log has a quorum of witnesses yet")),
    }
}

/// The log of the first checkpoint. Its signature is checked afterwards, as of any checkpoint.
fn first_origin(note: &str) -> AuditResult<Origin> {
    let line = note.lines().next().unwrap_or_default();
    Origin::parse(line)
        .map_err(|error| Failure::Inconsistent(format!("the server returns an invalid checkpoint: {error}")))
}

/// Advances to the checkpoint of the server if it extends the last one.
fn advance(follower: &mut Follower, server: &LogServer, note: &str) -> AuditResult<SignedCheckpoint> {
    let inconsistent = |error| Failure::Inconsistent(format!("{:#}", anyhow::Error::new(error)));
    let known = follower.size();
    let offered = follower.check(note).map_err(inconsistent)?;
    let size = offered.head().size;
    let proof = if known == 0 || known == size {
        ConsistencyProof::from_hashes(Vec::new())
    } else {
        consistency_proof(server, known, size)?
    };
    follower.advance(note, &proof).map_err(inconsistent)?;
    Ok(offered)
}

pub(crate) fn consistency_proof(server: &LogServer, from: u64, to: u64) -> AuditResult<ConsistencyProof> {
    let parameters = [("from", from.to_string()), ("to", to.to_string())];
    let body: Value = match server.json("log/consistency", &parameters)? {
        Fetched::Found(body) => body,
        Fetched::Refused(why) => {
            let what = format!(
                "the server returns no proof that the log of {to} events extends that of {from}: {why}"
            );
            return Err(Failure::Inconsistent(what));
        }
    };
    let hashes = body["consistency"].as_array().into_iter().flatten();
    let proof = ConsistencyProof::from_base64(hashes.map(|hash| hash.as_str().unwrap_or_default()));
    proof.map_err(|error| {
        Failure::Inconsistent(format!(
            "the server returns an invalid consistency proof: {error}"
        ))
    })
}

/// Writes the contradicting note to a file. Together with the note in the state file it proves the contradiction.
fn keep_evidence(options: &AuditOptions, note: &str, failure: Failure) -> Failure {
    let Failure::Inconsistent(what) = failure else {
        return failure;
    };
    let mut name = options.state.clone().into_os_string();
    name.push(".refused");
    let path = std::path::PathBuf::from(name);
    let evidence = match state::replace(&path, note) {
        Ok(()) => format!("the checkpoint is saved in {}", path.display()),
        Err(error) => format!("the checkpoint cannot be saved in {}: {error}", path.display()),
    };
    Failure::Inconsistent(format!("{what} ({evidence})"))
}
