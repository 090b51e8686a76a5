//! The pages of audit-web on a running server. `web/tests` shows what they do in a browser.

use audit_tests::{
    Client, Database, DatabaseKind, Deadline, Organization, RawAnswer, Server, assert_settings_refused,
    start_command_line,
};

/// The demo loads 2,900 events before it prints the link.
const DEMO_SECONDS_MAX: u64 = 120;
const PAGES: [&str; 4] = ["/", "/portal", "/console", "/viewer.js"];

fn server(environment: &[(&str, &str)]) -> Server {
    Server::start(&Database::create(DatabaseKind::Sqlite), environment)
}

fn get(server: &Server, path: &str) -> RawAnswer {
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
        assert_eq!(names.len(), 3, "icon, style and script: {page}");
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
    assert_eq!(key.split('+').count(), 3, "{key}");
}
