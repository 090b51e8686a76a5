//! The ids of a segment's rows, by row number, ascending.
//!
//! An ids block is the concatenation of encoded ids ([`RowId::put`], fixed length). Every block except the last one has
//! `4,000 / RowId::BYTES` ids, so the block and offset of a row's id follow from its row number.

use crate::blocks::{BlockId, BlockKind, BlockReader, BlockWriter, Blocks, Damaged, WriteBlocks};
use crate::row_id::RowId;
use crate::search::PREFETCH_BLOCKS_MAX;
use crate::segment::Segment;
use std::ops::Range;

/// Greatest length of a block.
const BLOCK_BYTES: usize = 4_000;

/// Ids per block.
pub(crate) const fn block_ids<I: RowId>() -> u32 {
    (BLOCK_BYTES / I::BYTES) as u32
}

/// Steps of a binary search whose possible blocks are prefetched together.
const PREFETCH_STEPS: u32 = 3;

/// Collects the blocks that the next steps of a binary search may read.
fn push_middles(low: u32, high: u32, steps: u32, middles: &mut Vec<u32>) {
    if steps > 0 && high - low > 1 {
        let middle = low.midpoint(high);
        middles.push(middle);
        push_middles(low, middle, steps - 1, middles);
        push_middles(middle, high, steps - 1, middles);
    }
}

/// Writes the ids of a segment in order.
#[derive(Debug)]
pub(crate) struct IdWriter {
    count: u32,
    block: Vec<u8>,
    writer: BlockWriter,
}

impl IdWriter {
    pub(crate) const fn new(segment: u32) -> Self {
        Self {
            count: 0,
            block: Vec::new(),
            writer: BlockWriter::new(segment, BlockKind::Ids),
        }
    }

    pub(crate) fn push<I: RowId, B: WriteBlocks>(&mut self, id: I, blocks: &mut B) -> Result<(), B::Error> {
        id.put(&mut self.block);
        self.count += 1;
        if self.count.is_multiple_of(block_ids::<I>()) {
            self.write(blocks)?;
        }
        Ok(())
    }

    /// Writes the last block. Returns the number of ids.
    pub(crate) fn finish<B: WriteBlocks>(mut self, blocks: &mut B) -> Result<u32, B::Error> {
        if !self.block.is_empty() {
            self.write(blocks)?;
        }
        Ok(self.count)
    }

    fn write<B: WriteBlocks>(&mut self, blocks: &mut B) -> Result<(), B::Error> {
        self.writer.write(&mut self.block, blocks)
    }
}

/// Reads the ids of a segment's rows.
#[derive(Debug)]
pub(crate) struct IdReader<I> {
    rows: u32,
    first: I,
    last: I,
    reader: BlockReader,
}

impl<I: RowId> IdReader<I> {
    pub(crate) const fn new(segment: &Segment<I>) -> Self {
        Self {
            rows: segment.rows,
            first: segment.first,
            last: segment.last,
            reader: BlockReader::new(segment.id, BlockKind::Ids),
        }
    }

    /// The id of a row.
    pub(crate) fn id<B: Blocks>(&mut self, row: u32, blocks: &mut B) -> Result<I, B::Error> {
        let number = row / block_ids::<I>();
        let ids = self.reader.read(number, blocks)?;
        let start = (row % block_ids::<I>()) as usize * I::BYTES;
        let id = ids.get(start..start + I::BYTES).and_then(I::read);
        let missing = Damaged::new("an id is missing").in_block(self.reader.block(number));
        Ok(id.ok_or(missing)?)
    }

    /// Prefetches the ids of these rows.
    pub(crate) fn prefetch<B: Blocks>(
        &self,
        rows: impl Iterator<Item = u32>,
        blocks: &mut B,
    ) -> Result<(), B::Error> {
        let expected: Vec<BlockId> = rows
            .map(|row| self.reader.block(row / block_ids::<I>()))
            .collect();
        blocks.prefetch(&expected)
    }

    /// The number of rows whose id is less than `id`.
    pub(crate) fn rows_below<B: Blocks>(&mut self, id: I, blocks: &mut B) -> Result<u32, B::Error> {
        self.rows_below_from(id, 0, blocks)
    }

    /// The numbers of rows whose ids are less than each of `bounds`, which ascend.
    pub(crate) fn rows_below_each<B: Blocks>(
        &mut self,
        bounds: &[I],
        blocks: &mut B,
    ) -> Result<Vec<u32>, B::Error> {
        if B::IS_REMOTE {
            self.prefetch_searches(bounds, blocks)?;
        }
        let mut below = 0;
        let mut rows_below = |bound: &I| {
            below = self.rows_below_from(*bound, below / block_ids::<I>(), blocks)?;
            Ok(below)
        };
        bounds.iter().map(&mut rows_below).collect()
    }

    /// Prefetches what the binary searches for these ids read, one step of all of them at a time.
    fn prefetch_searches<B: Blocks>(&mut self, bounds: &[I], blocks: &mut B) -> Result<(), B::Error> {
        let inner = bounds.iter().filter(|id| **id > self.first && **id <= self.last);
        let all = 0..self.rows.div_ceil(block_ids::<I>());
        let mut searches: Vec<(I, Range<u32>)> = inner.map(|id| (*id, all.clone())).collect();
        while !searches.is_empty() {
            let expected = searches.iter().map(|(_, found)| found.start.midpoint(found.end));
            let mut expected: Vec<u32> = expected.collect();
            expected.dedup();
            for expected in expected.chunks(PREFETCH_BLOCKS_MAX) {
                self.prefetch(expected.iter().map(|block| block * block_ids::<I>()), blocks)?;
            }
            searches.retain(|(_, found)| found.len() > 1);
            for (id, found) in &mut searches {
                let middle = found.start.midpoint(found.end);
                match self.id(middle * block_ids::<I>(), blocks)? < *id {
                    true => found.start = middle,
                    false => found.end = middle,
                }
            }
        }
        Ok(())
    }

    /// [`Self::rows_below`], which is in block `low` or behind it.
    fn rows_below_from<B: Blocks>(&mut self, id: I, low: u32, blocks: &mut B) -> Result<u32, B::Error> {
        let rows = self.rows;
        if id <= self.first {
            return Ok(0);
        }
        if id > self.last {
            return Ok(rows);
        }
        // First find the last block whose first id is less, then the row within that block.
        let (mut low, mut high) = (low, rows.div_ceil(block_ids::<I>()));
        let mut steps = 0_u32;
        while high - low > 1 {
            if B::IS_REMOTE && steps.is_multiple_of(PREFETCH_STEPS) {
                let mut blocks_ahead = Vec::new();
                push_middles(low, high, PREFETCH_STEPS, &mut blocks_ahead);
                let first_rows = blocks_ahead.iter().map(|block| block * block_ids::<I>());
                self.prefetch(first_rows, blocks)?;
            }
            steps += 1;
            let middle = low.midpoint(high);
            match self.id(middle * block_ids::<I>(), blocks)? < id {
                true => low = middle,
                false => high = middle,
            }
        }
        let (mut low, mut high) = (low * block_ids::<I>(), rows.min((low + 1) * block_ids::<I>()));
        while low < high {
            let middle = low.midpoint(high);
            match self.id(middle, blocks)? < id {
                true => low = middle + 1,
                false => high = middle,
            }
        }
        Ok(low)
    }
}
