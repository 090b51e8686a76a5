//! Posting lists: the rows of one token, as row numbers of the segment, ascending.
//!
//! - **Deltas:** one varint per row, the difference to the row before it. The first row is its difference to 0.
//! - **Inline list** (at most 1,024 bytes): deltas, in the dictionary entry.
//! - **Posted list** (longer): in postings blocks of its own, one container per chunk of 65,536 rows, as in Roaring. The
//!   dictionary entry has `dense: varint`, which is 0 or the number of the dense list plus 1 (see `disjoint`), and one pair per
//!   block: `first chunk: varint, block number: varint`.
//!
//! ```text
//! postings block = container*
//! container      = chunk: varint, header: varint, (header >> 1) bytes
//! ```
//!
//! If bit 0 of the header is 1, the bytes are a bitmap (see `bitmap`). If it is 0, they are deltas of the rows' offsets within
//! the chunk. A writer uses the bitmap if it is less than 8 times as long as the deltas. A block has containers of one token
//! only, in the order of their chunks.

use crate::bitmap::{Bitmap, chunk_of, first_of, low, rows_of};
use crate::blocks::{BlockId, BlockKind, BlockReader, BlockWriter, Blocks, Damaged, WriteBlocks};
use crate::varint::{self, Reader};
use std::ops::RangeInclusive;

/// Greatest length of an inline list. A block has posted lists of one token only, so shorter ones would fill a small part of it.
pub(crate) const INLINE_BYTES_MAX: usize = 1_024;
/// Length of a bitmap per byte of deltas below which the bitmap is used: a bitmap is read at once, deltas one by one.
const BITMAP_BYTES_PER_DELTA_BYTE: usize = 8;
/// Greatest length of a block with several containers. A longer container has a block of its own.
const BLOCK_BYTES: usize = 3_900;

/// Writes the posting lists of a segment, token by token.
#[derive(Debug)]
pub(crate) struct PostingsWriter {
    writer: BlockWriter,
    block: Vec<u8>,
    deltas: Vec<u8>,
}

impl PostingsWriter {
    pub(crate) const fn new(segment: u32) -> Self {
        Self {
            writer: BlockWriter::new(segment, BlockKind::Postings),
            block: Vec::new(),
            deltas: Vec::new(),
        }
    }

    /// Writes the rows of a token, at least one. Appends the payload of the dictionary entry to `entry`. Returns whether the
    /// list is posted, so that the payload has `dense`, its number if it is dense, and the list of its blocks.
    pub(crate) fn write<B: WriteBlocks>(
        &mut self,
        rows: &[u32],
        dense: Option<u32>,
        entry: &mut Vec<u8>,
        blocks: &mut B,
    ) -> Result<bool, B::Error> {
        // A row has one byte at least.
        if rows.len() <= INLINE_BYTES_MAX {
            let start = entry.len();
            put_deltas(entry, rows.iter().copied());
            if entry.len() - start <= INLINE_BYTES_MAX {
                return Ok(false);
            }
            entry.truncate(start);
        }
        varint::put(entry, dense.map_or(0, |number| number + 1));
        for chunk in rows.chunk_by(|one, next| chunk_of(*one) == chunk_of(*next)) {
            let number = chunk_of(chunk[0]);
            self.deltas.clear();
            put_deltas(&mut self.deltas, chunk.iter().map(|row| u32::from(low(*row))));
            let bitmap_bytes = chunk.last().map_or(0, |last| usize::from(low(*last)) / 8 + 1);
            let is_bitmap = bitmap_bytes < self.deltas.len() * BITMAP_BYTES_PER_DELTA_BYTE;
            let bytes = if is_bitmap {
                bitmap_bytes
            } else {
                self.deltas.len()
            };
            if !self.block.is_empty() && self.block.len() + bytes > BLOCK_BYTES {
                self.write_block(blocks)?;
            }
            if self.block.is_empty() {
                varint::put(entry, number);
                varint::put(entry, self.writer.count());
            }
            varint::put(&mut self.block, number);
            varint::put(&mut self.block, (bytes as u32) << 1 | u32::from(is_bitmap));
            if is_bitmap {
                let start = self.block.len();
                self.block.resize(start + bytes, 0);
                for row in chunk {
                    let row = low(*row);
                    self.block[start + usize::from(row >> 3)] |= 1 << (row & 7);
                }
            } else {
                self.block.extend_from_slice(&self.deltas);
            }
        }
        self.write_block(blocks)?;
        Ok(true)
    }

    fn write_block<B: WriteBlocks>(&mut self, blocks: &mut B) -> Result<(), B::Error> {
        self.writer.write(&mut self.block, blocks)
    }
}

fn put_deltas(bytes: &mut Vec<u8>, rows: impl Iterator<Item = u32>) {
    let mut last = 0;
    for row in rows {
        varint::put(bytes, row - last);
        last = row;
    }
}

/// Calls `visit` with the rows of encoded deltas.
pub(crate) fn for_each_delta(bytes: &[u8], mut visit: impl FnMut(u32)) -> Result<(), Damaged> {
    let out_of_range = Damaged::new("a row is out of range");
    let (mut reader, mut row) = (Reader::new(bytes), 0_u32);
    loop {
        // Nearly all deltas of a frequent token have one byte, so eight are decoded at once.
        while let Some(deltas) = reader.eight_of_one_byte() {
            let delta_max = deltas.len() as u32 * u32::from(u8::MAX);
            if row > u32::MAX - delta_max {
                return Err(out_of_range);
            }
            for delta in deltas {
                row += u32::from(delta);
                visit(row);
            }
        }
        if reader.is_at_end() {
            return Ok(());
        }
        row = row.checked_add(reader.number()?).ok_or(out_of_range)?;
        visit(row);
    }
}

/// A posted list.
#[derive(Debug)]
pub(crate) struct Postings {
    dense: Option<u32>,
    /// The first chunk and the number of each block.
    block_refs: Vec<(u32, u32)>,
    reader: BlockReader,
}

impl Postings {
    /// Its number among the dense lists of the segment, if it is dense.
    pub(crate) const fn dense(&self) -> Option<u32> {
        self.dense
    }

    /// The first chunk and the number of each block.
    pub(crate) fn block_refs(&self) -> &[(u32, u32)] {
        &self.block_refs
    }

    /// Parses the payload of a dictionary entry.
    pub(crate) fn open(segment: u32, entry: &[u8]) -> Result<Self, Damaged> {
        let (mut reader, mut block_refs) = (Reader::new(entry), Vec::new());
        let dense = reader.number()?.checked_sub(1);
        while !reader.is_at_end() {
            block_refs.push((reader.number()?, reader.number()?));
        }
        Ok(Self {
            dense,
            block_refs,
            reader: BlockReader::new(segment, BlockKind::Postings),
        })
    }

    /// The blocks that have the rows of these chunks.
    pub(crate) fn blocks_of(&self, chunks: RangeInclusive<u32>) -> impl Iterator<Item = BlockId> {
        let start = self
            .block_refs
            .partition_point(|(first, _)| first <= chunks.start());
        let end = self
            .block_refs
            .partition_point(|(first, _)| first <= chunks.end());
        let block_refs = &self.block_refs[start.saturating_sub(1)..end];
        block_refs.iter().map(|(_, number)| self.reader.block(*number))
    }

    /// The block that has the rows of a chunk, if any has.
    pub(crate) fn block_with(&self, chunk: u32) -> Option<BlockId> {
        let after = self.block_refs.partition_point(|(first, _)| *first <= chunk);
        let index = after.checked_sub(1)?;
        Some(self.reader.block(self.block_refs[index].1))
    }

    /// Adds the rows of a chunk to `bits`.
    pub(crate) fn add_chunk<B: Blocks>(
        &mut self,
        chunk: u32,
        bits: &mut Bitmap,
        blocks: &mut B,
    ) -> Result<(), B::Error> {
        let Some(block) = self.block_with(chunk) else {
            return Ok(());
        };
        let added = insert_chunk(self.reader.read(block.number, blocks)?, chunk, bits);
        Ok(added.map_err(|damaged| damaged.in_block(block))?)
    }

    /// Calls `visit` with the rows of a chunk that are also in `found`, ascending.
    pub(crate) fn for_each_common<B: Blocks>(
        &mut self,
        chunk: u32,
        found: &Bitmap,
        mut visit: impl FnMut(u16),
        blocks: &mut B,
    ) -> Result<(), B::Error> {
        let Some(block) = self.block_with(chunk) else {
            return Ok(());
        };
        let content = self.reader.read(block.number, blocks)?;
        let mut visit_container = |container: Container<'_>| match container.is_bitmap {
            true => {
                found.for_each_common(container.bytes, &mut visit);
                Ok(())
            }
            false => for_each_delta(container.bytes, |row| {
                if found.has(low(row)) {
                    visit(low(row));
                }
            }),
        };
        for container in containers(content) {
            let container = container.map_err(|damaged| damaged.in_block(block))?;
            if container.chunk == chunk {
                visit_container(container).map_err(|damaged| damaged.in_block(block))?;
            }
        }
        Ok(())
    }

    /// Calls `visit` with every row, ascending.
    pub(crate) fn for_each<B: Blocks>(
        mut self,
        mut visit: impl FnMut(u32),
        blocks: &mut B,
    ) -> Result<(), B::Error> {
        for (_, number) in &self.block_refs {
            let block = self.reader.block(*number);
            let visited = visit_containers(self.reader.read(*number, blocks)?, &mut visit);
            visited.map_err(|damaged| damaged.in_block(block))?;
        }
        Ok(())
    }
}

/// Adds the rows that a block has of a chunk to `bits`.
pub(crate) fn insert_chunk(block: &[u8], chunk: u32, bits: &mut Bitmap) -> Result<(), Damaged> {
    for container in containers(block) {
        let container = container?;
        if container.chunk == chunk {
            if container.is_bitmap {
                bits.insert_bitmap(container.bytes);
            } else {
                for_each_delta(container.bytes, |row| bits.insert(low(row)))?;
            }
        }
    }
    Ok(())
}

/// Calls `visit` with the rows of a block.
fn visit_containers(block: &[u8], visit: &mut impl FnMut(u32)) -> Result<(), Damaged> {
    for container in containers(block) {
        let container = container?;
        let first = first_of(container.chunk);
        if container.is_bitmap {
            rows_of(container.bytes).for_each(|row| visit(first + u32::from(row)));
        } else {
            for_each_delta(container.bytes, |row| visit(first + u32::from(low(row))))?;
        }
    }
    Ok(())
}

/// The encoded rows of one chunk.
pub(crate) struct Container<'a> {
    pub(crate) chunk: u32,
    pub(crate) is_bitmap: bool,
    pub(crate) bytes: &'a [u8],
}

pub(crate) fn containers(block: &[u8]) -> impl Iterator<Item = Result<Container<'_>, Damaged>> {
    let mut reader = Reader::new(block);
    std::iter::from_fn(move || (!reader.is_at_end()).then(|| next_container(&mut reader)))
}

fn next_container<'a>(reader: &mut Reader<'a>) -> Result<Container<'a>, Damaged> {
    let chunk = reader.number()?;
    let header = reader.number()?;
    if chunk > chunk_of(u32::MAX) {
        return Err(Damaged::new("a row is out of range"));
    }
    Ok(Container {
        chunk,
        is_bitmap: header & 1 == 1,
        bytes: reader.bytes(header >> 1)?,
    })
}
