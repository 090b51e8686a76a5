//! The encryption keys of a process.

use crate::sealed::{self, NONCE_BYTES, Stored};
use crate::{EncryptionKey, Form, KeyId, OpenError, Place, Secret};

/// The encryption keys of a process: none, or one that seals and others that open as well.
#[derive(Clone, Debug, Default)]
pub struct KeyRing {
    /// The first one seals.
    keys: Vec<EncryptionKey>,
    accepts_plain: bool,
}

/// A key is given twice.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the encryption key {0} is given twice")]
pub struct RepeatedKey(pub KeyId);

impl KeyRing {
    /// A ring whose `current` key seals. The others open what they have sealed.
    ///
    /// # Errors
    /// [`RepeatedKey`].
    pub fn new(
        current: EncryptionKey,
        others: impl IntoIterator<Item = EncryptionKey>,
    ) -> Result<Self, RepeatedKey> {
        let mut keys = vec![current];
        for key in others {
            if keys.iter().any(|known| known.id() == key.id()) {
                return Err(RepeatedKey(key.id()));
            }
            keys.push(key);
        }
        Ok(Self {
            keys,
            accepts_plain: false,
        })
    }

    /// The ring, which also opens secrets in plain text although it has keys: while an encryption key is introduced.
    pub fn accepting_plain(self) -> Self {
        Self {
            accepts_plain: true,
            ..self
        }
    }

    /// The keys; the first one seals.
    pub fn keys(&self) -> &[EncryptionKey] {
        &self.keys
    }

    /// The id of the key that seals.
    pub fn current_id(&self) -> Option<KeyId> {
        self.keys.first().map(EncryptionKey::id)
    }

    /// The stored form of a secret: sealed for its place, or plain with a byte before it where there is no key.
    /// `nonce` is random bytes.
    pub fn seal(&self, secret: &Secret, place: &Place, nonce: [u8; NONCE_BYTES]) -> Vec<u8> {
        match self.keys.first() {
            Some(key) => sealed::seal(secret, key, place, nonce),
            None => sealed::plain(secret),
        }
    }

    /// [`Self::seal`] for secrets whose plain form has no byte before it.
    pub fn seal_or_bare(&self, secret: &Secret, place: &Place, nonce: [u8; NONCE_BYTES]) -> Vec<u8> {
        match self.keys.first() {
            Some(key) => sealed::seal(secret, key, place, nonce),
            None => secret.as_bytes().to_vec(),
        }
    }

    /// The secret that is stored at this place.
    ///
    /// # Errors
    /// [`OpenError`]. No part of a secret that fails authentication is returned.
    pub fn open(&self, stored: &[u8], place: &Place) -> Result<Secret, OpenError> {
        match Stored::read(stored)? {
            Stored::Plain(plain) => self.open_plain(plain),
            Stored::Unnamed(content) => self.open_unnamed(content, place),
            Stored::Sealed(id, content) => self.open_sealed(id, content, place),
        }
    }

    /// The secret at this place, if it is sealed with its key id. For values that are never stored in another form.
    ///
    /// # Errors
    /// [`OpenError`]; [`OpenError::Plain`] also where there is no key.
    pub fn open_only_sealed(&self, stored: &[u8], place: &Place) -> Result<Secret, OpenError> {
        match Stored::read(stored)? {
            Stored::Sealed(id, content) => self.open_sealed(id, content, place),
            Stored::Plain(_) => Err(OpenError::Plain),
            Stored::Unnamed(_) => Err(OpenError::Damaged),
        }
    }

    /// How a secret is stored; `None` when the form is unknown.
    pub fn form(stored: &[u8]) -> Option<Form> {
        Stored::read(stored).ok().map(|stored| stored.form())
    }

    fn open_plain(&self, plain: &[u8; Secret::BYTES]) -> Result<Secret, OpenError> {
        match self.keys.is_empty() || self.accepts_plain {
            true => Ok(Secret::new(*plain)),
            false => Err(OpenError::Plain),
        }
    }

    fn open_unnamed(&self, content: &[u8], place: &Place) -> Result<Secret, OpenError> {
        if self.keys.is_empty() {
            return Err(OpenError::NeedsKey);
        }
        let mut opened = self
            .keys
            .iter()
            .filter_map(|key| sealed::open_unnamed(content, key, place));
        opened.next().ok_or(OpenError::NotTheseKeys)
    }

    fn open_sealed(&self, id: KeyId, content: &[u8], place: &Place) -> Result<Secret, OpenError> {
        if self.keys.is_empty() {
            return Err(OpenError::NeedsKey);
        }
        let key = self.keys.iter().find(|key| key.id() == id);
        let key = key.ok_or(OpenError::UnknownKey(id))?;
        sealed::open(content, key, place).ok_or(OpenError::Refused(id))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use ring::aead::{AES_256_GCM, Aad, LessSafeKey, Nonce, UnboundKey};

    const HEX: &str = "000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f";

    fn key(byte: &str) -> EncryptionKey {
        byte.repeat(32).parse().unwrap()
    }

    fn ring(current: &str, others: &[&str]) -> KeyRing {
        KeyRing::new(key(current), others.iter().map(|other| key(other))).unwrap()
    }

    fn place(row: &str) -> Place {
        Place::new("secrets", "secret", [row])
    }

    const SECRET: Secret = Secret::new([5; 32]);

    #[test]
    fn without_a_key_secrets_are_plain() {
        let none = KeyRing::default();
        let tagged = none.seal(&SECRET, &place("a"), [1; 12]);
        let bare = none.seal_or_bare(&SECRET, &place("a"), [1; 12]);
        assert_eq!(tagged, [&[0][..], &[5; 32]].concat());
        assert_eq!(bare, [5; 32]);
        for stored in [&tagged, &bare] {
            assert_eq!(none.open(stored, &place("b")), Ok(SECRET));
            assert_eq!(KeyRing::form(stored), Some(Form::Plain));
        }
    }

    #[test]
    fn with_a_key_a_plain_secret_is_refused_unless_it_is_accepted_explicitly() {
        let keys = ring("ab", &[]);
        for stored in [vec![5; 32], [&[0][..], &[5; 32]].concat()] {
            assert_eq!(keys.open(&stored, &place("a")), Err(OpenError::Plain));
            let accepting = keys.clone().accepting_plain();
            assert_eq!(accepting.open(&stored, &place("a")), Ok(SECRET));
            assert_eq!(
                accepting.open_only_sealed(&stored, &place("a")),
                Err(OpenError::Plain)
            );
        }
    }

    #[test]
    fn a_sealed_secret_opens_with_its_key_at_its_place_alone() {
        let keys = ring("ab", &[]);
        let stored = keys.seal(&SECRET, &place("a"), [1; 12]);
        let id = key("ab").id();
        assert_eq!(stored, keys.seal_or_bare(&SECRET, &place("a"), [1; 12]));
        assert_eq!(stored.len(), 69);
        assert!(!stored.windows(4).any(|window| window == [5; 4]));
        assert_eq!(KeyRing::form(&stored), Some(Form::Sealed(id)));
        assert_eq!(keys.open(&stored, &place("a")), Ok(SECRET));
        assert_eq!(keys.open_only_sealed(&stored, &place("a")), Ok(SECRET));
        assert_eq!(keys.open(&stored, &place("b")), Err(OpenError::Refused(id)));
        for elsewhere in [
            Place::new("viewer_secrets", "secret", ["a"]),
            Place::new("secrets", "name", ["a"]),
            Place::new("secrets", "secret", ["a", ""]),
        ] {
            assert_eq!(keys.open(&stored, &elsewhere), Err(OpenError::Refused(id)));
        }
        let other = ring("cd", &[]);
        assert_eq!(other.open(&stored, &place("a")), Err(OpenError::UnknownKey(id)));
        assert_eq!(
            KeyRing::default().open(&stored, &place("a")),
            Err(OpenError::NeedsKey)
        );
    }

    #[test]
    fn every_key_of_the_ring_opens_and_the_first_one_seals() {
        let (old, both) = (ring("ab", &[]), ring("cd", &["ab"]));
        let stored = old.seal(&SECRET, &place("a"), [1; 12]);
        assert_eq!(both.open(&stored, &place("a")), Ok(SECRET));
        let stored = both.seal(&SECRET, &place("a"), [1; 12]);
        assert_eq!(KeyRing::form(&stored), Some(Form::Sealed(key("cd").id())));
        assert_eq!(both.current_id(), Some(key("cd").id()));
        assert_eq!(
            KeyRing::new(key("ab"), [key("cd"), key("ab")]).map(|_| ()),
            Err(RepeatedKey(key("ab").id()))
        );
    }

    /// As an earlier release sealed it.
    fn unnamed(byte: u8, row: &str) -> Vec<u8> {
        let aead = LessSafeKey::new(UnboundKey::new(&AES_256_GCM, &[byte; 32]).unwrap());
        let mut sealed = SECRET.as_bytes().to_vec();
        aead.seal_in_place_append_tag(
            Nonce::assume_unique_for_key([2; 12]),
            Aad::from(row.as_bytes()),
            &mut sealed,
        )
        .unwrap();
        [&[1][..], &[2; 12], &sealed].concat()
    }

    #[test]
    fn a_secret_without_the_id_of_its_key_opens_with_any_key_of_the_ring() {
        let stored = unnamed(0xab, "a");
        assert_eq!(KeyRing::form(&stored), Some(Form::Unnamed));
        assert_eq!(ring("cd", &["ab"]).open(&stored, &place("a")), Ok(SECRET));
        assert_eq!(
            ring("ab", &[]).open(&stored, &place("b")),
            Err(OpenError::NotTheseKeys)
        );
        assert_eq!(
            ring("cd", &[]).open(&stored, &place("a")),
            Err(OpenError::NotTheseKeys)
        );
        assert_eq!(
            KeyRing::default().open(&stored, &place("a")),
            Err(OpenError::NeedsKey)
        );
        assert_eq!(
            ring("ab", &[]).open_only_sealed(&stored, &place("a")),
            Err(OpenError::Damaged)
        );
    }

    #[test]
    fn unknown_forms_and_lengths_are_damage() {
        let keys = ring("ab", &[]);
        for stored in [
            &[][..],
            &[0],
            &[1],
            &[3],
            &[2; 33],
            &[9; 69],
            &[0; 34],
            &[5; 31],
            &[1; 60],
            &[1; 62],
            &[3; 68],
            &[3; 70],
        ] {
            assert_eq!(
                keys.open(stored, &place("a")),
                Err(OpenError::Damaged),
                "{stored:?}"
            );
            assert_eq!(KeyRing::form(stored), None);
        }
    }

    #[test]
    fn debug_shows_no_key() {
        let shown = format!("{:?}", KeyRing::new(HEX.parse().unwrap(), []).unwrap());
        assert!(!shown.contains("0001") && !shown.contains("[0, 1"), "{shown}");
    }

    proptest! {
        #[test]
        fn what_is_sealed_opens_and_no_bit_of_it_can_be_changed(
            bytes in any::<[u8; 32]>(), row in "[a-z]{0,8}", nonce in any::<[u8; 12]>(), bit in 0usize..69 * 8,
        ) {
            let keys = ring("ab", &["cd"]);
            let secret = Secret::new(bytes);
            let mut stored = keys.seal(&secret, &place(&row), nonce);
            prop_assert_eq!(keys.open(&stored, &place(&row)), Ok(secret));
            stored[bit / 8] ^= 1 << (bit % 8);
            prop_assert!(keys.open(&stored, &place(&row)).is_err());
        }

        #[test]
        fn no_bytes_make_opening_panic(stored in prop::collection::vec(any::<u8>(), 0..80)) {
            prop_assert!(ring("ab", &[]).open(&stored, &place("a")).is_err());
        }
    }
}
