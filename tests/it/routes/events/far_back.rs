//! Queries whose results are far behind the newest events: they find the same events with every plan of the database.

use audit_tests::{DatabaseKind, Organization, event_with, on_both_databases};
use serde_json::{Value, json};

const BATCH: usize = 100;
/// More events than a database scans before it switches to another plan.
const EVENTS: usize = 44 * BATCH;
/// The oldest events belong to an actor without later events.
const EARLY: usize = 60;

on_both_databases! {
    events_that_lie_far_back_are_found,
}

fn actor(number: usize) -> String {
    match number < EARLY {
        true => "early".to_owned(),
        false => format!("actor-{}", number % 5),
    }
}

fn name(number: usize) -> &'static str {
    match (is_zebra(number), number % 3) {
        (true, _) => "Zebra Annabel",
        (false, 0) => "Anna",
        (false, 1) => "Annika",
        (false, _) => "Bert",
    }
}

fn is_zebra(number: usize) -> bool {
    number < EARLY && number.is_multiple_of(7)
}

fn begins_with_ann(number: usize) -> bool {
    is_zebra(number) || number % 3 < 2
}

fn time(number: usize) -> String {
    let (hours, minutes, seconds) = (number / 3_600, number / 60 % 60, number % 60);
    format!("2026-01-15T{hours:02}:{minutes:02}:{seconds:02}.000Z")
}

fn numbered(number: usize) -> Value {
    event_with(json!({
        "actor": {"id": actor(number), "type": "user", "name": name(number)},
        "occurred_at": time(number),
    }))
}

fn events_that_lie_far_back_are_found(database: DatabaseKind) {
    let client = Organization::fresh(database).project();
    let batches = (0..EVENTS).step_by(BATCH);
    let ids: Vec<_> = batches
        .flat_map(|start| client.store_all((start..start + BATCH).map(numbered).collect()))
        .collect();
    let (start, end) = (time(20), time(EVENTS - 10));
    let expect = |parameters: &[(&str, &str)], matches: fn(usize) -> bool| {
        let mut parameters = parameters.to_vec();
        parameters.push(("limit", "200"));
        let pages = client.pages(&parameters);
        let found: Vec<_> = pages.iter().flatten().map(|event| event["id"].as_str()).collect();
        let expected = (0..EVENTS).rev().filter(|number| matches(*number));
        let expected: Vec<_> = expected.map(|number| Some(ids[number].as_str())).collect();
        assert!(
            found == expected,
            "{parameters:?}: {} found, {} expected",
            found.len(),
            expected.len()
        );
    };
    expect(&[("actor_id", "early")], |number| number < EARLY);
    expect(&[("search", "zeb*")], is_zebra);
    expect(&[("search", "bert"), ("actor_id", "early")], |number| {
        number < EARLY && !begins_with_ann(number)
    });
    // One condition matches few events, and the word prefix more than a page.
    expect(&[("search", "ann*"), ("actor_id", "early")], |number| {
        number < EARLY && begins_with_ann(number)
    });
    expect(&[("search", "ann*"), ("actor_id", "nobody")], |_| false);
    expect(&[("search", "ann* zebra")], is_zebra);
    expect(&[("search", "ann* zeb*"), ("actor_id", "early")], is_zebra);
    expect(
        &[("search", "ann*"), ("actor_id", "early"), ("start_date", &start)],
        |number| (20..EARLY).contains(&number) && begins_with_ann(number),
    );
    // One condition matches all events, and the word prefix few.
    expect(&[("search", "zeb*"), ("actor_type", "user")], is_zebra);
    expect(
        &[("search", "zeb*"), ("actor_type", "user"), ("end_date", &end)],
        is_zebra,
    );
    expect(&[("search", "ann*"), ("actor_id", "actor-3")], |number| {
        number >= EARLY && number % 5 == 3 && begins_with_ann(number)
    });
}
