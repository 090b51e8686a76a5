//! One-time codes in other languages than English: `Votre code de vérification est 123456`, `123456 ist Ihr Einmalcode`.

use crate::scan::Span;
use crate::work;

/// Words for a code, alone or at the end of a compound.
const CODES: &[&str] = &["code", "digo", "codice", "kod", "kode", "tan", "pin", "passwort"];
/// Parts of words that make a code one that lets somebody in. Letters outside ASCII are left out.
const PURPOSES: &[&str] = &[
    "verifi",
    "rification",
    "weryfik",
    "curit",
    "segur",
    "sicur",
    "sicherheits",
    "tigungs",
    "bevestig",
    "veilig",
    "einmal",
    "eenmal",
    "engang",
    "usage unique",
    "uso ",
    "jednoraz",
    "de acceso",
    "de acesso",
    "di accesso",
    "d'acc",
    "toegang",
    "zugang",
    "anmelde",
    "inlog",
    "logowania",
    "conexi",
    "connexion",
    "freischalt",
    "aktivier",
    "de activa",
    "de ativa",
    "di attivaz",
    "de confirma",
    "di conferma",
    "potwierdz",
    "autentic",
    "authenti",
    "mtan",
    "ihre tan",
    "deine tan",
];
/// Words that make a code that of an error, a place or a product.
const OTHERS: &[&str] = &[
    "error", "erreur", "fehler", "errore", "status", "estado", "exit", "http", "postal", "plz", "promo",
    "produ", "countr", "retour",
];
/// Words between a code and its name.
const LINKS: &[&str] = &[
    "est", "lautet", "es", "è", "é", "jest", "to", "is", "ist", "wynosi", "unique", "nico", "único",
];
/// What stands between a code and the name behind it.
const REVERSED: &[&str] = &[
    " est votre ",
    " est ton ",
    " ist Ihr ",
    " ist dein ",
    " es tu ",
    " es su ",
    " è il tuo ",
    " é o seu ",
    " to Twój ",
    " is je ",
    " is uw ",
];
/// Longest phrase with the name.
const PHRASE_BYTES_MAX: usize = 64;

/// Finds the codes behind and before their names.
pub(super) fn find(text: &str, hit: &mut impl FnMut(Span)) {
    let bytes = text.as_bytes();
    work::bytes_read(bytes.len());
    let mut at = 0;
    while let Some(offset) = bytes[at..].iter().position(u8::is_ascii_digit) {
        let start = at + offset;
        let begins = start == 0 || matches!(bytes[start - 1], b' ' | b':' | b'=' | b'\n' | 0xa0);
        if let Some(len) = code_len(&bytes[start..]).filter(|_| begins) {
            let code = Span::new(start, start + len);
            if is_behind_name(text, start) || is_before_name(text, code.end) {
                hit(code);
            }
        }
        at = start
            + bytes[start..]
                .iter()
                .take_while(|byte| byte.is_ascii_digit())
                .count();
    }
}

/// Whether the name of a code is directly before `start`.
fn is_behind_name(text: &str, start: usize) -> bool {
    let mut from = start.saturating_sub(PHRASE_BYTES_MAX);
    while !text.is_char_boundary(from) {
        from += 1;
    }
    let before = &text[from..start];
    let before = before
        .rsplit(['.', '!', '?', '\n', ';', '"', ','])
        .next()
        .unwrap_or_default();
    let (Some(code), Some(purpose)) = (last_end(before, CODES), last_end(before, PURPOSES)) else {
        return false;
    };
    // In `código 200 verificado` they are two things.
    if before.as_bytes()[code.min(purpose)..code.max(purpose)]
        .iter()
        .any(u8::is_ascii_digit)
    {
        return false;
    }
    let rest = before[code.max(purpose)..].trim_start_matches(|ch: char| ch.is_alphabetic());
    let is_linked = rest
        .split([' ', ':', '=', '\u{a0}'])
        .all(|word| word.is_empty() || LINKS.contains(&word));
    is_linked && last_end(before, OTHERS).is_none()
}

/// Whether a verb and the name of a code are directly behind `end`.
fn is_before_name(text: &str, end: usize) -> bool {
    let Some(verb) = REVERSED.iter().find(|verb| text[end..].starts_with(**verb)) else {
        return false;
    };
    let start = end + verb.len();
    let mut end = text.len().min(start + PHRASE_BYTES_MAX);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    is_name(
        text[start..end]
            .split(['.', ',', '\n', '!'])
            .next()
            .unwrap_or_default(),
    )
}

fn is_name(phrase: &str) -> bool {
    last_end(phrase, CODES).is_some()
        && last_end(phrase, PURPOSES).is_some()
        && last_end(phrase, OTHERS).is_none()
}

/// The end of the last of these words.
fn last_end(phrase: &str, words: &[&str]) -> Option<usize> {
    let ends = words.iter().filter_map(|word| {
        let at = phrase
            .as_bytes()
            .windows(word.len())
            .rposition(|part| part.eq_ignore_ascii_case(word.as_bytes()))?;
        Some(at + word.len())
    });
    ends.max()
}

/// The length of a code: four to eight digits, perhaps in two halves.
fn code_len(bytes: &[u8]) -> Option<usize> {
    const DIGITS: std::ops::RangeInclusive<usize> = 4..=8;
    let digits = |bytes: &[u8]| {
        bytes
            .iter()
            .take(*DIGITS.end() + 1)
            .take_while(|byte| byte.is_ascii_digit())
            .count()
    };
    let first = digits(bytes);
    let len = match bytes.get(first) {
        Some(b' ' | b'-') if first == 3 && digits(&bytes[4..]) == 3 => 7,
        _ if DIGITS.contains(&first) => first,
        _ => return None,
    };
    let continues = match &bytes[len..] {
        [b'.' | b',' | b'-' | b'/' | b':', next, ..] => next.is_ascii_alphanumeric(),
        [next, ..] => next.is_ascii_alphanumeric() || *next >= 0x80,
        [] => false,
    };
    (!continues).then_some(len)
}
