//! United States social security numbers.

use crate::scan::context::{CONTEXT_CHARS, Keywords, prefix, substring, word};
use crate::scan::digits::{Chain, group_before};
use crate::scan::edge::{blocked_after, blocked_before};
use crate::scan::exclusion::is_excluded;
use crate::scan::punctuation::Separator;
use crate::scan::{Span, Subject};

const KEYWORDS: &Keywords = &Keywords::new(&[
    word("ssn"),
    prefix("ssnum"),
    prefix("ssno"),
    word("ss#"),
    word("ss #"),
    substring("social sec"),
    substring("social_sec"),
    substring("social-sec"),
    substring("socialsec"),
    substring("social%20sec"),
    substring("social+sec"),
    word("soc sec"),
]);

/// The social security number at the start of the chain.
pub(super) fn at(subject: Subject<'_>, chain: &Chain) -> Option<Span> {
    let groups = chain.groups();
    let (span, needs_keyword) = match groups {
        [whole, ..] if whole.len() == 9 => (*whole, true),
        [area, group, serial, ..] if [area.len(), group.len(), serial.len()] == [3, 2, 4] => {
            let separator = chain.separator(0)?;
            if chain.separator(1) != Some(separator) || separator == Separator::Plus {
                return None;
            }
            (Span::new(area.start, serial.end), separator != Separator::Dash)
        }
        _ => return None,
    };
    if !is_assigned(&subject.bytes()[span.start..span.end])
        || blocked_before(subject.text, span.start)
        || blocked_after(subject.text, span.end)
        || continues(&subject, chain, span)
    {
        return None;
    }
    let known = !needs_keyword || KEYWORDS.begin_within(CONTEXT_CHARS, &subject, span.start);
    (known && !is_excluded(subject.text, span)).then_some(span)
}

/// Whether a dash or dot joins further digits to either end of the span.
fn continues(subject: &Subject<'_>, chain: &Chain, span: Span) -> bool {
    let joins = |separator| matches!(separator, Separator::Dot | Separator::Dash);
    let last = chain
        .groups()
        .iter()
        .position(|group| group.end == span.end)
        .unwrap_or_default();
    chain.separator(last).is_some_and(joins)
        || group_before(subject.text, span.start).is_some_and(|(separator, _)| joins(separator))
}

/// Whether the number is one that can be assigned.
fn is_assigned(text: &[u8]) -> bool {
    let mut digits = text.iter().filter(|byte| byte.is_ascii_digit());
    let mut number = |len: usize| {
        digits
            .by_ref()
            .take(len)
            .fold(0, |sum, byte| sum * 10 + u32::from(byte - b'0'))
    };
    let (area, group, serial) = (number(3), number(2), number(4));
    !matches!(area, 0 | 666 | 900..) && group != 0 && serial != 0
}
