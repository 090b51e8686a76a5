//! Texts of requests: cursors, credentials, filters, times.

use crate::{seeds, text};
use audit_auth::{Credential, KeyKind, KeyText, ViewerSecret, viewer_token};
use audit_domain::{
    ActionGlob, CursorKey, Environment, Facets, FoldedText, Network, Search, SearchMode, SearchScope,
    SearchedText, Timestamp, ValuePattern, read_address,
};
use std::net::IpAddr;

const CURSORS: CursorKey = CursorKey::new([5; 32]);
const SCOPE: &str = "events of a project";

/// A cursor that was not given out is refused; one that was opens for its scope alone.
pub fn cursor(bytes: &[u8]) -> bool {
    if let Some(text) = text(bytes)
        && let Ok(place) = CURSORS.open(text, SCOPE)
    {
        assert_eq!(CURSORS.seal(&place, SCOPE), text, "a place has one text");
    }
    let sealed = CURSORS.seal(bytes, SCOPE);
    assert_eq!(CURSORS.open(&sealed, SCOPE).as_deref(), Ok(bytes));
    assert!(CURSORS.open(&sealed, "another").is_err());
    assert!(CURSORS.open_count(&sealed, SCOPE).is_err());
    true
}

/// Inputs of [`cursor`].
pub fn cursor_seeds() -> Vec<Vec<u8>> {
    [&b""[..], &[0; 24], b"2026-01-15"]
        .map(|place| CURSORS.seal(place, SCOPE).into_bytes())
        .to_vec()
}

/// A made-up viewer token is not verified, and what is a key is a text that the service gives out.
pub fn credential(bytes: &[u8]) -> bool {
    let Some(text) = text(bytes) else { return false };
    let parsed = Credential::from_authorization_header(text).or_else(|_| Credential::parse(text));
    match parsed {
        Ok(Credential::Key(key)) => {
            assert!(text.ends_with(key.as_str()));
            assert_eq!(
                KeyText::parse(key.as_str()).map(|again| again.hash()),
                Ok(key.hash())
            );
        }
        Ok(Credential::ViewerToken(token)) => {
            let secret = ViewerSecret::from_parts("k", [1; 32]);
            let verified = viewer_token::verify(&token, &[secret], Timestamp::from_seconds(1_768_473_000));
            assert!(verified.is_err(), "nobody signed it");
        }
        Err(_) => return false,
    }
    true
}

/// Inputs of [`credential`].
pub fn credential_seeds() -> Vec<Vec<u8>> {
    let kinds = [
        KeyKind::Master,
        KeyKind::Project(Environment::Live),
        KeyKind::Project(Environment::Test),
    ];
    let keys = kinds.map(|kind| KeyText::generate(kind, [9; KeyText::RANDOM_BYTES]));
    let keys = keys
        .iter()
        .map(|key| format!("Bearer {}", key.as_str()).into_bytes());
    keys.chain(seeds(&[
        "vt_eyJ0eXAiOiJKV1QiLCJhbGciOiJIUzI1NiIsImtpZCI6ImsifQ.eyJzdWIiOiJhIn0.AAAA",
        "bearer   vt_eyJhbGciOiJub25lIn0.e30.AA",
    ]))
    .collect()
}

/// Patterns of actions and addresses match what the slow way matches, and a search finds a text with its words. The first line of the input
/// is the pattern, the rest the text.
pub fn filter(bytes: &[u8]) -> bool {
    let Some((pattern, text)) = text(bytes).and_then(|text| text.split_once('\n')) else {
        return false;
    };
    if let Ok(glob) = pattern.parse::<ActionGlob>() {
        assert_eq!(glob.to_string(), pattern);
        assert_eq!(
            glob.matches(text),
            matches_slowly(pattern.as_bytes(), text.as_bytes())
        );
    }
    if let Ok(wanted) = ValuePattern::of_action(pattern) {
        let expected = match pattern.strip_suffix('*') {
            Some(beginning) => text.starts_with(beginning),
            None => text == pattern,
        };
        assert_eq!(wanted.matches(text), expected, "{pattern} {text}");
    }
    if let Ok(wanted) = ValuePattern::of_address(pattern) {
        let expected = match pattern.parse::<Network>() {
            Ok(network) => read_address(text).is_some_and(|address| begins_like(address, network)),
            Err(_) => text == pattern,
        };
        assert_eq!(wanted.matches(text), expected, "{pattern} {text}");
    }
    for scopes in [&[SearchScope::Names][..], &SearchScope::ALL[..3]] {
        let scopes = scopes.iter().copied().collect();
        let Ok(search) = Search::parse_in(SearchMode::Words, scopes, pattern) else {
            continue;
        };
        assert!(!search.words().is_empty());
        let folded = FoldedText::new(pattern);
        let words: Vec<&str> = folded.words().map(|word| word.text).collect();
        let facets = Facets::default().with_text(SearchedText::ActorName, words.join(" "));
        assert!(search.matches(&facets, &[]), "a text with all the words is found");
    }
    true
}

/// Whether an address has the first bits of a network, one by one.
fn begins_like(address: IpAddr, network: Network) -> bool {
    let bits = |address: IpAddr| match address {
        IpAddr::V4(address) => format!("4 {:032b}", address.to_bits()),
        IpAddr::V6(address) => format!("6 {:0128b}", address.to_bits()),
    };
    let shared = 2 + usize::from(network.prefix_bits());
    bits(network.first()).get(..shared) == bits(address).get(..shared)
}

/// Whether `*` of the pattern stands for any characters, by trying all.
fn matches_slowly(pattern: &[u8], text: &[u8]) -> bool {
    // Reachable positions of the pattern, by the length of what was read of the text.
    let mut reached = vec![false; pattern.len() + 1];
    reached[0] = true;
    let close = |reached: &mut Vec<bool>| {
        for at in 0..pattern.len() {
            if reached[at] && pattern[at] == b'*' {
                reached[at + 1] = true;
            }
        }
    };
    close(&mut reached);
    for byte in text {
        let mut next = vec![false; pattern.len() + 1];
        for at in 0..pattern.len() {
            if reached[at] && pattern[at] == b'*' {
                next[at] = true;
            } else if reached[at] && pattern[at] == *byte {
                next[at + 1] = true;
            }
        }
        close(&mut next);
        reached = next;
    }
    reached[pattern.len()]
}

/// Inputs of [`filter`].
pub fn filter_seeds() -> Vec<Vec<u8>> {
    seeds(&[
        "user.*\nuser.role.updated",
        "*.deleted\na.deleted",
        "a*b*c\nabcabc",
        "jane upd*\nJane was updated",
        "user.created\nuser.created",
        "203.0.113.0/23\n203.0.112.255",
        "::ffff:10.0.0.0/104\n::ffff:10.1.2.3",
        "2001:db8::/33\n2001:DB8:8000::1",
        "İ\n",
        "か\u{3099}く कर्म ﬁ\n",
    ])
}

/// A time that is read is written in one form, which is read as the same time.
pub fn time(bytes: &[u8]) -> bool {
    let Some(Ok(time)) = text(bytes).map(Timestamp::parse_rfc3339) else {
        return false;
    };
    let written = time.to_string();
    assert_eq!(
        Timestamp::parse_rfc3339(&written).map(|again| again.to_string()),
        Ok(written)
    );
    true
}

/// Inputs of [`time`].
pub fn time_seeds() -> Vec<Vec<u8>> {
    seeds(&[
        "2026-01-15T10:30:00Z",
        "2026-01-15T10:30:00.123456789+23:59",
        "1970-01-01T00:00:00-00:00",
        "2016-12-31T23:59:59.999999Z",
    ])
}
