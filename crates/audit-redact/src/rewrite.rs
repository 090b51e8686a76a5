//! Rewrites a text from its hits.

use crate::behavior::Behavior;
use crate::builtin::Builtin;
use crate::hash::{self, HashKey};
use crate::mask::mask;
use crate::outputs::REDACTED;
use crate::scan::Span;

/// One match of one rule.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Hit {
    pub(crate) span: Span,
    /// The rule's index, in order of evaluation.
    pub(crate) rule: usize,
    pub(crate) behavior: Behavior,
    /// The kind of the text, if a built-in rule matched.
    pub(crate) kind: Option<Builtin>,
}

/// The output of a behaviour for a text.
pub(crate) fn output(
    behavior: Behavior,
    kind: Option<Builtin>,
    text: &str,
    hash_key: Option<&HashKey>,
) -> String {
    match behavior {
        Behavior::Replace => REDACTED.to_owned(),
        Behavior::Hash => match hash_key {
            Some(key) => hash::keyed(key, text.as_bytes()),
            None => hash::unkeyed(text.as_bytes()),
        },
        Behavior::Mask => mask(kind, text),
    }
}

/// Merges overlapping hits and writes the new text. If the hit of the first rule covers the merged span, that rule's
/// behaviour applies. Otherwise the strictest behaviour applies.
pub(crate) fn rewrite(text: &str, hits: &mut [Hit], hash_key: Option<&HashKey>) -> String {
    hits.sort_by_key(|hit| (hit.span.start, hit.span.end));
    let mut out = String::with_capacity(text.len());
    let mut copied = 0;
    let mut next = 0;
    while let Some(first) = hits.get(next) {
        let mut merged = *first;
        next += 1;
        while let Some(hit) = hits.get(next)
            && hit.span.start < merged.span.end
        {
            merged = merge(merged, *hit);
            next += 1;
        }
        let Span { start, end } = merged.span;
        out.push_str(&text[copied..start]);
        out.push_str(&output(merged.behavior, merged.kind, &text[start..end], hash_key));
        copied = end;
    }
    out.push_str(&text[copied..]);
    out
}

fn merge(one: Hit, other: Hit) -> Hit {
    let span = Span::new(
        one.span.start.min(other.span.start),
        one.span.end.max(other.span.end),
    );
    let first = if other.rule < one.rule { other } else { one };
    let behavior = match first.span == span {
        true => first.behavior,
        false => one.behavior.stricter(other.behavior),
    };
    Hit {
        span,
        rule: first.rule,
        behavior,
        // The kind determines the form of a mask, so it must be the kind of the whole span.
        kind: [one, other]
            .iter()
            .filter(|hit| hit.span == span)
            .find_map(|hit| hit.kind),
    }
}

/// Removes the protected spans, which are in order, from the hits. A hit across a protected span is split around it.
pub(crate) fn clip(hits: &mut Vec<Hit>, protected: &[Span]) {
    if protected.is_empty() {
        return;
    }
    let mut clipped = Vec::with_capacity(hits.len());
    for hit in hits.drain(..) {
        let first = protected.partition_point(|protected_span| protected_span.end <= hit.span.start);
        let within: Vec<&Span> = protected[first..]
            .iter()
            .take_while(|protected_span| protected_span.start < hit.span.end)
            .collect();
        if within.is_empty() {
            clipped.push(hit);
            continue;
        }
        let mut start = hit.span.start;
        for protected_span in within {
            if start < protected_span.start {
                // The remainder need not be of the same kind.
                clipped.push(Hit {
                    span: Span::new(start, protected_span.start),
                    kind: None,
                    ..hit
                });
            }
            start = protected_span.end;
        }
        if start < hit.span.end {
            clipped.push(Hit {
                span: Span::new(start, hit.span.end),
                kind: None,
                ..hit
            });
        }
    }
    *hits = clipped;
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rewritten(hits: &[(usize, usize, usize, Behavior)]) -> String {
        let hit = |&(rule, start, end, behavior): &(usize, usize, usize, Behavior)| Hit {
            span: Span::new(start, end),
            rule,
            behavior,
            kind: None,
        };
        let mut hits: Vec<Hit> = hits.iter().map(hit).collect();
        rewrite("0123456789abcdef", &mut hits, None)
    }

    #[test]
    fn the_first_rule_applies_if_it_covers_the_whole_span() {
        use Behavior::{Mask, Replace};
        assert_eq!(
            rewritten(&[(0, 2, 14, Mask), (1, 2, 14, Replace)]),
            "01********abcdef"
        );
        assert_eq!(
            rewritten(&[(1, 2, 14, Replace), (0, 4, 6, Mask)]),
            "01[REDACTED]ef"
        );
        assert_eq!(
            rewritten(&[(1, 4, 6, Replace), (0, 2, 14, Mask)]),
            "01********abcdef"
        );
    }

    #[test]
    fn otherwise_the_strictest_behavior_applies() {
        use Behavior::{Mask, Replace};
        assert_eq!(
            rewritten(&[(0, 2, 8, Mask), (1, 6, 14, Replace)]),
            "01[REDACTED]ef"
        );
    }
}
