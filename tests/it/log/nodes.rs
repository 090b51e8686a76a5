//! Several writers, and on PostgreSQL several servers, produce one consistent history.

use super::{audit, stop, verify};
use audit_tests::process::Exit;
use audit_tests::{
    Database, DatabaseKind, Organization, Server, event_with, on_both_databases, temporary_directory,
};
use serde_json::json;
use std::thread;

const WRITERS: usize = 6;
const REQUESTS_EACH: usize = 30;

on_both_databases! {
    concurrent_writers_make_one_log,
}

fn concurrent_writers_make_one_log(kind: DatabaseKind) {
    let database = Database::create(kind);
    let count = if kind == DatabaseKind::Postgres { 2 } else { 1 };
    let servers: Vec<Server> = (0..count).map(|_| Server::start(&database, &[])).collect();
    let organization = Organization::create(&servers[0], "enterprise");
    let state = temporary_directory("audit-").join("state");
    let check = |server: &Server| audit(server.base_url(), &organization.project_key, &state, &[]).success();
    thread::scope(|scope| {
        for writer in 0..WRITERS {
            let project = organization.on(&servers[writer % servers.len()]).project();
            scope.spawn(move || {
                for request in 0..REQUESTS_EACH {
                    let event =
                        |place: usize| event_with(json!({"metadata": {"n": [writer, request, place]}}));
                    project.store_all((0..=request % 4).map(event).collect());
                }
            });
        }
        // Every server continues the checkpoints of the others, and verification during writes reports no finding.
        for round in 0..6 {
            let server = &servers[round % servers.len()];
            check(server);
            server.command_line(&["log", "verify"]).success();
        }
    });
    let stored = organization.project().count();
    for server in &servers {
        assert!(check(server).contains(&format!(": {stored} events,")));
    }
    // No server logged a checkpoint that its log does not continue.
    for server in servers {
        let log = stop(server);
        assert!(!log.contains("does not continue"), "{log}");
    }
    assert_eq!(verify(&database).exit, Exit::Code(0));
}
