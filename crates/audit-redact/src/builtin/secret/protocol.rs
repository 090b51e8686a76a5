//! Passwords in commands of protocols: `LOGIN` of IMAP (RFC 9051), `PASS` of POP3 and FTP, `AUTH PLAIN` of SMTP (RFC 4616).

use super::credentials::decoded;
use super::name::Name;
use super::spoken;
use crate::scan::Span;

const PROTOCOLS: &[&str] = &["imap", "pop", "ftp", "smtp", "irc", "redis", "USER "];
/// Where the protocol, or the command `USER`, is searched for.
const REACH_BYTES: usize = 128;

/// The password behind the command that ends before the space at `space`.
pub(super) fn at(text: &str, space: usize) -> Option<Span> {
    let before = &text[..space];
    if before.ends_with(" PLAIN") {
        let credentials = word_at(text, space + 1)?;
        let decoded = decoded(&text[credentials.start..credentials.end]);
        let parts = decoded.split(|byte| *byte == 0).count();
        return (parts == 3).then_some(credentials);
    }
    let is_login = before.ends_with("LOGIN");
    if !(is_login || before.ends_with("PASS") || before.ends_with(" AUTH")) || !is_behind_protocol(before) {
        return None;
    }
    let user = word_at(text, space + 1)?;
    let password = if is_login {
        word_at(text, user.end + 1)?
    } else {
        user
    };
    let value = &text[password.start..password.end];
    spoken::is_secret(Name::Password, value).then_some(password)
}

fn word_at(text: &str, start: usize) -> Option<Span> {
    let rest = text.get(start..)?;
    let rest = rest.strip_prefix('"').unwrap_or(rest);
    let start = text.len() - rest.len();
    let ends = |ch: char| ch.is_whitespace() || matches!(ch, '"' | '\'' | '\\');
    let len = rest.find(ends).unwrap_or(rest.len());
    crate::work::bytes_read(len);
    (len > 0).then(|| Span::new(start, start + len))
}

fn is_behind_protocol(before: &str) -> bool {
    let before = &before.as_bytes()[before.len().saturating_sub(REACH_BYTES)..];
    PROTOCOLS.iter().any(|name| {
        before
            .windows(name.len())
            .any(|part| part.eq_ignore_ascii_case(name.as_bytes()))
    })
}
