//! The configuration of a destination at rest: settings and credentials together.

use super::{Deployment, WITH_BOTH, WITH_NEW, WITH_OLD, dump, on_both, rewrap, start, states, status, stop};
use audit_tests::{DatabaseKind, on_both_databases};
use serde_json::json;

on_both_databases! {
    the_configuration_of_a_destination_is_sealed_for_its_project,
}

fn the_configuration_of_a_destination_is_sealed_for_its_project(kind: DatabaseKind) {
    const TOKEN: &str = "9f2c1f7e-token-of-the-collector";
    let database = on_both(kind);
    let server = start(&database, WITH_OLD);
    let deployment = Deployment::on(&server);
    let master = &deployment.subscription.master;
    let create = || {
        let body = json!({
            "name": "Splunk", "kind": "splunk_hec", "paused": true, "settings": {"url": "https://splunk.example.com/a/path"},
            "credentials": {"token": TOKEN},
        });
        let created = master.post("/destinations").json(body).send().expect_status(201);
        created["destination"]["id"].as_str().expect("an id").to_owned()
    };
    let (id, other) = (create(), create());
    // The previous credentials are kept as well.
    let path = format!("/destinations/{id}");
    let rotated = master
        .patch(&path)
        .json(json!({"credentials": {"token": "another"}}));
    assert_eq!(
        rotated.send().expect_status(200)["destination"]["previous_credentials_in_use"],
        true
    );
    let hex = base16ct::lower::encode_string(TOKEN.as_bytes());
    let dump = dump(&database);
    assert!(!dump.contains(TOKEN) && !dump.contains(&hex) && !dump.contains("/a/path"));
    let (found, _) = status(&database, WITH_OLD);
    let sealed = states(&found);
    let of_destinations = sealed.keys().filter(|name| name.starts_with("destinations "));
    assert_eq!(of_destinations.count(), 2, "{found}");

    // A copy of the configuration of another destination leads nowhere.
    let stored = |id: &str| format!("(SELECT config FROM destinations AS other WHERE other.id = '{id}')");
    database.execute(&format!(
        "UPDATE destinations SET config = {} WHERE id = '{id}'",
        stored(&other)
    ));
    let shown = master.one(&path, "destination");
    assert_eq!(
        (&shown["settings"], &shown["credentials"]),
        (&json!({}), &json!([]))
    );
    let test = master.post(&format!("{path}/test")).send();
    test.expect_error(500, "internal_error");
    // It can be configured anew.
    let body = json!({"settings": {"url": "https://splunk.example.com"}, "credentials": {"token": TOKEN}});
    let mended = master.patch(&path).json(body).send().expect_status(200);
    assert_eq!(mended["destination"]["credentials"], json!(["token"]));
    master.delete(&path).send().expect_status(200);
    stop(server);
    assert!(status(&database, WITH_OLD).1);
    let rewrapped = rewrap(&database, WITH_BOTH);
    assert_eq!(rewrapped["failed"], 0, "{rewrapped}");
    assert!(status(&database, WITH_NEW).1);
}
