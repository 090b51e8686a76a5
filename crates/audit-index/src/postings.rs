//! The rows of one token: a few beside it in the dictionary, many in blocks of their own.
//!
//! Rows are numbers within the segment, ascending. In blocks they are put together by chunk, each chunk as the distances
//! between rows or as a bitmap, whichever is read sooner.

use crate::bits::{Bits, chunk_of, first_of, low, rows_of};
use crate::blocks::{BlockId, BlockKind, BlockReader, BlockWriter, Blocks, Damaged, WriteBlocks};
use crate::varint::{self, Reader};
use std::ops::RangeInclusive;

/// Rows that are kept beside their token, at most.
const INLINE_ROWS_MAX: usize = 128;
/// A bitmap may be so many times as long as the distances between its rows: it is read at once, and those one by one.
const BITMAP_BYTES_PER_DISTANCE: usize = 8;
/// How long a block gets; a chunk that is longer has one of its own.
const BLOCK_BYTES: usize = 3_900;

/// Writes the blocks of a segment's tokens, one token after the other.
#[derive(Debug)]
pub(crate) struct PostingsWriter {
    writer: BlockWriter,
    block: Vec<u8>,
    distances: Vec<u8>,
}

impl PostingsWriter {
    pub(crate) const fn new(segment: u32) -> Self {
        Self {
            writer: BlockWriter::new(segment, BlockKind::Postings),
            block: Vec::new(),
            distances: Vec::new(),
        }
    }

    /// Writes the rows of a token, of which there is at least one; what the dictionary says of them comes to `entry`: the
    /// rows themselves, or, when the answer is `true`, in which blocks they are.
    pub(crate) fn write<B: WriteBlocks>(
        &mut self,
        rows: &[u32],
        entry: &mut Vec<u8>,
        blocks: &mut B,
    ) -> Result<bool, B::Error> {
        if rows.len() <= INLINE_ROWS_MAX {
            put_distances(entry, rows.iter().copied());
            return Ok(false);
        }
        for chunk in rows.chunk_by(|one, next| chunk_of(*one) == chunk_of(*next)) {
            let number = chunk_of(chunk[0]);
            self.distances.clear();
            put_distances(&mut self.distances, chunk.iter().map(|row| u32::from(low(*row))));
            let bitmap_bytes = chunk.last().map_or(0, |last| usize::from(low(*last)) / 8 + 1);
            let is_bitmap = bitmap_bytes < self.distances.len() * BITMAP_BYTES_PER_DISTANCE;
            let bytes = if is_bitmap {
                bitmap_bytes
            } else {
                self.distances.len()
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
                self.block.extend_from_slice(&self.distances);
            }
        }
        self.write_block(blocks)?;
        Ok(true)
    }

    fn write_block<B: WriteBlocks>(&mut self, blocks: &mut B) -> Result<(), B::Error> {
        self.writer.write(&self.block, blocks)?;
        self.block.clear();
        Ok(())
    }
}

fn put_distances(bytes: &mut Vec<u8>, rows: impl Iterator<Item = u32>) {
    let mut last = 0;
    for row in rows {
        varint::put(bytes, row - last);
        last = row;
    }
}

/// Calls `see` with the rows that were put as distances.
pub(crate) fn for_each_distance(bytes: &[u8], mut see: impl FnMut(u32)) -> Result<(), Damaged> {
    let out_of_range = Damaged {
        what: "a row is out of range",
    };
    let (mut reader, mut row) = (Reader::new(bytes), 0_u32);
    loop {
        // Of tokens that many rows have, nearly all distances are short: eight of them at once.
        while let Some(distances) = reader.eight_of_one_byte() {
            let farthest = distances.len() as u32 * u32::from(u8::MAX);
            if row > u32::MAX - farthest {
                return Err(out_of_range);
            }
            for distance in distances {
                row += u32::from(distance);
                see(row);
            }
        }
        if reader.is_at_end() {
            return Ok(());
        }
        row = row.checked_add(reader.number()?).ok_or(out_of_range)?;
        see(row);
    }
}

/// Rows that are in blocks.
#[derive(Debug)]
pub(crate) struct Postings {
    /// The first chunk of each block, with the block.
    places: Vec<(u32, u32)>,
    reader: BlockReader,
}

impl Postings {
    /// Out of what the dictionary says.
    pub(crate) fn open(segment: u32, entry: &[u8]) -> Result<Self, Damaged> {
        let (mut reader, mut places) = (Reader::new(entry), Vec::new());
        while !reader.is_at_end() {
            places.push((reader.number()?, reader.number()?));
        }
        Ok(Self {
            places,
            reader: BlockReader::new(segment, BlockKind::Postings),
        })
    }

    /// The blocks that have the rows of some chunks.
    pub(crate) fn blocks_of(&self, chunks: RangeInclusive<u32>) -> impl Iterator<Item = BlockId> {
        let start = self.places.partition_point(|(first, _)| first <= chunks.start());
        let end = self.places.partition_point(|(first, _)| first <= chunks.end());
        let places = &self.places[start.saturating_sub(1)..end];
        places.iter().map(|(_, number)| self.reader.block(*number))
    }

    /// Adds the rows of a chunk to `bits`.
    pub(crate) fn add_chunk<B: Blocks>(
        &mut self,
        chunk: u32,
        bits: &mut Bits,
        blocks: &mut B,
    ) -> Result<(), B::Error> {
        let after = self.places.partition_point(|(first, _)| *first <= chunk);
        let Some((_, number)) = after.checked_sub(1).map(|index| self.places[index]) else {
            return Ok(());
        };
        for part in parts(self.reader.read(number, blocks)?) {
            let part = part?;
            if part.chunk == chunk {
                if part.is_bitmap {
                    bits.insert_bitmap(part.bytes);
                } else {
                    for_each_distance(part.bytes, |row| bits.insert(low(row)))?;
                }
            }
        }
        Ok(())
    }

    /// Calls `see` with all rows, ascending.
    pub(crate) fn for_each<B: Blocks>(
        mut self,
        mut see: impl FnMut(u32),
        blocks: &mut B,
    ) -> Result<(), B::Error> {
        for (_, number) in &self.places {
            for part in parts(self.reader.read(*number, blocks)?) {
                let part = part?;
                let first = first_of(part.chunk);
                if part.is_bitmap {
                    rows_of(part.bytes).for_each(|row| see(first + u32::from(row)));
                } else {
                    for_each_distance(part.bytes, |row| see(first + u32::from(low(row))))?;
                }
            }
        }
        Ok(())
    }
}

/// The rows of one chunk within a block.
struct Part<'a> {
    chunk: u32,
    is_bitmap: bool,
    bytes: &'a [u8],
}

fn parts(block: &[u8]) -> impl Iterator<Item = Result<Part<'_>, Damaged>> {
    let mut reader = Reader::new(block);
    std::iter::from_fn(move || (!reader.is_at_end()).then(|| next_part(&mut reader)))
}

fn next_part<'a>(reader: &mut Reader<'a>) -> Result<Part<'a>, Damaged> {
    let chunk = reader.number()?;
    let header = reader.number()?;
    if chunk > chunk_of(u32::MAX) {
        return Err(Damaged {
            what: "a row is out of range",
        });
    }
    Ok(Part {
        chunk,
        is_bitmap: header & 1 == 1,
        bytes: reader.bytes(header >> 1)?,
    })
}
