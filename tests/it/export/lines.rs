//! JSON lines, access to events, and refused requests.

use super::{export, exported, store_variety};
use audit_tests::{
    Client, Database, DatabaseKind, Deadline, Next, Organization, Response, Server, event, event_with,
    on_both_databases,
};
use serde_json::{Value, json};
use std::io::{Read, Write};
use std::net::TcpStream;

on_both_databases! {
    an_export_is_what_the_list_has_on_all_its_pages,
    the_filters_of_the_list_choose_what_is_exported,
    an_export_of_nothing_is_empty,
    an_export_says_what_it_is,
    the_name_of_the_file_has_tenant_and_period,
    a_viewer_exports_its_own_tenant_as_its_tier_shows_it,
    the_environments_are_exported_apart,
    what_the_export_does_not_take_is_refused,
    an_older_http_is_refused,
    an_organization_runs_four_exports_at_once,
    an_export_breaks_off_when_its_key_is_revoked,
}

fn an_export_is_what_the_list_has_on_all_its_pages(database: DatabaseKind) {
    let project = Organization::fresh(database).project();
    store_variety(&project);
    // More than a page of the export; equal times are in the order of ids.
    for _ in 0..7 {
        let same = event_with(json!({"occurred_at": "2026-01-09T00:00:00Z"}));
        project.store_all(vec![same; 100]);
    }
    let listed = project.pages(&[("limit", "200")]).concat();
    assert_eq!(listed.len(), 707);
    assert_eq!(exported(&project, &[]), listed);
    assert_eq!(exported(&project, &[("format", "jsonl")]), listed);
}

fn the_filters_of_the_list_choose_what_is_exported(database: DatabaseKind) {
    let project = Organization::fresh(database).project();
    store_variety(&project);
    let queries: [&[(&str, &str)]; 13] = [
        &[("tenant_id", "tenant-2")],
        &[("actor_id", "actor-2")],
        // Redaction has replaced it by a hash.
        &[("actor_id", "jane@example.com")],
        &[("actor_type", "service")],
        &[("action", "auth.failed")],
        &[("action", "auth.*")],
        &[("category", "security")],
        &[("target_id", "plan")],
        &[("target_type", "document")],
        &[("start_date", "2026-01-13T00:00:00Z")],
        &[
            ("start_date", "2026-01-11T00:00:00Z"),
            ("end_date", "2026-01-12T00:00:00+00:00"),
        ],
        &[("search", "night jo*")],
        &[
            ("search", "created"),
            ("tenant_id", "tenant-1"),
            ("category", "mutation"),
        ],
    ];
    for query in queries {
        let listed = project.find(query);
        assert!((1..7).contains(&listed.len()), "{query:?} finds some of them");
        assert_eq!(exported(&project, query), listed, "{query:?}");
    }
}

fn an_export_of_nothing_is_empty(database: DatabaseKind) {
    let project = Organization::fresh(database).project();
    assert_eq!(export(&project, &[]), "");
    project.store(event());
    assert_eq!(export(&project, &[("actor_id", "nobody")]), "");
}

fn an_export_says_what_it_is(database: DatabaseKind) {
    let project = Organization::fresh(database).project();
    project.store(event());
    for (format, content_type) in [
        ("jsonl", "application/x-ndjson"),
        ("csv", "text/csv; charset=utf-8; header=present"),
        (
            "xlsx",
            "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
        ),
    ] {
        let live = project.get("/events/export").query("format", format).open();
        assert_eq!(live.status, 200);
        assert_eq!(live.header("content-type"), Some(content_type));
        let disposition = format!("attachment; filename=\"audit-events.{format}\"");
        assert_eq!(live.header("content-disposition"), Some(disposition.as_str()));
        assert_eq!(live.header("cache-control"), Some("no-store"));
        assert!(live.header("x-request-id").is_some());
        let (body, end) = live.rest(Deadline::seconds(30));
        assert_eq!(end, Next::End, "{}", String::from_utf8_lossy(&body));
    }
}

fn the_name_of_the_file_has_tenant_and_period(database: DatabaseKind) {
    let organization = Organization::fresh(database);
    let name = |client: &Client, parameters: &[(&str, &str)]| {
        let request = client.get("/events/export").queries(parameters);
        let response = request.send_raw();
        assert_eq!(response.status, 200, "{response:?}");
        response.header("content-disposition").expect("a name").to_owned()
    };
    let period = [("start_date", "2026-01-01"), ("end_date", "2026-01-31")];
    let viewer = organization.viewer("acme", "full");
    // A date alone is a day of the zone.
    for zone in ["UTC", "America/Los_Angeles", "Asia/Tokyo"] {
        for format in ["csv", "jsonl", "xlsx"] {
            let parameters = [&period[..], &[("time_zone", zone), ("format", format)]].concat();
            assert_eq!(
                name(&viewer, &parameters),
                format!("attachment; filename=\"audit-events-acme-from-2026-01-01-to-2026-01-31.{format}\""),
                "{zone}"
            );
        }
    }
    let project = organization.project();
    assert_eq!(
        name(&project, &[("tenant_id", "a"), ("tenant_id", "b")]),
        "attachment; filename=\"audit-events.jsonl\""
    );
    let odd = name(&project, &[("tenant_id", "../é\"\r\n;x")]);
    assert_eq!(
        odd.to_lowercase(),
        "attachment; filename=\"audit-events-..______x.jsonl\"; filename*=utf-8''audit%2devents%2d.._%c3%a9____x.jsonl"
    );
}

fn a_viewer_exports_its_own_tenant_as_its_tier_shows_it(database: DatabaseKind) {
    let organization = Organization::fresh(database);
    store_variety(&organization.project());
    let all = organization.project().find(&[]);
    for tier in ["full", "standard", "minimal"] {
        let viewer = organization.viewer("tenant-1", tier);
        let listed = viewer.find(&[]);
        assert!(!listed.is_empty() && listed.len() < all.len(), "{tier}");
        assert_eq!(exported(&viewer, &[]), listed, "{tier}");
        assert_eq!(exported(&viewer, &[("tenant_id", "tenant-2")]), listed, "{tier}");
    }
    let standard = organization.viewer("tenant-1", "standard");
    for format in ["jsonl", "csv"] {
        let text = export(&standard, &[("format", format)]);
        for hidden in ["192.0.2.1", "Paris", "exact"] {
            assert!(!text.contains(hidden), "{format}: {hidden}");
        }
    }
    let minimal = organization.viewer("tenant-1", "minimal");
    assert_eq!(export(&minimal, &[("search", "night")]), "", "names are hidden");
}

fn the_environments_are_exported_apart(database: DatabaseKind) {
    let organization = Organization::fresh(database);
    let (live, test) = (organization.project(), organization.test());
    let (of_live, of_test) = (live.store(event()), test.store(event()));
    let only = |events: Vec<Value>| {
        assert_eq!(events.len(), 1);
        events[0]["id"].clone()
    };
    let master = organization.master();
    assert_eq!(only(exported(&live, &[])), of_live);
    assert_eq!(only(exported(&test, &[])), of_test);
    assert_eq!(only(exported(&master, &[])), of_live);
    assert_eq!(only(exported(&master, &[("environment", "test")])), of_test);
}

fn what_the_export_does_not_take_is_refused(database: DatabaseKind) {
    let organization = Organization::fresh(database);
    let project = organization.project();
    for (name, value) in [
        ("format", "xml"),
        ("format", "CSV"),
        ("format", ""),
        ("start_date", "yesterday"),
        ("end_date", "2026-13-01T00:00:00Z"),
        ("action", "*.x"),
        ("category", "none"),
        ("actor_type", "robot"),
        ("search", "!"),
        ("limit", "10"),
        ("cursor", "x"),
        ("after", "x"),
        ("environment", "test"),
        ("for", "numbers"),
        ("separator", ";"),
        ("utc_offset", "2"),
        ("utc_offset", "+15:00"),
        ("utc_offset", "Europe/Berlin"),
        ("time_zone", "Europe/Bonn"),
        ("time_zone", "+02:00"),
        ("time_zone", ""),
    ] {
        let response = project.get("/events/export").query(name, value).send();
        response.expect_invalid(&[name]);
    }
    let both = [("time_zone", "Europe/Berlin"), ("utc_offset", "+02:00")];
    let both = project.get("/events/export").queries(&both).send();
    both.expect_invalid(&["time_zone"]);
    let several = project
        .get("/events/export")
        .queries(&[("format", "x"), ("category", "x"), ("x", "")]);
    several.send().expect_invalid(&["format", "category", "x"]);
    let anonymous = organization.anonymous().get("/events/export");
    anonymous.send().expect_error(401, "unauthorized");
    let posted = project.post("/events/export").send();
    let refused = posted.expect_error(405, "method_not_allowed");
    assert_eq!(refused.header("allow"), Some("GET, HEAD"));
}

/// In older versions a body ends with its connection, so a client could mistake a partial export for a complete one.
fn an_older_http_is_refused(database: DatabaseKind) {
    let organization = Organization::fresh(database);
    let address = Server::shared(database).base_url().replace("http://", "");
    let mut stream = TcpStream::connect(address).expect("connect");
    let key = &organization.project_key;
    let request = format!("GET /api/v1/events/export HTTP/1.0\r\nauthorization: Bearer {key}\r\n\r\n");
    stream.write_all(request.as_bytes()).expect("send");
    let mut response = String::new();
    stream.read_to_string(&mut response).expect("an answer");
    assert!(response.starts_with("HTTP/1.0 400 "), "{response}");
    assert!(response.contains("validation_error"), "{response}");
}

fn an_organization_runs_four_exports_at_once(database: DatabaseKind) {
    let server = Server::start(&Database::create(database), &[]);
    let organizations = [(), ()].map(|()| Organization::create(&server, "enterprise"));
    let [one, two] = &organizations;
    for organization in [one, two] {
        super::load::store_mebibytes(&organization.project(), super::load::MORE_THAN_SOCKETS_MEBIBYTES);
    }
    let open = |organization: &Organization| organization.project().get("/events/export").open();
    let refused = |organization: &Organization| {
        let response = organization.project().get("/events/export").send();
        let response: Response = response.expect_error(503, "unavailable");
        assert!(response.header("retry-after").is_some(), "{response:?}");
    };
    let mut of_one: Vec<_> = (0..4).map(|_| open(one)).collect();
    refused(one);
    // An organization gets no more than are free, so that some are left.
    let of_two: Vec<_> = (0..2).map(|_| open(two)).collect();
    refused(two);
    assert_eq!(server.metric("audit_exports_running"), 6);
    // Reading one export to its end frees its slot at once.
    let (_, end) = of_one.swap_remove(0).rest(Deadline::seconds(120));
    assert_eq!(end, Next::End);
    assert!(!exported(&two.project(), &[]).is_empty());
    // Clients that disconnect free their slots as well.
    drop((of_one, of_two));
    let deadline = Deadline::seconds(60);
    deadline.poll("the end of exports that are not read", || {
        (server.metric("audit_exports_running") == 0).then_some(())
    });
}

fn an_export_breaks_off_when_its_key_is_revoked(database: DatabaseKind) {
    let organization = Organization::fresh(database);
    super::load::store_mebibytes(&organization.project(), super::load::MORE_THAN_SOCKETS_MEBIBYTES);
    let key = organization.create_key("live");
    let live = organization.with_credential(&key).get("/events/export").open();
    let keys = organization.master().get("/keys").send().list("keys");
    let listed = keys.iter().find(|listed| listed["prefix"] == key[..12]);
    let id = listed.expect("the key is listed")["id"].as_str().expect("an id");
    let revoked = organization.master().delete(&format!("/keys/{id}")).send();
    revoked.expect_status(200);
    let (_, end) = live.rest(Deadline::seconds(60));
    assert_eq!(end, Next::BrokenOff, "a partial export does not look complete");
}
