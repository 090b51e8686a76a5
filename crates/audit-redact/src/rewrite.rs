//! From hits to new text.

use crate::behavior::Behavior;
use crate::builtin::Builtin;
use crate::hash::{self, HashKey};
use crate::mask::mask;
use crate::outputs::REDACTED;
use crate::scan::Span;

/// One hit of one rule.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Hit {
    pub(crate) span: Span,
    /// Which rule, in order of evaluation.
    pub(crate) rule: usize,
    pub(crate) behavior: Behavior,
    /// What the text is known to be, when a built-in rule found it.
    pub(crate) kind: Option<Builtin>,
}

/// What a text becomes.
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

/// Merges overlapping hits and writes the new text. The first of their rules decides what they become if it covers
/// all of them; otherwise the strictest behaviour wins.
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
        // The kind decides how a mask looks, so it must be that of the whole.
        kind: [one, other]
            .iter()
            .filter(|hit| hit.span == span)
            .find_map(|hit| hit.kind),
    }
}

/// Takes the sealed spans, which are in order, out of the hits: a hit across one becomes the hits on both sides
/// of it.
pub(crate) fn clip(hits: &mut Vec<Hit>, sealed: &[Span]) {
    if sealed.is_empty() {
        return;
    }
    let mut clipped = Vec::with_capacity(hits.len());
    for hit in hits.drain(..) {
        let first = sealed.partition_point(|seal| seal.end <= hit.span.start);
        let within: Vec<&Span> = sealed[first..]
            .iter()
            .take_while(|seal| seal.start < hit.span.end)
            .collect();
        if within.is_empty() {
            clipped.push(hit);
            continue;
        }
        let mut start = hit.span.start;
        for seal in within {
            if start < seal.start {
                // What is left may be part of a number or address no longer.
                clipped.push(Hit {
                    span: Span::new(start, seal.start),
                    kind: None,
                    ..hit
                });
            }
            start = seal.end;
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
    fn the_first_rule_decides_if_it_covers_everything() {
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
    fn where_the_first_rule_does_not_the_strictest_wins() {
        use Behavior::{Mask, Replace};
        assert_eq!(
            rewritten(&[(0, 2, 8, Mask), (1, 6, 14, Replace)]),
            "01[REDACTED]ef"
        );
    }
}
