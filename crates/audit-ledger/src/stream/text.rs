//! What proves a stream: the chain over its records, and the note that says how far it is.
//!
//! ```text
//! chain after position 0 = 32 zero bytes
//! chain after position n = SHA-256(chain after n − 1 ‖ n as 8 bytes, big endian ‖ content hash)
//! ```
//!
//! The content hash is that of the event; for a checkpoint record it is [`StreamNote::record_hash`].

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use sha2::{Digest, Sha256};

/// The chain over the records of a run, up to one position.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StreamChain([u8; Self::BYTES]);

impl StreamChain {
    /// Length in bytes.
    pub const BYTES: usize = 32;
    /// Before the first record.
    pub const START: Self = Self([0; Self::BYTES]);

    /// The chain after one record more.
    #[must_use]
    pub fn after(self, position: u64, content_hash: &[u8; 32]) -> Self {
        let hash = Sha256::new()
            .chain_update(self.0)
            .chain_update(position.to_be_bytes())
            .chain_update(content_hash);
        Self(hash.finalize().into())
    }

    /// The chain with these bytes.
    pub const fn from_bytes(bytes: [u8; Self::BYTES]) -> Self {
        Self(bytes)
    }

    /// Its bytes.
    pub const fn as_bytes(&self) -> &[u8; Self::BYTES] {
        &self.0
    }

    /// Standard base64 with padding (RFC 4648, section 4).
    pub fn to_base64(&self) -> String {
        STANDARD.encode(self.0)
    }
}

/// How far a stream is. Its text is signed as C2SP `signed-note` says. The first line is not the origin of a log, so the note cannot be
/// taken for a checkpoint of one.
///
/// ```text
/// <log name>/destinations/<destination id>/<run>
/// <position of the last event covered>
/// <chain after that position, base64>
/// <the next seq that the stream reads>
/// <SHA-256 of the canonical filter, hexadecimal>
/// <positions set aside since the note before, as "position:content hash", separated by commas; "-" if none>
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StreamNote {
    /// The stream: see [`Self::origin_of`].
    pub origin: String,
    /// The position of the last record that the note covers.
    pub position: u64,
    /// The chain after that position.
    pub chain: StreamChain,
    /// The number in the log of the next event that the stream reads: the records up to `position` are the events before it.
    pub next_seq: u64,
    /// SHA-256 of the canonical JSON of the filter, in lower-case hexadecimal.
    pub filter_fingerprint: String,
    /// Positions that the receiver refused since the note before, with the content hashes of their events, in ascending order.
    pub set_aside: Vec<(u64, [u8; 32])>,
}

/// The text is not that of a stream's note.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("must be the six lines of the note of a stream")]
pub struct StreamTextError;

impl StreamNote {
    /// The first line for a run of a destination.
    pub fn origin_of(log: &str, destination: &str, run: u64) -> String {
        format!("{log}/destinations/{destination}/{run}")
    }

    /// What the chain has of a checkpoint record in place of a content hash: SHA-256 of its whole signed note, with the signatures.
    pub fn record_hash(signed_note: &str) -> [u8; 32] {
        Sha256::digest(signed_note).into()
    }

    /// The text that is signed: six lines, each with its line break.
    pub fn to_text(&self) -> String {
        let items = self.set_aside.iter();
        let items =
            items.map(|(position, hash)| format!("{position}:{}", base16ct::lower::encode_string(hash)));
        let items: Vec<String> = items.collect();
        let set_aside = match items.is_empty() {
            true => "-".to_owned(),
            false => items.join(","),
        };
        format!(
            "{}\n{}\n{}\n{}\n{}\n{set_aside}\n",
            self.origin,
            self.position,
            self.chain.to_base64(),
            self.next_seq,
            self.filter_fingerprint,
        )
    }

    /// Reads what [`Self::to_text`] writes, and nothing else: one note has one text.
    ///
    /// # Errors
    /// [`StreamTextError`] for any other text.
    pub fn parse(text: &str) -> Result<Self, StreamTextError> {
        Self::read(text)
            .filter(|note| note.to_text() == text)
            .ok_or(StreamTextError)
    }

    fn read(text: &str) -> Option<Self> {
        let lines: Vec<&str> = text.strip_suffix('\n')?.split('\n').collect();
        let [origin, position, chain, next_seq, filter_fingerprint, set_aside] = lines[..] else {
            return None;
        };
        read_hash(filter_fingerprint)?;
        let (log, rest) = origin.split_once("/destinations/")?;
        let (destination, run) = rest.split_once('/')?;
        let run = run.parse().ok()?;
        let note = Self {
            origin: origin.to_owned(),
            position: position.parse().ok()?,
            chain: StreamChain(STANDARD.decode(chain).ok()?.try_into().ok()?),
            next_seq: next_seq.parse().ok()?,
            filter_fingerprint: filter_fingerprint.to_owned(),
            set_aside: read_set_aside(set_aside)?,
        };
        let covers = |(position, _): &(u64, _)| (1..=note.position).contains(position);
        let is_valid = !log.is_empty()
            && !destination.is_empty()
            && Self::origin_of(log, destination, run) == origin
            && note.set_aside.iter().all(covers)
            && note.set_aside.is_sorted_by(|(one, _), (next, _)| one < next);
        is_valid.then_some(note)
    }
}

fn read_set_aside(text: &str) -> Option<Vec<(u64, [u8; 32])>> {
    if text == "-" {
        return Some(Vec::new());
    }
    let read = |item: &str| {
        let (position, hash) = item.split_once(':')?;
        Some((position.parse().ok()?, read_hash(hash)?))
    };
    text.split(',').map(read).collect()
}

/// 32 bytes of lower-case hexadecimal.
fn read_hash(text: &str) -> Option<[u8; 32]> {
    base16ct::lower::decode_vec(text).ok()?.try_into().ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn note() -> StreamNote {
        StreamNote {
            origin: StreamNote::origin_of("00000000-0000-0000-0000-000000000001/live", "dst_1", 2),
            position: 12,
            chain: StreamChain::START.after(1, &[9; 32]),
            next_seq: 345,
            filter_fingerprint: "ab".repeat(32),
            set_aside: vec![(3, [1; 32]), (11, [2; 32])],
        }
    }

    #[test]
    fn a_chain_is_computed_as_the_documentation_says() {
        // python3 -c "import hashlib; print(hashlib.sha256(bytes(32) + (1).to_bytes(8, 'big') + b'\x07' * 32).hexdigest())"
        let expected = "704b191ecd5a8c781a0a1d64c4ff31371e199df79a5597f7d68ee4469d8ad278";
        let chain = StreamChain::START.after(1, &[7; 32]);
        assert_eq!(base16ct::lower::encode_string(chain.as_bytes()), expected);
        assert_eq!(StreamChain::from_bytes(*chain.as_bytes()), chain);
        assert_eq!(chain.to_base64().len(), 44);
    }

    #[test]
    fn a_note_has_six_lines() {
        let hashes = ["01".repeat(32), "02".repeat(32)];
        assert_eq!(
            note().to_text(),
            format!(
                "00000000-0000-0000-0000-000000000001/live/destinations/dst_1/2\n12\n{}\n345\n{}\n3:{},11:{}\n",
                note().chain.to_base64(),
                "ab".repeat(32),
                hashes[0],
                hashes[1]
            )
        );
        let nothing_set_aside = StreamNote {
            set_aside: Vec::new(),
            ..note()
        };
        assert!(nothing_set_aside.to_text().ends_with("\n-\n"));
        for note in [note(), nothing_set_aside] {
            assert_eq!(StreamNote::parse(&note.to_text()), Ok(note));
        }
    }

    #[test]
    fn other_texts_are_refused_as_notes() {
        let text = note().to_text();
        for other in [
            String::new(),
            text.trim_end().to_owned(),
            format!("{text}\n"),
            text.replace("\n12\n", "\n012\n"),
            text.replace("\n12\n", "\n+12\n"),
            // Set aside beyond what the note covers, twice, and in another order.
            text.replace("\n12\n", "\n10\n"),
            text.replace("11:", "3:"),
            text.replace("\n3:", "\n12:"),
            text.replace("\n3:", "\n0:"),
            text.replace("abab", "ABAB"),
            text.replace("=\n", "\n"),
            text.replace("dst_1/2", "dst_1/02"),
            text.replace("/destinations/dst_1/2", ""),
        ] {
            assert_eq!(StreamNote::parse(&other), Err(StreamTextError), "{other}");
        }
    }

    proptest! {
        #[test]
        fn a_chain_depends_on_position_and_hash(hash in any::<[u8; 32]>(), other in any::<[u8; 32]>(), position in 1..u64::MAX) {
            let chain = StreamChain::START.after(position, &hash);
            prop_assert_eq!(chain == StreamChain::START.after(position, &other), hash == other);
            prop_assert_ne!(chain, StreamChain::START.after(position - 1, &hash));
        }
    }
}
