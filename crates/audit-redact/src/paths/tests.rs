//! Tests of the tree of paths.

use super::*;
use crate::work::counter::count;
use crate::{Behavior, Engine, Shape};
use serde_json::{Map, Value, json};

fn covers(path: &str, location: &Location<'_>) -> bool {
    let path = FieldPath::parse(path).unwrap();
    let (mut lookup, mut fuel) = (Lookup::default(), Fuel::for_document());
    let tree = PathTree::new([(7, &path)]);
    tree.look_up(location, &mut lookup, &mut fuel).unwrap();
    !lookup.rules.is_empty()
}

fn engine(rules: usize, path: impl Fn(usize, usize) -> String) -> Engine {
    let paths = |rule| {
        (0..100)
            .map(|index| FieldPath::parse(&path(rule, index)).unwrap())
            .collect()
    };
    (0..rules)
        .fold(Engine::builder(), |builder, rule| {
            builder.fields(&format!("r{rule}"), paths(rule), Behavior::Replace)
        })
        .build()
}

#[test]
fn the_number_of_paths_does_not_change_the_work() {
    let metadata: Map<String, Value> = (0..1_000)
        .map(|index| (format!("k{index}"), json!({"v": 1})))
        .collect();
    let event = json!({"metadata": metadata});
    let work = |rules| {
        let engine = engine(rules, |rule, index| format!("metadata.k5.v{rule}.x{index}"));
        let mut event = event.clone();
        count(|| {
            engine.redact(&mut event, &Shape::audit_event());
        })
    };
    assert!(work(1) > 1_000, "the lookups are not counted");
    assert_eq!(work(1), work(100));
}

#[test]
fn paths_that_all_agree_with_a_value_take_bounded_work_and_the_value_is_replaced() {
    // Every path agrees with every value until its last step.
    let engine = engine(80, |rule, index| {
        let number = rule * 100 + index;
        let steps = (0..13).map(|bit| if (number >> bit) & 1 == 0 { "*" } else { "a" });
        format!("metadata.{}.x", steps.collect::<Vec<_>>().join("."))
    });
    let leaves: Map<String, Value> = (0..2_000).map(|index| (format!("k{index}"), json!(1))).collect();
    let nested = (0..13).fold(Value::Object(leaves), |value, _| json!({"a": value}));
    let mut event = json!({"metadata": nested});
    let bytes = event.to_string().len() as u64;
    let mut fields = 0;
    let counted = count(|| {
        fields = engine.redact(&mut event, &Shape::audit_event()).fields().len();
    });
    let max = crate::PATTERN_STEPS_PER_DOCUMENT + crate::PATTERN_STEPS_PER_BYTE * bytes;
    assert!(counted as u64 <= max, "{counted} steps for {max}");
    assert!(fields > 1_000, "{fields}");
}

#[test]
fn a_deep_path_is_followed_once_however_often_it_is_reached() {
    let engine = engine(1, |_, index| format!("**.a.**.a.**.a.**.x{index}"));
    let nested = |depth| (0..depth).fold(json!({"x5": 1}), |value, _| json!({"a": value}));
    let mut event = json!({"metadata": nested(60)});
    let report = engine.redact(&mut event, &Shape::audit_event());
    assert_eq!(report.fields().len(), 1);
    assert!(report.fields()[0].ends_with("a.x5"));
}

#[test]
fn a_container_covers_its_parts() {
    assert!(covers("actor", &Location::Part(&["actor", "name"])));
    assert!(covers("changes.*", &Location::Part(&["changes", "3", "before"])));
    assert!(!covers("actor.name", &Location::Part(&["actor"])));
    assert!(!covers("actor.id", &Location::Part(&["actor", "name"])));
    assert!(covers("**.name", &Location::Part(&["actor", "name"])));
    assert!(covers("**.before", &Location::Part(&["changes", "3", "before"])));
}

#[test]
fn inside_a_part_a_path_names_one_value_and_a_star_any_one_step() {
    let metadata = Location::Part(&["metadata"]);
    let users = Location::Key {
        parent: &metadata,
        key: "users",
        shown: "users",
    };
    let second = Location::Index {
        parent: &users,
        index: 1,
    };
    let ssn = Location::Key {
        parent: &second,
        key: "ssn",
        shown: "ssn",
    };
    assert!(covers("metadata.users.1.ssn", &ssn));
    assert!(covers("metadata.users.*.ssn", &ssn));
    assert!(covers("metadata.*.*.*", &ssn));
    assert!(!covers("metadata.users.*", &ssn));
    assert!(!covers("metadata.users.2.ssn", &ssn));
    assert!(!covers("users.1.ssn", &ssn));
    assert!(!covers("metadata.*.ssn", &ssn));
    for path in [
        "**.ssn",
        "metadata.**.ssn",
        "**.users.**.ssn",
        "**.1.ssn",
        "metadata.users.**.1.ssn",
        "**.**.ssn",
        "**",
    ] {
        assert!(covers(path, &ssn), "{path}");
    }
    for path in [
        "actor.**.ssn",
        "**.users",
        "**.ssn.x",
        "**.2.ssn",
        "metadata.**.users.ssn",
    ] {
        assert!(!covers(path, &ssn), "{path}");
    }
    assert!(covers("metadata", &users) && !covers("metadata", &second));
    assert_eq!(ssn.to_string(), "metadata.users.1.ssn");
    assert_eq!(second.nearest_key(), "users");
}
