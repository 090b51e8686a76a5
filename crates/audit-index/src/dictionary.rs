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
//!   is 0, these bytes are the posting list itself (deltas, see `postings`). If it is 1, they have the number of the dense list and
//!   the list of the postings blocks.
//! - **Directory block:** one entry per dictionary block. The key is a separator: the shortest prefix of the block's first token
//!   that is greater than the last token of the block before. The payload is empty, except in the first entry of a directory
//!   block: there it is the number of the dictionary block, as a varint. Further entries count up from it.

use crate::blocks::{BlockKind, BlockWriter, Damaged, WriteBlocks};
use crate::disjoint::DenseLists;
use crate::postings::{Postings, PostingsWriter};
use crate::roots::{Roots, RootsWriter};
use crate::varint::{self, Reader};

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

/// Writes the dictionary, the directory and the postings of a segment, token by token in byte order.
#[derive(Debug)]
pub(crate) struct DictionaryWriter {
    postings: PostingsWriter,
    leaf: Entries,
    directory: Entries,
    roots: RootsWriter,
    dense: DenseLists,
    payload: Vec<u8>,
    rows: Vec<u8>,
}

/// The size of a written dictionary, the roots of its directory, and the dense lists.
#[derive(Debug)]
pub(crate) struct WrittenDictionary {
    pub(crate) leaves: u32,
    pub(crate) directories: u32,
    pub(crate) roots: Roots,
    pub(crate) dense: DenseLists,
}

impl DictionaryWriter {
    /// Of a segment with this number of rows.
    pub(crate) fn new(segment: u32, segment_rows: u32) -> Self {
        Self {
            postings: PostingsWriter::new(segment),
            leaf: Entries::new(segment, BlockKind::Dictionary),
            directory: Entries::new(segment, BlockKind::Directory),
            roots: RootsWriter::default(),
            dense: DenseLists::new(segment, segment_rows),
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
        let dense = self.dense.next_number(rows.len() as u64);
        let is_posted = self.postings.write(rows, dense, &mut self.rows, blocks)?;
        if is_posted && dense.is_some() {
            self.dense.push(Postings::open(self.dense.segment(), &self.rows)?);
        }
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
            dense: self.dense,
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

/// Finds the first of a block's consecutive keys that is not less than a text. Keys before it are compared by what they share with
/// the key before them, and not decoded.
#[derive(Debug)]
pub(crate) struct Seek<'a> {
    text: &'a [u8],
    /// The length of the prefix that the last key, which is less, shares with the text.
    common: usize,
}

impl<'a> Seek<'a> {
    /// From a restart point whose key is at most `text`, or from the first entry of a block.
    pub(crate) const fn new(text: &'a [u8]) -> Self {
        Self { text, common: 0 }
    }

    /// Reads the next key. Returns `None` if it is less than the text, otherwise what it shares with the key before it: a prefix of
    /// the text.
    #[inline]
    pub(crate) fn next(&mut self, reader: &mut Reader<'_>) -> Result<Option<&'a [u8]>, Damaged> {
        let shared = reader.number()? as usize;
        let length = reader.number()?;
        let suffix = reader.bytes(length)?;
        if shared > self.common {
            // As the key before it, it differs from the text behind what these two have in common.
            return Ok(None);
        }
        let (head, rest) = self.text.split_at(shared);
        if shared == self.common {
            let further = shared_len(suffix, rest);
            if suffix.get(further) < rest.get(further) {
                self.common += further;
                return Ok(None);
            }
        }
        Ok(Some(head))
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
