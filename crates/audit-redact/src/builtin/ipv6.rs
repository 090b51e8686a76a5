//! IPv6 addresses (RFC 4291).

use std::net::Ipv6Addr;

use crate::scan::edge::{blocked_after, blocked_before};
use crate::scan::{Span, Subject};
use crate::work;

/// Longest address, with an IPv4 address at its end.
const ADDRESS_BYTES_MAX: usize = 45;

pub(super) fn find(subject: Subject<'_>, mut hit: impl FnMut(Span)) {
    let text = subject.text;
    let bytes = text.as_bytes();
    let belongs = |byte: &u8| byte.is_ascii_hexdigit() || matches!(byte, b':' | b'.');
    let mut at = 0;
    while let Some(offset) = bytes[at..].iter().position(belongs) {
        let start = at + offset;
        let end = start + bytes[start..].iter().take_while(|byte| belongs(byte)).count();
        work::bytes_read(end - at);
        at = end;
        // A colon before the address separates it from a name, a colon or dot behind it ends a clause.
        let run = text[start..end].trim_end_matches('.');
        let candidates = [
            run,
            run.strip_suffix(':').unwrap_or(run),
            run.strip_prefix(':').unwrap_or(run),
        ];
        let Some(address) = candidates.into_iter().find(|address| is_address(address)) else {
            continue;
        };
        let start = if address.len() < run.len() && run.ends_with(address) {
            start + run.len() - address.len()
        } else {
            start
        };
        let end = start + address.len();
        if !blocked_before(text, start) && !blocked_after(text, end) {
            hit(Span::new(start, end));
        }
    }
}

/// A path such as `cafe::bad` in a program has no digit.
fn is_address(text: &str) -> bool {
    text.len() <= ADDRESS_BYTES_MAX
        && text.bytes().any(|byte| byte.is_ascii_digit())
        && text.contains(':')
        && text.parse::<Ipv6Addr>().is_ok()
}

#[cfg(test)]
mod tests {
    use super::super::found_in;
    use super::*;

    #[test]
    fn addresses_are_found_and_times_and_paths_are_not() {
        for (text, address) in [
            ("from 2001:db8::1, port 5", Some("2001:db8::1")),
            ("[2001:db8:0:0:1:0:0:1]:443", Some("2001:db8:0:0:1:0:0:1")),
            ("ip:2001:db8::1", Some("2001:db8::1")),
            ("::ffff:203.0.113.9", Some("::ffff:203.0.113.9")),
            ("fe80::1%eth0", Some("fe80::1")),
            ("2001:db8::/32.", Some("2001:db8::")),
            ("at 12:34:56", None),
            ("77:9d:31:df:f2:03", None),
            ("cafe::bad", None),
            ("std::vec::Vec", None),
        ] {
            let found = found_in(text, |subject, hit| find(subject, hit));
            assert_eq!(found, address.into_iter().collect::<Vec<_>>(), "{text}");
        }
    }
}
