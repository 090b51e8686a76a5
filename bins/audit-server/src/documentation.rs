//! Compares docs/configuration.md with the command line, in both directions.
//!
//! A table with the columns `Option | Variable | Default | Meaning` documents options of the commands that the paragraph
//! before it names ("Taken by …"). A table that has `Command` as its first column names them in each row.

use crate::arguments::Arguments;
use clap::{Arg, ArgAction, Command, CommandFactory};
use std::collections::BTreeSet;

const TEXT: &str = include_str!("../../../docs/configuration.md");

/// An option of a command, as the document writes it.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Row {
    command: String,
    option: String,
    variable: String,
    /// The default, or `required`, or empty: then the document may describe the behavior without the option.
    default: String,
}

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

fn defined() -> BTreeSet<Row> {
    let mut rows = BTreeSet::new();
    for (name, command) in commands() {
        rows.extend(arguments(&command).map(|argument| row(&name, argument)));
    }
    rows
}

fn row(command: &str, argument: &Arg) -> Row {
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
    let defaults = argument.get_default_values().iter();
    let defaults: Vec<_> = defaults.map(|value| value.to_string_lossy()).collect();
    let default = match defaults.is_empty() {
        _ if matches!(argument.get_action(), ArgAction::SetTrue) => String::new(),
        true if argument.is_required_set() => "required".to_owned(),
        true => String::new(),
        false => defaults.join(","),
    };
    Row {
        command: command.to_owned(),
        option,
        variable: argument
            .get_env()
            .map_or_else(String::new, |name| name.to_string_lossy().into_owned()),
        default,
    }
}

/// The parts of a Markdown text in backticks.
fn code(text: &str) -> Vec<String> {
    text.split('`').skip(1).step_by(2).map(str::to_owned).collect()
}

/// A cell that is code and nothing else.
fn only_code(cell: &str) -> Option<String> {
    let text = cell.strip_prefix('`')?.strip_suffix('`')?;
    (!text.contains('`')).then(|| text.to_owned())
}

fn cells(line: &str) -> Vec<&str> {
    line.trim_matches('|').split('|').map(str::trim).collect()
}

fn documented() -> Vec<Row> {
    let mut rows = Vec::new();
    for (paragraph, table) in TEXT.split("\n\n").zip(TEXT.split("\n\n").skip(1)) {
        let mut lines = table.lines();
        let has_command_column = match lines.next() {
            Some("| Option | Variable | Default | Meaning |") => false,
            Some("| Command | Option | Variable | Default | Meaning |") => true,
            _ => continue,
        };
        for line in lines.skip(1) {
            let mut cells = cells(line);
            let commands = match has_command_column {
                true => code(cells.remove(0)),
                false => taken_by(paragraph),
            };
            rows.extend(commands.iter().map(|command| documented_row(command, &cells)));
        }
    }
    rows
}

fn taken_by(paragraph: &str) -> Vec<String> {
    let (_, commands) = paragraph
        .split_once("Taken by ")
        .unwrap_or_else(|| panic!("no commands before a table: {paragraph}"));
    code(commands)
}

fn documented_row(command: &str, cells: &[&str]) -> Row {
    let [option, variable, default, meaning] = cells else {
        panic!("{command}: a row has another number of cells: {cells:?}");
    };
    assert!(!meaning.is_empty(), "{command} {option} has no meaning");
    let is_plain = |cell: &str| only_code(cell).is_none() && cell != "required";
    Row {
        command: command.to_owned(),
        option: only_code(option).unwrap_or_else(|| panic!("{command}: {option} is not code")),
        variable: only_code(variable).unwrap_or_else(|| (*variable).to_owned()),
        default: match only_code(default) {
            Some(default) => default,
            None if is_plain(default) => String::new(),
            None => (*default).to_owned(),
        },
    }
}

#[test]
fn every_option_is_documented_with_its_variable_and_default_and_no_other() {
    let (defined, rows) = (defined(), documented());
    let count = rows.len();
    let documented: BTreeSet<Row> = rows.into_iter().collect();
    let missing: Vec<_> = defined.difference(&documented).collect();
    let unknown: Vec<_> = documented.difference(&defined).collect();
    assert!(
        missing.is_empty() && unknown.is_empty(),
        "not in configuration.md: {missing:#?}\nonly in configuration.md: {unknown:#?}"
    );
    assert_eq!(count, documented.len(), "no option is documented twice");
}

#[test]
fn every_command_is_documented_and_no_other() {
    let (_, table) = TEXT.split_once("## Commands\n").expect("a list of commands");
    let (table, _) = table.split_once("\n## ").expect("a section after it");
    let rows = table.lines().filter(|line| line.starts_with("| `"));
    let documented: BTreeSet<String> = rows.flat_map(|line| code(cells(line)[0])).collect();
    let defined: BTreeSet<String> = commands().into_iter().map(|(name, _)| name).collect();
    assert_eq!(documented, defined);
}

#[test]
fn every_option_and_variable_that_the_text_mentions_exists() {
    let rows = defined();
    let is_part = |character: char| character.is_ascii_alphanumeric() || "-_".contains(character);
    for word in TEXT.split(|character| !is_part(character)) {
        let is_option = word.len() > 2 && word.starts_with("--") && !word.starts_with("---");
        let known = rows
            .iter()
            .any(|row| row.variable == word || row.option.split(' ').next() == Some(word));
        let is_general = ["--help", "--version", "--no-default-features"].contains(&word);
        let is_name = is_option || word.starts_with("AUDIT_");
        assert!(!is_name || known || is_general, "{word}");
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
