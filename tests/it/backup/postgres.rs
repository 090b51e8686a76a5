//! PostgreSQL's own backups, by the commands in the documentation.

use super::{DOCUMENT, assert_restored, under_load};
use crate::log::text_of;
use audit_tests::{
    ArchivedCluster, Cluster, Database, Organization, Server, command_line_on, run_documented,
    temporary_directory,
};

#[test]
fn a_dump_under_load_has_every_event_that_was_acknowledged_before() {
    let Some(cluster) = Cluster::start() else { return };
    cluster.execute("CREATE DATABASE audit");
    let database = Database::at(cluster.url("audit"));
    let server = Server::start(&database, &[]);
    let organization = Organization::create(&server, "enterprise");
    let backups = temporary_directory("backups-");
    let (before, all) = under_load(&organization.project(), |load| {
        let before = load.acknowledged();
        let variables = [
            ("BACKUPS", text_of(&backups)),
            ("AUDIT_DATABASE_URL", database.url()),
        ];
        run_documented(DOCUMENT, "A dump", 0, &variables, &[]);
        load.wait_for_more(20);
        before
    });
    server.stop();
    let restored = cluster.url("audit_restored");
    let maintenance = cluster.url("postgres");
    let state = temporary_directory("state-");
    let variables = [
        ("BACKUPS", text_of(&backups)),
        ("MAINTENANCE_URL", maintenance.as_str()),
        ("RESTORED_URL", restored.as_str()),
        ("AUDIT_STATE_DIR", text_of(&state)),
    ];
    let printed = run_documented(DOCUMENT, "A dump", 1, &variables, &[]);
    assert!(printed.contains("events match the log"), "{printed}");
    assert_restored(&Database::at(restored), &organization, &before, &all, &[]);
}

#[test]
fn a_base_backup_under_load_is_recovered_to_a_point_in_time() {
    let Some(archived) = ArchivedCluster::start() else {
        return;
    };
    archived.cluster.execute("CREATE DATABASE audit");
    let database = Database::at(archived.cluster.url("audit"));
    let server = Server::start(&database, &[]);
    let organization = Organization::create(&server, "enterprise");
    let ((base_backup, before, at_point), all) = under_load(&organization.project(), |load| {
        let base_backup = archived.base_backup();
        load.wait_for_more(20);
        let before = load.acknowledged();
        archived.create_restore_point("before_the_accident");
        let at_point = load.acknowledged();
        load.wait_for_more(20);
        (base_backup, before, at_point)
    });
    server.stop();
    let recovered = archived.recover(base_backup, "before_the_accident");
    let restored = Database::at(recovered.url("audit"));
    command_line_on(&restored, &["log", "verify"]).success();
    assert!(
        restored.count("events") < i64::try_from(all.len()).expect("a count"),
        "it ends at the point"
    );
    command_line_on(&restored, &["log", "new-name"]).success();
    assert!(before.len() <= at_point.len());
    assert_restored(&restored, &organization, &before, &all, &[]);
}
