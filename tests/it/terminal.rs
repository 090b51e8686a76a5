//! Texts of clients on the operator's terminal: no command prints a control character of a name.

use audit_tests::{Database, DatabaseKind, Organization, Server, command_line_on};
use serde_json::json;

/// Clears the screen, retitles the window, moves the cursor, reorders what follows, and ends the line.
const HOSTILE: &str = "a\u{1b}[2J\u{1b}]0;owned\u{7}\u{9b}1A\u{202e}b\r\n~c";

/// Asserts that a terminal shows the text as it is, and that it has the name in its escaped form. `clap` removes the sequences of a
/// terminal that it knows.
fn assert_harmless(what: &str, printed: &str) {
    let active = |character: &char| {
        (character.is_control() && *character != '\n') || matches!(character, '\u{202a}'..='\u{202e}')
    };
    let found: Vec<char> = printed.chars().filter(active).collect();
    assert!(found.is_empty(), "{what}: {found:?} in {printed:?}");
    assert!(printed.contains("\\u{9b}1A"), "{what}: {printed:?} shows no name");
    // No id and no column of a command begins with a tilde: only the rest of the name does.
    let continued = printed.lines().any(|line| line.starts_with('~'));
    assert!(
        !continued,
        "{what}: a name continues on the next line of {printed:?}"
    );
}

#[test]
fn no_command_that_prints_names_passes_their_control_characters_to_the_terminal() {
    let database = Database::create(DatabaseKind::Sqlite);
    let server = Server::start(&database, &[]);
    let organization = Organization::create(&server, "enterprise");
    let project = organization.create_project("p");
    let key = json!({"project_id": project, "type": "project", "name": "k"});
    organization
        .master()
        .post("/keys")
        .json(key)
        .send()
        .expect_status(201);
    server.stop().success();
    // The service takes no such name. An attacker with write access to the database can put one there.
    for table in ["organizations", "projects", "api_keys"] {
        database.execute(&format!("UPDATE {table} SET name = '{HOSTILE}'"));
    }

    let run = |arguments: &[&str]| command_line_on(&database, arguments).success();
    assert_harmless("org list", &run(&["org", "list"]));
    assert_harmless("key list", &run(&["key", "list", "--project", &project]));
    assert_harmless(
        "master-key list",
        &run(&[
            "master-key",
            "list",
            "--organization",
            &organization.organization_id,
        ]),
    );
}

#[test]
fn an_error_and_a_rejected_line_of_an_import_show_control_characters_escaped() {
    let database = Database::create(DatabaseKind::Sqlite);
    let server = Server::start(&database, &[]);
    let organization = Organization::create(&server, "enterprise");
    server.stop().success();
    let refused = command_line_on(&database, &["org", "create", "--plan", HOSTILE, "--name", "x"]).refusal();
    assert_harmless("a refused argument", &refused);
    let file = audit_tests::temporary_directory("import-").join("lines");
    let line = json!({HOSTILE: 1, "action": "a.b"}).to_string();
    std::fs::write(&file, format!("{line}\n")).expect("write a file");
    let path = file.to_str().expect("a path in UTF-8");
    let imported = command_line_on(
        &database,
        &["import", "--project", &organization.project_id, path],
    );
    assert_harmless("a rejected line", &(imported.stdout.clone() + &imported.stderr));
}
