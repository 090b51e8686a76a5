//! Passwords among the arguments of a call: `define('DB_PASSWORD', '…')`, `new PDO('…', 'user', '…')`.

use super::name::Name;
use super::spoken;
use super::value::{Place, secret_in};
use crate::scan::Span;
use crate::work;

/// Functions that log in, with the index of the password among their arguments.
const FUNCTIONS: &[(&str, usize)] = &[
    ("pdo", 2),
    ("pdo->__construct", 2),
    ("mysqli", 2),
    ("mysqli->__construct", 2),
    ("mysqli_connect", 2),
    ("mysql_connect", 2),
    ("drivermanager.getconnection", 2),
    ("ldap_bind", 2),
    ("ftp_login", 2),
    ("imap_open", 2),
    ("odbc_connect", 2),
    ("oci_connect", 1),
    ("ssh2_auth_password", 2),
    ("login", 1),
    ("httpbasicauth", 1),
];

/// The secret among the arguments behind the bracket at `open`.
pub(super) fn at(text: &str, open: usize) -> Option<Span> {
    const NAME_BYTES_MAX: usize = 32;
    let bytes = text.as_bytes();
    let belongs = |byte: &&u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'>' | b'.');
    let len = bytes[..open]
        .iter()
        .rev()
        .take(NAME_BYTES_MAX)
        .take_while(belongs)
        .count();
    let function = &text[open - len..open];
    if function.is_empty()
        || !matches!(
            &bytes[open + 1..],
            [b'"' | b'\'' | b'$', ..] | [b' ', b'"' | b'\'', ..]
        )
    {
        return None;
    }
    let is_it = |name: &str| {
        let start = function.len().checked_sub(name.len());
        start.is_some_and(|start| {
            function.as_bytes()[start..].eq_ignore_ascii_case(name.as_bytes())
                && !function[..start].ends_with(|ch: char| ch.is_ascii_alphanumeric() || ch == '_')
        })
    };
    if let Some((_, index)) = FUNCTIONS.iter().find(|(name, _)| is_it(name)) {
        let password = argument(text, open + 1, *index)?;
        let is_long = spoken::is_secret(Name::Password, &text[password.start..password.end]);
        return secret_in(Name::Password, text, password, Place::Value).filter(|_| *index > 1 || is_long);
    }
    let name = argument(text, open + 1, 0)?;
    let kind = Name::of(&text[name.start..name.end])?;
    let value = argument(text, open + 1, 1)?;
    let is_secret = match kind {
        Name::Password => spoken::is_secret(kind, &text[value.start..value.end]),
        Name::Token | Name::Secret => true,
        _ => false,
    };
    secret_in(kind, text, value, Place::Value).filter(|_| is_secret)
}

/// The string that is the argument with this index.
fn argument(text: &str, start: usize, index: usize) -> Option<Span> {
    const ARGUMENT_BYTES_MAX: usize = 256;
    let bytes = text.as_bytes();
    let mut at = start;
    for current in 0..=index {
        at += usize::from(bytes.get(at) == Some(&b' '));
        let quote = *bytes.get(at)?;
        let is_string = matches!(quote, b'"' | b'\'');
        let from = at + usize::from(is_string);
        let rest = bytes.get(from..)?.iter().take(ARGUMENT_BYTES_MAX);
        let len = if is_string {
            rest.clone().position(|byte| *byte == quote)?
        } else {
            rest.clone().position(|byte| matches!(byte, b',' | b')'))?
        };
        work::bytes_read(len);
        if current == index {
            return is_string.then(|| Span::new(from, from + len));
        }
        at = from + len + usize::from(is_string);
        if bytes.get(at) != Some(&b',') {
            return None;
        }
        at += 1;
    }
    None
}
