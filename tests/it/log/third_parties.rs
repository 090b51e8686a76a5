//! Independent libraries verify the log: PyPI `pymerkle` and `rfc8785`, Go's `sumdb/note` and `sumdb/tlog`.

use super::{Case, canonical, quoted, store_events};
use audit_tests::{
    DatabaseKind, Organization, Server, build_go, event_with, go, on_both_databases, python, run,
    run_log_sumdb, run_python, temporary_directory,
};
use serde_json::json;
use std::process::{Command, Output};

/// Log sizes: one event, a subtree, a full tile, and two full tiles with a partial one.
const SIZES: [usize; 4] = [1, 8, 256, 530];

on_both_databases! {
    pymerkle_agrees_with_the_log,
    go_agrees_with_the_log,
    both_refuse_a_log_that_was_changed,
    the_programs_of_the_documentation_check_an_event,
}

fn assert_agrees(output: &Output, size: usize) {
    assert!(output.status.success(), "{output:?}");
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(said.contains(&format!("{size} events included")), "{said}");
}

fn agree(database: DatabaseKind, run: impl Fn(&[&str]) -> Output) {
    for size in SIZES {
        let organization = Organization::fresh(database);
        let project = organization.project();
        project.store(event_with(json!({
            "actor": {"name": "Zoë \u{1f600} \u{fb33}", "email": "zoe@example.com"},
            "metadata": {"\u{1f600}": 1, "\u{fb33}": 1.5e-9, "e": [1e21, 0.1, -0.0, null, true], "": {}},
        })));
        store_events(&project, size - 1);
        let url = Server::shared(database).base_url();
        assert_agrees(&run(&[url, &organization.project_key]), size);
    }
}

fn pymerkle_agrees_with_the_log(database: DatabaseKind) {
    if let Some(python) = python() {
        agree(database, |arguments| {
            run_python(&python, "log_pymerkle.py", &[&["server"], arguments].concat())
        });
    }
}

fn go_agrees_with_the_log(database: DatabaseKind) {
    if let Some(go) = go() {
        agree(database, |arguments| run_log_sumdb(&go, arguments));
    }
}

fn both_refuse_a_log_that_was_changed(database: DatabaseKind) {
    let (Some(python), Some(go)) = (python(), go()) else {
        return;
    };
    let case = Case::fresh(database);
    let run = |case: &Case| {
        let (server, _) = case.start();
        let arguments = [server.base_url(), &case.organization.project_key];
        let script = run_python(
            &python,
            "log_pymerkle.py",
            &[&["server"], arguments.as_slice()].concat(),
        );
        [script, run_log_sumdb(&go, &arguments)]
    };
    for output in run(&case) {
        assert_agrees(&output, case.ids.len());
    }
    let mut event = case.events[17].clone();
    event["actor"]["id"] = json!("somebody else");
    let text = canonical(&event);
    case.tamper(&format!(
        "UPDATE events SET body = {}, content_hash = {} WHERE LEDGER AND seq = 17",
        quoted(&text),
        case.hash_literal(&event)
    ));
    for output in run(&case) {
        assert!(!output.status.success(), "{output:?}");
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(
            said.contains(&case.ids[17]) || said.contains("State does not match"),
            "{said}"
        );
    }
}

const DOCUMENTATION: &str = include_str!("../../../docs/ledger.md");

/// The only program of the documentation in this language.
fn documented(language: &str) -> &'static str {
    let (_, program) = DOCUMENTATION
        .split_once(&format!("\n```{language}\n"))
        .expect("the documentation contains a program");
    program.split_once("\n```\n").expect("the code block ends").0
}

fn the_programs_of_the_documentation_check_an_event(database: DatabaseKind) {
    let (Some(python), Some(go)) = (python(), go()) else {
        return;
    };
    let organization = Organization::fresh(database);
    let project = organization.project();
    let ids = store_events(&project, 7);
    let folder = temporary_directory("documented-");
    let save = |name: &str, bytes: &[u8]| std::fs::write(folder.join(name), bytes).expect("write a file");
    for (name, path) in [
        ("event.json", format!("/events/{}", ids[5])),
        ("proof.json", format!("/events/{}/proof", ids[5])),
        ("key.txt", "/log/key".to_owned()),
    ] {
        save(name, &project.get(&path).send_raw().bytes);
    }
    save("check.py", documented("python").as_bytes());
    save("check.go", documented("go").as_bytes());
    let program = build_go(&go, &folder.join("check.go"));
    let check = || {
        let script = run(Command::new(&python).arg("check.py").current_dir(&folder));
        [script, run(Command::new(&program).current_dir(&folder))]
    };
    for output in check() {
        assert!(output.status.success(), "{output:?}");
        let said = String::from_utf8_lossy(&output.stdout);
        assert!(said.starts_with("event 5 is one of the 7 in the log"), "{said}");
    }
    // The same proof with the position of the preceding event.
    let proof = std::fs::read_to_string(folder.join("proof.json")).expect("read the proof");
    save("proof.json", proof.replace("\"seq\":5", "\"seq\":4").as_bytes());
    for output in check() {
        assert!(!output.status.success(), "{output:?}");
    }
}
