//! Verifies an archive: every event, the chain of its files, and the log's signature.

use crate::PolicyOptions;
use crate::check::{Failure, check_quorum, finish, keys_of};
use anyhow::{Context, anyhow};
use audit_archive::layout::{self, log_directory};
use audit_archive::{ArchiveError, Chain};
use audit_cli::printable;
use audit_domain::LogName;
use audit_ledger::{Policy, SignedCheckpoint, VerifierKey};
use clap::Args;
use std::io;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// The command line.
#[derive(Debug, Args)]
pub struct ArchiveOptions {
    /// Directory of the archive.
    directory: PathBuf,
    /// Key that must have signed, as printed by `log key`. Get it through another channel than the archive.
    #[arg(long, value_name = "KEY", env = "AUDIT_VERIFIER_KEY")]
    key: String,
    /// Log to verify, as audits and proofs name it; all logs of the archive by default.
    #[arg(long, value_name = "LOG")]
    log: Option<String>,
    /// File with the rotations of the key, as `log key --rotations` prints them: any key that they lead to, or that leads to
    /// the expected one, may have signed.
    #[arg(long, value_name = "FILE")]
    rotations: Option<PathBuf>,
    #[command(flatten)]
    policy: PolicyOptions,
}

/// What an archive is verified against.
struct Expected<'a> {
    keys: &'a [VerifierKey],
    log: Option<&'a str>,
    policy: Option<&'a Policy>,
}

/// Verifies an archive, and prints a line for each log.
///
/// # Errors
/// When the output cannot be written.
pub fn run(options: &ArchiveOptions) -> anyhow::Result<ExitCode> {
    finish(check(options), &options.directory)
}

fn check(options: &ArchiveOptions) -> Result<String, Failure> {
    let key: VerifierKey = (options.key.trim().parse())
        .context("--key")
        .map_err(Failure::Inconclusive)?;
    let keys = keys_of(options.rotations.as_deref(), &key).map_err(Failure::Inconclusive)?;
    let policy = options.policy.read().map_err(Failure::Inconclusive)?;
    let expected = Expected {
        keys: &keys,
        log: options.log.as_deref(),
        policy: policy.as_ref(),
    };
    let (mut logs, others) = layout::logs(&options.directory)?;
    refuse_others(&others)?;
    if layout::is_unfinished(&options.directory)? {
        return Err(Failure::Inconclusive(anyhow!(
            "it is unfinished: `archive create --from` is running, or was interrupted; run that again"
        )));
    }
    if let Some(log) = expected.log {
        let name = LogName::of_origin(log).context("--log is not the name of a log");
        let name = name.map_err(Failure::Inconclusive)?;
        logs.retain(|log| *log == name);
    }
    let check = |log| check_log(log, &log_directory(&options.directory, log), &expected);
    let lines: Vec<String> = logs.iter().map(check).collect::<Result<_, _>>()?;
    match (lines.is_empty(), expected.log) {
        (true, None) => Err(Failure::refused("it has no log")),
        (true, Some(_)) => Err(Failure::refused("it has no such log")),
        (false, _) => Ok(lines.join("\n")),
    }
}

/// A reader of the directory would read them as well.
fn refuse_others(others: &[PathBuf]) -> Result<(), Failure> {
    match others.first() {
        None => Ok(()),
        Some(other) => Err(Failure::Refused(format!(
            "{} is not of an archive",
            other.display()
        ))),
    }
}

/// Verifies a log. Returns what to say of it.
fn check_log(log: &LogName, directory: &Path, expected: &Expected<'_>) -> Result<String, Failure> {
    let listing = layout::list(directory)?;
    refuse_others(&listing.others)?;
    let mut chain = Chain::new(*log);
    let mut newest = None;
    for part in listing.parts.values() {
        let added = chain.add_part(part, directory, |note| open(note, expected));
        newest = Some(added.map_err(|error| failure(error, &part.manifest(directory)))?);
    }
    match listing.unfinished.as_slice() {
        [] => {}
        [part] if part.seqs.start == chain.size() => {
            return Err(Failure::Inconclusive(anyhow!(
                "{} has no manifest yet: it is being written, or `archive create` was killed; run that again",
                part.file(directory).display()
            )));
        }
        parts => {
            let files: Vec<PathBuf> = parts.iter().map(|part| part.file(directory)).collect();
            refuse_others(&files)?;
        }
    }
    let Some(signed) = newest else {
        return Err(Failure::Refused(format!("{} has no files", directory.display())));
    };
    let cosigned = check_quorum(expected.policy, signed.note())?;
    let waits = match chain.waits_for_removals() {
        true => {
            "; an event that authorises a removal or an erasure is behind its end, which only the log shows"
        }
        false => "",
    };
    let said = format!(
        "{}: the first {} positions of the log of {} are archived in {} files: {} events, of {} of them parts were erased, {} were \
         removed; newest manifest {}; signed by {}{cosigned}{waits}",
        signed.checkpoint().origin(),
        chain.size(),
        signed.head().size,
        listing.parts.len(),
        chain.events,
        chain.erased,
        chain.removed,
        chain
            .manifest()
            .map(|digest| digest.to_string())
            .unwrap_or_default(),
        expected.keys[0].name(),
    );
    Ok(printable(&said).into_owned())
}

/// Verifies a checkpoint.
fn open(note: &str, expected: &Expected<'_>) -> Result<SignedCheckpoint, ArchiveError> {
    let mut opened = expected
        .keys
        .iter()
        .map(|key| SignedCheckpoint::open_of_owner(note, key));
    let first = opened.next().expect("there is an expected key");
    let signed = match first {
        Err(error) => opened.find_map(Result::ok).ok_or(error)?,
        Ok(signed) => signed,
    };
    let origin = signed.checkpoint().origin().as_str();
    match expected.log {
        Some(log) if log != origin => Err(ArchiveError::Chain(format!("it is of the log {origin}"))),
        _ => Ok(signed),
    }
}

/// An archive without a file, or with a manifest that is no text, is refused. Whether one that may not be read is right is not known.
fn failure(error: ArchiveError, manifest: &Path) -> Failure {
    let refused = [io::ErrorKind::NotFound, io::ErrorKind::InvalidData];
    match error {
        ArchiveError::Io(error) if !refused.contains(&error.kind()) => error.into(),
        error => Failure::Refused(format!(
            "{}: {:#}",
            manifest.display(),
            anyhow::Error::from(error)
        )),
    }
}
