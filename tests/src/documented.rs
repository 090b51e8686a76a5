//! Commands of the documentation, run as they are written.

use crate::cluster::program_directory;
use crate::edge::environment;
use crate::server::{give_head_key, program};
use std::path::Path;
use std::process::Command;

/// The shell commands of a document: the blocks `sh` of the section with this heading.
fn blocks(document: &str, heading: &str) -> Vec<String> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("..").join(document);
    let text = std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let start = text.find(&format!("# {heading}\n"));
    let section = &text[start.unwrap_or_else(|| panic!("no {heading:?} in {document}"))..];
    let end = section.find("\n#").unwrap_or(section.len());
    let blocks = section[..end].split("```sh\n").skip(1);
    let block = |text: &str| text.split("```").next().unwrap_or_default().to_owned();
    blocks.map(block).collect()
}

/// Runs a block of shell commands of a document, with these variables, executed by this command. Returns what it printed.
///
/// The programs of this project and of PostgreSQL are in its `PATH`. It has the head key that all processes share, unless the variables
/// give another one or, with an empty text, none.
pub fn run_documented(
    document: &str,
    heading: &str,
    block: usize,
    variables: &[(&str, &str)],
    prefix: &[String],
) -> String {
    let blocks = blocks(document, heading);
    let commands = blocks.get(block);
    let commands = commands.unwrap_or_else(|| panic!("{heading} has {} blocks", blocks.len()));
    let mut arguments = prefix.to_vec();
    arguments.extend(["sh", "-euc", commands].map(str::to_owned));
    let mut command = Command::new(&arguments[0]);
    command.args(&arguments[1..]).current_dir("/");
    for (name, _) in std::env::vars_os().filter(|(name, _)| name.to_string_lossy().starts_with("AUDIT_")) {
        command.env_remove(name);
    }
    let own = Path::new(program()).parent().expect("a program has a directory");
    let path = environment("PATH").unwrap_or_default();
    let postgres = program_directory().unwrap_or_default();
    let path = format!("{}:{postgres}:{path}", own.display());
    let variables = variables.iter();
    let mut variables: Vec<_> = variables
        .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()))
        .collect();
    give_head_key(&mut variables);
    command.env("PATH", path).envs(variables);
    let output = command.output().expect("run a shell");
    let printed = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(
        output.status.success(),
        "{commands}\n{printed}\n{}",
        String::from_utf8_lossy(&output.stderr)
    );
    printed
}
