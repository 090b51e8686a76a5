//! Redaction of one string.

use super::Session;
use crate::behavior::Behavior;
use crate::builtin;
use crate::outputs::{self, REDACTED};
use crate::path::Location;
use crate::rewrite::{clip, output, rewrite};
use crate::scan::Subject;

/// Most passes over one text. Redacting one match can uncover another: the letter that blocked a number is gone. So a
/// changed text is scanned again until a pass changes nothing, and a text that reaches no fixed point is replaced as a
/// whole. Either way a second redaction of the output changes nothing.
const PASSES_MAX: usize = 4;

impl Session<'_> {
    /// The redacted form of the string at `location`, or `None` if it does not change.
    #[inline]
    pub(super) fn string(&mut self, location: &Location<'_>, key: &str, text: &str) -> Option<String> {
        let Some(behavior) = self.field_behavior(location) else {
            return self.redact_to_fixpoint(key, text);
        };
        let finished = match behavior {
            Behavior::Replace => text == REDACTED,
            Behavior::Hash => text == REDACTED || outputs::is_hash(text),
            Behavior::Mask => text == REDACTED || outputs::is_mask(text),
        };
        let kind = builtin::kind_of_whole(text);
        let mut new = output(behavior, kind, text, self.engine.hash_key());
        if behavior == Behavior::Mask && !outputs::is_mask(&new) {
            // A second redaction would mask it further, so it is replaced as a whole.
            new = REDACTED.to_owned();
        }
        if finished || new == text {
            return None;
        }
        // The report also lists the other rules that hit. The field rule alone determines the value.
        self.scan_and_mark(key, text);
        self.mark_field_rules();
        Some(new)
    }

    /// Redacts a text until a pass changes nothing. `None` if no pass changed it.
    #[inline]
    pub(super) fn redact_to_fixpoint(&mut self, key: &str, text: &str) -> Option<String> {
        if !self.scan(key, text) {
            return None;
        }
        self.redact_hits(key, text)
    }

    /// Does the same for a text whose hits were collected.
    #[cold]
    #[inline(never)]
    fn redact_hits(&mut self, key: &str, text: &str) -> Option<String> {
        let mut current: Option<String> = None;
        for _ in 0..PASSES_MAX {
            let before = current.as_deref().unwrap_or(text);
            let after = rewrite(before, &mut self.hits, self.engine.hash_key());
            if after == before {
                return current;
            }
            self.mark_hits();
            let is_clean = !self.scan(key, &after);
            current = Some(after);
            if is_clean {
                return current;
            }
        }
        Some(REDACTED.to_owned())
    }

    /// Whether any rule hits the text. Marks the rules that do.
    pub(super) fn scan_and_mark(&mut self, key: &str, text: &str) -> bool {
        let hit = self.scan(key, text);
        if hit {
            self.mark_hits();
        }
        hit
    }

    /// Collects the hits on a text, except those on output of an earlier redaction.
    #[inline(always)]
    fn scan(&mut self, key: &str, text: &str) -> bool {
        self.hits.clear();
        self.engine.scan(
            Subject {
                key,
                text,
                integer: false,
            },
            &mut self.fuel,
            &mut self.hits,
        );
        if !self.hits.is_empty() {
            clip(&mut self.hits, &outputs::protected_spans(text));
        }
        !self.hits.is_empty()
    }

    /// The behaviour of the field rules that cover the value at `location`, which [`Self::mark_field_rules`] then marks.
    #[inline(always)]
    pub(super) fn field_behavior(&mut self, location: &Location<'_>) -> Option<Behavior> {
        self.engine.look_up(location, &mut self.lookup, &mut self.fuel)
    }

    pub(super) fn mark_field_rules(&mut self) {
        for index in 0..self.lookup.rules.len() {
            self.mark(self.lookup.rules[index]);
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

    pub(super) fn report_field(&mut self, location: &Location<'_>) {
        self.fields.push(location.to_string());
    }
}
