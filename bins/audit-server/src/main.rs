//! `audit-server`: runs, administers and audits the audit log service, and imports events.
//!
//! The other crates take wall-clock time, the randomness of ids and secrets, and settings as arguments: `audit-cli` reads the first
//! two, the options of commands the third.

mod arguments;
mod demo;
#[cfg(test)]
mod documentation;
mod manual;
mod otlp;
mod serve;
mod witnesses;

use arguments::{Arguments, Command, DatabaseCommand};
use audit_cli::logging::{self, LogFormat};
use audit_cli::{is_broken_pipe, make_files_private, name_program, print_error};
use audit_operations::{
    administration, backup, cells, copy, doctor, health, import, index, keys, ledger, schema, secrets,
};
use audit_verifier::check;
use clap::Parser;
use std::process::ExitCode;

/// Most memory of an event is allocated by one thread and freed by another.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    name_program("audit-server");
    let arguments = match Arguments::try_parse() {
        Ok(arguments) => arguments,
        Err(error) => return refuse_command_line(&error),
    };
    logging::start(arguments.command.log_format());
    make_files_private();
    let outcome = match arguments.command {
        Command::Serve(options) => serve::serve(&options),
        Command::Demo(options) => demo::demo(&options),
        Command::Import(options) => import::run(&options),
        Command::Log(command) => ledger::run(&command),
        Command::Index(command) => index::run(&command),
        Command::Health(options) => health::run(&options),
        Command::Completions(options) => manual::completions(&options),
        Command::Man(options) => manual::man(&options),
        Command::Db(DatabaseCommand::Check(options)) => schema::run(&options),
        Command::Db(DatabaseCommand::Copy(options)) => copy::run(&options),
        Command::Db(DatabaseCommand::Cells(command)) => cells::run(&command),
        Command::Backup(options) => backup::backup(&options),
        Command::Restore(options) => backup::restore(&options),
        Command::Check(options) => check::run(&options),
        Command::Doctor(options) => doctor::run(&options),
        Command::Witness(options) => audit_witness::run(&options),
        Command::Routes => administration::routes(),
        Command::Org(command) => administration::organizations(&command),
        Command::Project(command) => administration::projects(&command),
        Command::Key(command) => keys::keys(&command),
        Command::MasterKey(command) => keys::master_keys(&command),
        Command::Secrets(command) => secrets::run(&command),
        Command::ViewerSecret(command) => administration::viewer_secret(&command),
    };
    match outcome {
        Ok(code) => code,
        // The reader of our output has closed it, as in `audit-server routes | head`.
        Err(error) if is_broken_pipe(&error) => ExitCode::SUCCESS,
        Err(error) => {
            match logging::format() {
                LogFormat::Text => print_error(&format!("{error:#}")),
                LogFormat::Json => logging::write_final_error(&format!("{error:#}")),
            }
            ExitCode::FAILURE
        }
    }
}

/// Help and version go to standard output as clap renders them, an error to standard error as one line.
fn refuse_command_line(error: &clap::Error) -> ExitCode {
    use clap::error::ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand;
    if !error.use_stderr() || error.kind() == DisplayHelpOnMissingArgumentOrSubcommand {
        // A closed output stream cannot be reported anywhere.
        error.print().ok();
    } else {
        print_error(&command_line_error(&error.to_string()));
    }
    ExitCode::from(u8::try_from(error.exit_code()).unwrap_or(2))
}

/// A rendered clap error without its usage text, on one line.
fn command_line_error(rendered: &str) -> String {
    let is_usage = |text: &&str| text.starts_with("Usage:") || text.starts_with("For more information");
    let paragraphs = rendered.trim_start_matches("error:").split("\n\n").map(str::trim);
    let message = paragraphs.take_while(|text| !is_usage(text)).map(|text| {
        let words: Vec<&str> = text.split_whitespace().collect();
        words.join(" ")
    });
    message.collect::<Vec<_>>().join("; ")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn error(arguments: &[&str]) -> String {
        let arguments = ["audit-server"].iter().chain(arguments);
        command_line_error(&Arguments::try_parse_from(arguments).unwrap_err().to_string())
    }

    #[test]
    fn the_client_of_commands_knows_the_error_that_it_does_not_repeat() {
        let code = audit_http::ErrorCode::LogInconsistent;
        assert_eq!(audit_cli::LOG_INCONSISTENT, code.as_str());
    }

    #[test]
    fn a_wrong_command_line_is_one_line_without_usage() {
        assert_eq!(
            error(&["serve", "--nonsense"]),
            "unexpected argument '--nonsense' found"
        );
        assert_eq!(
            error(&["org", "create"]),
            "the following required arguments were not provided: --name <NAME>"
        );
        assert_eq!(
            error(&["serve", "--readers-max", "0"]),
            "invalid value '0' for '--readers-max <N>': 0 is not in 1..=1000"
        );
        assert_eq!(
            error(&["serve", "--liste", "x"]),
            "unexpected argument '--liste' found; tip: a similar argument exists: '--listen'"
        );
    }
}
