//! What the operator sees of cells: metrics, readiness and `doctor`.

use super::Cells;
use audit_tests::process::Exit;
use audit_tests::{Client, Deadline, Server, command_line_on, command_line_with, event};
use serde_json::Value;

#[test]
fn a_forged_head_counts_whatever_cell_has_it() {
    let Some(deployment) = Cells::create() else {
        return;
    };
    let server = &deployment.servers[0];
    for (number, cell) in ["home", "near", "far"].into_iter().enumerate() {
        let organization = deployment.organization_in(cell);
        let project = organization.project();
        project.store(event());
        let forge = |table: &str| {
            format!(
                "UPDATE {table} SET size = size + 1 WHERE project_id = '{}'",
                organization.project_id
            )
        };
        let schema = match cell {
            "home" => "public".to_owned(),
            cell => format!("cell_{cell}"),
        };
        deployment.database.execute(&forge(&format!("{schema}.ledgers")));
        let refused = project.post("/events").json(event()).send();
        refused.expect_error(503, "log_stopped");
        let forged = u64::try_from(number + 1).expect("a small number");
        assert_eq!(server.metric("audit_logs_forged"), forged, "{cell}");
        let ready = server
            .client()
            .request("GET", "/readyz")
            .send()
            .expect_status(200);
        assert_eq!(ready["logs_forged"], forged, "{cell}");
    }
}

#[test]
fn doctor_says_once_what_is_true_of_all_cells_of_a_server() {
    let Some(deployment) = Cells::create() else {
        return;
    };
    deployment.database.execute(
        "DO $$ BEGIN EXECUTE format('ALTER DATABASE %I SET synchronous_commit = off', current_database()); END $$",
    );
    let report = command_line_with(
        &["doctor", "--json", "--database-url", deployment.database.url()],
        &[],
    );
    let report: Value =
        serde_json::from_str(&report.stdout).unwrap_or_else(|error| panic!("{error}: {report:?}"));
    let findings = report["checks"].as_array().expect("checks").iter();
    let findings = findings.flat_map(|check| check["findings"].as_array().expect("findings").clone());
    let problems: Vec<String> = findings.map(|finding| finding["problem"].to_string()).collect();
    let is_off = |problem: &&String| problem.contains("synchronous_commit is off");
    assert_eq!(problems.iter().filter(is_off).count(), 1, "{problems:?}");
    assert!(
        !problems.iter().any(|problem| problem.contains("cell near")),
        "{problems:?}"
    );
}

/// A server of Citus fails over and loses its last commits: the cell does not have what the list of projects has, or the reverse.
#[test]
fn what_a_cell_has_lost_is_unavailable_and_never_unknown() {
    let Some(deployment) = Cells::create() else {
        return;
    };
    let organization = deployment.organization_in("far");
    let project = organization.project();
    project.store_all(vec![event(); 3]);
    let viewer_token = organization.viewer_token("tenant-1", "full");
    let created = organization.create_key("live");
    let verify = || command_line_on(&deployment.database, &["log", "verify"]);
    verify().success();

    // Its key alone, and then the project.
    let lose = format!(
        "DELETE FROM cell_far.api_keys WHERE prefix = '{}'",
        &created[..12]
    );
    deployment.database.execute(&lose);
    let restarted = Server::start(&deployment.database, &[]);
    let lost_key = organization.on(&restarted).with_credential(&created);
    lost_key.get("/events").send().expect_error(503, "unavailable");
    organization.on(&restarted).project().find(&[]);
    deployment.database.execute("DROP SCHEMA cell_far CASCADE");
    let restarted = Server::start(&deployment.database, &[]);
    let organization = organization.on(&restarted);
    let project = organization.project();
    let master = organization
        .master()
        .with_header("X-Project-Id", &organization.project_id);
    for client in [&project, &master, &organization.with_credential(&viewer_token)] {
        client.get("/events").send().expect_error(503, "unavailable");
    }
    let refused = project.post("/events").json(event()).send();
    refused.expect_error(503, "unavailable");
    project
        .get("/events/feed")
        .send()
        .expect_error(503, "unavailable");
    assert!(restarted.metric("audit_log_alarms_total") >= 5);
    let refused = verify();
    assert!(
        refused.stdout.contains("its cell does not have the log"),
        "{refused:?}"
    );
    assert_eq!(refused.exit, Exit::Code(1), "{refused:?}");
    let doctor = command_line_with(&["doctor", "--database-url", deployment.database.url()], &[]);
    assert!(
        doctor.stdout.contains("1 projects of the list have no log"),
        "{doctor:?}"
    );
}

/// The server of the home cell fails over and loses its last commits: a cell has a key that the directory does not list.
#[test]
fn a_key_that_the_directory_has_lost_is_refused_by_every_node() {
    let Some(deployment) = Cells::create() else {
        return;
    };
    let organization = deployment.organization_in("far");
    let clients = deployment
        .servers
        .iter()
        .map(|server| organization.on(server).project());
    let clients: Vec<Client> = clients.collect();
    let statuses = || {
        clients
            .iter()
            .map(|client| client.post("/events").json(event()).send().status())
    };
    assert!(statuses().all(|status| status == 201));
    deployment.database.execute("DELETE FROM public.cell_keys");
    deployment.database.end_sessions();
    Deadline::seconds(60).poll("401 from every node", || {
        statuses().all(|status| status == 401).then_some(())
    });
}

#[test]
fn a_log_of_a_project_that_is_not_listed_is_found() {
    let Some(deployment) = Cells::create() else {
        return;
    };
    let organization = deployment.organization_in("far");
    organization.project().store(event());
    let project_id = &organization.project_id;
    deployment.database.execute(&format!(
        "DELETE FROM placements; DELETE FROM cell_keys; DELETE FROM public.projects WHERE id = '{project_id}'"
    ));
    let found = command_line_on(&deployment.database, &["log", "verify"]);
    assert_eq!(found.exit, Exit::Code(1), "{found:?}");
    assert!(
        found
            .stdout
            .contains("the list of projects does not have the project there"),
        "{found:?}"
    );
}
