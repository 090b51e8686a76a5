//! The table of edits of the index in `docs/design/tampering.md`: what `log verify`, `log verify --index` and queries say. The index is
//! derived from the events, so no edit of it changes the log; a query may not find an event.

use super::super::{STATE_DIRECTORY, stop, text_of};
use super::document::{expect_lines, is_full};
use super::table::name_of;
use super::{Deployment, Target};
use crate::index_verify::change_index;
use audit_tests::process::Exit;
use audit_tests::{Client, DatabaseKind, Deadline, command_line_with, on_both_databases};
use serde_json::Value;
use std::collections::BTreeSet;

const HEADER: &str = "| Edit of the index | Database | `log verify` | `log verify --index` | Queries |\n|---|---|---|---|---|\n";
const WAIT_SECONDS: u64 = 120;
/// Rebuilds the index.
const FORGET: [&str; 2] = ["PRAGMA user_version = 1", "DELETE FROM index_format"];

on_both_databases! {
    every_edit_of_the_index_is_noticed_as_documented,
}

/// An edit of the index: its statements on SQLite, in the file of the index, and on PostgreSQL.
struct IndexEdit {
    name: &'static str,
    sql: [Option<&'static str>; 2],
    /// Events are other ones while the index is built: the statement that changes them, and the one that changes them back.
    events: Option<(&'static str, &'static str)>,
}

const fn both(name: &'static str, sql: &'static str) -> IndexEdit {
    each(name, Some(sql), Some(sql))
}

const fn each(name: &'static str, sqlite: Option<&'static str>, postgres: Option<&'static str>) -> IndexEdit {
    IndexEdit {
        name,
        sql: [sqlite, postgres],
        events: None,
    }
}

const fn built(name: &'static str, change: &'static str, back: &'static str) -> IndexEdit {
    IndexEdit {
        name,
        sql: [None, None],
        events: Some((change, back)),
    }
}

/// Changes the first byte of the first block of a kind.
macro_rules! byte_of_kind {
    ($name:literal, $kind:literal) => {
        each(
            $name,
            Some(concat!(
                "UPDATE index_blocks SET bytes = CAST(x'55' || substr(bytes, 2) AS BLOB) WHERE id = \
                 (SELECT min(id) FROM index_blocks WHERE id >> 28 & 15 = ",
                $kind,
                ")"
            )),
            Some(concat!(
                "UPDATE index_blocks SET bytes = set_byte(bytes, 0, get_byte(bytes, 0) # 1) WHERE id = \
                 (SELECT min(id) FROM index_blocks WHERE id >> 28 & 15 = ",
                $kind,
                ")"
            )),
        )
    };
}

/// The largest segment has most of the events.
const LARGEST: &str = "(SELECT id FROM index_segments ORDER BY row_count DESC, id LIMIT 1)";

const EDITS: &[IndexEdit] = &[
    byte_of_kind!("a byte of a block of ids", "0"),
    byte_of_kind!("a byte of a block of the dictionary", "1"),
    byte_of_kind!("a byte of a block of the directory", "3"),
    both(
        "a block in the place of another one",
        "UPDATE index_blocks SET bytes = (SELECT bytes FROM index_blocks WHERE id = (SELECT max(id) FROM index_blocks))
         WHERE id = (SELECT min(id) FROM index_blocks WHERE id >> 28 & 15 = 1)",
    ),
    both(
        "a block of the dictionary removed",
        "DELETE FROM index_blocks WHERE id = (SELECT min(id) FROM index_blocks WHERE id >> 28 & 15 = 1)",
    ),
    both("all blocks removed", "DELETE FROM index_blocks"),
    both("a segment removed", "DELETE FROM index_segments WHERE id = LARGEST"),
    both("all segments removed, with their blocks", "DELETE FROM index_segments; DELETE FROM index_blocks"),
    both("a segment hidden", "UPDATE index_segments SET is_complete = FALSE WHERE id = LARGEST"),
    both("the number of rows of a segment", "UPDATE index_segments SET row_count = row_count - 1 WHERE id = LARGEST"),
    each(
        "the times of a segment",
        Some("UPDATE index_segments SET first_position = first_position - (86400000 << 20), last_position = first_position WHERE id = LARGEST"),
        Some("UPDATE index_segments SET first_occurred_at = first_occurred_at - 86400000000, last_occurred_at = first_occurred_at WHERE id = LARGEST"),
    ),
    each(
        "the tokens of a segment",
        Some("UPDATE index_segments SET roots = CAST(x'55' || substr(roots, 2) AS BLOB) WHERE id = LARGEST"),
        Some("UPDATE index_segments SET roots = set_byte(roots, 0, get_byte(roots, 0) # 1) WHERE id = LARGEST"),
    ),
    each(
        "the last indexed commit",
        Some("UPDATE indexed SET last_mark = last_mark + 1"),
        None,
    ),
    each("the format", Some(FORGET[0]), Some(FORGET[1])),
    each(
        "a backlog of events that are indexed",
        None,
        Some("INSERT INTO event_backlog SELECT group_id, id, 0, 10, month FROM ledgers JOIN ledger_months ON ledger_id = id WHERE size > 10"),
    ),
    built(
        "built while an event had another actor",
        "UPDATE events SET body = replace(body, 'actor-1', 'actor-2') WHERE LEDGER AND seq = 17",
        "UPDATE events SET body = replace(body, 'actor-2', 'actor-1') WHERE LEDGER AND seq = 17",
    ),
    built(
        "built while an event had another tenant",
        "UPDATE events SET body = replace(body, '\"tenant_id\":\"acme\"', '\"tenant_id\":\"other\"') WHERE LEDGER AND seq = 18",
        "UPDATE events SET body = replace(body, '\"tenant_id\":\"other\"', '\"tenant_id\":\"acme\"') WHERE LEDGER AND seq = 18",
    ),
];

impl IndexEdit {
    fn of(&self, kind: DatabaseKind) -> Option<String> {
        let sql = self.sql[number(kind)]?;
        Some(sql.replace("LARGEST", LARGEST))
    }

    /// Makes the edit while no server runs. `false` where the database has no such rows.
    fn apply(&self, deployment: &Deployment) -> bool {
        let kind = deployment.database.kind();
        match (self.of(kind), self.events) {
            (Some(sql), _) => change_index(&deployment.database, &sql),
            (None, Some((change, back))) => {
                let case = &deployment.targets[0].case;
                case.tamper(change);
                change_index(&deployment.database, FORGET[number(kind)]);
                index(deployment);
                case.tamper(back);
            }
            (None, None) => return false,
        }
        true
    }
}

const fn number(kind: DatabaseKind) -> usize {
    match kind {
        DatabaseKind::Sqlite => 0,
        DatabaseKind::Postgres => 1,
    }
}

/// Runs a server until all events are indexed.
fn index(deployment: &Deployment) {
    let server = deployment.start();
    Deadline::seconds(WAIT_SECONDS).poll("the index", || {
        let finished = command_line_with(
            &[
                "index",
                "verify",
                "--json",
                "--database-url",
                deployment.database.url(),
            ],
            &[],
        );
        let report: Value = serde_json::from_str(&finished.stdout).ok()?;
        (report["backlog"] == 0 && report["indexed"] == report["events"]).then_some(())
    });
    stop(server);
}

/// Whether `log verify` with these arguments has a finding. It must come to a result.
fn is_found(deployment: &Deployment, more: &[&str]) -> &'static str {
    let arguments = ["log", "verify", "--database-url", deployment.database.url()];
    let environment = [(STATE_DIRECTORY, text_of(&deployment.memory))];
    let finished = command_line_with(&[&arguments, more].concat(), &environment);
    match finished.exit {
        Exit::Code(0) => "–",
        Exit::Code(1) => "yes",
        Exit::Code(2) => "not possible (2)",
        _ => panic!("no result: {finished:?}"),
    }
}

/// What queries find, compared with the events that there are.
fn queries(target: &Target, project: &Client) -> &'static str {
    let is = |path: [&'static str; 2], value: &'static str| {
        move |event: &Value| match path {
            [member, ""] => event[member] == value,
            [member, inner] => event[member][inner] == value,
        }
    };
    type Condition = Box<dyn Fn(&Value) -> bool>;
    let searches: [(&str, &str, Condition); 3] = [
        ("actor_id", "actor-1", Box::new(is(["actor", "id"], "actor-1"))),
        ("tenant_id", "acme", Box::new(is(["tenant_id", ""], "acme"))),
        (
            "action",
            "auth.failed*",
            Box::new(is(["action", ""], "auth.failed.password")),
        ),
    ];
    let mut result = "right";
    for (name, value, condition) in searches {
        let expected: BTreeSet<String> = target
            .case
            .events
            .iter()
            .filter(|event| condition(event))
            .map(|event| event["id"].to_string())
            .collect();
        match found(project, name, value) {
            None => return "500",
            Some(ids) if ids == expected => {}
            Some(ids) if ids.is_subset(&expected) => result = "events are missing",
            Some(_) => return "other events",
        }
    }
    result
}

fn found(project: &Client, name: &str, value: &str) -> Option<BTreeSet<String>> {
    let (mut ids, mut cursor) = (BTreeSet::new(), None::<String>);
    loop {
        let mut request = project.get("/events").query(name, value).query("limit", "200");
        if let Some(cursor) = &cursor {
            request = request.query("cursor", cursor);
        }
        let response = request.send();
        if response.status() != 200 {
            assert_eq!(response.status(), 500, "{response:?}");
            return None;
        }
        ids.extend(
            response
                .list("events")
                .iter()
                .map(|event| event["id"].to_string()),
        );
        cursor = response["cursor"].as_str().map(str::to_owned);
        if cursor.is_none() {
            return Some(ids);
        }
    }
}

fn every_edit_of_the_index_is_noticed_as_documented(kind: DatabaseKind) {
    let base = Deployment::create(kind, 1);
    index(&base);
    let of_kind = |position: &usize| is_full() || position % 4 == 2 * number(kind);
    let mut lines = Vec::new();
    for edit in (0..EDITS.len()).filter(of_kind).map(|position| &EDITS[position]) {
        let deployment = base.copy();
        if !edit.apply(&deployment) {
            continue;
        }
        let verified = [&[][..], &["--index"]].map(|more| is_found(&deployment, more));
        let server = deployment.start();
        let target = &deployment.targets[0];
        let queried = queries(target, &target.client(&server));
        stop(server);
        let database = name_of(kind);
        let [log, index] = verified;
        assert!(
            queried == "right" || index == "yes",
            "{} is not noticed",
            edit.name
        );
        lines.push(format!(
            "| {} | {database} | {log} | {index} | {queried} |",
            edit.name
        ));
    }
    expect_lines(HEADER, kind, &lines, is_full());
}
