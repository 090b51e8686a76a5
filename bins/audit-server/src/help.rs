//! The help: commands and options by heading, and the short form of `-h`.

use crate::arguments::Arguments;
use audit_operations::MAIN_HEADING;
use clap::{Arg, Command, CommandFactory};

/// The commands by heading: clap has headings for options alone.
const GROUPS: [(&str, &[&str]); 5] = [
    ("Run", &["init", "serve", "demo", "doctor", "health"]),
    (
        "Organizations and keys",
        &["org", "project", "key", "master-key", "viewer-secret", "secrets"],
    ),
    ("Data", &["import", "backup", "restore", "db", "index"]),
    ("The verifiable log", &["log", "archive", "check", "witness"]),
    ("Reference", &["routes", "completions", "man"]),
];

/// The command line with its help.
pub(crate) fn command() -> Command {
    let command = Arguments::command();
    let template = template(&command);
    command.help_template(template).mut_subcommands(shorten)
}

fn template(command: &Command) -> String {
    let styles = command.get_styles();
    let (header, literal) = (styles.get_header(), styles.get_literal());
    let mut text = "{about-with-newline}\n{usage-heading} {usage}\n\n".to_owned();
    for (heading, names) in GROUPS {
        text += &format!("{header}{heading}:{header:#}\n");
        for name in names {
            // A build without a feature lacks its command.
            let Some(command) = command.find_subcommand(name) else {
                continue;
            };
            let about = command.get_about().map(ToString::to_string).unwrap_or_default();
            text += &format!("  {literal}{name:<15}{literal:#}{about}\n");
        }
        text += "\n";
    }
    text + &format!("{header}Options:{header:#}\n{{options}}")
}

/// `-h` shows the options that matter first, and those without a heading: these are the command's own.
fn shorten(command: Command) -> Command {
    let is_first = |argument: &Arg| {
        let heading = argument.get_help_heading();
        heading.is_none_or(|heading| heading == MAIN_HEADING)
    };
    let has_others = !command.get_arguments().all(is_first);
    let command = command.mut_subcommands(shorten).mut_args(|argument| {
        let is_first = is_first(&argument);
        argument.hide_short_help(!is_first)
    });
    match has_others {
        true => command
            .after_help("--help shows all options, by heading.")
            .after_long_help(""),
        false => command,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_command_has_one_heading() {
        let command = command();
        let mut commands: Vec<&str> = command.get_subcommands().map(Command::get_name).collect();
        let named = GROUPS.into_iter().flat_map(|(_, names)| names).copied();
        let is_built = |name: &&str| *name != "archive" || cfg!(feature = "archive");
        let mut named: Vec<&str> = named.filter(is_built).collect();
        commands.sort_unstable();
        named.sort_unstable();
        assert_eq!(named, commands);
    }

    #[test]
    fn every_option_of_serve_has_a_heading() {
        let command = command();
        let serve = command.find_subcommand("serve").unwrap();
        let mut headings: Vec<&str> = Vec::new();
        for argument in serve.get_arguments() {
            let heading = argument.get_help_heading();
            let heading = heading.unwrap_or_else(|| panic!("{} has no heading", argument.get_id()));
            if !headings.contains(&heading) {
                headings.push(heading);
            }
        }
        let expected = [
            MAIN_HEADING,
            "Keys",
            "HTTP",
            "Webhooks",
            "The log",
            "Witnesses and anchors",
            "Backups",
            "Limits",
            "Database",
            "Observability",
        ];
        assert_eq!(headings, expected);
    }

    #[test]
    fn the_short_help_is_short_and_the_long_one_has_every_option() {
        let mut command = command();
        command.build();
        for name in ["serve", "doctor"] {
            let command = command.find_subcommand_mut(name).unwrap();
            let short = command.render_help().to_string();
            let lines = short.lines().filter(|line| line.starts_with(' ')).count();
            assert!((10..=25).contains(&lines), "{short}");
            assert!(short.ends_with("by heading.\n"), "{short}");
            let long = command.render_long_help().to_string();
            for argument in command.get_arguments().filter_map(Arg::get_long) {
                assert!(long.contains(&format!("--{argument}")), "{argument}");
            }
        }
    }
}
