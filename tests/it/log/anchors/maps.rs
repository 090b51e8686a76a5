//! Maps of tenants in anchors.

use super::{
    STATE_DIRECTORY, anchors_in, assert_found, directory_setting, opened, start, stop, store_events, text_of,
    verify, wait_for_anchor,
};
use crate::log::Case;
use crate::log::tenants::{forge_map, map_key_of};
use audit_ledger::{AnchoredMap, SignedAnchor};
use audit_tests::{
    Clock, Database, DatabaseKind, Deadline, Organization, Server, on_both_databases, temporary_directory,
};
use std::path::Path;

const WAIT_SECONDS: u64 = 60;

on_both_databases! {
    a_map_that_somebody_asked_for_is_in_every_later_anchor,
    a_map_that_was_signed_without_an_event_is_found_from_anchors_alone,
    another_secret_of_the_maps_is_found_from_anchors_alone,
}

fn map_of(anchor: &SignedAnchor, organization: &Organization) -> Option<AnchoredMap> {
    let log = format!("{}/live", organization.project_id);
    anchor.anchor().maps.get(&log).copied()
}

fn a_map_that_somebody_asked_for_is_in_every_later_anchor(kind: DatabaseKind) {
    let Some(mut clock) = Clock::at("2026-11-22T10:20:00Z") else {
        return;
    };
    let (database, directory) = (Database::create(kind), temporary_directory("anchors-"));
    let server = start(&database, &clock, &[directory_setting(&directory)]);
    let organization = Organization::create(&server, "enterprise");
    let project = organization.project();
    store_events(&project, 7);
    let mut anchor_at = |hour: u32| {
        clock.set(&format!("2026-11-22T{hour}:00:00Z"));
        opened(
            &database,
            &wait_for_anchor(&directory, &format!("20261122T{hour}0000Z")),
        )
    };
    // Nobody has asked for a map, so none was signed.
    let first = anchor_at(11);
    assert_eq!(first.anchor().maps.len(), 0);
    let shown = project.get("/log/tenants").send().expect_status(200);
    store_events(&project, 5);
    let second = anchor_at(12);
    let map = map_of(&second, &organization).expect("a map");
    assert_eq!(shown["size"], 7);
    assert_eq!((map.size, second.anchor().maps.len()), (12, 1));
    // Whoever removes the map from the database does not remove it from the anchors.
    for table in ["tenant_maps", "tenant_logs", "tenant_tiles", "tenant_map_tiles"] {
        database.execute(&format!("DELETE FROM {table}"));
    }
    let third = anchor_at(13);
    assert_eq!(map_of(&third, &organization), Some(map));
    store_events(&project, 3);
    let fourth = anchor_at(14);
    assert_eq!(map_of(&fourth, &organization).map(|map| map.size), Some(15));
    for pair in [&first, &second, &third, &fourth].windows(2) {
        assert_eq!(pair[0].check_later(pair[1]), Ok(()));
    }
    stop(server);
    verify(&database, &directory, &[]).success();
}

/// Starts a server that makes an anchor of the logs.
fn anchored(case: &Case, directory: &Path) {
    let environment = [
        (STATE_DIRECTORY, text_of(&case.memory)),
        ("AUDIT_ANCHOR_DIRECTORY", text_of(directory)),
    ];
    let server = Server::start(&case.database, &environment);
    Deadline::seconds(WAIT_SECONDS).poll("an anchor", || anchors_in(directory).pop());
    stop(server);
}

fn remove_map(case: &Case) {
    for table in ["tenant_maps", "tenant_logs", "tenant_tiles", "tenant_map_tiles"] {
        case.tamper(&format!("DELETE FROM {table} WHERE LEDGER"));
    }
}

fn a_map_that_was_signed_without_an_event_is_found_from_anchors_alone(kind: DatabaseKind) {
    let (case, directory) = (Case::fresh(kind), temporary_directory("anchors-"));
    let honest = temporary_directory("anchors-");
    let map_key = map_key_of(&case);
    let whole = case.copy();
    anchored(&whole, &honest);
    verify(&whole.database, &honest, &[]).success();
    // Somebody with the key of the heads has a map signed that lacks an event, and removes it afterwards.
    forge_map(&case, &map_key, 7);
    anchored(&case, &directory);
    remove_map(&case);
    case.expect_sound();
    let found = verify(&case.database, &directory, &[]);
    let log = format!("{}/live", case.organization.project_id);
    let another = "is not that of these events: another one was signed";
    assert_found(
        &found,
        &[
            &log,
            "events 0 to 299",
            "the map of tenants in the anchor",
            another,
        ],
    );
    // An anchor of the right map contradicts nothing.
    verify(&case.database, &honest, &[]).success();
}

fn another_secret_of_the_maps_is_found_from_anchors_alone(kind: DatabaseKind) {
    let (case, directory) = (Case::fresh(kind), temporary_directory("anchors-"));
    map_key_of(&case);
    anchored(&case, &directory);
    verify(&case.database, &directory, &[]).success();
    case.database
        .execute("DELETE FROM secrets WHERE name = 'tenant_map_secret'");
    remove_map(&case);
    case.expect_sound();
    let expect_found = || {
        let found = verify(&case.database, &directory, &[]);
        assert_found(
            &found,
            &["the secret of the maps of tenants is not the one of the anchor"],
        );
    };
    expect_found();
    // The service creates another one.
    map_key_of(&case);
    case.expect_sound();
    expect_found();
}
