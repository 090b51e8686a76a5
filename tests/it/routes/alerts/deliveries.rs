//! The log of deliveries, test deliveries and retries by hand.

use audit_tests::{DatabaseKind, Deadline, Reply, Subscription, door_opened, on_both_databases};
use serde_json::{Value, json};

/// Sends this many alerts to the webhook and returns the log once all are delivered.
fn deliver(subscription: &Subscription, count: usize) -> Vec<Value> {
    let doors = (0..count).map(|n| door_opened(&format!("actor-{n}")));
    subscription.organization.project().store_all(doors.collect());
    subscription.wait_for(count);
    let all_delivered = || {
        let deliveries = subscription.master.deliveries(&subscription.webhook);
        let is_delivered = |delivery: &Value| delivery["status"] == "delivered";
        deliveries.iter().all(is_delivered).then_some(deliveries)
    };
    let deliveries = Deadline::seconds(30).poll("the log of deliveries", all_delivered);
    assert_eq!(deliveries.len(), count);
    deliveries
}

fn log_path(subscription: &Subscription) -> String {
    format!("{}/deliveries", subscription.path())
}

fn ids(deliveries: &[Value]) -> Vec<&str> {
    deliveries
        .iter()
        .map(|delivery| delivery["id"].as_str().expect("an id"))
        .collect()
}

fn is_time(value: &Value) -> bool {
    value.as_str().is_some_and(|time| time.ends_with('Z'))
}

on_both_databases! {
    a_delivery_is_logged_with_its_attempts,
    a_failed_attempt_is_logged_with_its_status_and_what_comes_next,
    deliveries_come_newest_first_in_pages,
    deliveries_can_be_filtered_by_status,
    every_wrong_parameter_is_named,
    a_test_delivery_is_attempted_once,
    a_delivered_message_can_be_sent_again,
    what_is_disabled_is_neither_tested_nor_retried,
    a_delivery_that_does_not_exist_is_not_found,
}

fn a_delivery_is_logged_with_its_attempts(database: DatabaseKind) {
    let subscription = Subscription::fresh(database);
    let alert = subscription.organization.raise_alert();
    let request = subscription.wait_for(1).remove(0);
    let delivery = subscription.wait_for_status("delivered");
    assert!(ids(std::slice::from_ref(&delivery))[0].starts_with("whd_"));
    let attempts = delivery["attempts"].as_array().expect("an array");
    assert_eq!(attempts.len(), 1);
    let expected = json!({
        "id": delivery["id"], "webhook_id": subscription.webhook["id"], "message_id": request.message_id(),
        "type": "alert.fired", "alert_id": alert["id"], "status": "delivered",
        "created_at": delivery["created_at"], "next_attempt_at": null, "finished_at": delivery["finished_at"],
        "attempts": [{
            "number": 1, "started_at": attempts[0]["started_at"], "duration_ms": attempts[0]["duration_ms"],
            "status_code": 200, "error": null,
        }],
    });
    assert_eq!(delivery, expected);
    let path = format!("/alerts/deliveries/{}", ids(std::slice::from_ref(&delivery))[0]);
    assert_eq!(subscription.master.one(&path, "delivery"), delivery);
    assert!(is_time(&delivery["created_at"]) && is_time(&delivery["finished_at"]));
    assert!(is_time(&attempts[0]["started_at"]), "{delivery}");
    assert!(
        attempts[0]["duration_ms"]
            .as_u64()
            .is_some_and(|duration| duration < 15_000),
        "{delivery}"
    );
}

fn a_failed_attempt_is_logged_with_its_status_and_what_comes_next(database: DatabaseKind) {
    let subscription = Subscription::fresh(database);
    subscription.reply([Reply::Status(503)]);
    subscription.organization.raise_alert();
    subscription.wait_for(1).remove(0);
    let delivery = subscription.wait_for_attempts(1);
    assert_eq!(delivery["status"], "pending");
    assert_eq!(delivery["finished_at"], json!(null));
    assert!(
        delivery["next_attempt_at"].as_str() > delivery["attempts"][0]["started_at"].as_str(),
        "{delivery}"
    );
    assert_eq!(delivery["attempts"][0]["status_code"], 503);
    subscription
        .master
        .change_webhook(&subscription.webhook, json!({"enabled": false}));
}

fn deliveries_come_newest_first_in_pages(database: DatabaseKind) {
    let subscription = Subscription::fresh(database);
    let mut deliveries = deliver(&subscription, 7);
    deliveries.sort_by_key(|delivery| {
        let member = |name: &str| delivery[name].as_str().expect("a string").to_owned();
        std::cmp::Reverse((member("created_at"), member("id")))
    });
    let all = subscription.master.deliveries(&subscription.webhook);
    assert_eq!(all, deliveries);
    for limit in ["1", "2", "6", "7", "8", "100"] {
        let pages = subscription
            .master
            .pages_of(&log_path(&subscription), "deliveries", &[("limit", limit)]);
        let size: usize = limit.parse().expect("a number");
        assert_eq!(pages.concat(), all, "limit {limit}");
        assert_eq!(pages.len(), 7_usize.div_ceil(size), "limit {limit}");
    }
    let first = subscription
        .master
        .get(&log_path(&subscription))
        .query("limit", "2")
        .send();
    let cursor = first.text("cursor");
    let with = |name: &str, value: &str| {
        let request = subscription
            .master
            .get(&log_path(&subscription))
            .query(name, value);
        request.query("cursor", &cursor).send()
    };
    assert_eq!(with("limit", "3").list("deliveries"), all[2..5]);
    with("status", "delivered").expect_invalid(&["cursor"]);
    let other = subscription
        .organization
        .create_webhook(&subscription.receiver.url("/other"));
    let other = format!(
        "/alerts/webhooks/{}/deliveries",
        other["id"].as_str().expect("an id")
    );
    let response = subscription.master.get(&other).query("cursor", &cursor).send();
    assert!(
        response.status() == 400 || response["deliveries"] == json!([]),
        "{response:?}"
    );
    for cursor in ["x", "é", &cursor[1..], &format!("{cursor}A")] {
        let request = subscription
            .master
            .get(&log_path(&subscription))
            .query("cursor", cursor);
        request.send().expect_invalid(&["cursor"]);
    }
}

fn deliveries_can_be_filtered_by_status(database: DatabaseKind) {
    let subscription = Subscription::fresh(database);
    subscription.reply([
        Reply::Status(200),
        Reply::Status(500),
        Reply::Status(500),
        Reply::Status(200),
    ]);
    let with_status = |status: &str| {
        let request = subscription
            .master
            .get(&log_path(&subscription))
            .query("status", status);
        request.send().expect_status(200).list("deliveries")
    };
    let wait_until_one =
        |status: &str| Deadline::seconds(30).poll(status, || (with_status(status).len() == 1).then_some(()));
    subscription.organization.raise_alert();
    wait_until_one("delivered");
    subscription.master.test_webhook(&subscription.webhook);
    wait_until_one("failed");
    subscription.organization.raise_alert();
    wait_until_one("pending");
    subscription.wait_for(3);
    assert_eq!(with_status("failed")[0]["type"], "webhook.test");
    assert_eq!(with_status("pending")[0]["type"], "alert.fired");
    assert_eq!(subscription.master.deliveries(&subscription.webhook).len(), 3);
}

fn every_wrong_parameter_is_named(database: DatabaseKind) {
    let subscription = Subscription::fresh(database);
    for (name, value) in [
        ("limit", "0"),
        ("limit", "101"),
        ("limit", "ten"),
        ("status", "lost"),
        ("colour", "red"),
    ] {
        let request = subscription
            .master
            .get(&log_path(&subscription))
            .query(name, value);
        request.send().expect_invalid(&[name]);
    }
    let request = subscription
        .master
        .get(&log_path(&subscription))
        .query("limit", "100");
    assert_eq!(request.send().expect_status(200).list("deliveries").len(), 0);
}

fn a_test_delivery_is_attempted_once(database: DatabaseKind) {
    let subscription = Subscription::fresh(database);
    subscription.reply([Reply::Status(500), Reply::Status(200)]);
    let answered = subscription.master.test_webhook(&subscription.webhook);
    assert_eq!(answered["type"], "webhook.test");
    assert_eq!(answered["alert_id"], json!(null));
    assert_eq!(answered["webhook_id"], subscription.webhook["id"]);
    let request = subscription.wait_for(1).remove(0);
    let body = request.json();
    assert_eq!(
        body,
        json!({
            "type": "webhook.test", "timestamp": body["timestamp"],
            "data": {"webhook_id": subscription.webhook["id"]},
        })
    );
    assert!(is_time(&body["timestamp"]), "{body}");
    audit_tests::assert_signed(
        &request,
        &[subscription.webhook["secret"].as_str().expect("a secret")],
    );
    let failed = subscription.wait_for_status("failed");
    assert_eq!(failed["id"], answered["id"]);
    assert_eq!(answered["message_id"], request.message_id());
    assert_eq!(
        (&failed["next_attempt_at"], &failed["attempts"][0]["status_code"]),
        (&json!(null), &json!(500))
    );
    let request = subscription.master.post(&format!("{}/test", subscription.path()));
    let again = request.json(json!({})).send().expect_status(202);
    assert_ne!(again["delivery"]["message_id"], failed["message_id"]);
    subscription.wait_for(2);
    assert_eq!(subscription.master.deliveries(&subscription.webhook).len(), 2);
}

fn a_delivered_message_can_be_sent_again(database: DatabaseKind) {
    let subscription = Subscription::fresh(database);
    let delivered = deliver(&subscription, 1).remove(0);
    let answered = subscription.master.retry_delivery(&delivered);
    assert_eq!(answered["id"], delivered["id"]);
    let requests = subscription.wait_for(2);
    assert_eq!(requests[0].message_id(), requests[1].message_id());
    assert_eq!(requests[0].body, requests[1].body);
    let again = subscription
        .master
        .wait_for_delivery(&subscription.webhook, |delivery| {
            let attempts = delivery["attempts"].as_array();
            delivery["status"] == "delivered" && attempts.is_some_and(|attempts| attempts.len() == 2)
        });
    let numbers: Vec<&Value> = again["attempts"]
        .as_array()
        .expect("an array")
        .iter()
        .map(|attempt| &attempt["number"])
        .collect();
    assert_eq!(numbers, [1, 2], "the oldest first");
    assert_eq!(again["attempts"][0], delivered["attempts"][0]);
}

fn what_is_disabled_is_neither_tested_nor_retried(database: DatabaseKind) {
    let subscription = Subscription::fresh(database);
    let delivered = deliver(&subscription, 1).remove(0);
    subscription
        .master
        .change_webhook(&subscription.webhook, json!({"enabled": false}));
    let retry = format!(
        "/alerts/deliveries/{}/retry",
        ids(std::slice::from_ref(&delivered))[0]
    );
    for path in [format!("{}/test", subscription.path()), retry] {
        let response = subscription.master.post(&path).send();
        response.expect_error(409, "conflict");
    }
    assert_eq!(
        subscription.master.only_delivery(&subscription.webhook),
        delivered
    );
}

fn a_delivery_that_does_not_exist_is_not_found(database: DatabaseKind) {
    let subscription = Subscription::fresh(database);
    let delivered = deliver(&subscription, 1).remove(0);
    let id = ids(std::slice::from_ref(&delivered))[0].to_owned();
    let assert_not_found = |id: &str| {
        let path = format!("/alerts/deliveries/{id}");
        let retry = subscription.master.post(&format!("{path}/retry"));
        for request in [subscription.master.get(&path), retry] {
            request.send().expect_error(404, "not_found");
        }
    };
    let unknown = format!("whd_{}", "0".repeat(id.len() - 4));
    for id in [unknown.as_str(), "whd_", "nonsense", &id[4..], &id.to_lowercase()] {
        assert_not_found(id);
    }
    let webhook = format!(
        "/alerts/webhooks/{}",
        subscription.webhook["id"].as_str().expect("an id")
    );
    subscription.master.delete(&webhook).send().expect_status(200);
    assert_not_found(&id);
}
