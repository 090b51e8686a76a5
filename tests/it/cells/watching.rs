//! What the operator sees of cells: metrics, readiness and `doctor`.

use super::Deployment;
use audit_tests::{command_line_with, event};
use serde_json::Value;

#[test]
fn a_forged_head_counts_whatever_cell_has_it() {
    let Some(deployment) = Deployment::create() else {
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
        match cell {
            "home" => deployment.database.execute(&forge("public.ledgers")),
            "near" => deployment.database.execute(&forge("cell_near.ledgers")),
            _ => deployment.far.execute(&forge("cell_far.ledgers")),
        }
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
fn doctor_looks_at_the_database_of_every_cell() {
    let Some(deployment) = Deployment::create() else {
        return;
    };
    let doctor = || {
        let report = command_line_with(
            &["doctor", "--json", "--database-url", deployment.database.url()],
            &[],
        );
        let report: Value =
            serde_json::from_str(&report.stdout).unwrap_or_else(|error| panic!("{error}: {report:?}"));
        let of_database = report["checks"].as_array().expect("checks").iter();
        let findings = of_database.filter(|check| check["check"] == "database");
        let findings = findings.flat_map(|check| check["findings"].as_array().expect("findings").clone());
        let problems: Vec<String> = findings.map(|finding| finding["problem"].to_string()).collect();
        problems
    };
    // What is true of the home cell is reported once for the cells in its database.
    let before = doctor();
    assert!(
        !before.iter().any(|problem| problem.contains("cell near")),
        "{before:?}"
    );
    deployment.far.execute(
        "DO $$ BEGIN EXECUTE format('ALTER DATABASE %I SET synchronous_commit = off', current_database()); END $$",
    );
    let found = doctor();
    let expected = "cell far: synchronous_commit is off";
    assert!(
        found.iter().any(|problem| problem.contains(expected)),
        "{found:?}"
    );
    assert_eq!(found.len(), before.len() + 1, "{found:?}");
}
