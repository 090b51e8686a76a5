//! Blocks of the search index, with any content and the right checksum: as somebody writes them who can write to the database.

use audit_index::{
    Block, BlockId, Blocks, Damaged, Segment, Term, WriteBlocks, build_segment, newest, verify,
};
use std::collections::BTreeMap;

/// The most blocks that a query of the small segment may read, however damaged it is.
const READS_MAX: usize = 10_000;

/// Blocks by key.
#[derive(Default)]
struct Memory {
    blocks: BTreeMap<i64, Vec<u8>>,
    reads: usize,
}

impl Blocks for &mut Memory {
    type Error = Damaged;

    fn read(&mut self, block: BlockId) -> Result<Option<Block>, Damaged> {
        self.reads += 1;
        assert!(self.reads <= READS_MAX, "a query ends");
        let stored = self.blocks.get(&block.key());
        stored
            .map(|bytes| Block::check(block, bytes.as_slice()))
            .transpose()
    }
}

impl WriteBlocks for &mut Memory {
    fn write(&mut self, block: BlockId, bytes: &[u8]) -> Result<(), Damaged> {
        self.blocks.insert(block.key(), bytes.to_vec());
        Ok(())
    }
}

fn small() -> (Segment, Memory) {
    let rows: Vec<(i64, String)> = (0..130)
        .map(|number: i64| {
            (
                number * 3,
                format!("every {:03}_{}", number * 7 % 130, "x".repeat(25)),
            )
        })
        .collect();
    let rows: Vec<(i64, &str)> = rows.iter().map(|(id, tokens)| (*id, tokens.as_str())).collect();
    let mut memory = Memory::default();
    let segment = build_segment(&rows, 1, &mut &mut memory).expect("memory can be written");
    (segment, memory)
}

/// A damaged block, which the first byte of the input chooses, causes neither a panic nor an endless search. The second byte says
/// whether the rest is its whole content or is written over it from an offset.
pub fn block(bytes: &[u8]) -> bool {
    let [which, mode, content @ ..] = bytes else {
        return false;
    };
    let (segment, mut memory) = small();
    let keys: Vec<i64> = memory.blocks.keys().copied().collect();
    let key = keys[usize::from(*which) % keys.len()];
    let stored = memory.blocks.get_mut(&key).expect("a block");
    stored.truncate(stored.len() - 4);
    if mode % 2 == 0 {
        *stored = content.to_vec();
    } else if let [low, high, content @ ..] = content {
        let at = usize::from(u16::from_le_bytes([*low, *high])) % stored.len();
        let length = content.len().min(stored.len() - at);
        stored[at..at + length].copy_from_slice(&content[..length]);
    }
    let checksum = crc32c::crc32c_append(crc32c::crc32c(&key.to_le_bytes()), stored);
    stored.extend(checksum.to_le_bytes());
    for prefix in ["every", "000", "06", "129", ""] {
        memory.reads = 0;
        let term = Term::Prefix(vec![prefix.to_owned()]);
        let found = newest(
            std::slice::from_ref(&segment),
            &[term],
            &(i64::MIN..i64::MAX),
            200,
            &mut &mut memory,
        );
        if let Ok(rows) = found {
            assert!(rows.len() <= 200);
        }
    }
    memory.reads = 0;
    let mut rows_max = 0;
    if verify(&segment, |_, row| rows_max = rows_max.max(row), &mut &mut memory).is_ok() {
        assert!(rows_max < segment.rows);
    }
    true
}

/// Inputs of [`block`].
pub fn block_seeds() -> Vec<Vec<u8>> {
    let (_, memory) = small();
    let whole = (0..).zip(memory.blocks.values()).map(|(which, stored): (u8, _)| {
        let mut seed = vec![which, 0];
        seed.extend(&stored[..stored.len() - 4]);
        seed
    });
    let mut seeds: Vec<Vec<u8>> = whole.collect();
    seeds.extend((0..8).map(|which| vec![which, 1, 3, 0, 255, 255, 255, 255]));
    seeds
}
