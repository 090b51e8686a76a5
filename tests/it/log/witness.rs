//! `audit-server witness`, asked to cosign the logs of a server.

use super::{Case, store_events};
use audit_ledger::{AddCheckpoint, ConsistencyProof, Hash, SignedCheckpoint, VerifierKey, WitnessKey};
use audit_tests::process::Exit;
use audit_tests::{
    Client, DatabaseKind, Organization, Witness, command_line, on_both_databases, temporary_directory,
};
use serde_json::Value;
use sha2::{Digest, Sha256};

on_both_databases! {
    a_log_that_grows_is_cosigned_across_a_kill,
    a_second_history_of_a_log_is_not_cosigned,
    the_protocol_has_a_status_for_each_refusal,
}

fn text(client: &Client, path: &str) -> String {
    let response = client.get(path).send_raw();
    assert_eq!(response.status, 200, "{response:?}");
    String::from_utf8(response.bytes).expect("UTF-8")
}

fn log_key(client: &Client) -> String {
    text(client, "/log/key").trim_end().to_owned()
}

/// The size in a note.
fn size_of(note: &str) -> u64 {
    note.split('\n')
        .nth(1)
        .and_then(|size| size.parse().ok())
        .expect("a size")
}

/// The request for the latest checkpoint of a log whose last cosigned checkpoint has this size.
fn request(client: &Client, old_size: u64) -> AddCheckpoint {
    let checkpoint = text(client, "/log/checkpoint");
    let size = size_of(&checkpoint);
    let hashes: Vec<String> = match old_size {
        0 => Vec::new(),
        _ => {
            let path = format!("/log/consistency?from={old_size}&to={size}");
            let response = client.get(&path).send().expect_status(200);
            let hashes = response["consistency"].as_array().expect("hashes").iter();
            hashes.filter_map(Value::as_str).map(str::to_owned).collect()
        }
    };
    AddCheckpoint {
        old_size,
        consistency: ConsistencyProof::from_base64(hashes).expect("hashes"),
        checkpoint,
    }
}

/// Requests a cosignature of the latest checkpoint. Returns its size.
fn cosign(witness: &Witness, client: &Client, old_size: u64) -> u64 {
    let request = request(client, old_size);
    let response = witness.add(&request.to_string());
    let line = String::from_utf8(response.bytes).expect("UTF-8");
    assert_eq!(response.status, 200, "{line}");
    let key: WitnessKey = witness.key.parse().expect("the key of a witness");
    let cosigned = format!("{}{line}", request.checkpoint);
    assert!(
        key.find(&cosigned)
            .is_some_and(|cosignature| cosignature.time > 1_700_000_000),
        "{cosigned}"
    );
    size_of(&request.checkpoint)
}

fn origin_hash(note: &str) -> String {
    let origin = note.split('\n').next().expect("an origin");
    Sha256::digest(origin)
        .iter()
        .map(|byte| format!("{byte:02x}"))
        .collect()
}

fn a_log_that_grows_is_cosigned_across_a_kill(database: DatabaseKind) {
    let organization = Organization::fresh(database);
    let project = organization.project();
    let (state, log) = (temporary_directory("witness-"), log_key(&project));
    let witness = Witness::start(&state, &[&log]);
    store_events(&project, 3);
    let three = cosign(&witness, &project, 0);
    assert_eq!(three, 3);
    // The same once more: the old size is that of the checkpoint.
    assert_eq!(cosign(&witness, &project, 3), 3);
    let key = witness.key.clone();
    witness.kill();
    let witness = Witness::start(&state, &[&log]);
    assert_eq!(witness.key, key);
    store_events(&project, 300);
    let many = cosign(&witness, &project, 3);
    assert_eq!(many, 303);
    // A log of the same deployment that it has not seen.
    let test = organization.test();
    store_events(&test, 2);
    assert_eq!(cosign(&witness, &test, 0), 2);
    // What monitors read has both signatures.
    let note = text(&project, "/log/checkpoint");
    let response = witness.checkpoint(&origin_hash(&note));
    assert_eq!(
        (response.status, response.header("content-type")),
        (200, Some("text/plain; charset=utf-8"))
    );
    let stored = String::from_utf8(response.bytes).expect("UTF-8");
    let log: VerifierKey = log.parse().expect("a key");
    let signed = SignedCheckpoint::open_of_owner(&stored, &log).expect("a checkpoint");
    assert_eq!(signed.head().size, 303);
    let cosigner: WitnessKey = key.parse().expect("a key");
    assert!(cosigner.find(&stored).is_some(), "{stored}");
    witness.stop();
}

fn a_second_history_of_a_log_is_not_cosigned(database: DatabaseKind) {
    let case = Case::fresh(database);
    let copy = case.copy();
    let (server, one) = case.start();
    let state = temporary_directory("witness-");
    let witness = Witness::start(&state, &[&log_key(&one)]);
    store_events(&one, 5);
    let size = cosign(&witness, &one, 0);
    drop(server);
    let (_server, other) = copy.start();
    store_events(&other, 5);
    let fork = request(&other, size);
    assert_eq!(size_of(&fork.checkpoint), size);
    assert_eq!(witness.add(&fork.to_string()).status, 422);
    // Nor what follows the second history.
    store_events(&other, 1);
    assert_eq!(witness.add(&request(&other, size).to_string()).status, 422);
    let stored = String::from_utf8(witness.checkpoint(&origin_hash(&fork.checkpoint)).bytes);
    assert_eq!(
        size_of(&stored.expect("UTF-8")),
        size,
        "the first history is still the last one"
    );
}

fn the_protocol_has_a_status_for_each_refusal(database: DatabaseKind) {
    let organization = Organization::fresh(database);
    let project = organization.project();
    let (state, log) = (temporary_directory("witness-"), log_key(&project));
    let witness = Witness::start(&state, &[&log]);
    store_events(&project, 3);
    let first = request(&project, 0);
    cosign(&witness, &project, 0);
    store_events(&project, 4);
    let good = request(&project, 3);
    // Another size than that of the last checkpoint.
    let conflict = witness.add(&request(&project, 1).to_string());
    assert_eq!(
        (conflict.status, conflict.header("content-type")),
        (409, Some("text/x.tlog.size"))
    );
    assert_eq!(conflict.bytes, b"3\n");
    assert_eq!(witness.add(&first.to_string()).status, 409);
    let mut proof = good.consistency.hashes().to_vec();
    proof[0] = Hash::of_leaf(b"other");
    for (what, body, status) in [
        ("not a request", "nonsense".to_owned(), 400),
        ("no checkpoint", "old 3\n\nnonsense".to_owned(), 400),
        (
            "an old size above the checkpoint",
            good.to_string().replace("old 3", "old 8"),
            400,
        ),
        (
            "another log",
            good.to_string().replace("\n\naudit-log-", "\n\nother-log-"),
            404,
        ),
        (
            "another text than was signed",
            good.to_string().replace("\n7\n", "\n8\n"),
            403,
        ),
        (
            "another proof",
            AddCheckpoint {
                consistency: ConsistencyProof::from_hashes(proof),
                ..good.clone()
            }
            .to_string(),
            422,
        ),
    ] {
        let response = witness.add(&body);
        assert_eq!(response.status, status, "{what}: {response:?}");
    }
    assert_eq!(witness.checkpoint("nonsense").status, 404);
    assert_eq!(witness.checkpoint(&"0".repeat(64)).status, 404);
    // The refused requests have changed nothing.
    assert_eq!(cosign(&witness, &project, 3), 7);
}

#[test]
fn a_state_has_one_witness_with_one_name() {
    let state = temporary_directory("witness-");
    let log = "sum.golang.org+033de0ae+Ac4zctda0e5eza+HJyk9SxEdh+s3Ux18htTTAD8OuAn8";
    let arguments = Witness::arguments(&state, &[log]);
    let without_name: Vec<&str> = arguments
        .iter()
        .copied()
        .filter(|word| !["--name", "witness.example/w1"].contains(word))
        .collect();
    let refused = command_line(&without_name).refusal();
    assert!(refused.contains("the first start needs --name"), "{refused}");
    let witness = Witness::start(&state, &[log]);
    let refused = command_line(&arguments).refusal();
    assert!(refused.contains("another witness uses"), "{refused}");
    witness.stop();
    let other: Vec<&str> = arguments
        .iter()
        .map(|word| {
            if *word == "witness.example/w1" {
                "other"
            } else {
                *word
            }
        })
        .collect();
    let refused = command_line(&other).refusal();
    assert!(refused.contains("has the name witness.example/w1"), "{refused}");
    std::fs::write(state.join("key"), "witness.example/w1\nnonsense\n").expect("write the key");
    let damaged = command_line(&arguments);
    assert_eq!(damaged.exit, Exit::Code(1), "{damaged:?}");
    assert!(damaged.stderr.contains("is damaged"), "{damaged:?}");
}
