//! Compiled redaction rules.
//!
//! Compiling the rules of a project can take longer than storing a thousand events. So the configuration has only their text,
//! and whoever redacts gets the engine here: in no transaction and with no connection of the database, compiled once for
//! all who wait for it. Projects with the same rules share an engine.

use super::compile_rules;
use crate::error::{AppError, Result};
use audit_domain::write_with_length;
use audit_redact::{Engine, HashKey, Pattern, PatternError};
use audit_store::RedactionRuleRow;
use parking_lot::Mutex;
use quick_cache::sync::{Cache, DefaultLifecycle};
use quick_cache::{DefaultHashBuilder, Options, OptionsBuilder, Weighter};
use sha2::{Digest, Sha256};
use std::ops::Deref;
use std::sync::Arc;

/// Bytes of the engines that are cached, of all projects, with the states that their searches have computed. An engine that is
/// larger, which no new rules have, is compiled for each use.
const ENGINES_BYTES_MAX: u64 = 96 * 1024 * 1024;
/// Engines that are expected to be cached at once.
const ENGINES_EXPECTED: usize = 1_000;
/// What an engine counts beside its patterns.
const ENGINE_BYTES: u64 = 4 * 1024;
/// How much an engine may grow until the cache counts it again.
const GROWTH_BYTES_MAX: u64 = 16 * 1024;

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

    /// Those for the events of the service itself: no rule that names fields.
    pub(crate) fn without_fields(&self) -> Self {
        let rows = self.rows.iter().filter(|row| row.fields.is_none());
        Self::new(rows.cloned().collect())
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
    let mut add = |text: &str| write_with_length(text.as_bytes(), |part| hasher.update(part));
    [id, kind, name, behavior].into_iter().for_each(|text| add(text));
    add(if *enabled { "enabled" } else { "disabled" });
    add(pattern.as_deref().map_or("no pattern", |_| "pattern"));
    add(pattern.as_deref().unwrap_or_default());
    let fields = fields.as_deref().unwrap_or_default();
    add(&fields.len().to_string());
    fields.iter().for_each(|field| add(field));
}

/// An engine in the cache.
#[derive(Clone, Debug)]
struct CachedEngine {
    engine: Arc<Engine>,
    /// Its memory when the cache counted it.
    bytes: u64,
}

impl From<Arc<Engine>> for CachedEngine {
    fn from(engine: Arc<Engine>) -> Self {
        let of_patterns = engine.compiled_bytes() + engine.states_bytes();
        Self {
            engine,
            bytes: of_patterns as u64 + ENGINE_BYTES,
        }
    }
}

#[derive(Clone, Debug)]
struct CountedBytes;

impl Weighter<RulesDigest, CachedEngine> for CountedBytes {
    fn weight(&self, _: &RulesDigest, cached: &CachedEngine) -> u64 {
        cached.bytes
    }
}

/// The engines of this process.
#[derive(Debug)]
pub(crate) struct Engines {
    cached: Cache<RulesDigest, CachedEngine, CountedBytes>,
    /// Held by who compiles: compiling takes several times the memory of its result.
    compiling: Mutex<()>,
    hash_key: Option<HashKey>,
}

/// An engine that somebody uses. Afterwards the cache counts what it has grown by.
pub(crate) struct EngineInUse {
    engine: Arc<Engine>,
    digest: RulesDigest,
    engines: Arc<Engines>,
}

impl Deref for EngineInUse {
    type Target = Engine;

    fn deref(&self) -> &Engine {
        &self.engine
    }
}

impl Drop for EngineInUse {
    fn drop(&mut self) {
        // Engines without patterns have no states.
        if self.engine.states_bytes() > 0 {
            self.engines.count_again(&self.digest, &self.engine);
        }
    }
}

impl Engines {
    pub(crate) fn new(hash_key: Option<HashKey>) -> Self {
        Self {
            cached: Cache::with_options(
                options(),
                CountedBytes,
                DefaultHashBuilder::default(),
                DefaultLifecycle::default(),
            ),
            compiling: Mutex::new(()),
            hash_key,
        }
    }

    /// The engine of these rules, if it is compiled. Never waits.
    pub(crate) fn cached(self: &Arc<Self>, rules: &ProjectRules) -> Option<EngineInUse> {
        let cached = self.cached.get(&rules.digest)?;
        Some(self.in_use(rules, cached))
    }

    /// The engine of these rules. Blocks while it is compiled, by this thread or another one, so not for a transaction.
    ///
    /// # Errors
    /// When a stored rule is damaged.
    pub(crate) fn compiled(self: &Arc<Self>, rules: &ProjectRules) -> Result<EngineInUse> {
        self.compiled_by(rules, || compile_rules(&rules.rows, self.hash_key.as_ref()))
    }

    /// Compiles one pattern, as far as that is allowed at once.
    ///
    /// # Errors
    /// When it is not valid.
    pub(crate) fn check_pattern(&self, text: &str) -> std::result::Result<(), PatternError> {
        self.alone(|| Pattern::parse(text).map(drop))
    }

    fn compiled_by(
        self: &Arc<Self>,
        rules: &ProjectRules,
        compile: impl FnOnce() -> Result<Engine> + Send,
    ) -> Result<EngineInUse> {
        let cached = self.cached.get_or_insert_with(&rules.digest, || {
            let engine = self.alone(compile)?;
            Ok::<_, AppError>(CachedEngine::from(Arc::new(engine)))
        })?;
        Ok(self.in_use(rules, cached))
    }

    /// Compiles alone in this process, on a thread that ends with it. A thread that lives on would keep what the allocator got
    /// for it, which with many threads was several times the memory of all engines.
    fn alone<T: Send>(&self, compile: impl FnOnce() -> T + Send) -> T {
        let _compiling = self.compiling.lock();
        std::thread::scope(|scope| match scope.spawn(compile).join() {
            Ok(compiled) => compiled,
            Err(panic) => std::panic::resume_unwind(panic),
        })
    }

    fn in_use(self: &Arc<Self>, rules: &ProjectRules, cached: CachedEngine) -> EngineInUse {
        EngineInUse {
            engine: cached.engine,
            digest: rules.digest,
            engines: Arc::clone(self),
        }
    }

    fn count_again(&self, digest: &RulesDigest, engine: &Arc<Engine>) {
        let present = CachedEngine::from(Arc::clone(engine));
        let has_grown = self.cached.peek(digest).is_some_and(|cached| {
            Arc::ptr_eq(&cached.engine, engine) && present.bytes > cached.bytes + GROWTH_BYTES_MAX
        });
        if has_grown {
            self.cached.insert(*digest, present);
        }
    }
}

/// One shard: a shard admits nothing that is larger than its part of the capacity.
fn options() -> Options {
    OptionsBuilder::new()
        .shards(1)
        .estimated_items_capacity(ENGINES_EXPECTED)
        .weight_capacity(ENGINES_BYTES_MAX)
        .build()
        .unwrap_or_else(|_| unreachable!("every option that is required is set"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use audit_domain::Timestamp;
    use audit_redact::Shape;
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

    fn is_same(one: &EngineInUse, other: &EngineInUse) -> bool {
        Arc::ptr_eq(&one.engine, &other.engine)
    }

    fn rules(rows: &[RedactionRuleRow]) -> ProjectRules {
        ProjectRules::new(rows.to_vec())
    }

    #[test]
    fn rules_that_many_need_at_once_are_compiled_once() {
        let (engines, rules) = (Arc::new(Engines::new(None)), rules(&[rule("a+")]));
        let (compiling, is_compiling) = mpsc::channel();
        let (waiting, is_waiting) = mpsc::channel();
        let [first, second] = thread::scope(|scope| {
            let (engines, rules) = (&engines, &rules);
            let first = scope.spawn(move || {
                engines.compiled_by(rules, move || {
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
        assert!(is_same(&first, &second));
        assert!(is_same(&first, &engines.cached(&rules).unwrap()));
    }

    #[test]
    fn equal_rules_have_one_engine_and_every_difference_another() {
        let engines = Arc::new(Engines::new(None));
        let base = rule("a+");
        let compiled = engines.compiled(&rules(std::slice::from_ref(&base))).unwrap();
        let later = RedactionRuleRow {
            created_at: Timestamp::from_seconds(7),
            ..base.clone()
        };
        assert!(is_same(&compiled, &engines.compiled(&rules(&[later])).unwrap()));
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
    fn an_engine_counts_with_the_states_that_its_searches_have_computed() {
        let (engines, rules) = (Arc::new(Engines::new(None)), rules(&[rule(r"\w{15}Z")]));
        let in_use = engines.compiled(&rules).unwrap();
        let compiled_bytes = engines.cached.weight();
        in_use.redact(&mut "many words".into(), &Shape::audit_event());
        assert_eq!(engines.cached.weight(), compiled_bytes);
        let states_bytes = in_use.states_bytes() as u64;
        assert!(states_bytes > GROWTH_BYTES_MAX, "{states_bytes}");
        drop(in_use);
        assert_eq!(engines.cached.weight(), compiled_bytes + states_bytes);
        assert!(engines.cached(&rules).is_some());
    }

    #[test]
    fn engines_that_are_used_take_no_more_memory_than_they_may() {
        let engines = Arc::new(Engines::new(None));
        for number in 0..60 {
            let rows: Vec<_> = (0..3)
                .map(|one| rule(&format!(r"\w{{15}}Z{number}Z{one}")))
                .collect();
            let in_use = engines.compiled(&rules(&rows)).unwrap();
            in_use.redact(&mut "many words".into(), &Shape::audit_event());
        }
        let counted = engines.cached.weight();
        assert!(counted <= ENGINES_BYTES_MAX, "{counted}");
        assert!(counted > ENGINES_BYTES_MAX / 2, "{counted}");
        let held: Vec<_> = engines.cached.iter().map(|(_, cached)| cached.engine).collect();
        let measured: usize = held
            .iter()
            .map(|engine| engine.compiled_bytes() + engine.states_bytes())
            .sum();
        assert!(
            measured as u64 <= ENGINES_BYTES_MAX + held.len() as u64 * GROWTH_BYTES_MAX,
            "{measured}"
        );
    }

    #[test]
    fn rules_that_cannot_be_compiled_are_tried_again() {
        let (engines, damaged) = (Arc::new(Engines::new(None)), rules(&[rule("(")]));
        for _ in 0..2 {
            let error = engines.compiled(&damaged).err();
            assert!(matches!(error, Some(AppError::Internal(_))), "{error:?}");
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
