//! `/console/session`: a browser stays signed in with a cookie that stands for a key.

use audit_tests::{
    Client, Clock, Database, DatabaseKind, Organization, RawResponse, Server, event, on_both_databases,
};
use serde_json::json;
use std::time::Instant;

const SESSION: &str = "/console/session";
const HOUR_MILLIS: i64 = 60 * 60 * 1_000;

on_both_databases! {
    a_session_is_a_cookie_that_no_script_reads,
    a_session_can_do_what_its_key_can_and_no_more,
    the_cookie_counts_in_requests_of_the_console_only,
    signing_out_ends_all_sessions_of_the_key_and_no_others,
    signing_out_on_one_node_counts_on_all,
    a_session_ends_with_its_key,
    a_session_lasts_half_a_day,
    a_key_without_the_scope_signs_out_too,
    a_key_of_another_network_signs_out_of_this_browser,
    who_signs_out_all_the_time_waits,
    a_session_has_the_bucket_of_its_key,
}

/// What a browser has after it has signed in: the cookie, and the id that its page knows.
struct Session {
    id: String,
    cookie: String,
}

impl Session {
    fn begin(client: &Client) -> Self {
        let response = client.request("POST", SESSION).send().expect_status(201);
        Self {
            id: response["id"].as_str().expect("an id").to_owned(),
            cookie: cookie(&response.raw).0,
        }
    }

    /// Its requests.
    fn on(&self, organization: &Organization) -> Client {
        browser(organization, &self.cookie, &self.id)
    }
}

/// Name and value of the cookie that a response sets, and the attributes.
fn cookie(response: &RawResponse) -> (String, String) {
    let text = response.header("set-cookie").expect("a cookie");
    let (pair, attributes) = text.split_once("; ").expect("attributes");
    (pair.to_owned(), attributes.to_owned())
}

/// The browser that a key has signed in.
fn signed_in(organization: &Organization, key: &str) -> Client {
    Session::begin(&organization.with_credential(key)).on(organization)
}

fn browser(organization: &Organization, cookie: &str, id: &str) -> Client {
    let anonymous = organization.anonymous().with_header("cookie", cookie);
    anonymous.with_header("x-audit-console", id)
}

fn sign_out(browser: &Client) -> RawResponse {
    let response = browser.request("DELETE", SESSION).send_raw();
    assert_eq!(response.status, 204, "{response:?}");
    response
}

fn a_session_is_a_cookie_that_no_script_reads(database: DatabaseKind) {
    let organization = Organization::fresh(database);
    let response = organization.master().request("POST", SESSION).send();
    let response = response.expect_status(201);
    assert_eq!(response["key_type"], "master");
    let (pair, attributes) = cookie(&response.raw);
    assert_eq!(attributes, "Path=/; HttpOnly; SameSite=Strict");
    assert!(
        pair.starts_with("audit_console=") && !pair.contains("mk_"),
        "{pair}"
    );
    // A page that was loaded again asks which session the browser has.
    let current = browser(&organization, &pair, "current");
    let shown = current.request("GET", SESSION).send().expect_status(200);
    assert_eq!(
        (&shown["id"], &shown["expires_at"]),
        (&response["id"], &response["expires_at"])
    );
    current.get("/projects").send().expect_error(401, "unauthorized");
    let test = organization.test().request("POST", SESSION).send();
    assert_eq!(test.expect_status(201)["environment"], "test");
    // Another one each time, and none without a key.
    assert_ne!(pair, Session::begin(&organization.master()).cookie);
    let anonymous = organization.anonymous();
    let refused = |client: &Client, status: u16, code: &str| {
        client.request("POST", SESSION).send().expect_error(status, code);
    };
    refused(anonymous, 401, "unauthorized");
    refused(&organization.viewer("acme", "standard"), 403, "forbidden");
    let other = Organization::fresh(database);
    let revoked = other.create_key("live");
    other.revoke_key(&revoked);
    refused(&other.with_credential(&revoked), 401, "key_revoked");
    refused(
        &Session::begin(&organization.master()).on(&organization),
        401,
        "unauthorized",
    );
    assert_eq!(anonymous.request("GET", SESSION).send_raw().status, 204);
    // Behind a proxy that ends TLS, no sibling host can set the cookie, and no plain request has it.
    let server = Server::start(
        &Database::create(database),
        &[("AUDIT_TRUSTED_PROXIES", "127.0.0.1")],
    );
    let organization = Organization::create(&server, "enterprise");
    let over_tls = organization.master().with_header("x-forwarded-proto", "https");
    let response = over_tls.request("POST", SESSION).send().expect_status(201);
    let (pair, attributes) = cookie(&response.raw);
    assert_eq!(attributes, "Path=/; HttpOnly; SameSite=Strict; Secure");
    assert!(pair.starts_with("__Host-audit_console="), "{pair}");
    let plain = Session::begin(&over_tls).on(&organization);
    plain.get("/projects").send().expect_error(401, "unauthorized");
    let over_tls = plain.with_header("x-forwarded-proto", "https");
    over_tls.get("/projects").send().expect_status(200);
}

fn a_session_can_do_what_its_key_can_and_no_more(database: DatabaseKind) {
    let organization = Organization::fresh(database);
    let master = signed_in(&organization, &organization.master_key);
    master.get("/projects").send().expect_status(200);
    let id = master.store(event());
    let project = signed_in(&organization, &organization.project_key);
    assert_eq!(project.find(&[])[0]["id"], *id);
    project.get("/projects").send().expect_error(403, "forbidden");
    let other = Organization::fresh(database);
    assert!(signed_in(&other, &other.project_key).find(&[]).is_empty());
}

fn the_cookie_counts_in_requests_of_the_console_only(database: DatabaseKind) {
    let organization = Organization::fresh(database);
    let session = Session::begin(&organization.master());
    let Session { id, cookie } = &session;
    let console = session.on(&organization);
    let refused = |client: &Client| {
        client.get("/projects").send().expect_error(401, "unauthorized");
    };
    // What a form or an image of another page sends.
    refused(&organization.anonymous().with_header("cookie", cookie));
    for site in ["same-site", "cross-site", "none"] {
        refused(&console.with_header("sec-fetch-site", site));
    }
    let own = console.with_header("sec-fetch-site", "same-origin");
    own.get("/projects").send().expect_status(200);
    // A page of another origin asks first whether it may send the header, and may not.
    for path in ["/api/v1/projects", "/api/v1/events", SESSION] {
        let preflight = organization
            .anonymous()
            .request("OPTIONS", path)
            .header("origin", "https://evil.example")
            .header("access-control-request-method", "GET")
            .header("access-control-request-headers", "x-audit-console")
            .send_raw();
        let allowed = preflight
            .header("access-control-allow-headers")
            .unwrap_or_default();
        assert!(
            !allowed.contains("x-audit-console") && !allowed.contains('*'),
            "{allowed}"
        );
        assert_eq!(preflight.header("access-control-allow-credentials"), None);
    }
    // A key beside the cookie is what counts.
    let both = console.with_credential(&organization.project_key);
    both.get("/projects").send().expect_error(403, "forbidden");
    // Of several session cookies, the server takes the one whose id the page sends. If another cookie has replaced it, it refuses the page.
    let other = Session::begin(&organization.project());
    for crowd in [
        format!("a=b; {}; {cookie}; c", other.cookie),
        format!("{cookie}; {}", other.cookie),
    ] {
        browser(&organization, &crowd, id)
            .get("/projects")
            .send()
            .expect_status(200);
        let of_other = browser(&organization, &crowd, &other.id).get("/projects").send();
        of_other.expect_error(403, "forbidden");
    }
    refused(&browser(&organization, &other.cookie, id));
    for changed in [
        format!("{cookie}A"),
        cookie.replacen('=', "=A", 1),
        "audit_console=".to_owned(),
    ] {
        refused(&browser(&organization, &changed, id));
        let current = browser(&organization, &changed, "current");
        assert_eq!(current.request("GET", SESSION).send_raw().status, 204);
    }
}

fn signing_out_ends_all_sessions_of_the_key_and_no_others(database: DatabaseKind) {
    let server = Server::start(&Database::create(database), &[("AUDIT_SELF_AUDIT", "on")]);
    let organization = Organization::create(&server, "enterprise");
    for key in [&organization.master_key, &organization.project_key] {
        let [first, second] = [(); 2].map(|()| signed_in(&organization, key));
        let other_key = organization.create_key("live");
        let other = signed_in(&organization, &other_key);
        let (removed, attributes) = cookie(&sign_out(&first));
        assert_eq!(removed, "audit_console=");
        assert!(attributes.ends_with("; Max-Age=0"), "{attributes}");
        for ended in [&first, &second] {
            ended.get("/events").send().expect_error(401, "unauthorized");
            ended
                .post("/events")
                .json(event())
                .send()
                .expect_error(401, "unauthorized");
        }
        // Again, and without a session: nothing to do.
        sign_out(&first);
        sign_out(organization.anonymous());
        other.get("/events").send().expect_status(200);
        organization
            .with_credential(key)
            .get("/events")
            .send()
            .expect_status(200);
        signed_in(&organization, key)
            .get("/events")
            .send()
            .expect_status(200);
    }
    let own = organization.master().find(&[
        ("tenant_id", "audit-server"),
        ("action", "audit.console.signed_out"),
    ]);
    let kinds: Vec<_> = own.iter().map(|event| &event["target"]["type"]).collect();
    assert_eq!(kinds, ["api_key", "master_key"]);
    assert!(
        own.iter()
            .all(|event| event["actor"]["id"] == event["target"]["id"])
    );
}

/// Nodes have clocks of their own, and caches.
fn signing_out_on_one_node_counts_on_all(kind: DatabaseKind) {
    let database = Database::create(kind);
    let Some(behind) = Clock::at("2026-11-29T07:59:00Z") else {
        return;
    };
    let ahead = Clock::at("2026-11-29T08:00:00Z").expect("a clock");
    let nodes = [&behind, &ahead].map(|clock| Server::start_at(&database, &[], clock));
    let organization = Organization::create(&nodes[0], "enterprise");
    let on = [0, 1].map(|node| organization.on(&nodes[node]));
    for key in [&organization.master_key, &organization.project_key] {
        let sessions = [0, 1].map(|node| Session::begin(&on[node].with_credential(key)));
        for session in &sessions {
            for node in &on {
                session.on(node).get("/events").send().expect_status(200);
            }
        }
        sign_out(&sessions[0].on(&on[0]));
        for session in &sessions {
            for node in &on {
                let ended = session.on(node).get("/events").send();
                ended.expect_error(401, "unauthorized");
            }
        }
        let again = Session::begin(&on[0].with_credential(key));
        again.on(&on[1]).get("/events").send().expect_status(200);
    }
}

fn a_session_ends_with_its_key(database: DatabaseKind) {
    let organization = Organization::fresh(database);
    let key = organization.create_key("live");
    let session = signed_in(&organization, &key);
    session.get("/events").send().expect_status(200);
    organization.revoke_key(&key);
    session.get("/events").send().expect_error(401, "key_revoked");
    assert_eq!(cookie(&sign_out(&session)).0, "audit_console=");
}

fn a_session_lasts_half_a_day(database: DatabaseKind) {
    let Some(mut clock) = Clock::at("2026-11-29T08:00:00Z") else {
        return;
    };
    let server = Server::start_at(&Database::create(database), &[], &clock);
    let organization = Organization::create(&server, "enterprise");
    let session = signed_in(&organization, &organization.master_key);
    clock.advance_millis(12 * HOUR_MILLIS - 60_000);
    session.get("/projects").send().expect_status(200);
    clock.advance_millis(120_000);
    session.get("/projects").send().expect_error(401, "unauthorized");
    let none = session.request("GET", SESSION).send_raw();
    assert_eq!(none.status, 204);
}

fn a_key_without_the_scope_signs_out_too(database: DatabaseKind) {
    let organization = Organization::fresh(database);
    let body = json!({"project_id": organization.project_id, "type": "project", "name": "reader", "scopes": ["events:read"]});
    let created = organization.master().post("/keys").json(body).send();
    let key = created.expect_status(201)["key"]
        .as_str()
        .expect("a key")
        .to_owned();
    let [first, second] = [(); 2].map(|()| signed_in(&organization, &key));
    sign_out(&first);
    second.get("/events").send().expect_error(401, "unauthorized");
}

fn a_key_of_another_network_signs_out_of_this_browser(database: DatabaseKind) {
    let server = Server::start(
        &Database::create(database),
        &[("AUDIT_TRUSTED_PROXIES", "127.0.0.1")],
    );
    let organization = Organization::create(&server, "enterprise");
    let body = json!({"project_id": organization.project_id, "type": "project", "name": "office", "networks": ["192.0.2.0/24"]});
    let created = organization.master().post("/keys").json(body).send();
    let key = created.expect_status(201)["key"]
        .as_str()
        .expect("a key")
        .to_owned();
    let office = organization
        .with_credential(&key)
        .with_header("x-forwarded-for", "192.0.2.1");
    let session = Session::begin(&office).on(&organization);
    let [at_office, at_home] =
        ["192.0.2.1", "198.51.100.1"].map(|address| session.with_header("x-forwarded-for", address));
    at_office.get("/events").send().expect_status(200);
    at_home.get("/events").send().expect_error(403, "forbidden");
    assert_eq!(cookie(&sign_out(&at_home)).0, "audit_console=");
}

/// Each sign-out makes the nodes read the configuration of the project again.
fn who_signs_out_all_the_time_waits(database: DatabaseKind) {
    let Some(clock) = Clock::at("2026-11-29T08:00:00Z") else {
        return;
    };
    let server = Server::start_at(&Database::create(database), &[], &clock);
    let organization = Organization::create(&server, "enterprise");
    for _ in 0..10 {
        sign_out(&signed_in(&organization, &organization.project_key));
    }
    let session = signed_in(&organization, &organization.project_key);
    session
        .request("DELETE", SESSION)
        .send()
        .expect_error(429, "rate_limited");
    session.get("/events").send().expect_status(200);
}

/// Otherwise a key could have as many buckets as it has sessions.
fn a_session_has_the_bucket_of_its_key(database: DatabaseKind) {
    const BURST: usize = 100;
    let environment = [
        ("AUDIT_RATE_LIMIT_PER_SECOND", "1"),
        ("AUDIT_RATE_LIMIT_BURST", "100"),
    ];
    let server = Server::start(&Database::create(database), &environment);
    let organization = Organization::create(&server, "enterprise");
    let session = signed_in(&organization, &organization.project_key);
    let started = Instant::now();
    let clients = [organization.project(), session];
    let requests = clients.iter().cycle().take(2 * BURST);
    let accepted = requests.filter(|client| client.get("/events").send().status() == 200);
    let accepted = accepted.count();
    // Each second gives one more.
    let seconds = usize::try_from(started.elapsed().as_secs()).expect("a number of seconds");
    assert!(accepted <= BURST + seconds + 1, "{accepted} in {seconds} s");
}
