//! `audit-server completions` and `audit-server man`: completions of shells and manual pages, from the definition of the command
//! line.

use crate::arguments::Arguments;
use anyhow::Context;
use clap::{Args, Command, CommandFactory};
use clap_complete::Shell;
use clap_mangen::Man;
use std::fs::{self, Permissions};
use std::io::Write;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// Everybody reads manuals, whatever the umask is.
const PAGE_MODE: u32 = 0o644;

#[derive(Debug, Args)]
pub(crate) struct CompletionsOptions {
    /// The shell.
    shell: Shell,
}

#[derive(Debug, Args)]
pub(crate) struct ManOptions {
    /// Write the page of every command to this existing directory, instead of printing that of the program.
    #[arg(long, value_name = "PATH")]
    directory: Option<PathBuf>,
}

pub(crate) fn completions(options: &CompletionsOptions) -> anyhow::Result<ExitCode> {
    let mut script = Vec::new();
    clap_complete::generate(
        options.shell,
        &mut Arguments::command(),
        "audit-server",
        &mut script,
    );
    std::io::stdout().write_all(&script)?;
    Ok(ExitCode::SUCCESS)
}

pub(crate) fn man(options: &ManOptions) -> anyhow::Result<ExitCode> {
    let mut root = Arguments::command().disable_help_subcommand(true);
    root.build();
    match &options.directory {
        None => std::io::stdout().write_all(&page(&root)?)?,
        Some(directory) => write_pages(directory, &root)?,
    }
    Ok(ExitCode::SUCCESS)
}

fn page(command: &Command) -> std::io::Result<Vec<u8>> {
    let mut page = Vec::new();
    Man::new(command.clone()).render(&mut page)?;
    Ok(page)
}

/// Writes the page of the command and of all below it.
fn write_pages(directory: &Path, command: &Command) -> anyhow::Result<()> {
    let name = Man::new(command.clone()).get_filename();
    let path = directory.join(name);
    let failed = || format!("cannot write {}", path.display());
    fs::write(&path, page(command)?).with_context(failed)?;
    fs::set_permissions(&path, Permissions::from_mode(PAGE_MODE)).with_context(failed)?;
    command
        .get_subcommands()
        .try_for_each(|one| write_pages(directory, one))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    /// The full names of all commands, as the names of their pages.
    fn names(prefix: &str, command: &Command) -> BTreeSet<String> {
        let name = format!("{prefix}{}", command.get_name());
        let below = format!("{name}-");
        let mut found: BTreeSet<_> = command
            .get_subcommands()
            .flat_map(|one| names(&below, one))
            .collect();
        found.insert(format!("{name}.1"));
        found
    }

    #[test]
    fn every_command_has_a_page_that_everybody_can_read() {
        let folder = tempfile::tempdir().unwrap();
        let options = ManOptions {
            directory: Some(folder.path().to_owned()),
        };
        man(&options).unwrap();
        let pages = fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap());
        let found: BTreeSet<String> = pages
            .map(|page| {
                assert_eq!(page.metadata().unwrap().permissions().mode() & 0o777, PAGE_MODE);
                page.file_name().into_string().unwrap()
            })
            .collect();
        assert!(found.contains("audit-server-log-verify.1"), "{found:?}");
        assert_eq!(found, names("", &Arguments::command()));
    }

    #[test]
    fn a_page_has_options_and_no_value_of_the_environment() {
        let text = |command: &Command| String::from_utf8(page(command).unwrap()).unwrap();
        let mut root = Arguments::command();
        root.build();
        assert!(text(&root).contains(".TH audit-server 1"));
        let serve = text(root.find_subcommand("serve").unwrap());
        assert!(
            serve.contains("AUDIT_LISTEN") && !serve.contains("AUDIT_LISTEN="),
            "{serve}"
        );
    }

    #[test]
    fn completions_of_every_shell_know_the_commands() {
        use clap::ValueEnum;
        for shell in Shell::value_variants() {
            let mut script = Vec::new();
            clap_complete::generate(*shell, &mut Arguments::command(), "audit-server", &mut script);
            let script = String::from_utf8(script).unwrap();
            assert!(script.contains("viewer-secret"), "{shell}");
        }
    }
}
