//! The pages of audit-web on a running server. `web/tests` shows what they do in a browser.

use audit_tests::{
    Client, Database, DatabaseKind, Deadline, Organization, RawResponse, Server, assert_settings_refused,
    event, start_command_line,
};
use serde_json::json;

/// The demo loads 2,900 events before it prints the link. The time only bounds a hang.
const DEMO_SECONDS_MAX: u64 = 600;
const PAGES: [&str; 4] = ["/", "/portal", "/console", "/viewer.js"];

fn server(environment: &[(&str, &str)]) -> Server {
    Server::start(&Database::create(DatabaseKind::Sqlite), environment)
}

fn get(server: &Server, path: &str) -> RawResponse {
    server.client().request("GET", path).send_raw()
}

#[test]
fn pages_need_no_credential_and_have_a_policy() {
    let server = server(&[]);
    for path in PAGES {
        let page = get(&server, path);
        assert_eq!(page.status, 200, "{path}");
        let policy = page.header("content-security-policy").unwrap_or_default();
        assert!(
            policy.starts_with("default-src 'none'; script-src 'self'"),
            "{policy}"
        );
        assert!(policy.ends_with("frame-ancestors 'none'"), "{policy}");
        assert_eq!(page.header("x-content-type-options"), Some("nosniff"));
        assert_eq!(page.header("referrer-policy"), Some("no-referrer"));
    }
}

#[test]
fn what_a_page_names_is_there() {
    let server = server(&[]);
    for path in ["/", "/portal", "/console"] {
        let page = String::from_utf8(get(&server, path).bytes).expect("a page in UTF-8");
        let names: Vec<&str> = page
            .split('"')
            .filter(|text| text.starts_with("/assets/"))
            .collect();
        assert!(names.len() >= 4, "icon, style, script and what it shares: {page}");
        for name in names {
            assert_eq!(get(&server, name).status, 200, "{name}");
        }
    }
}

#[test]
fn pages_leave_the_api_and_other_paths_as_they_are() {
    let server = server(&[]);
    let project = Organization::create(&server, "free").project();
    project.get("/events").send().expect_status(200);
    for path in ["/favicon.ico", "/assets/nothing.js", "/portal/", "/assets/"] {
        project.request("GET", path).send().expect_error(404, "not_found");
    }
    for path in PAGES {
        project
            .request("POST", path)
            .send()
            .expect_error(404, "not_found");
    }
}

#[test]
fn pages_can_be_switched_off() {
    let server = server(&[("AUDIT_PAGES", "off")]);
    let project = Organization::create(&server, "free").project();
    for path in PAGES {
        project.request("GET", path).send().expect_error(404, "not_found");
    }
    project.get("/events").send().expect_status(200);
    assert_settings_refused(&[("AUDIT_PAGES", "maybe")]);
}

#[test]
fn the_operator_names_who_may_frame_the_portal() {
    let server = server(&[(
        "AUDIT_PORTAL_FRAME_ANCESTORS",
        "https://app.example.com,https://*.example.org",
    )]);
    let policy_of = |path: &str| {
        let page = get(&server, path);
        page.header("content-security-policy")
            .unwrap_or_default()
            .to_owned()
    };
    assert!(policy_of("/portal").ends_with("frame-ancestors https://app.example.com https://*.example.org"));
    assert!(policy_of("/console").ends_with("frame-ancestors 'none'"));
    assert_settings_refused(&[("AUDIT_PORTAL_FRAME_ANCESTORS", "https://a; script-src *")]);
}

/// The link in the response to a request for a viewer token.
fn portal_url(organization: &Organization) -> String {
    let body = json!({"tenant_id": "tenant-1", "portal": true});
    let response = organization.project().post("/viewer-tokens").json(body).send();
    response.expect_status(201).text("portal_url")
}

#[test]
fn a_viewer_token_comes_with_the_link_to_the_portal_on_request() {
    let server = server(&[]);
    let organization = Organization::create(&server, "free");
    let project = organization.project();
    project.store(event());
    let body = json!({"tenant_id": "tenant-1", "portal": false});
    let without = project
        .post("/viewer-tokens")
        .json(body)
        .send()
        .expect_status(201);
    assert!(without.body().get("portal_url").is_none(), "{without:?}");
    let link = portal_url(&organization);
    let (page, fragment) = link.split_once('#').expect("a fragment");
    assert_eq!(page, format!("{}/portal", server.base_url()));
    assert_eq!(get(&server, "/portal").status, 200);
    let (token, key) = fragment
        .strip_prefix("token=")
        .and_then(|rest| rest.split_once("&key="))
        .expect("a token and a key");
    assert_eq!(organization.with_credential(token).count(), 1);
    let log_key = project.get("/log/key").send_raw();
    let log_key = String::from_utf8(log_key.bytes).expect("a key");
    assert_eq!(key.replace("%2B", "+"), log_key.trim_end());
}

#[test]
fn a_link_that_is_long_is_not_compressed() {
    let url = format!("https://{}example.com", "a.".repeat(100));
    let server = server(&[("AUDIT_PUBLIC_URL", &url)]);
    let organization = Organization::create(&server, "free");
    let tenant = "\u{1f680}".repeat(256);
    let tier = json!({"name": "t".repeat(64)});
    organization
        .master()
        .post("/viewer-tiers")
        .json(tier.clone())
        .send()
        .expect_status(201);
    let body = json!({"tenant_id": tenant, "tier": tier["name"], "portal": true});
    let request = organization.project().post("/viewer-tokens").json(body);
    let response = request.header("accept-encoding", "gzip").send_raw();
    assert_eq!(response.status, 201);
    // Longer than the shortest response that is compressed.
    assert!(response.bytes.len() >= 4_096, "{}", response.bytes.len());
    assert_eq!(response.header("content-encoding"), None);
    assert_eq!(response.header("cache-control"), Some("no-store, no-transform"));
}

#[test]
fn links_have_the_public_url_that_the_operator_names() {
    let named = server(&[("AUDIT_PUBLIC_URL", "https://audit.example.com/")]);
    let link = portal_url(&Organization::create(&named, "free"));
    assert!(
        link.starts_with("https://audit.example.com/portal#token=vt_"),
        "{link}"
    );
    for url in [
        "audit.example.com",
        "javascript:alert(1)",
        "https://a.example/path",
    ] {
        assert_settings_refused(&[("AUDIT_PUBLIC_URL", url)]);
    }
}

#[test]
fn links_have_the_scheme_that_a_trusted_proxy_reports() {
    let scheme_of = |organization: &Organization, reported: &str| {
        let body = json!({"tenant_id": "tenant-1", "portal": true});
        let request = organization.project().post("/viewer-tokens").json(body);
        let response = request.header("x-forwarded-proto", reported).send();
        let link = response.expect_status(201).text("portal_url");
        link.split_once("://").expect("a scheme").0.to_owned()
    };
    let behind_proxy = server(&[("AUDIT_TRUSTED_PROXIES", "127.0.0.1")]);
    let organization = Organization::create(&behind_proxy, "free");
    for (reported, scheme) in [
        ("https", "https"),
        ("HTTPS", "https"),
        ("https, http", "https"),
        ("http", "http"),
        ("javascript", "http"),
        ("", "http"),
    ] {
        assert_eq!(scheme_of(&organization, reported), scheme, "{reported:?}");
    }
    for proxies in [&[][..], &[("AUDIT_TRUSTED_PROXIES", "10.0.0.0/8")]] {
        let other = server(proxies);
        assert_eq!(scheme_of(&Organization::create(&other, "free"), "https"), "http");
    }
    let named = server(&[
        ("AUDIT_TRUSTED_PROXIES", "127.0.0.1"),
        ("AUDIT_PUBLIC_URL", "https://audit.example.com"),
    ]);
    assert_eq!(scheme_of(&Organization::create(&named, "free"), "http"), "https");
}

#[test]
fn without_pages_there_is_no_link_to_the_portal() {
    let server = server(&[("AUDIT_PAGES", "off")]);
    let organization = Organization::create(&server, "free");
    let body = json!({"tenant_id": "tenant-1", "portal": true});
    let response = organization.project().post("/viewer-tokens").json(body).send();
    response.expect_invalid(&["portal"]);
    let body = json!({"tenant_id": "tenant-1", "portal": "yes"});
    let response = organization.project().post("/viewer-tokens").json(body).send();
    response.expect_invalid(&["portal"]);
}

#[test]
fn the_demo_prints_a_link_to_what_a_customer_sees() {
    let process = start_command_line(&["demo"], &[("AUDIT_LISTEN", "127.0.0.1:0")]);
    let is_listening = |line: &str| line.starts_with("listening on").then_some(());
    let listening = process
        .stdout
        .wait_for(Deadline::seconds(DEMO_SECONDS_MAX), is_listening);
    let output = process.stdout.text();
    assert!(listening.is_some(), "{output} {}", process.stderr.text());
    let (before, after) = output.split_once("/portal#token=").expect("a link");
    let host = before.rsplit(char::is_whitespace).next().expect("a host");
    let (token, rest) = after.split_once("&key=").expect("a key");
    let key = rest.split_whitespace().next().expect("a key").replace("%2B", "+");
    let viewer = Client::new(host).with_credential(token);
    assert_eq!(
        viewer
            .get("/events")
            .send()
            .expect_status(200)
            .list("events")
            .len(),
        50
    );
    // The last part is base64, in which a plus sign can be too.
    assert_eq!(key.splitn(3, '+').count(), 3, "{key}");
}
