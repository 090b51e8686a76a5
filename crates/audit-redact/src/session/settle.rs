//! What becomes of one string.

use super::Session;
use crate::behavior::Behavior;
use crate::builtin;
use crate::outputs::{self, REDACTED};
use crate::path::Trail;
use crate::rewrite::{clip, output, rewrite};
use crate::scan::Subject;

/// Most times a text is looked at again after it changed. Redacting one thing can uncover another (the letter
/// that kept a number from counting is gone), so a changed text is looked at until it stays as it is; one that
/// never settles is replaced as a whole. Either way the outcome is left alone when it is put in again.
const PASSES_MAX: usize = 4;

impl Session<'_> {
    /// What the string at `trail` becomes, if anything else.
    pub(super) fn string(&mut self, trail: &Trail<'_>, key: &str, text: &str) -> Option<String> {
        let Some(behavior) = self.field_behavior(trail) else {
            return self.settle(key, text);
        };
        let finished = match behavior {
            Behavior::Replace => text == REDACTED,
            Behavior::Hash => text == REDACTED || outputs::is_hash(text),
            Behavior::Mask => text == REDACTED || outputs::is_mask(text),
        };
        let kind = builtin::kind_of_whole(text);
        let mut new = output(behavior, kind, text, self.engine.hash_key());
        if behavior == Behavior::Mask && !outputs::is_mask(&new) {
            // It would be masked further the next time, so it is hidden altogether.
            new = REDACTED.to_owned();
        }
        if finished || new == text {
            return None;
        }
        // The other rules' hits are listed as well; the field rule alone says what the value becomes.
        self.settled_hits(key, text);
        self.mark_field_rules(trail);
        Some(new)
    }

    /// Redacts a text until nothing more is found in it.
    pub(super) fn settle(&mut self, key: &str, text: &str) -> Option<String> {
        let mut current: Option<String> = None;
        for _ in 0..PASSES_MAX {
            let before = current.as_deref().unwrap_or(text);
            if !self.scan(key, before) {
                return current;
            }
            let after = rewrite(before, &mut self.hits, self.engine.hash_key());
            if after == before {
                return current;
            }
            self.mark_hits();
            current = Some(after);
        }
        let unsettled = self.scan(key, current.as_deref().unwrap_or(text));
        if unsettled {
            Some(REDACTED.to_owned())
        } else {
            current
        }
    }

    /// Whether any rule hits the text; those that do are marked.
    pub(super) fn settled_hits(&mut self, key: &str, text: &str) -> bool {
        let hit = self.scan(key, text);
        if hit {
            self.mark_hits();
        }
        hit
    }

    /// Collects the hits on a text, apart from those on what is redacted already.
    fn scan(&mut self, key: &str, text: &str) -> bool {
        self.hits.clear();
        self.engine.scan(
            Subject {
                key,
                text,
                integer: false,
            },
            &mut self.hits,
        );
        if !self.hits.is_empty() {
            clip(&mut self.hits, &outputs::sealed_spans(text));
        }
        !self.hits.is_empty()
    }

    pub(super) fn field_behavior(&self, trail: &Trail<'_>) -> Option<Behavior> {
        if !self.engine.has_field_rules() {
            return None;
        }
        self.engine
            .field_rules(trail)
            .map(|(_, behavior)| behavior)
            .reduce(Behavior::stricter)
    }

    pub(super) fn mark_field_rules(&mut self, trail: &Trail<'_>) {
        let engine = self.engine;
        for (rule, _) in engine.field_rules(trail) {
            self.mark(rule);
        }
    }

    pub(super) fn mark_hits(&mut self) {
        for index in 0..self.hits.len() {
            self.mark(self.hits[index].rule);
        }
    }

    fn mark(&mut self, rule: usize) {
        if self.rules.is_empty() {
            self.rules.resize(self.engine.rules_evaluated(), false);
        }
        self.rules[rule] = true;
    }

    pub(super) fn report_field(&mut self, trail: &Trail<'_>) {
        self.fields.push(trail.to_string());
    }
}
