//! `audit-verify`: the commands of an auditor, without the service.

use audit_cli::logging::{self, LogFormat};
use audit_cli::{is_broken_pipe, make_files_private, name_program, print_error};
use audit_verifier::EXIT_INCONCLUSIVE;
#[cfg(feature = "archive")]
use audit_verifier::archive::{self, ArchiveOptions};
use audit_verifier::audit::{self, AuditOptions};
use audit_verifier::check::{self, CheckOptions};
use audit_verifier::compare::{self, CompareOptions};
use audit_verifier::stream::{self, StreamOptions};
#[cfg(feature = "witness")]
use audit_witness::WitnessOptions;
use clap::{Parser, Subcommand};
use std::process::ExitCode;

/// Verifies an audit log from outside.
#[derive(Debug, Parser)]
#[command(version, propagate_version = true)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Audit a running server: save what it signed, and check that it never contradicts itself.
    ///
    /// Exit code 0: the log is consistent. 1: the log is inconsistent. 2: the check could not be completed.
    Audit(AuditOptions),
    /// Compare the state files of two auditors of one log: has the server shown them two histories?
    ///
    /// Exit code 0: one continues the other. 1: they contradict each other. 2: the check could not be completed.
    Compare(CompareOptions),
    /// Verify a receipt, proof, evidence archive, anchor or proof of completeness offline.
    ///
    /// Exit code 0: the file proves what it states. 1: it does not. 2: the check could not be completed.
    Check(CheckOptions),
    /// Verify an archive (`audit-server archive create`): every event, the chain of its files, and the log's signature.
    ///
    /// Exit code 0: the archive has every event up to its end. 1: it does not. 2: the check could not be completed.
    #[cfg(feature = "archive")]
    Archive(ArchiveOptions),
    /// Verify the records of a destination, as a receiver has kept them: nothing is missing, nothing was changed.
    ///
    /// Exit code 0: the file is complete up to its last checkpoint. 1: it is not. 2: the check could not be completed.
    Stream(StreamOptions),
    /// Run a witness of logs (C2SP tlog-witness): it cosigns the checkpoints of a log that only grows.
    #[cfg(feature = "witness")]
    Witness(WitnessOptions),
}

impl Command {
    /// The form of the log. Only servers have an option for it.
    fn log_format(&self) -> LogFormat {
        match self {
            #[cfg(feature = "witness")]
            Self::Witness(options) => options.log_format(),
            _ => LogFormat::Text,
        }
    }

    /// The exit code of an error: of a server, or of a check that could not be completed.
    const fn failure(&self) -> u8 {
        match self {
            #[cfg(feature = "witness")]
            Self::Witness(_) => 1,
            _ => EXIT_INCONCLUSIVE,
        }
    }
}

fn main() -> ExitCode {
    name_program("audit-verify");
    let command = Arguments::parse().command;
    logging::start(command.log_format());
    make_files_private();
    let outcome = match &command {
        Command::Audit(options) => audit::run(options),
        Command::Compare(options) => compare::run(options),
        Command::Check(options) => check::run(options),
        #[cfg(feature = "archive")]
        Command::Archive(options) => archive::run(options),
        Command::Stream(options) => stream::run(options),
        #[cfg(feature = "witness")]
        Command::Witness(options) => audit_witness::run(options),
    };
    match outcome {
        Ok(code) => code,
        Err(error) if is_broken_pipe(&error) => ExitCode::SUCCESS,
        Err(error) => {
            print_error(&format!("{error:#}"));
            ExitCode::from(command.failure())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn every_command_can_be_parsed() {
        Arguments::command().debug_assert();
    }
}
