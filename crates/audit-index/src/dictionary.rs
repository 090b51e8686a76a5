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

use crate::blocks::{BlockId, BlockKind, BlockWriter, Blocks, Damaged, WriteBlocks, read};
use crate::postings::{Postings, PostingsWriter, for_each_delta};
use crate::segment::Segment;
use crate::varint::{self, Reader};
use std::sync::Arc;

/// Greatest length of a block with several entries, so that it fits into a page of 4 KiB.
const BLOCK_BYTES: usize = 3_900;
/// Entries per restart point.
const RESTART_ENTRIES: u32 = 16;
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
        self.writer.write(&self.bytes, blocks)?;
        self.bytes.clear();
        self.count = 0;
        Ok(())
    }
}

fn shared_len(one: &[u8], other: &[u8]) -> usize {
    one.iter()
        .zip(other)
        .take_while(|(one, other)| one == other)
        .count()
}

/// Splits a block into its entries and the offsets of its restart points.
fn split_trailer(block: &[u8]) -> Result<(&[u8], &[[u8; 2]]), Damaged> {
    let truncated = Damaged {
        what: "a block of the dictionary ends too early",
    };
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
    payload: Vec<u8>,
    rows: Vec<u8>,
}

impl DictionaryWriter {
    pub(crate) const fn new(segment: u32) -> Self {
        Self {
            postings: PostingsWriter::new(segment),
            leaf: Entries::new(segment, BlockKind::Dictionary),
            directory: Entries::new(segment, BlockKind::Directory),
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

    /// Writes the last blocks. Returns the number of dictionary blocks and of directory blocks.
    pub(crate) fn finish<B: WriteBlocks>(mut self, blocks: &mut B) -> Result<(u32, u32), B::Error> {
        self.leaf.write(blocks)?;
        self.directory.write(blocks)?;
        Ok((self.leaf.writer.count(), self.directory.writer.count()))
    }

    fn begin_leaf<B: WriteBlocks>(&mut self, token: &[u8], blocks: &mut B) -> Result<(), B::Error> {
        let behind = shared_len(&self.leaf.last, token) + 1;
        let separator = &token[..behind.min(token.len())];
        if !self.directory.has_room_for(separator, &[]) {
            self.directory.write(blocks)?;
        }
        // The first entry of a directory block has the number of its dictionary block.
        let mut payload = Vec::new();
        if self.directory.is_empty() {
            varint::put(&mut payload, self.leaf.writer.count());
        }
        self.directory.push(separator, &payload);
        Ok(())
    }
}

/// Decodes the next key of a block; `token` has the key before it.
fn next_token(reader: &mut Reader<'_>, token: &mut Vec<u8>) -> Result<(), Damaged> {
    let shared = reader.number()? as usize;
    if shared > token.len() {
        return Err(Damaged {
            what: "a token shares more bytes than the token before it has",
        });
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

/// A cursor over the tokens of a segment.
#[derive(Debug)]
pub(crate) struct DictionaryCursor {
    segment: u32,
    leaves: u32,
    next_leaf: u32,
    leaf: Arc<[u8]>,
    /// The offset of the next entry.
    at: usize,
    /// The offset of the end of the entries.
    end: usize,
    token: Vec<u8>,
    rows: (usize, usize),
    is_posted: bool,
}

impl DictionaryCursor {
    /// A cursor at the last restart point that is not after `token`. Call [`Self::advance`] to get to the first token.
    pub(crate) fn to<I, B: Blocks>(
        segment: &Segment<I>,
        token: &[u8],
        blocks: &mut B,
    ) -> Result<Self, B::Error> {
        let mut cursor = Self {
            segment: segment.id,
            leaves: segment.leaves,
            next_leaf: leaf_of(segment, token, blocks)?,
            leaf: Arc::default(),
            at: 0,
            end: 0,
            token: Vec::new(),
            rows: (0, 0),
            is_posted: false,
        };
        if cursor.next_leaf < cursor.leaves {
            cursor.read_leaf(blocks)?;
            let (entries, restarts) = split_trailer(&cursor.leaf)?;
            cursor.at = restart_before(entries, restarts, token)?.1;
        }
        Ok(cursor)
    }

    fn read_leaf<B: Blocks>(&mut self, blocks: &mut B) -> Result<(), B::Error> {
        self.leaf = read(blocks, self.segment, BlockKind::Dictionary, self.next_leaf)?;
        self.next_leaf += 1;
        self.at = 0;
        self.end = split_trailer(&self.leaf)?.0.len();
        self.token.clear();
        Ok(())
    }

    /// Moves to the next token. Returns whether there is one.
    pub(crate) fn advance<B: Blocks>(&mut self, blocks: &mut B) -> Result<bool, B::Error> {
        while self.at >= self.end {
            if self.next_leaf >= self.leaves {
                return Ok(false);
            }
            self.read_leaf(blocks)?;
        }
        let mut reader = Reader::new(&self.leaf[self.at..self.end]);
        next_token(&mut reader, &mut self.token)?;
        let header = reader.number()?;
        self.is_posted = header & 1 == 1;
        let start = self.end - reader.left();
        reader.bytes(header >> 1)?;
        self.at = self.end - reader.left();
        self.rows = (start, self.at);
        Ok(true)
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

/// Prefetches the dictionary blocks where these tokens or prefixes begin, in each of the segments.
pub(crate) fn prefetch<I, B: Blocks>(
    segments: &[&Segment<I>],
    texts: &[&[u8]],
    blocks: &mut B,
) -> Result<(), B::Error> {
    let block = |segment: &Segment<I>, kind, number| BlockId {
        segment: segment.id,
        kind,
        number,
    };
    let directories = segments
        .iter()
        .filter(|segment| segment.leaves > 1)
        .flat_map(|segment| {
            (0..segment.directories).map(|number| block(segment, BlockKind::Directory, number))
        });
    let directories: Vec<BlockId> = directories.collect();
    blocks.prefetch(&directories)?;
    let mut leaves = Vec::with_capacity(segments.len() * texts.len());
    for segment in segments {
        for text in texts {
            leaves.push(block(
                segment,
                BlockKind::Dictionary,
                leaf_of(segment, text, blocks)?,
            ));
        }
    }
    blocks.prefetch(&leaves)
}

/// The number of the dictionary block that contains a token, if any does.
fn leaf_of<I, B: Blocks>(segment: &Segment<I>, token: &[u8], blocks: &mut B) -> Result<u32, B::Error> {
    if segment.leaves <= 1 || token.is_empty() {
        return Ok(0);
    }
    // The last directory block whose first separator is at most the token.
    let directory = |number, blocks: &mut B| read(blocks, segment.id, BlockKind::Directory, number);
    let (mut low, mut high) = (0, segment.directories);
    while high - low > 1 {
        let middle = low.midpoint(high);
        let block = directory(middle, blocks)?;
        let mut first = Vec::new();
        next_token(&mut Reader::new(&block), &mut first)?;
        match first.as_slice() <= token {
            true => low = middle,
            false => high = middle,
        }
    }
    Ok(leaf_in(&directory(low, blocks)?, token)?)
}

/// The last dictionary block of a directory block whose separator is at most the token.
fn leaf_in(directory: &[u8], token: &[u8]) -> Result<u32, Damaged> {
    let (entries, restarts) = split_trailer(directory)?;
    let mut reader = Reader::new(entries);
    next_token(&mut reader, &mut Vec::new())?;
    let first = reader.number()?;
    let (restart, mut at) = restart_before(entries, restarts, token)?;
    let (mut separator, mut found) = (Vec::new(), first + restart as u32 * RESTART_ENTRIES);
    let mut leaf = found;
    while at < entries.len() {
        let mut reader = Reader::new(&entries[at..]);
        next_token(&mut reader, &mut separator)?;
        if at == 0 {
            reader.number()?;
        }
        if separator.as_slice() > token {
            break;
        }
        found = leaf;
        leaf = leaf.saturating_add(1);
        at = entries.len() - reader.left();
    }
    Ok(found)
}
