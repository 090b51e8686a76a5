//! Phone numbers.
//!
//! An audit log is full of digits, so a phone number needs evidence: a plus sign and a country code, North American
//! punctuation, `tel:`, or a keyword before it.

mod country;

use std::ops::RangeInclusive;

use crate::scan::context::{Keywords, prefix, substring, word};
use crate::scan::digits::{group_before, group_end, is_digit_at};
use crate::scan::edge::{blocked_after, blocked_before, percent_escape_before};
use crate::scan::exclusion::is_excluded;
use crate::scan::name::words_from_end;
use crate::scan::punctuation::{Separator, separator_at};
use crate::scan::{Span, Subject};

const DIGITS_MIN: usize = 8;
const DIGITS_MAX: usize = 15;
/// `tel:` also precedes local numbers.
const TEL_DIGITS_MIN: usize = 7;
/// A first group this long is the whole number; digits behind a space after it belong to something else.
const WHOLE_GROUP_DIGITS_MIN: usize = 9;

/// Longest area code.
const AREA_DIGITS_MAX: usize = 5;

/// Greatest distance between a keyword and the number behind it.
const KEYWORD_REACH_CHARS: usize = 25;

/// Fewest digits of an international number without separators. A shorter one is more often a signed amount.
const WHOLE_INTERNATIONAL_DIGITS_MIN: usize = 10;
/// The lengths of a national number that is written with its trunk prefix and without separators.
const TRUNK_DIGITS: RangeInclusive<usize> = 10..=12;
/// A group this long ends a subscriber number. Fewer digits behind a space after it count something else.
const SUBSCRIBER_GROUP_DIGITS_MIN: usize = 5;

/// Keywords that a number of any form may follow.
const KEYWORDS: &Keywords = &Keywords::new(&[
    word("phone"),
    substring("telephone"),
    substring("cellphone"),
    substring("mobilephone"),
    substring("homephone"),
    substring("workphone"),
    prefix("phonen"),
    word("tel"),
    prefix("telno"),
    prefix("telnum"),
    prefix("mobilen"),
    prefix("mobile n"),
    prefix("mobile_n"),
    prefix("mobile-n"),
    prefix("cell n"),
    prefix("cell_n"),
    prefix("cell-n"),
    prefix("celln"),
    word("fax"),
    substring("telefax"),
    prefix("faxn"),
    substring("telefon"),
    substring("t?l?phone"),
    substring("tel?fono"),
    substring("telefono"),
    substring("whatsapp"),
    substring("msisdn"),
    prefix("contactn"),
    prefix("contact n"),
    prefix("contact_n"),
    prefix("contact-n"),
    prefix("call me"),
    prefix("call us"),
    prefix("call him"),
    prefix("call her"),
    prefix("call them"),
    word("sms to"),
    word("sms sent to"),
    word("callback"),
    word("handynummer"),
    word("celular"),
    word("cellulare"),
]);

/// Ordinary words. Only a number in a national format may follow: with separators, or with its trunk prefix.
const WEAK_KEYWORDS: &Keywords = &Keywords::new(&[
    word("mobile"),
    word("cell"),
    word("call"),
    word("calling"),
    word("called"),
    word("sms"),
    word("contact"),
    word("dial"),
    word("dialed"),
    word("dialled"),
    word("dialing"),
    word("anruf"),
    word("anrufen"),
    word("appelez"),
    word("bel"),
    word("bellen"),
    word("chiama"),
    word("chiamare"),
    word("erreichbar"),
    word("handy"),
    word("joignable"),
    word("kom?rka"),
    word("ligue"),
    word("ll?mame"),
    word("llamar"),
    word("meine nummer"),
    word("meu n?mero"),
    word("mi n?mero"),
    word("mijn nummer"),
    word("mio numero"),
    word("m?j numer"),
    word("mobiel"),
    word("mobil"),
    word("mon num?ro"),
    word("m?vil"),
    word("my number"),
    word("portable"),
    word("rappel"),
    word("rappeler"),
    word("r?ckruf"),
    word("rueckruf"),
    word("telef?nica"),
    word("t?l"),
    word("tlf"),
    word("zadzwo?"),
]);

/// Keywords that identify a signed number as an amount.
const AMOUNT_KEYWORDS: &Keywords = &Keywords::new(&[
    word("diff"),
    word("difference"),
    word("delta"),
    word("amount"),
    word("balance"),
    word("offset"),
    word("total"),
    word("score"),
    word("change"),
    word("changed"),
    word("increase"),
]);

/// The number whose first digit is at `start`. It contains nothing before `floor`.
pub(super) fn at(subject: Subject<'_>, start: usize, floor: usize) -> Option<Span> {
    let text = subject.text;
    let lead = Lead::before(text, start, floor);
    if lead.plus
        && let Some(span) = international(&subject, start, &lead)
    {
        return Some(span);
    }
    if is_behind_tel(&text[..lead.start]) {
        let number = Number::read(text, start, DIGITS_MAX)?;
        return (number.digits >= TEL_DIGITS_MIN && !blocked_after_number(text, number.end))
            .then(|| Span::new(lead.start, number.end));
    }
    north_american(text, start, &lead).or_else(|| behind_keyword(&subject, start, &lead))
}

/// The plus sign and bracket directly before the first digit.
struct Lead {
    /// The start of the number, sign and bracket included.
    start: usize,
    plus: bool,
    bracket: bool,
}

impl Lead {
    fn before(text: &str, digit: usize, floor: usize) -> Lead {
        let bytes = text.as_bytes();
        let mut lead = Lead {
            start: digit,
            plus: false,
            bracket: false,
        };
        let group = group_end(bytes, digit);
        // A bracket belongs to the number only around an area code: `(020) 7946 0958`, not `(call 555-123-4567)`.
        let closed = group - digit <= AREA_DIGITS_MAX && bytes.get(group) == Some(&b')');
        if lead.start > floor && bytes[lead.start - 1] == b'(' && closed {
            lead.bracket = true;
            lead.start -= 1;
        }
        // Behind a letter or digit the plus sign is a space in form encoding.
        let signed = lead.start > floor && bytes[lead.start - 1] == b'+';
        if signed && !blocked_before(text, lead.start - 1) {
            lead.plus = true;
            lead.start -= 1;
        } else if lead.start >= floor + 3 && percent_escape_before(bytes, lead.start) == Some(b'+') {
            lead.plus = true;
            lead.start -= 3;
        }
        lead
    }
}

/// A plus sign, an assigned country code, and 8 to 15 digits that are neither a decimal number nor an amount.
fn international(subject: &Subject<'_>, start: usize, lead: &Lead) -> Option<Span> {
    let text = subject.text;
    let bytes = text.as_bytes();
    let north_american = bytes[start] == b'1';
    let mut digits = bytes[start..].iter().copied().filter(u8::is_ascii_digit);
    let code = [digits.next()?, digits.next()?, digits.next()?];
    let digits_max = country::digits_max(code);
    let longest = Number::read(text, start, DIGITS_MAX)?;
    // A first group that exceeds the country's longest number is still the whole number.
    let number = Number::read(text, start, digits_max).unwrap_or(longest);
    let area_exists = !north_american || code[1] >= b'2';
    let free = !blocked_before(text, lead.start) && !text[..lead.start].ends_with('+');
    let span = Span::new(lead.start, number.end);
    let is_whole = number.end - start == number.digits;
    (number.digits
        >= if is_whole {
            WHOLE_INTERNATIONAL_DIGITS_MIN
        } else {
            DIGITS_MIN
        }
        && (!north_american || number.digits <= digits_max)
        && country::is_assigned(code)
        && area_exists
        && free
        && !longest.is_decimal
        && !number.is_decimal
        && !blocked_after_number(text, number.end)
        && !(is_whole && AMOUNT_KEYWORDS.end_within(KEYWORD_REACH_CHARS, subject, lead.start))
        && !is_excluded(text, span))
    .then_some(span)
}

/// `(NPA) NXX-XXXX`, `NPA-NXX-XXXX` or `NPA.NXX.XXXX`, optionally after a `1`.
fn north_american(text: &str, start: usize, lead: &Lead) -> Option<Span> {
    let bytes = text.as_bytes();
    let mut at = start;
    let mut bracket = lead.bracket;
    if bytes[at] == b'1' && !is_digit_at(bytes, at + 1) {
        let (separator, len) = separator_at(text, at + 1)?;
        if !is_spacing(separator) {
            return None;
        }
        at += 1 + len;
        bracket = bytes.get(at) == Some(&b'(');
        at += usize::from(bracket);
    }
    if !matches!(bytes.get(at), Some(b'2'..=b'9')) {
        return None;
    }
    at = group_of(bytes, at, 3)?;
    let separator = if bracket {
        if bytes.get(at) != Some(&b')') {
            return None;
        }
        at += 1;
        at += separator_at(text, at).map_or(0, |(_, len)| len);
        None
    } else {
        let (separator, len) = separator_at(text, at)?;
        if !matches!(separator, Separator::Dash | Separator::Dot) {
            return None;
        }
        at += len;
        Some(separator)
    };
    at = group_of(bytes, at, 3)?;
    let (second, len) = separator_at(text, at)?;
    if separator.is_some_and(|first| first != second) || !is_spacing(second) {
        return None;
    }
    let end = group_of(bytes, at + len, 4)?;
    let span = Span::new(lead.start, end);
    let joins = |separator| matches!(separator, Separator::Dash | Separator::Dot);
    let continues = separator_at(text, end)
        .is_some_and(|(separator, len)| joins(separator) && is_digit_at(bytes, end + len))
        || group_before(text, lead.start).is_some_and(|(separator, _)| joins(separator));
    (!continues
        && !blocked_before(text, lead.start)
        && !blocked_after_number(text, end)
        && !is_excluded(text, span))
    .then_some(span)
}

/// Whether the separator stands between the parts of a North American number.
fn is_spacing(separator: Separator) -> bool {
    matches!(separator, Separator::Space | Separator::Dash | Separator::Dot)
}

/// The end of a group of exactly `digits` digits.
fn group_of(bytes: &[u8], start: usize, digits: usize) -> Option<usize> {
    let end = group_end(bytes, start.min(bytes.len()));
    (end.checked_sub(start) == Some(digits)).then_some(end)
}

fn is_behind_tel(before: &str) -> bool {
    let before = before.strip_suffix("//").unwrap_or(before);
    let Some(at) = before.len().checked_sub("tel:".len()) else {
        return false;
    };
    before
        .get(at..)
        .is_some_and(|scheme| scheme.eq_ignore_ascii_case("tel:"))
        && !blocked_before(before, at)
}

/// A number of any form shortly behind a keyword.
fn behind_keyword(subject: &Subject<'_>, start: usize, lead: &Lead) -> Option<Span> {
    let text = subject.text;
    if blocked_before(text, lead.start) || group_before(text, lead.start).is_some() {
        return None;
    }
    let number = Number::read(text, start, DIGITS_MAX)?;
    let plausible = number.digits >= DIGITS_MIN && !number.is_decimal && number.single_digit_groups <= 1;
    if !plausible || number.is_years || number.is_address || blocked_after_number(text, number.end) {
        return None;
    }
    let is_national = number.is_national(&text.as_bytes()[start..number.end]);
    let known = KEYWORDS.end_within(KEYWORD_REACH_CHARS, subject, lead.start)
        || (is_national && WEAK_KEYWORDS.end_within(KEYWORD_REACH_CHARS, subject, lead.start))
        || is_mobile_value(subject, start, &number);
    if !known {
        return None;
    }
    let span = Span::new(lead.start, number.end);
    (!is_excluded(text, span)).then_some(span)
}

/// Whether the number is the value of a key that ends with `mobile`: that of the whole string, or one in the text.
fn is_mobile_value(subject: &Subject<'_>, start: usize, number: &Number) -> bool {
    const MOBILE_DIGITS_MIN: usize = 10;
    const MOBILE: &[u8] = b"mobile";
    if subject.integer || number.digits < MOBILE_DIGITS_MIN {
        return false;
    }
    let before = &subject.text[..start];
    let key = before.trim_end_matches(['"', '\'', '\\', ':', '=', ' ']);
    let is_assigned = before[key.len()..].contains([':', '=']);
    let key = match before {
        "" => subject.key,
        _ if is_assigned => key,
        _ => return false,
    };
    let key = &key.as_bytes()[key.len().saturating_sub(MOBILE.len() + 1)..];
    key.len() >= MOBILE.len()
        && key[key.len() - MOBILE.len()..].eq_ignore_ascii_case(MOBILE)
        && words_from_end(key)
            .next()
            .is_some_and(|word| word.len() == MOBILE.len())
}

/// Groups of digits, separated by the punctuation of phone numbers.
#[derive(Clone, Copy)]
struct Number {
    end: usize,
    digits: usize,
    single_digit_groups: usize,
    /// One dot is the only separator, or a dash joins two such numbers, as in coordinates.
    is_decimal: bool,
    /// A dash joins two years.
    is_years: bool,
    /// Dots separate four short groups. Most of these are IP addresses, so the keyword search is skipped.
    is_address: bool,
}

impl Number {
    /// Reads as many groups as fit into `digits_max` digits. `None` if the first group alone does not fit.
    fn read(text: &str, start: usize, digits_max: usize) -> Option<Number> {
        let bytes = text.as_bytes();
        let mut number = Number {
            end: start,
            digits: 0,
            single_digit_groups: 0,
            is_decimal: false,
            is_years: false,
            is_address: false,
        };
        let mut at = start;
        let mut groups = 0;
        let mut years = 0;
        // Whether a dot follows the first, second and third group.
        let mut points = [false; 3];
        let mut dotted_short_groups = 0;
        loop {
            let end = group_end(bytes, at);
            let len = end - at;
            if number.digits + len > digits_max || number.is_complete_before(text, start, at, len) {
                break;
            }
            groups += 1;
            number.end = end;
            number.digits += len;
            number.single_digit_groups += usize::from(len == 1);
            years += usize::from(len == 4 && matches!(&bytes[at..at + 2], b"19" | b"20"));
            let Some(next) = next_group(text, end) else { break };
            let is_point = bytes[end] == b'.' && next == end + 1;
            dotted_short_groups += usize::from(len <= 3 && is_point);
            if let Some(point) = points.get_mut(groups - 1) {
                *point = is_point;
            }
            let is_whole = groups == 1 && len >= WHOLE_GROUP_DIGITS_MIN;
            if is_whole || begins_date_or_time(bytes, next) {
                break;
            }
            at = next;
        }
        number.is_decimal = (groups <= 2 && points[0]) || (groups == 4 && points == [true, false, true]);
        number.is_address = groups == 4 && dotted_short_groups == 3;
        number.is_years = groups == 2 && years == 2;
        (groups > 0).then_some(number)
    }

    /// Whether the group of `len` digits at `at` counts something else: `+49 30 901820 12 pieces`.
    fn is_complete_before(&self, text: &str, start: usize, at: usize, len: usize) -> bool {
        const COUNT_DIGITS_MAX: usize = 3;
        // A trunk zero is no digit of the subscriber.
        let trunk = usize::from(text.as_bytes()[start] == b'0');
        self.digits >= DIGITS_MIN + trunk
            && len <= COUNT_DIGITS_MAX
            && group_before(text, at).is_some_and(|(separator, before)| {
                separator == Separator::Space && before >= SUBSCRIBER_GROUP_DIGITS_MIN
            })
    }

    /// Whether the number, which is `written` so, has a national format: separators, or a trunk prefix.
    fn is_national(&self, written: &[u8]) -> bool {
        written.len() > self.digits || (written.starts_with(b"0") && TRUNK_DIGITS.contains(&self.digits))
    }
}

/// The start of the next group, if only the punctuation of phone numbers precedes it.
fn next_group(text: &str, end: usize) -> Option<usize> {
    const SEPARATORS_MAX: usize = 3;
    let bytes = text.as_bytes();
    let mut at = end;
    let mut marks = 0;
    let mut spaces = 0;
    for _ in 0..=SEPARATORS_MAX {
        match bytes.get(at)? {
            b'0'..=b'9' => return (at > end).then_some(at),
            b'(' | b')' => at += 1,
            b'/' => {
                at += 1;
                marks += 1;
            }
            _ => {
                let (separator, len) = separator_at(text, at)?;
                match separator {
                    Separator::Space => spaces += 1,
                    Separator::Dash | Separator::Dot => marks += 1,
                    Separator::Plus | Separator::Underscore | Separator::Slash => return None,
                }
                at += len;
            }
        }
        // The dot of `5. 10` ends a sentence. ` - ` and `) ` join groups.
        if marks > 1 || spaces > 2 || (spaces > 0 && bytes[end] == b'.') {
            return None;
        }
    }
    None
}

/// Whether a date or a time of day begins at `at`. Log lines often have one behind a number.
fn begins_date_or_time(bytes: &[u8], at: usize) -> bool {
    let end = group_end(bytes, at);
    match (end - at, bytes.get(end)) {
        (1 | 2, Some(b':')) => is_digit_at(bytes, end + 1),
        (4, Some(b'-')) => matches!(&bytes[at..at + 2], b"19" | b"20") && bytes.get(end + 3) == Some(&b'-'),
        _ => false,
    }
}

/// Whether the character at `end` prevents a number from ending there. An extension such as `x89` does not.
fn blocked_after_number(text: &str, end: usize) -> bool {
    blocked_after(text, end) && !is_extension(&text[end..])
}

fn is_extension(behind: &str) -> bool {
    const EXTENSION_DIGITS_MAX: usize = 7;
    let digits = ["ext", "x", "X"]
        .into_iter()
        .find_map(|marker| behind.strip_prefix(marker));
    let len = digits.map_or(0, |digits| group_end(digits.as_bytes(), 0));
    digits.is_some_and(|digits| (1..=EXTENSION_DIGITS_MAX).contains(&len) && !blocked_after(digits, len))
}
