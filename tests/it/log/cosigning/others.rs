//! A witness that others wrote (`aics-witness` on PyPI) cosigns our checkpoints, and no second history.

use super::{POLICY, STATE_DIRECTORY, WAIT_SECONDS_MAX, store_events, text_of};
use super::{checkpoint, log_key, policy, size_of, start, with_quorum};
use audit_tests::{
    Database, DatabaseKind, Deadline, Organization, Server, Witness, aics_witness, command_line_on,
    on_both_databases, temporary_directory,
};

on_both_databases! {
    a_witness_that_others_wrote_cosigns_one_history,
}

fn a_witness_that_others_wrote_cosigns_one_history(kind: DatabaseKind) {
    let Some(program) = aics_witness() else { return };
    let database = Database::create(kind);
    let key = log_key(&database);
    let create = ["org", "create", "--name", "a", "--plan", "enterprise", "--json"];
    let created = command_line_on(&database, &create).json();
    let (name, project_id) = (key.split('+').next(), created["project_id"].as_str());
    let origin = format!("{}/{}/live", name.expect("a name"), project_id.expect("an id"));
    let witness = Witness::of_aics(&program, "witness.example/aics", (&origin, &key));
    let policy = policy(&[(&witness.key, &witness.url)], 1);
    let server = start(&database, &policy);
    let organization = Organization::from_json(&server, &created);
    store_events(&organization.project(), 3);
    assert_eq!(size_of(&with_quorum(&organization.project())), 3);
    super::super::stop(server);
    let backup = database.copy();
    let server = start(&database, &policy);
    let project = organization.on(&server).project();
    store_events(&project, 300);
    assert_eq!(size_of(&with_quorum(&project)), 303);
    super::super::stop(server);
    // A restored backup, on a machine that remembers no checkpoint, grows to another history.
    let memory = temporary_directory("memory-");
    let server = Server::start(
        &backup,
        &[(POLICY, text_of(&policy)), (STATE_DIRECTORY, text_of(&memory))],
    );
    let project = organization.on(&server).project();
    store_events(&project, 310);
    let refused = "audit_witness_requests_total{outcome=\"refused\"}";
    Deadline::seconds(WAIT_SECONDS_MAX).poll("a refusal", || (server.metric(refused) > 0).then_some(()));
    assert_eq!(size_of(&checkpoint(&project, "?cosigned=true").0), 3);
    super::super::stop(server);
    witness.stop();
}
