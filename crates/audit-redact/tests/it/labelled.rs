//! Precision and recall of the built-in rules.

use audit_redact::{Builtin, Engine};

use crate::corpus::{
    Sample, clean_texts, engine_of, events, field_samples, independent_samples, redacted, redacted_ranges,
    reported_samples, samples, strings,
};

const PRECISION_MIN: f64 = 0.98;
const RECALL_MIN: f64 = 0.98;
const F1_MIN: f64 = 0.98;
const CLEAN_TOUCHED_MAX: f64 = 0.003;

#[derive(Default, Clone, Copy)]
struct Score {
    right: u32,
    wrong: u32,
    missed: u32,
}

impl Score {
    fn precision(self) -> f64 {
        f64::from(self.right) / f64::from((self.right + self.wrong).max(1))
    }

    fn recall(self) -> f64 {
        f64::from(self.right) / f64::from((self.right + self.missed).max(1))
    }

    fn f1(self) -> f64 {
        2.0 * f64::from(self.right) / f64::from((2 * self.right + self.wrong + self.missed).max(1))
    }
}

fn score(kind: Builtin, samples: &[Sample], complaints: &mut Vec<String>) -> Score {
    let engine = engine_of(kind);
    let mut score = Score::default();
    for sample in samples {
        let found = redacted_ranges(&sample.text, &redacted(&engine, &sample.key, &sample.text));
        let mut from = 0;
        let mut wanted = Vec::new();
        for (_, part) in sample
            .sensitive
            .iter()
            .filter(|(sensitive, _)| *sensitive == kind)
        {
            // The parts of one kind are listed in order; those of two kinds may be interleaved.
            let at = sample.text[from..]
                .find(part.as_str())
                .map_or_else(|| sample.text.find(part.as_str()), |at| Some(at + from));
            let at = at.unwrap();
            from = at + part.len();
            wanted.push((at, from));
        }
        let overlap = |one: &(usize, usize), other: &(usize, usize)| one.0 < other.1 && other.0 < one.1;
        for want in &wanted {
            if found.iter().any(|range| overlap(range, want)) {
                score.right += 1;
            } else {
                score.missed += 1;
                complaints.push(format!(
                    "{}: missed in {:?} {:?}",
                    kind.name(),
                    sample.key,
                    sample.text
                ));
            }
        }
        for range in &found {
            // A part may be of two kinds: an AWS secret key is also the value of `secret_access_key`.
            let other = sample.sensitive.iter().any(|(_, part)| {
                sample
                    .text
                    .match_indices(part.as_str())
                    .any(|(at, _)| overlap(range, &(at, at + part.len())))
            });
            if !other {
                score.wrong += 1;
                complaints.push(format!(
                    "{}: wrong in {:?} {:?}",
                    kind.name(),
                    sample.key,
                    sample.text
                ));
            }
        }
    }
    score
}

#[test]
fn precision_and_recall_of_every_kind_reach_the_minimum() {
    assert_minimum(&samples());
}

#[test]
fn they_reach_it_on_the_logs_of_other_products() {
    assert_minimum(&independent_samples());
}

#[test]
fn they_reach_it_on_the_bug_reports_of_other_products() {
    assert_minimum(&reported_samples());
}

#[test]
fn they_reach_it_on_a_set_by_somebody_who_did_not_know_the_rules() {
    assert_minimum(&field_samples());
}

#[allow(clippy::print_stdout)]
fn assert_minimum(samples: &[Sample]) {
    let mut total = Score::default();
    let mut failures = Vec::new();
    let mut complaints = Vec::new();
    println!(
        "{:<14} {:>6} {:>6} {:>6} {:>9} {:>7} {:>6}",
        "kind", "right", "wrong", "missed", "precision", "recall", "F1"
    );
    for kind in Builtin::ALL {
        let score = score(*kind, samples, &mut complaints);
        if kind.enabled_by_default() {
            total.right += score.right;
            total.wrong += score.wrong;
            total.missed += score.missed;
        }
        println!(
            "{:<14} {:>6} {:>6} {:>6} {:>9.4} {:>7.4} {:>6.4}",
            kind.name(),
            score.right,
            score.wrong,
            score.missed,
            score.precision(),
            score.recall(),
            score.f1()
        );
        if score.right + score.wrong + score.missed > 0
            && (score.precision() < PRECISION_MIN || score.recall() < RECALL_MIN)
        {
            failures.push(kind.name());
        }
    }
    println!(
        "F1 over all default kinds {:.4}\n{}",
        total.f1(),
        complaints.join("\n")
    );
    assert!(failures.is_empty(), "{failures:?}");
    assert!(total.f1() >= F1_MIN);
}

#[test]
fn no_sensitive_value_is_left_in_the_output() {
    let engine = Engine::builtins();
    let leaks: Vec<String> = samples()
        .iter()
        .filter_map(|sample| {
            let output = redacted(&engine, &sample.key, &sample.text);
            let parts = sample
                .sensitive
                .iter()
                .filter(|(kind, _)| kind.enabled_by_default());
            let left = parts.filter(|(_, part)| output.contains(part.as_str())).count();
            (left > 0).then_some(output)
        })
        .collect();
    assert_eq!(leaks, Vec::<String>::new());
}

#[test]
fn the_spans_of_found_parts_are_exact() {
    let mut inexact = Vec::new();
    let mut total = 0;
    for sample in samples() {
        for (kind, part) in &sample.sensitive {
            total += 1;
            let output = redacted(&engine_of(*kind), &sample.key, &sample.text);
            let exact = sample.text.replace(part.as_str(), "[REDACTED]");
            if sample.sensitive.len() == 1 && output != exact {
                inexact.push(format!("{:?} became {output:?}", sample.text));
            }
        }
    }
    println!(
        "{} of {total} spans are not exact\n{}",
        inexact.len(),
        inexact.join("\n")
    );
    assert!(inexact.len() * 50 <= total);
}

#[test]
fn clean_strings_do_not_change() {
    let engine = Engine::builtins();
    let events = events();
    let mut texts: Vec<(&str, &str)> = clean_texts().into_iter().map(|text| ("value", text)).collect();
    for event in &events {
        strings("", event, &mut texts);
    }
    texts.sort_unstable();
    texts.dedup();
    let touched: Vec<_> = texts
        .iter()
        .filter(|(key, text)| redacted(&engine, key, text) != *text)
        .collect();
    println!(
        "{} of {} clean strings touched: {touched:#?}",
        touched.len(),
        texts.len()
    );
    assert!(touched.len() as f64 <= texts.len() as f64 * CLEAN_TOUCHED_MAX);
}
