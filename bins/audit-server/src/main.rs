//! `audit-server`: runs, administers and audits the audit log service, and imports events.
//!
//! The other crates take wall-clock time, the randomness of ids and secrets, and settings as arguments: `audit-cli` reads the first
//! two, the options of commands the third.

mod arguments;
mod demo;
#[cfg(test)]
mod documentation;
mod help;
mod manual;
mod otlp;
mod serve;
mod witnesses;

use arguments::{Arguments, Command, DatabaseCommand};
use audit_cli::logging::{self, LogFormat};
use audit_cli::{is_broken_pipe, make_files_private, name_program, name_variables, print_error};
#[cfg(feature = "archive")]
use audit_operations::archive;
use audit_operations::{
    administration, backup, cells, copy, doctor, health, import, index, init, keys, ledger, schema, secrets,
    shrink,
};
use audit_verifier::check;
use clap::FromArgMatches;
use std::ffi::{OsStr, OsString};
use std::process::ExitCode;

/// Most memory of an event is allocated by one thread and freed by another.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    name_program("audit-server");
    let command = help::command();
    let words: Vec<OsString> = std::env::args_os().skip(1).collect();
    let is_set = |name: &OsStr| std::env::var_os(name).is_some();
    name_variables(variables(&command, &words, is_set));
    let parsed = command.try_get_matches();
    let arguments = match parsed.and_then(|matches| Arguments::from_arg_matches(&matches)) {
        Ok(arguments) => arguments,
        Err(error) => return refuse_command_line(&error),
    };
    logging::start(arguments.command.log_format());
    make_files_private();
    let outcome = match arguments.command {
        Command::Init(options) => init::run(&options),
        Command::Serve(options) => serve::serve(&options),
        Command::Demo(options) => demo::demo(&options),
        Command::Import(options) => import::run(&options),
        Command::Log(command) => ledger::run(&command),
        #[cfg(feature = "archive")]
        Command::Archive(command) => archive::run(&command),
        Command::Index(command) => index::run(&command),
        Command::Health(options) => health::run(&options),
        Command::Completions(options) => manual::completions(&options),
        Command::Man(options) => manual::man(&options),
        Command::Db(DatabaseCommand::Check(options)) => schema::run(&options),
        Command::Db(DatabaseCommand::Copy(options)) => copy::run(&options),
        Command::Db(DatabaseCommand::Shrink(options)) => shrink::run(&options),
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

/// The options that variables of the environment set, each with its variable. This looks at the words of the command line, because
/// clap does not tell the sources of values when one of them is wrong.
fn variables(
    mut command: &clap::Command,
    words: &[OsString],
    is_set: impl Fn(&OsStr) -> bool,
) -> Vec<(String, String)> {
    for word in words {
        let Some(subcommand) = command.find_subcommand(word) else {
            break;
        };
        command = subcommand;
    }
    let is_given = |option: &str| {
        let is_option = |word: &OsString| word.to_string_lossy().split('=').next() == Some(option);
        words.iter().any(is_option)
    };
    let set_by_variable = |argument: &clap::Arg| {
        let option = format!("--{}", argument.get_long()?);
        let variable = argument.get_env().filter(|name| is_set(name))?;
        (!is_given(&option)).then(|| (option, variable.to_string_lossy().into_owned()))
    };
    command.get_arguments().filter_map(set_by_variable).collect()
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
        let matches = help::command().try_get_matches_from(arguments);
        command_line_error(&matches.unwrap_err().to_string())
    }

    #[test]
    fn an_option_that_is_not_given_has_the_value_of_its_variable() {
        let set = |words: &[&str]| {
            let words: Vec<OsString> = words.iter().map(OsString::from).collect();
            variables(&help::command(), &words, |name| {
                name == "AUDIT_LISTEN" || name == "AUDIT_WITNESS_LISTEN"
            })
        };
        let expected = |variable: &str| vec![("--listen".to_owned(), variable.to_owned())];
        assert_eq!(set(&["serve", "--readers-max", "0"]), expected("AUDIT_LISTEN"));
        assert_eq!(set(&["witness"]), expected("AUDIT_WITNESS_LISTEN"));
        assert_eq!(set(&["serve", "--listen", "x"]), []);
        assert_eq!(set(&["serve", "--listen=x"]), []);
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
