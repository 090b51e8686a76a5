//! The secrets of other cells, on PostgreSQL.

use super::{Deployment, WITH_BOTH, WITH_NEW, WITH_OLD, on_both, rewrap, run, start, status, stop, verify};
use audit_tests::DatabaseKind;

#[test]
fn the_secrets_of_every_cell_are_encrypted_and_rotated() {
    if !DatabaseKind::Postgres.is_available() {
        return;
    }
    let database = on_both(DatabaseKind::Postgres);
    run(&database, &["db", "cells", "create", "other"], WITH_OLD).success();
    run(&database, &["db", "cells", "place", "other"], WITH_OLD).success();
    let server = start(&database, WITH_OLD);
    let mut deployment = Deployment::on(&server);
    stop(server);
    let (found, is_complete) = status(&database, WITH_OLD);
    assert!(is_complete, "{found}");
    let in_cell = |secret: &&serde_json::Value| secret["cell"] == "other";
    let secrets = found["secrets"].as_array().expect("a list of secrets").iter();
    let names: Vec<&str> = secrets
        .filter(in_cell)
        .filter_map(|secret| secret["secret"].as_str()?.split(['/', ' ']).next())
        .collect();
    assert!(names.contains(&"webhook_secrets"), "{names:?}");

    let server = start(&database, WITH_BOTH);
    deployment = deployment.moved_to(&server);
    assert_eq!(rewrap(&database, WITH_BOTH)["failed"], 0);
    assert!(status(&database, WITH_BOTH).1);
    deployment.assert_works();
    stop(server);
    let server = start(&database, WITH_NEW);
    deployment.moved_to(&server).assert_works();
    stop(server);
    verify(&database, WITH_NEW);
}
