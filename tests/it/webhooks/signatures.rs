//! Signatures, verified by an independent implementation of the specification and by its published library.

use audit_tests::{
    DatabaseKind, Received, Reply, Subscription, assert_signed, door_opened, on_both_databases, python,
    signatures, verify_with_library,
};

/// Actor ids with special characters; all of them appear in the signed body.
const ACTORS: [&str; 4] = ["actor-1", "Zoë \u{1f6aa} \"quoted\" \\", "a\nb\tc\u{1}", "日本語"];

on_both_databases! {
    every_delivery_has_one_signature_with_the_secret,
    a_retry_has_a_new_signature_of_the_same_message,
    after_a_rotation_both_secrets_sign,
    the_published_library_accepts_every_delivery,
}

fn every_delivery_has_one_signature_with_the_secret(database: DatabaseKind) {
    let subscription = Subscription::fresh(database);
    let project = subscription.organization.project();
    project.store_all(ACTORS.map(door_opened).to_vec());
    for request in subscription.wait_for(ACTORS.len()) {
        assert_signed(&request, &[subscription.secret()]);
    }
}

fn a_retry_has_a_new_signature_of_the_same_message(database: DatabaseKind) {
    let subscription = Subscription::fresh(database);
    subscription.reply([Reply::Status(500), Reply::Status(200)]);
    let alert = subscription.organization.raise_alert();
    subscription.wait_for(1);
    // A later change of the alert does not change the message.
    subscription.organization.project().move_alert(&alert, "resolved");
    let requests = subscription.wait_for(2);
    let timestamp = |request: &Received| -> i64 {
        let timestamp = request.header("webhook-timestamp");
        timestamp.parse().expect("seconds")
    };
    assert!(
        timestamp(&requests[1]) > timestamp(&requests[0]),
        "the timestamp is that of the attempt, not of the alert"
    );
    assert_ne!(signatures(&requests[0]), signatures(&requests[1]));
    assert_eq!(requests[0].message_id(), requests[1].message_id());
    assert_eq!(requests[0].body, requests[1].body);
    for request in &requests {
        assert_signed(request, &[subscription.secret()]);
    }
}

fn after_a_rotation_both_secrets_sign(database: DatabaseKind) {
    let subscription = Subscription::fresh(database);
    let rotated = subscription.master.rotate_secret(&subscription.webhook);
    let newest = rotated["secret"].as_str().expect("a secret");
    subscription.organization.raise_alert();
    let request = subscription.wait_for(1).remove(0);
    assert_signed(&request, &[newest, subscription.secret()]);
    subscription.master.test_webhook(&subscription.webhook);
    let request = subscription.wait_for(2).remove(1);
    assert_signed(&request, &[newest, subscription.secret()]);
    let other = subscription
        .organization
        .create_webhook(&subscription.receiver.url("/other"));
    subscription.master.test_webhook(&other);
    let request = subscription.receiver.first("/other");
    assert_signed(&request, &[other["secret"].as_str().expect("a secret")]);
}

fn the_published_library_accepts_every_delivery(database: DatabaseKind) {
    let Some(python) = python() else { return };
    let subscription = Subscription::fresh(database);
    let old = subscription.secret();
    let project = subscription.organization.project();
    subscription.reply([Reply::Status(500), Reply::Status(200)]);
    project.store(door_opened("actor-1"));
    subscription.wait_for(2);
    project.store_all(ACTORS.map(door_opened).to_vec());
    subscription.wait_for(2 + ACTORS.len());
    let before = subscription.wait_for(2 + ACTORS.len());
    let rotated = subscription.master.rotate_secret(&subscription.webhook);
    let new = rotated["secret"].as_str().expect("a secret");
    project.store(door_opened("actor-1"));
    subscription.wait_for(before.len() + 1);
    subscription.master.test_webhook(&subscription.webhook);
    let after = subscription.wait_for(before.len() + 2).split_off(before.len());

    let good: Vec<(&str, &Received)> = before
        .iter()
        .map(|request| (old, request))
        .chain(after.iter().flat_map(|request| [(old, request), (new, request)]))
        .collect();
    let verdicts = verify_with_library(&python, &good);
    assert_eq!(verdicts, vec!["ok"; good.len()]);

    // Control: the library refuses forged messages.
    let with_body = |body: String| Received {
        body,
        ..before[0].clone()
    };
    let other_body = with_body(before[0].body.replace("alert.fired", "alert.fired "));
    let mut other_header = before[0].clone();
    for (name, value) in &mut other_header.headers {
        if name == "webhook-id" {
            value.push('0');
        }
    }
    let forged = [(old, &other_body), (old, &other_header), (new, &before[0])];
    let verdicts = verify_with_library(&python, &forged);
    assert_eq!(verdicts.len(), forged.len());
    for verdict in verdicts {
        assert!(verdict.starts_with("refused: "), "{verdict}");
    }
}
