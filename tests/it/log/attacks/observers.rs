//! What the observers of a log say of it. Each has only what it had before the attack.

use super::super::audit as run_audit;
use super::{KEYED, PARTIAL, TILED, Target};
use audit_domain::ContentHash;
use audit_ledger::{
    ConsistencyProof, Frontier, Hash, InclusionProof, SignedCheckpoint, TenantPath, TenantProof, TenantSalt,
    TreeHead, VerifierKey,
};
use audit_tests::process::Exit;
use audit_tests::{Client, Server, content_hash};
use serde_json::{Value, json};

/// What was noticed of one edit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Observation {
    pub(super) verify: bool,
    pub(super) audit: bool,
    pub(super) witness: bool,
    pub(super) client: bool,
    /// The log takes no events.
    pub(super) is_refused: bool,
    /// The server shows all events as they were.
    pub(super) is_intact: bool,
}

impl Observation {
    /// Whether the operator or an auditor has noticed something.
    pub(super) const fn is_noticed(&self) -> bool {
        self.verify || self.audit
    }

    /// Of a log that nobody edits.
    pub(super) const fn sound() -> Self {
        Self {
            verify: false,
            audit: false,
            witness: false,
            client: false,
            is_refused: false,
            is_intact: true,
        }
    }
}

fn key(text: &str) -> VerifierKey {
    text.parse().expect("a key")
}

fn head(note: &str, key: &VerifierKey) -> Option<TreeHead> {
    Some(*SignedCheckpoint::open_of_owner(note, key).ok()?.head())
}

fn texts(value: &Value) -> Vec<String> {
    let texts = value.as_array().into_iter().flatten().filter_map(Value::as_str);
    texts.map(str::to_owned).collect()
}

/// Writes the state of an auditor that has seen the checkpoint of the target.
pub(super) fn auditor_state(target: &Target, log_key: &str) {
    let mut tree = Frontier::new();
    for leaf in target.case.leaves() {
        tree.append(leaf);
    }
    assert_eq!(Some(tree.head()), head(&target.note, &key(log_key)));
    let edge: Vec<String> = tree.edge().map(|(_, hash)| hash.to_string()).collect();
    let state = json!({
        "version": 1, "key": log_key, "rotations": "", "log": target.note.lines().next(), "checkpoint": target.note,
        "edge": edge, "cursor": null,
    });
    std::fs::write(&target.case.state, state.to_string()).expect("write the state of an auditor");
}

/// Whether `log audit` finds something. It must come to a result.
pub(super) fn audit(target: &Target, server: &Server) -> bool {
    let finished = run_audit(
        server.base_url(),
        &target.case.organization.project_key,
        &target.case.state,
        &[],
    );
    match finished.exit {
        Exit::Code(0) => false,
        Exit::Code(1) => true,
        _ => panic!("no result: {finished:?}"),
    }
}

/// What a witness and a client notice.
pub(super) fn outside(target: &Target, project: &Client, log_key: &str) -> (bool, bool) {
    let log_key = key(log_key);
    (
        !is_cosigned(target, project, &log_key),
        !is_proved(target, project, &log_key),
    )
}

/// Whether a witness of the last checkpoint accepts the latest one.
fn is_cosigned(target: &Target, project: &Client, log_key: &VerifierKey) -> bool {
    let last = head(&target.note, log_key).expect("a checkpoint");
    let shown = project.get("/log/checkpoint").send_raw();
    let note = String::from_utf8(shown.bytes).expect("UTF-8");
    let Some(latest) = head(&note, log_key).filter(|latest| shown.status == 200 && latest.size >= last.size)
    else {
        return false;
    };
    let path = format!("/log/consistency?from={}&to={}", last.size, latest.size);
    let hashes = match latest.size == last.size {
        true => Vec::new(),
        false => {
            let response = project.get(&path).send();
            if response.status() != 200 {
                return false;
            }
            texts(&response["consistency"])
        }
    };
    let proof = ConsistencyProof::from_base64(hashes).expect("hashes");
    last.check_successor(&latest, &proof).is_ok()
}

/// Whether a client that has the ids and hashes of its events gets them with valid proofs, and those of a tenant are complete.
fn is_proved(target: &Target, project: &Client, log_key: &VerifierKey) -> bool {
    let events = &target.case.events;
    let of_events = [TILED, KEYED, PARTIAL, events.len() - 1];
    of_events
        .into_iter()
        .all(|seq| is_event_proved(target, project, log_key, seq))
        && is_complete(events, project, log_key)
}

fn is_event_proved(target: &Target, project: &Client, log_key: &VerifierKey, seq: usize) -> bool {
    let (id, sent) = (&target.case.ids[seq], &target.case.events[seq]);
    let (event, proof) = (
        project.get(&format!("/events/{id}")).send(),
        project.get(&format!("/events/{id}/proof")).send(),
    );
    if (event.status(), proof.status()) != (200, 200) {
        return false;
    }
    let log = format!("{}/live", target.case.organization.project_id);
    let is_same = event["event"]["content_hash"] == sent["content_hash"]
        && content_hash(&event["event"], &log) == sent["content_hash"];
    let leaf = Hash::of_event(&hash_of(&proof["content_hash"]));
    let inclusion = InclusionProof::from_base64(texts(&proof["inclusion"])).expect("hashes");
    let head = head(proof["checkpoint"].as_str().unwrap_or_default(), log_key);
    let is_included = head.is_some_and(|head| inclusion.verify(seq as u64, &leaf, &head).is_ok());
    is_same && proof["content_hash"] == sent["content_hash"] && proof["seq"] == seq && is_included
}

fn hash_of(value: &Value) -> ContentHash {
    value.as_str().and_then(|text| text.parse().ok()).expect("a hash")
}

/// Whether a signed map says that the tenant `acme` has exactly its events: none was added since.
fn is_complete(events: &[Value], project: &Client, log_key: &VerifierKey) -> bool {
    let response = project.get("/log/completeness").query("tenant_id", "acme").send();
    if response.status() != 200 {
        return false;
    }
    let document = response.body();
    let text = |name: &str| document[name].as_str().unwrap_or_default().to_owned();
    let path = TenantPath::from_base64(texts(&document["path"]));
    let salt = TenantSalt::from_base64(&text("salt"));
    let (Ok(path), Ok(salt)) = (path, salt) else {
        return false;
    };
    let proof = TenantProof {
        tenant_id: text("tenant_id"),
        salt,
        log: Some((text("checkpoint"), path)),
        map: text("map"),
    };
    let mut tree = Frontier::new();
    for event in events.iter().filter(|event| event["tenant_id"] == "acme") {
        tree.append(Hash::of_event(&hash_of(&event["content_hash"])));
    }
    let verified = proof.verify(std::slice::from_ref(log_key));
    verified.is_ok_and(|(_, head)| head == tree.head())
}

/// Whether the server still lists every event with its content.
pub(super) fn is_intact(target: &Target, project: &Client) -> bool {
    let mut cursor = None::<String>;
    let mut shown = std::collections::HashMap::new();
    loop {
        let mut request = project.get("/events").query("limit", "200");
        if let Some(cursor) = &cursor {
            request = request.query("cursor", cursor);
        }
        let response = request.send();
        if response.status() != 200 {
            return false;
        }
        for event in response.list("events") {
            shown.insert(event["id"].to_string(), event);
        }
        cursor = response["cursor"].as_str().map(str::to_owned);
        if cursor.is_none() {
            break;
        }
    }
    let mut events = target.case.events.iter();
    events.all(|event| shown.get(&event["id"].to_string()) == Some(event))
}
