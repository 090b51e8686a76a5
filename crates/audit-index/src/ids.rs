//! The ids of a segment's rows, by row number, ascending.
//!
//! An ids block is the concatenation of encoded ids ([`RowId::put`], fixed length). Every block except the last one has
//! `4,000 / RowId::BYTES` ids, so the block and offset of a row's id follow from its row number. A segment with several ids
//! blocks has first ids blocks of the same layout: the first id of each ids block. A search reads a few of these, and one ids
//! block.

use crate::blocks::{BlockKind, BlockReader, BlockWriter, Blocks, Damaged, PREFETCH_BLOCKS_MAX, WriteBlocks};
use crate::row_id::RowId;
use crate::segment::Segment;
use std::ops::Range;

/// Greatest length of a block.
const BLOCK_BYTES: usize = 4_000;

/// Ids per block.
pub(crate) const fn block_ids<I: RowId>() -> u32 {
    (BLOCK_BYTES / I::BYTES) as u32
}

/// The number of first ids of a segment with this number of rows.
pub(crate) const fn first_ids<I: RowId>(rows: u32) -> u32 {
    match rows.div_ceil(block_ids::<I>()) {
        1 => 0,
        blocks => blocks,
    }
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
    firsts: Vec<u8>,
    firsts_writer: BlockWriter,
}

impl IdWriter {
    pub(crate) const fn new(segment: u32) -> Self {
        Self {
            count: 0,
            block: Vec::new(),
            writer: BlockWriter::new(segment, BlockKind::Ids),
            firsts: Vec::new(),
            firsts_writer: BlockWriter::new(segment, BlockKind::FirstIds),
        }
    }

    pub(crate) fn push<I: RowId, B: WriteBlocks>(&mut self, id: I, blocks: &mut B) -> Result<(), B::Error> {
        if self.count.is_multiple_of(block_ids::<I>()) {
            if self.firsts.len() + I::BYTES > BLOCK_BYTES {
                self.firsts_writer.write(&mut self.firsts, blocks)?;
            }
            id.put(&mut self.firsts);
        }
        id.put(&mut self.block);
        self.count += 1;
        if self.count.is_multiple_of(block_ids::<I>()) {
            self.writer.write(&mut self.block, blocks)?;
        }
        Ok(())
    }

    /// Writes the last blocks. Returns the number of ids.
    pub(crate) fn finish<B: WriteBlocks>(mut self, blocks: &mut B) -> Result<u32, B::Error> {
        if !self.block.is_empty() {
            self.writer.write(&mut self.block, blocks)?;
        }
        if self.writer.count() > 1 {
            self.firsts_writer.write(&mut self.firsts, blocks)?;
        }
        Ok(self.count)
    }
}

/// Ascending ids in the blocks of one kind.
#[derive(Debug)]
struct SortedIds {
    count: u32,
    reader: BlockReader,
}

impl SortedIds {
    /// The id at a position.
    fn id<I: RowId, B: Blocks>(&mut self, position: u32, blocks: &mut B) -> Result<I, B::Error> {
        let number = position / block_ids::<I>();
        let ids = self.reader.read(number, blocks)?;
        let start = (position % block_ids::<I>()) as usize * I::BYTES;
        let id = ids.get(start..start + I::BYTES).and_then(I::read);
        let missing = Damaged::new("an id is missing").in_block(self.reader.block(number));
        Ok(id.ok_or(missing)?)
    }

    /// Prefetches these blocks, in requests of a limited size.
    fn prefetch<B: Blocks>(&self, numbers: &[u32], blocks: &mut B) -> Result<(), B::Error> {
        for numbers in numbers.chunks(PREFETCH_BLOCKS_MAX) {
            let expected = numbers.iter().map(|number| self.reader.block(*number));
            blocks.prefetch(&expected.collect::<Vec<_>>())?;
        }
        Ok(())
    }

    /// The last block whose first id is less than `id`. The first block's is.
    fn block_of<I: RowId, B: Blocks>(&mut self, id: I, blocks: &mut B) -> Result<u32, B::Error> {
        let (mut low, mut high) = (0, self.count.div_ceil(block_ids::<I>()));
        let mut steps = 0_u32;
        while high - low > 1 {
            if B::IS_REMOTE && steps.is_multiple_of(PREFETCH_STEPS) {
                let mut ahead = Vec::new();
                push_middles(low, high, PREFETCH_STEPS, &mut ahead);
                self.prefetch(&ahead, blocks)?;
            }
            steps += 1;
            let middle = low.midpoint(high);
            match self.id::<I, B>(middle * block_ids::<I>(), blocks)? < id {
                true => low = middle,
                false => high = middle,
            }
        }
        Ok(low)
    }

    /// The number of ids that are less than `id`. The first id of block `number` is, and that of the next block is not.
    fn below<I: RowId, B: Blocks>(&mut self, id: I, number: u32, blocks: &mut B) -> Result<u32, B::Error> {
        let (mut low, mut high) = (
            number * block_ids::<I>(),
            self.count.min((number + 1) * block_ids::<I>()),
        );
        while low < high {
            let middle = low.midpoint(high);
            match self.id::<I, B>(middle, blocks)? < id {
                true => low = middle + 1,
                false => high = middle,
            }
        }
        Ok(low)
    }
}

/// Searches for this number of ids read all first ids blocks.
const FEW_SEARCHES: usize = 8;

/// Reads the ids of a segment's rows.
#[derive(Debug)]
pub(crate) struct IdReader<I> {
    first: I,
    last: I,
    rows: SortedIds,
    /// The first id of each of their blocks. Empty if there is only one.
    firsts: SortedIds,
}

impl<I: RowId> IdReader<I> {
    pub(crate) const fn new(segment: &Segment<I>) -> Self {
        Self {
            first: segment.first,
            last: segment.last,
            rows: SortedIds {
                count: segment.rows,
                reader: BlockReader::new(segment.id, BlockKind::Ids),
            },
            firsts: SortedIds {
                count: first_ids::<I>(segment.rows),
                reader: BlockReader::new(segment.id, BlockKind::FirstIds),
            },
        }
    }

    /// The id of a row.
    pub(crate) fn id<B: Blocks>(&mut self, row: u32, blocks: &mut B) -> Result<I, B::Error> {
        self.rows.id(row, blocks)
    }

    /// Prefetches the ids of these rows.
    pub(crate) fn prefetch<B: Blocks>(
        &self,
        rows: impl Iterator<Item = u32>,
        blocks: &mut B,
    ) -> Result<(), B::Error> {
        let mut numbers: Vec<u32> = rows.map(|row| row / block_ids::<I>()).collect();
        numbers.dedup();
        self.rows.prefetch(&numbers, blocks)
    }

    /// The numbers of rows whose ids are less than each of `bounds`, which ascend.
    pub(crate) fn rows_below_each<B: Blocks>(
        &mut self,
        bounds: &[I],
        blocks: &mut B,
    ) -> Result<Vec<u32>, B::Error> {
        let outer = bounds.partition_point(|bound| *bound <= self.first);
        let inner = bounds[outer..].partition_point(|bound| *bound <= self.last);
        let inner = &bounds[outer..outer + inner];
        let mut below = vec![0; outer];
        below.reserve(bounds.len() - outer);
        if B::IS_REMOTE && inner.len() >= FEW_SEARCHES {
            let all: Vec<u32> = (0..self.firsts.count.div_ceil(block_ids::<I>())).collect();
            self.firsts.prefetch(&all, blocks)?;
        }
        // The blocks of a request are read before the next request, while the cache has them.
        for inner in inner.chunks(PREFETCH_BLOCKS_MAX) {
            let numbers: Vec<u32> = inner
                .iter()
                .map(|bound| self.block_of(*bound, blocks))
                .collect::<Result<_, _>>()?;
            if B::IS_REMOTE {
                let mut expected = numbers.clone();
                expected.dedup();
                self.rows.prefetch(&expected, blocks)?;
            }
            for (bound, number) in inner.iter().zip(numbers) {
                below.push(self.rows.below(*bound, number, blocks)?);
            }
        }
        below.resize(bounds.len(), self.rows.count);
        Ok(below)
    }

    /// The block of the last row whose id is less than `id`. The first row's is.
    fn block_of<B: Blocks>(&mut self, id: I, blocks: &mut B) -> Result<u32, B::Error> {
        if self.firsts.count == 0 {
            return Ok(0);
        }
        let number = self.firsts.block_of(id, blocks)?;
        Ok(self.firsts.below(id, number, blocks)?.saturating_sub(1))
    }
}

impl<I: RowId> Segment<I> {
    /// The ids of these rows.
    ///
    /// # Errors
    /// If a block cannot be read, or is damaged.
    pub fn ids<B: Blocks>(&self, rows: Range<u32>, blocks: &mut B) -> Result<Vec<I>, B::Error> {
        let mut reader = IdReader::new(self);
        rows.map(|row| reader.id(row, blocks)).collect()
    }

    /// Whether it has a row with one of these ids, which ascend.
    ///
    /// # Errors
    /// If a block cannot be read, or is damaged.
    pub fn has_any<B: Blocks>(&self, ids: &[I], blocks: &mut B) -> Result<bool, B::Error> {
        let mut reader = IdReader::new(self);
        let rows = reader.rows_below_each(ids, blocks)?;
        for (id, row) in ids.iter().zip(rows) {
            if row < self.rows && reader.id(row, blocks)? == *id {
                return Ok(true);
            }
        }
        Ok(false)
    }
}
