//! Redaction of one document, part by part.

mod fixpoint;
mod pair;

use std::collections::HashSet;

use serde_json::{Map, Value};

use crate::behavior::Behavior;
use crate::builtin;
use crate::canonical::canonical_text;
use crate::engine::Engine;
use crate::keys;
use crate::outputs::{self, REDACTED};
use crate::path::Location;
use crate::paths::Lookup;
use crate::pattern::Fuel;
use crate::report::Report;
use crate::rewrite::{Hit, output, rewrite};
use crate::scan::Subject;
use crate::shape::{Role, Shape};
use crate::small::{Decimal, Tail};
use pair::SecretName;

/// The redaction of one document in progress. It takes one part after the other and reports on all of them.
///
/// Pass `changes.N.field` before `changes.N.before` and `changes.N.after`: it is the key in whose context the values
/// are scanned.
#[derive(Debug)]
pub struct Session<'e> {
    engine: &'e Engine,
    fields: Vec<String>,
    rules: Vec<bool>,
    hits: Vec<Hit>,
    /// The field rules of the value that was looked up last.
    lookup: Lookup,
    /// What custom rules may still do for this document.
    fuel: Fuel,
    change: Option<Change>,
}

/// The entry of `changes` whose `field` was redacted last.
#[derive(Debug, Clone, Copy)]
struct Change {
    index: Tail,
    /// The original name.
    field: Tail,
    /// The name after redaction.
    shown: Tail,
}

impl<'e> Session<'e> {
    pub(crate) fn new(engine: &'e Engine) -> Self {
        Session {
            engine,
            fields: Vec::new(),
            rules: Vec::new(),
            hits: Vec::new(),
            lookup: Lookup::default(),
            fuel: Fuel::for_document(),
            change: None,
        }
    }

    /// Redacts the text at `path`, for example `["actor", "name"]`.
    pub fn text(&mut self, path: &[&str], text: &mut String) {
        let original = matches!(path, ["changes", _, "field"]).then(|| Tail::new(text));
        let location = Location::Part(path);
        if let Some(new) = self.string(&location, location.nearest_key(), text) {
            *text = new;
            self.report_field(&location);
        }
        if let (["changes", index, _], Some(field)) = (path, original) {
            self.change = Some(Change {
                index: Tail::new(index),
                field,
                shown: Tail::new(text),
            });
        }
    }

    /// Redacts an identifier. If any rule hits it, the whole identifier becomes its hash form for every behaviour, so
    /// that it stays distinguishable.
    pub fn identifier(&mut self, path: &[&str], text: &mut String) {
        let location = Location::Part(path);
        let by_field = self.field_behavior(&location).is_some();
        let by_text = self.scan_and_mark(location.nearest_key(), text);
        if outputs::is_hash(text) || !(by_field || by_text) {
            return;
        }
        self.mark_field_rules();
        *text = output(Behavior::Hash, None, text, self.engine.hash_key());
        self.report_field(&location);
    }

    /// Redacts free-form JSON at `path`: strings, integers of at least nine digits or behind a key such as `pin`, and keys, at
    /// every depth.
    pub fn value(&mut self, path: &[&str], value: &mut Value) {
        let location = Location::Part(path);
        if path == ["metadata"] && value.is_object() {
            // A rule that names `metadata` replaces its members, so that `metadata` stays an object.
            return self.children(&location, location.nearest_key(), value, Scope::FreeForm);
        }
        match path {
            ["changes", index, "before" | "after"]
                if let Some(change) = self.change
                    && change.index.as_str() == *index =>
            {
                let Change { field, shown, .. } = change;
                self.walk(&location, field.as_str(), value, Scope::FreeForm);
                if field.as_str() != shown.as_str() {
                    // A second redaction of the output sees only the new name, as with a rewritten key.
                    self.walk(&location, shown.as_str(), value, Scope::FreeForm);
                }
            }
            _ => self.walk(&location, location.nearest_key(), value, Scope::FreeForm),
        }
    }

    /// Ends the redaction and returns its report.
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
            // A value behind a rewritten key was scanned twice.
            let mut seen = HashSet::new();
            report.fields.retain(|field| seen.insert(field.clone()));
        }
        report
    }

    /// Splits a whole document into parts and redacts each.
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
            (Role::Container, Value::Array(items)) if let ["changes" | "targets"] = path => {
                for (index, item) in items.iter_mut().enumerate() {
                    self.part(&[path[0], Decimal::new(index as u64).as_str()], item, shape);
                }
            }
            (Role::Identifier | Role::Container | Role::Text, value) => {
                let location = Location::Part(path);
                self.walk(&location, location.nearest_key(), value, Scope::Text);
            }
        }
    }

    fn members(&mut self, path: &[&str], map: &mut Map<String, Value>, shape: Shape) {
        // `field` is the context of `before` and `after`, so it comes first regardless of the order of the members.
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

    /// Redacts a value behind `key`, or its children.
    fn walk(&mut self, location: &Location<'_>, key: &str, value: &mut Value, scope: Scope) {
        if let Value::String(text) = value {
            if let Some(new) = self.string(location, key, text) {
                *text = new;
                self.report_field(location);
            }
            return;
        }
        if let Some(behavior) = self.field_behavior(location) {
            self.mark_field_rules();
            *value = Value::String(non_string_output(behavior, value, self.engine));
            return self.report_field(location);
        }
        self.children(location, key, value, scope);
    }

    fn children(&mut self, location: &Location<'_>, key: &str, value: &mut Value, scope: Scope) {
        match (value, scope) {
            (Value::Array(items), _) => {
                for (index, item) in items.iter_mut().enumerate() {
                    self.walk(
                        &Location::Index {
                            parent: location,
                            index,
                        },
                        key,
                        item,
                        scope,
                    );
                }
            }
            (Value::Object(map), Scope::FreeForm) if self.any_key_hit(map) => {
                self.rewrite_keys(location, map)
            }
            (Value::Object(map), _) => {
                let name = SecretName::of(map, self.engine);
                for (key, value) in map.iter_mut() {
                    self.walk(
                        &Location::Key {
                            parent: location,
                            key,
                            shown: key,
                        },
                        name.context(key),
                        value,
                        scope,
                    );
                }
            }
            (value, Scope::FreeForm) => self.integer(location, key, value),
            (_, Scope::Text) => {}
        }
    }

    fn integer(&mut self, location: &Location<'_>, key: &str, value: &mut Value) {
        const INTEGER_MIN: u64 = 100_000_000;
        const WHOLE_MAX: f64 = 1e19;
        let Value::Number(number) = &*value else { return };
        // A reader may convert `4111111111111111.0` and `4.111111111111111e15` back to digits.
        let whole =
            |number: f64| (number.fract() == 0.0 && number.abs() < WHOLE_MAX).then(|| number.abs() as u64);
        let magnitude = number
            .as_u64()
            .or_else(|| number.as_i64().map(i64::unsigned_abs))
            .or_else(|| number.as_f64().and_then(whole));
        let Some(magnitude) = magnitude else { return };
        if magnitude < INTEGER_MIN && !self.engine.names_number(key) {
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
            &mut self.fuel,
            &mut self.hits,
        );
        if self.hits.is_empty() {
            return;
        }
        self.mark_hits();
        let text = rewrite(written.as_str(), &mut self.hits, self.engine.hash_key());
        let text = self.redact_to_fixpoint(key, &text).unwrap_or(text);
        *value = Value::String(text);
        self.report_field(location);
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
                &mut self.fuel,
                &mut self.hits,
            );
            !self.hits.is_empty()
        })
    }

    fn rewrite_keys(&mut self, location: &Location<'_>, map: &mut Map<String, Value>) {
        let name = SecretName::of(map, self.engine);
        let old = std::mem::take(map);
        let renamed = keys::rename(old, |key| {
            let end = keys::suffix_start(key);
            let new = self.redact_to_fixpoint("", &key[..end])?;
            Some(new + &key[end..])
        });
        for (key, shown, mut value) in renamed {
            let location = Location::Key {
                parent: location,
                key: &key,
                shown: &shown,
            };
            self.walk(&location, name.context(&key), &mut value, Scope::FreeForm);
            if key != shown {
                // Scanned again behind the new key, because a second redaction of the output would do so.
                self.walk(&location, name.context(&shown), &mut value, Scope::FreeForm);
                self.report_field(&location);
            }
            map.insert(shown, value);
        }
    }
}

/// What is scanned inside a value.
#[derive(Debug, Clone, Copy)]
enum Scope {
    /// Strings only.
    Text,
    /// Strings, integers and keys.
    FreeForm,
}

fn non_string_output(behavior: Behavior, value: &Value, engine: &Engine) -> String {
    match (behavior, value) {
        // No part of an object or array is known to be safe to show.
        (Behavior::Mask, Value::Object(_) | Value::Array(_)) => REDACTED.to_owned(),
        _ => {
            let text = canonical_text(value);
            output(behavior, builtin::kind_of_whole(&text), &text, engine.hash_key())
        }
    }
}
