//! Name and logo of the portal.

use audit_tests::{DatabaseKind, Organization, event, on_both_databases};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};

/// A PNG image of one pixel.
const DOT: &str = "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg==";
/// The size of the largest logo, as it is documented.
const LOGO_BYTES_MAX: usize = 64 * 1024;

on_both_databases! {
    a_portal_has_neither_name_nor_logo_at_first,
    name_and_logo_are_changed_kept_and_removed,
    every_viewer_reads_them_whatever_its_tier_allows,
    a_project_has_a_portal_of_its_own,
    every_fault_of_a_portal_is_named,
    the_largest_logo_is_stored_and_a_larger_one_refused,
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
