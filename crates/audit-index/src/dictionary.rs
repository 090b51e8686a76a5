//! The dictionary of a segment: its tokens in byte order, each with its posting list or a reference to it.
//!
//! Dictionary and directory blocks share one layout (`varint` is LEB128, `u16` is little endian):
//!
//! ```text
//! block   = entry*, restart: u16 * restarts, restarts: u16
//! entry   = shared: varint, suffix length: varint, suffix, payload
//! ```
//!
//! `shared` is the length of the prefix shared with the key of the entry before it. Every 16th entry, from the first, is a
//! restart point (`shared` = 0); the trailer has the offset of each restart point in the block. A reader binary-searches the
//! restart points and decodes at most 16 entries.
//!
//! - **Dictionary block:** the key is a token. The payload is `header: varint`, then `header >> 1` bytes. If bit 0 of the header
//!   is 0, these bytes are the posting list itself (deltas, see `postings`). If it is 1, they are the list of the postings blocks
//!   that hold it.
//! - **Directory block:** one entry per dictionary block. The key is a separator: the shortest prefix of the block's first token
//!   that is greater than the last token of the block before. The payload is empty, except in the first entry of a directory
//!   block: there it is the number of the dictionary block, as a varint. Further entries count up from it.

use crate::blocks::{Block, BlockId, BlockKind, BlockWriter, Blocks, Damaged, WriteBlocks, read};
use crate::postings::{Postings, PostingsWriter, for_each_delta};
use crate::roots::{Roots, RootsWriter};
use crate::segment::Segment;
use crate::varint::{self, Reader};
use std::ops::Range;

/// Greatest length of a block with several entries, so that it fits into a page of 4 KiB.
const BLOCK_BYTES: usize = 3_900;
/// Entries per restart point.
pub(crate) const RESTART_ENTRIES: u32 = 16;
/// Most bytes of an entry besides its token and payload.
const ENTRY_OVERHEAD_BYTES: usize = 12;

/// The first eight bytes of a token as a big-endian number, padded with zeros. Heads order like their tokens. Most tokens
/// differ in their heads, which makes comparisons cheap.
pub(crate) type TokenHead = u64;

pub(crate) fn head_of(token: &[u8]) -> TokenHead {
    match token.first_chunk() {
        Some(first) => u64::from_be_bytes(*first),
        None => {
            let mut first = [0; 8];
            first[..token.len()].copy_from_slice(token);
            u64::from_be_bytes(first)
        }
    }
}

/// Writes the entries of dictionary or directory blocks.
#[derive(Debug)]
struct Entries {
    bytes: Vec<u8>,
    /// The key of the last entry. While the block is empty, that of the block before.
    last: Vec<u8>,
    count: u32,
    restarts: Vec<u8>,
    writer: BlockWriter,
}

impl Entries {
    const fn new(segment: u32, kind: BlockKind) -> Self {
        Self {
            bytes: Vec::new(),
            last: Vec::new(),
            count: 0,
            restarts: Vec::new(),
            writer: BlockWriter::new(segment, kind),
        }
    }

    fn push(&mut self, token: &[u8], payload: &[u8]) {
        if self.count.is_multiple_of(RESTART_ENTRIES) {
            self.restarts.extend((self.bytes.len() as u16).to_le_bytes());
            self.last.clear();
        }
        self.count += 1;
        let shared = shared_len(&self.last, token);
        varint::put(&mut self.bytes, shared as u32);
        varint::put(&mut self.bytes, (token.len() - shared) as u32);
        self.bytes.extend_from_slice(&token[shared..]);
        self.bytes.extend_from_slice(payload);
        self.last.truncate(shared);
        self.last.extend_from_slice(&token[shared..]);
    }

    const fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// Whether the entry fits into the block. An empty block accepts an entry of any length.
    fn has_room_for(&self, token: &[u8], payload: &[u8]) -> bool {
        let now = self.bytes.len() + self.restarts.len();
        self.is_empty() || now + token.len() + payload.len() + ENTRY_OVERHEAD_BYTES <= BLOCK_BYTES
    }

    /// Writes the block, unless it is empty, and starts the next one.
    fn write<B: WriteBlocks>(&mut self, blocks: &mut B) -> Result<(), B::Error> {
        if self.is_empty() {
            return Ok(());
        }
        let restarts = (self.restarts.len() / 2) as u16;
        self.bytes.append(&mut self.restarts);
        self.bytes.extend(restarts.to_le_bytes());
        self.writer.write(&mut self.bytes, blocks)?;
        self.count = 0;
        Ok(())
    }
}

/// The separator of a block that begins with `token`: the shortest prefix that is greater than `before`, the last token of the
/// block before.
pub(crate) fn separator_of<'a>(before: &[u8], token: &'a [u8]) -> &'a [u8] {
    let behind = shared_len(before, token) + 1;
    &token[..behind.min(token.len())]
}

fn shared_len(one: &[u8], other: &[u8]) -> usize {
    one.iter()
        .zip(other)
        .take_while(|(one, other)| one == other)
        .count()
}

/// Splits a block into its entries and the offsets of its restart points.
pub(crate) fn split_trailer(block: &[u8]) -> Result<(&[u8], &[[u8; 2]]), Damaged> {
    let truncated = Damaged::new("the block ends too early");
    let (rest, count) = block.split_last_chunk().ok_or(truncated)?;
    let restarts = usize::from(u16::from_le_bytes(*count)) * 2;
    let entries = rest.len().checked_sub(restarts).ok_or(truncated)?;
    let (entries, restarts) = rest.split_at(entries);
    Ok((entries, restarts.as_chunks().0))
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

/// Writes the dictionary, the directory and the postings of a segment, token by token in byte order.
#[derive(Debug)]
pub(crate) struct DictionaryWriter {
    postings: PostingsWriter,
    leaf: Entries,
    directory: Entries,
    roots: RootsWriter,
    payload: Vec<u8>,
    rows: Vec<u8>,
}

/// The size of a written dictionary, and the roots of its directory.
#[derive(Debug)]
pub(crate) struct WrittenDictionary {
    pub(crate) leaves: u32,
    pub(crate) directories: u32,
    pub(crate) roots: Roots,
}

impl DictionaryWriter {
    pub(crate) fn new(segment: u32) -> Self {
        Self {
            postings: PostingsWriter::new(segment),
            leaf: Entries::new(segment, BlockKind::Dictionary),
            directory: Entries::new(segment, BlockKind::Directory),
            roots: RootsWriter::default(),
            payload: Vec::new(),
            rows: Vec::new(),
        }
    }

    /// Adds a token with its rows: at least one, ascending.
    pub(crate) fn push<B: WriteBlocks>(
        &mut self,
        token: &[u8],
        rows: &[u32],
        blocks: &mut B,
    ) -> Result<(), B::Error> {
        self.rows.clear();
        let is_posted = self.postings.write(rows, &mut self.rows, blocks)?;
        self.payload.clear();
        let header = (self.rows.len() as u32) << 1 | u32::from(is_posted);
        varint::put(&mut self.payload, header);
        self.payload.extend_from_slice(&self.rows);
        if !self.leaf.has_room_for(token, &self.payload) {
            self.leaf.write(blocks)?;
        }
        if self.leaf.is_empty() {
            self.begin_leaf(token, blocks)?;
        }
        self.leaf.push(token, &self.payload);
        Ok(())
    }

    /// Writes the last blocks.
    pub(crate) fn finish<B: WriteBlocks>(mut self, blocks: &mut B) -> Result<WrittenDictionary, B::Error> {
        self.leaf.write(blocks)?;
        self.directory.write(blocks)?;
        Ok(WrittenDictionary {
            leaves: self.leaf.writer.count(),
            directories: self.directory.writer.count(),
            roots: self.roots.finish(&self.leaf.last),
        })
    }

    fn begin_leaf<B: WriteBlocks>(&mut self, token: &[u8], blocks: &mut B) -> Result<(), B::Error> {
        let separator = separator_of(&self.leaf.last, token);
        if !self.directory.has_room_for(separator, &[]) {
            self.directory.write(blocks)?;
        }
        // The first entry of a directory block has the number of its dictionary block.
        let mut payload = Vec::new();
        if self.directory.is_empty() {
            varint::put(&mut payload, self.leaf.writer.count());
            self.roots.push(separator, token);
        }
        self.directory.push(separator, &payload);
        Ok(())
    }
}

/// Decodes the next key of a block; `token` has the key before it.
pub(crate) fn next_token(reader: &mut Reader<'_>, token: &mut Vec<u8>) -> Result<(), Damaged> {
    let shared = reader.number()? as usize;
    if shared > token.len() {
        return Err(Damaged::new(
            "a token shares more bytes than the token before it has",
        ));
    }
    let length = reader.number()?;
    token.truncate(shared);
    token.extend_from_slice(reader.bytes(length)?);
    Ok(())
}

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

/// A token, or a prefix of tokens, to look up.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Lookup<'a> {
    pub(crate) text: &'a [u8],
    pub(crate) is_prefix: bool,
}

impl Lookup<'_> {
    /// Whether `token` has the prefix, or is the token.
    pub(crate) fn finds(&self, token: &[u8]) -> bool {
        match self.is_prefix {
            true => token.starts_with(self.text),
            false => token == self.text,
        }
    }

    /// Whether every token that it finds is less than `token`.
    pub(crate) fn ends_before(&self, token: &[u8]) -> bool {
        token > self.text && !(self.is_prefix && token.starts_with(self.text))
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
        let leaves = leaves_of(segment, lookup, blocks)?;
        let mut cursor = Self::over(segment.id, leaves, Block::empty());
        if let Some(leaf) = cursor.read_leaf(blocks)? {
            let restart = || {
                let (entries, restarts) = split_trailer(&cursor.leaf)?;
                restart_before(entries, restarts, lookup.text)
            };
            cursor.at = restart().map_err(|damaged| damaged.in_block(leaf))?.1;
        }
        Ok(cursor)
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
fn leaves_of<I, B: Blocks>(
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
