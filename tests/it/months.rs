//! A running server whose clock passes the ends of months.

use audit_tests::{Clock, Database, DatabaseKind, Organization, Server, event_with, on_both_databases};
use serde_json::{Value, json};

on_both_databases! {
    a_server_that_runs_for_a_year_stores_and_reads_every_month,
    a_window_of_one_month_ends_with_the_month,
}

fn keyed(key: &str) -> Value {
    event_with(json!({"action": "a.b", "idempotency_key": key}))
}

fn a_server_that_runs_for_a_year_stores_and_reads_every_month(kind: DatabaseKind) {
    let Some(mut clock) = Clock::at("2026-01-31T23:59:59Z") else {
        return;
    };
    let database = Database::create(kind);
    let nodes = [
        Server::start_at(&database, &[], &clock),
        Server::start_at(&database, &[], &clock),
    ];
    let organization = Organization::create(&nodes[0], "enterprise");
    let projects = nodes.each_ref().map(|server| organization.on(server).project());
    let first = projects[0].store(keyed("k"));
    let mut ids = vec![first.clone()];
    for month in 2..=13 {
        let (year, month) = (2026 + (month - 1) / 12, (month - 1) % 12 + 1);
        // No node created the partition of this month at its start.
        clock.set(&format!("{year}-{month:02}-01T00:00:00Z"));
        for (number, project) in projects.iter().enumerate() {
            ids.push(project.store(keyed(&format!("{year} {month} {number}"))));
        }
        if month == 3 {
            assert_eq!(
                projects[1].store(keyed("k")),
                first,
                "the third month of the window"
            );
        }
    }
    let second = projects[1].store(keyed("k"));
    assert_ne!(second, first);
    assert_eq!(projects[0].store(keyed("k")), second);
    ids.push(second);
    let mut found = projects[0].find_ids(&[("action", "a.b")]);
    found.sort_unstable();
    assert_eq!(found, ids, "ids sort as received");
    for id in &ids {
        projects[1].event(id);
    }
}

fn a_window_of_one_month_ends_with_the_month(kind: DatabaseKind) {
    let Some(mut clock) = Clock::at("2026-02-28T23:59:59.500Z") else {
        return;
    };
    let database = Database::create(kind);
    let window = [("AUDIT_IDEMPOTENCY_WINDOW_MONTHS", "1")];
    let server = Server::start_at(&database, &window, &clock);
    let project = Organization::create(&server, "enterprise").project();
    let first = project.store(keyed("k"));
    assert_eq!(project.store(keyed("k")), first);
    clock.advance_millis(500);
    assert_ne!(project.store(keyed("k")), first);
}
