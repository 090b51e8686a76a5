use super::*;
use serde_json::json;

const NOW: Timestamp = Timestamp::from_seconds(1_768_473_000);

fn read(value: Value) -> Result<Event, Violations> {
    Event::from_json(value, NOW)
}

fn fields_of(result: Result<Event, Violations>) -> Vec<String> {
    let violations = result.unwrap_err().into_vec();
    violations
        .into_iter()
        .map(|violation| format!("{}: {}", violation.field, violation.message))
        .collect()
}

fn valid() -> Value {
    json!({"action": "user.created", "category": "mutation", "tenant_id": "t", "actor": {"id": "a", "type": "user"}})
}

fn with(field: &str, value: Value) -> Value {
    let mut event = valid();
    event[field] = value;
    event
}

#[test]
fn every_failing_field_is_named() {
    let found = fields_of(read(json!({
        "action": "User", "category": 7, "actor": {"type": "robot", "extra": 1}, "occured_at": "x",
        "target": [], "changes": [{"field": "f"}, 3, {"before": 1}]
    })));
    assert_eq!(
        found,
        [
            "action: must be dot-namespaced lower case like user.created, with at most 256 characters",
            "category: Expected string, received number",
            "tenant_id: Required",
            "actor.id: Required",
            "actor.type: must be one of user, api_key, service, system",
            "actor.extra: Unrecognized field",
            "target: Expected object, received array",
            "changes[1]: Expected object, received number",
            "changes[2].field: Required",
            "occured_at: Unrecognized field",
        ]
    );
}

#[test]
fn lengths_are_counted_in_characters() {
    assert!(read(with("tenant_id", json!("é".repeat(256)))).is_ok());
    assert_eq!(
        fields_of(read(with("tenant_id", json!("é".repeat(257))))),
        ["tenant_id: must have at most 256 characters"]
    );
    assert_eq!(
        fields_of(read(with("tenant_id", json!("")))),
        ["tenant_id: must not be empty"]
    );
    let name = |length| {
        with(
            "actor",
            json!({"id": "a", "type": "user", "name": "n".repeat(length)}),
        )
    };
    assert!(read(name(512)).is_ok());
    assert_eq!(
        fields_of(read(name(513))),
        ["actor.name: must have at most 512 characters"]
    );
}

#[test]
fn nesting_ends_at_16_levels() {
    let nested = |levels: usize| (0..levels).fold(json!(1), |inner, _| json!({"k": inner}));
    // The event and `metadata` are two levels themselves.
    assert!(read(with("metadata", json!({"k": nested(14)}))).is_ok());
    assert!(
        fields_of(read(with("metadata", json!({"k": nested(15)}))))[0].ends_with("more than 16 levels deep")
    );
    let change = |levels| with("changes", json!([{"field": "f", "after": nested(levels)}]));
    assert!(read(change(13)).is_ok());
    assert!(read(change(14)).is_err());
}

#[test]
fn changes_end_at_200_items() {
    let changes = |items: usize| with("changes", Value::Array(vec![json!({"field": "f"}); items]));
    assert!(read(changes(200)).is_ok());
    assert_eq!(
        fields_of(read(changes(201))),
        ["changes: must have at most 200 items, has 201"]
    );
}

#[test]
fn the_target_is_the_first_of_the_targets() {
    let [one, other] = ["1", "2"].map(|id| json!({"id": id, "type": "doc"}));
    let with_both = |target: &Value, targets: Value| {
        let mut event = with("targets", targets);
        event["target"] = target.clone();
        read(event)
    };
    let targets = json!([one, other]);
    let sent_once = read(with("targets", targets.clone())).unwrap();
    assert_eq!(
        sent_once.target.as_ref(),
        sent_once.targets.as_deref().unwrap().first()
    );
    // A repeat that names the target as well is no conflict.
    assert_eq!(
        with_both(&one, targets.clone()).unwrap().to_text(),
        sent_once.to_text()
    );
    assert_eq!(
        fields_of(with_both(&other, targets)),
        ["targets[0]: must equal target, which is the first of targets"]
    );
    for none in [json!([]), Value::Null] {
        assert_eq!(with_both(&one, none.clone()), read(with("target", one.clone())));
        assert_eq!(read(with("targets", none)), read(valid()));
    }
    let found = fields_of(with_both(&other, json!([3, {"id": ""}])));
    let expected = [
        "targets[0]: Expected object, received number",
        "targets[1].id: must not be empty",
        "targets[1].type: Required",
    ];
    assert_eq!(found, expected);
}

#[test]
fn targets_end_at_16_items() {
    let targets = |items: usize| {
        with(
            "targets",
            Value::Array(vec![json!({"id": "i", "type": "t"}); items]),
        )
    };
    assert_eq!(read(targets(16)).unwrap().targets.unwrap().len(), 16);
    assert_eq!(
        fields_of(read(targets(17))),
        ["targets: must have at most 16 items, has 17"]
    );
}

#[test]
fn outcome_and_the_party_acted_for_are_checked() {
    assert_eq!(
        fields_of(read(with("outcome", json!("ok")))),
        ["outcome: must be one of success, failure, denied"]
    );
    let on_behalf_of = |party: Value| {
        let actor = json!({"id": "a", "type": "user", "on_behalf_of": party});
        read(with("actor", actor))
    };
    let found = fields_of(on_behalf_of(
        json!({"type": "robot", "name": "n".repeat(513), "email": "e"}),
    ));
    let expected = [
        "actor.on_behalf_of.id: Required",
        "actor.on_behalf_of.type: must be one of user, api_key, service, system",
        "actor.on_behalf_of.name: must have at most 512 characters",
        "actor.on_behalf_of.email: Unrecognized field",
    ];
    assert_eq!(found, expected);
    assert_eq!(on_behalf_of(Value::Null), read(valid()));
    let party = json!({"id": "b", "type": "user", "name": null});
    assert_eq!(on_behalf_of(party).unwrap().actor.on_behalf_of.unwrap().id, "b");
}

#[test]
fn nul_is_refused_wherever_it_hides() {
    for (field, value) in [
        ("tenant_id", json!("a\0")),
        ("metadata", json!({"a": ["x", {"b": "\0"}]})),
        ("metadata", json!({"a\0": 1})),
        ("changes", json!([{"field": "f", "before": "\0"}])),
    ] {
        assert!(fields_of(read(with(field, value)))[0].contains("NUL"), "{field}");
    }
}

#[test]
fn an_event_may_lie_24_hours_ahead_and_not_more() {
    let at = |time: Timestamp| with("occurred_at", json!(time.to_string()));
    let limit = NOW.plus_seconds(24 * 3600);
    assert_eq!(read(at(limit)).unwrap().occurred_at, Some(limit));
    let past = Timestamp::from_millis(limit.as_millis() + 1);
    assert_eq!(
        fields_of(read(at(past))),
        ["occurred_at: must not be more than 24 hours in the future"]
    );
    assert!(
        fields_of(read(with("occurred_at", json!("2026-01-15"))))[0]
            .starts_with("occurred_at: must be a date and time with an offset")
    );
}

#[test]
fn an_event_ends_at_64_kib() {
    let sized = |chars: usize| {
        let empty = with("metadata", json!({"k": ""})).to_string().chars().count();
        with("metadata", json!({"k": "é".repeat(chars - empty)}))
    };
    assert!(read(sized(limits::EVENT_CHARS_MAX)).is_ok());
    assert_eq!(
        fields_of(read(sized(limits::EVENT_CHARS_MAX + 1))),
        ["event: must have at most 65536 characters as JSON"]
    );
}

#[test]
fn an_event_like_one_of_the_services_own_is_refused() {
    let of = |tenant_id: &str, action: &str| {
        let mut event = with("action", json!(action));
        event["tenant_id"] = json!(tenant_id);
        read(event)
    };
    let message = "action: must not begin with audit. for the tenant audit-server or one that looks like it: these are the \
                   service's own events";
    for tenant_id in [
        "audit-server",
        "Audit Server",
        "\u{430}udit\u{2010}server",
        "audit\u{ad}server",
    ] {
        assert_eq!(
            fields_of(of(tenant_id, "audit.api_key.created")),
            [message],
            "{tenant_id}"
        );
    }
    for (tenant_id, action) in [
        ("audit-server", "audits.x"),
        ("audit", "audit.api_key.created"),
        ("audit-servers", "audit.api_key.created"),
        (
            "\u{410}\u{443}\u{434}\u{438}\u{442}\u{421}\u{435}\u{440}\u{432}\u{435}\u{440}",
            "audit.api_key.created",
        ),
    ] {
        assert!(of(tenant_id, action).is_ok(), "{tenant_id} {action}");
    }
}

#[test]
fn null_stands_for_an_absent_field() {
    let nulls = json!({
        "action": "user.created", "category": "mutation", "tenant_id": "t",
        "actor": {"id": "a", "type": "user", "name": null, "email": null},
        "target": null, "context": null, "metadata": null, "changes": null, "idempotency_key": null,
        "occurred_at": null,
    });
    let absent = read(valid()).unwrap();
    let read_nulls = read(nulls).unwrap();
    assert_eq!(read_nulls, absent);
    // The digest of what was sent is that of the canonical text, so a repeat with `null` is no conflict.
    assert_eq!(read_nulls.to_text(), absent.to_text());
    let inner = |field, value| read(with(field, value)).unwrap();
    let target = inner("target", json!({"id": "i", "type": "t", "name": null}));
    assert_eq!(target.target.unwrap().name, None);
    let context = inner("context", json!({"ip_address": null, "session_id": "s"}));
    assert_eq!(context.context.unwrap().session_id.as_deref(), Some("s"));
    // The value of a changed field may be `null`.
    let changes = inner("changes", json!([{"field": "f", "before": null}]))
        .changes
        .unwrap();
    assert_eq!(
        (&changes[0].before, &changes[0].after),
        (&Some(Value::Null), &None)
    );
}

#[test]
fn null_is_no_value_of_a_required_field() {
    assert_eq!(
        fields_of(read(with("action", Value::Null))),
        ["action: Expected string, received null"]
    );
    assert_eq!(
        fields_of(read(with("actor", Value::Null))),
        ["actor: Expected object, received null"]
    );
}
