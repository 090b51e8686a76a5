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
        ..form(Hints::ASSIGNMENT, one, two, b"=:%\"'`\\\xef \t(>]<")
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
    // Three characters of each vendor's prefix, not always its first ones. A form has those of several vendors if other texts rarely have
    // any of its combinations.
    // `sk_`, `rk_`, `sk-`, `gsk_` and `whsec_`.
    form(Hints::VENDOR_PREFIX, b"sre", b"kc", b"_-"),
    // `SG.`, `NRAK-`, `PMAK-` and `ATATT3`.
    form(Hints::VENDOR_PREFIX, b"SRM", b"GA0", b".Kt"),
    // `gh._`, `hooks.slack.com`, `sbp_`, `nfp_`, `tfp_` and `sqp_`, `sgp_` in part.
    form(Hints::VENDOR_PREFIX, b"bfghkq", b"oprsu", b"._"),
    // `ATBB`, `LTAI` and `figd_`.
    form(Hints::VENDOR_PREFIX, b"LTi", b"BTg", b"3ABd"),
    // `AGE-SECRET-KEY-1`, `CFPAT-`, `CCIPAT_`, `AKID` and `bkua_`.
    form(Hints::VENDOR_PREFIX, b"CEKu", b"-FIa", b"DPS_"),
    // `sq0atp-`, `shpca_`, `sntrys_` and hashes such as `$6$…` and `$2b$10$…`.
    form(Hints::VENDOR_PREFIX, b"$s", b"156hnqvy", b"$01234pt"),
    // `EAA` and `dckr_pat_`, `dckr_oat_`.
    form(Hints::VENDOR_PREFIX, b"Ec", b"Ak", b"Ar"),
    // `rubygems_` and `webhook`.
    form(Hints::VENDOR_PREFIX, b"by", b"gh", b"eo"),
    // `AKCp` and `lin_api_`.
    form(Hints::VENDOR_PREFIX, b"Kn", b"C_", b"ap"),
    // `ntn_`, `pnu_`, `squ_`, `sqa_`, `sntryu_` and `EZAK`.
    form(Hints::VENDOR_PREFIX, b"Enqty", b"Zanu", b"AT_"),
    // `glpat-`, `glrt-`, `gldt-`, `glptt-`, `glcbt-`, `glsa_`, `glffct-` and `glimt-`.
    form(Hints::VENDOR_PREFIX, b"g", b"l", b"cdfiprs"),
    // `APA91b`, `atlasv1`, `phx_` and `tvly-`.
    form(Hints::VENDOR_PREFIX, b"Ahsv", b"9lvx", b"1_y"),
    // `.pat_`, `dp.st.`, `1//0` and the tokens of Telegram's bots.
    form(Hints::VENDOR_PREFIX, b"/:ad", b"/Apt", b".0A_"),
    // `hvs.`, `xkeysib-` and `rdme_`.
    form(Hints::VENDOR_PREFIX, b"dhx", b"kmv", b"bers"),
    // `xox`, `xap`, `xai-`, `AIza`, `ya29`, `GOCSPX` and `ABSK`.
    form(Hints::VENDOR_PREFIX, b"ASxy", b"BIPao", b"2SXipxz"),
    // `GR1348941`, `oy2` and `shippo_`.
    form(Hints::VENDOR_PREFIX, b"Gmopq", b"Rpyo", b"12m_"),
    // `HRKU-AA`, `nvapi-`, `pul-` and `pplx-`.
    form(Hints::VENDOR_PREFIX, b"ARpuv", b"3Kalo", b"-U_px"),
    // `sha256~`, `dapi`, `pypi-` and the secrets of Entra, such as `abc8Q~…`.
    form(Hints::VENDOR_PREFIX, b"0123456789dy", b"6Qap", b"ip~"),
    // `npm_`, `dop_v1_`, `lsv2_`, `hf_`, `r8_`, `tskey-` and `pscale_`.
    form(Hints::VENDOR_PREFIX, b"hprtv", b"128fms", b"_ckx"),
    // `curl -u`, `net use /user:`.
    form(Hints::COMMAND, b" \"'", b"-/", b"-aAbhkNpPrsSuUwX"),
    // `sqlplus` and `rabbitmqctl`, whose passwords are arguments.
    form(Hints::COMMAND, b"qm", b"lq", b"pc"),
    // `password = x`, `password : x` and `WITH PASSWORD 'x'`.
    form(Hints::ASSIGNMENT, b" ", b"=:\xef'", ANY),
    // `password is x`, `es`, `ist`, `as your code`.
    form(Hints::ASSIGNMENT, b" ", b"iea", b"s"),
    // `code`, `codice`, `kod`, `código` and `TAN lautet` before or behind a number.
    form(Hints::CODE, b"cCkK", b"oO", b"dD"),
    form(Hints::CODE, b"d", b"i", b"g"),
    form(Hints::CODE, b"A", b"N", b" "),
    // `mysqli_connect('host', 'user', 'password')`.
    form(Hints::ASSIGNMENT, b"tT", b"(", b"'\"$"),
    // `clave: x`.
    form(Hints::ASSIGNMENT, b"vV", b"eE", b":="),
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
    const { assert!(FORMS.len() <= u64::BITS as usize) };
    let mut table = [0; 256];
    let mut form = 0;
    while form < FORMS.len() {
        let bytes = FORMS[form].bytes[at];
        let mut index = 0;
        while index < bytes.len() {
            table[bytes[index] as usize] |= 1 << form;
            index += 1;
        }
        form += 1;
    }
    table
}

/// By first byte: the forms that begin with it.
pub(super) static FIRST: [u64; 256] = table(0);
/// The entries' bits of the forms that end with a secret's name and a separator.
pub(super) const NAMES: u64 = {
    let mut names = 0;
    let mut form = 0;
    while form < FORMS.len() {
        if FORMS[form].is_name {
            names |= 1 << form;
        }
        form += 1;
    }
    names
};
pub(super) static SECOND: [u64; 256] = table(1);
pub(super) static THIRD: [u64; 256] = table(2);
