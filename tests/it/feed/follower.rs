//! The follower of the documentation, `docs/examples/feed-follower/follow.py`.

use super::{everything, wait_for_waiting};
use audit_tests::{
    Database, DatabaseKind, Deadline, Organization, Server, event, event_with, example, on_both_databases,
    python, run_example, temporary_directory,
};
use serde_json::{Value, json};
use std::fs;
use std::path::Path;
use std::process::{Child, Stdio};

const SCRIPT: &str = "feed-follower/follow.py";

/// The complete lines that the follower has written so far.
fn followed(file: &Path) -> Vec<Value> {
    let text = fs::read_to_string(file).unwrap_or_default();
    let whole = text.rfind('\n').map_or("", |end| &text[..end]);
    let event = |line: &str| serde_json::from_str(line).expect("a line is an event");
    whole.lines().map(event).collect()
}

/// A follower that is killed when the test ends.
struct Running(Child);

impl Running {
    fn kill(&mut self) {
        self.0.kill().expect("kill the follower");
        self.0.wait().expect("the follower is gone");
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.kill();
    }
}

on_both_databases! {
    the_follower_writes_every_event_once_although_it_is_killed,
    the_follower_says_why_it_is_refused,
}

fn the_follower_writes_every_event_once_although_it_is_killed(database: DatabaseKind) {
    let Some(python) = python() else { return };
    let server = Server::start(&Database::create(database), &[]);
    let organization = Organization::create(&server, "enterprise");
    let project = organization.project();
    let file = temporary_directory("follower-").join("events.jsonl");
    let cursor_file = file.with_extension("jsonl.cursor");
    let url = format!("{}/api/v1", server.base_url());
    let arguments = [url.as_str(), file.to_str().expect("UTF-8")];
    let variables = [("AUDIT_KEY", organization.project_key.as_str())];
    let once = [&arguments[..], &["--once"]].concat();

    for _ in 0..3 {
        project.store_all(vec![event(); 100]);
    }
    run_example(&python, SCRIPT, &once, &variables);
    assert_eq!(followed(&file), everything(&project, &[]).0);

    // It receives new events while it waits, and is then killed.
    let mut command = example(&python, SCRIPT, &arguments, &variables);
    let mut running = Running(command.stdin(Stdio::null()).spawn().expect("start the follower"));
    wait_for_waiting(&server, 1);
    let before = fs::read(&cursor_file).expect("a cursor");
    project.store(event_with(json!({"actor": {"name": "é\u{2028}"}})));
    let deadline = Deadline::seconds(60);
    deadline.poll("the follower", || (followed(&file).len() == 301).then_some(()));
    running.kill();

    // As if it had been killed before it wrote the cursor, and in the middle of a line.
    fs::write(&cursor_file, before).expect("write the cursor");
    let mut text = fs::read(&file).expect("the follower's output");
    text.extend_from_slice(b"{\"id\":\"evt_");
    fs::write(&file, text).expect("write half a line");
    project.store(event());
    run_example(&python, SCRIPT, &once, &variables);
    assert_eq!(followed(&file), everything(&project, &[]).0);
    let text = fs::read_to_string(&file).expect("the follower's output");
    assert_eq!(
        text.split('\n').count(),
        303,
        "302 lines, and nothing after the last"
    );
}

fn the_follower_says_why_it_is_refused(database: DatabaseKind) {
    let Some(python) = python() else { return };
    let organization = Organization::fresh(database);
    let url = format!("{}/api/v1", Server::shared(database).base_url());
    let file = temporary_directory("follower-").join("events.jsonl");
    let file = file.to_str().expect("UTF-8");
    for (key, filter, reason) in [
        (
            organization.project_key.as_str(),
            "category=none",
            "validation_error",
        ),
        ("pk_live_x", "category=auth", "invalid_api_key"),
    ] {
        let arguments = [url.as_str(), file, "--filter", filter];
        let output = example(&python, SCRIPT, &arguments, &[("AUDIT_KEY", key)])
            .output()
            .expect("run the follower");
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert!(!output.status.success() && stderr.contains(reason), "{stderr}");
    }
}
