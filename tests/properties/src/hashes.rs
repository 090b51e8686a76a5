//! SHA-256 in lanes, against `sha2`.

use audit_sha256::{Batch, Implementation};
use sha2::{Digest, Sha256};

/// Every implementation computes the digests of `sha2`. The first byte says how many messages share a prefix, and how long it is; each
/// message has a byte for its length before it, in units of three bytes.
pub fn sha256_lanes(bytes: &[u8]) -> bool {
    let Some((first, mut rest)) = bytes.split_first() else {
        return false;
    };
    let mut messages = Vec::new();
    while let Some((length, after)) = rest.split_first() {
        let (message, after) = after.split_at(after.len().min(usize::from(*length) * 3));
        messages.push(message);
        rest = after;
    }
    let prefix = vec![*first; usize::from(*first)];
    for implementation in Implementation::available() {
        let mut batch = Batch::new(implementation);
        for message in &messages {
            batch.add(|to| to.extend_from_slice(message));
        }
        let expected = messages
            .iter()
            .map(|message| <[u8; 32]>::from(Sha256::digest(message)));
        assert!(batch.digests().eq(expected), "{implementation:?}");
        let prefixes = batch.prefixes(&messages, |message, to| {
            to.extend_from_slice(&prefix);
            to.extend_from_slice(message);
        });
        for (begun, message) in prefixes.iter().zip(&messages) {
            batch.add_after(begun, |to| to.extend_from_slice(message));
        }
        let whole =
            |message: &&[u8]| <[u8; 32]>::from(Sha256::digest([&prefix, *message, *message].concat()));
        assert!(
            batch.digests().eq(messages.iter().map(whole)),
            "{implementation:?}"
        );
    }
    !messages.is_empty()
}

/// Messages that end in different blocks.
pub fn sha256_lanes_seeds() -> Vec<Vec<u8>> {
    let message = |units: u8| [vec![units], vec![units ^ 0x5a; usize::from(units) * 3]].concat();
    let batch = |units: &[u8]| {
        [
            vec![units.len() as u8 * 13],
            units.iter().copied().flat_map(message).collect(),
        ]
        .concat()
    };
    vec![
        batch(&[0]),
        batch(&[18, 19, 21]),
        batch(&[1, 40, 2, 85, 6, 6, 6, 6, 6, 21, 200]),
        batch(&[12; 17]),
    ]
}
