//! One document's redaction, part by part.

mod settle;

use std::collections::HashSet;

use serde_json::{Map, Value};

use crate::behavior::Behavior;
use crate::builtin;
use crate::canonical::canonical_text;
use crate::engine::Engine;
use crate::keys;
use crate::outputs::{self, REDACTED};
use crate::path::Trail;
use crate::report::Report;
use crate::rewrite::{Hit, output, rewrite};
use crate::scan::Subject;
use crate::shape::{Role, Shape};
use crate::small::{Decimal, Tail};

/// A document's redaction in progress: takes over the parts one after the other, and reports on all of them.
///
/// Hand over `changes.N.field` before `changes.N.before` and `changes.N.after`: it is the key that says what
/// the values are.
#[derive(Debug)]
pub struct Session<'e> {
    engine: &'e Engine,
    fields: Vec<String>,
    rules: Vec<bool>,
    hits: Vec<Hit>,
    change: Option<Change>,
}

/// The change whose `field` was redacted last.
#[derive(Debug, Clone, Copy)]
struct Change {
    index: Tail,
    /// The name as it was, and as it is now.
    field: Tail,
    shown: Tail,
}

impl<'e> Session<'e> {
    pub(crate) fn new(engine: &'e Engine) -> Self {
        Session {
            engine,
            fields: Vec::new(),
            rules: Vec::new(),
            hits: Vec::new(),
            change: None,
        }
    }

    /// Redacts a text. `path` is where it stands, for example `["actor", "name"]`.
    pub fn text(&mut self, path: &[&str], text: &mut String) {
        let original = matches!(path, ["changes", _, "field"]).then(|| Tail::new(text));
        let trail = Trail::Part(path);
        if let Some(new) = self.string(&trail, trail.nearest_key(), text) {
            *text = new;
            self.report_field(&trail);
        }
        if let (["changes", index, _], Some(field)) = (path, original) {
            self.change = Some(Change {
                index: Tail::new(index),
                field,
                shown: Tail::new(text),
            });
        }
    }

    /// Redacts an identifier: when any rule hits it, the whole of it becomes its hash form whatever the rule's
    /// behaviour, so that it stays distinguishable.
    pub fn identifier(&mut self, path: &[&str], text: &mut String) {
        let trail = Trail::Part(path);
        let by_field = self.field_behavior(&trail).is_some();
        let by_text = self.settled_hits(trail.nearest_key(), text);
        if outputs::is_hash(text) || !(by_field || by_text) {
            return;
        }
        self.mark_field_rules(&trail);
        *text = output(Behavior::Hash, None, text, self.engine.hash_key());
        self.report_field(&trail);
    }

    /// Redacts free-form JSON: strings at any depth, integers of nine digits or more, and keys.
    pub fn value(&mut self, path: &[&str], value: &mut Value) {
        let trail = Trail::Part(path);
        if path == ["metadata"] && value.is_object() {
            // A rule that names `metadata` replaces what is in it, so that it stays an object.
            return self.inside(&trail, trail.nearest_key(), value, Depth::FreeForm);
        }
        match path {
            ["changes", index, "before" | "after"]
                if let Some(change) = self.change
                    && change.index.as_str() == *index =>
            {
                let Change { field, shown, .. } = change;
                self.walk(&trail, field.as_str(), value, Depth::FreeForm);
                if field.as_str() != shown.as_str() {
                    // As with a rewritten key: a second redaction sees only the new name.
                    self.walk(&trail, shown.as_str(), value, Depth::FreeForm);
                }
            }
            _ => self.walk(&trail, trail.nearest_key(), value, Depth::FreeForm),
        }
    }

    /// Ends the redaction.
    pub fn finish(self) -> Report {
        let mut report = Report {
            rules_evaluated: self.engine.rules_evaluated(),
            ..Report::default()
        };
        let hit_rules = self.rules.iter().enumerate().filter(|(_, hit)| **hit);
        for (rule, _) in hit_rules {
            let name = self.engine.name(rule);
            if !report.rules.iter().any(|present| present == name) {
                report.rules.push(name.to_owned());
            }
        }
        report.fields = self.fields;
        if report.fields.len() > 1 {
            // What stands behind a rewritten key was looked at twice.
            let mut seen = HashSet::new();
            report.fields.retain(|field| seen.insert(field.clone()));
        }
        report
    }

    /// Takes a whole document apart and hands its parts to the methods above.
    pub(crate) fn document(&mut self, value: &mut Value, shape: Shape) {
        self.part(&[], value, shape);
    }

    fn part(&mut self, path: &[&str], value: &mut Value, shape: Shape) {
        match (shape.role(path), value) {
            (Role::Structure, _) => {}
            (Role::Identifier, Value::String(text)) => self.identifier(path, text),
            (Role::FreeForm, value) => self.value(path, value),
            (Role::Text, Value::String(text)) => self.text(path, text),
            (Role::Container, Value::Object(map)) => self.members(path, map, shape),
            (Role::Container, Value::Array(items)) if path == ["changes"] => {
                for (index, item) in items.iter_mut().enumerate() {
                    self.part(&["changes", Decimal::new(index as u64).as_str()], item, shape);
                }
            }
            (Role::Identifier | Role::Container | Role::Text, value) => {
                let trail = Trail::Part(path);
                self.walk(&trail, trail.nearest_key(), value, Depth::Text);
            }
        }
    }

    fn members(&mut self, path: &[&str], map: &mut Map<String, Value>, shape: Shape) {
        // The name of a change is the context of its values, wherever it stands among them.
        let name_first = matches!(path, ["changes", _]);
        if name_first && let Some(field) = map.get_mut("field") {
            self.part(&[path[0], path[1], "field"], field, shape);
        }
        for (key, value) in map.iter_mut() {
            if name_first && key == "field" {
                continue;
            }
            match *path {
                [] => self.part(&[key], value, shape),
                [one] => self.part(&[one, key], value, shape),
                [one, two, ..] => self.part(&[one, two, key], value, shape),
            }
        }
    }

    /// Redacts a value that stands after `key`, or everything inside it.
    fn walk(&mut self, trail: &Trail<'_>, key: &str, value: &mut Value, depth: Depth) {
        if let Value::String(text) = value {
            if let Some(new) = self.string(trail, key, text) {
                *text = new;
                self.report_field(trail);
            }
            return;
        }
        if let Some(behavior) = self.field_behavior(trail) {
            self.mark_field_rules(trail);
            *value = Value::String(non_string_output(behavior, value, self.engine));
            return self.report_field(trail);
        }
        self.inside(trail, key, value, depth);
    }

    fn inside(&mut self, trail: &Trail<'_>, key: &str, value: &mut Value, depth: Depth) {
        match (value, depth) {
            (Value::Array(items), _) => {
                for (index, item) in items.iter_mut().enumerate() {
                    self.walk(&Trail::Index { parent: trail, index }, key, item, depth);
                }
            }
            (Value::Object(map), Depth::FreeForm) if self.any_key_hit(map) => self.rewrite_keys(trail, map),
            (Value::Object(map), _) => {
                for (key, value) in map.iter_mut() {
                    self.walk(
                        &Trail::Key {
                            parent: trail,
                            key,
                            shown: key,
                        },
                        key,
                        value,
                        depth,
                    );
                }
            }
            (value, Depth::FreeForm) => self.integer(trail, key, value),
            (_, Depth::Text) => {}
        }
    }

    fn integer(&mut self, trail: &Trail<'_>, key: &str, value: &mut Value) {
        const INTEGER_MIN: u64 = 100_000_000;
        const WHOLE_MAX: f64 = 1e19;
        let Value::Number(number) = &*value else { return };
        // `4111111111111111.0` and `4.111111111111111e15` are the same number, and may be read back as digits.
        let whole =
            |number: f64| (number.fract() == 0.0 && number.abs() < WHOLE_MAX).then(|| number.abs() as u64);
        let magnitude = number
            .as_u64()
            .or_else(|| number.as_i64().map(i64::unsigned_abs))
            .or_else(|| number.as_f64().and_then(whole));
        let Some(magnitude) = magnitude else { return };
        if magnitude < INTEGER_MIN {
            return;
        }
        let written = Decimal::new(magnitude);
        self.hits.clear();
        self.engine.scan(
            Subject {
                key,
                text: written.as_str(),
                integer: true,
            },
            &mut self.hits,
        );
        if self.hits.is_empty() {
            return;
        }
        self.mark_hits();
        let text = rewrite(written.as_str(), &mut self.hits, self.engine.hash_key());
        let text = self.settle(key, &text).unwrap_or(text);
        *value = Value::String(text);
        self.report_field(trail);
    }

    fn any_key_hit(&mut self, map: &Map<String, Value>) -> bool {
        map.keys().any(|key| {
            self.hits.clear();
            self.engine.scan(
                Subject {
                    key: "",
                    text: key,
                    integer: false,
                },
                &mut self.hits,
            );
            !self.hits.is_empty()
        })
    }

    fn rewrite_keys(&mut self, trail: &Trail<'_>, map: &mut Map<String, Value>) {
        let old = std::mem::take(map);
        let renamed = keys::rename(old, |key| {
            let end = keys::suffix_start(key);
            let new = self.settle("", &key[..end])?;
            Some(new + &key[end..])
        });
        for (key, shown, mut value) in renamed {
            let trail = Trail::Key {
                parent: trail,
                key: &key,
                shown: &shown,
            };
            self.walk(&trail, &key, &mut value, Depth::FreeForm);
            if key != shown {
                // Once more after the new key: that is what a second redaction of the outcome would see.
                self.walk(&trail, &shown, &mut value, Depth::FreeForm);
                self.report_field(&trail);
            }
            map.insert(shown, value);
        }
    }
}

/// What is looked at inside a value.
#[derive(Debug, Clone, Copy)]
enum Depth {
    /// Strings.
    Text,
    /// Strings, integers and keys.
    FreeForm,
}

fn non_string_output(behavior: Behavior, value: &Value, engine: &Engine) -> String {
    match (behavior, value) {
        // There is no telling which parts of a structure may stay visible.
        (Behavior::Mask, Value::Object(_) | Value::Array(_)) => REDACTED.to_owned(),
        _ => {
            let text = canonical_text(value);
            output(behavior, builtin::kind_of_whole(&text), &text, engine.hash_key())
        }
    }
}
