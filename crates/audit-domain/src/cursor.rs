//! Where the next page of a query begins.

use crate::{EventId, Timestamp};
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;
use std::fmt;

/// A place in the order of events: `occurred_at` descending, then id descending.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Position {
    /// When the event at this place happened.
    pub occurred_at: Timestamp,
    /// Its id.
    pub id: EventId,
}

impl Position {
    const BYTES: usize = 8 + 16;

    /// The position as a cursor holds it.
    pub fn to_bytes(self) -> [u8; Self::BYTES] {
        let mut bytes = [0; Self::BYTES];
        bytes[..8].copy_from_slice(&self.occurred_at.as_micros().to_be_bytes());
        bytes[8..].copy_from_slice(&self.id.to_bytes());
        bytes
    }

    /// From the bytes of [`Self::to_bytes`].
    ///
    /// # Errors
    /// [`CursorError`] when there are more or fewer.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, CursorError> {
        let (micros, id) = bytes.split_at_checked(8).ok_or(CursorError)?;
        let micros = micros.try_into().map_err(|_| CursorError)?;
        let id = id.try_into().map_err(|_| CursorError)?;
        Ok(Self {
            occurred_at: Timestamp::from_micros(i64::from_be_bytes(micros)),
            id: EventId::from_bytes(id),
        })
    }
}

/// The secret with which cursors are sealed.
#[derive(Clone)]
pub struct CursorKey([u8; 32]);

/// The text is not a cursor that this service gave out for this query.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("must be the cursor of an earlier answer to the same query")]
pub struct CursorError;

impl fmt::Debug for CursorKey {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("CursorKey(…)")
    }
}

impl CursorKey {
    const VERSION: u8 = 1;
    const COUNT_VERSION: u8 = 2;
    /// Keeps what hides a count apart from what seals it.
    const MASK_VERSION: u8 = 3;
    const SEAL_BYTES: usize = 12;

    /// A key of 32 unpredictable bytes.
    pub const fn new(secret: [u8; 32]) -> Self {
        Self(secret)
    }

    /// An opaque text for a place in a list, valid for `scope` only: which list, filters, and what the reader may see.
    pub fn seal(&self, place: &[u8], scope: &str) -> String {
        let mut bytes = Vec::with_capacity(1 + place.len() + Self::SEAL_BYTES);
        bytes.push(Self::VERSION);
        bytes.extend_from_slice(place);
        let seal = self.authenticator(&bytes, scope).finalize().into_bytes();
        bytes.extend_from_slice(&seal[..Self::SEAL_BYTES]);
        URL_SAFE_NO_PAD.encode(bytes)
    }

    /// The place behind a text of [`Self::seal`].
    ///
    /// # Errors
    /// [`CursorError`] when the text was altered, made up, or given out for another scope.
    pub fn open(&self, text: &str, scope: &str) -> Result<Vec<u8>, CursorError> {
        let bytes = URL_SAFE_NO_PAD.decode(text).map_err(|_| CursorError)?;
        let place_end = bytes.len().checked_sub(Self::SEAL_BYTES).ok_or(CursorError)?;
        let (versioned_place, seal) = bytes.split_at(place_end);
        self.authenticator(versioned_place, scope)
            .verify_truncated_left(seal)
            .map_err(|_| CursorError)?;
        match versioned_place.split_first() {
            Some((&Self::VERSION, place)) => Ok(place.to_vec()),
            _ => Err(CursorError),
        }
    }

    /// An opaque text for a count, which it hides: whoever counts something that the reader may not see in full must not
    /// tell how much of it there is. Otherwise as [`Self::seal`].
    ///
    /// The seal is also what the count is hidden with (a synthetic initialization vector, as in RFC 5297), so equal counts
    /// have equal texts, and nothing else can be told from them.
    pub fn seal_count(&self, count: u64, scope: &str) -> String {
        let mut bytes = [0; 1 + 8 + Self::SEAL_BYTES];
        bytes[0] = Self::COUNT_VERSION;
        bytes[1..9].copy_from_slice(&count.to_be_bytes());
        let seal = self.authenticator(&bytes[..9], scope).finalize().into_bytes();
        bytes[9..].copy_from_slice(&seal[..Self::SEAL_BYTES]);
        let hidden = count ^ self.mask(&bytes[9..], scope);
        bytes[1..9].copy_from_slice(&hidden.to_be_bytes());
        URL_SAFE_NO_PAD.encode(bytes)
    }

    /// The count behind a text of [`Self::seal_count`].
    ///
    /// # Errors
    /// [`CursorError`] when the text was altered, made up, or given out for another scope.
    pub fn open_count(&self, text: &str, scope: &str) -> Result<u64, CursorError> {
        let bytes = URL_SAFE_NO_PAD.decode(text).map_err(|_| CursorError)?;
        let bytes: [u8; 1 + 8 + Self::SEAL_BYTES] = bytes.try_into().map_err(|_| CursorError)?;
        let (versioned_count, seal) = bytes.split_at(9);
        let hidden = versioned_count[1..].try_into().map_err(|_| CursorError)?;
        let count = u64::from_be_bytes(hidden) ^ self.mask(seal, scope);
        let mut versioned_count = [Self::COUNT_VERSION; 9];
        versioned_count[1..].copy_from_slice(&count.to_be_bytes());
        self.authenticator(&versioned_count, scope)
            .verify_truncated_left(seal)
            .map_err(|_| CursorError)?;
        match bytes[0] {
            Self::COUNT_VERSION => Ok(count),
            _ => Err(CursorError),
        }
    }

    fn mask(&self, seal: &[u8], scope: &str) -> u64 {
        let mut versioned_seal = [Self::MASK_VERSION; 1 + Self::SEAL_BYTES];
        versioned_seal[1..].copy_from_slice(seal);
        let mask = self.authenticator(&versioned_seal, scope).finalize().into_bytes();
        let mut bytes = [0; 8];
        bytes.copy_from_slice(&mask[..8]);
        u64::from_be_bytes(bytes)
    }

    fn authenticator(&self, versioned_place: &[u8], scope: &str) -> Hmac<Sha256> {
        <Hmac<Sha256> as KeyInit>::new(&hmac_block(&self.0))
            .chain_update(versioned_place)
            .chain_update(scope.as_bytes())
    }
}

/// HMAC pads a key to its hash's block of 64 bytes with zeros (RFC 2104 §2).
fn hmac_block(key: &[u8; 32]) -> hmac::digest::Key<Hmac<Sha256>> {
    let mut block = hmac::digest::Key::<Hmac<Sha256>>::default();
    block[..key.len()].copy_from_slice(key);
    block
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn a_cursor_comes_back_whole_and_only_for_its_scope(micros in any::<i64>(), id in any::<[u8; 16]>(), scope in ".{0,20}", other in ".{0,20}") {
            let key = CursorKey::new([7; 32]);
            let position = Position { occurred_at: Timestamp::from_micros(micros), id: EventId::from_bytes(id) };
            let text = key.seal(&position.to_bytes(), &scope);
            prop_assert_eq!(key.open(&text, &scope).and_then(|place| Position::from_bytes(&place)), Ok(position));
            if scope != other {
                prop_assert_eq!(key.open(&text, &other), Err(CursorError));
            }
            prop_assert_eq!(CursorKey::new([8; 32]).open(&text, &scope), Err(CursorError));
        }

        #[test]
        fn a_count_comes_back_and_only_for_its_scope(count in any::<u64>(), scope in ".{0,20}", other in ".{0,20}") {
            let key = CursorKey::new([7; 32]);
            let text = key.seal_count(count, &scope);
            prop_assert_eq!(key.open_count(&text, &scope), Ok(count));
            if scope != other {
                prop_assert_eq!(key.open_count(&text, &other), Err(CursorError));
            }
            prop_assert_eq!(CursorKey::new([8; 32]).open_count(&text, &scope), Err(CursorError));
            prop_assert_eq!(key.open(&text, &scope), Err(CursorError));
            prop_assert_eq!(key.open_count(&key.seal(&count.to_be_bytes(), &scope), &scope), Err(CursorError));
        }

        #[test]
        fn a_count_with_one_other_character_is_refused(index in 0usize..50, replacement in "[A-Za-z0-9_-]") {
            let key = CursorKey::new([7; 32]);
            let text = key.seal_count(5, "");
            let index = index % text.len();
            let mut altered = text.clone();
            altered.replace_range(index..=index, &replacement);
            prop_assume!(altered != text);
            prop_assert_eq!(key.open_count(&altered, ""), Err(CursorError));
        }

        #[test]
        fn a_cursor_with_one_other_character_is_refused(index in 0usize..50, replacement in "[A-Za-z0-9_-]") {
            let key = CursorKey::new([7; 32]);
            let position = Position { occurred_at: Timestamp::from_micros(5), id: EventId::from_bytes([1; 16]) };
            let text = key.seal(&position.to_bytes(), "");
            let index = index % text.len();
            let mut altered = text.clone();
            altered.replace_range(index..=index, &replacement);
            prop_assume!(altered != text);
            prop_assert_eq!(key.open(&altered, ""), Err(CursorError));
        }
    }
    #[test]
    fn counts_that_follow_each_other_have_texts_that_do_not() {
        let key = CursorKey::new([7; 32]);
        let hidden = |count| URL_SAFE_NO_PAD.decode(key.seal_count(count, "s")).unwrap()[1..9].to_vec();
        let texts: Vec<_> = (0..100).map(hidden).collect();
        assert!(texts.iter().all(|text| text[..4] != [0; 4]));
        assert!(texts.windows(2).all(|pair| pair[0][..6] != pair[1][..6]));
    }
}
