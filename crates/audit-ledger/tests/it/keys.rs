//! Damaged keys and checkpoints.

use audit_ledger::{Checkpoint, KeyName, Origin, SignedCheckpoint, SigningKey, TreeHead, VerifierKey};
use proptest::prelude::*;

fn signed() -> (VerifierKey, Origin, SignedCheckpoint) {
    let key = SigningKey::from_seed(KeyName::parse("example.com/log").unwrap(), &[3; 32]).unwrap();
    let origin = Origin::parse("example.com/log").unwrap();
    let checkpoint = Checkpoint::new(origin.clone(), TreeHead::of_empty_tree());
    (key.verifier().clone(), origin, key.sign(checkpoint))
}

#[test]
fn no_byte_of_a_signed_checkpoint_can_be_changed() {
    let (key, origin, signed) = signed();
    for at in 0..signed.note().len() {
        for bit in 0..8 {
            let mut bytes = signed.note().as_bytes().to_vec();
            bytes[at] ^= 1 << bit;
            if let Ok(note) = String::from_utf8(bytes) {
                let opened = SignedCheckpoint::open(&note, &origin, std::slice::from_ref(&key));
                assert!(opened.is_err(), "bit {bit} of byte {at}");
            }
        }
    }
}

#[test]
fn no_byte_of_a_key_can_be_mistyped() {
    let (key, ..) = signed();
    let text = key.to_string();
    for at in 0..text.len() {
        for bit in 0..7 {
            let mut bytes = text.as_bytes().to_vec();
            bytes[at] ^= 1 << bit;
            let mistyped = String::from_utf8(bytes).unwrap();
            assert!(mistyped.parse::<VerifierKey>().is_err(), "{mistyped}");
        }
    }
}

#[test]
fn a_note_may_have_signatures_by_an_old_and_a_new_key() {
    let (old, origin, first) = signed();
    let new = SigningKey::from_seed(old.name().clone(), &[4; 32]).unwrap();
    let second = new.sign(first.checkpoint().clone());
    let line = second.note().lines().last().unwrap();
    let both = format!("{}{line}\n", first.note());
    for keys in [
        vec![old.clone()],
        vec![new.verifier().clone()],
        vec![new.verifier().clone(), old.clone()],
    ] {
        assert_eq!(
            SignedCheckpoint::open(&both, &origin, &keys).unwrap().note(),
            both
        );
    }
    assert!(SignedCheckpoint::open(second.note(), &origin, &[old]).is_err());
}

proptest! {
    #[test]
    fn any_text_is_refused_or_the_one_text_of_a_key(text in "[a-z]{1,3}\\+[0-9a-f]{8}\\+[A-Za-z0-9+/=]{44}|.{0,60}") {
        if let Ok(key) = text.parse::<VerifierKey>() {
            prop_assert_eq!(key.to_string(), text);
        }
    }

    #[test]
    fn any_text_is_refused_as_a_note(text in "(?s)o\n0\n47DEQpj8HBSa\\+/TImW\\+5JCeuQeRkm5NMpJWZG3hSuFU=\n\n— [a-z]{1,3} [A-Za-z0-9+/]{91}=\n|.{0,80}") {
        let (key, origin, _) = signed();
        prop_assert!(SignedCheckpoint::open(&text, &origin, &[key]).is_err());
    }

    #[test]
    fn any_text_is_refused_or_the_one_text_of_a_checkpoint(text in "[ -~]{0,5}\n[0-9]{0,3}\n[A-Za-z0-9+/]{42}[AEIMQUYcgkosw048]=\n([ -~]{0,3}\n){0,2}|.{0,80}") {
        if let Ok(checkpoint) = Checkpoint::parse(&text) {
            prop_assert_eq!(checkpoint.to_string(), text);
        }
    }
}
