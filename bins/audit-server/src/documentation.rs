//! docs/reference/options.md, which is made from the command line, and the guides that name options and variables.

use crate::arguments::Arguments;
use clap::{Arg, ArgAction, Command, CommandFactory};
use std::collections::BTreeSet;
use std::path::Path;

/// The documents that explain options.
const GUIDES: [&str; 2] = [
    include_str!("../../../docs/configuration.md"),
    include_str!("../../../docs/databases.md"),
];
/// What a guide may name besides options of a command.
const GENERAL: [&str; 4] = ["--help", "--version", "--no-default-features", "--env-file"];
/// The beginning of the reference.
const HEAD: &str = "\
# Options

Every command of `audit-server`, and every option with its environment variable, default and meaning. This file is made from the
definition of the command line: `AUDIT_UPDATE_SNAPSHOT=1 cargo test -p audit-server documentation`. [Configuration](../configuration.md)
explains what matters first. An option takes precedence over its variable. `-h` shows the options of a command that matter first, `--help` all
of them by heading. `--version` prints the version, and in a release build the commit: `audit-server 0.1.0 (c76600512a3b)`, with `-modified` if
files in the work tree differed from it.

## Commands

";

/// Every command that runs, with its full name.
fn commands() -> Vec<(String, Command)> {
    fn collect(name: &str, command: &Command, commands: &mut Vec<(String, Command)>) {
        let subcommands = command.get_subcommands().filter(|one| one.get_name() != "help");
        for subcommand in subcommands {
            let name = format!("{name} {}", subcommand.get_name());
            collect(&name, subcommand, commands);
        }
        if !command.has_subcommands() {
            commands.push((name.trim_start().to_owned(), command.clone()));
        }
    }
    let mut root = Arguments::command();
    root.build();
    let mut commands = Vec::new();
    collect("", &root, &mut commands);
    commands
}

fn arguments(command: &Command) -> impl Iterator<Item = &Arg> {
    let is_own = |argument: &&Arg| !["help", "version"].contains(&argument.get_id().as_str());
    command.get_arguments().filter(is_own)
}

/// An option as a row of a table.
fn row(argument: &Arg) -> String {
    let takes_value = argument.get_action().takes_values();
    let value = argument.get_value_names().and_then(|names| names.first());
    let value = value.map(ToString::to_string).unwrap_or_default();
    let is_value_optional = argument
        .get_num_args()
        .is_some_and(|count| count.min_values() == 0);
    let option = match argument.get_long() {
        None => value,
        Some(long) if !takes_value => format!("--{long}"),
        Some(long) if is_value_optional => format!("--{long} [{value}]"),
        Some(long) => format!("--{long} {value}"),
    };
    let variable = argument
        .get_env()
        .map_or_else(String::new, |name| format!("`{}`", name.to_string_lossy()));
    let defaults = argument.get_default_values().iter();
    let defaults: Vec<_> = defaults.map(|value| value.to_string_lossy()).collect();
    let default = match defaults.is_empty() {
        _ if matches!(argument.get_action(), ArgAction::SetTrue) => String::new(),
        true if argument.is_required_set() => "required".to_owned(),
        true => String::new(),
        false => format!("`{}`", defaults.join(",")),
    };
    let help = argument.get_long_help().or_else(|| argument.get_help());
    let help = cell(&help.map(ToString::to_string).unwrap_or_default());
    format!("| `{option}` | {variable} | {default} | {help} |\n")
}

/// A text in one line, as a cell of a table.
fn cell(text: &str) -> String {
    let words: Vec<&str> = text.split_whitespace().collect();
    words.join(" ").replace('|', "\\|")
}

/// Names in backticks, separated by commas.
fn code(names: &[String]) -> String {
    let names: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
    names.join(", ")
}

/// The whole document. Options that several commands take are in one table, with the commands above it.
fn reference() -> String {
    let mut commands_table = String::new();
    // The rows in the order of their first command, each with its commands.
    let mut rows: Vec<(String, Vec<String>)> = Vec::new();
    for (name, command) in commands() {
        let about = command.get_about().map(ToString::to_string).unwrap_or_default();
        commands_table += &format!("| `{name}` | {} |\n", cell(&about));
        for row in arguments(&command).map(row) {
            match rows.iter_mut().find(|(known, _)| *known == row) {
                Some((_, commands)) => commands.push(name.clone()),
                None => rows.push((row, vec![name.clone()])),
            }
        }
    }
    let mut tables: Vec<(Vec<String>, String)> = Vec::new();
    for (row, commands) in rows {
        match tables.iter_mut().find(|(known, _)| *known == commands) {
            Some((_, table)) => table.push_str(&row),
            None => tables.push((commands, row)),
        }
    }
    let mut text = format!("{HEAD}| Command | Purpose |\n|---|---|\n{commands_table}\n## Options\n");
    for (commands, table) in tables {
        let commands = code(&commands);
        text += &format!(
            "\nTaken by {commands}:\n\n| Option | Variable | Default | Meaning |\n|---|---|---|---|\n{table}"
        );
    }
    text
}

/// Its changes are changes of the command line, so they appear in a commit and are reviewed.
#[test]
#[expect(clippy::disallowed_methods, reason = "a test's own switch")]
fn the_reference_of_options_is_the_one_in_the_repository() {
    let stored = include_str!("../../../docs/reference/options.md");
    let made = reference();
    if std::env::var("AUDIT_UPDATE_SNAPSHOT").is_ok_and(|value| value == "1") {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/reference/options.md");
        return std::fs::write(path, made).unwrap();
    }
    let mut lines = stored.lines().zip(made.lines());
    let differing = lines.position(|(stored, made)| stored != made);
    assert!(
        stored == made,
        "docs/reference/options.md is not what the code says (first in line {}). If that is meant: \
         AUDIT_UPDATE_SNAPSHOT=1 cargo test -p audit-server documentation, and look at the difference",
        differing.map_or(stored.lines().count(), |line| line + 1)
    );
}

#[test]
fn every_option_and_variable_that_the_guides_mention_exists() {
    let mut known: BTreeSet<String> = GENERAL.map(str::to_owned).into();
    for (_, command) in commands() {
        for argument in arguments(&command) {
            known.extend(argument.get_long().map(|long| format!("--{long}")));
            known.extend(argument.get_env().map(|name| name.to_string_lossy().into_owned()));
        }
    }
    let is_part = |character: char| character.is_ascii_alphanumeric() || "-_".contains(character);
    for text in GUIDES {
        for word in text.split(|character| !is_part(character)) {
            let is_option = word.len() > 2 && word.starts_with("--") && !word.starts_with("---");
            let is_name = is_option || (word.starts_with("AUDIT_") && word != "AUDIT_");
            assert!(!is_name || known.contains(word), "{word}");
        }
    }
}

#[test]
fn every_option_has_a_help_text() {
    for (name, command) in commands() {
        assert!(command.get_about().is_some(), "{name}");
        for argument in arguments(&command) {
            assert!(argument.get_help().is_some(), "{name} {}", argument.get_id());
        }
    }
}
