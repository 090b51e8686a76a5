//! Records in OCSF, held against the schema that is published (`ocsf-json-schema`).

use audit_destinations::{OcsfClasses, OcsfOptions, Payload, Record, RecordFormat, StreamPart, encode};
use audit_domain::{
    ContentSalt, Environment, Event, EventId, Fields, LogName, ProjectId, Record as EventRecord, Stamp,
    StoredEvent, Timestamp,
};
use audit_tests::{python, run_python, temporary_directory};
use serde_json::{Map, Value, json};
use std::collections::BTreeSet;
use std::process::Output;

const NOW: Timestamp = Timestamp::from_seconds(1_768_473_000);
const REAL: &str = include_str!("../../docs/examples/cloudtrail-events.jsonl");
/// Enough that every activity of the mapping is there.
const GENERATED: usize = 12_000;
/// Enough that some events have what a class requires, and some lack it.
const ASSIGNED: usize = 60;

const NOUNS: [&str; 11] = [
    "user",
    "member",
    "team",
    "group",
    "role",
    "permission",
    "password",
    "mfa",
    "api_key",
    "a.b_c",
    "session",
];
const VERBS: [&str; 44] = [
    "created",
    "create",
    "invited",
    "added",
    "viewed",
    "listed",
    "exported",
    "get",
    "updated",
    "changed",
    "set",
    "rotated",
    "deleted",
    "delete",
    "removed",
    "left",
    "joined",
    "moved",
    "enabled",
    "activated",
    "disabled",
    "deactivated",
    "suspended",
    "resumed",
    "locked",
    "unlocked",
    "granted",
    "assigned",
    "revoked",
    "unassigned",
    "reset",
    "login",
    "logged_in",
    "sign_in",
    "logout",
    "logged_out",
    "enrolled",
    "approved",
    "paused",
    "login_failed",
    "login.failed",
    "created.failed",
    "reset_refused",
    "blocked",
];

/// Picks items in an order that looks random, and is the same in every run.
struct Picker(u64);

impl Picker {
    fn below(&mut self, count: usize) -> usize {
        // xorshift64, Marsaglia 2003.
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 % count as u64).expect("an index")
    }

    fn of<T: Clone>(&mut self, items: &[T]) -> T {
        items[self.below(items.len())].clone()
    }

    fn event(&mut self) -> Value {
        let action = match self.below(2) {
            0 => format!("{}.{}", self.of(&NOUNS), self.of(&VERBS)),
            _ => format!("app.{}_{}", self.of(&NOUNS), self.of(&VERBS)),
        };
        let mut event = json!({
            "action": action, "tenant_id": "acme", "actor": self.actor(),
            "category": self.of(&["auth", "access", "mutation", "admin", "security", "system"]),
        });
        let members = event.as_object_mut().expect("an object");
        self.insert(
            members,
            "outcome",
            &["success", "failure", "denied"].map(Value::from),
        );
        let user_changes = json!([{"field": "user.role", "before": "member", "after": ["admin", "billing"]}]);
        self.insert(
            members,
            "changes",
            &[user_changes, json!([{"field": "title", "after": 1}])],
        );
        self.insert(
            members,
            "metadata",
            &[json!({"class_uid": 1, "a": [1e300, -0.5, null, {"b": "\n"}]})],
        );
        self.insert(
            members,
            "occurred_at",
            &["1969-12-31T23:59:59Z", "2026-01-15T10:30:00.5+01:00"].map(Value::from),
        );
        self.insert(members, "idempotency_key", &["k".into()]);
        let context = self.context();
        self.insert(members, "context", &[context]);
        let targets: Vec<Value> = (0..self.below(4)).map(|_| self.target()).collect();
        match targets.as_slice() {
            [] => {}
            [target] => members.extend([("target".to_owned(), target.clone())]),
            _ => members.extend([("targets".to_owned(), targets.into())]),
        }
        event
    }

    /// Inserts one of the values, or none.
    fn insert(&mut self, members: &mut Map<String, Value>, name: &str, values: &[Value]) {
        if let Some(value) = values.get(self.below(values.len() + 1)) {
            members.insert(name.to_owned(), value.clone());
        }
    }

    fn actor(&mut self) -> Value {
        let mut actor = json!({"id": "u_1", "type": self.of(&["user", "api_key", "service", "system"])});
        let members = actor.as_object_mut().expect("an object");
        self.insert(members, "name", &["", "Jane ü", "[REDACTED]"].map(Value::from));
        let addresses = [
            "jane@example.com",
            "j***@example.com",
            "[REDACTED]",
            "",
            "jane",
            "jane@localhost",
            "a@b@example.com",
            "jane@example.com\n",
            "jane@.com",
            "\"j d\"@example.com",
            "j+d/x@ex-ample.co.uk",
            "jane@exämple.com",
        ];
        self.insert(members, "email", &addresses.map(Value::from));
        self.insert(members, "on_behalf_of", &[json!({"id": "u_2", "type": "user"})]);
        actor
    }

    fn context(&mut self) -> Value {
        let mut context = Map::new();
        let addresses = [
            "203.0.113.7",
            "::1",
            "::",
            "2001:DB8::7",
            "::ffff:203.0.113.7",
            "::203.0.113.7",
            "fe80::1%eth0",
            "203.0.113.7, 10.0.0.1",
            "2001:db8:1111:2222:3333:4444:5555:6666",
            "[REDACTED]",
            "",
            "AWS Internal",
            "ec2.amazonaws.com",
            "999.1.1.1",
            "203.0.113.0/24",
        ];
        self.insert(&mut context, "ip_address", &addresses.map(Value::from));
        self.insert(&mut context, "user_agent", &["curl/8".into(), "".into()]);
        self.insert(&mut context, "location", &["Oslo".into()]);
        self.insert(&mut context, "session_id", &["s_1".into()]);
        context.into()
    }

    fn target(&mut self) -> Value {
        let kinds = [
            "user",
            "member",
            "team",
            "group",
            "role",
            "Permission",
            "document",
            "service_account",
        ];
        let mut target = json!({"id": "t_1", "type": self.of(&kinds)});
        let members = target.as_object_mut().expect("an object");
        self.insert(members, "name", &["".into(), "A target".into()]);
        target
    }
}

/// The records of events, of a test and of a checkpoint.
fn records(events: impl Iterator<Item = Value>) -> Vec<String> {
    records_with(events, &OcsfClasses::default())
}

fn records_with(events: impl Iterator<Item = Value>, classes: &OcsfClasses) -> Vec<String> {
    let log = LogName::new(ProjectId::from_random([1; 16]), Environment::Live);
    let mut records = vec![encoded(&log, 0, Payload::Test, classes)];
    for (seq, event) in (0..).zip(events) {
        let json = shown(&event, &log);
        let payload = Payload::Event { seq, json: &json };
        records.push(encoded(&log, seq + 1, payload, classes));
    }
    let checkpoint = Payload::Checkpoint {
        note: "a signed note\n",
        log_checkpoint: "a signed checkpoint\n",
        through_position: 7,
        through_seq: 9,
    };
    records.push(encoded(&log, 8, checkpoint, classes));
    records
}

/// A record; every other one is of a replay, and has no raw text.
fn encoded(log: &LogName, position: u64, payload: Payload<'_>, classes: &OcsfClasses) -> String {
    let run = position % 2;
    let stream = StreamPart {
        destination: "dst_1",
        log: log.as_str(),
        run,
        position,
    };
    let options = OcsfOptions {
        include_raw: run == 0,
        classes: classes.clone(),
    };
    encode(&Record { stream, payload }, RecordFormat::Ocsf, &options, NOW).text
}

/// The event as a read shows it.
fn shown(event: &Value, log: &LogName) -> String {
    let event = Event::from_json(event.clone(), NOW).unwrap_or_else(|error| panic!("{event}: {error:?}"));
    let stamp = Stamp {
        id: EventId::new(NOW, [7; 10]),
        received_at: NOW,
    };
    let record = EventRecord::new(&event, false, stamp).hashed(ContentSalt::from_bytes([9; 16]), log);
    let stored = StoredEvent {
        id: record.stamp().id,
        occurred_at: record.occurred_at(),
        canonical: record.canonical().to_owned(),
        content_hash: record.content_hash(),
        content_salt: (*record.content_salt()).into(),
        redacted: record.redacted(),
    };
    stored.to_json().expect("an event").get().to_owned()
}

fn validate(python: &str, records: &[String]) -> Output {
    let file = temporary_directory("ocsf-").join("records.jsonl");
    std::fs::write(&file, records.join("\n")).expect("write the records");
    run_python(
        python,
        "ocsf_validate.py",
        &[file.to_str().expect("a path in UTF-8")],
    )
}

#[test]
fn the_published_schema_allows_the_record_of_every_event() {
    let Some(python) = python() else {
        return;
    };
    let real = REAL
        .lines()
        .map(|line| serde_json::from_str(line).expect("an event"));
    let mut picker = Picker(0x9e37_79b9_7f4a_7c15);
    let generated = (0..GENERATED).map(|_| picker.event());
    let records = records(real.chain(generated));
    assert_eq!(records.len(), 2_900 + GENERATED + 2);
    let output = validate(&python, &records);
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    let found: Map<String, Value> = serde_json::from_slice(&output.stdout).expect("JSON");
    let found: BTreeSet<&str> = found.keys().map(String::as_str).collect();
    let activities = [
        "99", "300101", "300102", "300103", "300104", "300105", "300106", "300109", "300110", "300111",
        "300112", "300201", "300202", "300401", "300402", "300403", "300404", "300405", "300408", "300409",
        "300410", "300411", "300412", "300413", "300501", "300502", "300603", "300604", "300605", "300606",
        "600301", "600302", "600303", "600304", "600399",
    ];
    assert_eq!(found, BTreeSet::from(activities), "each activity of the mapping");
}

/// Every class and activity that an action can be assigned to.
fn assignable() -> Vec<(u32, u32)> {
    let activities: Vec<u32> = (1..99).chain([99]).collect();
    let pairs = OcsfClasses::class_uids().into_iter();
    let pairs = pairs.flat_map(|class_uid| {
        activities
            .iter()
            .map(move |activity_id| (class_uid, *activity_id))
    });
    pairs
        .filter(|(class_uid, activity_id)| assigned(*class_uid, *activity_id).is_some())
        .collect()
}

/// The class and the activity for every action, if they can be assigned.
fn assigned(class_uid: u32, activity_id: u32) -> Option<OcsfClasses> {
    let items = json!([{"action": "*", "class_uid": class_uid, "activity_id": activity_id}]);
    let read = Fields::read(json!({"ocsf_classes": items}), |fields| {
        OcsfClasses::read(fields, "ocsf_classes")
    });
    read.ok()
}

#[test]
fn the_published_schema_allows_the_record_of_every_event_in_each_assigned_class() {
    let Some(python) = python() else {
        return;
    };
    let mut picker = Picker(0x9e37_79b9_7f4a_7c15);
    let mut all = Vec::new();
    let assignable = assignable();
    for (class_uid, activity_id) in &assignable {
        let classes = assigned(*class_uid, *activity_id).expect("an assignment");
        let events = (0..ASSIGNED).map(|_| picker.event());
        all.extend(records_with(events.collect::<Vec<_>>().into_iter(), &classes));
    }
    let output = validate(&python, &all);
    let error = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{error}");
    let found: Map<String, Value> = serde_json::from_slice(&output.stdout).expect("JSON");
    for (class_uid, activity_id) in assignable {
        let type_uid = class_uid * 100 + activity_id;
        assert!(found.contains_key(&type_uid.to_string()), "{type_uid}: {found:?}");
    }
}

#[test]
fn the_published_schema_refuses_a_placeholder_for_an_address() {
    let Some(python) = python() else {
        return;
    };
    let event = json!({
        "action": "document.viewed", "category": "access", "tenant_id": "acme", "actor": {"id": "u_1", "type": "user"},
        "context": {"ip_address": "203.0.113.7"},
    });
    let mut records = records(std::iter::once(event));
    records[1] = records[1].replace(r#""ip":"203.0.113.7""#, r#""ip":"[REDACTED]""#);
    let output = validate(&python, &records);
    assert!(!output.status.success());
    let error = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(error.contains("line 2: $.src_endpoint.ip: "), "{error}");
}
