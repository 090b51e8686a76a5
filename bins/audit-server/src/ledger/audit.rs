//! `audit-server log audit`: somebody outside, who has a key of the interface and a file, and believes nothing else.
//!
//! One audit asks for the newest checkpoint, holds it against the last one (signature, size, consistency proof), then
//! reads the hashes of the log's leaves and the events, hashes the events anew, and compares all three. Only when
//! everything agrees is the new checkpoint remembered.

mod events;
mod replay;
mod server;
mod state;

use super::arguments::AuditOptions;
use super::{WRONG, read_key};
use anyhow::{Context, anyhow};
use audit_ledger::{ConsistencyProof, Follower, Frontier, Origin, SignedCheckpoint, VerifierKey};
use replay::Replay;
use serde_json::Value;
use server::{LogServer, Reply};
use state::State;
use std::io::Write;
use std::process::ExitCode;

/// Why an audit ends without the log being found right.
pub(super) enum Failure {
    /// The log contradicts itself, what it signed, or what is known of it.
    Wrong(String),
    /// It cannot be told.
    Unknown(anyhow::Error),
}

impl From<anyhow::Error> for Failure {
    fn from(error: anyhow::Error) -> Self {
        Self::Unknown(error)
    }
}

pub(super) type Audited<T> = Result<T, Failure>;

pub(super) fn run(options: &AuditOptions) -> anyhow::Result<ExitCode> {
    let (line, code) = match audit(options) {
        Ok(summary) => (summary, ExitCode::SUCCESS),
        Err(Failure::Wrong(what)) => (format!("WRONG: {what}"), ExitCode::from(WRONG)),
        Err(Failure::Unknown(error)) => return Err(error),
    };
    writeln!(std::io::stdout(), "{line}")?;
    Ok(code)
}

fn audit(options: &AuditOptions) -> Audited<String> {
    let server = LogServer::new(options);
    let kept = State::load(&options.state)?;
    let key = trusted_key(options, kept.as_ref(), &server)?;
    let note = server.text("log/checkpoint")?;
    let mut follower = match &kept {
        Some(kept) => Follower::resume(kept.origin.clone(), vec![key.clone()], &kept.note)
            .with_context(|| format!("{} does not hold together", options.state.display()))?,
        None => Follower::new(first_origin(&note)?, vec![key.clone()]),
    };
    let known = follower.last().map_or(0, |last| last.head().size);
    let offered =
        continued(&mut follower, &server, &note).map_err(|failure| keep_evidence(options, &note, failure))?;
    let (start, cursor, last) = match kept {
        Some(kept) if options.new_only => (kept.frontier, kept.cursor, None),
        kept => (Frontier::new(), None, kept.map(|kept| kept.frontier)),
    };
    let read = offered.head().size - start.size();
    let replay = Replay::new(&server, start, cursor, last, *offered.head());
    let (frontier, cursor) = replay
        .run()
        .map_err(|failure| keep_evidence(options, &note, failure))?;
    let size = frontier.size();
    let summary = format!(
        "{}: {size} events, {} of them new; {read} read, all as signed (root {})",
        offered.checkpoint().origin(),
        size - known,
        frontier.root(),
    );
    State::of(key, &offered, frontier, cursor).save(&options.state)?;
    Ok(summary)
}

/// The key that checkpoints must be signed with: the one given, which must be the one that is kept.
fn trusted_key(options: &AuditOptions, kept: Option<&State>, server: &LogServer) -> Audited<VerifierKey> {
    let given = read_key(options.verifier_key.as_deref())?;
    match (given, kept) {
        (Some(given), Some(kept)) if given != kept.key => Err(Failure::Unknown(anyhow!(
            "{} was begun with another key than --verifier-key",
            options.state.display()
        ))),
        (Some(key), _) => Ok(key),
        (None, Some(kept)) => Ok(kept.key.clone()),
        (None, None) => {
            let text = server.text("log/key")?;
            let key = text.trim_end().parse();
            Ok(key.map_err(|error| Failure::Wrong(format!("the server shows no key: {error}")))?)
        }
    }
}

/// Which log the server shows when it is seen for the first time. Whether it signed what it says, its key tells.
fn first_origin(note: &str) -> Audited<Origin> {
    let line = note.lines().next().unwrap_or_default();
    Origin::parse(line).map_err(|error| Failure::Wrong(format!("the server shows no checkpoint: {error}")))
}

/// The checkpoint that the server shows, if it continues what is known.
fn continued(follower: &mut Follower, server: &LogServer, note: &str) -> Audited<SignedCheckpoint> {
    let wrong = |error| Failure::Wrong(format!("{:#}", anyhow::Error::new(error)));
    let known = follower.size();
    let offered = follower.check(note).map_err(wrong)?;
    let size = offered.head().size;
    let proof = if known == 0 || known == size {
        ConsistencyProof::from_hashes(Vec::new())
    } else {
        consistency(server, known, size)?
    };
    follower.advance(note, &proof).map_err(wrong)?;
    Ok(offered)
}

fn consistency(server: &LogServer, from: u64, to: u64) -> Audited<ConsistencyProof> {
    let parameters = [("from", from.to_string()), ("to", to.to_string())];
    let answer: Value = match server.json("log/consistency", &parameters)? {
        Reply::Found(answer) => answer,
        Reply::Refused(why) => {
            let what =
                format!("the server does not show that its {to} events continue the {from} known: {why}");
            return Err(Failure::Wrong(what));
        }
    };
    let hashes = answer["consistency"].as_array().into_iter().flatten();
    let proof = ConsistencyProof::from_base64(hashes.map(|hash| hash.as_str().unwrap_or_default()));
    proof.map_err(|error| Failure::Wrong(format!("the server shows no consistency proof: {error}")))
}

/// Keeps the note that contradicts what is known: with the one in the state file it is what convinces others.
fn keep_evidence(options: &AuditOptions, note: &str, failure: Failure) -> Failure {
    let Failure::Wrong(what) = failure else {
        return failure;
    };
    let mut name = options.state.clone().into_os_string();
    name.push(".refused");
    let path = std::path::PathBuf::from(name);
    let kept = match std::fs::write(&path, note) {
        Ok(()) => format!("the checkpoint is kept in {}", path.display()),
        Err(error) => format!("the checkpoint cannot be kept in {}: {error}", path.display()),
    };
    Failure::Wrong(format!("{what} ({kept})"))
}
