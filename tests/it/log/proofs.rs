//! `GET /events/:id/proof`, `GET /log/consistency`, `GET /log/checkpoint` and `GET /log/key`, verified as by a client.

use super::{leaf_of, live_log, store_events};
use audit_domain::LogName;
use audit_ledger::{
    ConsistencyProof, Frontier, Hash, InclusionProof, Origin, SignedCheckpoint, TreeHead, VerifierKey,
};
use audit_tests::{Client, DatabaseKind, Organization, event, event_with, on_both_databases};
use serde_json::{Value, json};

/// An upper bound: a proof of RFC 9162 has 20 hashes at a million events.
const PROOF_BYTES_MAX: usize = 2_048;

on_both_databases! {
    every_event_is_proved_as_soon_as_it_is_acknowledged,
    an_empty_log_has_a_checkpoint,
    a_proof_is_of_one_log_alone,
    a_viewer_proves_what_it_sees,
    what_is_not_there_has_no_proof,
    every_size_is_consistent_with_every_later_one,
    sizes_that_the_log_never_had_are_refused,
    proofs_and_checkpoints_outlive_a_restart,
}

fn key(client: &Client) -> VerifierKey {
    let response = client.get("/log/key").send_raw();
    assert_eq!(
        (response.status, response.header("content-type")),
        (200, Some("text/plain; charset=utf-8"))
    );
    let text = String::from_utf8(response.bytes).expect("a key in UTF-8");
    text.strip_suffix('\n').expect("a line").parse().expect("a key")
}

fn origin(client: &Client, organization: &Organization, environment: &str) -> Origin {
    let name = format!(
        "{}/{}/{environment}",
        key(client).name().as_str(),
        organization.project_id
    );
    Origin::parse(&name).expect("the name of a log")
}

fn open(client: &Client, organization: &Organization, note: &str) -> TreeHead {
    let origin = origin(client, organization, "live");
    let checkpoint = SignedCheckpoint::open(note, &origin, &[key(client)]);
    *checkpoint.expect("a checkpoint of this log").head()
}

fn checkpoint(client: &Client, organization: &Organization) -> TreeHead {
    let response = client.get("/log/checkpoint").send_raw();
    assert_eq!(
        (response.status, response.header("content-type")),
        (200, Some("text/plain; charset=utf-8"))
    );
    open(
        client,
        organization,
        &String::from_utf8(response.bytes).expect("a note in UTF-8"),
    )
}

fn proof_of(client: &Client, id: &str) -> Value {
    let response = client
        .get(&format!("/events/{id}/proof"))
        .send()
        .expect_status(200);
    assert!(response.raw.bytes.len() <= PROOF_BYTES_MAX, "{response:?}");
    json!({
        "seq": response["seq"], "content_hash": response["content_hash"],
        "inclusion": response["inclusion"], "checkpoint": response["checkpoint"],
    })
}

fn hashes(value: &Value) -> Vec<&str> {
    let hashes = value.as_array().expect("hashes").iter();
    hashes.map(|hash| hash.as_str().expect("base64")).collect()
}

/// Verifies a proof. Returns the position of the event and the size of the log in the proof.
fn verify(client: &Client, organization: &Organization, event: &Value, proof: &Value) -> (u64, u64) {
    let head = open(
        client,
        organization,
        proof["checkpoint"].as_str().expect("a note"),
    );
    assert_eq!(proof["content_hash"], event["content_hash"]);
    let seq = proof["seq"].as_u64().expect("a position");
    let inclusion = InclusionProof::from_base64(hashes(&proof["inclusion"])).expect("hashes");
    inclusion
        .verify(seq, &leaf_of(&live_log(organization), event), &head)
        .expect("the event is in the log");
    (seq, head.size)
}

fn every_event_is_proved_as_soon_as_it_is_acknowledged(database: DatabaseKind) {
    let organization = Organization::fresh(database);
    let project = organization.project();
    let mut stored = 0;
    for count in [1, 1, 3, 250, 1, 1, 300] {
        let ids = store_events(&project, count);
        stored += count as u64;
        for (id, seq) in ids.iter().zip(stored - count as u64..) {
            let is_near_an_end = seq % 256 < 3 || seq % 256 > 252 || stored - seq < 3 || seq % 41 == 0;
            if is_near_an_end {
                let proof = proof_of(&project, id);
                let (proved, size) = verify(&project, &organization, &project.event(id), &proof);
                // The signing thread runs every second, possibly between two batches.
                assert_eq!(proved, seq);
                assert!((seq + 1..=stored).contains(&size), "{size}");
            }
        }
        assert_eq!(checkpoint(&project, &organization).size, stored);
    }
    let response = project
        .post("/events")
        .json(json!([event(), event()]))
        .send()
        .expect_status(201);
    assert_eq!(response["log"], json!({"size": stored + 2}));
}

fn an_empty_log_has_a_checkpoint(database: DatabaseKind) {
    let organization = Organization::fresh(database);
    let head = checkpoint(&organization.project(), &organization);
    assert_eq!(head, TreeHead::of_empty_tree());
}

fn a_proof_is_of_one_log_alone(database: DatabaseKind) {
    let (one, other) = (Organization::fresh(database), Organization::fresh(database));
    let ids = [&one, &other].map(|organization| store_events(&organization.project(), 3)[1].clone());
    let proof = proof_of(&one.project(), &ids[0]);
    let event = one.project().event(&ids[0]);
    verify(&one.project(), &one, &event, &proof);
    // The verifier rejects false proofs.
    let head = open(
        &one.project(),
        &one,
        proof["checkpoint"].as_str().expect("a note"),
    );
    let inclusion = InclusionProof::from_base64(hashes(&proof["inclusion"])).expect("hashes");
    let foreign = leaf_of(&live_log(&other), &other.project().event(&ids[1]));
    assert!(inclusion.verify(1, &foreign, &head).is_err(), "another event");
    assert!(
        inclusion
            .verify(0, &leaf_of(&live_log(&one), &event), &head)
            .is_err(),
        "another position"
    );
    let mut reversed = hashes(&proof["inclusion"]);
    reversed.reverse();
    let reversed = InclusionProof::from_base64(reversed).expect("hashes");
    assert!(
        reversed
            .verify(1, &leaf_of(&live_log(&one), &event), &head)
            .is_err(),
        "other hashes"
    );
    let theirs = proof_of(&other.project(), &ids[1]);
    let note = theirs["checkpoint"].as_str().expect("a note");
    let name = origin(&one.project(), &one, "live");
    assert!(
        SignedCheckpoint::open(note, &name, &[key(&one.project())]).is_err(),
        "another log"
    );
    // Test events have a separate log.
    let test = one.test();
    let id = test.store(event_with(json!({"metadata": {"is_a": "test"}})));
    let proof = proof_of(&test, &id);
    assert_eq!(proof["seq"], 0);
    let name = origin(&test, &one, "test");
    let test_log = LogName::parse(&one.project_id, "test").expect("the name of a log");
    let note = proof["checkpoint"].as_str().expect("a note");
    let head = *SignedCheckpoint::open(note, &name, &[key(&test)])
        .expect("a checkpoint of the test log")
        .head();
    assert_eq!(
        head,
        TreeHead {
            size: 1,
            root: leaf_of(&test_log, &test.event(&id))
        }
    );
    one.project()
        .get(&format!("/events/{id}/proof"))
        .send()
        .expect_error(404, "not_found");
}

fn a_viewer_proves_what_it_sees(database: DatabaseKind) {
    let organization = Organization::fresh(database);
    let project = organization.project();
    let foreign = project.store(event_with(json!({"tenant_id": "other"})));
    let own = project.store(event_with(json!({"tenant_id": "acme"})));
    let viewer = organization.viewer("acme", "full");
    // In the log of the tenant, which tells nothing of the events of others.
    let proof = proof_of(&viewer, &own);
    let note = proof["checkpoint"].as_str().expect("a note");
    let signed = SignedCheckpoint::open_of_owner(note, &key(&project)).expect("a checkpoint");
    let log = origin(&project, &organization, "live");
    let of_tenant = signed.checkpoint().origin().as_str();
    assert!(of_tenant.starts_with(&format!("{log}/tenants/")), "{of_tenant}");
    let leaf = leaf_of(&live_log(&organization), &project.event(&own));
    assert_eq!(*signed.head(), TreeHead { size: 1, root: leaf });
    assert_eq!((&proof["seq"], &proof["inclusion"]), (&json!(0), &json!([])));
    viewer
        .get(&format!("/events/{foreign}/proof"))
        .send()
        .expect_error(404, "not_found");
    for path in ["/log/checkpoint", "/log/key", "/log/tile/0/000.p/1"] {
        let refused = viewer.get(path).send();
        assert_eq!(refused.raw.status, 403, "{path}: {refused:?}");
    }
}

fn what_is_not_there_has_no_proof(database: DatabaseKind) {
    let organization = Organization::fresh(database);
    let project = organization.project();
    project.store(event());
    for id in ["evt_01ARZ3NDEKTSV4RRFFQ69G5FAV", "evt_", "nonsense"] {
        project
            .get(&format!("/events/{id}/proof"))
            .send()
            .expect_error(404, "not_found");
    }
}

fn every_size_is_consistent_with_every_later_one(database: DatabaseKind) {
    let organization = Organization::fresh(database);
    let project = organization.project();
    let ids = store_events(&project, 40);
    let log = live_log(&organization);
    let leaves: Vec<Hash> = ids.iter().map(|id| leaf_of(&log, &project.event(id))).collect();
    let head = |size: u64| {
        let mut frontier = Frontier::new();
        for leaf in &leaves[..size as usize] {
            frontier.append(*leaf);
        }
        frontier.head()
    };
    for (from, to) in [
        (1, 2),
        (1, 40),
        (7, 8),
        (8, 40),
        (13, 37),
        (32, 33),
        (39, 40),
        (40, 40),
        (31, 32),
    ] {
        let request = project
            .get("/log/consistency")
            .query("from", &format!("{from}"))
            .query("to", &format!("{to}"));
        let response = request.send().expect_status(200);
        assert_eq!((&response["from"], &response["to"]), (&json!(from), &json!(to)));
        let proof = ConsistencyProof::from_base64(hashes(&response["consistency"])).expect("hashes");
        proof
            .verify(&head(from), &head(to))
            .unwrap_or_else(|error| panic!("{from} {to}: {error}"));
        let other = TreeHead {
            size: from,
            root: Hash::of_leaf(b"another history"),
        };
        assert!(proof.verify(&other, &head(to)).is_err(), "{from} {to}");
    }
}

fn sizes_that_the_log_never_had_are_refused(database: DatabaseKind) {
    let organization = Organization::fresh(database);
    let project = organization.project();
    store_events(&project, 5);
    for (from, to) in [
        ("3", "6"),
        ("4", "3"),
        ("x", "3"),
        ("-1", "3"),
        ("1", "99999999999999999999"),
    ] {
        let response = project
            .get("/log/consistency")
            .query("from", from)
            .query("to", to)
            .send();
        response.expect_error(400, "validation_error");
    }
    project
        .get("/log/consistency")
        .query("from", "1")
        .send()
        .expect_error(400, "validation_error");
}

fn proofs_and_checkpoints_outlive_a_restart(database: DatabaseKind) {
    let case = super::Case::fresh(database);
    let (server, project) = case.start();
    let organization = case.organization.on(&server);
    let before = checkpoint(&project, &organization);
    let proof = proof_of(&project, &case.ids[270]);
    assert_eq!(
        verify(&project, &organization, &case.events[270], &proof),
        (270, 300)
    );
    let pinned = key(&project);
    super::stop(server);
    let (server, project) = case.start();
    let organization = case.organization.on(&server);
    assert_eq!(
        (key(&project), checkpoint(&project, &organization)),
        (pinned, before)
    );
    assert_eq!(proof_of(&project, &case.ids[270]), proof);
}
