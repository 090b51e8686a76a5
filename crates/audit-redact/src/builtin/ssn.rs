//! United States social security numbers.

use crate::scan::context::{CONTEXT_CHARS, Words, part, stem, word};
use crate::scan::digits::{Chain, group_before};
use crate::scan::edge::{blocked_after, blocked_before};
use crate::scan::exclusion::is_excluded;
use crate::scan::punctuation::Separator;
use crate::scan::{Span, Subject};

const WORDS: &Words = &Words::new(&[
    word("ssn"),
    stem("ssnum"),
    stem("ssno"),
    word("ss#"),
    word("ss #"),
    part("social sec"),
    part("social_sec"),
    part("social-sec"),
    part("socialsec"),
    part("social%20sec"),
    part("social+sec"),
    word("soc sec"),
]);

/// The number whose first digits the chain begins with.
pub(super) fn at(subject: Subject<'_>, chain: &Chain) -> Option<Span> {
    let groups = chain.groups();
    let (span, needs_word) = match groups {
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
        || is_part_of_more(&subject, chain, span)
    {
        return None;
    }
    let known = !needs_word || WORDS.begin_within(CONTEXT_CHARS, &subject, span.start);
    (known && !is_excluded(subject.text, span)).then_some(span)
}

/// Whether more digits follow or precede behind a dash or dot.
fn is_part_of_more(subject: &Subject<'_>, chain: &Chain, span: Span) -> bool {
    let joins = |separator| matches!(separator, Separator::Dot | Separator::Dash);
    let last = chain
        .groups()
        .iter()
        .position(|group| group.end == span.end)
        .unwrap_or_default();
    chain.separator(last).is_some_and(joins)
        || group_before(subject.text, span.start).is_some_and(|(separator, _)| joins(separator))
}

/// Whether such a number can have been given to anyone.
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
