//! The encryption keys of a process.

use crate::sealed::{self, NONCE_BYTES, Stored};
use crate::{EncryptionKey, Form, KeyId, OpenError, Place, Secret};
use zeroize::Zeroizing;

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

    /// The stored form of a secret: sealed for its place, or plain where there is no key. `nonce` is random bytes.
    pub fn seal(&self, secret: &[u8], place: &Place, nonce: [u8; NONCE_BYTES]) -> Vec<u8> {
        match self.keys.first() {
            Some(key) => sealed::seal(secret, key, place, nonce),
            None => sealed::plain(secret),
        }
    }

    /// The secret that is stored at this place, of any length.
    ///
    /// # Errors
    /// [`OpenError`]. No part of a secret that fails authentication is returned.
    pub fn open(&self, stored: &[u8], place: &Place) -> Result<Zeroizing<Vec<u8>>, OpenError> {
        match Stored::read(stored)? {
            Stored::Plain(plain) if self.keys.is_empty() || self.accepts_plain => {
                Ok(Zeroizing::new(plain.to_vec()))
            }
            Stored::Plain(_) => Err(OpenError::Plain),
            Stored::Sealed(id, content) => self.open_sealed(id, content, place),
        }
    }

    /// [`Self::open`] of a secret that has the length of a [`Secret`].
    ///
    /// # Errors
    /// [`OpenError`]; [`OpenError::Damaged`] for another length.
    pub fn open_secret(&self, stored: &[u8], place: &Place) -> Result<Secret, OpenError> {
        Secret::from_slice(&self.open(stored, place)?).ok_or(OpenError::Damaged)
    }

    /// The secret at this place, if it is sealed. For values that are never stored in another form.
    ///
    /// # Errors
    /// As [`Self::open_secret`]; [`OpenError::Plain`] also where there is no key.
    pub fn open_only_sealed(&self, stored: &[u8], place: &Place) -> Result<Secret, OpenError> {
        match Stored::read(stored)? {
            Stored::Sealed(..) => self.open_secret(stored, place),
            Stored::Plain(_) => Err(OpenError::Plain),
        }
    }

    /// How a secret is stored; `None` when the form is unknown.
    pub fn form(stored: &[u8]) -> Option<Form> {
        Stored::read(stored).ok().map(|stored| stored.form())
    }

    fn open_sealed(&self, id: KeyId, content: &[u8], place: &Place) -> Result<Zeroizing<Vec<u8>>, OpenError> {
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

    fn sealed(keys: &KeyRing, row: &str) -> Vec<u8> {
        keys.seal(SECRET.as_bytes(), &place(row), [1; 12])
    }

    #[test]
    fn without_a_key_secrets_are_plain() {
        let none = KeyRing::default();
        let stored = sealed(&none, "a");
        assert_eq!(stored, [&[0][..], &[5; 32]].concat());
        assert_eq!(none.open_secret(&stored, &place("b")), Ok(SECRET));
        assert_eq!(KeyRing::form(&stored), Some(Form::Plain));
    }

    #[test]
    fn with_a_key_a_plain_secret_is_refused_unless_it_is_accepted_explicitly() {
        let keys = ring("ab", &[]);
        let stored = sealed(&KeyRing::default(), "a");
        assert_eq!(keys.open(&stored, &place("a")), Err(OpenError::Plain));
        let accepting = keys.accepting_plain();
        assert_eq!(accepting.open_secret(&stored, &place("a")), Ok(SECRET));
        assert_eq!(
            accepting.open_only_sealed(&stored, &place("a")),
            Err(OpenError::Plain)
        );
    }

    #[test]
    fn a_sealed_secret_opens_with_its_key_at_its_place_alone() {
        let keys = ring("ab", &[]);
        let stored = sealed(&keys, "a");
        let id = key("ab").id();
        assert_eq!(stored.len(), 69);
        assert!(!stored.windows(4).any(|window| window == [5; 4]));
        assert_eq!(KeyRing::form(&stored), Some(Form::Sealed(id)));
        assert_eq!(keys.open_secret(&stored, &place("a")), Ok(SECRET));
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
        assert_eq!(both.open_secret(&sealed(&old, "a"), &place("a")), Ok(SECRET));
        let stored = sealed(&both, "a");
        assert_eq!(KeyRing::form(&stored), Some(Form::Sealed(key("cd").id())));
        assert_eq!(both.current_id(), Some(key("cd").id()));
        assert_eq!(
            KeyRing::new(key("ab"), [key("cd"), key("ab")]).map(|_| ()),
            Err(RepeatedKey(key("ab").id()))
        );
    }

    #[test]
    fn unknown_forms_and_lengths_are_damage() {
        let keys = ring("ab", &[]);
        for stored in [&[][..], &[3], &[2; 33], &[9; 69], &[5; 32], &[1; 61], &[3; 36]] {
            assert_eq!(
                keys.open(stored, &place("a")),
                Err(OpenError::Damaged),
                "{stored:?}"
            );
            assert_eq!(KeyRing::form(stored), None);
        }
        let short = keys.seal(&[5; 31], &place("a"), [1; 12]);
        assert_eq!(keys.open_secret(&short, &place("a")), Err(OpenError::Damaged));
    }

    #[test]
    fn debug_shows_no_key() {
        let shown = format!("{:?}", KeyRing::new(HEX.parse().unwrap(), []).unwrap());
        assert!(!shown.contains("0001") && !shown.contains("[0, 1"), "{shown}");
    }

    proptest! {
        #[test]
        fn what_is_sealed_opens_and_no_bit_of_it_can_be_changed(
            secret in prop::collection::vec(any::<u8>(), 0..100),
            row in "[a-z]{0,8}", nonce in any::<[u8; 12]>(), bit in any::<prop::sample::Index>(),
        ) {
            let keys = ring("ab", &["cd"]);
            let mut stored = keys.seal(&secret, &place(&row), nonce);
            prop_assert_eq!(keys.open(&stored, &place(&row)), Ok(Zeroizing::new(secret)));
            let bit = bit.index(8 * stored.len());
            stored[bit / 8] ^= 1 << (bit % 8);
            prop_assert!(keys.open(&stored, &place(&row)).is_err());
        }

        #[test]
        fn no_bytes_make_opening_panic(stored in prop::collection::vec(any::<u8>(), 0..80)) {
            prop_assert!(ring("ab", &[]).open(&stored, &place("a")).is_err());
        }
    }
}
