//! Compiled redaction rules.
//!
//! Compiling the rules of a project can take longer than storing a thousand events. So the configuration has only their text,
//! and whoever redacts gets the engine here: in no transaction and with no connection of the database, compiled once for
//! all who wait for it. Projects with the same rules share an engine.

use super::compile_rules;
use crate::error::Result;
use audit_redact::{Engine, HashKey};
use audit_store::RedactionRuleRow;
use quick_cache::sync::{Cache, DefaultLifecycle};
use quick_cache::{DefaultHashBuilder, Options, OptionsBuilder, Weighter};
use sha2::{Digest, Sha256};
use std::sync::Arc;

/// Bytes of compiled rules that are cached, of all projects. An engine that is larger is compiled for each use.
const COMPILED_BYTES_MAX: u64 = 128 * 1024 * 1024;
/// Engines that are expected to be cached at once.
const ENGINES_EXPECTED: usize = 1_000;
/// What an engine counts beside its compiled patterns.
const ENGINE_BYTES: u64 = 4 * 1024;

/// SHA-256 over the rules of a project.
type RulesDigest = [u8; 32];

/// The redaction rules of a project as they are stored, not compiled.
#[derive(Debug)]
pub(crate) struct ProjectRules {
    rows: Vec<RedactionRuleRow>,
    digest: RulesDigest,
    has_custom: bool,
}

impl ProjectRules {
    pub(crate) fn new(rows: Vec<RedactionRuleRow>) -> Self {
        let mut hasher = Sha256::new();
        rows.iter().for_each(|row| add_rule(&mut hasher, row));
        let is_custom = |row: &RedactionRuleRow| row.enabled && row.kind != super::BUILTIN;
        Self {
            has_custom: rows.iter().any(is_custom),
            digest: hasher.finalize().into(),
            rows,
        }
    }

    /// Whether rules of the project's own are applied. Their work for an event is bounded, and larger than that of the
    /// built-in rules.
    pub(crate) const fn has_custom(&self) -> bool {
        self.has_custom
    }
}

/// Adds what an engine depends on, each text with its length.
fn add_rule(hasher: &mut Sha256, row: &RedactionRuleRow) {
    // Without `..`, so that a new column does not compile until it is decided whether an engine depends on it.
    let RedactionRuleRow {
        id,
        kind,
        name,
        pattern,
        fields,
        behavior,
        enabled,
        created_at: _,
    } = row;
    let mut add = |text: &str| {
        hasher.update((text.len() as u64).to_be_bytes());
        hasher.update(text);
    };
    [id, kind, name, behavior].into_iter().for_each(|text| add(text));
    add(if *enabled { "enabled" } else { "disabled" });
    add(pattern.as_deref().map_or("no pattern", |_| "pattern"));
    add(pattern.as_deref().unwrap_or_default());
    let fields = fields.as_deref().unwrap_or_default();
    add(&fields.len().to_string());
    fields.iter().for_each(|field| add(field));
}

/// The memory of an engine.
#[derive(Clone, Debug)]
struct CompiledBytes;

impl Weighter<RulesDigest, Arc<Engine>> for CompiledBytes {
    fn weight(&self, _: &RulesDigest, engine: &Arc<Engine>) -> u64 {
        engine.compiled_bytes() as u64 + ENGINE_BYTES
    }
}

/// The engines of this process.
#[derive(Debug)]
pub(crate) struct Engines {
    compiled: Cache<RulesDigest, Arc<Engine>, CompiledBytes>,
    hash_key: Option<HashKey>,
}

impl Engines {
    pub(crate) fn new(hash_key: Option<HashKey>) -> Self {
        Self {
            compiled: Cache::with_options(
                options(),
                CompiledBytes,
                DefaultHashBuilder::default(),
                DefaultLifecycle::default(),
            ),
            hash_key,
        }
    }

    /// The engine of these rules, if it is compiled. Never waits.
    pub(crate) fn cached(&self, rules: &ProjectRules) -> Option<Arc<Engine>> {
        self.compiled.get(&rules.digest)
    }

    /// The engine of these rules. Blocks while it is compiled, by this thread or another one, so not for a transaction.
    ///
    /// # Errors
    /// When a stored rule is damaged.
    pub(crate) fn compiled(&self, rules: &ProjectRules) -> Result<Arc<Engine>> {
        self.compiled_by(rules, || compile_rules(&rules.rows, self.hash_key.as_ref()))
    }

    fn compiled_by(
        &self,
        rules: &ProjectRules,
        compile: impl FnOnce() -> Result<Engine>,
    ) -> Result<Arc<Engine>> {
        self.compiled
            .get_or_insert_with(&rules.digest, || compile().map(Arc::new))
    }
}

/// One shard: a shard admits nothing that is larger than its part of the capacity.
fn options() -> Options {
    OptionsBuilder::new()
        .shards(1)
        .estimated_items_capacity(ENGINES_EXPECTED)
        .weight_capacity(COMPILED_BYTES_MAX)
        .build()
        .unwrap_or_else(|_| unreachable!("every option that is required is set"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::AppError;
    use audit_domain::Timestamp;
    use std::sync::mpsc;
    use std::thread;

    fn rule(pattern: &str) -> RedactionRuleRow {
        RedactionRuleRow {
            id: "r".to_owned(),
            kind: super::super::PATTERN.to_owned(),
            name: "n".to_owned(),
            pattern: Some(pattern.to_owned()),
            fields: None,
            behavior: "replace".to_owned(),
            enabled: true,
            created_at: Timestamp::from_seconds(0),
        }
    }

    fn rules(rows: &[RedactionRuleRow]) -> ProjectRules {
        ProjectRules::new(rows.to_vec())
    }

    #[test]
    fn rules_that_many_need_at_once_are_compiled_once() {
        let (engines, rules) = (Engines::new(None), rules(&[rule("a+")]));
        let (compiling, is_compiling) = mpsc::channel();
        let (waiting, is_waiting) = mpsc::channel();
        let [first, second] = thread::scope(|scope| {
            let (engines, rules) = (&engines, &rules);
            let first = scope.spawn(move || {
                engines.compiled_by(rules, || {
                    compiling.send(()).unwrap();
                    is_waiting.recv().unwrap();
                    compile_rules(&rules.rows, None)
                })
            });
            is_compiling.recv().unwrap();
            assert!(engines.cached(rules).is_none(), "who must not wait gets none");
            let second = scope.spawn(move || {
                waiting.send(()).unwrap();
                engines.compiled_by(rules, || unreachable!("it is compiled already"))
            });
            [first, second].map(|thread| thread.join().unwrap().unwrap())
        });
        assert!(Arc::ptr_eq(&first, &second));
        assert!(Arc::ptr_eq(&first, &engines.cached(&rules).unwrap()));
    }

    #[test]
    fn equal_rules_have_one_engine_and_every_difference_another() {
        let engines = Engines::new(None);
        let base = rule("a+");
        let compiled = engines.compiled(&rules(std::slice::from_ref(&base))).unwrap();
        let later = RedactionRuleRow {
            created_at: Timestamp::from_seconds(7),
            ..base.clone()
        };
        assert!(Arc::ptr_eq(
            &compiled,
            &engines.compiled(&rules(&[later])).unwrap()
        ));
        let fields = |fields: &[&str]| RedactionRuleRow {
            kind: super::super::FIELDS.to_owned(),
            pattern: None,
            fields: Some(fields.iter().map(|field| (*field).to_owned()).collect()),
            ..base.clone()
        };
        let others = [
            vec![],
            vec![rule("b+")],
            vec![base.clone(), rule("b+")],
            vec![RedactionRuleRow {
                name: "m".to_owned(),
                ..base.clone()
            }],
            vec![RedactionRuleRow {
                behavior: "remove".to_owned(),
                ..base.clone()
            }],
            vec![RedactionRuleRow {
                enabled: false,
                ..base.clone()
            }],
            vec![fields(&["metadata.a", "metadata.b"])],
            vec![fields(&["metadata.a"])],
        ];
        let digests = others
            .iter()
            .map(|rows| rules(rows).digest)
            .chain([rules(&[base]).digest]);
        let distinct: std::collections::BTreeSet<RulesDigest> = digests.collect();
        assert_eq!(distinct.len(), others.len() + 1);
    }

    #[test]
    fn rules_that_cannot_be_compiled_are_tried_again() {
        let (engines, damaged) = (Engines::new(None), rules(&[rule("(")]));
        for _ in 0..2 {
            let error = engines.compiled(&damaged).unwrap_err();
            assert!(matches!(error, AppError::Internal(_)), "{error:?}");
        }
        assert!(engines.cached(&damaged).is_none());
    }

    #[test]
    fn only_rules_in_force_that_a_project_has_made_are_custom() {
        let disabled = RedactionRuleRow {
            enabled: false,
            ..rule("a+")
        };
        let builtin = RedactionRuleRow {
            id: "builtin_email".to_owned(),
            kind: super::super::BUILTIN.to_owned(),
            pattern: None,
            ..rule("a+")
        };
        assert!(rules(&[rule("a+")]).has_custom());
        assert!(!rules(&[disabled, builtin]).has_custom());
    }
}
