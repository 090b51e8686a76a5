use super::*;
use proptest::collection::vec;
use proptest::prelude::*;

fn by_sha2(message: &[u8]) -> Digest {
    Sha256::digest(message).into()
}

fn hashed(implementation: Implementation, messages: &[Vec<u8>]) -> Vec<Digest> {
    let mut batch = Batch::new(implementation);
    for message in messages {
        batch.add(|bytes| bytes.extend_from_slice(message));
    }
    batch.digests().collect()
}

#[test]
fn a_message_of_every_length_has_the_digest_of_sha2() {
    let message = |length: usize| {
        (0..length)
            .map(|byte| (byte * 7 + length) as u8)
            .collect::<Vec<u8>>()
    };
    let messages: Vec<_> = (0..=300).map(message).collect();
    let expected: Vec<_> = messages.iter().map(|message| by_sha2(message)).collect();
    for implementation in Implementation::available() {
        assert_eq!(hashed(implementation, &messages), expected, "{implementation:?}");
        for (message, expected) in messages.iter().zip(&expected) {
            // Beside another one, so that it is in a vector.
            let pair = [message.clone(), vec![1; 700]];
            assert_eq!(
                hashed(implementation, &pair)[0],
                *expected,
                "{implementation:?} {}",
                message.len()
            );
            assert_eq!(hashed(implementation, &pair[..1]), [*expected]);
            assert_eq!(
                digest(&[&message[..message.len() / 2], &message[message.len() / 2..]]),
                *expected
            );
        }
    }
}

#[test]
fn the_examples_of_the_standard_have_their_digests() {
    // FIPS 180-4, "SHA256 examples": 512 and 1,024 bits of padded message.
    let examples = [
        ("abc", 0xba78_16bf_u32),
        (
            "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
            0x248d_6a61,
        ),
    ];
    for implementation in Implementation::available() {
        let messages = examples.map(|(text, _)| text.as_bytes().to_vec());
        for (digest, (text, first)) in hashed(implementation, &messages).iter().zip(examples) {
            assert_eq!(digest[..4], first.to_be_bytes(), "{implementation:?} {text}");
        }
    }
}

#[test]
fn a_batch_is_empty_after_its_digests_and_can_be_used_again() {
    for implementation in Implementation::available() {
        let mut batch = Batch::new(implementation);
        assert_eq!(batch.digests().count(), 0);
        for text in [&b"one"[..], &[7; 200], b""] {
            batch.add(|bytes| bytes.extend_from_slice(text));
            assert_eq!(batch.digests().collect::<Vec<_>>(), [by_sha2(text)]);
        }
    }
}

#[test]
fn the_fastest_implementation_uses_lanes_where_there_are_no_sha_instructions() {
    let fastest = Implementation::fastest();
    assert!(Implementation::available().any(|one| one == fastest));
    let has_lanes = Implementation::available().count() > 1;
    assert_eq!(
        fastest != Implementation::Serial,
        has_lanes && !has_sha_instructions()
    );
}

proptest! {
    #[test]
    fn a_batch_has_the_digests_of_sha2(messages in vec(vec(any::<u8>(), 0..400), 0..40)) {
        let expected: Vec<_> = messages.iter().map(|message| by_sha2(message)).collect();
        for implementation in Implementation::available() {
            prop_assert_eq!(hashed(implementation, &messages), expected.clone());
        }
    }

    #[test]
    fn a_message_after_a_prefix_has_the_digest_of_both(
        messages in vec((vec(any::<u8>(), 0..300), vec(any::<u8>(), 0..200)), 0..20),
    ) {
        let expected: Vec<_> = messages.iter().map(|(prefix, rest)| by_sha2(&[&prefix[..], rest].concat())).collect();
        for implementation in Implementation::available() {
            let mut batch = Batch::new(implementation);
            let prefixes = batch.prefixes(&messages, |(prefix, _), bytes| bytes.extend_from_slice(prefix));
            for (prefix, ((_, rest), expected)) in prefixes.iter().zip(messages.iter().zip(&expected)) {
                batch.add_after(prefix, |bytes| bytes.extend_from_slice(rest));
                prop_assert_eq!(prefix.digest(|bytes| bytes.extend_from_slice(rest)), *expected);
            }
            prop_assert_eq!(batch.digests().collect::<Vec<_>>(), expected.clone());
        }
    }
}
