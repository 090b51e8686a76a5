//! What is left of erased events, and what is left of them elsewhere.

use super::erased::{
    ABOUT_JANE, BY_JANE, BY_ROWAN, DOOR, Erased, HELD, MARKED, MARKER, NEARLY_JANE, OF_BOB, OF_JANE, OF_PAT,
    OF_TENANT, ON_JANE, PAT, by_jane, persons,
};
use super::{events_of, recorded};
use crate::log::stop;
use audit_tests::{DatabaseKind, on_both_databases};
use serde_json::{Value, json};

on_both_databases! {
    an_erasure_is_listed_confirmed_and_done,
    what_names_a_person_goes_and_the_rest_stays,
    an_erased_event_is_found_by_what_is_left_and_by_nothing_else,
    a_held_event_is_counted_and_stays,
    a_tenant_that_is_the_person_is_removed_as_rows,
    an_alert_does_not_keep_the_person,
    a_destination_with_another_filter_gets_the_record_of_an_erasure,
    an_erasure_is_recorded_with_self_audit_off,
    a_repeated_request_stores_what_was_erased_as_a_new_event,
}

/// The parts that an event lacks, by the position of the erasure.
fn erased_parts(event: &Value) -> Vec<(u64, Vec<&str>)> {
    let entries = event["erased"].as_array().map(Vec::as_slice).unwrap_or_default();
    entries
        .iter()
        .map(|entry| {
            let parts = entry["parts"].as_array().expect("parts").iter();
            let parts = parts.map(|part| part.as_str().expect("a name")).collect();
            (entry["seq"].as_u64().expect("a position"), parts)
        })
        .collect()
}

fn an_erasure_is_listed_confirmed_and_done(kind: DatabaseKind) {
    let Some(erased) = Erased::shared(kind) else {
        return;
    };
    for ((erasure, events), (_, extent, found)) in erased.erasures.iter().zip(&erased.listed).zip(persons()) {
        let counts = ["events", "rows", "held"].map(|name| erasure[name].as_u64());
        assert_eq!(counts, found.map(Some), "{erasure}");
        assert_eq!(events.len() as u64, found[0], "{events:?}");
        let rows = events.iter().filter(|event| event["row"] == true).count();
        assert_eq!(rows as u64, found[1], "{events:?}");
        let said = ["extent", "basis", "ticket"].map(|name| erasure[name].as_str());
        assert_eq!(
            said,
            [Some(extent), Some("gdpr_17"), Some("DSR-118")],
            "{erasure}"
        );
        assert!(
            erasure["planned_seq"].as_u64() < erasure["erased_seq"].as_u64(),
            "{erasure}"
        );
        assert!(
            erasure["not_before"].as_str() <= erasure["erased_at"].as_str(),
            "{erasure}"
        );
        assert!(erasure["done_at"].is_string(), "{erasure}");
        let kinds = erasure["out_of_reach"].as_array().expect("a list").iter();
        let kinds: Vec<&str> = kinds.filter_map(|copy| copy["kind"].as_str()).collect();
        for copy in ["receipt", "backup", "client", "configuration"] {
            assert!(kinds.contains(&copy), "{copy}: {erasure}");
        }
        assert_eq!(
            kinds.contains(&"postgres"),
            kind == DatabaseKind::Postgres,
            "{erasure}"
        );
    }
    let of_jane: Vec<&Value> = erased.listed[OF_JANE]
        .iter()
        .map(|event| &event["parts"])
        .collect();
    let by_jane = json!([
        "actor.email",
        "actor.id",
        "actor.name",
        "changes",
        "network",
        "client",
        "idempotency_key",
        "metadata",
    ]);
    assert_eq!(of_jane[BY_JANE], &by_jane);
    let has = |event: usize, part: &str| {
        of_jane[event]
            .as_array()
            .is_some_and(|parts| parts.contains(&json!(part)))
    };
    let of_target = ["target.id", "target.name", "metadata"];
    assert!(
        of_target.iter().all(|part| has(ON_JANE, part)),
        "{}",
        of_jane[ON_JANE]
    );
    assert!(
        !has(ON_JANE, "actor.id"),
        "who acted on Jane stays: {}",
        of_jane[ON_JANE]
    );
    assert!(
        has(ABOUT_JANE, "metadata") && !has(ABOUT_JANE, "changes"),
        "{}",
        of_jane[ABOUT_JANE]
    );
}

fn what_names_a_person_goes_and_the_rest_stays(kind: DatabaseKind) {
    let Some((erased, organization)) = Erased::running(kind) else {
        return;
    };
    let project = organization.project();
    let (of_jane, of_bob) = (erased.erased_seq(OF_JANE), erased.erased_seq(OF_BOB));
    let event = project.event(&erased.ids[BY_JANE]);
    let left = json!({
        "action": "account.changed", "category": "mutation", "actor": {"type": "user"}, "target": {"type": "user"},
        "tenant_id": "acme",
    });
    for (member, value) in left.as_object().expect("an object") {
        assert_eq!(&event[member], value, "{member}: {event}");
    }
    for open in ["id", "occurred_at", "received_at", "content_hash"] {
        assert_eq!(event[open], erased.before[BY_JANE][open], "{open}");
    }
    for gone in [
        "context",
        "metadata",
        "changes",
        "idempotency_key",
        "content_salt",
    ] {
        assert!(event.get(gone).is_none(), "{gone}: {event}");
    }
    // Each part belongs to the erasure that came first.
    let parts = erased_parts(&event);
    let of = |erasure: u64| {
        parts
            .iter()
            .find(|(seq, _)| *seq == erasure)
            .map(|(_, parts)| parts.clone())
    };
    assert_eq!(parts.len(), 2, "{event}");
    assert!(
        of(of_jane).is_some_and(|parts| parts.contains(&"actor.id")),
        "{event}"
    );
    assert!(
        of(of_bob).is_some_and(|parts| parts.contains(&"target.id")),
        "{event}"
    );

    let event = project.event(&erased.ids[ON_JANE]);
    assert_eq!(event["actor"]["id"], "usr_admin");
    assert_eq!(event["target"], json!({"type": "user"}));
    let event = project.event(&erased.ids[ABOUT_JANE]);
    assert_eq!(event["actor"]["id"], "usr_admin");
    assert_eq!(event["changes"], erased.before[ABOUT_JANE]["changes"]);
    assert!(event.get("metadata").is_none(), "{event}");
    for whole in [HELD, NEARLY_JANE] {
        assert_eq!(project.event(&erased.ids[whole]), erased.before[whole]);
    }
    for gone in [OF_PAT, BY_ROWAN] {
        let path = format!("/events/{}", erased.ids[gone]);
        project.get(&path).send().expect_error(404, "not_found");
    }
}

fn an_erased_event_is_found_by_what_is_left_and_by_nothing_else(kind: DatabaseKind) {
    let Some((erased, organization)) = Erased::running(kind) else {
        return;
    };
    let project = organization.project();
    let ids = |positions: &[usize]| -> Vec<String> {
        positions
            .iter()
            .map(|position| erased.ids[*position].clone())
            .collect()
    };
    let acme = [("tenant_id", "acme")];
    let found = |filters: &[(&str, &str)]| {
        let mut found = project.find_ids(&[&acme[..], filters].concat());
        found.sort_unstable();
        found
    };
    // By what is left.
    let all = [BY_JANE, ON_JANE, ABOUT_JANE, MARKED, DOOR, NEARLY_JANE];
    let with_user = [BY_JANE, ON_JANE];
    for (filter, positions) in [
        (
            ("category", "mutation"),
            &[BY_JANE, ON_JANE, ABOUT_JANE, MARKED, NEARLY_JANE][..],
        ),
        (("actor_type", "user"), &all[..]),
        (("target_type", "user"), &with_user[..]),
        (("target_type", "file"), &[MARKED][..]),
        (("action", "account.changed"), &[BY_JANE][..]),
        (("action", "door.*"), &[DOOR][..]),
        (("search", "door"), &[DOOR][..]),
        (("actor_id", "usr_admin"), &[ON_JANE, ABOUT_JANE][..]),
        (("actor_id", "usr_janet"), &[NEARLY_JANE][..]),
        (("search", "doesonova"), &[NEARLY_JANE][..]),
    ] {
        assert_eq!(found(&[filter]), ids(positions), "{filter:?}");
    }
    assert_eq!(found(&[]), ids(&all));
    // By nothing else.
    let marked = |name: &str| format!("{name}-{MARKER}");
    for (name, value) in [
        ("actor_id", "usr_jane".to_owned()),
        ("target_id", "usr_jane".to_owned()),
        ("target_id", "usr_bob".to_owned()),
        ("actor_id", "usr_rowan".to_owned()),
        ("actor_id", marked("actor")),
        ("target_id", marked("target")),
    ] {
        assert_eq!(found(&[(name, &value)]), Vec::<String>::new(), "{name}={value}");
    }
    let words = [
        "jane",
        "doeson",
        "stoneson",
        "jane@example.com",
        "usr_jane",
        "zebra",
        MARKER,
    ];
    let scopes = [None, Some("ids"), Some("metadata")];
    for (word, scope) in words.iter().flat_map(|word| scopes.map(|scope| (*word, scope))) {
        let scope = scope.map(|scope| ("search_in", scope));
        let search: Vec<(&str, &str)> = [Some(("search", word)), scope].into_iter().flatten().collect();
        let found = found(&search);
        // This one is called Jane, too.
        let expected = if word == "jane" && scope.is_none() {
            ids(&[NEARLY_JANE])
        } else {
            Vec::new()
        };
        assert_eq!(found, expected, "{search:?}");
    }
    assert_eq!(project.find_ids(&[("tenant_id", PAT)]), Vec::<String>::new());
}

fn a_held_event_is_counted_and_stays(kind: DatabaseKind) {
    let Some((erased, organization)) = Erased::running(kind) else {
        return;
    };
    let project = organization.project();
    assert_eq!(erased.erasures[OF_JANE]["held"], json!(1));
    assert_eq!(
        project.find_ids(&[("actor_id", "usr_jane")]),
        [erased.ids[HELD].clone()]
    );
    let planned = recorded(organization, "audit.erasure.planned");
    let of_jane = planned
        .iter()
        .find(|event| event["metadata"]["erasure"] == erased.erasures[OF_JANE]["id"]);
    assert_eq!(of_jane.expect("the plan")["metadata"]["held"], json!(1));
}

fn a_tenant_that_is_the_person_is_removed_as_rows(kind: DatabaseKind) {
    let Some((erased, organization)) = Erased::running(kind) else {
        return;
    };
    let expected =
        json!({"seq": OF_PAT, "id": null, "occurred_at": null, "action": null, "row": true, "parts": []});
    assert_eq!(events_of(organization, &erased.erasures[OF_TENANT]), [expected]);
}

fn an_alert_does_not_keep_the_person(kind: DatabaseKind) {
    let Some((erased, organization)) = Erased::running(kind) else {
        return;
    };
    let alerts = organization.project().all_alerts();
    let of_door = alerts
        .iter()
        .find(|alert| alert["sample_event_ids"] == json!([erased.ids[DOOR]]));
    assert_eq!(of_door.expect("the alert stays")["group_key"], "[ERASED]");
}

fn a_destination_with_another_filter_gets_the_record_of_an_erasure(kind: DatabaseKind) {
    let Some(erased) = Erased::shared(kind) else {
        return;
    };
    let [others, tenant] = &erased.sent;
    for record in others {
        assert_eq!(record["action"], "audit.events.erased", "{record}");
    }
    assert_eq!(others.len(), erased.erasures.len());
    let actions: Vec<&Value> = tenant.iter().map(|record| &record["action"]).collect();
    assert_eq!(actions, ["later.happened"], "a tenant does not learn of others");
}

fn an_erasure_is_recorded_with_self_audit_off(kind: DatabaseKind) {
    let Some((erased, organization)) = Erased::running(kind) else {
        return;
    };
    let mut carried_out = recorded(organization, "audit.events.erased");
    assert_eq!(carried_out.len(), erased.erasures.len());
    carried_out.sort_by_key(|event| event["metadata"]["erasure"].to_string());
    let mut erasures = erased.erasures.clone();
    erasures.sort_by_key(|erasure| erasure["id"].to_string());
    for (event, erasure) in carried_out.iter().zip(&erasures) {
        let metadata = &event["metadata"];
        for (member, of_erasure) in [
            ("erasure", "id"),
            ("plan", "planned_seq"),
            ("events", "events"),
            ("rows", "rows"),
            ("digest", "digest"),
            ("basis", "basis"),
            ("ticket", "ticket"),
        ] {
            assert_eq!(metadata[member], erasure[of_erasure], "{member}: {event}");
        }
    }
    assert_eq!(
        recorded(organization, "audit.erasure.requested"),
        Vec::<Value>::new()
    );
}

/// A client's queue that sends again what was erased: the service does not know it any more.
fn a_repeated_request_stores_what_was_erased_as_a_new_event(kind: DatabaseKind) {
    let Some(erased) = Erased::shared(kind) else {
        return;
    };
    let mut scene = erased.scene();
    let server = scene.start();
    let project = scene.organization.project();
    let id = project.store(by_jane());
    assert_ne!(id, erased.ids[BY_JANE]);
    assert_eq!(project.store(by_jane()), id, "its own repeat is one");
    stop(server);
    assert_eq!(scene.verified()["findings"], json!([]));
}
