//! Reading the dictionary of a segment: look-ups of tokens and prefixes, and walks over all tokens.

use crate::blocks::{Block, BlockId, BlockKind, Blocks, Damaged, read};
use crate::dictionary::{RESTART_ENTRIES, Seek, next_token, split_trailer};
use crate::ids::IdReader;
use crate::postings::{Postings, for_each_delta};
use crate::row_id::RowId;
use crate::segment::Segment;
use crate::term::Lookup;
use crate::varint::Reader;
use std::ops::Range;

/// The encoded posting list of one token.
#[derive(Clone, Copy, Debug)]
pub(crate) enum TokenRows<'a> {
    /// Deltas.
    Inline(&'a [u8]),
    /// The list of the postings blocks.
    Posted(&'a [u8]),
}

impl TokenRows<'_> {
    /// Calls `visit` with every row, ascending.
    pub(crate) fn for_each<B: Blocks>(
        &self,
        segment: u32,
        visit: impl FnMut(u32),
        blocks: &mut B,
    ) -> Result<(), B::Error> {
        match self {
            Self::Inline(deltas) => Ok(for_each_delta(deltas, visit)?),
            Self::Posted(block_refs) => Postings::open(segment, block_refs)?.for_each(visit, blocks),
        }
    }
}

impl<I: RowId> Segment<I> {
    /// Calls `visit` with each token, in byte order, and the ids of its rows, ascending.
    ///
    /// # Errors
    /// If a block cannot be read, or is damaged.
    pub fn for_each<B: Blocks>(
        &self,
        mut visit: impl FnMut(&[u8], &[I]),
        blocks: &mut B,
    ) -> Result<(), B::Error> {
        let (mut cursor, mut reader) = (DictionaryCursor::all(self), IdReader::new(self));
        let (mut rows, mut ids) = (Vec::new(), Vec::new());
        while cursor.advance(blocks)? {
            rows.clear();
            cursor.rows().for_each(self.id, |row| rows.push(row), blocks)?;
            ids.clear();
            for row in &rows {
                ids.push(reader.id(*row, blocks)?);
            }
            visit(cursor.token(), &ids);
        }
        Ok(())
    }
}

/// A cursor over tokens of a segment.
#[derive(Debug)]
pub(crate) struct DictionaryCursor {
    segment: u32,
    /// The remaining dictionary blocks.
    leaves: Range<u32>,
    leaf: Block,
    /// The offset of the next entry.
    at: usize,
    /// The offset of the end of the entries.
    end: usize,
    token: Vec<u8>,
    rows: (usize, usize),
    is_posted: bool,
    /// Dictionary blocks that are read next and were prefetched, and how many the next prefetch has.
    prefetched: (u32, u32),
}

impl DictionaryCursor {
    const fn over(segment: u32, leaves: Range<u32>, leaf: Block) -> Self {
        Self {
            segment,
            leaves,
            leaf,
            at: 0,
            end: 0,
            token: Vec::new(),
            rows: (0, 0),
            is_posted: false,
            prefetched: (0, 1),
        }
    }

    /// A cursor before the first of all tokens.
    pub(crate) fn all<I>(segment: &Segment<I>) -> Self {
        Self::over(segment.id, 0..segment.leaves, Block::empty())
    }

    /// A cursor before the first token that `lookup` finds. It stops after the last dictionary block that can have one, which
    /// for a token is the first.
    pub(crate) fn to<I, B: Blocks>(
        segment: &Segment<I>,
        lookup: Lookup<'_>,
        blocks: &mut B,
    ) -> Result<Self, B::Error> {
        Self::over_found(segment, lookup, 1, blocks)
    }

    /// [`Self::to`], to read all tokens that `lookup` finds.
    pub(crate) fn walk<I, B: Blocks>(
        segment: &Segment<I>,
        lookup: Lookup<'_>,
        blocks: &mut B,
    ) -> Result<Self, B::Error> {
        Self::over_found(segment, lookup, PREFETCHED_WALK_LEAVES_MAX, blocks)
    }

    /// [`Self::to`]; `prefetched` dictionary blocks are prefetched together at first.
    fn over_found<I, B: Blocks>(
        segment: &Segment<I>,
        lookup: Lookup<'_>,
        prefetched: u32,
        blocks: &mut B,
    ) -> Result<Self, B::Error> {
        let leaves = leaves_of(segment, lookup, blocks)?;
        let mut cursor = Self::over(segment.id, leaves, Block::empty());
        cursor.prefetched = (0, prefetched);
        if let Some(leaf) = cursor.read_leaf(blocks)? {
            cursor
                .seek(lookup.text)
                .map_err(|damaged| damaged.in_block(leaf))?;
        }
        Ok(cursor)
    }

    /// Moves before the first token of the dictionary block that is not less than `text`, or behind its last one.
    fn seek(&mut self, text: &[u8]) -> Result<(), Damaged> {
        let (entries, restarts) = split_trailer(&self.leaf)?;
        self.at = restart_before(entries, restarts, text)?.1;
        let mut seek = Seek::new(text);
        while self.at < self.end {
            let mut reader = Reader::new(&entries[self.at..]);
            if let Some(shared) = seek.next(&mut reader)? {
                self.token.extend_from_slice(shared);
                break;
            }
            let header = reader.number()?;
            reader.bytes(header >> 1)?;
            self.at = self.end - reader.left();
        }
        Ok(())
    }

    const fn block(&self, number: u32) -> BlockId {
        BlockId {
            segment: self.segment,
            kind: BlockKind::Dictionary,
            number,
        }
    }

    /// Reads the next dictionary block, if there is one.
    fn read_leaf<B: Blocks>(&mut self, blocks: &mut B) -> Result<Option<BlockId>, B::Error> {
        let Some(number) = self.leaves.next() else {
            return Ok(None);
        };
        if B::IS_REMOTE {
            self.prefetch_from(number, blocks)?;
        }
        let leaf = self.block(number);
        self.leaf = read(blocks, leaf)?;
        self.at = 0;
        self.end = split_trailer(&self.leaf)
            .map_err(|damaged| damaged.in_block(leaf))?
            .0
            .len();
        self.token.clear();
        Ok(Some(leaf))
    }

    /// Prefetches the blocks from `number` on, twice as many each time, because a walk often ends soon.
    fn prefetch_from<B: Blocks>(&mut self, number: u32, blocks: &mut B) -> Result<(), B::Error> {
        let (left, next) = self.prefetched;
        if left > 0 {
            self.prefetched.0 = left - 1;
            return Ok(());
        }
        if next > 1 {
            let expected = (number..self.leaves.end.min(number + next)).map(|number| self.block(number));
            blocks.prefetch(&expected.collect::<Vec<_>>())?;
        }
        self.prefetched = (next - 1, (next * 2).min(PREFETCHED_WALK_LEAVES_MAX));
        Ok(())
    }

    /// Moves to the next token. Returns whether there is one.
    pub(crate) fn advance<B: Blocks>(&mut self, blocks: &mut B) -> Result<bool, B::Error> {
        while self.at >= self.end {
            if self.read_leaf(blocks)?.is_none() {
                return Ok(false);
            }
        }
        let leaf = self.block(self.leaves.start.saturating_sub(1));
        self.next_entry().map_err(|damaged| damaged.in_block(leaf))?;
        Ok(true)
    }

    fn next_entry(&mut self) -> Result<(), Damaged> {
        let mut reader = Reader::new(&self.leaf[self.at..self.end]);
        next_token(&mut reader, &mut self.token)?;
        let header = reader.number()?;
        self.is_posted = header & 1 == 1;
        let start = self.end - reader.left();
        reader.bytes(header >> 1)?;
        self.at = self.end - reader.left();
        self.rows = (start, self.at);
        Ok(())
    }

    /// The current token.
    pub(crate) fn token(&self) -> &[u8] {
        &self.token
    }

    /// The posting list of the current token.
    pub(crate) fn rows(&self) -> TokenRows<'_> {
        let bytes = &self.leaf[self.rows.0..self.rows.1];
        match self.is_posted {
            true => TokenRows::Posted(bytes),
            false => TokenRows::Inline(bytes),
        }
    }
}

/// Consecutive dictionary blocks that a walk prefetches together, at most.
const PREFETCHED_WALK_LEAVES_MAX: u32 = 64;

/// Dictionary blocks of one look-up that are prefetched, at most. A prefix may have more.
const PREFETCHED_LEAVES_MAX: usize = 4;

/// Prefetches the blocks that these look-ups read, in each of the segments.
pub(crate) fn prefetch<'a, I: 'a, B: Blocks>(
    segments: impl Iterator<Item = &'a Segment<I>> + Clone,
    lookups: &[Lookup<'_>],
    blocks: &mut B,
) -> Result<(), B::Error> {
    let mut directories = Vec::new();
    for segment in segments.clone() {
        for lookup in lookups {
            directories.extend(directory_of(segment, *lookup)?);
        }
    }
    blocks.prefetch(&directories)?;
    let mut leaves = Vec::new();
    for segment in segments {
        let block = |number| BlockId {
            segment: segment.id,
            kind: BlockKind::Dictionary,
            number,
        };
        for lookup in lookups {
            let of_lookup = leaves_of(segment, *lookup, blocks)?;
            leaves.extend(of_lookup.take(PREFETCHED_LEAVES_MAX).map(block));
        }
    }
    blocks.prefetch(&leaves)
}

/// The directory block that a look-up reads, if it reads one.
fn directory_of<I>(segment: &Segment<I>, lookup: Lookup<'_>) -> Result<Option<BlockId>, Damaged> {
    if segment.leaves <= 1 {
        return Ok(None);
    }
    let number = segment
        .roots
        .directory_of(lookup)
        .map_err(|damaged| damaged.in_segment(segment.id))?;
    Ok(number.map(|number| BlockId {
        segment: segment.id,
        kind: BlockKind::Directory,
        number,
    }))
}

/// The dictionary blocks that can have a token that `lookup` finds. For a token it is one at most.
pub(crate) fn leaves_of<I, B: Blocks>(
    segment: &Segment<I>,
    lookup: Lookup<'_>,
    blocks: &mut B,
) -> Result<Range<u32>, B::Error> {
    if segment.leaves <= 1 {
        let range = segment
            .roots
            .directory_of(lookup)
            .map_err(|damaged| damaged.in_segment(segment.id))?;
        return Ok(0..range.map_or(0, |_| segment.leaves));
    }
    let Some(directory) = directory_of(segment, lookup)? else {
        return Ok(0..0);
    };
    let (mut leaves, is_open) =
        leaves_in(&read(blocks, directory)?, lookup).map_err(|damaged| damaged.in_block(directory))?;
    if is_open {
        // The cursor's reader stops at the first token that it does not find.
        leaves.end = segment.leaves;
    }
    leaves.end = leaves.end.min(segment.leaves);
    Ok(leaves)
}

/// The dictionary blocks of a directory block that can have a token that `lookup` finds, and whether those of the next directory
/// block can, too.
fn leaves_in(directory: &[u8], lookup: Lookup<'_>) -> Result<(Range<u32>, bool), Damaged> {
    let (entries, restarts) = split_trailer(directory)?;
    let mut reader = Reader::new(entries);
    next_token(&mut reader, &mut Vec::new())?;
    let first = reader.number()?;
    let (restart, mut at) = restart_before(entries, restarts, lookup.text)?;
    let mut leaf = first.saturating_add(restart as u32 * RESTART_ENTRIES);
    let (mut separator, mut found) = (Vec::new(), leaf..leaf.saturating_add(1));
    let mut seek = Seek::new(lookup.text);
    while at < entries.len() {
        let mut reader = Reader::new(&entries[at..]);
        if let Some(shared) = seek.next(&mut reader)? {
            separator.extend_from_slice(shared);
            break;
        }
        if at == 0 {
            reader.number()?;
        }
        found = leaf..leaf.saturating_add(1);
        leaf = found.end;
        at = entries.len() - reader.left();
    }
    while at < entries.len() {
        let mut reader = Reader::new(&entries[at..]);
        next_token(&mut reader, &mut separator)?;
        if at == 0 {
            reader.number()?;
        }
        if lookup.ends_before(&separator) {
            return Ok((found, false));
        }
        if separator.as_slice() <= lookup.text {
            found.start = leaf;
        }
        leaf = leaf.saturating_add(1);
        found.end = leaf;
        at = entries.len() - reader.left();
    }
    Ok((found, lookup.is_prefix))
}

/// The last restart point whose key is at most `token`: its index and its offset. If there is none, the first restart point.
fn restart_before(entries: &[u8], restarts: &[[u8; 2]], token: &[u8]) -> Result<(usize, usize), Damaged> {
    let restart_at = |index: usize| usize::from(u16::from_le_bytes(restarts[index]));
    let (mut low, mut high) = (0, restarts.len());
    while high - low > 1 {
        let middle = low.midpoint(high);
        let mut reader = Reader::new(entries.get(restart_at(middle)..).unwrap_or_default());
        reader.number()?;
        let length = reader.number()?;
        match reader.bytes(length)? <= token {
            true => low = middle,
            false => high = middle,
        }
    }
    Ok((low, if restarts.is_empty() { 0 } else { restart_at(low) }))
}
