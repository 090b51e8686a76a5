//! The feed as a viewer token sees it, and the information that it does not reveal.

use super::{everything, ids, page};
use audit_tests::{DatabaseKind, Organization, event, event_with, on_both_databases};
use serde_json::{Value, json};

on_both_databases! {
    a_viewer_follows_its_own_tenant_only,
    a_tier_decides_which_events_and_fields_come,
    what_a_tier_hides_cannot_be_found_by,
    a_cursor_does_not_tell_how_much_others_store,
    a_page_does_not_tell_whether_others_store,
    a_tier_that_changes_holds_from_the_next_page_on,
}

fn a_viewer_follows_its_own_tenant_only(database: DatabaseKind) {
    let organization = Organization::fresh(database);
    let of = |tenant: &str| {
        organization
            .project()
            .store(event_with(json!({"tenant_id": tenant})))
    };
    let own = [of("acme"), of("rival"), of("acme"), of("rival"), of("acme")];
    let viewer = organization.viewer("acme", "full");
    let expected = [own[0].clone(), own[2].clone(), own[4].clone()];
    assert_eq!(ids(&everything(&viewer, &[("limit", "1")]).0), expected);
    // As on the list, the parameter changes nothing.
    assert_eq!(ids(&everything(&viewer, &[("tenant_id", "rival")]).0), expected);
    let mut stream = viewer.get("/events/feed").open_events();
    for id in expected {
        let event = stream.next(audit_tests::Deadline::seconds(30)).expect("an event");
        let event: Value = serde_json::from_str(&event.data).expect("JSON");
        assert_eq!(event["id"], id);
    }
}

fn a_tier_decides_which_events_and_fields_come(database: DatabaseKind) {
    let organization = Organization::fresh(database);
    let with_everything = |category: &str| {
        event_with(json!({
            "category": category,
            "actor": {"name": "Jane", "email": "jane@example.com"},
            "metadata": {"a": 1},
            "context": {"location": "Paris"},
            "changes": [{"field": "f"}],
        }))
    };
    for category in ["security", "auth", "admin", "access", "system", "mutation"] {
        organization.project().store(with_everything(category));
    }
    for tier in ["full", "standard", "minimal"] {
        let viewer = organization.viewer("tenant-1", tier);
        let (mut followed, _) = everything(&viewer, &[]);
        let mut listed = viewer.find(&[]);
        assert_eq!(listed.len(), if tier == "minimal" { 3 } else { 6 });
        followed.sort_by_key(|event| event["id"].to_string());
        listed.sort_by_key(|event| event["id"].to_string());
        assert_eq!(followed, listed, "{tier}");
    }
}

fn what_a_tier_hides_cannot_be_found_by(database: DatabaseKind) {
    let organization = Organization::fresh(database);
    let tier = json!({"name": "blind", "hidden_fields": ["action", "category", "actor", "target.id", "target.type"]});
    let created = organization.master().post("/viewer-tiers").json(tier).send();
    created.expect_status(201);
    organization
        .project()
        .store(event_with(json!({"target": {"id": "t", "type": "document"}})));
    let viewer = organization.viewer("tenant-1", "blind");
    assert_eq!(everything(&viewer, &[]).0.len(), 1);
    for (name, value) in [
        ("action", "user.created"),
        ("action", "*"),
        ("category", "mutation"),
        ("actor_id", "actor-1"),
        ("actor_type", "user"),
        ("target_id", "t"),
        ("target_type", "document"),
    ] {
        assert_eq!(
            page(&viewer, &[(name, value)])["events"],
            json!([]),
            "{name}={value}"
        );
        assert!(viewer.find(&[(name, value)]).is_empty(), "{name}={value}");
    }
}

fn a_cursor_does_not_tell_how_much_others_store(database: DatabaseKind) {
    use base64::Engine;
    let organization = Organization::fresh(database);
    let viewer = organization.viewer("acme", "full");
    let mut places: Vec<Vec<u8>> = Vec::new();
    for _ in 0..8 {
        let cursor = page(&viewer, &[]).text("cursor");
        let bytes = base64::engine::general_purpose::URL_SAFE_NO_PAD.decode(cursor);
        places.push(bytes.expect("base64"));
        organization.project().store(event());
    }
    // Unencrypted cursors of adjacent positions would share a prefix.
    for pair in places.windows(2) {
        let alike = pair[0]
            .iter()
            .zip(&pair[1])
            .skip(1)
            .filter(|(a, b)| a == b)
            .count();
        assert!(alike < 6, "{places:?}");
    }
}

fn a_page_does_not_tell_whether_others_store(database: DatabaseKind) {
    let organization = Organization::fresh(database);
    let viewer = organization.viewer("acme", "full");
    let of_acme = || {
        let event = event_with(json!({"tenant_id": "acme"}));
        organization.project().store(event)
    };
    let own = [of_acme(), of_acme()];
    let cursors = [(); 2].map(|()| page(&viewer, &[]).text("cursor"));
    assert_ne!(cursors[0], cursors[1], "the position is the same");
    // More than one read examines.
    for _ in 0..60 {
        organization.project().store_all(vec![event(); 100]);
    }
    let last = page(&viewer, &[("limit", "2")]);
    assert_eq!(ids(&last.list("events")), own);
    assert_eq!(last["has_more"], false);
    for cursor in &cursors {
        let next = page(&viewer, &[("after", cursor)]);
        assert_eq!((&next["events"], &next["has_more"]), (&json!([]), &json!(false)));
    }
    let third = of_acme();
    let first = page(&viewer, &[("limit", "2")]);
    assert_eq!(first["has_more"], true);
    for cursor in [&first.text("cursor"), &last.text("cursor"), &cursors[0]] {
        let next = page(&viewer, &[("after", cursor)]);
        assert_eq!(ids(&next.list("events")), [third.as_str()]);
    }
}

fn a_tier_that_changes_holds_from_the_next_page_on(database: DatabaseKind) {
    let organization = Organization::fresh(database);
    let master = organization.master();
    let tier = json!({"name": "support"});
    master.post("/viewer-tiers").json(tier).send().expect_status(201);
    let viewer = organization.viewer("tenant-1", "support");
    let noted = event_with(json!({"metadata": {"note": "n"}}));
    organization.project().store_all(vec![noted; 2]);
    let first = page(&viewer, &[("limit", "1")]);
    assert_eq!(first["events"][0]["metadata"]["note"], "n");
    let change = master
        .patch("/viewer-tiers/support")
        .json(json!({"hidden_fields": ["metadata"]}));
    change.send().expect_status(200);
    let second = page(&viewer, &[("after", &first.text("cursor"))]);
    assert_eq!(second.list("events").len(), 1);
    assert_eq!(second["events"][0]["metadata"], json!(null));
    master.delete("/viewer-tiers/support").send().expect_status(200);
    let third = viewer.get("/events/feed").query("after", &second.text("cursor"));
    third.send().expect_error(401, "invalid_token");
}
