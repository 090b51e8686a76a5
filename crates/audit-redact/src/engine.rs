//! The rules of one configuration, compiled.

use serde_json::Value;

use crate::behavior::Behavior;
use crate::builtin::{self, Builtin};
use crate::hash::{self, HashKey};
use crate::outputs;
use crate::path::{FieldPath, Location};
use crate::paths::{Lookup, PathTree};
use crate::pattern::{Found, Fuel, Pattern, PatternSet};
use crate::report::Report;
use crate::rewrite::Hit;
use crate::scan::{Span, Subject};
use crate::session::Session;
use crate::shape::Shape;

/// A compiled set of rules. Share it between threads behind an `Arc`.
#[derive(Debug, Clone)]
pub struct Engine {
    /// The rules' names, in order of evaluation: field rules, patterns, built-ins.
    names: Vec<String>,
    field_behaviors: Vec<Behavior>,
    paths: PathTree,
    patterns: PatternSet,
    pattern_behaviors: Vec<Behavior>,
    builtins: builtin::Enabled,
    hash_key: Option<HashKey>,
    previous_hash_keys: Vec<HashKey>,
}

#[derive(Debug, Clone)]
struct FieldRule {
    paths: Vec<FieldPath>,
    behavior: Behavior,
}

/// Collects the rules of an [`Engine`].
#[derive(Debug, Clone, Default)]
pub struct EngineBuilder {
    builtins: Vec<(Builtin, Behavior)>,
    patterns: Vec<(String, Pattern, Behavior)>,
    fields: Vec<(String, FieldRule)>,
    hash_key: Option<HashKey>,
    previous_hash_keys: Vec<HashKey>,
}

impl EngineBuilder {
    /// Adds a built-in rule. Adding a rule again changes its behaviour.
    pub fn builtin(mut self, builtin: Builtin, behavior: Behavior) -> Self {
        self.builtins.retain(|(present, _)| *present != builtin);
        self.builtins.push((builtin, behavior));
        self
    }

    /// Adds a rule that redacts the text that a pattern matches.
    pub fn pattern(mut self, name: &str, pattern: Pattern, behavior: Behavior) -> Self {
        self.patterns.push((name.to_owned(), pattern, behavior));
        self
    }

    /// Adds a rule that redacts the whole values at these paths.
    pub fn fields(mut self, name: &str, paths: Vec<FieldPath>, behavior: Behavior) -> Self {
        self.fields.push((name.to_owned(), FieldRule { paths, behavior }));
        self
    }

    /// Sets the key of the hash behaviour.
    pub fn hash_key(mut self, hash_key: Option<HashKey>) -> Self {
        self.hash_key = hash_key;
        self
    }

    /// Sets keys that stored hashes may have been made with. Only [`Engine::identifier_forms`] uses them.
    pub fn previous_hash_keys(mut self, keys: Vec<HashKey>) -> Self {
        self.previous_hash_keys = keys;
        self
    }

    /// Builds the engine.
    pub fn build(self) -> Engine {
        let custom = self
            .fields
            .iter()
            .map(|(name, _)| name)
            .chain(self.patterns.iter().map(|(name, ..)| name));
        let mut names: Vec<String> = custom.map(|name| format!("custom:{name}")).collect();
        let builtins = builtin::Enabled::new(&self.builtins, names.len());
        names.extend(builtins.kinds().map(|kind| format!("builtin:{}", kind.name())));
        let pattern_behaviors = self.patterns.iter().map(|(_, _, behavior)| *behavior).collect();
        let paths = self.fields.iter().enumerate();
        let paths = paths.flat_map(|(index, (_, rule))| rule.paths.iter().map(move |path| (index, path)));
        let paths = PathTree::new(paths);
        Engine {
            names,
            field_behaviors: self.fields.iter().map(|(_, rule)| rule.behavior).collect(),
            paths,
            patterns: PatternSet::new(self.patterns.into_iter().map(|(_, pattern, _)| pattern).collect()),
            pattern_behaviors,
            builtins,
            hash_key: self.hash_key,
            previous_hash_keys: self.previous_hash_keys,
        }
    }
}

impl Engine {
    /// A builder without rules.
    pub fn builder() -> EngineBuilder {
        EngineBuilder::default()
    }

    /// An engine with the built-in rules that are enabled by default, [`Behavior::Replace`] and no hash key.
    pub fn builtins() -> Engine {
        let enabled = Builtin::ALL.iter().filter(|builtin| builtin.enabled_by_default());
        enabled
            .fold(Engine::builder(), |builder, kind| {
                builder.builtin(*kind, Behavior::Replace)
            })
            .build()
    }

    /// The number of rules that each redaction evaluates.
    pub fn rules_evaluated(&self) -> usize {
        self.names.len()
    }

    /// The memory of the compiled patterns, in bytes. It does not change.
    pub fn compiled_bytes(&self) -> usize {
        self.patterns.compiled_bytes()
    }

    /// The memory of the states that searches have computed, in bytes: up to [`STATES_KEPT_BYTES_MAX`](crate::STATES_KEPT_BYTES_MAX)
    /// between searches, and up to 512 KiB more for each search that runs.
    pub fn states_bytes(&self) -> usize {
        self.patterns.states_bytes()
    }

    /// Redacts a whole document in place. `shape` says which parts are structure, which are identifiers and which are
    /// free-form.
    pub fn redact(&self, value: &mut Value, shape: &Shape) -> Report {
        let mut session = self.session();
        session.document(value, *shape);
        session.finish()
    }

    /// Starts the redaction of a document that the caller passes in part by part.
    pub fn session(&self) -> Session<'_> {
        Session::new(self)
    }

    /// Every form in which an identifier with this original value may be stored: the value itself, then its hash forms with the
    /// hash key, the previous ones, and none.
    /// The result does not depend on the current rules, because an event may have been redacted under other rules.
    pub fn identifier_forms(&self, original: &str) -> Vec<String> {
        let mut forms = vec![original.to_owned()];
        if !outputs::is_hash(original) {
            let keys = self.hash_key.iter().chain(&self.previous_hash_keys);
            forms.extend(keys.map(|key| hash::keyed(key, original.as_bytes())));
            forms.push(hash::unkeyed(original.as_bytes()));
        }
        forms
    }

    pub(crate) fn name(&self, rule: usize) -> &str {
        &self.names[rule]
    }

    pub(crate) fn hash_key(&self) -> Option<&HashKey> {
        self.hash_key.as_ref()
    }

    /// Finds the field rules that cover the value at `location`, and returns the behaviour that applies to it.
    #[inline(always)]
    pub(crate) fn look_up(
        &self,
        location: &Location<'_>,
        lookup: &mut Lookup,
        fuel: &mut Fuel,
    ) -> Option<Behavior> {
        if self.paths.is_empty() {
            return None;
        }
        self.look_up_path(location, lookup, fuel)
    }

    #[inline(never)]
    fn look_up_path(
        &self,
        location: &Location<'_>,
        lookup: &mut Lookup,
        fuel: &mut Fuel,
    ) -> Option<Behavior> {
        if self.paths.look_up(location, lookup, fuel).is_err() {
            // Any of them may cover it.
            lookup.rules.clear();
            lookup.rules.extend(0..self.field_behaviors.len());
            return Some(Behavior::Replace);
        }
        let behaviors = lookup.rules.iter().map(|rule| self.field_behaviors[*rule]);
        behaviors.reduce(Behavior::stricter)
    }

    /// Whether a number behind this key is scanned, however small it is.
    pub(crate) fn names_number(&self, key: &str) -> bool {
        self.builtins.names_number(key)
    }

    /// Whether a text may be the name of a secret. A quick check of its last letters.
    #[inline]
    pub(crate) fn may_name_secret(&self, text: &str) -> bool {
        self.builtins.may_name_secret(text)
    }

    /// Whether a text is the name of a secret.
    pub(crate) fn names_secret(&self, text: &str) -> bool {
        self.builtins.names_secret(text)
    }

    /// Collects the hits of all patterns and built-in rules. Clean text allocates nothing.
    pub(crate) fn scan(&self, subject: Subject<'_>, fuel: &mut Fuel, hits: &mut Vec<Hit>) {
        self.builtins.scan(subject, hits);
        if !self.patterns.is_empty() {
            self.scan_patterns(subject.text, fuel, hits);
        }
    }

    fn scan_patterns(&self, text: &str, fuel: &mut Fuel, hits: &mut Vec<Hit>) {
        let mut masks: Option<Vec<Span>> = None;
        fuel.add_for(text);
        self.patterns.each_hit(text, fuel, |index, found| {
            let (span, behavior) = match found {
                Found::Match(span) => (span, self.pattern_behaviors[index]),
                // A match anywhere in it is unknown, so that no part of it may stay readable.
                Found::Rest(span) => (span, Behavior::Replace),
            };
            let masks = masks.get_or_insert_with(|| outputs::mask_spans(text));
            let covering = masks.partition_point(|mask| mask.end < span.end);
            if masks.get(covering).is_some_and(|mask| mask.contains(span)) {
                return;
            }
            hits.push(Hit {
                span,
                rule: self.field_behaviors.len() + index,
                behavior,
                kind: None,
            });
        });
    }
}
