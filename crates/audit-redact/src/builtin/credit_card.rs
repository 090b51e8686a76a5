//! Payment card numbers: digits in a usual grouping, with a known issuer prefix and a valid check digit.

use crate::scan::context::{CONTEXT_CHARS, Keywords, prefix, substring, word};
use crate::scan::digits::{Chain, group_before, is_digit_at};
use crate::scan::edge::{blocked_after, blocked_before};
use crate::scan::exclusion::is_excluded;
use crate::scan::punctuation::Separator;
use crate::scan::{Span, Subject};

const DIGITS_MIN: usize = 12;
const DIGITS_MAX: usize = 19;

/// The lengths of the groups in which cards are printed.
const GROUPINGS: &[&[usize]] = &[
    &[4, 4, 4, 4, 3],
    &[4, 4, 4, 4],
    &[4, 6, 5],
    &[4, 4, 4, 3],
    &[4, 6, 4],
    &[4, 4, 4, 2],
    &[4, 4, 5],
    &[8, 8],
    &[8, 7],
    &[8, 6],
];

const KEYWORDS: &Keywords = &Keywords::new(&[
    word("card"),
    substring("creditcard"),
    substring("debitcard"),
    substring("bankcard"),
    prefix("cardnum"),
    prefix("cardno"),
    word("credit"),
    word("debit"),
    prefix("ccnum"),
    word("cc"),
    word("ccn"),
    word("pan"),
    word("visa"),
    substring("mastercard"),
    word("amex"),
    prefix("american express"),
    word("maestro"),
    word("discover"),
    word("diners"),
    word("jcb"),
    prefix("unionpay"),
    prefix("union pay"),
    word("uatp"),
    word("carte"),
    word("karte"),
    substring("kartennummer"),
    word("tarjeta"),
]);

/// The evidence that an issuer prefix gives.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Issuer {
    /// Sufficient together with the check digit.
    Strong,
    /// Sufficient only behind a keyword.
    WithKeyword,
}

/// The card number at the start of the chain.
pub(super) fn at(subject: Subject<'_>, chain: &Chain) -> Option<Span> {
    if chain.digits() < DIGITS_MIN {
        return None;
    }
    let count = if chain.groups()[0].len() >= DIGITS_MIN {
        whole(&subject, chain)?
    } else {
        grouped(&subject, chain)?
    };
    let groups = &chain.groups()[..count];
    let span = Span::new(groups[0].start, groups[count - 1].end);
    let mut digits = [0u8; DIGITS_MAX];
    let mut len = 0;
    for group in groups {
        for byte in &subject.bytes()[group.start..group.end] {
            *digits.get_mut(len)? = byte - b'0';
            len += 1;
        }
    }
    let digits = &digits[..len];
    let issuer = issuer(digits)?;
    if !luhn(digits) || is_blocked_before(&subject, span.start) || blocked_after(subject.text, span.end) {
        return None;
    }
    let known = match issuer {
        Issuer::Strong => true,
        Issuer::WithKeyword => !subject.integer && KEYWORDS.begin_within(CONTEXT_CHARS, &subject, span.start),
    };
    (known && !is_excluded(subject.text, span)).then_some(span)
}

/// The boundary check before the number. The `%B` that begins track 1 of a magnetic stripe does not block.
fn is_blocked_before(subject: &Subject<'_>, start: usize) -> bool {
    blocked_before(subject.text, start) && !subject.text[..start].ends_with("%B")
}

/// Checks a number in one group. A dot or dash that joins further digits rules it out.
fn whole(subject: &Subject<'_>, chain: &Chain) -> Option<usize> {
    let group = chain.groups()[0];
    let continues = |separator| matches!(separator, Separator::Dot | Separator::Dash);
    let behind = chain.separator(0).is_some_and(continues) && !is_whole_amount(subject, chain);
    let before = group_before(subject.text, group.start).is_some_and(|(separator, _)| continues(separator));
    (group.len() <= DIGITS_MAX && !behind && !before).then_some(1)
}

/// Whether the digits behind the first group are the zeros of a number written as a decimal: `4111111111111111.00`.
fn is_whole_amount(subject: &Subject<'_>, chain: &Chain) -> bool {
    let zeros = |group: &Span| {
        group.len() <= 2
            && subject.bytes()[group.start..group.end]
                .iter()
                .all(|digit| *digit == b'0')
    };
    chain.separator(0) == Some(Separator::Dot)
        && chain.groups().get(1).is_some_and(zeros)
        && !matches!(chain.separator(1), Some(Separator::Dot | Separator::Dash))
}

/// Checks a number in several groups: one separator throughout, and no further group joined by it on either side.
fn grouped(subject: &Subject<'_>, chain: &Chain) -> Option<usize> {
    let groups = chain.groups();
    let separator = chain.separator(0)?;
    let linked = (0..groups.len())
        .take_while(|index| chain.separator(*index) == Some(separator))
        .count();
    let mut count = (linked + 1).min(groups.len());
    if separator == Separator::Space && count > 1 && is_expiry(subject, groups[count - 1]) {
        count -= 1;
    }
    let fits = GROUPINGS.iter().any(|grouping| {
        grouping.len() == count
            && grouping
                .iter()
                .zip(groups)
                .all(|(len, group)| *len == group.len())
    });
    let continues_before = group_before(subject.text, groups[0].start).is_some_and(|(before, digits)| {
        // In prose a number may precede the card's. Behind a space only a group of four reads like part of the card.
        before == separator && (separator != Separator::Space || digits == 4)
    });
    (fits && !continues_before).then_some(count)
}

/// Whether the group is the month of an expiry date, as in `4111 1111 1111 1111 12/26`.
fn is_expiry(subject: &Subject<'_>, group: Span) -> bool {
    group.len() <= 2
        && subject.bytes().get(group.end) == Some(&b'/')
        && is_digit_at(subject.bytes(), group.end + 1)
}

fn issuer(digits: &[u8]) -> Option<Issuer> {
    let prefix = |len: usize| {
        digits[..len]
            .iter()
            .fold(0u32, |sum, digit| sum * 10 + u32::from(*digit))
    };
    let (one, two, three, four) = (prefix(1), prefix(2), prefix(3), prefix(4));
    let sixteen = one == 4
        || (51..=55).contains(&two)
        || (2221..=2720).contains(&four)
        || four == 6011
        || (644..=649).contains(&three)
        || two == 65
        || (3528..=3589).contains(&four)
        || two == 62
        || (2200..=2204).contains(&four)
        || matches!(four, 5018 | 5019 | 5020 | 5038 | 5893 | 6304 | 6759 | 6761..=6763);
    let fifteen = matches!(two, 34 | 37);
    let fourteen = matches!(three, 300..=305 | 309) || matches!(two, 36 | 38 | 39);
    let maestro = matches!(two, 50 | 56..=58 | 60 | 63 | 67 | 81);
    match digits.len() {
        16 if sixteen => Some(Issuer::Strong),
        15 if fifteen => Some(Issuer::Strong),
        14 if fourteen => Some(Issuer::Strong),
        13 | 19 if one == 4 => Some(Issuer::WithKeyword),
        16..=19 if sixteen || fifteen || fourteen => Some(Issuer::WithKeyword),
        15 if one == 1 => Some(Issuer::WithKeyword),
        DIGITS_MIN..=DIGITS_MAX if maestro => Some(Issuer::WithKeyword),
        _ => None,
    }
}

fn luhn(digits: &[u8]) -> bool {
    let sum: u32 = digits
        .iter()
        .rev()
        .enumerate()
        .map(|(at, digit)| match (at % 2, u32::from(*digit)) {
            (0, digit) => digit,
            (_, digit) if digit > 4 => digit * 2 - 9,
            (_, digit) => digit * 2,
        })
        .sum();
    sum.is_multiple_of(10)
}
