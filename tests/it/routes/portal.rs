//! Name and logo of the portal, and where its readers sign in.

use audit_tests::{DatabaseKind, Organization, Response, address, event, on_both_databases};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};

/// A PNG image of one pixel.
const DOT: &str = "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg==";
/// The size of the largest logo, as it is documented.
const LOGO_BYTES_MAX: usize = 64 * 1024;
/// How many requests for the page to sign in an address may send at once, as it is documented.
const SIGN_INS_AT_ONCE_MAX: usize = 100;
const SIGN_IN: &str = "https://app.example.com/sign-in?from=audit";

on_both_databases! {
    a_portal_has_neither_name_nor_logo_at_first,
    name_and_logo_are_changed_kept_and_removed,
    every_viewer_reads_them_whatever_its_tier_allows,
    a_project_has_a_portal_of_its_own,
    every_fault_of_a_portal_is_named,
    the_largest_logo_is_stored_and_a_larger_one_refused,
    where_readers_sign_in_is_set_told_to_everybody_and_removed,
    without_a_page_to_sign_in_a_project_looks_like_none,
    every_fault_of_a_page_to_sign_in_is_named,
    an_address_asks_where_to_sign_in_only_so_often,
}

/// Name and logo.
fn look(portal: &Value) -> Value {
    json!({"name": portal["name"], "logo": portal["logo"]})
}

fn change(organization: &Organization, body: Value) -> Value {
    let response = organization.master().patch("/portal").json(body).send();
    look(&response.expect_status(200)["portal"])
}

fn portal(organization: &Organization) -> Value {
    look(&organization.project().get("/portal").send().expect_status(200)["portal"])
}

/// A PNG file of so many bytes.
fn png(bytes: usize) -> String {
    let text = DOT.split_once(',').expect("a data URL").1;
    let mut image = STANDARD.decode(text).expect("base64");
    image.resize(bytes, 0);
    format!("data:image/png;base64,{}", STANDARD.encode(image))
}

fn a_portal_has_neither_name_nor_logo_at_first(database: DatabaseKind) {
    let organization = Organization::fresh(database);
    assert_eq!(portal(&organization), json!({"name": null, "logo": null}));
}

fn name_and_logo_are_changed_kept_and_removed(database: DatabaseKind) {
    let organization = Organization::fresh(database);
    let named = json!({"name": "Acme \u{1f680}", "logo": null});
    assert_eq!(change(&organization, json!({"name": "Acme \u{1f680}"})), named);
    let both = json!({"name": "Acme \u{1f680}", "logo": DOT});
    assert_eq!(change(&organization, json!({"logo": DOT})), both);
    assert_eq!(portal(&organization), both);
    assert_eq!(change(&organization, json!({})), both);
    let logo_alone = json!({"name": null, "logo": DOT});
    assert_eq!(change(&organization, json!({"name": null})), logo_alone);
    assert_eq!(
        change(&organization, json!({"logo": null})),
        json!({"name": null, "logo": null})
    );
    // What was stored when a node cached the project goes on to work.
    organization.project().store(event());
}

fn every_viewer_reads_them_whatever_its_tier_allows(database: DatabaseKind) {
    let organization = Organization::fresh(database);
    change(&organization, json!({"name": "Acme", "logo": DOT}));
    let tier = json!({"name": "list", "routes": [], "categories": [], "actions": []});
    organization.create_tier(tier);
    let viewer = organization.viewer("tenant-1", "list");
    let response = viewer
        .get("/portal")
        .header("origin", "https://app.example.com")
        .send()
        .expect_status(200);
    assert_eq!(look(&response["portal"]), json!({"name": "Acme", "logo": DOT}));
    assert_eq!(response.header("access-control-allow-origin"), Some("*"));
    viewer
        .patch("/portal")
        .json(json!({"name": "x"}))
        .send()
        .expect_error(403, "forbidden");
}

fn a_project_has_a_portal_of_its_own(database: DatabaseKind) {
    let organization = Organization::fresh(database);
    change(&organization, json!({"name": "First"}));
    let other = organization.create_project("other");
    let master = organization.master().with_header("x-project-id", &other);
    let of_other = |client: &audit_tests::Client| {
        client.get("/portal").send().expect_status(200)["portal"]["name"].clone()
    };
    assert_eq!(of_other(&master), Value::Null);
    master
        .patch("/portal")
        .json(json!({"name": "Second"}))
        .send()
        .expect_status(200);
    assert_eq!(of_other(&master), "Second");
    assert_eq!(portal(&organization)["name"], "First");
    let stranger = Organization::fresh(database)
        .master()
        .with_header("x-project-id", &other);
    stranger.get("/portal").send().expect_error(404, "not_found");
    stranger
        .patch("/portal")
        .json(json!({"name": "x"}))
        .send()
        .expect_error(404, "not_found");
}

fn every_fault_of_a_portal_is_named(database: DatabaseKind) {
    let organization = Organization::fresh(database);
    let master = organization.master();
    let refused = |body: Value| master.patch("/portal").json(body).send().expect_status(400);
    let svg = STANDARD.encode("<svg xmlns='http://www.w3.org/2000/svg'><script>alert(1)</script></svg>");
    refused(json!({"name": "", "logo": 7, "colour": "red"})).expect_invalid(&["name", "logo", "colour"]);
    refused(json!({"name": "x".repeat(101)})).expect_invalid(&["name"]);
    for logo in [
        String::new(),
        "https://example.com/logo.png".to_owned(),
        "javascript:alert(1)".to_owned(),
        format!("data:image/svg+xml;base64,{svg}"),
        format!("data:text/html;base64,{svg}"),
        format!("data:image/png;base64,{svg}"),
        DOT.replace("image/png", "image/jpeg"),
        format!("{DOT}\" onerror=\"alert(1)"),
    ] {
        refused(json!({"logo": logo})).expect_invalid(&["logo"]);
    }
    assert_eq!(portal(&organization), json!({"name": null, "logo": null}));
}

fn the_largest_logo_is_stored_and_a_larger_one_refused(database: DatabaseKind) {
    let organization = Organization::fresh(database);
    let largest = png(LOGO_BYTES_MAX);
    change(&organization, json!({"logo": largest}));
    assert_eq!(portal(&organization)["logo"], json!(largest));
    let body = json!({"logo": png(LOGO_BYTES_MAX + 1)});
    organization
        .master()
        .patch("/portal")
        .json(body)
        .send()
        .expect_invalid(&["logo"]);
    assert_eq!(portal(&organization)["logo"], json!(largest));
}

/// The response to a reader without a credential.
fn sign_in(organization: &Organization, project_id: &str) -> Response {
    let path = format!("/portal/{project_id}/sign-in");
    organization
        .anonymous()
        .with_address(&address())
        .get(&path)
        .send()
}

fn where_readers_sign_in_is_set_told_to_everybody_and_removed(database: DatabaseKind) {
    let organization = Organization::fresh(database);
    let of_portal = |client: &audit_tests::Client| {
        client.get("/portal").send().expect_status(200)["portal"]["sign_in_url"].clone()
    };
    assert_eq!(of_portal(&organization.project()), Value::Null);
    change(&organization, json!({"sign_in_url": SIGN_IN, "logo": DOT}));
    // Another change keeps it.
    change(&organization, json!({"name": "Acme"}));
    assert_eq!(of_portal(&organization.master()), SIGN_IN);
    assert_eq!(of_portal(&organization.viewer("tenant-1", "full")), SIGN_IN);
    let told = sign_in(&organization, &organization.project_id).expect_status(200);
    let members: Vec<&String> = told.body().as_object().expect("an object").keys().collect();
    assert_eq!(
        members,
        ["request_id", "sign_in_url"],
        "and nothing else of the portal"
    );
    assert_eq!(told["sign_in_url"], SIGN_IN);
    change(&organization, json!({"sign_in_url": null}));
    sign_in(&organization, &organization.project_id).expect_error(404, "not_found");
    assert_eq!(portal(&organization), json!({"name": "Acme", "logo": DOT}));
}

fn without_a_page_to_sign_in_a_project_looks_like_none(database: DatabaseKind) {
    let organization = Organization::fresh(database);
    change(&organization, json!({"name": "Acme"}));
    let other = organization.create_project("without a portal");
    let unknown = "00000000-0000-4000-8000-000000000000";
    let errors = [&organization.project_id, &other, unknown, "nonsense", "%00"].map(|project_id| {
        let refusal = sign_in(&organization, project_id).expect_error(404, "not_found");
        refusal.body()["error"].clone()
    });
    assert!(errors.iter().all(|error| *error == errors[0]), "{errors:?}");
}

fn every_fault_of_a_page_to_sign_in_is_named(database: DatabaseKind) {
    let organization = Organization::fresh(database);
    change(&organization, json!({"sign_in_url": SIGN_IN}));
    let longest = format!("{:x<2048}", "https://app.example.com/");
    for url in [
        json!(""),
        json!(7),
        json!("app.example.com"),
        json!("/sign-in"),
        json!("javascript:alert(1)"),
        json!("data:text/html,<script>alert(1)</script>"),
        json!("http://app.example.com/sign-in"),
        json!("https://user:secret@app.example.com/"),
        json!("https://app.example.com/#here"),
        json!(format!("{longest}x")),
    ] {
        let body = json!({"sign_in_url": url});
        let refused = organization.master().patch("/portal").json(body).send();
        refused.expect_status(400).expect_invalid(&["sign_in_url"]);
    }
    let told = || sign_in(&organization, &organization.project_id).expect_status(200)["sign_in_url"].clone();
    assert_eq!(told(), SIGN_IN, "nothing was changed");
    for url in [longest.as_str(), "http://localhost:3000/sign-in", "http://[::1]/"] {
        change(&organization, json!({"sign_in_url": url}));
        assert_eq!(told(), url);
    }
}

fn an_address_asks_where_to_sign_in_only_so_often(database: DatabaseKind) {
    let organization = Organization::fresh(database);
    change(&organization, json!({"sign_in_url": SIGN_IN}));
    let client = organization.anonymous().with_address(&address());
    let path = format!("/portal/{}/sign-in", organization.project_id);
    // Far more than come back while they are sent.
    let responses = (0..50 * SIGN_INS_AT_ONCE_MAX).map(|_| client.get(&path).send());
    let (mut accepted, mut refused) = (0, None);
    for response in responses {
        if response.status() == 429 {
            refused = Some(response);
            break;
        }
        response.expect_status(200);
        accepted += 1;
    }
    let refused = refused.expect("one is refused").expect_error(429, "rate_limited");
    assert_eq!(refused.header("retry-after"), Some("1"));
    assert!(accepted >= SIGN_INS_AT_ONCE_MAX, "{accepted}");
    sign_in(&organization, &organization.project_id).expect_status(200);
}
