//! Names and values with a space or a verb between them: `--token …`, `the password is …`, `DB_PASSWORD …`,
//! `2FA code 123456`, `IDENTIFIED BY '…'`.

use super::name::{Name, may_end_secret};
use super::sides::{last_letters, name_before};
use super::value::{Place, has_digit, is_message, is_name, stands_out};
use crate::scan::Span;
use crate::work;

/// Words between a name and a value in prose.
const VERBS: &[&str] = &[
    " is ", " ist ", " es ", " to ", " est ", " lautet ", " jest ", " è ", " é ",
];
/// Words between a name and whose it is.
const OWNERS: &[&str] = &[
    " for ", " of ", " für ", " von ", " pour ", " para ", " per ", " dla ",
];
/// What was done with a password before its value is given.
const DONE: &[&str] = &[
    " is",
    " was",
    " set",
    " generated",
    " created",
    " has been",
    " reset",
];
/// Words behind a name in Romance and Slavic languages that make a password one for now.
const ADJECTIVES: &[&str] = &[
    "provisoire",
    "temporaire",
    "initial",
    "actuel",
    "temporal",
    "provisional",
    "inicial",
    "actual",
    "nueva",
    "provisoria",
    "provisória",
    "temporaria",
    "temporária",
    "nova",
    "provvisoria",
    "temporanea",
    "iniziale",
    "nuova",
    "tymczasowe",
    "jednorazowe",
    "nowe",
    "tijdelijk",
];

/// What stands before a quoted password in SQL.
const SQL_CLAUSES: &[&str] = &["password", "identified by"];
const SQL_PLUGIN: &str = "identified with";
/// Where `WITH plugin BY` may stand behind `IDENTIFIED`.
const SQL_PLUGIN_BYTES_MAX: usize = 48;

/// Whether a name, a verb or a clause may be at a space. Nearly all other spaces end here.
#[inline]
pub(super) fn may_be_at(bytes: &[u8], space: usize) -> bool {
    matches!(
        &bytes[space + 1..],
        [b'i' | b'e' | b'a', b's', ..] | [b'\'', ..] | [b't', b'o', b' ', ..] | [b'l', b'a', b'u', b't', ..]
    ) || is_command(&bytes[..space])
        || bytes[..space].ends_with(b" ")
        || may_end_secret(last_letters(bytes, space))
}

/// `--password value`, `password is value`, `password value` and `WITH PASSWORD 'value'`.
pub(super) fn at(text: &str, space: usize) -> Option<(Name, usize, Place)> {
    let bytes = text.as_bytes();
    let is_quoted = bytes.get(space + 1) == Some(&b'\'');
    let before = &bytes[space.saturating_sub(SQL_PLUGIN_BYTES_MAX)..space];
    let is_clause = || {
        SQL_CLAUSES.iter().any(|clause| ends_with(before, clause))
            || (ends_with(before, " by")
                && before
                    .windows(SQL_PLUGIN.len())
                    .any(|part| part.eq_ignore_ascii_case(SQL_PLUGIN.as_bytes())))
    };
    if is_quoted && is_clause() {
        return Some((Name::Password, space + 1, Place::Assigned));
    }
    // `密码是 value`
    if let Some(before) = text[..space].strip_suffix(['是', '为', '為', 'は']) {
        let name = name_before(text, before.len())?;
        return Name::of(&text[name.start..name.end]).map(|kind| (kind, space + 1, Place::Prose));
    }
    let verb = VERBS.iter().find(|verb| text[space..].starts_with(**verb));
    if let Some(verb) = verb
        && let Some((kind, place)) = phrase_before(text, space)
    {
        return Some((
            kind,
            space + verb.len(),
            if *verb == " to " { Place::Spoken } else { place },
        ));
    }
    if !may_end_secret(last_letters(bytes, space)) && !bytes[..space].ends_with(b" ") {
        return None;
    }
    let ends_word = |byte: &u8| byte.is_ascii_alphanumeric() || !byte.is_ascii();
    if verb.is_none() && !bytes[..space].last().is_some_and(ends_word) {
        return None;
    }
    let name = name_before(text, space)?;
    let before = &bytes[..name.start];
    let name = &text[name.start..name.end];
    let word = name.rsplit(' ').next().unwrap_or_default();
    if word.starts_with('-') {
        // Behind a backslash or a letter of another script the dash is none of an option.
        let is_option = word.len() < name.len()
            || matches!(
                before,
                [] | [.., b'"' | b'\'' | b'[' | b'(' | b'\t' | b'\n' | b'/']
            );
        if !is_option {
            return None;
        }
        return flag(word).map(|kind| (kind, space + 1, Place::Assigned));
    }
    let kind = Name::of(name)?;
    if let Some(verb) = verb {
        let is_spoken = matches!(
            kind,
            Name::Password | Name::PasswordChange | Name::Code | Name::Token
        );
        let place = if *verb == " to " {
            Place::Spoken
        } else {
            Place::Prose
        };
        return is_spoken.then_some((kind, space + verb.len(), place));
    }
    // A digit is the type of a password that Cisco encrypted. Behind `MySecret1` is the next name.
    let is_type = word.len() == 1 && kind == Name::Password;
    let is_quoted = matches!(bytes.get(space + 1), Some(b'"' | b'\'' | b'`'));
    if bytes[space - 1].is_ascii_digit() && (!is_type || is_quoted) || bytes.get(space + 1) == Some(&b'`') {
        return None;
    }
    match kind {
        // `splunk_token` is the name of a setting. `token` may be a word of a sentence.
        Name::Token if is_identifier(word) => Some((kind, space + 1, Place::Assigned)),
        Name::Secret | Name::Password if is_identifier(word) => Some((kind, space + 1, Place::Prose)),
        // A card's code has three digits.
        Name::Code if matches!(word.as_bytes(), [b'c' | b'C', b'v' | b'V' | b's' | b'S', ..]) => {
            Some((kind, space + 1, Place::Prose))
        }
        Name::Password | Name::Code | Name::Token => Some((kind, space + 1, Place::Spoken)),
        _ => None,
    }
}

/// Whether a command of a protocol ends here. Nearly all words end here.
fn is_command(before: &[u8]) -> bool {
    matches!(
        before,
        [.., b'O', b'G', b'I', b'N']
            | [.., b'P', b'A', b'S', b'S']
            | [.., b'L', b'A', b'I', b'N']
            | [.., b'A', b'U', b'T', b'H']
    )
}

/// The name in a phrase that ends at `end`, if it is not its last word: `the password for kim`, `password of service account etl`,
/// `temporary password is generated for root@localhost`, `mot de passe provisoire`.
pub(super) fn phrase_before(text: &str, end: usize) -> Option<(Name, Place)> {
    const PHRASE_BYTES_MAX: usize = 48;
    let trimmed = text[..end].trim_end_matches(' ');
    let last = trimmed.len() - trimmed.rfind(' ').map_or(0, |space| trimmed.len() - space - 1);
    let may_be_adjective = trimmed.ends_with(['e', 'l', 'a', 'k']);
    if may_be_adjective
        && ADJECTIVES
            .iter()
            .any(|known| known.eq_ignore_ascii_case(&trimmed[last..]))
    {
        let name = name_before(text, last)?;
        return password_or_code(&text[name.start..name.end]).map(|kind| (kind, Place::Prose));
    }
    let mut from = end.saturating_sub(PHRASE_BYTES_MAX);
    while !text.is_char_boundary(from) {
        from += 1;
    }
    let phrase = &text[from..end];
    let spaces = phrase.bytes().enumerate().filter(|(_, byte)| *byte == b' ');
    spaces.into_iter().find_map(|(at, _)| {
        let owner = OWNERS.iter().find(|owner| phrase[at..].starts_with(**owner))?;
        let mut before = &text[..from + at];
        while let Some(shorter) = DONE.iter().find_map(|done| before.strip_suffix(done)) {
            before = shorter;
        }
        let name = name_before(text, before.len())?;
        let kind = password_or_code(&text[name.start..name.end])?;
        Some((
            kind,
            if *owner == " for " {
                Place::Prose
            } else {
                Place::Spoken
            },
        ))
    })
}

fn password_or_code(name: &str) -> Option<Name> {
    Name::of(name).filter(|kind| matches!(kind, Name::Password | Name::Code))
}

/// The name of an option: `--password`, `-storepass`, `--pass`.
pub(super) fn flag(word: &str) -> Option<Name> {
    let name = word.trim_start_matches('-');
    if name.eq_ignore_ascii_case("pass") {
        return Some(Name::Password);
    }
    // The letters of `-pin` may be flags of a command, and `-pOld_pw1` is a flag with its value.
    let is_word = name.bytes().all(|byte| byte.is_ascii_alphabetic());
    Name::of(word).filter(|kind| word.starts_with("--") || (is_word && *kind != Name::Code))
}

fn is_identifier(word: &str) -> bool {
    word.contains('_')
        || word.bytes().skip(1).any(|byte| byte == b'-')
        || word
            .as_bytes()
            .windows(2)
            .any(|pair| pair[0].is_ascii_lowercase() && pair[1].is_ascii_uppercase())
}

fn ends_with(text: &[u8], end: &str) -> bool {
    text.len()
        .checked_sub(end.len())
        .is_some_and(|at| text[at..].eq_ignore_ascii_case(end.as_bytes()))
}

/// Whether a value directly behind a name and a space is a secret: no word, number or name.
pub(super) fn is_secret(name: Name, value: &str) -> bool {
    match name {
        Name::Password => {
            const PASSWORD_CHARS_MIN: usize = 6;
            value.len() >= PASSWORD_CHARS_MIN
                && value.bytes().any(|byte| byte.is_ascii_alphabetic())
                && (has_digit(value) || stands_out(value.trim_matches(|ch: char| ch.is_ascii_punctuation())))
                && !value.trim_end_matches('=').contains(['=', ':', '(', '/', '{'])
                && !value.starts_with(['-', '$', '"'])
                && !is_message(value)
                && !is_name(value)
        }
        Name::Code => is_short_number(value.as_bytes()) || is_grouped_code(value),
        Name::Token => is_long_random(value.trim_end_matches('=')),
        _ => false,
    }
}

/// A code as people read it: four to eight digits, perhaps with a dash in the middle.
fn is_short_number(value: &[u8]) -> bool {
    const DIGITS: std::ops::RangeInclusive<usize> = 4..=8;
    let digits = value.iter().filter(|byte| byte.is_ascii_digit()).count();
    let is_halved = value.len() == 7 && value[3] == b'-';
    DIGITS.contains(&digits) && (digits == value.len() || (is_halved && digits == 6))
}

/// A code of letters and digits in groups, such as `8f3k-29dm-x7`.
fn is_grouped_code(value: &str) -> bool {
    const CHARS: std::ops::RangeInclusive<usize> = 8..=24;
    CHARS.contains(&value.len())
        && value.contains('-')
        && has_digit(value)
        && value.bytes().any(|byte| byte.is_ascii_alphabetic())
        && value
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || byte == b'-')
        && !is_name(value)
}

/// A token that is no UUID, no digest and no name of a thing.
fn is_long_random(value: &str) -> bool {
    const CHARS_MIN: usize = 20;
    let has = |is: fn(&u8) -> bool| value.as_bytes().iter().any(is);
    value.len() >= CHARS_MIN
        && has_digit(value)
        && has(u8::is_ascii_lowercase)
        && has(u8::is_ascii_uppercase)
        && value
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'+' | b'/'))
        && !is_name(value)
}

/// What stands between a code and its name.
const REVERSED: &[&str] = &[" is your ", " is the ", " as your "];

/// The code before its name, as in `123456 is your verification code`. `space` is behind it.
pub(super) fn code_before(text: &str, space: usize) -> Option<Span> {
    const NAME_BYTES_MAX: usize = 48;
    let verb = REVERSED.iter().find(|verb| text[space..].starts_with(**verb))?;
    let before = &text.as_bytes()[..space];
    let digits = before
        .iter()
        .rev()
        .take_while(|byte| byte.is_ascii_digit() || **byte == b'-')
        .count();
    work::bytes_read(digits);
    let code = text[space - digits..space].trim_start_matches('-');
    let start = space + verb.len();
    let mut end = text.len().min(start + NAME_BYTES_MAX);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    let behind = &text[start..end];
    let sentence = behind.split(['.', ',', '\n', '!']).next().unwrap_or_default();
    let names = sentence
        .match_indices(' ')
        .map(|(end, _)| end)
        .chain([sentence.len()]);
    let is_code = |end: usize| matches!(Name::of(&sentence[..end]), Some(Name::Code | Name::Password));
    (is_short_number(code.as_bytes()) && names.into_iter().any(is_code))
        .then(|| Span::new(space - code.len(), space))
}
