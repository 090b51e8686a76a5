//! Programs that the server starts: what they get, how long they run, and how much they print.

use anyhow::Context;
use std::io::{ErrorKind, Read, Write};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc;
use std::time::Duration;

/// The process of a command line, with pipes for its standard input and output. Its words are separated as those of a shell are, but
/// nothing is expanded.
///
/// # Errors
/// When a quotation mark has no counterpart, or there is no program.
pub(crate) fn command(line: &str) -> anyhow::Result<Command> {
    let words = shlex::split(line).context("a quotation mark has no counterpart")?;
    let (program, arguments) = words.split_first().context("it names no program")?;
    let mut command = Command::new(program);
    command
        .args(arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped());
    Ok(command)
}

/// The limits of a program.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ProgramLimits {
    /// It must have printed everything within this time.
    pub(crate) seconds_max: u64,
    /// More output is not read.
    pub(crate) output_bytes_max: u64,
}

/// Writes `input` to a process whose standard input and output are pipes, and reads what it prints. Kills it after the time limit.
/// `name` is that of its option.
pub(crate) fn run(
    mut child: Child,
    input: &[u8],
    limits: ProgramLimits,
    name: &'static str,
) -> Result<Vec<u8>, String> {
    let output = exchange(&mut child, input, limits, name);
    // Also where it has ended: this takes no process that another one has become.
    let killed = output.is_err().then(|| child.kill());
    let status = child.wait().map_err(|error| error.to_string())?;
    let output = output?;
    if killed.is_some() || !ExitStatus::success(&status) {
        return Err(status.to_string());
    }
    Ok(output)
}

fn exchange(
    child: &mut Child,
    input: &[u8],
    limits: ProgramLimits,
    name: &'static str,
) -> Result<Vec<u8>, String> {
    let (Some(mut stdin), Some(stdout)) = (child.stdin.take(), child.stdout.take()) else {
        return Err("it has no standard input and output".to_owned());
    };
    let input = input.to_vec();
    let (sender, receiver) = mpsc::channel();
    // Blocks as long as the process or one that it has started has the pipes open.
    std::thread::spawn(move || {
        // With the capacity for all of it, no copy of a secret is left where a vector has grown.
        let capacity = usize::try_from(limits.output_bytes_max).unwrap_or_default();
        let mut output = Vec::with_capacity(capacity);
        let written = match stdin.write_all(&input) {
            // A program that fails early says why with its exit status.
            Err(error) if error.kind() == ErrorKind::BrokenPipe => Ok(()),
            written => written,
        };
        drop(stdin);
        let mut stdout = stdout.take(limits.output_bytes_max);
        let exchanged = written.and_then(|()| stdout.read_to_end(&mut output));
        // The receiver is gone after the time limit.
        if sender.send(exchanged.map(|_| output)).is_err() {
            log::warn!("{name} responded too late");
        }
    });
    match receiver.recv_timeout(Duration::from_secs(limits.seconds_max)) {
        Ok(output) => output.map_err(|error| error.to_string()),
        Err(_) => Err(format!("no output after {} s", limits.seconds_max)),
    }
}
