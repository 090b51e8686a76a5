//! The tokens of a segment in alphabetical order, each with its rows or where those are.
//!
//! An entry is how many bytes it shares with the token before it in its block, the bytes that follow, and what
//! [`PostingsWriter`] says of its rows. Every sixteenth shares nothing; where those begin, two bytes each, is at the end of
//! the block, and last how many there are. The directory has for each block the shortest beginning of its first token that
//! comes behind everything in the block before.

use crate::blocks::{BlockId, BlockKind, BlockWriter, Blocks, Damaged, WriteBlocks, read};
use crate::postings::{Postings, PostingsWriter, for_each_distance};
use crate::segment::Segment;
use crate::varint::{self, Reader};
use std::sync::Arc;

/// How long a block gets, so that it fits into a page of 4 KiB.
const BLOCK_BYTES: usize = 3_900;
/// Every so many entries one shares nothing with the one before it.
const RESTART_ENTRIES: u32 = 16;
/// What an entry takes at most besides its token and what is said of it.
const ENTRY_OVERHEAD_BYTES: usize = 12;

/// The first eight bytes of a token as one number, shorter ones filled with zeros: of two that differ, the token of the lower
/// one comes first. Most tokens differ there, and need not be compared any further.
pub(crate) type Beginning = u64;

pub(crate) fn beginning_of(token: &[u8]) -> Beginning {
    match token.first_chunk() {
        Some(first) => u64::from_be_bytes(*first),
        None => {
            let mut first = [0; 8];
            first[..token.len()].copy_from_slice(token);
            u64::from_be_bytes(first)
        }
    }
}

/// Entries of a block, each after the one before it, and of the blocks before it.
#[derive(Debug)]
struct Entries {
    bytes: Vec<u8>,
    /// The token of the last entry, also of the block before while this one is empty.
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

    fn push(&mut self, token: &[u8], what: &[u8]) {
        if self.count.is_multiple_of(RESTART_ENTRIES) {
            self.restarts.extend((self.bytes.len() as u16).to_le_bytes());
            self.last.clear();
        }
        self.count += 1;
        let shared = shared_len(&self.last, token);
        varint::put(&mut self.bytes, shared as u32);
        varint::put(&mut self.bytes, (token.len() - shared) as u32);
        self.bytes.extend_from_slice(&token[shared..]);
        self.bytes.extend_from_slice(what);
        self.last.truncate(shared);
        self.last.extend_from_slice(&token[shared..]);
    }

    const fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// Whether the entry fits. An empty block takes any.
    fn has_room_for(&self, token: &[u8], what: &[u8]) -> bool {
        let now = self.bytes.len() + self.restarts.len();
        self.is_empty() || now + token.len() + what.len() + ENTRY_OVERHEAD_BYTES <= BLOCK_BYTES
    }

    /// Writes the block, unless it is empty, and begins the next one.
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

/// A block's entries, and where those begin that share nothing.
fn parts_of(block: &[u8]) -> Result<(&[u8], &[[u8; 2]]), Damaged> {
    let cut_off = Damaged {
        what: "a block of the dictionary ends too early",
    };
    let (rest, count) = block.split_last_chunk().ok_or(cut_off)?;
    let restarts = usize::from(u16::from_le_bytes(*count)) * 2;
    let entries = rest.len().checked_sub(restarts).ok_or(cut_off)?;
    let (entries, restarts) = rest.split_at(entries);
    Ok((entries, restarts.as_chunks().0))
}

/// The last of a block's entries that share nothing whose token is not behind `token`: how many of them are before it, and
/// where it begins. The first one when all are behind.
fn restart_before(entries: &[u8], restarts: &[[u8; 2]], token: &[u8]) -> Result<(usize, usize), Damaged> {
    let begins_at = |index: usize| usize::from(u16::from_le_bytes(restarts[index]));
    let (mut low, mut high) = (0, restarts.len());
    while high - low > 1 {
        let middle = low.midpoint(high);
        let mut reader = Reader::new(entries.get(begins_at(middle)..).unwrap_or_default());
        reader.number()?;
        let length = reader.number()?;
        match reader.bytes(length)? <= token {
            true => low = middle,
            false => high = middle,
        }
    }
    Ok((low, if restarts.is_empty() { 0 } else { begins_at(low) }))
}

/// Writes a dictionary token by token, in their order.
#[derive(Debug)]
pub(crate) struct DictionaryWriter {
    postings: PostingsWriter,
    leaf: Entries,
    directory: Entries,
    what: Vec<u8>,
    rows: Vec<u8>,
}

impl DictionaryWriter {
    pub(crate) const fn new(segment: u32) -> Self {
        Self {
            postings: PostingsWriter::new(segment),
            leaf: Entries::new(segment, BlockKind::Dictionary),
            directory: Entries::new(segment, BlockKind::Directory),
            what: Vec::new(),
            rows: Vec::new(),
        }
    }

    /// Adds a token with its rows, ascending, at least one.
    pub(crate) fn push<B: WriteBlocks>(
        &mut self,
        token: &[u8],
        rows: &[u32],
        blocks: &mut B,
    ) -> Result<(), B::Error> {
        self.rows.clear();
        let are_in_blocks = self.postings.write(rows, &mut self.rows, blocks)?;
        self.what.clear();
        let header = (self.rows.len() as u32) << 1 | u32::from(are_in_blocks);
        varint::put(&mut self.what, header);
        self.what.extend_from_slice(&self.rows);
        if !self.leaf.has_room_for(token, &self.what) {
            self.leaf.write(blocks)?;
        }
        if self.leaf.is_empty() {
            self.begin_leaf(token, blocks)?;
        }
        self.leaf.push(token, &self.what);
        Ok(())
    }

    /// How many blocks the dictionary and the directory have.
    pub(crate) fn finish<B: WriteBlocks>(mut self, blocks: &mut B) -> Result<(u32, u32), B::Error> {
        self.leaf.write(blocks)?;
        self.directory.write(blocks)?;
        Ok((self.leaf.writer.count(), self.directory.writer.count()))
    }

    fn begin_leaf<B: WriteBlocks>(&mut self, token: &[u8], blocks: &mut B) -> Result<(), B::Error> {
        let behind = shared_len(&self.leaf.last, token) + 1;
        let begins_with = &token[..behind.min(token.len())];
        if !self.directory.has_room_for(begins_with, &[]) {
            self.directory.write(blocks)?;
        }
        // A block's first entry says which block of the dictionary it speaks of.
        let mut what = Vec::new();
        if self.directory.is_empty() {
            varint::put(&mut what, self.leaf.writer.count());
        }
        self.directory.push(begins_with, &what);
        Ok(())
    }
}

/// Puts the next token of a block together.
fn next_token(reader: &mut Reader<'_>, token: &mut Vec<u8>) -> Result<(), Damaged> {
    let shared = reader.number()? as usize;
    if shared > token.len() {
        return Err(Damaged {
            what: "a token has no beginning",
        });
    }
    let length = reader.number()?;
    token.truncate(shared);
    token.extend_from_slice(reader.bytes(length)?);
    Ok(())
}

/// The rows of the token that a [`Walk`] is at.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Rows<'a> {
    /// As distances.
    Here(&'a [u8]),
    /// Where they are.
    InBlocks(&'a [u8]),
}

impl Rows<'_> {
    /// Calls `see` with all of them, ascending.
    pub(crate) fn for_each<B: Blocks>(
        &self,
        segment: u32,
        see: impl FnMut(u32),
        blocks: &mut B,
    ) -> Result<(), B::Error> {
        match self {
            Self::Here(distances) => Ok(for_each_distance(distances, see)?),
            Self::InBlocks(places) => Postings::open(segment, places)?.for_each(see, blocks),
        }
    }
}

/// A way through the tokens of a segment.
#[derive(Debug)]
pub(crate) struct Walk {
    segment: u32,
    leaves: u32,
    next_leaf: u32,
    leaf: Arc<[u8]>,
    /// Where the next token begins, and where the tokens end.
    at: usize,
    end: usize,
    token: Vec<u8>,
    rows: (usize, usize),
    are_in_blocks: bool,
}

impl Walk {
    /// To a little before `token`, if it is there. Before the first token until it is advanced.
    pub(crate) fn to<I, B: Blocks>(
        segment: &Segment<I>,
        token: &[u8],
        blocks: &mut B,
    ) -> Result<Self, B::Error> {
        let mut walk = Self {
            segment: segment.id,
            leaves: segment.leaves,
            next_leaf: leaf_of(segment, token, blocks)?,
            leaf: Arc::default(),
            at: 0,
            end: 0,
            token: Vec::new(),
            rows: (0, 0),
            are_in_blocks: false,
        };
        if walk.next_leaf < walk.leaves {
            walk.read_leaf(blocks)?;
            let (entries, restarts) = parts_of(&walk.leaf)?;
            walk.at = restart_before(entries, restarts, token)?.1;
        }
        Ok(walk)
    }

    fn read_leaf<B: Blocks>(&mut self, blocks: &mut B) -> Result<(), B::Error> {
        self.leaf = read(blocks, self.segment, BlockKind::Dictionary, self.next_leaf)?;
        self.next_leaf += 1;
        self.at = 0;
        self.end = parts_of(&self.leaf)?.0.len();
        self.token.clear();
        Ok(())
    }

    /// Goes on to the next token; whether there is one.
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
        self.are_in_blocks = header & 1 == 1;
        let start = self.end - reader.left();
        reader.bytes(header >> 1)?;
        self.at = self.end - reader.left();
        self.rows = (start, self.at);
        Ok(true)
    }

    /// The token that it is at.
    pub(crate) fn token(&self) -> &[u8] {
        &self.token
    }

    /// The rows of the token that it is at.
    pub(crate) fn rows(&self) -> Rows<'_> {
        let bytes = &self.leaf[self.rows.0..self.rows.1];
        match self.are_in_blocks {
            true => Rows::InBlocks(bytes),
            false => Rows::Here(bytes),
        }
    }
}

/// Has the blocks read together that have these texts, or what begins like them, in each of the segments.
pub(crate) fn expect<I, B: Blocks>(
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
    blocks.expect(&directories)?;
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
    blocks.expect(&leaves)
}

/// The block that has a token, if any has.
fn leaf_of<I, B: Blocks>(segment: &Segment<I>, token: &[u8], blocks: &mut B) -> Result<u32, B::Error> {
    if segment.leaves <= 1 || token.is_empty() {
        return Ok(0);
    }
    // The last block of the directory whose first entry is not behind the token.
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

/// The last block of the dictionary that does not begin behind a token, of those in a block of the directory.
fn leaf_in(directory: &[u8], token: &[u8]) -> Result<u32, Damaged> {
    let (entries, restarts) = parts_of(directory)?;
    let mut reader = Reader::new(entries);
    next_token(&mut reader, &mut Vec::new())?;
    let first = reader.number()?;
    let (restart, mut at) = restart_before(entries, restarts, token)?;
    let (mut begins_with, mut found) = (Vec::new(), first + restart as u32 * RESTART_ENTRIES);
    let mut leaf = found;
    while at < entries.len() {
        let mut reader = Reader::new(&entries[at..]);
        next_token(&mut reader, &mut begins_with)?;
        if at == 0 {
            reader.number()?;
        }
        if begins_with.as_slice() > token {
            break;
        }
        found = leaf;
        leaf = leaf.saturating_add(1);
        at = entries.len() - reader.left();
    }
    Ok(found)
}
