//! Nothing names an erased person: no file, no table, no response, no metric and no line of a log.

use super::erased::{Erased, MARKER, NAMES, PAT};
use crate::retention::places;
use audit_tests::{DatabaseKind, on_both_databases};

on_both_databases! {
    nothing_of_an_erased_text_is_in_a_table_or_file,
    no_event_line_error_or_metric_names_the_person,
}

/// On PostgreSQL the tables are walked, and not the free space of their pages.
fn nothing_of_an_erased_text_is_in_a_table_or_file(kind: DatabaseKind) {
    let Some(erased) = Erased::shared(kind) else {
        return;
    };
    let scene = erased.scene();
    // What finds this one would find the others.
    assert_ne!(places(&scene.database, "stoic text"), Vec::<String>::new());
    for name in [MARKER, PAT, "zebra crossing", "okapi", "Bob Stoneson", "usr_bob"] {
        assert_eq!(places(&scene.database, name), Vec::<String>::new(), "{name}");
    }
    // What the server remembers of its signatures, and the head key.
    for entry in std::fs::read_dir(&scene.memory).expect("list the state directory") {
        let path = entry.expect("list the state directory").path();
        let text = String::from_utf8_lossy(&std::fs::read(&path).expect("read a file")).into_owned();
        for name in NAMES {
            assert!(!text.contains(name), "{name} in {}", path.display());
        }
    }
}

fn no_event_line_error_or_metric_names_the_person(kind: DatabaseKind) {
    let Some(erased) = Erased::shared(kind) else {
        return;
    };
    for said in [
        "audit.events.erased",
        "audit_",
        "DSR-118",
        "identifiers.texts[3]",
        "/erasures/{id}/confirm",
    ] {
        assert!(
            erased.said.contains(said),
            "{said} is not among what was collected"
        );
    }
    for name in NAMES {
        let line = erased.said.lines().find(|line| line.contains(name));
        assert_eq!(line, None, "{name}");
    }
}
