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
    const PLACE_BYTES: usize = 1 + 8 + 16;
    const SEAL_BYTES: usize = 12;

    /// A key of 32 unpredictable bytes.
    pub const fn new(secret: [u8; 32]) -> Self {
        Self(secret)
    }

    /// An opaque text for `position`, valid for `scope` only: order, filters, and what the reader may see.
    pub fn seal(&self, position: Position, scope: &str) -> String {
        let mut bytes = Vec::with_capacity(Self::PLACE_BYTES + Self::SEAL_BYTES);
        bytes.push(Self::VERSION);
        bytes.extend_from_slice(&position.occurred_at.as_micros().to_be_bytes());
        bytes.extend_from_slice(&position.id.to_bytes());
        let seal = self.authenticator(&bytes, scope).finalize().into_bytes();
        bytes.extend_from_slice(&seal[..Self::SEAL_BYTES]);
        URL_SAFE_NO_PAD.encode(bytes)
    }

    /// The position behind a text of [`Self::seal`].
    ///
    /// # Errors
    /// [`CursorError`] when the text was altered, made up, or given out for another scope.
    pub fn open(&self, text: &str, scope: &str) -> Result<Position, CursorError> {
        let bytes = URL_SAFE_NO_PAD.decode(text).map_err(|_| CursorError)?;
        if bytes.len() != Self::PLACE_BYTES + Self::SEAL_BYTES || bytes[0] != Self::VERSION {
            return Err(CursorError);
        }
        let (place, seal) = bytes.split_at(Self::PLACE_BYTES);
        self.authenticator(place, scope)
            .verify_truncated_left(seal)
            .map_err(|_| CursorError)?;
        let micros = place[1..9].try_into().map_err(|_| CursorError)?;
        let id = place[9..].try_into().map_err(|_| CursorError)?;
        Ok(Position {
            occurred_at: Timestamp::from_micros(i64::from_be_bytes(micros)),
            id: EventId::from_bytes(id),
        })
    }

    fn authenticator(&self, place: &[u8], scope: &str) -> Hmac<Sha256> {
        <Hmac<Sha256> as KeyInit>::new(&hmac_block(&self.0))
            .chain_update(place)
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
            let text = key.seal(position, &scope);
            prop_assert_eq!(key.open(&text, &scope), Ok(position));
            if scope != other {
                prop_assert_eq!(key.open(&text, &other), Err(CursorError));
            }
            prop_assert_eq!(CursorKey::new([8; 32]).open(&text, &scope), Err(CursorError));
        }

        #[test]
        fn a_cursor_with_one_other_character_is_refused(index in 0usize..50, replacement in "[A-Za-z0-9_-]") {
            let key = CursorKey::new([7; 32]);
            let position = Position { occurred_at: Timestamp::from_micros(5), id: EventId::from_bytes([1; 16]) };
            let text = key.seal(position, "");
            let index = index % text.len();
            let mut altered = text.clone();
            altered.replace_range(index..=index, &replacement);
            prop_assume!(altered != text);
            prop_assert_eq!(key.open(&altered, ""), Err(CursorError));
        }
    }
}
