//! Reading alerts: `GET /alerts` and `GET /alerts/:id`.

use audit_tests::{Client, DatabaseKind, Organization, alert_rule, door_opened, on_both_databases};
use serde_json::{Value, json};
use std::collections::BTreeSet;

const ALERTS: usize = 23;

/// A project with [`ALERTS`] alerts of two rules, some of them at the same moment.
fn organization_with_alerts(database: DatabaseKind) -> Organization {
    let organization = Organization::fresh(database);
    organization.create_alert_rule(alert_rule(json!({"name": "doors", "severity": "low"})));
    organization.create_alert_rule(alert_rule(
        json!({"name": "windows", "severity": "high", "action_pattern": "window.*"}),
    ));
    let window = |n: usize| audit_tests::merge(door_opened(&actor(n)), json!({"action": "window.opened"}));
    let project = organization.project();
    for batch in 0..4 {
        project.store_all((0..4).map(|n| door_opened(&actor(batch * 4 + n))).collect());
    }
    project.store_all((0..3).map(window).collect());
    for n in 3..7 {
        project.store(window(n));
    }
    organization
}

fn actor(n: usize) -> String {
    format!("actor-{n}")
}

fn ids(alerts: &[Value]) -> Vec<String> {
    alerts
        .iter()
        .map(|alert| alert["id"].as_str().expect("an id").to_owned())
        .collect()
}

fn text<'a>(alert: &'a Value, member: &str) -> &'a str {
    alert[member].as_str().expect("a string")
}

/// The first page of three alerts, and its cursor.
fn first_page(client: &Client, parameters: &[(&str, &str)]) -> (Vec<Value>, String) {
    let response = client
        .get("/alerts")
        .queries(parameters)
        .query("limit", "3")
        .send()
        .expect_status(200);
    (response.list("alerts"), response.text("cursor"))
}

on_both_databases! {
    an_alert_has_the_documented_members,
    a_key_that_may_not_read_events_gets_no_name_of_an_actor,
    alerts_come_newest_first,
    the_pages_together_are_everything_exactly_once_in_order,
    fifty_alerts_are_a_page_unless_more_are_asked_for,
    alerts_that_fire_meanwhile_move_nothing,
    filters_find_what_they_say_and_combine,
    both_ends_of_a_period_belong_to_it,
    a_cursor_is_bound_to_its_filters,
    a_changed_cursor_is_refused,
    every_wrong_parameter_is_named,
    alerts_of_another_project_are_not_seen,
    each_environment_sees_its_own_alerts,
    one_alert_is_read_by_its_id,
    an_alert_names_its_actor_and_the_project_and_environment,
}

fn an_alert_has_the_documented_members(database: DatabaseKind) {
    let organization = Organization::fresh(database);
    let rule = organization.create_alert_rule(alert_rule(json!({"name": "doors", "severity": "medium"})));
    let id = organization.project().store(door_opened("actor-7"));
    let response = organization.project().get("/alerts").send().expect_status(200);
    assert_eq!(
        (&response["cursor"], &response["has_more"]),
        (&json!(null), &json!(false))
    );
    let alert = organization.project().only_alert();
    let alert_id = text(&alert, "id");
    assert!(
        alert_id.starts_with("alt_") && alert_id.len() == "alt_".len() + 26,
        "{alert_id}"
    );
    let fired_at = text(&alert, "fired_at");
    assert!(
        fired_at.len() == "2026-01-15T10:30:00.000Z".len() && fired_at.ends_with('Z'),
        "{fired_at}"
    );
    let expected = json!({
        "id": alert_id, "rule_id": rule["id"], "rule_name": "doors", "severity": "medium", "status": "open",
        "tenant_id": "tenant-1", "group_by": "actor_id", "group_key": "actor-7", "event_count": 1, "sample_event_ids": [id], "fired_at": fired_at,
        "acknowledged_at": null, "resolved_at": null, "project_id": organization.project_id,
        "project_name": "default", "environment": "live",
    });
    assert_eq!(alert, expected);
    assert_eq!(organization.master().alerts(&[]), [expected]);
}

fn an_alert_names_its_actor_and_the_project_and_environment(database: DatabaseKind) {
    let organization = Organization::fresh(database);
    organization.create_alert_rule(alert_rule(json!({})));
    let test = organization.test();
    let named = json!({"actor": {"name": "Jane Doe"}});
    test.store(audit_tests::merge(door_opened("jane@example.com"), named));
    let alert = test.only_alert();
    assert_eq!(
        (
            &alert["actor_name"],
            &alert["environment"],
            &alert["project_name"]
        ),
        (&json!("Jane Doe"), &json!("test"), &json!("default"))
    );
    let path = format!("/alerts/{}", text(&alert, "id"));
    assert_eq!(test.one(&path, "alert"), alert);
    let rename = json!({"name": "renamed"});
    let project = format!("/projects/{}", organization.project_id);
    organization
        .master()
        .patch(&project)
        .json(rename)
        .send()
        .expect_status(200);
    let changed = test
        .patch(&path)
        .json(json!({"status": "acknowledged"}))
        .send()
        .expect_status(200);
    assert_eq!(
        (&changed["alert"]["project_name"], &changed["alert"]["actor_name"]),
        (&json!("renamed"), &json!("Jane Doe"))
    );
}

fn a_key_that_may_not_read_events_gets_no_name_of_an_actor(database: DatabaseKind) {
    let organization = Organization::fresh(database);
    organization.create_alert_rule(alert_rule(json!({})));
    let named = json!({"actor": {"name": "Jane Doe"}});
    let project = organization.project();
    project.store(audit_tests::merge(door_opened("jane"), named));
    let with_scopes = |scopes: Value| {
        let body = json!({"project_id": organization.project_id, "type": "project", "name": "limited", "scopes": scopes});
        let key = organization
            .master()
            .post("/keys")
            .json(body)
            .send()
            .expect_status(201);
        organization.with_credential(&key.text("key"))
    };
    let mut unnamed = project.only_alert();
    let reader = with_scopes(json!(["alerts", "events:read"]));
    assert_eq!(reader.only_alert(), unnamed);
    assert_eq!(
        unnamed
            .as_object_mut()
            .and_then(|alert| alert.remove("actor_name")),
        Some(json!("Jane Doe"))
    );
    let alerts_only = with_scopes(json!(["alerts"]));
    assert_eq!(alerts_only.only_alert(), unnamed);
    let path = format!("/alerts/{}", text(&unnamed, "id"));
    assert_eq!(alerts_only.one(&path, "alert"), unnamed);
    let changed = alerts_only
        .patch(&path)
        .json(json!({"status": "acknowledged"}))
        .send()
        .expect_status(200);
    assert_eq!(changed["alert"].get("actor_name"), None);
}

fn alerts_come_newest_first(database: DatabaseKind) {
    let organization = organization_with_alerts(database);
    let alerts = organization.project().all_alerts();
    assert_eq!(alerts.len(), ALERTS);
    let order: Vec<(&str, &str)> = alerts
        .iter()
        .map(|alert| (text(alert, "fired_at"), text(alert, "id")))
        .collect();
    assert!(order.is_sorted_by(|newer, older| newer > older), "{order:?}");
}

fn the_pages_together_are_everything_exactly_once_in_order(database: DatabaseKind) {
    let project = organization_with_alerts(database).project();
    let all = ids(&project.all_alerts());
    assert_eq!(all.iter().collect::<BTreeSet<_>>().len(), ALERTS);
    for limit in ["1", "2", "7", "22", "23", "24", "100"] {
        let pages = project.pages_of("/alerts", "alerts", &[("limit", limit)]);
        assert_eq!(ids(&pages.concat()), all, "limit {limit}");
        let size: usize = limit.parse().expect("a number");
        assert_eq!(
            pages.len(),
            ALERTS.div_ceil(size),
            "no empty page at the end, limit {limit}"
        );
    }
    let (_, cursor) = first_page(&project, &[]);
    let larger = project.alerts(&[("limit", "10"), ("cursor", &cursor)]);
    assert_eq!(ids(&larger), all[3..13], "the page size may change on the way");
}

fn fifty_alerts_are_a_page_unless_more_are_asked_for(database: DatabaseKind) {
    let organization = Organization::fresh(database);
    organization.create_alert_rule(alert_rule(json!({})));
    let project = organization.project();
    project.store_all((0..100).map(|n| door_opened(&actor(n))).collect());
    project.store(door_opened("actor-1"));
    assert_eq!(project.alerts(&[]).len(), 50);
    let response = project.get("/alerts").query("limit", "100").send();
    let response = response.expect_status(200);
    assert_eq!(
        (response.list("alerts").len(), &response["has_more"]),
        (100, &json!(true))
    );
}

fn alerts_that_fire_meanwhile_move_nothing(database: DatabaseKind) {
    let organization = organization_with_alerts(database);
    let project = organization.project();
    let existing = ids(&project.all_alerts());
    let (mut alerts, mut cursor) = first_page(&project, &[]);
    let mut seen = Vec::new();
    loop {
        seen.append(&mut alerts);
        project.store(door_opened("somebody"));
        let response = project
            .get("/alerts")
            .queries(&[("limit", "3"), ("cursor", &cursor)])
            .send()
            .expect_status(200);
        alerts = response.list("alerts");
        match response["cursor"].as_str() {
            Some(next) => next.clone_into(&mut cursor),
            None => break,
        }
    }
    seen.append(&mut alerts);
    assert_eq!(ids(&seen), existing);
}

fn filters_find_what_they_say_and_combine(database: DatabaseKind) {
    let organization = organization_with_alerts(database);
    let project = organization.project();
    let rules = organization.project().alert_rules();
    let (doors, windows) = (text(&rules[7], "id"), text(&rules[8], "id"));
    let all = project.all_alerts();
    project.move_alert(&all[0], "acknowledged");
    project.move_alert(&all[1], "resolved");
    project.move_alert(&all[22], "resolved");
    let all = project.all_alerts();
    let cases: [(&[(&str, &str)], usize); 13] = [
        (&[("rule_id", doors)], 16),
        (&[("rule_id", windows)], 7),
        (&[("rule_id", "auth_brute_force")], 0),
        (&[("rule_id", "67e55044-10b1-426f-9247-bb680e5fe0c8")], 0),
        (&[("rule_id", "nonsense")], 0),
        (&[("severity", "high")], 7),
        (&[("severity", "critical")], 0),
        (&[("status", "open")], 20),
        (&[("status", "acknowledged")], 1),
        (&[("status", "resolved")], 2),
        (&[("status", "resolved"), ("severity", "low")], 1),
        (&[("status", "resolved"), ("rule_id", windows)], 1),
        (&[("status", "acknowledged"), ("rule_id", doors)], 0),
    ];
    for (parameters, count) in cases {
        let matches = |alert: &&Value| {
            let mut parameters = parameters.iter();
            parameters.all(|(name, value)| alert[*name] == *value)
        };
        let expected: Vec<Value> = all.iter().filter(matches).cloned().collect();
        assert_eq!(expected.len(), count, "{parameters:?}");
        assert_eq!(project.alerts(parameters), expected, "{parameters:?}");
        let small_pages = [parameters, &[("limit", "2")]].concat();
        let pages = project.pages_of("/alerts", "alerts", &small_pages);
        assert_eq!(pages.concat(), expected, "{parameters:?}");
    }
}

fn both_ends_of_a_period_belong_to_it(database: DatabaseKind) {
    let project = organization_with_alerts(database).project();
    let all = project.all_alerts();
    let (newer, older) = (text(&all[5], "fired_at"), text(&all[15], "fired_at"));
    let periods: [&[(&str, &str)]; 5] = [
        &[("start_date", older)],
        &[("end_date", older)],
        &[("start_date", older), ("end_date", newer)],
        &[("start_date", older), ("end_date", older)],
        &[("start_date", newer), ("end_date", older), ("severity", "low")],
    ];
    for period in periods {
        let within = |alert: &&Value| {
            let fired_at = text(alert, "fired_at");
            let mut parameters = period.iter();
            parameters.all(|&(name, value)| match name {
                "start_date" => fired_at >= value,
                "end_date" => fired_at <= value,
                _ => alert[name] == *value,
            })
        };
        let expected: Vec<Value> = all.iter().filter(within).cloned().collect();
        assert_eq!(project.alerts(period), expected, "{period:?}");
    }
    let with_offset = format!("{}+00:00", older.trim_end_matches('Z'));
    let alerts = project.alerts(&[("start_date", &with_offset)]);
    assert!(alerts.len() > 15, "{}", alerts.len());
    assert_eq!(project.alerts(&[("end_date", "2020-01-01T00:00:00Z")]).len(), 0);
}

fn a_cursor_is_bound_to_its_filters(database: DatabaseKind) {
    let project = organization_with_alerts(database).project();
    let (_, cursor) = first_page(&project, &[("severity", "low")]);
    let others: [&[(&str, &str)]; 5] = [
        &[],
        &[("severity", "high")],
        &[("status", "open")],
        &[("severity", "low"), ("status", "open")],
        &[("severity", "low"), ("end_date", "2099-01-01T00:00:00Z")],
    ];
    for other in others {
        let request = project.get("/alerts").queries(other).query("cursor", &cursor);
        request.send().expect_invalid(&["cursor"]);
    }
    let same = project.alerts(&[("severity", "low"), ("cursor", &cursor)]);
    assert_eq!(same.len(), 13);
}

fn a_changed_cursor_is_refused(database: DatabaseKind) {
    let organization = organization_with_alerts(database);
    let project = organization.project();
    let (_, cursor) = first_page(&project, &[]);
    let other = |character| if character == 'A' { 'B' } else { 'A' };
    let mut changed: Vec<String> = (0..cursor.chars().count())
        .map(|position| {
            let characters = cursor.chars().enumerate();
            let changed = characters.map(|(at, old)| if at == position { other(old) } else { old });
            changed.collect()
        })
        .collect();
    changed.extend([
        format!("{cursor}A"),
        cursor[1..].to_owned(),
        "x".to_owned(),
        "é".to_owned(),
    ]);
    let events = project.get("/events").query("limit", "1").send().text("cursor");
    changed.push(events);
    for cursor in changed {
        project
            .get("/alerts")
            .query("cursor", &cursor)
            .send()
            .expect_invalid(&["cursor"]);
    }
    let stranger = Organization::fresh(database).project();
    let response = stranger.get("/alerts").query("cursor", &cursor).send();
    assert!(
        response.status() == 400 || response["alerts"] == json!([]),
        "{response:?}"
    );
}

fn every_wrong_parameter_is_named(database: DatabaseKind) {
    let organization = Organization::fresh(database);
    let get = |name: &str, value: &str| organization.project().get("/alerts").query(name, value).send();
    for (name, value) in [
        ("limit", "0"),
        ("limit", "101"),
        ("limit", "-1"),
        ("limit", "ten"),
        ("limit", ""),
        ("severity", "urgent"),
        ("status", "closed"),
        ("status", "Open"),
        ("start_date", "yesterday"),
        ("end_date", "2026-01-15T10:30:00"),
        ("group_key", "actor-1"),
        ("offset", "5"),
    ] {
        get(name, value).expect_invalid(&[name]);
    }
    get("limit", "1").expect_status(200);
    let both = [("limit", "0"), ("severity", "x"), ("colour", "red")];
    let response = organization.project().get("/alerts").queries(&both).send();
    response.expect_invalid(&["limit", "severity", "colour"]);
}

fn alerts_of_another_project_are_not_seen(database: DatabaseKind) {
    let organization = organization_with_alerts(database);
    let default = organization.project_id.clone();
    let other = organization.create_project("other");
    let other_key = organization.with_credential(&organization.create_key_of(&other, "live"));
    assert_eq!(other_key.alerts(&[]).len(), 0);
    assert_eq!(Organization::fresh(database).project().alerts(&[]).len(), 0);
    let master = organization.master();
    assert_eq!(master.alerts(&[("project_id", &other)]).len(), 0);
    assert_eq!(master.alerts(&[("project_id", &default)]).len(), ALERTS);
    master.get("/alerts").send().expect_invalid(&["project_id"]);
    let rule = alert_rule(json!({}));
    let in_other = master.with_header("x-project-id", &other);
    in_other
        .post("/alerts/rules")
        .json(rule)
        .send()
        .expect_status(201);
    other_key.store(door_opened("actor-1"));
    assert_eq!(other_key.alerts(&[]).len(), 1);
    assert_eq!(organization.project().all_alerts().len(), ALERTS);
}

fn each_environment_sees_its_own_alerts(database: DatabaseKind) {
    let organization = Organization::fresh(database);
    organization.create_alert_rule(alert_rule(json!({})));
    let test = organization.test();
    organization.project().store(door_opened("live-actor"));
    test.store(door_opened("test-actor"));
    let group_key = |alert: Value| alert["group_key"].clone();
    assert_eq!(group_key(organization.project().only_alert()), "live-actor");
    assert_eq!(group_key(test.only_alert()), "test-actor");
    let master = organization.master();
    assert_eq!(group_key(master.only_alert()), "live-actor");
    let asked = |environment: &str| master.alerts(&[("environment", environment)]);
    assert_eq!(asked("live"), organization.project().alerts(&[]));
    assert_eq!(asked("test"), test.alerts(&[]));
    master
        .get("/alerts")
        .query("environment", "staging")
        .send()
        .expect_invalid(&["environment"]);
    let response = organization
        .project()
        .get("/alerts")
        .query("environment", "test")
        .send();
    assert!(
        !response.body().to_string().contains("test-actor"),
        "{response:?}"
    );
}

fn one_alert_is_read_by_its_id(database: DatabaseKind) {
    let organization = Organization::fresh(database);
    organization.create_alert_rule(alert_rule(json!({})));
    let alert = organization.raise_alert();
    let path = format!("/alerts/{}", text(&alert, "id"));
    let (project, master) = (organization.project(), organization.master());
    assert_eq!(project.one(&path, "alert"), alert);
    let acknowledged = project.move_alert(&alert, "acknowledged");
    assert_eq!(master.one(&path, "alert"), acknowledged);
    let unknown = format!("/alerts/alt_{}", "0".repeat(26));
    for path in [unknown.as_str(), "/alerts/nonsense", "/alerts/deliveries"] {
        project.get(path).send().expect_error(404, "not_found");
    }
    let in_test = master.get(&path).query("environment", "test");
    in_test.send().expect_error(404, "not_found");
    for stranger in [organization.test(), Organization::fresh(database).master()] {
        stranger.get(&path).send().expect_error(404, "not_found");
    }
}
