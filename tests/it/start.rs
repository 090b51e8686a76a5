//! Starting: the first time, again, several at once, and when it cannot.

use audit_tests::{
    Database, DatabaseKind, Organization, Server, assert_settings_refused, command_line, command_line_on,
    command_line_with, event, has_curl, on_both_databases, temporary_directory,
};
use serde_json::{Value, json};
use std::process::Command;
use std::thread;

/// The first word in `text` that starts with `prefix`, up to the first character that cannot be part of a key.
fn word(text: &str, prefix: &str) -> String {
    let start = text
        .find(prefix)
        .unwrap_or_else(|| panic!("no {prefix} in {text}"));
    text[start..]
        .chars()
        .take_while(|character| character.is_ascii_alphanumeric() || *character == '_')
        .collect()
}

/// The printed `curl` command, with its continued lines.
fn curl_command(text: &str) -> String {
    let mut lines = text
        .lines()
        .map(str::trim)
        .skip_while(|line| !line.starts_with("curl "));
    let mut command = String::new();
    loop {
        let line = lines.next().unwrap_or_else(|| panic!("no curl line in {text}"));
        let Some(continued) = line.strip_suffix('\\') else {
            return command + line;
        };
        command.push_str(continued);
    }
}

fn organizations(database: &Database) -> Vec<Value> {
    let listed = command_line_on(database, &["org", "list", "--json"]).json();
    let list = listed.as_array().or_else(|| listed["organizations"].as_array());
    list.unwrap_or_else(|| panic!("no list in {listed}")).clone()
}

on_both_databases! {
    the_first_start_prints_keys_that_work_and_later_ones_none,
    the_printed_curl_line_works_as_printed,
    several_nodes_start_on_one_empty_database,
    what_one_node_changes_another_sees_at_once,
    environment_variables_stand_for_flags,
    a_port_in_use_is_said_clearly,
    a_database_of_a_newer_version_is_left_alone,
    a_server_starts_while_another_process_writes,
}

/// Other nodes write all the time, and SQLite gives its write lock to whoever happens to ask when it is free.
fn a_server_starts_while_another_process_writes(database: DatabaseKind) {
    let database = Database::create(database);
    let organization = {
        let first = Server::start(&database, &[]);
        let organization = Organization::create(&first, "enterprise");
        organization.project().store(event());
        first.kill();
        organization
    };
    let held = match database.kind() {
        DatabaseKind::Sqlite => database.hold(),
        DatabaseKind::Postgres => database.hold_locks("SELECT FROM ledgers FOR UPDATE"),
    };
    let server = Server::start(&database, &[]);
    let project = organization.on(&server).project();
    assert_eq!(project.count(), 1);
    drop(held);
    project.store(event());
}

fn the_first_start_prints_keys_that_work_and_later_ones_none(database: DatabaseKind) {
    let database = Database::create(database);
    let server = Server::start(&database, &[]);
    let printed = server.stdout();
    let (master, project) = (word(&printed, "mk_"), word(&printed, "pk_live_"));
    server.client().with_credential(&project).store(event());
    let projects = server
        .client()
        .with_credential(&master)
        .get("/projects")
        .send()
        .expect_status(200);
    assert_eq!(projects.list("projects")[0]["name"], "default");
    let organizations = organizations(&database);
    assert_eq!(organizations.len(), 1);
    assert!(
        organizations[0].to_string().contains("\"default\"")
            && organizations[0].to_string().contains("enterprise")
    );
    drop(server);
    let again = Server::start(&database, &[]);
    assert!(
        !again.stdout().contains("mk_") && !again.stdout().contains("pk_"),
        "{}",
        again.stdout()
    );
    assert_eq!(again.client().with_credential(&project).count(), 1);
}

#[test]
fn the_first_start_says_what_is_decided_for_good_and_how_to_decide_otherwise() {
    let folder = temporary_directory("decided-");
    let database = Database::in_directory(folder.clone());
    let decided = |environment: &[(&str, &str)]| {
        let server = Server::start(&database, environment);
        let printed = server.stdout();
        server.stop().success();
        let lines = printed
            .lines()
            .skip_while(|line| !line.starts_with("Decided for good"));
        let lines = lines.take_while(|line| !line.starts_with("listening on"));
        let lines: Vec<_> = lines.filter(|line| !line.is_empty()).map(str::to_owned).collect();
        assert!(lines.len() <= 5, "{printed}");
        lines.join("\n")
    };
    let said = decided(&[]);
    let files = format!(
        "delete the files that begin with {}",
        folder.join("audit.db").display()
    );
    for part in [
        files.as_str(),
        "Email",
        "AUDIT_HASH_KEY    not set",
        "AUDIT_SELF_AUDIT  off",
    ] {
        assert!(said.contains(part), "{part}: {said}");
    }
    assert_eq!(decided(&[]), "", "it is decided");
    for entry in std::fs::read_dir(&folder).expect("the files of the database") {
        let path = entry.expect("the files of the database").path();
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        assert!(name.starts_with("audit.db"), "{name}");
        std::fs::remove_file(&path).expect("remove a file");
    }
    let said = decided(&[("AUDIT_HASH_KEY", "a key"), ("AUDIT_SELF_AUDIT", "on")]);
    for part in ["AUDIT_HASH_KEY    set", "AUDIT_SELF_AUDIT  on"] {
        assert!(said.contains(part), "{part}: {said}");
    }
}

fn the_printed_curl_line_works_as_printed(database: DatabaseKind) {
    if !has_curl() {
        return;
    }
    let server = Server::start(&Database::create(database), &[]);
    let command = curl_command(&server.stdout());
    let output = Command::new("sh")
        .args(["-c", &command])
        .output()
        .expect("run a shell");
    let text = String::from_utf8_lossy(&output.stdout);
    let response: Value =
        serde_json::from_str(text.trim()).unwrap_or_else(|error| panic!("{error}: {command}: {text}"));
    assert!(
        response.get("error").is_none() && response["request_id"].is_string(),
        "{command}: {response}"
    );
}

fn several_nodes_start_on_one_empty_database(database: DatabaseKind) {
    let database = Database::create(database);
    let servers: Vec<Server> = thread::scope(|scope| {
        let threads: Vec<_> = (0..3)
            .map(|_| {
                scope.spawn(|| {
                    let state = temporary_directory("state-");
                    let state = state.to_str().expect("a path in UTF-8");
                    Server::start(&database, &[("AUDIT_STATE_DIR", state)])
                })
            })
            .collect();
        threads
            .into_iter()
            .map(|thread| thread.join().expect("every node starts"))
            .collect()
    });
    assert_eq!(
        organizations(&database).len(),
        1,
        "the organization is created once"
    );
    let printed = servers
        .iter()
        .filter(|server| server.stdout().contains("mk_"))
        .count();
    assert_eq!(printed, 1, "one of them prints the keys");
}

fn what_one_node_changes_another_sees_at_once(database: DatabaseKind) {
    let database = Database::create(database);
    let (one, two) = (Server::start(&database, &[]), Server::start(&database, &[]));
    let organization = Organization::create(&one, "enterprise");
    let elsewhere = organization.on(&two);
    let id = elsewhere.project().store(event());
    assert_eq!(organization.project().find_ids(&[]), std::slice::from_ref(&id));
    let key = organization.create_key("live");
    assert_eq!(elsewhere.with_credential(&key).find_ids(&[]), [id]);
    let keys = organization.master().get("/keys").send().list("keys");
    let revoked = keys
        .iter()
        .find(|listed| listed["prefix"] == key[..12])
        .expect("it is listed");
    let path = format!("/keys/{}", revoked["id"].as_str().expect("an id"));
    organization.master().delete(&path).send().expect_status(200);
    elsewhere
        .with_credential(&key)
        .get("/events")
        .send()
        .expect_error(401, "key_revoked");
    organization.create_rule(json!({"type": "pattern", "name": "user", "pattern": "zebra"}));
    let zebra = audit_tests::event_with(json!({"actor": {"name": "zebra"}}));
    let id = elsewhere.project().store(zebra);
    assert_eq!(elsewhere.project().event(&id)["actor"]["name"], "[REDACTED]");
}

fn environment_variables_stand_for_flags(database: DatabaseKind) {
    let database = Database::create(database);
    let environment = [
        ("AUDIT_LISTEN", "127.0.0.1:0"),
        ("AUDIT_DATABASE_URL", database.url()),
    ];
    let server = Server::start_with(&database, &["serve"], &environment);
    server
        .client()
        .request("GET", "/readyz")
        .send()
        .expect_status(200);
    assert_eq!(organizations(&database).len(), 1);
    let listed = command_line_with(&["org", "list", "--json"], &environment[1..]).json();
    assert!(listed.to_string().contains("default"), "{listed}");
}

fn a_port_in_use_is_said_clearly(database: DatabaseKind) {
    let server = Server::start(&Database::create(database), &[]);
    let address = server.base_url().trim_start_matches("http://").to_owned();
    let other = Database::create(database);
    let refusal = command_line_on(&other, &["serve", "--listen", &address]).refusal();
    assert!(refusal.contains(&address), "{refusal}");
    assert_eq!(refusal.lines().count(), 1, "one clear line: {refusal}");
    server
        .client()
        .request("GET", "/healthz")
        .send()
        .expect_status(200);
}

fn a_database_of_a_newer_version_is_left_alone(database: DatabaseKind) {
    let database = Database::create(database);
    let server = Server::start(&database, &[]);
    server.stop().success();
    database.execute("INSERT INTO __diesel_schema_migrations (version) VALUES ('99990101000000')");
    let refusal = command_line_on(&database, &["serve", "--listen", "127.0.0.1:0"]).refusal();
    assert!(refusal.contains("newer"), "{refusal}");
    assert_eq!(refusal.lines().count(), 1, "one clear line: {refusal}");
    let refusal = command_line_on(&database, &["org", "create", "--name", "x", "--json"]).refusal();
    assert!(refusal.contains("newer"), "{refusal}");
}

#[test]
fn a_database_that_cannot_be_reached_is_said_clearly() {
    let file = temporary_directory("file-").join("file");
    std::fs::write(&file, "not a directory, and no database").expect("write a file");
    let inside = format!("sqlite:{}/audit.db", file.display());
    let not_sqlite = format!("sqlite:{}", file.display());
    let urls = [
        inside.as_str(),
        &not_sqlite,
        "postgres://someone:hunter2@127.0.0.1:1/none",
    ];
    for url in urls {
        for command in [&["serve", "--listen", "127.0.0.1:0"][..], &["org", "list"]] {
            let refusal = command_line(&[command, &["--database-url", url]].concat()).refusal();
            assert_eq!(refusal.lines().count(), 1, "one clear line: {refusal}");
            assert!(!refusal.contains("hunter2"), "no password in messages: {refusal}");
        }
    }
}

#[test]
fn a_wrong_command_line_is_refused() {
    let database = Database::create(DatabaseKind::Sqlite);
    let cases: [&[&str]; 8] = [
        &["serve", "--nonsense"],
        &["nonsense"],
        &["serve", "--listen", "nonsense"],
        &["serve", "--listen", "127.0.0.1:99999"],
        &["serve", "--listen"],
        &["org", "create"],
        &["org", "create", "--name", "x", "--plan", "gold"],
        &["key", "create", "--project", "nonsense", "--name", "x"],
    ];
    for arguments in cases {
        let with_database = [arguments, &["--database-url", database.url()]].concat();
        let whole = if arguments.last() == Some(&"--listen") {
            arguments.to_vec()
        } else {
            with_database
        };
        let refusal = command_line(&whole).refusal();
        assert_eq!(refusal.lines().count(), 1, "one clear line: {refusal}");
    }
    for url in ["mysql://localhost/x", "nonsense", "", "sqlite:"] {
        command_line(&["serve", "--listen", "127.0.0.1:0", "--database-url", url]).refusal();
    }
}

#[test]
fn a_wrong_environment_variable_is_refused() {
    assert_settings_refused(&[
        ("AUDIT_DAILY_LIMIT_FREE", "many"),
        ("AUDIT_WRITE_QUEUE_JOBS_MAX", "-1"),
    ]);
}
