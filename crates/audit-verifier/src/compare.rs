//! Whether two auditors of one log have seen one history.

use crate::EXIT_INCONSISTENT;
use crate::audit::server::LogServer;
use crate::audit::state::State;
use crate::audit::{AuditResult, Failure, consistency_proof};
use anyhow::{Context, anyhow};
use audit_cli::printable;
use audit_ledger::{HistoryError, VerifierKey, key_successors};
use clap::Args;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// The command line of the comparison.
#[derive(Debug, Args)]
pub struct CompareOptions {
    /// State file of one auditor.
    one: PathBuf,
    /// State file of the other auditor.
    other: PathBuf,
    /// URL of the server, which proves that the larger log continues the smaller one; needs --key.
    #[arg(long, env = "AUDIT_URL", requires = "key")]
    url: Option<String>,
    /// Project or master key of that server.
    #[arg(long, env = "AUDIT_KEY", hide_env_values = true)]
    key: Option<String>,
}

/// Compares two state files, and prints what it has found.
///
/// # Errors
/// When the comparison could not be completed.
pub fn run(options: &CompareOptions) -> anyhow::Result<ExitCode> {
    let (line, code) = match compare(options) {
        Ok(summary) => (summary, ExitCode::SUCCESS),
        Err(Failure::Inconsistent(what)) => {
            (format!("INCONSISTENT: {what}"), ExitCode::from(EXIT_INCONSISTENT))
        }
        Err(Failure::Inconclusive(error)) => return Err(error),
    };
    writeln!(std::io::stdout(), "{}", printable(&line))?;
    Ok(code)
}

fn load(path: &Path) -> anyhow::Result<State> {
    State::load(path)?.with_context(|| format!("{} does not exist", path.display()))
}

fn compare(options: &CompareOptions) -> AuditResult<String> {
    let (one, other) = (load(&options.one)?, load(&options.other)?);
    if one.origin != other.origin {
        return Err(anyhow!("they are of two logs: {} and {}", one.origin, other.origin).into());
    }
    let mut rotations = one.rotations.clone();
    rotations.extend(other.rotations.iter().cloned());
    let leads = |from: &VerifierKey, to: &VerifierKey| key_successors(from, &rotations).contains(to);
    if !leads(&one.key, &other.key) && !leads(&other.key, &one.key) {
        let what = format!("the log has two keys: {} and {}", one.key, other.key);
        return Err(Failure::Inconsistent(what));
    }
    let (smaller, larger) = match one.frontier.size() <= other.frontier.size() {
        true => (one.frontier, other.frontier),
        false => (other.frontier, one.frontier),
    };
    let (from, to) = (smaller.head(), larger.head());
    let same = format!(
        "{}: both logs of {} and {} events are one",
        one.origin, from.size, to.size
    );
    if from.size == to.size {
        return match from.root == to.root {
            true => Ok(same),
            false => Err(inconsistent(HistoryError::Fork { size: from.size })),
        };
    }
    // Complete subtrees that both edges have are of the same events.
    for (subtree, hash) in smaller.edge() {
        let mut edge = larger.edge();
        if edge.any(|(of_larger, larger)| of_larger == subtree && larger != hash) {
            let leaves = subtree.leaves();
            return Err(Failure::Inconsistent(format!(
                "the log has two histories of events {} to {}",
                leaves.start,
                leaves.end - 1
            )));
        }
    }
    let (Some(url), Some(key)) = (&options.url, &options.key) else {
        return Err(anyhow!(
            "the logs of {} and {} events do not contradict each other so far; give --url and --key of the server, which has to \
             prove that one continues the other",
            from.size,
            to.size
        )
        .into());
    };
    let project = one.origin.as_str().rsplit('/').nth(1);
    let is_master_key = key.starts_with("mk_");
    let environment = one.origin.as_str().rsplit('/').next();
    let server = LogServer::new(url, key).of(
        project.filter(|_| is_master_key),
        environment.filter(|_| is_master_key),
    );
    let proof = consistency_proof(&server, from.size, to.size)?;
    from.check_successor(&to, &proof).map_err(inconsistent)?;
    Ok(same)
}

fn inconsistent(error: HistoryError) -> Failure {
    Failure::Inconsistent(format!("{:#}", anyhow::Error::new(error)))
}
