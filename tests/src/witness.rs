//! A running `audit-server witness`.

use crate::client::Client;
use crate::edge::{Deadline, temporary_directory};
use crate::process::{Exit, Process};
use crate::response::RawResponse;
use crate::server::{START_SECONDS_MAX, start_process};
use rustix::process::Signal;
use std::path::Path;
use std::process::Command;

/// The name of a witness that is given none.
const NAME: &str = "witness.example/w1";

/// A witness. It is killed when dropped.
#[derive(Debug)]
pub struct Witness {
    process: Process,
    client: Client,
    /// Its public key, as it prints it.
    pub key: String,
    /// Where it listens.
    pub url: String,
}

impl Witness {
    /// Starts one with this state directory, for the logs of these keys, and waits until it listens.
    pub fn start(state: &Path, logs: &[&str]) -> Self {
        Self::start_as(NAME, state, logs)
    }

    /// The same with this name.
    pub fn start_as(name: &str, state: &Path, logs: &[&str]) -> Self {
        let mut arguments = Self::arguments(state, logs);
        for argument in arguments.iter_mut().filter(|argument| **argument == NAME) {
            *argument = name;
        }
        Self::listening(start_process(&arguments, &[], None))
    }

    /// The same with a command line of one's own.
    pub fn start_with(arguments: &[&str]) -> Self {
        Self::listening(start_process(arguments, &[], None))
    }

    /// A program that prints its key and where it listens as `audit-server witness` does.
    pub fn of_program(program: &Path, name: &str, log: &str) -> Self {
        let program = program.to_str().expect("a path in UTF-8").to_owned();
        let command = [program, name.to_owned(), log.to_owned()];
        Self::listening(Process::start(&command, &[], "KILL"))
    }

    /// Starts `aics-witness` for one log: its origin and its key.
    pub fn of_aics(program: &str, name: &str, (origin, log): (&str, &str)) -> Self {
        let configuration = temporary_directory("aics-witness-").join("witness.json");
        let configuration = configuration.to_str().expect("a path in UTF-8");
        let run = |arguments: &[&str]| {
            let finished = Command::new(program)
                .args(arguments)
                .env("AICS_WITNESS_CONFIG", configuration)
                .output()
                .unwrap_or_else(|error| panic!("{program}: {error}"));
            assert!(finished.status.success(), "{arguments:?}: {finished:?}");
            String::from_utf8(finished.stdout)
                .expect("UTF-8")
                .trim()
                .to_owned()
        };
        let key = run(&["init", "--name", name]);
        run(&["add-log", "--origin", origin, "--vkey", log]);
        let serve = [program, "serve", "--listen", "127.0.0.1:0"].map(str::to_owned);
        let environment = [("AICS_WITNESS_CONFIG".to_owned(), configuration.to_owned())];
        let process = Process::start(&serve, &environment, "KILL");
        let deadline = Deadline::seconds(START_SECONDS_MAX);
        let url = process.stderr.wait_for(deadline, |line| {
            let (_, url) = line.split_once("listening on ")?;
            url.split_whitespace().next().map(str::to_owned)
        });
        let url = url.unwrap_or_else(|| panic!("the witness does not start: {}", process.stderr.text()));
        Self {
            client: Client::new(&url),
            process,
            key,
            url,
        }
    }

    fn listening(process: Process) -> Self {
        let deadline = Deadline::seconds(START_SECONDS_MAX);
        let after = |start: &'static str| {
            process
                .stdout
                .wait_for(deadline, |line| line.strip_prefix(start).map(str::to_owned))
                .unwrap_or_else(|| panic!("the witness does not start: {}", process.stderr.text()))
        };
        let (key, url) = (after("witness key: "), after("listening on "));
        Self {
            client: Client::new(&url),
            process,
            key,
            url,
        }
    }

    /// The command line.
    pub fn arguments<'a>(state: &'a Path, logs: &[&'a str]) -> Vec<&'a str> {
        let state = state.to_str().expect("a path in UTF-8");
        let mut arguments = vec![
            "witness",
            "--listen",
            "127.0.0.1:0",
            "--state",
            state,
            "--name",
            NAME,
        ];
        for log in logs {
            arguments.extend(["--log", log]);
        }
        arguments
    }

    /// Asks it to cosign.
    pub fn add(&self, body: &str) -> RawResponse {
        self.client
            .request("POST", "/add-checkpoint")
            .raw(body.as_bytes())
            .send_raw()
    }

    /// The last checkpoint of a log, by the SHA-256 of its origin.
    pub fn checkpoint(&self, origin_hash: &str) -> RawResponse {
        self.client
            .request("GET", &format!("/{origin_hash}/checkpoint"))
            .send_raw()
    }

    /// SIGSTOP, until it stands still: it takes connections, and says nothing.
    pub fn freeze(&self) {
        self.process.stop();
    }

    /// SIGCONT, after [`Self::freeze`].
    pub fn thaw(&self) {
        self.process.signal(Signal::CONT);
    }

    /// Kills it.
    pub fn kill(mut self) {
        self.process.signal(Signal::KILL);
        assert_eq!(
            self.process.wait(Deadline::seconds(START_SECONDS_MAX)),
            Exit::Signal(9)
        );
    }

    /// Stops it.
    pub fn stop(mut self) {
        self.process.signal(Signal::TERM);
        assert_eq!(
            self.process.wait(Deadline::seconds(START_SECONDS_MAX)),
            Exit::Code(0)
        );
    }
}
