//! Tax and social numbers of single countries.

use crate::scan::context::{CONTEXT_CHARS, Keywords, substring, word};
use crate::scan::digits::{Chain, each_digit_group, group_before};
use crate::scan::edge::{blocked_after, blocked_before};
use crate::scan::exclusion::is_excluded;
use crate::scan::punctuation::Separator;
use crate::scan::{Span, Subject};
use crate::work;

/// National insurance numbers of the United Kingdom: two letters, six digits, a letter from A to D (HMRC manual NIM39110).
pub(super) fn find_nino(subject: Subject<'_>, hit: impl FnMut(Span)) {
    find_form(subject, b"LL 00 00 00 L", hit, |id| {
        let no_first = b"DFIQUV";
        let unused: [&[u8]; 7] = [b"BG", b"GB", b"KN", b"NK", b"NT", b"TN", b"ZZ"];
        !no_first.contains(&id[0])
            && !no_first.contains(&id[1])
            && id[1] != b'O'
            && !unused.contains(&&id[..2])
            && id[8] <= b'D'
    });
}

/// Indian permanent account numbers: five letters, the fourth of which is the kind of the holder, four digits, a letter.
pub(super) fn find_pan(subject: Subject<'_>, hit: impl FnMut(Span)) {
    find_form(subject, b"LLLLL0000L", hit, |id| b"ABCFGHJLPT".contains(&id[3]));
}

/// Longest form without its spaces.
const FORM_CHARS_MAX: usize = 12;

/// Finds texts of a form (`L` is a capital, `0` a digit, a space is optional) that pass the check.
fn find_form(subject: Subject<'_>, form: &[u8], mut hit: impl FnMut(Span), check: impl Fn(&[u8]) -> bool) {
    let bytes = subject.bytes();
    let mut start = 0;
    while start < bytes.len() {
        work::bytes_read(1);
        let mut id = [0; FORM_CHARS_MAX];
        let mut len = 0;
        let mut at = start;
        let fits = form.iter().all(|wanted| {
            let byte = bytes.get(at).copied().unwrap_or_default();
            let fits = match wanted {
                b'L' => byte.is_ascii_uppercase(),
                b'0' => byte.is_ascii_digit(),
                _ => {
                    at += usize::from(byte == b' ');
                    return true;
                }
            };
            id[len] = byte;
            len += 1;
            at += 1;
            fits
        });
        if fits
            && check(&id[..len])
            && !blocked_before(subject.text, start)
            && !blocked_after(subject.text, at)
        {
            hit(Span::new(start, at));
            start = at;
        } else {
            start += 1;
        }
    }
}

const CPF_KEYWORDS: &Keywords = &Keywords::new(&[word("cpf"), word("cadastro de pessoa")]);

/// Brazilian taxpayer numbers: `000.000.000-00`, or eleven digits behind `cpf`, with two check digits.
pub(super) fn find_cpf(subject: Subject<'_>, mut hit: impl FnMut(Span)) {
    each_chain(
        subject,
        |chain| {
            let groups = chain.groups();
            let dotted = chain.separator(0) == Some(Separator::Dot)
                && chain.separator(1) == Some(Separator::Dot)
                && chain.separator(2) == Some(Separator::Dash);
            let span = match groups {
                [whole, ..] if whole.len() == 11 => CPF_KEYWORDS
                    .begin_within(CONTEXT_CHARS, &subject, whole.start)
                    .then_some(*whole)?,
                [one, two, three, check, ..]
                    if dotted && [one, two, three, check].map(|group| group.len()) == [3, 3, 3, 2] =>
                {
                    Span::new(one.start, check.end)
                }
                _ => return None,
            };
            cpf_checks(&digits_of::<11>(&subject, span)?).then_some(span)
        },
        &mut hit,
    );
}

fn cpf_checks(digits: &[u32; 11]) -> bool {
    let check = |len: usize| {
        let sum: u32 = (2..)
            .zip(digits[..len].iter().rev())
            .map(|(weight, digit)| weight * digit)
            .sum();
        sum * 10 % 11 % 10
    };
    digits.iter().any(|digit| *digit != digits[0]) && check(9) == digits[9] && check(10) == digits[10]
}

const AADHAAR_KEYWORDS: &Keywords =
    &Keywords::new(&[substring("aadhaar"), substring("aadhar"), substring("uidai")]);

/// Indian Aadhaar numbers: `0000 0000 0000`, or twelve digits behind `aadhaar`, with a Verhoeff check digit.
pub(super) fn find_aadhaar(subject: Subject<'_>, mut hit: impl FnMut(Span)) {
    each_chain(
        subject,
        |chain| {
            let span = match chain.groups() {
                [whole, ..] if whole.len() == 12 => AADHAAR_KEYWORDS
                    .begin_within(CONTEXT_CHARS, &subject, whole.start)
                    .then_some(*whole)?,
                [one, two, three] if [one, two, three].map(|group| group.len()) == [4, 4, 4] => {
                    let separator = chain.separator(0);
                    let same = separator == chain.separator(1) && separator != Some(Separator::Dot);
                    same.then_some(Span::new(one.start, three.end))?
                }
                _ => return None,
            };
            let digits = digits_of::<12>(&subject, span)?;
            (digits[0] >= 2 && verhoeff(&digits)).then_some(span)
        },
        &mut hit,
    );
}

fn verhoeff(digits: &[u32]) -> bool {
    /// Multiplication in the dihedral group D5: rotations are 0 to 4, reflections 5 to 9.
    fn multiply(one: u32, two: u32) -> u32 {
        match (one < 5, two < 5) {
            (true, true) => (one + two) % 5,
            (true, false) => 5 + (one + two) % 5,
            (false, true) => 5 + (one - two) % 5,
            (false, false) => (5 + one - two) % 5,
        }
    }
    const PERMUTATION: [u32; 10] = [1, 5, 7, 6, 2, 8, 3, 0, 9, 4];
    let permuted =
        |times: usize, digit: u32| (0..times % 8).fold(digit, |digit, _| PERMUTATION[digit as usize]);
    digits
        .iter()
        .rev()
        .enumerate()
        .fold(0, |check, (at, digit)| multiply(check, permuted(at, *digit)))
        == 0
}

/// Calls `hit` with what `find` finds in the chains of digits, if no digit is joined to it.
fn each_chain(subject: Subject<'_>, find: impl Fn(&Chain) -> Option<Span>, hit: &mut impl FnMut(Span)) {
    let text = subject.text;
    let mut end = 0;
    each_digit_group(text, |start| {
        if start < end {
            return;
        }
        let free = |span: &Span| {
            !blocked_before(text, span.start)
                && !blocked_after(text, span.end)
                && group_before(text, span.start).is_none_or(|(separator, _)| separator == Separator::Space)
                && !is_excluded(text, *span)
        };
        if let Some(span) = find(&Chain::read(text, start)).filter(free) {
            end = span.end;
            hit(span);
        }
    });
}

/// The digits of a span that has exactly `LEN`.
fn digits_of<const LEN: usize>(subject: &Subject<'_>, span: Span) -> Option<[u32; LEN]> {
    let mut digits = [0; LEN];
    let mut found = subject.bytes()[span.start..span.end]
        .iter()
        .filter(|byte| byte.is_ascii_digit());
    for digit in &mut digits {
        *digit = u32::from(found.next()? - b'0');
    }
    found.next().is_none().then_some(digits)
}

#[cfg(test)]
mod tests {
    use super::super::found_in;
    use super::*;

    #[test]
    fn each_number_has_its_form_and_check() {
        type Find = fn(Subject<'_>, &mut dyn FnMut(Span));
        let cases: &[(Find, &str, &[&str])] = &[
            (
                |subject, hit| find_nino(subject, hit),
                "AB123456C and AB 12 34 56 D",
                &["AB123456C", "AB 12 34 56 D"],
            ),
            (
                |subject, hit| find_nino(subject, hit),
                "QQ123456C GB123456A AB123456E XAB123456C",
                &[],
            ),
            (
                |subject, hit| find_pan(subject, hit),
                "PAN ABCPE1234F",
                &["ABCPE1234F"],
            ),
            (|subject, hit| find_pan(subject, hit), "ABCDE1234F ABCPE1234", &[]),
            (
                |subject, hit| find_cpf(subject, hit),
                "123.456.789-09",
                &["123.456.789-09"],
            ),
            (
                |subject, hit| find_cpf(subject, hit),
                "cpf: 12345678909",
                &["12345678909"],
            ),
            (
                |subject, hit| find_cpf(subject, hit),
                "12345678909 123.456.789-00 111.111.111-11",
                &[],
            ),
            (
                |subject, hit| find_aadhaar(subject, hit),
                "2341 2341 2346",
                &["2341 2341 2346"],
            ),
            (
                |subject, hit| find_aadhaar(subject, hit),
                "aadhaar=234123412346",
                &["234123412346"],
            ),
            (
                |subject, hit| find_aadhaar(subject, hit),
                "2341 2341 2347 and 234123412346",
                &[],
            ),
        ];
        for (find, text, numbers) in cases {
            assert_eq!(found_in(text, find), *numbers, "{text}");
        }
    }
}
