//! Keys that their vendor's prefix identifies, and private keys in PEM (RFC 7468).
//!
//! Some vendors append a checksum. It is not verified: prefix, alphabet and length leave no doubt, and a key with a typing
//! error still gives most of the key away.

use crate::scan::Span;
use crate::scan::edge::{blocked_after, blocked_before};
use crate::work;

/// A form of keys.
struct Form {
    prefix: &'static str,
    /// Fewest characters behind the prefix.
    chars_min: usize,
    /// The punctuation among them.
    punctuation: &'static [u8],
    /// How many letters or digits of the key are before the prefix.
    before: (usize, usize),
}

const fn form(prefix: &'static str, chars_min: usize, punctuation: &'static [u8]) -> Form {
    Form {
        prefix,
        chars_min,
        punctuation,
        before: (0, 0),
    }
}

/// A key whose known characters are not its first ones.
const fn infix(
    before: (usize, usize),
    prefix: &'static str,
    chars_min: usize,
    punctuation: &'static [u8],
) -> Form {
    Form {
        before,
        ..form(prefix, chars_min, punctuation)
    }
}

/// Each prefix has a hint in the prefilter.
const FORMS: &[Form] = &[
    form("ghp_", 36, b""),
    form("gho_", 36, b""),
    form("ghu_", 36, b""),
    form("ghs_", 36, b""),
    form("ghr_", 36, b""),
    form("github_pat_", 22, b"_"),
    form("glpat-", 20, b"-_."),
    form("xoxa-", 16, b"-"),
    form("xoxb-", 16, b"-"),
    form("xoxe-", 16, b"-"),
    form("xoxe.xoxp-", 16, b"-"),
    form("xoxp-", 16, b"-"),
    form("xoxr-", 16, b"-"),
    form("xoxs-", 16, b"-"),
    form("xapp-", 16, b"-"),
    form("hooks.slack.com/services/", 24, b"/"),
    form("hooks.slack.com/triggers/", 24, b"/"),
    form("hooks.slack.com/workflows/", 24, b"/"),
    form("sk_live_", 16, b"_"),
    form("sk_test_", 16, b"_"),
    form("rk_live_", 16, b"_"),
    form("rk_test_", 16, b"_"),
    form("whsec_", 24, b"+/="),
    form("AIza", 35, b"-_"),
    form("ya29.", 20, b"-_."),
    form("GOCSPX-", 20, b"-_"),
    form("sk-", 32, b"-_"),
    form("npm_", 36, b""),
    form("shpat_", 32, b""),
    form("shpca_", 32, b""),
    form("shppa_", 32, b""),
    form("shpss_", 32, b""),
    form("glrt-", 20, b"-_."),
    form("gldt-", 20, b"-_."),
    form("glptt-", 20, b"-_."),
    form("glcbt-", 20, b"-_."),
    form("xoxc-", 16, b"-"),
    form("xoxd-", 16, b"-%"),
    form("SG.", 60, b"-_."),
    form("pypi-", 50, b"-_"),
    form("dop_v1_", 64, b""),
    form("doo_v1_", 64, b""),
    form("dor_v1_", 64, b""),
    form("hf_", 30, b""),
    form("r8_", 32, b""),
    form("sbp_", 40, b""),
    form("nfp_", 36, b""),
    form("sq0atp-", 22, b"-_"),
    form("sq0csp-", 22, b"-_"),
    form("AGE-SECRET-KEY-1", 50, b""),
    form("CFPAT-", 40, b"-_"),
    form("AKID", 32, b""),
    form("LTAI", 20, b""),
    form("hvs.", 24, b"-_."),
    form("hvb.", 24, b"-_."),
    form("hvr.", 24, b"-_."),
    form("dckr_pat_", 24, b"-_"),
    form("dapi", 32, b""),
    form("NRAK-", 27, b""),
    form("PMAK-", 32, b"-"),
    form("ATATT3", 60, b"-_="),
    form("ATBB", 32, b""),
    form("sntrys_", 40, b"-_=+/"),
    form("glsa_", 32, b"_"),
    form("xkeysib-", 64, b"-"),
    form("pplx-", 40, b""),
    form("tskey-", 20, b"-"),
    form("pscale_tkn_", 32, b"-_."),
    form("pscale_pw_", 32, b"-_."),
    form("discord.com/api/webhooks/", 60, b"/-_"),
    form("discordapp.com/api/webhooks/", 60, b"/-_"),
    // Hashes of passwords, as crypt(3) writes them.
    form("$1$", 26, b"./$"),
    form("$2a$", 50, b"./$"),
    form("$2b$", 50, b"./$"),
    form("$2y$", 50, b"./$"),
    form("$5$", 40, b"./$="),
    form("$6$", 26, b"./$="),
    form("$y$", 40, b"./$"),
    // `-----BEGIN PRIVATE`, `RSA`, `EC PRIVATE`, `OPENSSH` and `ENCRYPTED` in base64.
    form("LS0tLS1CRUdJTiBQUklWQVRF", 16, b"+/="),
    form("LS0tLS1CRUdJTiBSU0EgUFJJ", 16, b"+/="),
    form("LS0tLS1CRUdJTiBFQyBQUklW", 16, b"+/="),
    form("LS0tLS1CRUdJTiBPUEVOU1NI", 16, b"+/="),
    form("LS0tLS1CRUdJTiBFTkNSWVBU", 16, b"+/="),
    form("webhook.office.com/webhookb2/", 60, b"/-@"),
    form("rubygems_", 48, b""),
    form("figd_", 40, b"-_"),
    form("dp.pt.", 40, b""),
    form("dp.st.", 40, b"._-"),
    form("dp.sa.", 40, b""),
    form("lin_api_", 40, b""),
    form("ntn_", 40, b""),
    form("pnu_", 36, b""),
    form("pul-", 40, b""),
    form("rdme_", 64, b""),
    form("sgp_", 40, b"_"),
    form("squ_", 40, b""),
    form("sqp_", 40, b""),
    form("sqa_", 40, b""),
    form("tfp_", 40, b"-_"),
    form("shippo_", 40, b"_"),
    form("sntryu_", 64, b""),
    form("glffct-", 20, b"-_"),
    form("glft-", 20, b"-_"),
    form("glimt-", 20, b"-_"),
    form("glc_", 32, b"+/="),
    form("GR1348941", 20, b"-_"),
    form("HRKU-AA", 50, b"-_"),
    form("EAA", 60, b"-_"),
    form("EZAK", 54, b""),
    form("AKCp", 60, b""),
    form("ABSK", 80, b"+/="),
    form("CCIPAT_", 40, b"_"),
    form("bkua_", 40, b""),
    form("dckr_oat_", 24, b"-_"),
    form("gsk_", 48, b""),
    form("lsv2_", 40, b"_"),
    form("xai-", 64, b""),
    form("tvly-", 28, b"-"),
    form("nvapi-", 60, b"-_"),
    form("phx_", 40, b""),
    form("oy2", 43, b""),
    form("1//0", 30, b"-_"),
    form("sha256~", 40, b"-_"),
    form("APA91b", 100, b"-_"),
    infix((14, 14), ".atlasv1.", 60, b"-_="),
    infix((3, 3), "7Q~", 31, b"-_.~"),
    infix((3, 3), "8Q~", 31, b"-_.~"),
    infix((8, 10), ":AA", 32, b"-_"),
];

/// Bytes of the shortest prefix.
const HEAD_BYTES: usize = 3;

/// By offset and byte: the forms whose prefix has the byte there, one bit each.
static HEADS: [[u128; 256]; HEAD_BYTES] = {
    let mut heads = [[0; 256]; HEAD_BYTES];
    let mut form = 0;
    while form < FORMS.len() {
        let mut at = 0;
        while at < HEAD_BYTES {
            heads[at][FORMS[form].prefix.as_bytes()[at] as usize] |= 1 << form;
            at += 1;
        }
        form += 1;
    }
    heads
};

/// Longest key.
const KEY_BYTES_MAX: usize = 512;
/// Fewest different characters. A placeholder such as `ghp_xxxx…` has fewer.
const DIFFERENT_MIN: u32 = 6;

pub(super) fn find(text: &str, hit: &mut impl FnMut(Span)) {
    let bytes = text.as_bytes();
    work::bytes_read(bytes.len());
    let mut free = 0;
    for (start, head) in bytes.windows(HEAD_BYTES).enumerate() {
        let mut forms = HEADS.iter().zip(head).fold(u128::MAX, |forms, (heads, byte)| {
            forms & heads[usize::from(*byte)]
        });
        if forms == 0 || start < free {
            continue;
        }
        let mut key = None;
        while forms != 0 && key.is_none() {
            let form = &FORMS[forms.trailing_zeros() as usize];
            forms &= forms - 1;
            if bytes[start..].starts_with(form.prefix.as_bytes()) {
                key = key_at(text, start, form);
            }
        }
        if let Some(key) = key.filter(|key| key.start >= free) {
            hit(key);
            free = key.end;
        }
    }
}

/// The key of this form whose prefix is at `start`.
fn key_at(text: &str, start: usize, form: &Form) -> Option<Span> {
    let belongs = |byte: &&u8| byte.is_ascii_alphanumeric() || form.punctuation.contains(byte);
    let (before_min, before_max) = form.before;
    let before = text.as_bytes()[..start].iter().rev().take(before_max);
    let before = if form.prefix.starts_with(':') {
        // The number of a bot. In a URL, `bot` is before it.
        before.take_while(|byte| byte.is_ascii_digit()).count()
    } else {
        before.take_while(belongs).count()
    };
    let first = start - before;
    let is_numbered = form.prefix.starts_with(':') && text[..first].ends_with("bot");
    let body = start + form.prefix.len();
    let len = text.as_bytes()[body..]
        .iter()
        .take(KEY_BYTES_MAX)
        .take_while(belongs)
        .count();
    let key = text[body..body + len].trim_end_matches(['.', '-', '/', '_']);
    let end = body + key.len();
    let found = key.len() >= form.chars_min
        && is_random(key.as_bytes())
        && before >= before_min
        && (is_numbered || !blocked_before(text, first))
        && !blocked_after(text, end);
    found.then_some(Span::new(first, end))
}

fn is_random(key: &[u8]) -> bool {
    let seen = key.iter().fold(0_u128, |seen, byte| seen | 1 << (byte & 0x7f));
    seen.count_ones() >= DIFFERENT_MIN && key.iter().any(u8::is_ascii_digit)
}

const BEGIN: &str = "-----BEGIN ";
const END: &str = "-----END ";
const DASHES: &str = "-----";
const LABEL_BYTES_MAX: usize = 40;

/// Finds private keys from their first line to their last, or to the end of a text that was cut.
pub(super) fn find_private_keys(text: &str, hit: &mut impl FnMut(Span)) {
    work::bytes_read(text.len());
    let mut at = 0;
    while let Some(offset) = text[at..].find(BEGIN) {
        let start = at + offset;
        at = start + BEGIN.len();
        let Some(label_end) = label_end(text, at) else {
            continue;
        };
        if !text[at..label_end].contains("PRIVATE KEY") {
            continue;
        }
        let end = text[label_end..]
            .find(END)
            .map(|offset| label_end + offset + END.len())
            .and_then(|end| label_end_at(text, end))
            .unwrap_or(text.len());
        hit(Span::new(start, end));
        at = end;
    }
}

fn label_end(text: &str, start: usize) -> Option<usize> {
    let bytes = &text.as_bytes()[start..];
    let belongs = |byte: &&u8| byte.is_ascii_uppercase() || byte.is_ascii_digit() || **byte == b' ';
    let len = bytes.iter().take(LABEL_BYTES_MAX).take_while(belongs).count();
    text[start + len..].starts_with(DASHES).then_some(start + len)
}

fn label_end_at(text: &str, start: usize) -> Option<usize> {
    label_end(text, start).map(|end| end + DASHES.len())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scan::prefilter::{Hints, hints};

    #[test]
    fn every_form_is_found_behind_its_hint() {
        for form in FORMS {
            // The number of rounds follows the prefix of bcrypt.
            let rounds = if form.prefix.starts_with("$2") { "10$" } else { "" };
            let before = "0123456789abcd";
            let key = format!(
                "{}{}{rounds}{}",
                &before[..form.before.0],
                form.prefix,
                "a1B2c3D4e5".repeat(12)
            );
            let text = format!("key {key} found");
            assert!(hints(text.as_bytes()).intersects(Hints::VENDOR_PREFIX), "{text}");
            let mut found = Vec::new();
            find(&text, &mut |span| found.push(&text[span.start..span.end]));
            assert_eq!(found, [key]);
        }
    }
}
