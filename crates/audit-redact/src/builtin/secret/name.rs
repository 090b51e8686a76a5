//! The names of secrets.

mod words;

use crate::scan::name::words_from_end;
use crate::scan::prefilter::may_end_name;
use words::{
    CHANGES, CODE_QUALIFIERS, FLAGS, FOREIGN_PASSWORDS, JOINED_KEYS, JOINED_PASSWORDS, KEY_QUALIFIERS,
    MODIFIERS, PARAMETERS, PASS_QUALIFIERS, PASSWORDS, PHRASE_QUALIFIERS, PIN_OTHERS, SESSION_IDS,
    TOKEN_OTHERS,
};

/// What a name says about its value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Name {
    Password,
    /// A password that is changed, as in `reset_password`. Its value may be the time.
    PasswordChange,
    PasswordHash,
    Secret,
    /// A token, key or credential. Its value must look random: the same names are those of settings.
    Token,
    /// A short code: PIN, one-time password, card verification code.
    Code,
    /// The header `Authorization`.
    Authorization,
    Cookie,
    /// `pass`, which is also a result or a ticket.
    Pass,
    /// The id of a session in a text. As a key of an event it is an identifier.
    Session,
    /// A parameter of a URL that authorizes the request, such as `sig` and the `code` of OAuth.
    Parameter,
}

/// Longest name. What is before it does not count.
pub(super) const NAME_BYTES_MAX: usize = 48;

const MODIFIERS_MAX: usize = 2;

/// Whether the last letters are those of a secret's name. Nearly all other names end here.
#[inline]
pub(super) fn may_end_secret(name: &[u8]) -> bool {
    let Some([one, two, three]) = name.last_chunk::<3>() else {
        return name.eq_ignore_ascii_case(b"pw");
    };
    if three.is_ascii_digit() || !(one.is_ascii() && two.is_ascii() && three.is_ascii()) {
        // As in `password1` and `contraseña`.
        return true;
    }
    if matches!([two | 0x20, three | 0x20], [b'p', b'w']) {
        // As in `bind_pw`.
        return true;
    }
    let end = [one | 0x20, two | 0x20, three | 0x20];
    let before = |at: usize| name.len().checked_sub(at).map_or(0, |at| name[at] | 0x20);
    match &end {
        // password, passwort, kennwort, passwd, pwd, pass, passphrase
        b"ord" | b"ort" | b"swd" | b"pwd" | b"ass" | b"ase" | b"rds" | b"psw" | b"mdp" | b"wds" | b"nic"
        // contrasena, senha, haslo, heslo, parola, motdepasse, şifre
        | b"fre" | b"ave" | b"ena" | b"nha" | b"slo" | b"ola" | b"sse"
        // secret, token, key, credential, cookie, and their plurals
        | b"ret" | b"ken" | b"key" | b"ial" | b"kie" | b"ets" | b"ens" | b"eys" | b"als" | b"eds" | b"srf"
        // pin, otp, cvv, cvc, csc
        | b"pin" | b"otp" | b"cvv" | b"cvc" | b"csc"
        // modifiers
        | b"lue" | b"raw" | b"new" | b"old" | b"irm" | b"med" | b"eat" | b"pem" | b"ash" | b"rom" => true,
        // code, current, string, text, plain, again, digest, after, before, previous
        b"ode" => before(4) == b'c',
        // passphrases, codes, cookies
        b"ses" => before(4) == b'a',
        b"des" => before(4) == b'o',
        b"ies" => before(4) == b'k',
        b"ent" | b"ing" => before(4) == b'r',
        b"ext" => before(4) == b't',
        // masterauth, SharedAccessSignature
        b"uth" => before(4) == b'a',
        b"ure" => before(4) == b't' && before(5) == b'a',
        b"ain" => matches!(before(4), b'l' | b'g'),
        b"est" => before(4) == b'g',
        b"ter" | b"ore" => before(4) == b'f',
        b"ous" => before(4) == b'i',
        // authorization, confirmation
        b"ion" => before(4) == b't' && before(5) == b'a' && matches!(before(6), b'z' | b'm'),
        _ => false,
    }
}

/// Whether the last letters are those of a parameter in [`PARAMETERS`] or of a session's id.
pub(super) fn may_end_parameter(name: &[u8]) -> bool {
    const ENDS: &[&[u8; 2]] = &[
        b"de", b"ey", b"ig", b"re", b"th", b"wt", b"on", b"et", b"er", b"se", b"id",
    ];
    name.last_chunk::<2>()
        .is_some_and(|end| ENDS.iter().any(|known| end.eq_ignore_ascii_case(*known)))
}

impl Name {
    #[inline]
    pub(super) fn of(name: &str) -> Option<Name> {
        if !may_end_name(name.as_bytes()) || !may_end_secret(name.as_bytes()) {
            return None;
        }
        if !name.is_ascii() && FOREIGN_PASSWORDS.iter().any(|known| name.ends_with(known)) {
            return Some(Name::Password);
        }
        let reach = name.len().saturating_sub(NAME_BYTES_MAX);
        let mut words = words_from_end(&name.as_bytes()[reach..]);
        let mut noun = words.next()?;
        let mut is_hash = false;
        for _ in 0..MODIFIERS_MAX {
            if is_one_of(noun, MODIFIERS) {
                noun = words.next()?;
            } else if is_one_of(noun, &["hash", "digest"]) {
                is_hash = true;
                noun = words.next()?;
            }
        }
        let mut qualifier = words.next().unwrap_or_default();
        if is_one_of(qualifier, &["time"]) && words.next().is_some_and(|word| is_one_of(word, &["one"])) {
            qualifier = b"otp";
        }
        // `Use code 123456` names no flag.
        if is_one_of(qualifier, FLAGS) && !noun.eq_ignore_ascii_case(b"code") {
            return None;
        }
        let kind = Name::of_noun(noun, qualifier)?;
        match (kind, is_hash || is_one_of(qualifier, &["hashed", "encrypted"])) {
            (Name::Password | Name::PasswordChange, true) => Some(Name::PasswordHash),
            (_, true) => None,
            (kind, false) => Some(kind),
        }
    }

    /// The name of a value in a text.
    pub(super) fn in_text(name: &str) -> Option<Name> {
        Name::of(name).or_else(|| match name.as_bytes() {
            bytes if is_session_id(bytes) => Some(Name::Session),
            bytes
                if words_from_end(bytes)
                    .next()
                    .is_some_and(|noun| is_one_of(noun, &["pass", "clave"])) =>
            {
                Some(Name::Pass)
            }
            _ => None,
        })
    }

    /// The name of a parameter of a URL.
    pub(super) fn of_parameter(name: &str) -> Option<Name> {
        Name::in_text(name).or_else(|| {
            let mut words = words_from_end(name.as_bytes());
            let noun = words.next()?;
            let qualifier = words.next().unwrap_or_default();
            PARAMETERS
                .iter()
                .any(|(known, before)| {
                    noun.eq_ignore_ascii_case(known.as_bytes())
                        && (before.is_empty() || is_one_of(qualifier, before))
                })
                .then_some(Name::Parameter)
        })
    }

    fn of_noun(noun: &[u8], qualifier: &[u8]) -> Option<Name> {
        let noun = singular(noun);
        let is = |words: &[&str]| is_one_of(noun, words);
        if is(PASSWORDS) || JOINED_PASSWORDS.iter().any(|known| ends_with(noun, known)) {
            return Some(if is_one_of(qualifier, CHANGES) {
                Name::PasswordChange
            } else {
                Name::Password
            });
        }
        if (is(&["pass"]) && is_one_of(qualifier, PASS_QUALIFIERS))
            || (is(&["word"]) && is_one_of(qualifier, &["pass"]))
            || (is(&["phrase"]) && is_one_of(qualifier, PHRASE_QUALIFIERS))
            || (is(&["passe"]) && is_one_of(qualifier, &["de"]))
        {
            return Some(Name::Password);
        }
        if ends_with(noun, "secret") {
            return Some(Name::Secret);
        }
        if ends_with(noun, "token") {
            return (!is_one_of(qualifier, TOKEN_OTHERS)).then_some(Name::Token);
        }
        if is(&["key"]) {
            return is_one_of(qualifier, KEY_QUALIFIERS).then_some(Name::Token);
        }
        if is(JOINED_KEYS)
            || is(&["credential", "cred", "csrf", "xsrf"])
            || (is(&["signature"]) && is_one_of(qualifier, &["access"]))
        {
            return Some(Name::Token);
        }
        if is(&["pin"]) && is_one_of(qualifier, PIN_OTHERS) {
            return None;
        }
        if is(&["pin", "otp", "totp", "cvv", "cvc", "csc"])
            || (is(&["code"]) && is_one_of(qualifier, CODE_QUALIFIERS))
        {
            return Some(Name::Code);
        }
        match noun {
            _ if is(&["authorization"]) => Some(Name::Authorization),
            _ if is(&["cookie"]) => Some(Name::Cookie),
            _ => None,
        }
    }
}

/// Whether a name is that of a session's id: `session_id`, `JSESSIONID`, `connect.sid`.
fn is_session_id(name: &[u8]) -> bool {
    if !matches!(
        name,
        [.., b'i' | b'I', b'd' | b'D'] | [.., b'o' | b'O', b'n' | b'N']
    ) {
        return false;
    }
    let mut words = words_from_end(name);
    let noun = words.next().unwrap_or_default();
    is_one_of(noun, SESSION_IDS)
        || (noun.eq_ignore_ascii_case(b"id")
            && words
                .next()
                .is_some_and(|word| is_one_of(word, &["session", "sess", "sessions"])))
        || name.eq_ignore_ascii_case(b"sid")
}

/// A noun without the `s` of its plural. `pins` are more often pinned things than codes.
fn singular(noun: &[u8]) -> &[u8] {
    match noun {
        [.., b's' | b'S', b's' | b'S'] => noun,
        _ if noun.eq_ignore_ascii_case(b"pins") => noun,
        [singular @ .., b's' | b'S'] => singular,
        _ => noun,
    }
}

fn is_one_of(word: &[u8], words: &[&str]) -> bool {
    words
        .iter()
        .any(|known| word.eq_ignore_ascii_case(known.as_bytes()))
}

fn ends_with(word: &[u8], end: &str) -> bool {
    word.len()
        .checked_sub(end.len())
        .is_some_and(|at| word[at..].eq_ignore_ascii_case(end.as_bytes()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scan::prefilter::{Hints, hints};

    #[test]
    fn a_name_is_that_of_a_secret_by_its_last_words() {
        for (name, kind) in [
            ("password", Some(Name::Password)),
            ("newPassword", Some(Name::Password)),
            ("DB_PASSWORD", Some(Name::Password)),
            ("passphrases", Some(Name::Password)),
            ("pwds", Some(Name::Password)),
            ("reset_password", Some(Name::PasswordChange)),
            ("session cookies", Some(Name::Cookie)),
            ("backup_codes", Some(Name::Code)),
            ("pins", None),
            ("SECRET_KEY_BASE", Some(Name::Token)),
            ("publicKeyToken", None),
            ("password_confirmation", Some(Name::Password)),
            ("password1", Some(Name::Password)),
            ("masterUserPassword", Some(Name::Password)),
            ("smtp-pass", Some(Name::Password)),
            ("пароль", Some(Name::Password)),
            ("password_hash", Some(Name::PasswordHash)),
            ("encryptedPassword", Some(Name::PasswordHash)),
            ("client_secret", Some(Name::Secret)),
            ("SecretString", Some(Name::Secret)),
            ("aws_secret_access_key", Some(Name::Token)),
            ("access_token", Some(Name::Token)),
            ("X-API-Key", Some(Name::Token)),
            ("apiKey", Some(Name::Token)),
            ("Proxy-Authorization", Some(Name::Authorization)),
            ("cvv2", Some(Name::Code)),
            ("verification_code", Some(Name::Code)),
            ("one-time code", Some(Name::Code)),
            ("time_code", None),
            ("atm_pin", Some(Name::Code)),
            // A postal code in India.
            ("pin_code", None),
            ("pincode", None),
            ("zip_pin", None),
            ("gpio_pin", None),
            ("has_password", None),
            ("requiresPassword", None),
            ("passport_type", None),
            ("pass_count", None),
            ("tokens_used", None),
            ("key_id", None),
            ("password_policy", None),
            ("token_count", None),
            ("max_tokens", None),
            ("clientRequestToken", None),
            ("nextToken", None),
            ("hashed_token", None),
            ("token_id", None),
            ("tokenType", None),
            ("password_changed_at", None),
            ("secret_santa", None),
            ("secretName", None),
            ("content_hash", None),
            ("public_key", None),
            ("idempotency_key", None),
            ("key", None),
            ("status_code", None),
            ("shipping", None),
            ("pass", None),
            ("", None),
        ] {
            assert_eq!(Name::of(name), kind, "{name}");
            if kind.is_some() {
                for separator in ["=", ":", " = ", "\": ", "%3D", "\u{ff1a}", " is "] {
                    let text = format!("................{name}{separator}x");
                    assert!(hints(text.as_bytes()).intersects(Hints::ASSIGNMENT), "{text}");
                }
            }
        }
    }

    #[test]
    fn the_prefilter_knows_the_last_letters_of_every_name() {
        let nouns = [PASSWORDS, FOREIGN_PASSWORDS, JOINED_KEYS, MODIFIERS].concat();
        let others = [
            "pass",
            "secret",
            "token",
            "key",
            "credential",
            "pin",
            "otp",
            "totp",
            "cvv",
            "cvc",
            "csc",
            "code",
            "authorization",
            "cookie",
            "hash",
            "digest",
            "password1",
            "cvv2",
        ];
        for name in nouns.into_iter().chain(others) {
            assert!(
                may_end_name(name.as_bytes()) && may_end_secret(name.as_bytes()),
                "{name}"
            );
        }
        let parameters = PARAMETERS.iter().map(|(name, _)| *name);
        for name in parameters
            .chain(SESSION_IDS.iter().copied())
            .chain(["session_id", "sid", "pass", "pw"])
        {
            let text = format!("................&{name}=x");
            assert!(hints(text.as_bytes()).intersects(Hints::ASSIGNMENT), "{text}");
            assert!(
                may_end_parameter(name.as_bytes()) || may_end_secret(name.as_bytes()),
                "{name}"
            );
        }
        for plural in [
            "passwords",
            "pwds",
            "passphrases",
            "passcodes",
            "secrets",
            "tokens",
            "keys",
            "credentials",
            "codes",
            "cookies",
        ] {
            assert!(
                may_end_name(plural.as_bytes()) && may_end_secret(plural.as_bytes()),
                "{plural}"
            );
        }
    }
}
