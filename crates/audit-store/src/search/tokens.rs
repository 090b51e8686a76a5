//! The tokens under which the index has an event.
//!
//! Token of a field value = letter of the field, 64 bits of hash over letter, ledger and value, in base 36. Equal values of
//! two ledgers or two fields have different posting lists. Token of a search word = letter of the text, ledger in base 36,
//! `_`, the word itself, because queries search for prefixes. Tokens find candidates;
//! [`audit_domain::EventFilter::matches`] decides.

use audit_domain::search::words;
use audit_domain::{Facets, SearchWord, SearchedText};
use audit_index::Term;
use sha2::{Digest, Sha256};

/// Raise it when the tokens of an event change: an index with other tokens is then rebuilt.
pub(crate) const VERSION: u32 = 1;

/// The tokens of an event.
#[derive(Clone, Debug)]
pub(crate) struct Tokens {
    /// First the tokens of [`Self::facets`], then those of ledger and idempotency key, for which PostgreSQL has B-trees.
    text: String,
    facets_bytes: usize,
}

impl Tokens {
    /// Of an event of a ledger, with the identity of its idempotency key.
    pub(crate) fn of(ledger_id: i64, facets: &Facets<'_>, key_hash: Option<&[u8]>) -> Self {
        /// More than most events need.
        const TOKENS_BYTES: usize = 416;
        let mut text = String::with_capacity(TOKENS_BYTES);
        push_facet_tokens(&mut text, ledger_id, facets);
        let facets_bytes = text.len();
        text.push(' ');
        push_identity_tokens(&mut text, ledger_id, key_hash);
        Self { text, facets_bytes }
    }

    /// All tokens, for SQLite's index.
    pub(crate) fn as_str(&self) -> &str {
        &self.text
    }

    /// [`Self::as_str`], owned.
    pub(crate) fn into_text(self) -> String {
        self.text
    }

    /// Field values and search words, for both databases.
    pub(crate) fn facets(&self) -> &str {
        &self.text[..self.facets_bytes]
    }
}

/// Longer words are truncated.
const WORD_CHARS_MAX: usize = 64;

/// The field of a token.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Tenant,
    ActorId,
    ActorType,
    Action,
    ActionPrefix,
    Category,
    TargetId,
    TargetType,
    IdempotencyKey,
    Word(SearchedText),
}

impl Kind {
    const fn letter(self) -> char {
        match self {
            Self::Tenant => 't',
            Self::ActorId => 'a',
            Self::ActorType => 'b',
            Self::Action => 'x',
            Self::ActionPrefix => 'p',
            Self::Category => 'c',
            Self::TargetId => 'o',
            Self::TargetType => 'q',
            Self::IdempotencyKey => 'k',
            Self::Word(SearchedText::Action) => 'w',
            Self::Word(SearchedText::ActorName) => 'n',
            Self::Word(SearchedText::TargetName) => 'm',
        }
    }
}

/// The token of a value: 64 bits of hash, so that a billion values have less than one expected collision.
pub(crate) fn token(kind: Kind, ledger_id: i64, value: &[u8]) -> String {
    let mut text = String::with_capacity(14);
    push_token(&mut text, kind, ledger_id, value);
    text
}

fn push_token(text: &mut String, kind: Kind, ledger_id: i64, value: &[u8]) {
    let mut hash = Sha256::new();
    hash.update([kind.letter() as u8]);
    hash.update(ledger_id.to_be_bytes());
    hash.update(value);
    let digest: [u8; 32] = hash.finalize().into();
    let bits = digest[..8]
        .iter()
        .fold(0_u64, |bits, byte| bits << 8 | u64::from(*byte));
    text.push(kind.letter());
    push_base36(text, bits);
}

/// The token of every event of a ledger.
pub(crate) fn ledger_token(ledger_id: i64) -> String {
    let mut text = String::new();
    push_ledger_token(&mut text, ledger_id);
    text
}

fn push_ledger_token(text: &mut String, ledger_id: i64) {
    text.push('l');
    push_base36(text, ledger_id.unsigned_abs());
}

/// The token of a word of a searched text. Each of the three texts has tokens of its own, so that a reader who does not see
/// a text neither finds events by it nor measures it by the time of a search.
fn word_token(searched: SearchedText, ledger_id: i64, word: &str) -> String {
    let mut text = String::new();
    push_word_token(&mut text, searched, ledger_id, word);
    text
}

fn push_word_token(text: &mut String, searched: SearchedText, ledger_id: i64, word: &str) {
    text.push(Kind::Word(searched).letter());
    push_base36(text, ledger_id.unsigned_abs());
    text.push('_');
    // Bytes are at least as many as characters.
    let end = match word.len() > WORD_CHARS_MAX {
        true => word.char_indices().nth(WORD_CHARS_MAX),
        false => None,
    };
    text.push_str(end.map_or(word, |(end, _)| &word[..end]));
}

fn push_base36(text: &mut String, mut number: u64) {
    const DIGITS: &[u8; 36] = b"0123456789abcdefghijklmnopqrstuvwxyz";
    let mut digits = [0_u8; 13];
    let mut at = digits.len();
    loop {
        at -= 1;
        digits[at] = DIGITS[(number % 36) as usize];
        number /= 36;
        if number == 0 {
            break;
        }
    }
    text.push_str(std::str::from_utf8(&digits[at..]).unwrap_or_default());
}

/// Appends the tokens of an event's field values and search words, separated by spaces.
pub(crate) fn push_facet_tokens(text: &mut String, ledger_id: i64, facets: &Facets<'_>) {
    let Facets {
        action,
        category,
        tenant_id,
        actor_id,
        actor_type,
        actor_name: _, // Only searched.
        target_id,
        target_type,
        target_name: _, // Only searched.
    } = facets;
    push_token(text, Kind::Tenant, ledger_id, tenant_id.as_bytes());
    let mut push = |kind, value: &[u8]| {
        text.push(' ');
        push_token(text, kind, ledger_id, value);
    };
    let fields = [
        (Kind::ActorId, actor_id.as_ref()),
        (Kind::ActorType, actor_type.as_ref()),
        (Kind::Action, Some(action)),
        (Kind::Category, Some(category)),
        (Kind::TargetId, target_id.as_ref()),
        (Kind::TargetType, target_type.as_ref()),
    ];
    for (kind, value) in fields {
        if let Some(value) = value {
            push(kind, value.as_bytes());
        }
    }
    for (dot, _) in action.match_indices('.') {
        push(Kind::ActionPrefix, &action.as_bytes()[..=dot]);
    }
    let mut distinct = Vec::new();
    for searched in SearchedText::ALL {
        distinct.clear();
        distinct.extend(facets.searched_text(*searched).into_iter().flat_map(words));
        distinct.sort_unstable();
        distinct.dedup();
        for word in &distinct {
            text.push(' ');
            push_word_token(text, *searched, ledger_id, word);
        }
    }
}

/// Appends the tokens of ledger and idempotency key, for an index that replaces their B-trees. The key comes last.
pub(crate) fn push_identity_tokens(text: &mut String, ledger_id: i64, idempotency_hash: Option<&[u8]>) {
    push_ledger_token(text, ledger_id);
    if let Some(hash) = idempotency_hash {
        text.push(' ');
        push_token(text, Kind::IdempotencyKey, ledger_id, hash);
    }
}

/// Any of several values of one field.
pub(crate) fn any_of<'a>(kind: Kind, ledger_id: i64, values: impl Iterator<Item = &'a str>) -> Term {
    Term::AnyOf(
        values
            .map(|value| token(kind, ledger_id, value.as_bytes()))
            .collect(),
    )
}

/// A word of a search, in one of the texts that the reader sees.
pub(crate) fn searched(ledger_id: i64, word: &SearchWord, visible: &[SearchedText]) -> Term {
    let tokens = visible
        .iter()
        .map(|searched| word_token(*searched, ledger_id, &word.text))
        .collect();
    if word.is_prefix {
        Term::Prefix(tokens)
    } else {
        Term::AnyOf(tokens)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn equal_values_of_two_fields_or_ledgers_have_different_tokens() {
        let tokens = [
            token(Kind::Tenant, 1, b"x"),
            token(Kind::ActorId, 1, b"x"),
            token(Kind::Tenant, 2, b"x"),
            token(Kind::Tenant, 1, b"y"),
        ];
        assert_eq!(tokens.iter().collect::<BTreeSet<_>>().len(), tokens.len());
        assert!(tokens.iter().all(|token| {
            token
                .bytes()
                .all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit())
        }));
    }

    #[test]
    fn an_event_has_a_token_for_every_field_and_word() {
        let facets = Facets {
            action: "user.role.updated".into(),
            category: "admin".into(),
            tenant_id: "t".into(),
            actor_id: Some("a".into()),
            actor_type: Some("user".into()),
            actor_name: Some("Alice O'Neil".into()),
            ..Facets::default()
        };
        let mut text = String::new();
        push_facet_tokens(&mut text, 37, &facets);
        text.push(' ');
        push_identity_tokens(&mut text, 37, Some(b"k"));
        let tokens: Vec<_> = text.split(' ').collect();
        assert_eq!(tokens.len(), 1 + 5 + 2 + 6 + 1, "{text}");
        for expected in ["l11", "n11_alice", "n11_neil", "w11_updated"] {
            assert!(tokens.contains(&expected), "{expected} in {text}");
        }
        assert!(tokens.contains(&token(Kind::ActionPrefix, 37, b"user.role.").as_str()));
    }

    /// The tokens and their version in one assertion: a change of tokens must raise the version, so that stored indexes are
    /// rebuilt.
    #[test]
    fn every_facet_has_its_tokens() {
        let full = Facets {
            action: "a.b".into(),
            category: "auth".into(),
            tenant_id: "t".into(),
            actor_id: Some("i".into()),
            actor_type: Some("user".into()),
            actor_name: Some("n".into()),
            target_id: Some("o".into()),
            target_type: Some("q".into()),
            target_name: Some("m".into()),
        };
        let mut tokens = String::new();
        push_facet_tokens(&mut tokens, 37, &full);
        let version_1 = "t3tcpqgmwlrlb7 a3ts073ey1pe22 b1yw0ie2p38y6e x29538v0z5h0kk c1rfz0knjor00r o18hkob0tm98ps \
            q2w0z12zrpsmmb ptrel1m9jqvnz w11_a w11_b n11_n m11_m";
        assert_eq!((VERSION, tokens.as_str()), (1, version_1));
    }

    #[test]
    fn a_long_word_is_truncated() {
        for (letter, chars) in [
            ("a", 64),
            ("é", 64),
            ("é", 33),
            ("a", 65),
            ("é", 65),
            ("\u{1f600}", 200),
        ] {
            let token = word_token(SearchedText::ActorName, 37, &letter.repeat(chars));
            assert_eq!(token, format!("n11_{}", letter.repeat(chars.min(WORD_CHARS_MAX))));
        }
    }
}
