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
        ..form(Hints::ASSIGNMENT, one, two, b"=:%\"'`\\\xef \t(>")
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
/// Bits of the counter of digits in the entries.
pub(super) const COUNTER_BITS: u32 = 15;
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
    // The letters of the countries. Those that end with `M` and `O` are apart, because of `arm64` and `go1.22`,
    // and `md6` is missing because of `amd64`: an IBAN of Moldova is nearly always in capitals.
    form(
        Hints::IBAN,
        b"ABCDEFGHIKLNPQRSTUVXYabcdefghiklnpqrstuvxy",
        b"ABCDEGHIJKLNQRSTUVWYZabcdeghijklnqrstuvwyz",
        DIGIT,
    ),
    form(Hints::IBAN, b"Mm", b"CDEKNRTUceknrtu", DIGIT),
    form(Hints::IBAN, b"m", b"d", b"012345789"),
    form(Hints::IBAN, b"OSos", b"Mm", DIGIT),
    form(Hints::IBAN, b"DFJNRSdfjnrs", b"Oo", DIGIT),
    // `gh._` and `hooks.slack.com`.
    form(Hints::VENDOR_PREFIX, b"hk", b"pousr", b"_."),
    // `github_pat_` and `shpat_`.
    form(Hints::VENDOR_PREFIX, b"a", b"t", b"_"),
    form(Hints::VENDOR_PREFIX, b"p", b"m", b"_"),
    // `sk_`, `rk_`, `sk-` and `whsec_`.
    form(Hints::VENDOR_PREFIX, b"sre", b"kc", b"_-"),
    // `xox`, `xap`, `AIza`, `ya29` and `GOCSPX`.
    form(Hints::VENDOR_PREFIX, b"xAyS", b"oaIP", b"xpz2X"),
    // `glpat-`, `glrt-`, `gldt-`, `glptt-`, `glcbt-` and `glsa_`.
    form(Hints::VENDOR_PREFIX, b"g", b"l", b"rdpcs"),
    // `SG.`, `NRAK-`, `PMAK-`, `ATATT3`, `ATBB` and `LTAI`.
    // And `-----BEGIN` in base64.
    form(Hints::VENDOR_PREFIX, b"SRM", b"GA0", b".Kt"),
    form(Hints::VENDOR_PREFIX, b"TL", b"TB", b"3BA"),
    // `AGE-SECRET-KEY-1`, `CFPAT-` and `AKID`.
    form(Hints::VENDOR_PREFIX, b"CKE", b"FI-", b"PDS"),
    // `dop_v1_`, `hf_`, `r8_`, `sbp_` and `nfp_`.
    form(Hints::VENDOR_PREFIX, b"vhr", b"1f8", b"_"),
    form(Hints::VENDOR_PREFIX, b"bf", b"p", b"_"),
    // `sq0atp-`, `shpca_`, `sntrys_`, `hvs.` and `xkeysib-`.
    // And hashes such as `$6$…` and `$2b$10$…`.
    form(Hints::VENDOR_PREFIX, b"s$", b"qhn156y", b"0pt$1234"),
    form(Hints::VENDOR_PREFIX, b"hx", b"vk", b"sbre"),
    // `pplx-`, `tskey-` and `pscale_`.
    form(Hints::VENDOR_PREFIX, b"pt", b"ls", b"xkc"),
    // `dckr_pat_`, `dapi` and `pypi-`.
    form(Hints::VENDOR_PREFIX, b"c", b"k", b"r"),
    form(Hints::VENDOR_PREFIX, b"dy", b"ap", b"pi"),
    // Discord's and Microsoft's webhooks.
    form(Hints::VENDOR_PREFIX, b"b", b"h", b"o"),
    // `curl -u`, `net use /user:`.
    form(Hints::COMMAND, b" \"'", b"-/", b"-aAbhkNpPrsSuUwX"),
    // `sqlplus` and `rabbitmqctl`, whose passwords are arguments.
    form(Hints::COMMAND, b"qm", b"lq", b"pc"),
    // `password = x`, `password : x` and `WITH PASSWORD 'x'`.
    form(Hints::ASSIGNMENT, b" ", b"=:\xef'", ANY),
    // `password is x`, `es`, `ist`, `as your code`.
    form(Hints::ASSIGNMENT, b" ", b"iea", b"s"),
    // `--password x`.
    form(Hints::ASSIGNMENT, b"-", b"-", ANY),
    // `password1=x`.
    name(b"dDeEnNpPtTyYvV", DIGIT),
    name(ANY, NOT_ASCII),
    // senha, contraseña, parola, haslo, hasło
    name(b"hHnNlLtT\xb1\x82\x81", b"aAoO"),
    // password, passwd, old, confirmed, csrf
    name(b"rRwWlLeE", b"dDfF"),
    // passphrase, code, cookie, value, before
    name(b"sSdDiIuUrR", b"eE"),
    // string, hash, cvc, csc, sig, auth, mnemonic
    name(b"nNsSvViItT", b"gGhHcC"),
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
    // passwort, secret, text, current, digest, repeat, jwt
    name(b"rReExXnNsSaAwW", b"tT"),
    // `session_id=`
    form(Hints::ASSIGNMENT, b"iI", b"dD", b"=%"),
    // raw, new, psw, key, after, pw
    name(b"aAeEsSpP", b"wWyYrR"),
];

const fn table(at: usize) -> [u64; 256] {
    const { assert!(FORMS.len() <= (u64::BITS - COUNTER_BITS) as usize) };
    let mut table = [0; 256];
    let mut form = 0;
    while form < FORMS.len() {
        let bytes = FORMS[form].bytes[at];
        let mut index = 0;
        while index < bytes.len() {
            table[bytes[index] as usize] |= 1 << (form as u32 + COUNTER_BITS);
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
            names |= 1 << (form as u32 + COUNTER_BITS);
        }
        form += 1;
    }
    names
};
pub(super) static SECOND: [u64; 256] = table(1);
pub(super) static THIRD: [u64; 256] = table(2);
