//! The time to find the rules that count an event, compared with trying each pattern, and the cost of a group's state. In
//! nanoseconds; the ratios matter more than the absolute values.
#![allow(clippy::print_stdout)]

use std::collections::HashMap;
use std::hint::black_box;
use std::time::Instant;

use audit_alerts::{BuiltinRule, GroupState, Matcher, Revision, Threshold, Windowing};
use audit_domain::{ActionGlob, EventId, Timestamp};
use serde_json::Value;

/// The best of this many rounds counts, because other load only adds time.
const ROUNDS: usize = 15;

fn main() {
    let lines = include_str!("../../../docs/examples/cloudtrail-events.jsonl");
    let actions: Vec<String> = lines
        .lines()
        .filter_map(|line| serde_json::from_str::<Value>(line).ok())
        .filter_map(|event| event["action"].as_str().map(str::to_owned))
        .collect();
    let distinct = distinct(&actions);
    println!("{} events of {} different actions", actions.len(), distinct.len());
    println!(
        "{:<34} {:>10} {:>10} {:>8} {:>7}",
        "ns per event", "one by one", "cached", "Matcher", "matches"
    );
    for count in [0, 5, 100, 1_000] {
        let title = format!("{count} rules of all kinds");
        compare(&title, &mixed_rules(count, &distinct), &actions);
    }
    for (kind, pattern) in kinds() {
        let globs: Vec<ActionGlob> = (0..1_000)
            .filter_map(|n| pattern(n, &distinct).parse().ok())
            .collect();
        compare(&format!("1000 of {kind}"), &globs, &actions);
    }
    for threshold in [5, 100, 10_000] {
        state(threshold);
    }
}

fn distinct(actions: &[String]) -> Vec<String> {
    let mut distinct = actions.to_vec();
    distinct.sort();
    distinct.dedup();
    distinct
}

type Pattern = fn(usize, &[String]) -> String;

/// Typical kinds of patterns, with the services and verbs of the examples.
fn kinds() -> [(&'static str, Pattern); 7] {
    fn action(n: usize, actions: &[String]) -> &str {
        &actions[n.wrapping_mul(7_919) % actions.len()]
    }
    fn service(n: usize, actions: &[String]) -> &str {
        action(n, actions).split('.').next().unwrap_or_default()
    }
    fn verb(n: usize, actions: &[String]) -> &str {
        action(n, actions).rsplit('.').next().unwrap_or_default()
    }
    [
        ("service.verb", |n, actions| action(n, actions).to_owned()),
        ("service.verb*, none matching", |n, actions| {
            format!("service{n}.{}*", verb(n, actions))
        }),
        ("service.ver*", |n, actions| {
            let action = action(n, actions);
            format!("{}*", &action[..action.len() - n % 8])
        }),
        ("*.verb", |n, actions| format!("*.{}", verb(n, actions))),
        ("*verb*, none matching", |n, actions| {
            format!("*{}{n}*", verb(n, actions))
        }),
        ("service.*.verb, none matching", |n, actions| {
            format!("{}{n}.*.{}", service(n, actions), verb(n, actions))
        }),
        ("*.noun.*, none matching", |n, _| format!("*.noun{n}.*")),
    ]
}

/// The built-in rules first, then custom ones of all kinds in turn.
fn mixed_rules(count: usize, actions: &[String]) -> Vec<ActionGlob> {
    let builtin = BuiltinRule::ALL
        .iter()
        .map(|rule| rule.definition().action_pattern);
    let custom = (0_usize..).filter_map(|n| {
        let (_, pattern) = kinds()[n % kinds().len()];
        pattern(n, actions).parse().ok()
    });
    builtin.chain(custom).take(count).collect()
}

fn compare(title: &str, globs: &[ActionGlob], actions: &[String]) {
    let one_by_one = best(actions, |action| {
        globs
            .iter()
            .enumerate()
            .filter(|(_, glob)| glob.matches(action))
            .map(|(index, _)| index)
            .sum()
    });
    let mut cache: HashMap<String, Vec<usize>> = HashMap::new();
    let cached = best(actions, |action| match cache.get(action) {
        Some(found) => found.iter().sum(),
        None => {
            let found: Vec<usize> = (0..globs.len())
                .filter(|index| globs[*index].matches(action))
                .collect();
            let sum = found.iter().sum();
            cache.insert(action.to_owned(), found);
            sum
        }
    });
    let matcher = Matcher::new(globs);
    let ours = best(actions, |action| matcher.matching(action).sum());
    let matches: usize = actions
        .iter()
        .map(|action| matcher.matching(action).count())
        .sum();
    let matches = matches as f64 / actions.len() as f64;
    println!("{title:<34} {one_by_one:>10.0} {cached:>10.0} {ours:>8.0} {matches:>7.2}");
}

fn best(actions: &[String], mut matching: impl FnMut(&str) -> usize) -> f64 {
    let mut best = f64::INFINITY;
    for _ in 0..ROUNDS {
        let start = Instant::now();
        for action in actions {
            black_box(matching(black_box(action)));
        }
        best = best.min(start.elapsed().as_nanos() as f64 / actions.len() as f64);
    }
    best
}

/// The cost of one event for a stored group, without the database: decode, observe, encode.
fn state(threshold: i64) {
    let definition = BuiltinRule::AuthBruteForce.definition();
    let rule = Windowing {
        revision: Revision::default(),
        threshold: Threshold::try_from(threshold).unwrap_or(Threshold::MAX),
        window_seconds: definition.window_seconds,
        cooldown_seconds: definition.cooldown_seconds,
    };
    let start = Timestamp::from_seconds(1_768_473_000);
    let mut held = GroupState::default();
    for n in 1..threshold {
        let at = Timestamp::from_millis(start.as_millis() + n * 20);
        held.observe(&rule, at, at, EventId::new(at, [n as u8; 10]));
    }
    let bytes = held.encode();
    let mut best = f64::INFINITY;
    for _ in 0..ROUNDS {
        let begin = Instant::now();
        for _ in 0..20 {
            let mut state = GroupState::decode(black_box(&bytes)).unwrap_or_default();
            let at = start.plus_seconds(250);
            black_box(state.observe(&rule, at, at, EventId::new(at, [0; 10])));
            black_box(state.encode());
        }
        best = best.min(begin.elapsed().as_nanos() as f64 / 20.0);
    }
    println!(
        "state one short of a threshold of {threshold}: {} bytes, {best:.0} ns to read, count and write",
        bytes.len()
    );
}
