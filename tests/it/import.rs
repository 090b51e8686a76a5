//! `audit-server import`: events from a file, straight into the database or over HTTP.

use audit_tests::{
    DatabaseKind, Finished, Organization, Server, event_with, on_both_databases, temporary_directory,
};
use serde_json::json;
use std::path::{Path, PathBuf};

fn file(lines: &[String]) -> PathBuf {
    let path = temporary_directory("import-").join("events.jsonl");
    std::fs::write(&path, lines.join("\n")).expect("write a file");
    path
}

/// How events get in.
#[derive(Clone, Copy, Debug)]
enum Way {
    Database,
    Http,
}

fn import(database: DatabaseKind, organization: &Organization, way: Way, path: &Path) -> Finished {
    let server = Server::shared(database);
    let path = path.to_str().expect("a path in UTF-8");
    match way {
        Way::Database => server.command_line(&["import", path, "--project", &organization.project_id]),
        Way::Http => {
            let arguments = [
                "import",
                path,
                "--url",
                server.base_url(),
                "--key",
                &organization.project_key,
            ];
            audit_tests::command_line(&arguments)
        }
    }
}

fn keyed(key: &str) -> String {
    event_with(json!({"idempotency_key": key, "actor": {"email": "jane@example.com"}})).to_string()
}

fn says_number(text: &str, number: usize) -> bool {
    let digits_and_rest = |character: char| !character.is_ascii_digit() && character != ',';
    text.split(digits_and_rest)
        .any(|word| word.replace(',', "") == number.to_string())
}

on_both_databases! {
    good_lines_are_stored_and_bad_ones_reported_by_number,
    a_second_import_stores_nothing_again,
    a_byte_order_mark_and_line_ends_of_windows_cost_no_line,
    the_example_is_imported_whole_and_can_be_asked,
    what_cannot_be_imported_is_refused,
}

fn good_lines_are_stored_and_bad_ones_reported_by_number(database: DatabaseKind) {
    for way in [Way::Database, Way::Http] {
        let organization = Organization::fresh(database);
        let lines = [
            keyed("a"),
            keyed("b"),
            "{\"action\": broken".to_owned(),
            keyed("a"),
            String::new(),
            event_with(json!({"category": "other"})).to_string(),
            keyed("c"),
        ];
        let finished = import(database, &organization, way, &file(&lines));
        let report = format!("{}\n{}", finished.stdout, finished.stderr);
        assert!(!report.contains("panicked"), "{report}");
        let about = |line: usize| {
            let lines = report
                .lines()
                .find(|text| text.contains("line") && says_number(text, line));
            lines.unwrap_or_else(|| panic!("{way:?}: nothing about line {line}: {report}"))
        };
        about(3);
        assert!(about(6).contains("category"), "{way:?}: {report}");
        let stored = organization.project().find(&[]);
        assert_eq!(stored.len(), 3, "{way:?}: {report}");
        assert!(
            stored.iter().all(|event| event["actor"]["email"] == "[REDACTED]"),
            "rules hold for imports"
        );
        assert!(says_number(&finished.stdout, 3), "{way:?}: 3 stored: {report}");
    }
}

fn a_second_import_stores_nothing_again(database: DatabaseKind) {
    for way in [Way::Database, Way::Http] {
        let organization = Organization::fresh(database);
        let lines: Vec<String> = (0..250).map(|number| keyed(&format!("key-{number}"))).collect();
        let path = file(&lines);
        let first = import(database, &organization, way, &path).success();
        assert!(says_number(&first, 250), "{way:?}: {first}");
        let second = import(database, &organization, way, &path).success();
        assert!(
            says_number(&second, 250) && says_number(&second, 0),
            "{way:?}: {second}"
        );
        assert_eq!(organization.project().count(), 250);
    }
}

fn a_byte_order_mark_and_line_ends_of_windows_cost_no_line(database: DatabaseKind) {
    for way in [Way::Database, Way::Http] {
        let organization = Organization::fresh(database);
        let path = file(&[format!("\u{feff}{}\r", keyed("a")), format!("{}\r", keyed("b"))]);
        import(database, &organization, way, &path).success();
        assert_eq!(organization.project().count(), 2, "{way:?}");
        // A mark alone is an empty line.
        let path = file(&["\u{feff}".to_owned(), keyed("c")]);
        import(database, &organization, way, &path).success();
        assert_eq!(organization.project().count(), 3, "{way:?}");
    }
}

fn the_example_is_imported_whole_and_can_be_asked(database: DatabaseKind) {
    let organization = Organization::fresh(database);
    let path = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../docs/examples/cloudtrail-events.jsonl"
    );
    let report = import(database, &organization, Way::Database, Path::new(path)).success();
    assert!(says_number(&report, 2_900), "{report}");
    let project = organization.project();
    assert_eq!(project.count(), 2_900);
    let denied = project
        .pages(&[("category", "security"), ("limit", "200")])
        .concat()
        .len();
    let failed = project.pages(&[("search", "failed"), ("limit", "200")]).concat();
    assert!(!failed.is_empty() && denied < 2_900);
    assert!(failed.iter().all(|event| {
        event["action"]
            .as_str()
            .is_some_and(|action| action.contains("failed"))
    }));
}

fn what_cannot_be_imported_is_refused(database: DatabaseKind) {
    let organization = Organization::fresh(database);
    import(
        database,
        &organization,
        Way::Database,
        Path::new("does-not-exist.jsonl"),
    )
    .refusal();
    let path = file(&[keyed("a")]);
    let server = Server::shared(database);
    let path = path.to_str().expect("a path in UTF-8");
    let unknown = "67e55044-10b1-426f-9247-bb680e5fe0c8";
    server
        .command_line(&["import", path, "--project", unknown])
        .refusal();
    let wrong_key = [
        "import",
        path,
        "--url",
        server.base_url(),
        "--key",
        "pk_live_nonsense",
    ];
    audit_tests::command_line(&wrong_key).refusal();
    let nobody_there = [
        "import",
        path,
        "--url",
        "http://127.0.0.1:1",
        "--key",
        &organization.project_key,
    ];
    audit_tests::command_line(&nobody_there).refusal();
    assert_eq!(organization.project().count(), 0);
}
