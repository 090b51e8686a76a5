//! The commands, which work on the database of a running server.

use audit_tests::{
    Database, DatabaseKind, Organization, Server, command_line, command_line_on, event, on_both_databases,
};
use serde_json::{Value, json};

fn text<'a>(value: &'a Value, member: &str) -> &'a str {
    value[member]
        .as_str()
        .unwrap_or_else(|| panic!("no string {member} in {value}"))
}

on_both_databases! {
    org_create_gives_keys_that_work_at_once,
    org_list_shows_every_organization_and_its_plan,
    projects_and_keys_can_be_created,
    another_master_key_can_be_created,
    what_does_not_exist_is_refused,
}

fn org_create_gives_keys_that_work_at_once(database: DatabaseKind) {
    let server = Server::shared(database);
    let created = server
        .command_line(&["org", "create", "--name", "Acme", "--json"])
        .json();
    for member in ["organization_id", "project_id"] {
        assert_eq!(text(&created, member).len(), 36, "{created}");
    }
    assert!(text(&created, "master_key").starts_with("mk_"));
    assert!(text(&created, "project_key").starts_with("pk_live_"));
    let organization = Organization::from_json(server, &created);
    organization.project().store(event());
    organization.master().get("/projects").send().expect_status(200);
    let printed = server
        .command_line(&["org", "create", "--name", "Acme"])
        .success();
    assert!(
        printed.contains("mk_") && printed.contains("pk_live_"),
        "{printed}"
    );
}

fn org_list_shows_every_organization_and_its_plan(database: DatabaseKind) {
    let server = Server::shared(database);
    let created = server
        .command_line(&["org", "create", "--name", "Listed", "--plan", "pro", "--json"])
        .json();
    let id = text(&created, "organization_id");
    let listed = server.command_line(&["org", "list", "--json"]).json();
    let list = listed
        .as_array()
        .or_else(|| listed["organizations"].as_array())
        .expect("a list")
        .clone();
    let own = list
        .iter()
        .find(|organization| organization.to_string().contains(id))
        .expect("it is listed");
    assert_eq!((&own["name"], &own["plan"]), (&json!("Listed"), &json!("pro")));
    let table = server.command_line(&["org", "list"]).success();
    assert!(
        table.contains(id) && table.contains("Listed") && table.contains("pro"),
        "{table}"
    );
    assert!(!table.contains("mk_"));
}

fn projects_and_keys_can_be_created(database: DatabaseKind) {
    let server = Server::shared(database);
    let organization = Organization::fresh(database);
    let arguments = [
        "project",
        "create",
        "--organization",
        &organization.organization_id,
        "--name",
        "Second",
        "--json",
    ];
    let project = server.command_line(&arguments).json();
    let project_id = text(&project, "project_id").to_owned();
    let key = |environment: &[&str]| {
        let arguments = [
            "key",
            "create",
            "--project",
            &project_id,
            "--name",
            "a key",
            "--json",
        ];
        let created = server.command_line(&[&arguments, environment].concat()).json();
        text(&created, "key").to_owned()
    };
    let (live, test) = (key(&[]), key(&["--environment", "test"]));
    assert!(
        live.starts_with("pk_live_") && test.starts_with("pk_test_"),
        "{live} {test}"
    );
    for key in [live, test] {
        organization.with_credential(&key).store(event());
        assert_eq!(organization.with_credential(&key).count(), 1);
    }
    let projects = organization
        .master()
        .get("/projects")
        .send()
        .expect_status(200)
        .list("projects");
    assert!(
        projects
            .iter()
            .any(|project| project["name"] == "Second" && project["id"] == json!(project_id))
    );
}

fn another_master_key_can_be_created(database: DatabaseKind) {
    let organization = Organization::fresh(database);
    let arguments = [
        "master-key",
        "create",
        "--organization",
        &organization.organization_id,
        "--json",
    ];
    let created = Server::shared(database).command_line(&arguments).json();
    let second = text(&created, "master_key");
    assert_ne!(second, organization.master_key);
    organization
        .with_credential(second)
        .get("/projects")
        .send()
        .expect_status(200);
    organization.master().get("/projects").send().expect_status(200);
}

fn what_does_not_exist_is_refused(database: DatabaseKind) {
    let server = Server::shared(database);
    let unknown = "67e55044-10b1-426f-9247-bb680e5fe0c8";
    let cases: [&[&str]; 5] = [
        &["org", "set-plan", unknown, "pro"],
        &["project", "create", "--organization", unknown, "--name", "x"],
        &["key", "create", "--project", unknown, "--name", "x"],
        &["master-key", "create", "--organization", unknown],
        &[
            "org",
            "set-plan",
            &Organization::fresh(database).organization_id,
            "gold",
        ],
    ];
    for arguments in cases {
        server.command_line(arguments).refusal();
    }
}

#[test]
fn a_key_is_created_in_the_only_project_and_revoked_by_the_id_that_was_printed() {
    let database = Database::create(DatabaseKind::Sqlite);
    let run = |arguments: &[&str]| command_line_on(&database, arguments);
    let create = ["key", "create", "--name", "a key"];
    let refusal = run(&create).refusal();
    assert!(refusal.contains("there is no project"), "{refusal}");
    let first = run(&["org", "create", "--name", "First", "--json"]).json();
    let printed = run(&create).success();
    let id = printed.split_whitespace().last().expect("an id");
    run(&["key", "revoke", id]).success();
    let keys = run(&["key", "list", "--project", text(&first, "project_id")]).success();
    let revoked = |line: &str| line.starts_with(id) && line.contains("revoked");
    assert!(keys.lines().any(revoked), "{keys}");
    let second = run(&["org", "create", "--name", "Second", "--json"]).json();
    let refusal = run(&create).refusal();
    for organization in [first, second] {
        assert!(refusal.contains(text(&organization, "project_id")), "{refusal}");
    }
}

#[test]
fn help_names_every_command() {
    let help = command_line(&["--help"]).success();
    for command in [
        "serve",
        "org",
        "project",
        "key",
        "master-key",
        "viewer-secret",
        "import",
        "demo",
        "log",
        "routes",
    ] {
        assert!(help.contains(command), "{command} in {help}");
    }
    let help = command_line(&["log", "--help"]).success();
    for command in ["verify", "audit", "export", "key", "new-name"] {
        assert!(help.contains(command), "{command} in {help}");
    }
    let help = command_line(&["serve", "--help"]).success();
    for word in ["--listen", "AUDIT_LISTEN", "--database-url", "AUDIT_DATABASE_URL"] {
        assert!(help.contains(word), "{word} in {help}");
    }
}
