//! Where the next page of a query begins.

use crate::{EventId, Timestamp};
use aes_siv::KeyInit;
use aes_siv::siv::Aes128Siv;
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use std::fmt;
use zeroize::{Zeroize, ZeroizeOnDrop};

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

/// Where a reader of the feed is. Its cursor has it as one count: the position in the lower 40 bits, the removal in the upper 24.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FeedPosition {
    /// The position in the log of the next event.
    pub seq: u64,
    /// The number of the newest removal that the reader has been told of; 0 for none.
    pub removal: u32,
}

impl FeedPosition {
    const SEQ_BITS: u32 = 40;

    /// The count that a cursor holds.
    pub const fn to_count(self) -> u64 {
        self.seq | (self.removal as u64) << Self::SEQ_BITS
    }

    /// From the count of [`Self::to_count`].
    pub const fn from_count(count: u64) -> Self {
        Self {
            seq: count & ((1 << Self::SEQ_BITS) - 1),
            removal: (count >> Self::SEQ_BITS) as u32,
        }
    }
}

/// The secret with which cursors are sealed. Its memory is zeroed when it is dropped.
#[derive(Clone, Zeroize, ZeroizeOnDrop)]
pub struct CursorKey([u8; 32]);

/// The text is not a cursor that this service gave out for this query.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("must be the cursor of an earlier response to the same query")]
pub struct CursorError;

impl fmt::Debug for CursorKey {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("CursorKey(…)")
    }
}

/// What a cursor holds. Authenticated with it, so that no cursor opens as one of another kind.
#[derive(Clone, Copy)]
enum Kind {
    Place = 1,
    Count = 2,
    /// A count behind random bytes.
    HiddenCount = 3,
}

impl CursorKey {
    /// A key of 32 unpredictable bytes.
    pub const fn new(secret: [u8; 32]) -> Self {
        Self(secret)
    }

    /// An opaque text for a place in a list, valid for `scope` only: the list, its filters, and what the reader may see.
    ///
    /// Equal places in equal scopes have equal texts; otherwise a text reveals only its length.
    pub fn seal(&self, place: &[u8], scope: &str) -> String {
        self.encrypt(Kind::Place, place, scope)
    }

    /// The place behind a text of [`Self::seal`].
    ///
    /// # Errors
    /// [`CursorError`] when the text was altered, made up, or given out for another scope.
    pub fn open(&self, text: &str, scope: &str) -> Result<Vec<u8>, CursorError> {
        self.decrypt(Kind::Place, text, scope)
    }

    /// As [`Self::seal`], for a count.
    pub fn seal_count(&self, count: u64, scope: &str) -> String {
        self.encrypt(Kind::Count, &count.to_be_bytes(), scope)
    }

    /// As [`Self::seal_count`], with a random part, so that texts do not reveal whether their counts are equal: a viewer must
    /// not learn whether the log got events that the viewer may not see.
    pub fn seal_hidden_count(&self, count: u64, random: [u8; 16], scope: &str) -> String {
        let mut plaintext = random.to_vec();
        plaintext.extend_from_slice(&count.to_be_bytes());
        self.encrypt(Kind::HiddenCount, &plaintext, scope)
    }

    /// The count behind a text of [`Self::seal_count`] or [`Self::seal_hidden_count`].
    ///
    /// # Errors
    /// [`CursorError`] when the text was altered, made up, or given out for another scope.
    pub fn open_count(&self, text: &str, scope: &str) -> Result<u64, CursorError> {
        let count = match self.decrypt(Kind::HiddenCount, text, scope) {
            Ok(hidden) => hidden.get(16..).ok_or(CursorError)?.to_vec(),
            Err(CursorError) => self.decrypt(Kind::Count, text, scope)?,
        };
        count.try_into().map(u64::from_be_bytes).map_err(|_| CursorError)
    }

    fn encrypt(&self, kind: Kind, plaintext: &[u8], scope: &str) -> String {
        let sealed = self
            .cipher()
            .encrypt(associated_data(&[kind as u8], scope), plaintext);
        URL_SAFE_NO_PAD
            .encode(sealed.expect("AES-SIV refuses more than 126 items of associated data; these are two"))
    }

    fn decrypt(&self, kind: Kind, text: &str, scope: &str) -> Result<Vec<u8>, CursorError> {
        let sealed = URL_SAFE_NO_PAD.decode(text).map_err(|_| CursorError)?;
        let plaintext = self
            .cipher()
            .decrypt(associated_data(&[kind as u8], scope), &sealed);
        plaintext.map_err(|_| CursorError)
    }

    /// Deterministic authenticated encryption (RFC 5297), which needs no nonce.
    fn cipher(&self) -> Aes128Siv {
        Aes128Siv::new(&self.0.into())
    }
}

fn associated_data<'a>(kind: &'a [u8; 1], scope: &'a str) -> [&'a [u8]; 2] {
    [kind, scope.as_bytes()]
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
        fn a_position_in_the_feed_comes_back_from_its_count(seq in 0..1_u64 << 40, removal in 0..1_u32 << 24) {
            let position = FeedPosition { seq, removal };
            prop_assert_eq!(FeedPosition::from_count(position.to_count()), position);
            prop_assert_eq!(FeedPosition::from_count(seq), FeedPosition { seq, removal: 0 });
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
        fn a_cursor_with_one_other_character_is_refused(index in 0usize..54, replacement in "[A-Za-z0-9_-]") {
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
        let sealed = |count| URL_SAFE_NO_PAD.decode(key.seal_count(count, "s")).unwrap();
        let texts: Vec<_> = (0..100).map(sealed).collect();
        // Behind the synthetic initialization vector of 16 bytes is the encrypted count.
        assert!(
            texts
                .iter()
                .all(|text| text.len() == 24 && text[16..20] != [0; 4])
        );
        assert!(texts.windows(2).all(|pair| pair[0][..16] != pair[1][..16]));
        assert!(texts.windows(2).all(|pair| pair[0][16..22] != pair[1][16..22]));
    }

    #[test]
    fn hidden_counts_do_not_tell_whether_they_are_equal() {
        let key = CursorKey::new([7; 32]);
        let texts = [(5, 1), (5, 2), (6, 3)].map(|(count, random)| {
            let text = key.seal_hidden_count(count, [random; 16], "s");
            assert_eq!(key.open_count(&text, "s"), Ok(count));
            assert_eq!(key.open_count(&text, "t"), Err(CursorError));
            URL_SAFE_NO_PAD.decode(text).unwrap()
        });
        for pair in texts.windows(2) {
            assert!(
                (0..40)
                    .step_by(8)
                    .all(|at| pair[0][at..at + 8] != pair[1][at..at + 8])
            );
        }
    }

    #[test]
    fn equal_places_have_equal_cursors() {
        let key = CursorKey::new([7; 32]);
        assert_eq!(key.seal(b"place", "s"), key.seal(b"place", "s"));
        assert_eq!(key.seal_count(5, "s"), key.seal_count(5, "s"));
        assert_ne!(key.seal(b"place", "s"), key.seal(b"place", "t"));
    }
}
