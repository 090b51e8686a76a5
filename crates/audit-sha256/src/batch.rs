//! Messages that are hashed together.

use crate::{BLOCK_BYTES, Digest, Implementation, State};
use sha2::block_api::compress256;

/// The state before the first block (FIPS 180-4 §5.3.3).
const FIRST_STATE: State = [
    0x6a09_e667,
    0xbb67_ae85,
    0x3c6e_f372,
    0xa54f_f53a,
    0x510e_527f,
    0x9b05_688c,
    0x1f83_d9ab,
    0x5be0_cd19,
];

/// The beginning of messages, of which the whole blocks have been hashed.
#[derive(Clone)]
pub struct Prefix {
    state: State,
    /// The bytes in the state.
    hashed_bytes: u64,
    rest: [u8; BLOCK_BYTES],
    rest_bytes: usize,
}

impl Prefix {
    /// The prefix with these pieces, one after the other.
    pub fn of(pieces: &[&[u8]]) -> Self {
        let write = |pieces: &[&[u8]], bytes: &mut Vec<u8>| *bytes = pieces.concat();
        let one = Batch::new(Implementation::Serial).prefixes([pieces], write);
        one.into_iter().next().unwrap_or_default()
    }

    /// The digest of the message that continues the prefix.
    pub fn digest(&self, write: impl FnOnce(&mut Vec<u8>)) -> Digest {
        let mut bytes = Vec::with_capacity(4 * BLOCK_BYTES);
        self.continue_in(&mut bytes, write);
        let mut state = self.state;
        let blocks = bytes.as_chunks().0;
        #[cfg(debug_assertions)]
        crate::count::add(blocks.len());
        compress256(&mut state, blocks);
        digest_of(&state)
    }

    /// Appends the blocks of a message that continues the prefix.
    fn continue_in(&self, bytes: &mut Vec<u8>, write: impl FnOnce(&mut Vec<u8>)) {
        let start = bytes.len();
        bytes.extend_from_slice(&self.rest[..self.rest_bytes]);
        write(bytes);
        // The padding (FIPS 180-4 §5.1.1).
        let bits = (self.hashed_bytes + (bytes.len() - start) as u64) * 8;
        bytes.push(0x80);
        let length_at =
            (bytes.len() - start + size_of::<u64>()).next_multiple_of(BLOCK_BYTES) - size_of::<u64>();
        bytes.resize(start + length_at, 0);
        bytes.extend_from_slice(&bits.to_be_bytes());
    }
}

/// The empty prefix, which every message has.
impl Default for Prefix {
    fn default() -> Self {
        Self {
            state: FIRST_STATE,
            hashed_bytes: 0,
            rest: [0; BLOCK_BYTES],
            rest_bytes: 0,
        }
    }
}

/// What it contains may be secret.
impl std::fmt::Debug for Prefix {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str("Prefix(…)")
    }
}

/// Messages that are hashed together, in memory that is used again.
#[derive(Clone)]
pub struct Batch {
    implementation: Implementation,
    /// The blocks of all messages, with their padding.
    bytes: Vec<u8>,
    /// Of each message: the state before its first block, and its first block.
    states: Vec<State>,
    starts: Vec<usize>,
}

impl Batch {
    /// A batch that this implementation hashes.
    pub fn new(implementation: Implementation) -> Self {
        Self {
            implementation,
            bytes: Vec::new(),
            states: Vec::new(),
            starts: Vec::new(),
        }
    }

    /// A batch that the fastest implementation hashes, with memory for this number of messages of one block.
    pub fn with_capacity(messages: usize) -> Self {
        Self {
            implementation: Implementation::fastest(),
            bytes: Vec::with_capacity(messages * BLOCK_BYTES),
            states: Vec::with_capacity(messages),
            starts: Vec::with_capacity(messages),
        }
    }

    /// Adds a message: what `write` appends. It must not remove bytes.
    pub fn add(&mut self, write: impl FnOnce(&mut Vec<u8>)) {
        self.add_after(&Prefix::default(), write);
    }

    /// Adds the message that continues a prefix.
    pub fn add_after(&mut self, prefix: &Prefix, write: impl FnOnce(&mut Vec<u8>)) {
        self.states.push(prefix.state);
        self.starts.push(self.bytes.len() / BLOCK_BYTES);
        prefix.continue_in(&mut self.bytes, write);
    }

    /// The digests of the messages, in their order. The batch is empty then.
    pub fn digests(&mut self) -> impl Iterator<Item = Digest> {
        self.compress();
        self.states.drain(..).map(|state| digest_of(&state))
    }

    /// Hashes the whole blocks of the prefixes that `write` appends, together. The batch must be empty, and is so then.
    pub fn prefixes<T>(
        &mut self,
        of: impl IntoIterator<Item = T>,
        write: impl Fn(T, &mut Vec<u8>),
    ) -> Vec<Prefix> {
        let mut prefixes = Vec::new();
        for one in of {
            let start = self.bytes.len();
            write(one, &mut self.bytes);
            let bytes = self.bytes.len() - start;
            let mut prefix = Prefix {
                hashed_bytes: (bytes - bytes % BLOCK_BYTES) as u64,
                rest_bytes: bytes % BLOCK_BYTES,
                ..Prefix::default()
            };
            let rest_at = start + bytes - prefix.rest_bytes;
            prefix.rest[..prefix.rest_bytes].copy_from_slice(&self.bytes[rest_at..]);
            self.bytes.truncate(rest_at);
            self.states.push(prefix.state);
            self.starts.push(start / BLOCK_BYTES);
            prefixes.push(prefix);
        }
        self.compress();
        for (prefix, state) in prefixes.iter_mut().zip(self.states.drain(..)) {
            prefix.state = state;
        }
        prefixes
    }

    fn compress(&mut self) {
        let blocks = self.bytes.as_chunks().0;
        self.implementation
            .compress(&mut self.states, blocks, &self.starts);
        self.bytes.clear();
        self.starts.clear();
    }
}

/// A batch that the fastest implementation hashes.
impl Default for Batch {
    fn default() -> Self {
        Self::new(Implementation::fastest())
    }
}

/// Messages may be secret.
impl std::fmt::Debug for Batch {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(formatter, "Batch({} messages)", self.states.len())
    }
}

fn digest_of(state: &State) -> Digest {
    let mut digest = [0; 32];
    for (bytes, word) in digest.as_chunks_mut().0.iter_mut().zip(state) {
        *bytes = word.to_be_bytes();
    }
    digest
}
