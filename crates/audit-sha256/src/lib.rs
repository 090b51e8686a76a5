//! SHA-256 (FIPS 180-4) of many short messages at once.
//!
//! One message cannot use a vector unit: each round needs the one before it. Eight messages can, each in its lane. Where the
//! processor has SHA instructions, one message after the other is faster or as fast, and `sha2` uses them.
//!
//! ```
//! use audit_sha256::{Batch, digest};
//!
//! let mut batch = Batch::default();
//! for name in ["one", "two"] {
//!     batch.add(|message| message.extend_from_slice(name.as_bytes()));
//! }
//! assert!(batch.digests().eq([digest(&[b"one"]), digest(&[b"two"])]));
//! ```
//!
//! Invariants:
//! - A digest is that of `sha2`, whichever [`Implementation`] computes it.
//! - The messages of a batch do not influence each other.
//! - Nothing reads the environment. A build with `RUSTFLAGS='--cfg sha2_backend="soft"'` behaves as on a processor without SHA
//!   instructions, in this crate and in `sha2`.

mod batch;
#[cfg(debug_assertions)]
mod count;
#[cfg(target_arch = "x86_64")]
mod lanes;

pub use batch::{Batch, Prefix};
#[cfg(debug_assertions)]
pub use count::compressions_of;

use sha2::block_api::compress256;
use sha2::{Digest as _, Sha256};

/// The SHA-256 of a message.
pub type Digest = [u8; 32];

/// The chaining value between two blocks.
type State = [u32; 8];
/// What one compression takes in.
type Block = [u8; BLOCK_BYTES];

/// Length of a block in bytes.
pub const BLOCK_BYTES: usize = 64;

/// The SHA-256 of one message, given in pieces.
pub fn digest(pieces: &[&[u8]]) -> Digest {
    let mut hash = Sha256::new();
    for piece in pieces {
        hash.update(piece);
    }
    #[cfg(debug_assertions)]
    count::add_message(pieces.iter().map(|piece| piece.len()).sum());
    hash.finalize().into()
}

/// How the messages of a batch are hashed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Implementation {
    /// One after the other, by `sha2`: with the SHA instructions of the processor, if it has them.
    Serial,
    /// Eight at a time, in vectors of AVX2.
    Avx2,
    /// Eight at a time, in the same vectors, with the rotations and three-way operations of AVX-512VL.
    Avx512,
}

impl Implementation {
    /// The fastest one for this processor, by the measurements of `benches/lanes.rs`.
    pub fn fastest() -> Self {
        if has_sha_instructions() {
            return Self::Serial;
        }
        Self::available().last().unwrap_or(Self::Serial)
    }

    /// Those that this processor can run.
    pub fn available() -> impl Iterator<Item = Self> {
        let all = [Self::Serial, Self::Avx2, Self::Avx512];
        all.into_iter().filter(|one| one.is_available())
    }

    fn is_available(self) -> bool {
        match self {
            Self::Serial => true,
            #[cfg(target_arch = "x86_64")]
            Self::Avx2 => lanes::Kernel::avx2().is_some(),
            #[cfg(target_arch = "x86_64")]
            Self::Avx512 => lanes::Kernel::avx512().is_some(),
            #[cfg(not(target_arch = "x86_64"))]
            Self::Avx2 | Self::Avx512 => false,
        }
    }

    /// Compresses the blocks of each message into its state. Message `n` has the blocks from `starts[n]` to `starts[n + 1]`, the last
    /// one those to the end. An implementation that the processor cannot run is replaced by [`Self::Serial`].
    fn compress(self, states: &mut [State], blocks: &[Block], starts: &[usize]) {
        #[cfg(debug_assertions)]
        count::add(blocks.len());
        #[cfg(target_arch = "x86_64")]
        {
            let kernel = match self {
                Self::Serial => None,
                Self::Avx2 => lanes::Kernel::avx2(),
                Self::Avx512 => lanes::Kernel::avx512(),
            };
            if let Some(kernel) = kernel {
                return kernel.compress(states, blocks, starts);
            }
        }
        for (index, state) in states.iter_mut().enumerate() {
            compress256(state, &blocks[blocks_of(index, starts, blocks.len())]);
        }
    }
}

/// The blocks of a message.
fn blocks_of(index: usize, starts: &[usize], blocks: usize) -> std::ops::Range<usize> {
    starts[index]..starts.get(index + 1).copied().unwrap_or(blocks)
}

/// Whether `sha2` uses instructions for SHA-256.
fn has_sha_instructions() -> bool {
    if cfg!(sha2_backend = "soft") {
        return false;
    }
    #[cfg(target_arch = "x86_64")]
    {
        std::arch::is_x86_feature_detected!("sha")
    }
    #[cfg(not(target_arch = "x86_64"))]
    {
        // No other implementation exists there.
        true
    }
}

#[cfg(test)]
mod tests;
