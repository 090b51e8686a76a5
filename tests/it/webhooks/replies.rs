//! The outcome of each kind of response.

use super::{assert_second_attempt, attempts};
use audit_tests::{DatabaseKind, Receiver, Reply, Subscription, on_both_databases};
use serde_json::{Value, json};

/// Creates one webhook per reply and raises one alert. Returns the only delivery of each after its first attempt.
fn deliver_to_each(subscription: &Subscription, replies: Vec<Reply>) -> Vec<Value> {
    let paths: Vec<String> = (0..replies.len()).map(|n| format!("/reply-{n}")).collect();
    let webhooks: Vec<Value> = paths
        .iter()
        .zip(replies)
        .map(|(path, reply)| {
            subscription.receiver.reply(path, [reply]);
            let url = subscription.receiver.url(path);
            subscription.organization.create_webhook(&url)
        })
        .collect();
    subscription.organization.raise_alert();
    let deliveries = webhooks
        .iter()
        .map(|webhook| subscription.master.wait_for_attempts(webhook, 1));
    deliveries.collect()
}

on_both_databases! {
    every_2xx_is_a_success,
    every_other_status_is_tried_again,
    a_redirect_is_not_followed,
    gone_disables_the_webhook,
    a_receiver_may_ask_for_patience,
    an_endless_body_is_no_failure,
}

fn every_2xx_is_a_success(database: DatabaseKind) {
    let statuses = [200, 201, 202, 204, 206, 299];
    let subscription = Subscription::fresh(database);
    let deliveries = deliver_to_each(&subscription, statuses.map(Reply::Status).to_vec());
    for (status, delivery) in statuses.into_iter().zip(deliveries) {
        assert_eq!(delivery["status"], "delivered", "{status}");
        assert_eq!(attempts(&delivery)[0]["status_code"], status);
        assert_eq!(delivery["next_attempt_at"], json!(null), "{status}");
    }
}

fn every_other_status_is_tried_again(database: DatabaseKind) {
    let statuses = [300, 304, 400, 401, 403, 404, 409, 413, 429, 500, 502, 503, 599];
    let subscription = Subscription::fresh(database);
    let deliveries = deliver_to_each(&subscription, statuses.map(Reply::Status).to_vec());
    for (status, delivery) in statuses.into_iter().zip(deliveries) {
        assert_eq!(delivery["status"], "pending", "{status}");
        assert_eq!(attempts(&delivery)[0]["status_code"], status);
        assert_eq!(delivery["finished_at"], json!(null), "{status}");
        assert_second_attempt(&delivery, 4.9..7.0, &status.to_string());
    }
}

fn a_redirect_is_not_followed(database: DatabaseKind) {
    let statuses = [301, 302, 303, 307, 308];
    let subscription = Subscription::fresh(database);
    let elsewhere = Receiver::start();
    let redirect = |status| {
        let here = status == 307;
        let target = if here { &subscription.receiver } else { &elsewhere };
        Reply::Header(status, "location", target.url("/target"))
    };
    let deliveries = deliver_to_each(&subscription, statuses.map(redirect).to_vec());
    for (status, delivery) in statuses.into_iter().zip(deliveries) {
        assert_eq!(delivery["status"], "pending", "{status}");
        assert_eq!(attempts(&delivery)[0]["status_code"], status);
    }
    assert_eq!(subscription.receiver.received("/target").len(), 0);
    assert_eq!(elsewhere.connections(), 0);
}

fn gone_disables_the_webhook(database: DatabaseKind) {
    let subscription = Subscription::fresh(database);
    let other = subscription
        .organization
        .create_webhook(&subscription.receiver.url("/other"));
    subscription.reply([Reply::Status(410), Reply::Status(200)]);
    subscription.organization.raise_alert();
    subscription.wait_for(1);
    let failed = subscription.wait_for_status("failed");
    assert_eq!(attempts(&failed)[0]["status_code"], 410);
    assert_eq!(failed["next_attempt_at"], json!(null));
    assert!(failed["finished_at"].is_string(), "{failed}");
    let response = subscription.master.get("/alerts/webhooks").send();
    for webhook in response.expect_status(200).list("webhooks") {
        assert_eq!(webhook["enabled"], json!(webhook["id"] == other["id"]));
    }
    subscription.organization.raise_alert();
    assert_eq!(
        subscription.master.only_delivery(&subscription.webhook),
        failed,
        "a disabled webhook gets no new delivery"
    );
    subscription.receiver.wait_for("/other", 2);
    let change = json!({"enabled": true});
    subscription.master.change_webhook(&subscription.webhook, change);
    subscription.master.retry_delivery(&failed);
    let requests = subscription.wait_for(2);
    assert_eq!(requests[0].message_id(), requests[1].message_id());
    let delivered = subscription.wait_for_status("delivered");
    assert_eq!(attempts(&delivered).len(), 2);
}

fn a_receiver_may_ask_for_patience(database: DatabaseKind) {
    let in_an_hour = time::Duration::hours(1);
    let date = audit_tests::moment(&json!(audit_tests::now_plus(in_an_hour.whole_seconds())));
    let http_date = time::macros::format_description!(
        "[weekday repr:short], [day] [month repr:short] [year] [hour]:[minute]:[second] GMT"
    );
    let date = date.format(http_date).expect("a date has a text form");
    // Status, `Retry-After`, and the range of seconds until the next attempt.
    let cases = [
        (429, "60", 60.0..70.0),
        (503, "3600", 3_600.0..4_000.0),
        (500, "60", 60.0..70.0),
        (429, "1", 5.0..7.0),
        (429, "0", 5.0..7.0),
        (429, "86400", 86_400.0..96_000.0),
        (429, "604800", 80_000.0..96_000.0),
        (429, "99999999999999999999", 80_000.0..96_000.0),
        (429, "-60", 5.0..7.0),
        (429, "soon", 5.0..7.0),
        (503, date.as_str(), 3_500.0..4_000.0),
        (503, "Thu, 15 Jan 2015 10:30:00 GMT", 5.0..7.0),
    ];
    let subscription = Subscription::fresh(database);
    let reply =
        |(status, value, _): &(u16, &str, _)| Reply::Header(*status, "retry-after", (*value).to_owned());
    let deliveries = deliver_to_each(&subscription, cases.iter().map(reply).collect());
    for ((status, value, expected), delivery) in cases.iter().zip(deliveries) {
        let expected = expected.start - 0.1..expected.end;
        assert_second_attempt(&delivery, expected, &format!("{status} with {value}"));
        assert_eq!(delivery["status"], "pending");
    }
}

fn an_endless_body_is_no_failure(database: DatabaseKind) {
    let subscription = Subscription::fresh(database);
    subscription.reply([Reply::EndlessBody]);
    subscription.organization.raise_alert();
    subscription.receiver.wait_until_given_up(Subscription::PATH);
    let delivered = subscription.wait_for_status("delivered");
    assert_eq!(attempts(&delivered).len(), 1);
    assert_eq!(attempts(&delivered)[0]["status_code"], 200);
    assert!(
        attempts(&delivered)[0]["duration_ms"]
            .as_u64()
            .is_some_and(|duration| duration < 15_000),
        "20 KB are enough: {delivered}"
    );
}
