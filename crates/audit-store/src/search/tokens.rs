//! The tokens under which the index has an event.
//!
//! Every token begins with the ledger, so that the tokens of a ledger are contiguous in a segment, and equal values of two
//! ledgers have different posting lists:
//!
//! ```text
//! token of a ledger      = number of digits ('a' for 1), ledger in base 64
//! token of a field value = token of the ledger, letter of the field, 64 bits of hash over letter, ledger and value in base 64
//! token of an address    = token of the ledger, letter of the version, the address in hex, because queries search for networks
//! token of a whole text  = as of a field value, for ids and e-mail addresses that are searched and are no field of a filter
//! token of a search word = token of the ledger, letter of the text, the key itself, because queries search for prefixes
//! ```
//!
//! [`Word::keys`] says which keys a word has. The tokens of ledgers order like their numbers, and none is a prefix of another one. New
//! ledgers have the highest numbers, so the range of an older segment's tokens excludes them. Tokens find candidates;
//! [`audit_domain::EventFilter::matches`] decides.

use audit_domain::{
    Category, Facet, Facets, Lookup, Network, SearchScope, SearchWord, SearchedText, TopField, Word,
    WordExtent, read_address,
};
use audit_index::Term;
use audit_sha256::{Batch, Digest, digest};
use std::net::IpAddr;

/// Raise it when the tokens of an event change: an index with other tokens is then rebuilt.
pub(crate) const VERSION: u32 = 7;

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
        const TOKENS_BYTES: usize = 512;
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

/// What a token stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// A value of a facet, of targets that of the first.
    Is(Facet),
    FurtherTargetId,
    FurtherTargetType,
    ActionPrefix,
    IdempotencyKey,
    Word(SearchedText),
    Whole(SearchedText),
}

impl Kind {
    const fn letter(self) -> char {
        match self {
            Self::Is(Facet::TenantId) => 't',
            Self::Is(Facet::ActorId) => 'a',
            Self::Is(Facet::ActorType) => 'b',
            Self::Is(Facet::Action) => 'x',
            Self::Is(Facet::Category) => 'c',
            Self::Is(Facet::TargetId) => 'o',
            Self::Is(Facet::TargetType) => 'q',
            Self::Is(Facet::IpAddress) => 'i',
            Self::Is(Facet::SessionId) => 's',
            Self::Is(Facet::Outcome) => 'r',
            Self::FurtherTargetId => 'O',
            Self::FurtherTargetType => 'Q',
            Self::ActionPrefix => 'p',
            Self::IdempotencyKey => 'k',
            Self::Word(SearchedText::Action) => 'w',
            Self::Word(SearchedText::ActorName) => 'n',
            Self::Word(SearchedText::TargetName) => 'm',
            Self::Word(SearchedText::ActorId) => 'A',
            Self::Word(SearchedText::PartyId) => 'B',
            Self::Word(SearchedText::TargetId) => 'U',
            Self::Word(SearchedText::FurtherTargetIds) => 'P',
            // Never made: it is found as a whole.
            Self::Word(SearchedText::ActorEmail) => 'F',
            Self::Whole(SearchedText::PartyId) => 'J',
            Self::Whole(SearchedText::ActorEmail) => 'E',
            Self::Whole(SearchedText::ActorId) => Self::Is(Facet::ActorId).letter(),
            Self::Whole(SearchedText::TargetId) => Self::Is(Facet::TargetId).letter(),
            Self::Whole(SearchedText::FurtherTargetIds) => Self::FurtherTargetId.letter(),
            // Never made: only words of these are found.
            Self::Whole(SearchedText::Action | SearchedText::ActorName | SearchedText::TargetName) => 'N',
        }
    }

    /// The tokens of the facet's values beside the first. They are others, because a summary counts the tokens of the first.
    pub(crate) const fn further(facet: Facet) -> Option<Self> {
        match facet {
            Facet::TargetId => Some(Self::FurtherTargetId),
            Facet::TargetType => Some(Self::FurtherTargetType),
            Facet::TenantId
            | Facet::ActorId
            | Facet::ActorType
            | Facet::Action
            | Facet::Category
            | Facet::IpAddress
            | Facet::SessionId
            | Facet::Outcome => None,
        }
    }
}

/// The token of a value: 64 bits of hash, so that a billion values have less than one expected collision.
pub(crate) fn token(kind: Kind, ledger_id: i64, value: &[u8]) -> String {
    let mut text = String::with_capacity(20);
    push_token(&mut text, kind, ledger_id, value);
    text
}

fn push_token(text: &mut String, kind: Kind, ledger_id: i64, value: &[u8]) {
    let prefix = hash_prefix(kind, ledger_id);
    push_hashed(text, kind, &ledger_token(ledger_id), &digest(&[&prefix, value]));
}

/// What is hashed before a value: the letter of the field, and the ledger.
fn hash_prefix(kind: Kind, ledger_id: i64) -> [u8; 9] {
    let mut prefix = [kind.letter() as u8; 9];
    prefix[1..].copy_from_slice(&ledger_id.to_be_bytes());
    prefix
}

/// Appends the token with the first 64 bits of a hash, behind that of the ledger.
fn push_hashed(text: &mut String, kind: Kind, ledger: &str, digest: &Digest) {
    let bits = digest[..8]
        .iter()
        .fold(0_u64, |bits, byte| bits << 8 | u64::from(*byte));
    text.push_str(ledger);
    text.push(kind.letter());
    push_base64(text, bits, HASH_DIGITS);
}

/// The letter of the version, which no [`Kind`] has, and the hex digits of an address.
fn digits_of(address: IpAddr) -> String {
    match address {
        IpAddr::V4(address) => format!("4{:08x}", address.to_bits()),
        IpAddr::V6(address) => format!("6{:032x}", address.to_bits()),
    }
}

/// The prefixes of the tokens of a network's addresses, 8 at most, which no other tokens have. That of an address is its token.
pub(crate) fn network_prefixes(ledger_id: i64, network: &Network) -> Vec<String> {
    const DIGIT_BITS: usize = 4;
    let digits = digits_of(network.first());
    let bits = usize::from(network.prefix_bits());
    let (whole, rest) = digits.split_at(1 + bits / DIGIT_BITS);
    let prefix = ledger_token(ledger_id) + whole;
    if bits.is_multiple_of(DIGIT_BITS) {
        return vec![prefix];
    }
    // The other bits of the next digit are 0 in the first address.
    let first = rest.chars().next().and_then(|digit| digit.to_digit(16));
    let first = first.unwrap_or_default();
    let end = first + (1 << (DIGIT_BITS - bits % DIGIT_BITS));
    let next = (first..end).filter_map(|digit| char::from_digit(digit, 16));
    next.map(|digit| format!("{prefix}{digit}")).collect()
}

/// The token of every event of a ledger.
pub(crate) fn ledger_token(ledger_id: i64) -> String {
    let mut text = String::new();
    push_ledger_token(&mut text, ledger_id);
    text
}

fn push_ledger_token(text: &mut String, ledger_id: i64) {
    let number = ledger_id.unsigned_abs();
    let digits = (u64::BITS - number.leading_zeros()).div_ceil(DIGIT_BITS).max(1);
    text.push(char::from(b'a' + digits as u8 - 1));
    push_base64(text, number, digits);
}

/// The ledger with which a token begins.
pub(crate) fn ledger_of(token: &[u8]) -> Option<i64> {
    let (count, rest) = token.split_first()?;
    let digits = rest.get(..usize::from(count.checked_sub(b'a')?) + 1)?;
    digits.iter().try_fold(0_i64, |number, digit| {
        let value = DIGITS.binary_search(digit).ok()?;
        number
            .checked_mul(1 << DIGIT_BITS)?
            .checked_add_unsigned(value as u64)
    })
}

/// Whether longer words can have the token of a word of a search without matching it.
pub(crate) fn shares_its_token(word: &SearchWord) -> bool {
    let chars = word.text.chars().count();
    match word.extent {
        WordExtent::Prefix => chars > WORD_CHARS_MAX,
        WordExtent::Whole => chars >= WORD_CHARS_MAX,
        WordExtent::Part => false, // Its keys have two characters.
    }
}

/// The tokens of the categories, in their order. Every event has one of them.
pub(crate) fn category_tokens(ledger_id: i64) -> Vec<String> {
    let categories = Category::ALL.iter();
    categories
        .map(|category| token(Kind::Is(Facet::Category), ledger_id, category.as_str().as_bytes()))
        .collect()
}

/// The prefix of the tokens of a field, which no other token has.
pub(crate) fn field_prefix(ledger_id: i64, field: TopField) -> String {
    let mut prefix = ledger_token(ledger_id);
    prefix.push(Kind::Is(field.facet()).letter());
    prefix
}

/// The token of a word of a searched text. Each of the texts has tokens of its own, so that a reader who does not see
/// a text neither finds events by it nor measures it by the time of a search.
fn word_token(searched: SearchedText, ledger_id: i64, word: &str) -> String {
    let mut text = String::new();
    push_word_token(&mut text, searched, &ledger_token(ledger_id), word);
    text
}

fn push_word_token(text: &mut String, searched: SearchedText, ledger: &str, word: &str) {
    text.push_str(ledger);
    text.push(Kind::Word(searched).letter());
    // Bytes are at least as many as characters.
    let end = match word.len() > WORD_CHARS_MAX {
        true => word.char_indices().nth(WORD_CHARS_MAX),
        false => None,
    };
    text.push_str(end.map_or(word, |(end, _)| &word[..end]));
}

/// In the order of their bytes.
const DIGITS: &[u8; 64] = b"-0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ_abcdefghijklmnopqrstuvwxyz";
const DIGIT_BITS: u32 = 6;
/// Digits of 64 bits.
const HASH_DIGITS: u32 = u64::BITS.div_ceil(DIGIT_BITS);

/// Appends the lowest `digits` digits of a number, the highest first.
fn push_base64(text: &mut String, number: u64, digits: u32) {
    let mut buffer = [0; HASH_DIGITS as usize];
    let (written, _) = buffer.split_at_mut(digits as usize);
    let mut rest = number;
    for digit in written.iter_mut().rev() {
        *digit = DIGITS[(rest & ((1 << DIGIT_BITS) - 1)) as usize];
        rest >>= DIGIT_BITS;
    }
    text.push_str(std::str::from_utf8(written).expect("digits are ASCII"));
}

/// Whether the whole values of a text have tokens of their own. Those of a facet have the facet's.
const fn has_token_as_a_whole(searched: SearchedText) -> bool {
    matches!(searched, SearchedText::PartyId | SearchedText::ActorEmail)
}

/// Appends the tokens of an event's field values and search words, separated by spaces.
pub(crate) fn push_facet_tokens(text: &mut String, ledger_id: i64, facets: &Facets<'_>) {
    let ledger = ledger_token(ledger_id);
    let address = facets.get(Facet::IpAddress).and_then(read_address);
    // Together, because that takes less time than one after the other.
    let mut values = Batch::with_capacity(HASHED_TOKENS);
    let mut kinds = Vec::with_capacity(HASHED_TOKENS);
    for_each_hashed(facets, address.is_some(), |kind, value| {
        kinds.push(kind);
        values.add(|message| {
            message.extend_from_slice(&hash_prefix(kind, ledger_id));
            message.extend_from_slice(value);
        });
    });
    for (kind, digest) in kinds.into_iter().zip(values.digests()) {
        if !text.is_empty() {
            text.push(' ');
        }
        push_hashed(text, kind, &ledger, &digest);
    }
    if let Some(address) = address {
        text.push(' ');
        text.push_str(&ledger);
        text.push_str(&digits_of(address));
    }
    push_word_tokens(text, &ledger, facets);
}

/// Hashed tokens that most events have at most.
const HASHED_TOKENS: usize = 24;
/// Words that most events have at most.
const WORDS: usize = 32;

/// Calls `visit` with each value that has a hashed token.
fn for_each_hashed(facets: &Facets<'_>, is_address_read: bool, mut visit: impl FnMut(Kind, &[u8])) {
    for facet in Facet::ALL {
        if let Some(value) = facets.get(*facet)
            && !(is_address_read && *facet == Facet::IpAddress)
        {
            visit(Kind::Is(*facet), value.as_bytes());
        }
        if let Some(kind) = Kind::further(*facet) {
            facets
                .further(*facet)
                .for_each(|value| visit(kind, value.as_bytes()));
        }
    }
    let action = facets.get(Facet::Action).unwrap_or_default();
    for (dot, _) in action.match_indices('.') {
        visit(Kind::ActionPrefix, &action.as_bytes()[..=dot]);
    }
    for searched in SearchedText::ALL {
        if has_token_as_a_whole(*searched) {
            let whole = facets.searched_values(*searched);
            whole.for_each(|value| visit(Kind::Whole(*searched), value.as_bytes()));
        }
    }
}

/// Appends the tokens of the words of all searched texts.
fn push_word_tokens(text: &mut String, ledger: &str, facets: &Facets<'_>) {
    let mut folded = Vec::with_capacity(SearchedText::ALL.len());
    for searched in SearchedText::ALL {
        let values = facets.searched_values(*searched);
        folded.extend(values.filter_map(|value| Some((*searched, searched.folded(value)?))));
    }
    let mut keys = Vec::with_capacity(WORDS);
    for (searched, folded) in &folded {
        let words = folded.words().flat_map(Word::keys);
        keys.extend(words.map(|key| (*searched as u8, *searched, key)));
    }
    keys.sort_unstable_by_key(|(number, _, key)| (*number, *key));
    keys.dedup();
    for (_, searched, key) in keys {
        text.push(' ');
        push_word_token(text, searched, ledger, key);
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

/// One of these prefixes of tokens of a ledger. Where an index has too many of their tokens, every event of the ledger.
pub(crate) fn bounded(ledger_id: i64, prefixes: Vec<String>) -> Term {
    Term::BoundedPrefix {
        prefixes,
        otherwise: category_tokens(ledger_id),
    }
}

/// What a search looks up, in one of the texts that the reader sees.
pub(crate) fn searched(ledger_id: i64, lookup: Lookup<'_>, visible: &[SearchedText]) -> Term {
    let of_words = visible
        .iter()
        .filter(|searched| searched.scope() != SearchScope::Email)
        .map(|searched| word_token(*searched, ledger_id, lookup.key));
    let whole = visible.iter().filter(|searched| searched.is_found_as_a_whole());
    let of_whole_texts = whole.flat_map(|searched| {
        let forms = lookup.forms.iter();
        forms.map(|form| token(Kind::Whole(*searched), ledger_id, form.as_bytes()))
    });
    let tokens = of_words.chain(of_whole_texts).collect();
    if lookup.is_prefix {
        // No token of a whole text is a prefix of another one.
        bounded(ledger_id, tokens)
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
            token(Kind::Is(Facet::TenantId), 1, b"x"),
            token(Kind::Is(Facet::ActorId), 1, b"x"),
            token(Kind::Is(Facet::TenantId), 2, b"x"),
            token(Kind::Is(Facet::TenantId), 1, b"y"),
        ];
        assert_eq!(tokens.iter().collect::<BTreeSet<_>>().len(), tokens.len());
        let is_separator = |byte: u8| byte == b' ' || byte == b'\n';
        assert!(tokens.iter().all(|token| !token.bytes().any(is_separator)));
    }

    #[test]
    fn an_event_has_a_token_for_every_field_and_word() {
        let facets = Facets::default()
            .with_text(SearchedText::ActorName, "Alice O'Neil")
            .with(Facet::Action, "user.role.updated")
            .with(Facet::Category, "admin")
            .with(Facet::TenantId, "t")
            .with(Facet::ActorId, "a")
            .with(Facet::ActorType, "user");
        let mut text = String::new();
        push_facet_tokens(&mut text, 37, &facets);
        text.push(' ');
        push_identity_tokens(&mut text, 37, Some(b"k"));
        let tokens: Vec<_> = text.split(' ').collect();
        assert_eq!(tokens.len(), 1 + 5 + 2 + 6 + 1 + 1, "{text}");
        for expected in ["a_", "a_nalice", "a_nneil", "a_wupdated", "a_Aa"] {
            assert!(tokens.contains(&expected), "{expected} in {text}");
        }
        assert!(tokens.contains(&token(Kind::ActionPrefix, 37, b"user.role.").as_str()));
    }

    #[test]
    fn a_network_is_prefixes_of_the_tokens_of_its_addresses() {
        for (network, prefixes) in [
            ("203.0.113.7", &["a_4cb007107"][..]),
            ("203.0.113.0/24", &["a_4cb0071"]),
            ("203.0.112.0/23", &["a_4cb0070", "a_4cb0071"]),
            ("10.0.0.0/7", &["a_40a", "a_40b"]),
            (
                "128.0.0.0/1",
                &["a_48", "a_49", "a_4a", "a_4b", "a_4c", "a_4d", "a_4e", "a_4f"],
            ),
            ("0.0.0.0/0", &["a_4"]),
            ("2001:db8::/32", &["a_620010db8"]),
            ("::1", &["a_600000000000000000000000000000001"]),
            ("::/0", &["a_6"]),
        ] {
            let found = network_prefixes(37, &network.parse().unwrap());
            assert_eq!(found, prefixes, "{network}");
        }
        let facets = Facets::default().with(Facet::IpAddress, "::ffff:203.0.113.7");
        assert_eq!(Tokens::of(37, &facets, None).facets().trim(), "a_4cb007107");
    }

    /// The tokens and their version in one assertion: a change of tokens must raise the version, so that stored indexes are
    /// rebuilt.
    #[test]
    fn every_facet_has_its_tokens() {
        let mut full = Facets::default()
            .with_text(SearchedText::ActorName, "N\u{303} 田中太郎")
            .with_text(SearchedText::TargetName, "m")
            .with_text(SearchedText::PartyId, "Party-1")
            .with_text(SearchedText::FurtherTargetIds, "p/2")
            .with_text(SearchedText::FurtherTargetIds, "q 2 0123456789abcdefX")
            .with_text(SearchedText::ActorEmail, "e@x");
        for facet in Facet::ALL {
            full = full.with(
                *facet,
                if *facet == Facet::Action {
                    "a.b"
                } else {
                    facet.as_str()
                },
            );
        }
        let mut tokens = String::new();
        push_facet_tokens(&mut tokens, 37, &full);
        let version_7 = "a_t49ZiCBTYwuu a_aAs2mo7fTnq7 a_b8G15stPjCS4 a_x8Fqrg-wbasZ a_c3BnVPzOKC1p a_o04HOK49r4Nm \
             a_q770Z7ksipM9 a_i7XVROpvumAw a_s0OgZCq6Cs41 a_r4aQBwYiqKXb a_OB-7jw4ZJ8KC a_O4CzGysRmUCW a_p2ORmGklw6bE \
             a_wa a_wb a_nn a_n中太 a_n太郎 a_n田中 a_n郎 a_mm a_Aactor a_Aid a_JD9LiKEsuwui a_B1 a_Bparty \
             a_Uid a_Utarget a_P2 a_Pp a_EDqW4M69u0Dd";
        let sorted = |tokens: &str| -> BTreeSet<String> { tokens.split(' ').map(str::to_owned).collect() };
        assert_eq!((VERSION, sorted(&tokens)), (7, sorted(version_7)));
    }

    #[test]
    fn whole_texts_that_are_no_facet_have_tokens_of_their_own() {
        for searched in SearchedText::ALL {
            let of_facet = |facet: &Facet| {
                [Some(facet.field().as_str()), facet.further_path()].contains(&Some(searched.as_str()))
            };
            let expected = searched.is_found_as_a_whole() && !Facet::ALL.iter().any(of_facet);
            assert_eq!(has_token_as_a_whole(*searched), expected, "{searched:?}");
        }
    }

    #[test]
    fn each_kind_of_token_has_a_letter_of_its_own() {
        let texts = SearchedText::ALL.iter().copied();
        let whole = texts
            .clone()
            .filter(|text| has_token_as_a_whole(*text))
            .map(Kind::Whole);
        let values = Facet::ALL.iter().copied().map(Kind::Is);
        let kinds = values.chain(texts.map(Kind::Word)).chain(whole);
        let further = Facet::ALL.iter().filter_map(|facet| Kind::further(*facet));
        let kinds: Vec<Kind> = kinds
            .chain(further)
            .chain([Kind::ActionPrefix, Kind::IdempotencyKey])
            .collect();
        let letters: BTreeSet<char> = kinds.iter().map(|kind| kind.letter()).collect();
        assert_eq!(letters.len(), kinds.len());
    }

    #[test]
    fn tokens_of_ledgers_order_like_their_numbers_and_none_begins_another() {
        let numbers = [
            0,
            1,
            9,
            37,
            63,
            64,
            65,
            4_095,
            4_096,
            1 << 22,
            1 << 40,
            i64::MAX - 1,
            i64::MAX,
        ];
        let tokens: Vec<String> = numbers.iter().map(|number| ledger_token(*number)).collect();
        for (one, next) in tokens.iter().zip(&tokens[1..]) {
            assert!(one < next && !next.starts_with(one.as_str()), "{one} {next}");
        }
        for (number, token) in numbers.iter().zip(&tokens) {
            assert_eq!(ledger_of(token.as_bytes()), Some(*number), "{token}");
            let word = word_token(SearchedText::Action, *number, "zzz");
            assert_eq!(ledger_of(word.as_bytes()), Some(*number), "{word}");
        }
        for other in [
            "",
            "a",
            "A",
            "a ",
            "c--",
            "zzzzzzzzzzzzzzzzzzzzzzzzzzzz",
            "kzzzzzzzzzzz",
            "\u{e9}",
        ] {
            assert_eq!(ledger_of(other.as_bytes()), None, "{other}");
        }
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
            assert_eq!(token, format!("a_n{}", letter.repeat(chars.min(WORD_CHARS_MAX))));
        }
    }
}
