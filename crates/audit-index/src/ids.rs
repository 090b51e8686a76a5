//! The ids of a segment's rows, ascending: which id a row has, and which rows a range of ids holds.

use crate::blocks::{BlockKind, BlockReader, BlockWriter, Blocks, Damaged, WriteBlocks};
use crate::segment::Segment;

/// Ids of one block.
const BLOCK_IDS: u32 = 500;

/// Writes ids as they come.
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

    pub(crate) fn push<B: WriteBlocks>(&mut self, id: i64, blocks: &mut B) -> Result<(), B::Error> {
        self.block.extend(id.to_le_bytes());
        self.count += 1;
        if self.count.is_multiple_of(BLOCK_IDS) {
            self.write(blocks)?;
        }
        Ok(())
    }

    /// How many there are.
    pub(crate) fn finish<B: WriteBlocks>(mut self, blocks: &mut B) -> Result<u32, B::Error> {
        if !self.block.is_empty() {
            self.write(blocks)?;
        }
        Ok(self.count)
    }

    fn write<B: WriteBlocks>(&mut self, blocks: &mut B) -> Result<(), B::Error> {
        self.writer.write(&self.block, blocks)?;
        self.block.clear();
        Ok(())
    }
}

/// Reads the ids of a segment's rows.
#[derive(Debug)]
pub(crate) struct IdReader {
    segment: Segment,
    reader: BlockReader,
}

impl IdReader {
    pub(crate) const fn new(segment: Segment) -> Self {
        Self {
            segment,
            reader: BlockReader::new(segment.id, BlockKind::Ids),
        }
    }

    /// The id of a row.
    pub(crate) fn id<B: Blocks>(&mut self, row: u32, blocks: &mut B) -> Result<i64, B::Error> {
        let (ids, _) = self.reader.read(row / BLOCK_IDS, blocks)?.as_chunks();
        let id = ids.get((row % BLOCK_IDS) as usize);
        let id = id.ok_or(Damaged {
            what: "an id is missing",
        })?;
        Ok(i64::from_le_bytes(*id))
    }

    /// How many rows have an id below this one.
    pub(crate) fn rows_below<B: Blocks>(&mut self, id: i64, blocks: &mut B) -> Result<u32, B::Error> {
        let rows = self.segment.rows;
        if id <= self.segment.first {
            return Ok(0);
        }
        if id > self.segment.last {
            return Ok(rows);
        }
        // The last block whose first id is below, and then within that block.
        let (mut low, mut high) = (0, rows.div_ceil(BLOCK_IDS));
        while high - low > 1 {
            let middle = low.midpoint(high);
            match self.id(middle * BLOCK_IDS, blocks)? < id {
                true => low = middle,
                false => high = middle,
            }
        }
        let (mut low, mut high) = (low * BLOCK_IDS, rows.min((low + 1) * BLOCK_IDS));
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
