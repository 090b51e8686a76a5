//! Verifies receipts, proofs, evidence archives, anchors and proofs of completeness offline.

mod anchor;
mod archive;
mod completeness;
mod layout;
mod proof;

pub(crate) use completeness::content_hash;

use crate::anchor_files::time_stamp_roots;
use crate::{EXIT_INCONCLUSIVE, PolicyOptions};
use anyhow::{Context, anyhow, bail};
use audit_cli::{is_broken_pipe, print_error, printable, small_file};
use audit_ledger::{Anchor, KeyRotation, Policy, TlogProof, VerifierKey, key_predecessors, key_successors};
use clap::Args;
use std::fmt::Display;
use std::fs::File;
use std::io::{Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// Exit code: the file does not prove what it states.
const EXIT_REFUSED: u8 = 1;
/// The first bytes of a zip file.
const ZIP_START: &[u8] = b"PK";
/// The length of the first lines of proofs and anchors.
const HEADER_BYTES: usize = TlogProof::HEADER.len();
const _: () = assert!(Anchor::HEADER.len() == HEADER_BYTES);
/// The first byte of a response of the service.
const JSON_START: &[u8] = b"{";

/// The command line of a check.
#[derive(Debug, Args)]
pub struct CheckOptions {
    /// Receipt or proof of an event (.tlog-proof), archive of `log export` (.zip), anchor (.anchor) with its time stamp (.tsr)
    /// beside it, or response of `GET /log/completeness`.
    file: PathBuf,
    /// With a response of `GET /log/completeness`: the tenant's events in the order of the feed, one JSON object on each line.
    #[arg(long, value_name = "FILE")]
    events: Option<PathBuf>,
    /// Key that must have signed, as printed by `log key`. Get it through another channel than the file.
    #[arg(long, value_name = "KEY", env = "AUDIT_VERIFIER_KEY")]
    key: String,
    /// Log that the file must be of, as audits and proofs name it. The key signs the logs of all projects of its owner.
    #[arg(long, value_name = "LOG")]
    log: Option<String>,
    /// With a response of `GET /log/completeness`: the tenant that it must be of.
    #[arg(long, value_name = "ID")]
    tenant: Option<String>,
    /// Root certificates (PEM) of the time-stamp authority of an anchor. With it, the anchor must have a valid time stamp.
    #[arg(long, value_name = "FILE")]
    timestamp_ca: Option<PathBuf>,
    /// File with the rotations of the key, as `log key --rotations` prints them: any key that they lead to, or that leads to
    /// the expected one, may have signed.
    #[arg(long, value_name = "FILE")]
    rotations: Option<PathBuf>,
    #[command(flatten)]
    policy: PolicyOptions,
}

/// Why a check did not succeed.
pub(crate) enum Failure {
    /// The file does not prove what it states.
    Refused(String),
    /// The check could not be completed.
    Inconclusive(anyhow::Error),
}

impl Failure {
    pub(crate) fn refused(reason: impl Display) -> Self {
        Self::Refused(reason.to_string())
    }
}

/// An error of reading.
impl From<std::io::Error> for Failure {
    fn from(error: std::io::Error) -> Self {
        Self::Inconclusive(error.into())
    }
}

/// Verifies a file, and prints what it proves.
///
/// # Errors
/// When the output cannot be written.
pub fn run(options: &CheckOptions) -> anyhow::Result<ExitCode> {
    let proved = check(options).map(|proved| printable(&proved).into_owned());
    finish(proved, &options.file)
}

/// Prints what a file proves, or why it does not.
pub(crate) fn finish(outcome: Result<String, Failure>, file: &Path) -> anyhow::Result<ExitCode> {
    match outcome {
        Ok(proved) => {
            let printed = writeln!(std::io::stdout(), "{proved}");
            printed.or_else(|error| match error.into() {
                error if is_broken_pipe(&error) => Ok(()),
                error => Err(error),
            })?;
            Ok(ExitCode::SUCCESS)
        }
        Err(Failure::Refused(reason)) => {
            print_error(&format!("REFUSED: {}: {reason}", file.display()));
            Ok(ExitCode::from(EXIT_REFUSED))
        }
        Err(Failure::Inconclusive(error)) => {
            print_error(&format!("{error:#}"));
            Ok(ExitCode::from(EXIT_INCONCLUSIVE))
        }
    }
}

/// What the file proves.
fn check(options: &CheckOptions) -> Result<String, Failure> {
    let key: VerifierKey = options
        .key
        .trim()
        .parse()
        .context("--key")
        .map_err(Failure::Inconclusive)?;
    let keys = keys_of(options.rotations.as_deref(), &key).map_err(Failure::Inconclusive)?;
    let policy = options.policy.read().map_err(Failure::Inconclusive)?;
    let (file, start) = open(options).map_err(Failure::Inconclusive)?;
    let (log, tenant) = (options.log.as_deref(), options.tenant.as_deref());
    if start == Anchor::HEADER.as_bytes() {
        if log.is_some() {
            return Err(Failure::Inconclusive(anyhow!(
                "--log: an anchor has all logs; `log verify --anchors` compares each"
            )));
        }
        let roots = options.timestamp_ca.as_deref().map(time_stamp_roots).transpose();
        let roots = roots.map_err(Failure::Inconclusive)?;
        return anchor::check(&options.file, &keys, roots.as_ref());
    }
    if start.starts_with(ZIP_START) {
        return archive::check(file, &keys, log, policy.as_ref());
    }
    let mut text = String::new();
    file.take((TlogProof::BYTES_MAX as u64).max(small_file::BYTES_MAX) + 1)
        .read_to_string(&mut text)
        .map_err(Failure::refused)?;
    match start.starts_with(JSON_START) {
        true => completeness::check(&text, &keys, (log, tenant), options.events.as_deref()),
        false => proof::check(&text, &keys, log, policy.as_ref()),
    }
}

/// Checks that a file is of the expected log.
fn check_log(expected: Option<&str>, log: &str) -> Result<(), Failure> {
    match expected {
        Some(expected) if expected != log => Err(Failure::Refused(format!("it is of the log {log}"))),
        _ => Ok(()),
    }
}

/// The expected key, and those that the rotations connect it with.
pub(crate) fn keys_of(rotations: Option<&Path>, key: &VerifierKey) -> anyhow::Result<Vec<VerifierKey>> {
    let Some(path) = rotations else {
        return Ok(vec![key.clone()]);
    };
    let shown = path.display();
    let text = small_file::read_text(path).with_context(|| format!("cannot read {shown}"))?;
    let rotations = KeyRotation::open_all(&text).with_context(|| format!("--rotations: {shown}"))?;
    let mut keys = key_successors(key, &rotations);
    keys.extend(key_predecessors(key, &rotations).into_iter().skip(1));
    Ok(keys)
}

/// Checks that a quorum of the policy's witnesses has cosigned a checkpoint. Returns what to say of it.
pub(crate) fn check_quorum(policy: Option<&Policy>, note: &str) -> Result<String, Failure> {
    let Some(policy) = policy else {
        return Ok(String::new());
    };
    let cosigners = policy.cosigners(note);
    let names = cosigners.iter().copied().collect::<Vec<_>>().join(", ");
    match (policy.is_quorum(&cosigners), names.is_empty()) {
        (true, true) => Ok(", which needs no witness".to_owned()),
        (true, false) => Ok(format!(", cosigned by {names}")),
        (false, true) => Err(Failure::refused(
            "no witness of the policy has cosigned the checkpoint",
        )),
        (false, false) => Err(Failure::Refused(format!(
            "the witnesses that have cosigned the checkpoint are no quorum: {names}"
        ))),
    }
}

/// The file and its first bytes.
fn open(options: &CheckOptions) -> anyhow::Result<(File, Vec<u8>)> {
    let path = options.file.display();
    let mut file = File::open(&options.file).with_context(|| format!("cannot open {path}"))?;
    let mut start = Vec::new();
    (&mut file)
        .take(HEADER_BYTES as u64)
        .read_to_end(&mut start)
        .with_context(|| format!("cannot read {path}"))?;
    let is_text = [TlogProof::HEADER, Anchor::HEADER].contains(&String::from_utf8_lossy(&start).as_ref());
    if !start.starts_with(ZIP_START) && !start.starts_with(JSON_START) && !is_text {
        bail!(
            "{path} is neither an archive of `log export` nor a proof ({}) nor an anchor ({}) nor a response of GET \
             /log/completeness",
            TlogProof::HEADER,
            Anchor::HEADER
        );
    }
    file.seek(SeekFrom::Start(0))?;
    Ok((file, start))
}
