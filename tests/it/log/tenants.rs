//! `GET /log/completeness` and `GET /log/tenants`: a viewer verifies that no event of its tenant was left out, and learns nothing
//! of other tenants. Independent programs in Python verify the documents and compute the map.

use super::{Case, EVENTS, STATE_DIRECTORY, assert_wrong, audit, stop, text_of, verify};
use audit_domain::ContentHash;
use audit_ledger::{
    Frontier, Hash, HeadKey, InclusionProof, MapPart, SignedCheckpoint, SignedTenantMap, TenantLogs,
    TenantMapKey, TenantPath, TenantProof, TenantSalt, TreeHead, VerifierKey,
};
use audit_tests::process::Exit;
use audit_tests::{
    Client, Database, DatabaseKind, Finished, Organization, Server, Stream, command_line, command_line_on,
    command_line_with, event_with, on_both_databases, python, run, run_python, shared_head_key,
    temporary_directory,
};
use serde_json::{Value, json};
use std::path::PathBuf;
use std::process::Command;

on_both_databases! {
    a_viewer_verifies_that_nothing_was_left_out,
    the_map_is_that_of_the_events,
    every_event_of_a_tenant_is_proved_in_its_log,
    a_viewer_learns_nothing_of_other_tenants,
    a_tenant_without_events_has_a_signed_statement,
    a_tier_that_hides_events_has_no_proofs,
    claimed_events_are_in_the_logs_of_their_tenants,
    a_forged_map_is_found_and_computed_again,
    a_map_that_was_signed_without_an_event_is_found_by_an_auditor,
    maps_continue_after_a_kill,
    a_map_is_not_verified_without_the_encryption_key,
}

fn key(project: &Client) -> String {
    let response = project.get("/log/key").send_raw();
    String::from_utf8(response.bytes)
        .expect("a key")
        .trim_end()
        .to_owned()
}

fn events_of(tenant_id: &str, count: usize) -> Vec<Value> {
    let event = |number| event_with(json!({"tenant_id": tenant_id, "metadata": {"number": number}}));
    (0..count).map(event).collect()
}

fn store(project: &Client, events: &[Value]) -> Vec<String> {
    let batches = events
        .chunks(100)
        .map(|events| project.store_all(events.to_vec()));
    batches.flatten().collect()
}

/// All events of a reader in the order of the feed.
pub(super) fn feed(reader: &Client) -> Vec<Value> {
    let (mut events, mut cursor) = (Vec::new(), None::<String>);
    loop {
        let mut request = reader.get("/events/feed").query("limit", "200");
        if let Some(cursor) = &cursor {
            request = request.query("after", cursor);
        }
        let response = request.send().expect_status(200);
        events.extend(response.list("events"));
        if response["has_more"] == false {
            return events;
        }
        cursor = Some(response.text("cursor"));
    }
}

fn document(reader: &Client) -> Value {
    let response = reader.get("/log/completeness").send().expect_status(200);
    serde_json::from_slice(&response.raw.bytes).expect("JSON")
}

fn text(value: &Value, name: &str) -> String {
    value[name].as_str().expect("text").to_owned()
}

/// The leaf hash of an event whose content hash it has.
fn leaf_of(event: &Value) -> Hash {
    let hash: ContentHash = text(event, "content_hash").parse().expect("a hash");
    Hash::of_event(&hash)
}

fn tenant_proof(document: &Value) -> TenantProof {
    let path = |path: &Value| {
        let hashes = path.as_array().expect("hashes").iter();
        TenantPath::from_base64(hashes.map(|hash| hash.as_str().expect("base64"))).expect("a path")
    };
    TenantProof {
        tenant_id: text(document, "tenant_id"),
        salt: TenantSalt::from_base64(&text(document, "salt")).expect("a salt"),
        log: document
            .get("checkpoint")
            .map(|_| (text(document, "checkpoint"), path(&document["path"]))),
        map: text(document, "map"),
    }
}

/// Verifies a document, and that it has exactly these events.
fn expect_complete(key: &str, document: &Value, events: &[Value]) {
    let key: VerifierKey = key.parse().expect("a key");
    let (_, head) = tenant_proof(document).verify(&[key]).expect("a valid proof");
    assert_eq!(head, head_over(events));
}

fn head_over(events: &[Value]) -> TreeHead {
    let mut tree = Frontier::new();
    for event in events {
        tree.append(leaf_of(event));
    }
    tree.head()
}

/// The documents of a viewer in files: the proof and the events.
struct Files {
    proof: PathBuf,
    events: PathBuf,
}

impl Files {
    fn save(document: &Value, events: &[Value]) -> Self {
        let folder = temporary_directory("completeness-");
        let files = Self {
            proof: folder.join("completeness.json"),
            events: folder.join("events.jsonl"),
        };
        std::fs::write(&files.proof, document.to_string()).expect("write the proof");
        let lines: String = events.iter().map(|event| format!("{event}\n")).collect();
        std::fs::write(&files.events, lines).expect("write the events");
        files
    }

    /// Whether the program of this project and the one of the documentation accept them.
    fn are_accepted(&self, key: &str) -> bool {
        let (proof, events) = (text_of(&self.proof), text_of(&self.events));
        let checked = command_line(&["check", proof, "--events", events, "--key", key]);
        let accepted = checked.exit == Exit::Code(0);
        assert!(
            accepted || checked.stderr.contains("REFUSED: "),
            "{}: {checked:?}",
            self.proof.display()
        );
        if let Some(python) = python() {
            let script = concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/examples/completeness.py");
            let output = run(Command::new(python).args([script, proof, events, key]));
            assert_eq!(output.status.success(), accepted, "{checked:?} {output:?}");
        }
        accepted
    }
}

fn a_viewer_verifies_that_nothing_was_left_out(database: DatabaseKind) {
    let organization = Organization::fresh(database);
    let project = organization.project();
    let mut sent = events_of("acme", 12);
    sent.extend(events_of("other", 20));
    sent.sort_by_key(|event| event["metadata"]["number"].as_u64());
    store(&project, &sent);
    // This tier hides fields: the viewer cannot compute the hashes itself.
    let viewer = organization.viewer("acme", "standard");
    let (key, document, events) = (key(&project), document(&viewer), feed(&viewer));
    assert_eq!(events.len(), 12);
    let files = Files::save(&document, &events);
    assert!(files.are_accepted(&key));
    // Of another tenant, or of another log that the same key signs.
    let log = format!(
        "{}/{}/live",
        key.split('+').next().expect("a name"),
        organization.project_id
    );
    let check = |log: &str, tenant: &str| {
        let arguments = [
            "check",
            text_of(&files.proof),
            "--key",
            &key,
            "--log",
            log,
            "--tenant",
            tenant,
        ];
        command_line(&arguments).exit
    };
    assert_eq!(check(&log, "acme"), Exit::Code(0));
    assert_eq!(check(&log, "other"), Exit::Code(1));
    assert_eq!(check(&log.replace("/live", "/test"), "acme"), Exit::Code(1));
    // The pages have the same events. Sorted by id they are in the order of the log.
    let mut pages: Vec<Value> = viewer.pages(&[("limit", "5")]).concat();
    pages.sort_by_key(|event| text(event, "id"));
    assert!(Files::save(&document, &pages).are_accepted(&key));
    for left_out in 0..events.len() {
        let mut others = events.clone();
        others.remove(left_out);
        assert!(!Files::save(&document, &others).are_accepted(&key), "{left_out}");
    }
    let mut exchanged = events.clone();
    exchanged.swap(3, 4);
    assert!(!Files::save(&document, &exchanged).are_accepted(&key));
    // What is changed in the document is refused.
    for (name, changed) in [
        ("tenant_id", json!("other")),
        ("salt", json!("iNNzqoDxzE1bu4RlR52b2Elc9jVQb5WqhL8292PVz2Y=")),
        ("map", json!(text(&document, "map").replace("T", "t"))),
        (
            "checkpoint",
            json!(text(&document, "checkpoint").replace("\n12\n", "\n11\n")),
        ),
    ] {
        let mut other = document.clone();
        other[name] = changed;
        assert!(!Files::save(&other, &events).are_accepted(&key), "{name}");
    }
    // Newer events do not matter.
    store(&project, &events_of("acme", 1));
    assert!(Files::save(&document, &feed(&viewer)).are_accepted(&key));
}

fn the_map_is_that_of_the_events(database: DatabaseKind) {
    let organization = Organization::fresh(database);
    let project = organization.project();
    for round in 1..4 {
        let numbers = 0..150;
        let event = |number: u64| {
            event_with(json!({"tenant_id": format!("tenant {}", number * number % (30 * round))}))
        };
        store(&project, &numbers.map(event).collect::<Vec<_>>());
        let Some(python) = python() else { return };
        let url = Server::shared(database).base_url();
        let output = run_python(&python, "log_tenant_map.py", &[url, &organization.project_key]);
        assert!(output.status.success(), "{output:?}");
        let said = String::from_utf8_lossy(&output.stdout);
        assert!(said.contains(&format!("of {} events", 150 * round)), "{said}");
    }
}

fn every_event_of_a_tenant_is_proved_in_its_log(database: DatabaseKind) {
    let organization = Organization::fresh(database);
    let project = organization.project();
    let key: VerifierKey = key(&project).parse().expect("a key");
    let viewer = organization.viewer("acme", "full");
    let mut ids = Vec::new();
    for count in [1, 254, 1, 1, 300] {
        store(&project, &events_of("other", 7));
        ids.extend(store(&project, &events_of("acme", count)));
        for (position, id) in ids.iter().enumerate() {
            let is_near_an_end = position % 256 < 2 || position % 256 > 253 || ids.len() - position < 3;
            if !is_near_an_end {
                continue;
            }
            let proof = viewer
                .get(&format!("/events/{id}/proof"))
                .send()
                .expect_status(200);
            assert_eq!(proof["seq"], position);
            let note = proof["checkpoint"].as_str().expect("a note");
            let signed = SignedCheckpoint::open_of_owner(note, &key).expect("a checkpoint");
            let hashes = proof["inclusion"].as_array().expect("hashes").iter();
            let hashes = hashes.map(|hash| hash.as_str().expect("base64"));
            let inclusion = InclusionProof::from_base64(hashes).expect("a proof");
            inclusion
                .verify(position as u64, &leaf_of(&project.event(id)), signed.head())
                .expect("the event is in the log of its tenant");
        }
        let signed = text(&document(&viewer), "checkpoint");
        let size = signed.lines().nth(1).map(str::to_owned);
        assert_eq!(size, Some(ids.len().to_string()));
    }
}

/// The shape of a document: the names of all members, and the lengths of all texts.
fn shape(document: &Value) -> Value {
    match document {
        Value::Object(members) => members
            .iter()
            .filter(|(name, _)| *name != "request_id")
            .map(|(name, value)| (name.clone(), shape(value)))
            .collect(),
        Value::Array(values) => values.iter().map(shape).collect(),
        Value::String(text) => json!(text.len()),
        other => other.clone(),
    }
}

fn a_viewer_learns_nothing_of_other_tenants(database: DatabaseKind) {
    let organization = Organization::fresh(database);
    let project = organization.project();
    let id = store(&project, &events_of("acme", 3))[1].clone();
    let viewer = organization.viewer("acme", "full");
    let read = || {
        let receipt = viewer.get(&format!("/events/{id}/receipt")).send_raw();
        let proof = viewer.get(&format!("/events/{id}/proof")).send_raw();
        let proof: Value = serde_json::from_slice(&proof.bytes).expect("JSON");
        (
            document(&viewer),
            proof,
            String::from_utf8(receipt.bytes).expect("text"),
        )
    };
    let (before, proof_before, receipt_before) = read();
    // Events of many other tenants, and many of one.
    let mut others = events_of("other", 400);
    others.extend((0..200).map(|number| event_with(json!({"tenant_id": format!("tenant {number}")}))));
    store(&project, &others);
    let (after, proof_after, receipt_after) = read();
    assert_eq!(shape(&before), shape(&after));
    for same in ["tenant_id", "salt", "checkpoint"] {
        assert_eq!(before[same], after[same], "{same}");
    }
    // Proof and receipt are the same bytes.
    for same in ["seq", "content_hash", "inclusion", "checkpoint"] {
        assert_eq!(proof_before[same], proof_after[same], "{same}");
    }
    assert_eq!(receipt_before, receipt_after);
    // Nothing but the hashes that blind the others has changed in the note.
    let lines = |document: &Value| text(document, "map").lines().map(str::len).collect::<Vec<_>>();
    assert_eq!(lines(&before), lines(&after));
}

fn a_tenant_without_events_has_a_signed_statement(database: DatabaseKind) {
    let organization = Organization::fresh(database);
    let project = organization.project();
    let viewer = organization.viewer("nobody", "full");
    for count in [0, 3] {
        store(&project, &events_of("acme", count));
        let document = document(&viewer);
        assert!(
            document.get("checkpoint").is_none() && document.get("path").is_none(),
            "{document}"
        );
        expect_complete(&key(&project), &document, &[]);
        assert!(Files::save(&document, &[]).are_accepted(&key(&project)));
    }
    project
        .get("/log/completeness")
        .send()
        .expect_error(400, "validation_error");
    let of_acme = project.get("/log/completeness").query("tenant_id", "acme");
    assert!(
        of_acme
            .send()
            .expect_status(200)
            .text("checkpoint")
            .contains("\n3\n")
    );
}

fn a_tier_that_hides_events_has_no_proofs(database: DatabaseKind) {
    let organization = Organization::fresh(database);
    let id = organization
        .project()
        .store(event_with(json!({"tenant_id": "acme", "category": "auth"})));
    let viewer = organization.viewer("acme", "minimal");
    for path in [
        "/log/completeness".to_owned(),
        format!("/events/{id}/proof"),
        format!("/events/{id}/receipt"),
    ] {
        viewer.get(&path).send().expect_error(403, "forbidden");
    }
    organization
        .viewer("acme", "full")
        .get("/log/tenants")
        .send()
        .expect_error(403, "forbidden");
}

fn claimed_events_are_in_the_logs_of_their_tenants(database: DatabaseKind) {
    let organization = Organization::fresh(database);
    let project = organization.project();
    let stream = Stream::fresh(database);
    stream.store(event_with(json!({"tenant_id": "acme"})));
    store(&project, &events_of("acme", 3));
    let claim = organization.master().post("/streams/claim");
    claim
        .json(json!({"claim_token": stream.token}))
        .send()
        .expect_status(200);
    store(&project, &events_of("acme", 2));
    let viewer = organization.viewer("acme", "full");
    let (document, events) = (document(&viewer), feed(&viewer));
    assert_eq!(events.len(), 6);
    expect_complete(&key(&project), &document, &events);
    assert!(Files::save(&document, &events).are_accepted(&key(&project)));
}

/// A database whose log has 300 events of one tenant and some of another, with a map.
fn mapped_case(database: DatabaseKind) -> Case {
    let case = Case::fresh(database);
    let (server, project) = case.start();
    store(&project, &events_of("acme", 3));
    let organization = case.organization.on(&server);
    document(&organization.viewer("acme", "full"));
    document(&organization.viewer("tenant-1", "full"));
    stop(server);
    case
}

fn a_forged_map_is_found_and_computed_again(database: DatabaseKind) {
    let whole = mapped_case(database);
    whole.expect_sound();
    let blob = |bytes: &[u8]| whole.database.blob(bytes);
    let zeros = blob(&[0; 32]);
    let edits = [
        (
            "size",
            "UPDATE tenant_maps SET size = size - 1 WHERE LEDGER".to_owned(),
        ),
        (
            "root",
            format!("UPDATE tenant_maps SET root = {zeros} WHERE LEDGER"),
        ),
        (
            "frontier",
            format!("UPDATE tenant_maps SET frontier = {} WHERE LEDGER", blob(&[1])),
        ),
        (
            "code",
            format!("UPDATE tenant_maps SET code = {zeros} WHERE LEDGER"),
        ),
        (
            "a tile of the map",
            format!(
                "UPDATE tenant_map_tiles SET children = {} WHERE LEDGER AND depth = 0",
                blob(&[0; 33])
            ),
        ),
        (
            "tiles of the map are removed",
            "DELETE FROM tenant_map_tiles WHERE LEDGER AND depth = 12".to_owned(),
        ),
        (
            "a tenant is removed",
            "DELETE FROM tenant_logs WHERE LEDGER AND tenant_id = 'acme'".to_owned(),
        ),
        (
            "a tenant is renamed",
            "UPDATE tenant_logs SET tenant_id = 'acmf' WHERE LEDGER AND tenant_id = 'acme'".to_owned(),
        ),
        (
            "the log of a tenant",
            format!(
                "UPDATE tenant_logs SET frontier = {} WHERE LEDGER AND tenant_id = 'acme'",
                blob(&one_leaf())
            ),
        ),
        (
            "recent leaves",
            format!(
                "UPDATE tenant_logs SET recent = {} WHERE LEDGER AND tenant_id = 'acme'",
                blob(&[0; 96])
            ),
        ),
        (
            "a tile of a tenant",
            format!(
                "UPDATE tenant_tiles SET hashes = {} WHERE LEDGER",
                blob(&[0; 8_192])
            ),
        ),
        (
            "the tile of a tenant is removed",
            "DELETE FROM tenant_tiles WHERE LEDGER".to_owned(),
        ),
    ];
    for (name, sql) in edits {
        let case = whole.copy();
        case.tamper(&sql);
        let found = verify(&case.database);
        assert_eq!(found.exit, Exit::Code(1), "{name}: {found:?}");
        let (server, project) = case.start();
        let organization = case.organization.on(&server);
        for (tenant_id, count) in [("acme", 3), ("tenant-1", EVENTS)] {
            let viewer = organization.viewer(tenant_id, "full");
            let events = feed(&viewer);
            assert_eq!(events.len(), count);
            for at in [0, count - 1] {
                let path = format!("/events/{}/receipt", text(&events[at], "id"));
                assert_eq!(viewer.get(&path).send_raw().status, 200, "{name}");
            }
            expect_complete(&key(&project), &document(&viewer), &events);
        }
        assert!(server.metric("audit_log_alarms_total") > 0, "{name}");
        stop(server);
        case.expect_sound();
    }
}

/// The encoded edge of a tree of one leaf.
fn one_leaf() -> Vec<u8> {
    let mut tree = Frontier::new();
    tree.append(Hash::of_leaf(b"another"));
    tree.encode()
}

/// The key of the map of a case, which is computed.
pub(super) fn map_key_of(case: &Case) -> TenantMapKey {
    let (server, project) = case.start();
    let shown = project.get("/log/tenants").send().expect_status(200);
    assert_eq!(shown["size"], EVENTS);
    stop(server);
    TenantMapKey::from_base64(&shown.text("key")).expect("a key")
}

/// Whoever has the database and the key of the heads has a map signed that lacks an event.
pub(super) fn forge_map(case: &Case, map_key: &TenantMapKey, lacking: usize) {
    let (mut logs, mut log) = (TenantLogs::default(), Frontier::new());
    for (seq, event) in case.events.iter().enumerate() {
        log.append(leaf_of(event));
        if seq != lacking {
            let label = map_key.label(&text(event, "tenant_id"));
            logs.append(label, None, leaf_of(event));
        }
    }
    let (root, tiles) = MapPart::default().update(map_key, logs.leaves());
    let blob = |bytes: &[u8]| case.database.blob(bytes);
    let tree = logs.get(&map_key.label("tenant-1")).expect("a tenant");
    let recent: Vec<u8> = case.events[257..]
        .iter()
        .flat_map(|event| *leaf_of(event).as_bytes())
        .collect();
    case.tamper(&format!(
        "UPDATE tenant_logs SET frontier = {}, recent = {} WHERE LEDGER",
        blob(&tree.encode()),
        blob(&recent)
    ));
    for (id, tile) in tiles {
        case.tamper(&format!(
            "UPDATE tenant_map_tiles SET children = {} WHERE LEDGER AND depth = {} AND prefix = {}",
            blob(&tile.encode()),
            id.depth,
            id.prefix
        ));
    }
    let mut record = ledger_number(case).to_be_bytes().to_vec();
    record.extend((EVENTS as i64).to_be_bytes());
    record.extend(32_u64.to_be_bytes());
    record.extend(root.as_bytes());
    record.extend(log.encode());
    let code = head_key().code_of_record("audit tenant map 1", &record);
    case.tamper(&format!(
        "UPDATE tenant_maps SET root = {}, code = {} WHERE LEDGER",
        blob(root.as_bytes()),
        blob(&code)
    ));
}

fn a_map_that_was_signed_without_an_event_is_found_by_an_auditor(database: DatabaseKind) {
    let case = Case::fresh(database);
    let map_key = map_key_of(&case);
    forge_map(&case, &map_key, 7);
    let found = verify(&case.database);
    assert_eq!(found.exit, Exit::Code(1), "{found:?}");
    assert!(
        found.stdout.contains("the log of the tenant tenant-1"),
        "{found:?}"
    );
    let (server, project) = case.start();
    let viewer = case.organization.on(&server).viewer("tenant-1", "full");
    let shown = document(&viewer);
    let (key, events) = (key(&project), feed(&viewer));
    // The viewer who reads the event that the map lacks notices it; who does not read it, does not.
    assert!(!Files::save(&shown, &events).are_accepted(&key));
    let mut others = events;
    others.remove(7);
    assert!(Files::save(&shown, &others).are_accepted(&key));
    let audited = |more: &[&str]| -> Finished {
        audit(
            server.base_url(),
            &case.organization.project_key,
            &case.state,
            more,
        )
    };
    let left_out = format!(
        "the tenant tenant-1 has 300 events, and the server signs 299 for it: event 7 ({}) is left out",
        case.ids[7]
    );
    assert_wrong(&audited(&[]), &left_out);
    audited(&["--new-only"]).success();
    // The server repents. What it has shown to the viewer still convicts it.
    case.tamper("DELETE FROM tenant_maps WHERE LEDGER");
    case.tamper("DELETE FROM tenant_logs WHERE LEDGER");
    case.tamper("DELETE FROM tenant_tiles WHERE LEDGER");
    case.tamper("DELETE FROM tenant_map_tiles WHERE LEDGER");
    audited(&[]).success();
    let kept = Files::save(&shown, &[]);
    assert_wrong(
        &audited(&["--tenant-proof", text_of(&kept.proof)]),
        "completeness.json shows is not that of",
    );
    let honest = Files::save(&document(&viewer), &[]);
    audited(&["--tenant-proof", text_of(&honest.proof)]).success();
    let signed = SignedTenantMap::open(&text(&shown, "map"), &[key.parse().expect("a key")]).expect("a map");
    assert_eq!(signed.head().binding, map_key.binding(EVENTS as u64));
}

/// The key that authenticates heads, from the file of the servers.
fn head_key() -> HeadKey {
    let text = std::fs::read_to_string(shared_head_key()).expect("read the head key");
    let bytes = base16ct::lower::decode_vec(text.trim_end()).expect("hexadecimal digits");
    HeadKey::new(&bytes.try_into().expect("32 bytes"))
}

/// The number of the ledger, found bit by bit.
fn ledger_number(case: &Case) -> i64 {
    let is_at_least = |number: i64| {
        let condition = format!(
            "ledgers WHERE project_id = '{}' AND environment = 'live' AND id >= {number}",
            case.organization.project_id
        );
        case.database.count(&condition) == 1
    };
    (0..63).rev().map(|bit| 1_i64 << bit).fold(0, |number, bit| {
        if is_at_least(number + bit) {
            number + bit
        } else {
            number
        }
    })
}

fn maps_continue_after_a_kill(kind: DatabaseKind) {
    let database = Database::create(kind);
    let memory = temporary_directory("memory-");
    let start = || Server::start(&database, &[(STATE_DIRECTORY, text_of(&memory))]);
    let server = start();
    let organization = Organization::create(&server, "enterprise");
    let mut server = Some(server);
    for round in 0..4 {
        let running = server.take().unwrap_or_else(start);
        let organization = organization.on(&running);
        let project = organization.project();
        for part in 0..8 {
            let event = |number: usize| {
                event_with(json!({"tenant_id": format!("tenant {}", (number * 7 + part) % 90)}))
            };
            store(&project, &(0..100).map(event).collect::<Vec<_>>());
            // The map is changed while the server is killed.
            let request = project.get("/log/tenants");
            std::thread::spawn(move || drop(request.try_send()));
        }
        match round {
            3 => server = Some(running),
            _ => {
                running.kill();
                let verified = command_line_on(&database, &["log", "verify"]);
                assert_eq!(verified.exit, Exit::Code(0), "{verified:?}");
            }
        }
    }
    let server = server.expect("a running server");
    let organization = organization.on(&server);
    let project = organization.project();
    let events = feed(&project);
    assert_eq!(events.len(), 3_200);
    for number in [0, 1, 44, 89] {
        let tenant_id = format!("tenant {number}");
        let own: Vec<Value> = events
            .iter()
            .filter(|event| event["tenant_id"] == *tenant_id)
            .cloned()
            .collect();
        let document = document(&organization.viewer(&tenant_id, "full"));
        expect_complete(&key(&project), &document, &own);
    }
    stop(server);
    let verified = command_line_on(&database, &["log", "verify"]);
    assert_eq!(verified.exit, Exit::Code(0), "{verified:?}");
}

fn a_map_is_not_verified_without_the_encryption_key(kind: DatabaseKind) {
    let (database, memory) = (Database::create(kind), temporary_directory("memory-"));
    let key = "000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f";
    let environment = [(STATE_DIRECTORY, text_of(&memory)), ("AUDIT_ENCRYPTION_KEY", key)];
    let server = Server::start(&database, &environment);
    let organization = Organization::create(&server, "enterprise");
    let project = organization.project();
    store(&project, &events_of("acme", 3));
    project.get("/log/tenants").send().expect_status(200);
    let log_key = self::key(&project);
    stop(server);
    let arguments = ["log", "verify", "--verifier-key", &log_key];
    let on_database = [&arguments[..], &["--database-url", database.url()]].concat();
    command_line_with(&on_database, &environment).success();
    // A machine with the public key alone.
    command_line_on(&database, &arguments).success();
}
