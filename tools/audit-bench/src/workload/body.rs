//! Request bodies, written from templates.

use super::RunTimes;
use super::event::Event;
use super::random::Random;
use super::template::{Template, Values};
use serde::{Deserialize, Serialize};

/// Distinct events, drawn once. Each use fills in values that make it unique.
const TEMPLATES: usize = 4_096;
/// Distinct events if each is large.
const LARGE_TEMPLATES: usize = 256;
/// One event in this many is a rare one, while rare events are mixed in.
const RARE_INTERVAL: u64 = 25;
/// The events of a batch occurred within this time before it is sent.
pub(super) const BATCH_SPAN_MS: i64 = 1_000;
/// The events of an imported batch occurred within this time.
const IMPORT_SPAN_MS: i64 = 3_600_000;
/// Share of batches that are imports of old events.
const IMPORTS_PERMILLE: u64 = 10;

#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct BodyOptions {
    /// Events per request; 1 is sent as an object, more as an array.
    pub(crate) batch: usize,
    /// The number of the first event. Idempotency keys derive from numbers, so a database never gets one twice.
    pub(crate) first_number: u64,
    pub(crate) times: RunTimes,
    /// Mix in rare events.
    pub(crate) has_rare: bool,
    /// Mix in batches of events up to 30 days old.
    pub(crate) has_imports: bool,
    /// Bytes of additional metadata per event.
    pub(crate) padding_bytes: usize,
}

/// Generates one body after another.
#[derive(Debug)]
pub(crate) struct Bodies {
    options: BodyOptions,
    ordinary: Vec<Template>,
    rare: Vec<Template>,
    next_number: u64,
    random: Random,
}

impl Bodies {
    pub(crate) fn new(options: BodyOptions) -> Self {
        let mut random = Random::new(2_026);
        let count = if options.padding_bytes == 0 {
            TEMPLATES
        } else {
            LARGE_TEMPLATES
        };
        let mut draw = |make: fn(&mut Random) -> Event| {
            let event = make(&mut random);
            event.template(&mut random, options.padding_bytes)
        };
        let ordinary = (0..count).map(|_| draw(Event::ordinary)).collect();
        let rare = (0..LARGE_TEMPLATES).map(|_| draw(Event::rare)).collect();
        Self {
            next_number: options.first_number,
            random: Random::new(options.first_number),
            options,
            ordinary,
            rare,
        }
    }

    /// Events per body.
    pub(crate) fn batch(&self) -> usize {
        self.options.batch
    }

    /// Approximate upper limit of the size of a body, to size buffers.
    pub(crate) fn bytes_expected(&self) -> usize {
        self.ordinary
            .iter()
            .map(Template::bytes)
            .max()
            .unwrap_or_default()
            * self.options.batch
            + 1_024
    }

    /// Appends the next body, sent at `now_ms`.
    pub(crate) fn write(&mut self, now_ms: i64, out: &mut Vec<u8>) {
        let batch = self.options.batch;
        if batch == 1 {
            self.write_event(now_ms, out);
            return;
        }
        let is_import = self.options.has_imports && self.random.chance(IMPORTS_PERMILLE);
        let (end_ms, span_ms) = if is_import {
            let (first, last) = self.options.times.imported();
            let start = first + self.random.below((last - first) as u64) as i64;
            (start, IMPORT_SPAN_MS)
        } else {
            (now_ms, BATCH_SPAN_MS)
        };
        out.push(b'[');
        for index in 0..batch {
            if index > 0 {
                out.push(b',');
            }
            let age_ms = span_ms * (batch - 1 - index) as i64 / batch as i64;
            self.write_event(end_ms - age_ms, out);
        }
        out.push(b']');
    }

    fn write_event(&mut self, occurred_ms: i64, out: &mut Vec<u8>) {
        let number = self.next_number;
        self.next_number += 1;
        let is_rare = self.options.has_rare && number.is_multiple_of(RARE_INTERVAL);
        let occurred_ms = if is_rare {
            self.rare_time(occurred_ms)
        } else {
            occurred_ms
        };
        let templates = if is_rare { &self.rare } else { &self.ordinary };
        let template = &templates[self.random.below(templates.len() as u64) as usize];
        template.write(&Values::new(number, occurred_ms), out);
    }

    /// Half of the rare events occur in the rare hour, the others at `now_ms`.
    fn rare_time(&mut self, now_ms: i64) -> i64 {
        if !self.random.chance(500) {
            return now_ms;
        }
        let (start, end) = self.options.times.rare_hour();
        start + self.random.below((end - start) as u64) as i64
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workload::vocabulary::{ACTION, ACTOR, TARGET, TARGET_TYPE, TENANT, WORD};
    use serde_json::Value;

    const NOW_MS: i64 = 1_768_473_000_000;

    fn options() -> BodyOptions {
        BodyOptions {
            batch: 100,
            first_number: 0,
            times: RunTimes { began_ms: NOW_MS },
            has_rare: false,
            has_imports: false,
            padding_bytes: 0,
        }
    }

    fn events(options: BodyOptions, bodies: usize) -> Vec<Value> {
        let mut source = Bodies::new(options);
        let mut events = Vec::new();
        for _ in 0..bodies {
            let mut out = Vec::new();
            source.write(NOW_MS, &mut out);
            match serde_json::from_slice(&out).unwrap() {
                Value::Array(items) => events.extend(items),
                single => events.push(single),
            }
        }
        events
    }

    #[test]
    fn bodies_are_json_of_the_documented_size() {
        let batches = events(options(), 20);
        assert_eq!(batches.len(), 2_000);
        let bytes: usize = batches.iter().map(|event| event.to_string().len()).sum();
        assert!((550..750).contains(&(bytes / 2_000)), "{} bytes", bytes / 2_000);
        let single = events(
            BodyOptions {
                batch: 1,
                ..options()
            },
            1,
        );
        assert!(single[0].is_object());
        let large = events(
            BodyOptions {
                padding_bytes: 5_000,
                ..options()
            },
            1,
        );
        assert!(large[0].to_string().len() > 5_000);
    }

    #[test]
    fn idempotency_keys_are_unique_over_all_bodies() {
        let all = events(options(), 50);
        let keys: std::collections::HashSet<&str> = all
            .iter()
            .filter_map(|event| event["idempotency_key"].as_str())
            .collect();
        assert_eq!(keys.len(), 5_000);
    }

    #[test]
    fn common_values_occur_in_a_tenth_of_the_events_or_more() {
        let all = events(options(), 100);
        let share = |has: &dyn Fn(&Value) -> bool| all.iter().filter(|event| has(event)).count();
        for (name, count) in [
            ("tenant", share(&|event| event["tenant_id"] == TENANT.common)),
            ("actor", share(&|event| event["actor"]["id"] == ACTOR.common)),
            ("action", share(&|event| event["action"] == ACTION.common)),
            ("target", share(&|event| event["target"]["id"] == TARGET.common)),
            (
                "type",
                share(&|event| event["target"]["type"] == TARGET_TYPE.common),
            ),
            (
                "word",
                share(&|event| {
                    event["actor"]["name"]
                        .to_string()
                        .to_lowercase()
                        .contains(WORD.common)
                }),
            ),
        ] {
            assert!(count > 1_050, "{name}: {count} of 10,000");
        }
    }

    #[test]
    fn rare_values_occur_in_the_first_events_only() {
        let rare = |events: &[Value]| {
            let is_rare = |event: &&Value| event["tenant_id"] == TENANT.rare;
            events.iter().filter(is_rare).count()
        };
        let first = BodyOptions {
            has_rare: true,
            ..options()
        };
        let count = rare(&events(first, 100));
        assert!((150..250).contains(&count), "{count}");
        assert_eq!(rare(&events(options(), 100)), 0);
    }

    #[test]
    fn one_batch_in_a_hundred_is_an_import_of_old_events() {
        let imports = BodyOptions {
            batch: 2,
            has_imports: true,
            ..options()
        };
        let all = events(imports, 2_000);
        let is_old = |event: &&Value| event["occurred_at"].as_str() < Some("2026-01-15T09");
        let old = all.iter().filter(is_old).count();
        assert!((10..100).contains(&old), "{old} of 4,000");
    }
}
