//! A project of another cell is archived there, and in the list of the home cell.

use super::Cells;
use audit_tests::{Deadline, Stream, claim_token, event, event_with};
use serde_json::{Value, json};

const ARCHIVED: &str = "projects WHERE archived_at IS NOT NULL";
const BLOCKED: &str = "pg_stat_activity WHERE wait_event_type = 'Lock' AND datname = current_database()";

#[test]
fn a_project_of_a_cell_is_archived_there_and_in_the_list() {
    let Some(deployment) = Cells::create() else {
        return;
    };
    for cell in ["home", "near", "far"] {
        let organization = deployment.organization_in(cell);
        let elsewhere = organization.on(&deployment.servers[1]);
        // Both servers have cached it.
        elsewhere.project().store(event());
        let keyed = event_with(json!({"idempotency_key": "k"}));
        organization.project().store(keyed.clone());
        let stream = Stream::of(&deployment.servers[0].client()).with_token(&claim_token());
        stream.store_all(vec![event(), event()]);
        let repeated = stream.with_token(&claim_token());
        repeated.store(keyed);
        let path = format!("/projects/{}", organization.project_id);
        let archive = |is_archived: bool| {
            let change = json!({"archived": is_archived});
            let response = organization.master().patch(&path).json(change).send();
            response.expect_status(200)["project"].clone()
        };
        let list = |archived: &str| -> Vec<Value> {
            let request = elsewhere.master().get("/projects").query("archived", archived);
            request.send().expect_status(200).list("projects")
        };
        let before = list("false");
        let archived = archive(true);
        assert!(archived["archived_at"].is_string(), "{cell}: {archived}");
        for organization in [&organization, &elsewhere] {
            let refused = organization.project().post("/events").json(event()).send();
            refused.expect_error(403, "project_archived");
            for stream in [&stream, &repeated] {
                let claim = stream.claim(&organization.master()).send();
                claim.expect_error(403, "project_archived");
            }
            assert_eq!(organization.project().count(), 2);
        }
        assert_eq!(stream.state(), ("active".to_owned(), 2), "{cell}");
        assert_eq!(repeated.state(), ("active".to_owned(), 1), "{cell}");
        assert_eq!(list("false"), [] as [Value; 0], "{cell}");
        assert_eq!(list("true"), std::slice::from_ref(&archived), "{cell}");
        assert_eq!(elsewhere.master().one(&path, "project"), archived, "{cell}");
        assert_eq!(archive(false), before[0], "{cell}");
        assert_eq!((list("false"), list("true")), (before, Vec::new()), "{cell}");
        elsewhere.project().store(event());
        assert_eq!(stream.move_to(&elsewhere.master()), 2, "{cell}");
        assert_eq!(repeated.move_to(&elsewhere.master()), 0, "{cell}");
    }
    assert_eq!(deployment.rows("open_claims"), [0, 0, 0]);
}

/// The list is changed after the cell. A change that was interrupted between the two is completed by its repetition.
#[test]
fn an_interrupted_archiving_is_completed_by_its_repetition() {
    let Some(deployment) = Cells::create() else {
        return;
    };
    let organization = deployment.organization_in("far");
    let path = format!("/projects/{}", organization.project_id);
    let archive = || {
        let request = organization.master().patch(&path).json(json!({"archived": true}));
        request.send().expect_status(200)["project"].clone()
    };
    let archived = archive();
    deployment
        .database
        .execute("UPDATE public.projects SET archived_at = NULL");
    assert_eq!(archive(), archived);
    let listed = organization.master().get("/projects").query("archived", "true");
    assert_eq!(listed.send().expect_status(200).list("projects"), [archived]);
}

/// Of two changes, the one that the cell committed first may be the later one in the list. It then takes the state of the cell.
#[test]
fn the_list_has_the_state_of_the_cell_after_changes_that_overtake_each_other() {
    let Some(deployment) = Cells::create() else {
        return;
    };
    let organization = deployment.organization_in("far");
    let path = format!("/projects/{}", organization.project_id);
    let held = deployment
        .database
        .hold_locks("SELECT FROM public.organizations FOR NO KEY UPDATE");
    std::thread::scope(|scope| {
        let archived = scope.spawn(|| {
            let request = organization.master().patch(&path).json(json!({"archived": true}));
            request.send()
        });
        Deadline::seconds(60).poll("the list is to be changed", || {
            let is_in_cell = deployment.rows(ARCHIVED) == [0, 0, 1];
            let is_blocked = deployment.database.count(BLOCKED) > 0;
            (is_in_cell && is_blocked).then_some(())
        });
        // What another change has committed in the cell.
        deployment
            .database
            .execute("UPDATE cell_far.projects SET archived_at = NULL");
        drop(held);
        archived.join().expect("a response").expect_status(200);
    });
    assert_eq!(deployment.rows(ARCHIVED), [0, 0, 0]);
}

/// A claim that waits for its stream meanwhile is refused: the response of the archiving says that nothing is stored any more.
#[test]
fn a_claim_that_has_not_begun_when_the_project_is_archived_is_refused() {
    let Some(deployment) = Cells::create() else {
        return;
    };
    let organization = deployment.organization_in("far");
    let elsewhere = organization.on(&deployment.servers[1]);
    // Both servers have opened the cell.
    elsewhere.project().store(event());
    let stream = Stream::of(&deployment.servers[0].client()).with_token(&claim_token());
    stream.store_all(vec![event(), event()]);
    let path = format!("/projects/{}", organization.project_id);
    let held = deployment
        .database
        .hold_locks("SELECT FROM public.streams FOR UPDATE");
    std::thread::scope(|scope| {
        let claim = scope.spawn(|| stream.claim(&organization.master()).send());
        Deadline::seconds(60).poll("the claim waits for its stream", || {
            (deployment.database.count(BLOCKED) > 0).then_some(())
        });
        let archived = elsewhere.master().patch(&path).json(json!({"archived": true}));
        archived.send().expect_status(200);
        drop(held);
        let claim = claim.join().expect("a response");
        claim.expect_error(403, "project_archived");
    });
    assert_eq!(stream.state(), ("active".to_owned(), 2));
    assert_eq!(deployment.rows("open_claims"), [0, 0, 0]);
    assert_eq!(organization.project().count(), 1);
}

/// A stream that is marked for a claim is the project's: its events are stored although the project was archived meanwhile.
#[test]
fn a_claim_that_began_before_the_project_was_archived_is_completed() {
    let Some(deployment) = Cells::create() else {
        return;
    };
    let organization = deployment.organization_in("far");
    let stream = Stream::of(&deployment.servers[0].client()).with_token(&claim_token());
    stream.store_all(vec![event(), event()]);
    let path = format!("/projects/{}", organization.project_id);
    let archived = organization.master().patch(&path).json(json!({"archived": true}));
    archived.send().expect_status(200);
    deployment.database.execute(&format!(
        "INSERT INTO open_claims (token_hash, project_id, environment, claimed_at)
             SELECT token_hash, '{}', 'live', created_at - 3600000000 FROM streams;
         UPDATE streams SET claimed_at = created_at",
        organization.project_id
    ));
    Deadline::seconds(60).poll("a server completes the claim", || {
        (deployment.rows("open_claims") == [0, 0, 0]).then_some(())
    });
    assert_eq!(organization.project().count(), 2);
    assert_eq!(stream.state().0, "claimed");
    let refused = organization.project().post("/events").json(event()).send();
    refused.expect_error(403, "project_archived");
}
