use super::VERSION;
use super::table::{Class, OTHER, Rule};
use crate::{OcsfClasses, OcsfOptions, Payload, Record, RecordFormat, StreamPart, encode};
use audit_domain::{Fields, Timestamp, Violations};
use serde_json::{Map, Value, json};
use std::collections::BTreeSet;

/// The classes that the form of the console offers.
const FORM: &str = include_str!("../../../../web/src/console/destinations/ocsf-classes.json");
const AT: Timestamp = Timestamp::from_seconds(1_768_473_000);

fn record(event: &Value, include_raw: bool) -> Value {
    let options = OcsfOptions {
        include_raw,
        ..OcsfOptions::default()
    };
    record_with(event, &options)
}

fn record_with(event: &Value, options: &OcsfOptions) -> Value {
    let stream = StreamPart {
        destination: "dst_1",
        log: "p/live",
        run: 0,
        position: 12,
    };
    let json = event.to_string();
    let payload = Payload::Event {
        seq: 345,
        json: &json,
    };
    let encoded = encode(&Record { stream, payload }, RecordFormat::Ocsf, options, AT);
    serde_json::from_str(&encoded.text).expect("JSON")
}

/// An event of a user with targets of these types.
fn event(action: &str, category: &str, targets: &[&str]) -> Value {
    let targets: Vec<Value> = targets
        .iter()
        .map(|kind| json!({"id": format!("{kind}_1"), "type": kind, "name": "Bob"}))
        .collect();
    json!({
        "action": action, "category": category, "tenant_id": "acme", "actor": {"id": "u_1", "type": "user", "name": "Jane"},
        "target": targets.first().cloned(), "targets": targets,
        "changes": [{"field": "role", "before": "member", "after": ["admin", "billing"]}],
    })
}

#[test]
fn each_rule_of_the_table_gives_its_class_and_activity() {
    for (action, category, targets, type_uid) in [
        ("auth.login", "auth", [].as_slice(), 300_201),
        ("auth.login_failed", "security", &[], 300_201),
        ("user.logged_out", "auth", &["user"], 300_202),
        ("user.mfa.enabled", "auth", &[], 300_110),
        ("user.mfa_disabled", "security", &["user"], 300_111),
        ("mfa.policy.enabled", "mutation", &[], 600_399),
        ("user.password.changed", "auth", &[], 300_103),
        ("user.password_reset", "auth", &["user"], 300_104),
        ("user.created", "mutation", &["user"], 300_101),
        ("member.suspended", "admin", &["member"], 300_105),
        ("user.locked", "security", &["user"], 300_109),
        ("user.role.granted", "admin", &["user"], 300_501),
        ("role.revoked", "admin", &["role", "user"], 300_502),
        ("team.member_added", "admin", &["team", "user"], 300_603),
        ("group.deleted", "admin", &["group"], 300_605),
        ("api_key.created", "admin", &["api_key"], 300_401),
        ("project.archived", "admin", &["project"], 600_399),
        ("document.viewed", "access", &["document"], 600_302),
        ("s3.get_bucket_acl", "access", &[], 600_302),
        ("s3.delete_bucket.failed", "mutation", &[], 600_304),
        // The class lacks what it requires: an account without a user, privileges without names or a user, a group without one.
        ("user.created", "mutation", &[], 600_301),
        ("role.granted", "mutation", &["role"], 600_399),
        ("team.member_removed", "mutation", &["user"], 600_304),
        ("api_key.updated", "security", &[], 600_303),
        // A thing of a user is no account, and a request is not what it asks for.
        ("user.api_key.created", "mutation", &["user"], 600_301),
        ("user.password.reset_requested", "auth", &["user"], 600_399),
        ("document.login", "access", &[], 600_399),
    ] {
        let record = record(&event(action, category, targets), false);
        assert_eq!(
            record["type_uid"], type_uid,
            "{action} {category} {targets:?}: {record}"
        );
        assert_eq!(record["class_uid"], type_uid / 100);
        assert_eq!(record["category_uid"], type_uid / 100_000);
        assert_eq!(record["activity_id"], type_uid % 100);
        assert_eq!(
            record["activity_name"].is_string(),
            type_uid % 100 == 99,
            "{record}"
        );
    }
}

fn classes(items: &Value) -> Result<OcsfClasses, Violations> {
    Fields::read(json!({"ocsf_classes": items}), |fields| {
        OcsfClasses::read(fields, "ocsf_classes")
    })
}

/// The record of an event whose action has been assigned this class and activity.
fn assigned(event: &Value, type_uid: u32) -> Value {
    let item = json!({"action": "hr.*", "class_uid": type_uid / 100, "activity_id": type_uid % 100});
    let options = OcsfOptions {
        include_raw: false,
        classes: classes(&json!([item])).unwrap(),
    };
    record_with(event, &options)
}

#[test]
fn an_assigned_class_is_that_of_the_record_or_the_event_lacks_what_it_requires() {
    for (type_uid, targets, found) in [
        (300_101, ["employee"].as_slice(), 300_101),
        (300_109, &["user"], 300_109),
        (300_104, &[], 300_104),
        (300_199, &["employee"], 300_199),
        (300_205, &["app"], 300_205),
        (300_407, &["document"], 300_407),
        (300_501, &["employee", "role"], 300_501),
        (300_608, &["department"], 300_608),
        (600_301, &[], 600_301),
        (600_399, &["user"], 600_399),
        // An account needs a target, an entity as well, privileges a user, a group a target that is no user.
        (300_101, &[], 600_302),
        (300_101, &["role"], 600_302),
        (300_404, &[], 600_302),
        (300_501, &["role"], 600_302),
        (300_603, &["user"], 600_302),
    ] {
        let record = assigned(&event("hr.employee.viewed", "access", targets), type_uid);
        assert_eq!(record["type_uid"], found, "{type_uid} {targets:?}: {record}");
        assert_eq!(record["class_uid"], found / 100);
        assert_eq!(record["activity_name"].is_string(), found % 100 == 99, "{record}");
    }
    let reset = assigned(&event("hr.password", "auth", &["employee"]), 300_104);
    assert_eq!(reset["user"]["uid"], "employee_1", "not the actor, who resets it");
    let moved = assigned(&event("hr.moved", "admin", &["department", "user"]), 300_603);
    assert_eq!(
        (&moved["group"]["uid"], &moved["user"]["uid"]),
        (&json!("department_1"), &json!("user_1"))
    );
}

#[test]
fn the_first_pattern_that_matches_an_action_decides_and_others_keep_the_table() {
    let items = json!([
        {"action": "invoice.paid", "class_uid": 3004, "activity_id": 3},
        {"action": "invoice.*", "class_uid": 3004, "activity_id": 99},
        {"action": "*", "class_uid": 3004, "activity_id": 1},
    ]);
    let all = classes(&items).unwrap();
    assert_eq!(all.to_json(), items);
    let mut without_last = items;
    without_last.as_array_mut().expect("a list").pop();
    for (items, action, type_uid) in [
        (&all, "invoice.paid", 300_403),
        (&all, "invoice.sent", 300_499),
        (&all, "document.viewed", 300_401),
        (&classes(&without_last).unwrap(), "document.viewed", 600_302),
    ] {
        let options = OcsfOptions {
            include_raw: false,
            classes: items.clone(),
        };
        let record = record_with(&event(action, "access", &["document"]), &options);
        assert_eq!(record["type_uid"], type_uid, "{action}");
    }
}

#[test]
fn every_fault_of_an_assigned_class_is_named() {
    let item = |class_uid: Value, activity_id: Value| json!({"action": "a.*", "class_uid": class_uid, "activity_id": activity_id});
    let items = json!([
        item(json!(3001), json!(12)),
        item(json!(3001), json!(13)),
        item(json!(6001), json!(1)),
        item(json!(6003), json!(0)),
        {"action": "A", "class": 3001},
        "3001",
    ]);
    let found = classes(&items).unwrap_err().into_vec();
    let found: Vec<String> = found
        .into_iter()
        .map(|violation| format!("{}: {}", violation.field, violation.message))
        .collect();
    let expected = [
        "ocsf_classes[1].activity_id: must be from 1 to 12, or 99, in the class 3001",
        "ocsf_classes[2].class_uid: must be one of 3001, 3002, 3004, 3005, 3006, 6003",
        "ocsf_classes[3].activity_id: must be from 1 to 4, or 99, in the class 6003",
        "ocsf_classes[4].action: must have 1 to 200 characters out of a-z, 0-9, underscore, dot and *",
        "ocsf_classes[4].class_uid: Required",
        "ocsf_classes[4].activity_id: Required",
        "ocsf_classes[4].class: Unrecognized field",
        "ocsf_classes[5]: Expected object, received string",
    ];
    assert_eq!(found, expected);
    let many = |count: usize| json!(vec![item(json!(3001), json!(1)); count]);
    assert!(classes(&many(OcsfClasses::ITEMS_MAX)).is_ok());
    assert!(classes(&many(OcsfClasses::ITEMS_MAX + 1)).is_err());
}

#[test]
fn actions_can_be_assigned_to_each_class_of_the_table_and_to_no_other() {
    let rules = VERSION.rules.iter().chain([&VERSION.other]);
    let mut of_rules: Vec<u32> = rules.clone().map(|rule| rule.class_uid).collect();
    of_rules.sort_unstable();
    of_rules.dedup();
    assert_eq!(OcsfClasses::class_uids(), of_rules);
    for rule in rules {
        let class = VERSION.classes.iter().find(|class| class.uid == rule.class_uid);
        let activity_max = class.expect("the class of a rule").activity_max;
        assert!(
            rule.activities
                .iter()
                .all(|(activity_id, _)| (1..=activity_max).contains(activity_id))
        );
    }
    let document = include_str!("../../../../docs/destinations/formats.md");
    let listed: Value = serde_json::from_str(FORM).unwrap();
    assert_eq!(listed.as_object().map(Map::len), Some(VERSION.classes.len()));
    for Class {
        uid, activity_max, ..
    } in VERSION.classes
    {
        let class = &listed[uid.to_string()];
        let name = class["name"].as_str().unwrap();
        let row = |line: &str| {
            line.starts_with(&format!("| `{uid}` | {name} |"))
                && line.ends_with(&format!("| 1 to {activity_max} |"))
        };
        assert!(document.lines().any(row), "{uid}: 1 to {activity_max}");
        let activities = class["activities"].as_object().unwrap();
        assert_eq!(
            activities
                .keys()
                .filter_map(|id| id.parse().ok())
                .collect::<BTreeSet<u32>>(),
            (1..=*activity_max).chain([OTHER]).collect(),
            "{uid}"
        );
    }
}

#[test]
fn what_a_class_requires_is_what_the_event_is_about() {
    let granted = record(&event("user.role.granted", "admin", &["user", "role"]), false);
    assert_eq!(
        granted["user"],
        json!({"uid": "user_1", "name": "Bob", "type": "user"})
    );
    assert_eq!(granted["privileges"], json!(["admin", "billing"]));
    assert_eq!(
        granted["resources"][1],
        json!({"uid": "role_1", "name": "Bob", "type": "role"})
    );
    let revoked = record(&event("user.role.revoked", "admin", &["user"]), false);
    assert_eq!(revoked["privileges"], json!(["member"]));
    let mut unnamed = event("role.granted", "admin", &["role", "user"]);
    unnamed["changes"] = Value::Null;
    assert_eq!(record(&unnamed, false)["privileges"], json!(["Bob"]));

    let added = record(&event("team.member_added", "admin", &["user", "team"]), false);
    assert_eq!(
        added["group"],
        json!({"uid": "team_1", "name": "Bob", "type": "team"})
    );
    assert_eq!(added["user"]["uid"], "user_1");
    assert_eq!(added["unmapped"]["targets"].as_array().map(Vec::len), Some(2));

    let login = record(&event("auth.login_failed", "auth", &["app"]), false);
    assert_eq!(login["user"]["uid"], "u_1");
    assert_eq!(login["service"], json!({"uid": "app_1", "name": "Bob"}));
    assert_eq!(
        (&login["status_id"], &login["severity_id"]),
        (&json!(2), &json!(2))
    );
}

#[test]
fn what_has_no_attribute_is_unmapped_and_nothing_is_lost() {
    let event = json!({
        "id": "evt_1", "occurred_at": "2026-01-15T09:00:00.000Z", "received_at": "2026-01-15T10:30:00.250Z", "outcome": "success",
        "action": "document.viewed", "category": "access", "tenant_id": "acme", "claimed_at": "2026-01-15T10:31:00.000Z",
        "actor": {"id": "k_1", "type": "api_key", "email": "j***@example.com", "on_behalf_of": {"id": "u_3", "type": "user"}},
        "target": {"id": "d_1", "type": "document"},
        "context": {"ip_address": "[REDACTED]", "user_agent": "curl/8", "location": "Oslo", "session_id": "s_1"},
        "metadata": {"a": 1}, "changes": [{"field": "f"}], "idempotency_key": "k", "content_hash": "sha256:00",
        "content_salt": "00", "redacted": true,
    });
    assert_eq!(
        record(&event, false),
        json!({
            "class_uid": 6003, "category_uid": 6, "activity_id": 2, "type_uid": 600_302, "severity_id": 1, "status_id": 1,
            "time": 1_768_467_600_000_u64, "message": "document.viewed by k_1 on d_1",
            "metadata": {
                "version": "1.8.0", "product": {"name": "audit-log", "vendor_name": "audit-log"}, "uid": "evt_1", "sequence": 345,
                "log_name": "p/live", "event_code": "document.viewed", "tenant_uid": "acme",
                "original_time": "2026-01-15T09:00:00.000Z", "logged_time": 1_768_473_000_250_u64,
            },
            "actor": {"user": {"uid": "k_1", "type_id": 99, "type": "api_key"}, "session": {"uid": "s_1"}},
            "api": {"operation": "document.viewed"},
            "resources": [{"uid": "d_1", "type": "document"}],
            "src_endpoint": {"name": "unknown"}, "http_request": {"user_agent": "curl/8"},
            "unmapped": {
                "actor": {"email": "j***@example.com", "on_behalf_of": {"id": "u_3", "type": "user"}},
                "context": {"ip_address": "[REDACTED]", "location": "Oslo"}, "category": "access", "outcome": "success",
                "claimed_at": "2026-01-15T10:31:00.000Z", "metadata": {"a": 1}, "changes": [{"field": "f"}],
                "idempotency_key": "k", "content_hash": "sha256:00", "content_salt": "00", "redacted": true,
                "stream": {"destination": "dst_1", "log": "p/live", "run": 0, "position": 12, "seq": 345},
            },
        })
    );
}

#[test]
fn addresses_are_those_of_the_schema() {
    for (address, endpoint) in [
        ("203.0.113.7", json!({"ip": "203.0.113.7"})),
        ("::ffff:203.0.113.7", json!({"ip": "203.0.113.7"})),
        ("2001:DB8::7", json!({"ip": "2001:db8::7"})),
        ("ec2.amazonaws.com", json!({"name": "ec2.amazonaws.com"})),
        ("203.0.113.7, 10.0.0.1", json!({"name": "unknown"})),
        ("999.1.1.1", json!({"name": "unknown"})),
    ] {
        let mut event = event("document.viewed", "access", &[]);
        event["context"] = json!({"ip_address": address});
        let record = record(&event, false);
        assert_eq!(record["src_endpoint"], endpoint, "{address}");
        let is_unmapped = record["unmapped"]["context"]["ip_address"] == address;
        assert_eq!(is_unmapped, endpoint["name"] == "unknown", "{address}");
    }
    for (address, is_mapped) in [
        ("jane+x@mail.example.com", true),
        ("j***@example.com", false),
        ("[REDACTED]", false),
        ("jane@localhost", false),
        ("jane@example.com\n", false),
        ("a@b@example.com", false),
    ] {
        let mut event = event("document.viewed", "access", &[]);
        event["actor"]["email"] = address.into();
        let record = record(&event, false);
        assert_eq!(
            record["actor"]["user"]["email_addr"] == address,
            is_mapped,
            "{address}"
        );
        assert_eq!(
            record["unmapped"]["actor"]["email"] == address,
            !is_mapped,
            "{address}"
        );
    }
}

#[test]
fn the_raw_text_has_its_hash() {
    let event = event("document.viewed", "access", &[]);
    let record = record(&event, true);
    let raw = record["raw_data"].as_str().expect("the text");
    assert_eq!(raw, event.to_string());
    assert_eq!(record["raw_data_size"], raw.len());
    let hash = base16ct::lower::encode_string(&<sha2::Sha256 as sha2::Digest>::digest(raw));
    assert_eq!(
        record["raw_data_hash"],
        json!({"algorithm": "SHA-256", "algorithm_id": 3, "value": hash})
    );
}

/// The rules as rows of the table in the documentation.
fn documented_rows() -> Vec<String> {
    let list = |words: &[&str]| match words {
        [] => "any".to_owned(),
        words => words
            .iter()
            .map(|word| format!("`{word}`"))
            .collect::<Vec<_>>()
            .join(", "),
    };
    let rules = VERSION.rules.iter().chain([&VERSION.other]);
    let rows = rules.flat_map(|rule| {
        let row = move |(activity_id, verbs): &(u32, &[&str])| {
            let Rule {
                class_uid,
                categories,
                nouns,
                ..
            } = rule;
            format!(
                "| {class_uid}/{activity_id} | {} | {} | {} |",
                list(categories),
                list(nouns),
                list(verbs)
            )
        };
        rule.activities.iter().map(row)
    });
    rows.collect()
}

#[test]
fn the_documentation_has_the_rules() {
    let document = include_str!("../../../../docs/destinations/formats.md");
    let is_row = |line: &&str| {
        line.strip_prefix("| ")
            .is_some_and(|rest| rest.starts_with(['3', '6']))
    };
    let documented: Vec<&str> = document.lines().filter(is_row).collect();
    let expected = documented_rows();
    assert_eq!(
        documented,
        expected,
        "docs/destinations/formats.md must have:\n{}",
        expected.join("\n")
    );
}

#[test]
fn a_rule_has_each_verb_once() {
    for rule in VERSION.rules.iter().chain([&VERSION.other]) {
        let mut verbs: Vec<&str> = rule
            .activities
            .iter()
            .flat_map(|(_, verbs)| verbs.iter().copied())
            .collect();
        let count = verbs.len();
        verbs.sort_unstable();
        verbs.dedup();
        assert_eq!(verbs.len(), count, "{}: {verbs:?}", rule.class_uid);
    }
}
