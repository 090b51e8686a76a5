//! The forms that the prefilter searches for, and its tables.

use super::Hints;

/// Three bytes that give a hint: each is one of a set.
pub(super) struct Form {
    pub(super) hint: Hints,
    bytes: [&'static [u8]; 3],
    /// The first two bytes are the last ones of a secret's name.
    is_name: bool,
}

const fn form(hint: Hints, one: &'static [u8], two: &'static [u8], three: &'static [u8]) -> Form {
    Form {
        hint,
        bytes: [one, two, three],
        is_name: false,
    }
}

/// The last two letters of a secret's name, in any case, and what may directly follow it.
const fn name(one: &'static [u8], two: &'static [u8]) -> Form {
    Form {
        is_name: true,
        ..form(Hints::ASSIGNMENT, one, two, b"=:%\"'`\\\xef")
    }
}

const EVERY: [u8; 256] = {
    let mut bytes = [0; 256];
    let mut byte = 0;
    while byte < bytes.len() {
        bytes[byte] = byte as u8;
        byte += 1;
    }
    bytes
};
const ANY: &[u8] = &EVERY;
const NOT_ASCII: &[u8] = EVERY.split_at(0x80).1;
const DIGIT: &[u8] = b"0123456789";

/// Each has a bit in the tables.
pub(super) const FORMS: &[Form] = &[
    form(Hints::AT, b"@", ANY, ANY),
    form(Hints::AT, b"%", b"4", b"0"),
    // `eyJ`, `eyA` and `ewo`.
    form(Hints::ENCODED_JSON, b"e", b"yw", b"JAo"),
    form(Hints::BEARER, b"bB", b"eE", b"aA"),
    // `AKI`, `ASI`, `ABI`, `ACC`, `IQo`, `FQo` and `Fwo`.
    form(Hints::AWS_PREFIX, b"AIF", b"KSBCQw", b"ICo"),
    form(Hints::WIDE, b"\xef", b"\xbc", NOT_ASCII),
    form(Hints::BASIC, b"sS", b"iI", b"cC"),
    form(Hints::PEM, b"-", b"B", b"E"),
    // The letters of the countries. Those that end with `M` and `O` are apart, because of `arm64` and `go1.22`.
    form(
        Hints::IBAN,
        b"ABCDEFGHIKLMNPQRSTUVXYabcdefghiklmnpqrstuvxy",
        b"ABCDEGHIJKLNQRSTUVWYZabcdeghijklnqrstuvwyz",
        DIGIT,
    ),
    form(Hints::IBAN, b"OSos", b"Mm", DIGIT),
    form(Hints::IBAN, b"DFJNRSdfjnrs", b"Oo", DIGIT),
    // `gh._` and `hooks.slack.com`.
    form(Hints::VENDOR_PREFIX, b"hk", b"pousr", b"_."),
    // `github_pat_`, `shpat_` and `glpat-`.
    form(Hints::VENDOR_PREFIX, b"a", b"t", b"_-"),
    form(Hints::VENDOR_PREFIX, b"p", b"m", b"_"),
    // `sk_`, `rk_`, `sk-` and `whsec_`.
    form(Hints::VENDOR_PREFIX, b"sre", b"kc", b"_-"),
    // `xox`, `xap`, `AIza`, `ya29` and `GOCSPX`.
    form(Hints::VENDOR_PREFIX, b"xAyS", b"oaIP", b"xpz2X"),
    // `password = x`, `password : x` and `WITH PASSWORD 'x'`.
    form(Hints::ASSIGNMENT, b" ", b"=:\xef'", ANY),
    // `password is x`, `es`, `ist`.
    form(Hints::ASSIGNMENT, b" ", b"ie", b"s"),
    // `--password x`.
    form(Hints::ASSIGNMENT, b"-", b"-", ANY),
    // `password1=x`.
    name(b"dDeEnNpPtTyYvV", DIGIT),
    name(ANY, NOT_ASCII),
    // senha, contraseña, parola, haslo, hasło
    name(b"hHnNlLtT\xb1\x82\x81", b"aAoO"),
    // password, passwd, old, confirmed
    name(b"rRwWlLeE", b"dD"),
    // passphrase, code, cookie, value, before
    name(b"sSdDiIuUrR", b"eE"),
    // string, hash, cvc, csc
    name(b"nNsSvV", b"gGhHcC"),
    // credential
    name(b"aA", b"lL"),
    // pem, confirm, from
    name(b"eErRoO", b"mM"),
    // token, pin, authorization
    name(b"eEiIoO", b"nN"),
    // otp, mdp, cvv
    name(b"tTdDvV", b"pPvV"),
    // pass, previous, and plurals
    name(b"sSuUdDtTnNyYlLeE", b"sS"),
    // passwort, secret, text, current, digest, repeat
    name(b"rReExXnNsSaA", b"tT"),
    // raw, new, psw, key, after
    name(b"aAeEsS", b"wWyYrR"),
];

const fn table(at: usize) -> [u64; 256] {
    const { assert!(FORMS.len() <= u32::BITS as usize) };
    let mut table = [0; 256];
    let mut form = 0;
    while form < FORMS.len() {
        let bytes = FORMS[form].bytes[at];
        let mut index = 0;
        while index < bytes.len() {
            table[bytes[index] as usize] |= 1 << (form as u32 + u32::BITS);
            index += 1;
        }
        form += 1;
    }
    table
}

/// By first byte: the forms that begin with it, and one for a digit.
pub(super) static FIRST: [u64; 256] = {
    let mut first = table(0);
    let mut index = 0;
    while index < DIGIT.len() {
        first[DIGIT[index] as usize] += 1;
        index += 1;
    }
    first
};
/// The entries' bits of the forms that end with a secret's name and a separator.
pub(super) const NAMES: u64 = {
    let mut names = 0;
    let mut form = 0;
    while form < FORMS.len() {
        if FORMS[form].is_name {
            names |= 1 << (form as u32 + u32::BITS);
        }
        form += 1;
    }
    names
};
pub(super) static SECOND: [u64; 256] = table(1);
pub(super) static THIRD: [u64; 256] = table(2);
