//! Verification of a whole segment.

use crate::bitmap::{CHUNK_ROWS, first_of, rows_of};
use crate::blocks::{Block, BlockId, BlockKind, Blocks, Damaged, read};
use crate::dictionary::{RESTART_ENTRIES, next_token, separator_of, split_trailer};
use crate::disjoint::{Comparison, DenseLists};
use crate::ids::{block_ids, first_ids};
use crate::postings::{INLINE_BYTES_MAX, Postings, containers, for_each_delta};
use crate::roots::RootsWriter;
use crate::row_id::RowId;
use crate::segment::Segment;
use crate::varint::Reader;

/// The size of a verified segment.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Verified {
    /// The number of its blocks.
    pub blocks: u64,
    /// The number of its postings: pairs of a token and a row.
    pub postings: u64,
}

/// Verifies that a segment is one that [`build_segment`](crate::build_segment) or a merge wrote: no block is missing, damaged or
/// surplus; ids and tokens ascend strictly; posting lists ascend and stay within the rows; directory, roots, row count and range
/// agree with them; dense lists are disjoint where their blocks say so, and only there. Calls `see` with every token, in byte order, and each of its rows, ascending.
///
/// # Errors
/// If a block cannot be read, or is damaged; the first one is named.
pub fn verify<I: RowId, B: Blocks>(
    segment: &Segment<I>,
    see: impl FnMut(&[u8], u32),
    blocks: &mut B,
) -> Result<Verified, B::Error> {
    let mut walk = Walk {
        segment,
        see,
        blocks,
        verified: Verified::default(),
        postings_blocks: 0,
        dense: DenseLists::new(segment.id, segment.rows),
    };
    walk.ids()?;
    walk.dictionary()?;
    walk.disjoint()
}

struct Walk<'a, I, S, B> {
    segment: &'a Segment<I>,
    see: S,
    blocks: &'a mut B,
    verified: Verified,
    /// The number of postings blocks so far: they are numbered in the order of the tokens.
    postings_blocks: u32,
    /// The dense lists so far.
    dense: DenseLists,
}

impl<I: RowId, S: FnMut(&[u8], u32), B: Blocks> Walk<'_, I, S, B> {
    const fn block(&self, kind: BlockKind, number: u32) -> BlockId {
        BlockId {
            segment: self.segment.id,
            kind,
            number,
        }
    }

    fn read(&mut self, block: BlockId) -> Result<Block, B::Error> {
        self.verified.blocks += 1;
        read(self.blocks, block)
    }

    /// Checks that a kind has no more than `count` blocks.
    fn end(&mut self, kind: BlockKind, count: u32) -> Result<(), B::Error> {
        let block = self.block(kind, count);
        match self.blocks.read(block)? {
            Some(_) => Err(Damaged::new("the block is surplus").in_block(block).into()),
            None => Ok(()),
        }
    }

    fn wrong<T>(&self, what: &'static str) -> Result<T, B::Error> {
        Err(Damaged::new(what).in_segment(self.segment.id).into())
    }

    fn ids(&mut self) -> Result<(), B::Error> {
        let count = self.segment.rows.div_ceil(block_ids::<I>());
        let (mut first, mut last, mut rows) = (None, None, 0_u32);
        let mut firsts = FirstIds::of(self.segment);
        for number in 0..count {
            let block = self.block(BlockKind::Ids, number);
            let content = self.read(block)?;
            let wrong = |what| Damaged::new(what).in_block(block);
            if !content.len().is_multiple_of(I::BYTES) {
                return Err(wrong("the block ends within an id").into());
            }
            self.first_id(&mut firsts, content.get(..I::BYTES))?;
            for id in content.chunks_exact(I::BYTES) {
                let id = I::read(id).ok_or_else(|| wrong("an id is missing"))?;
                if last.is_some_and(|last| last >= id) {
                    return Err(wrong("the ids do not ascend").into());
                }
                first.get_or_insert(id);
                last = Some(id);
                rows += 1;
            }
            if rows != self.segment.rows.min((number + 1) * block_ids::<I>()) {
                return Err(wrong("the block has another number of ids").into());
            }
        }
        let range = (first.unwrap_or(I::MAX), last.unwrap_or(I::MIN));
        if range != (self.segment.first, self.segment.last) {
            return self.wrong("its lowest or highest id is another");
        }
        self.end(BlockKind::FirstIds, firsts.blocks)?;
        self.end(BlockKind::Ids, count)
    }

    /// Checks the first id of the next ids block.
    fn first_id(&mut self, firsts: &mut FirstIds, id: Option<&[u8]>) -> Result<(), B::Error> {
        if firsts.left == 0 {
            return Ok(());
        }
        firsts.left -= 1;
        if firsts.ids.is_empty() {
            let block = self.block(BlockKind::FirstIds, firsts.blocks);
            firsts.ids = self.read(block)?.to_vec();
            firsts.blocks += 1;
            let ids = block_ids::<I>().min(firsts.left + 1) as usize;
            if firsts.ids.len() != ids * I::BYTES {
                return Err(Damaged::new("the block has another number of ids")
                    .in_block(block)
                    .into());
            }
        }
        let is_first = id.is_some_and(|id| firsts.ids.starts_with(id));
        firsts.ids.drain(..I::BYTES);
        let block = self.block(BlockKind::FirstIds, firsts.blocks - 1);
        let damaged = Damaged::new("a first id is not the first one of its block").in_block(block);
        Ok(is_first.then_some(()).ok_or(damaged)?)
    }

    fn dictionary(&mut self) -> Result<(), B::Error> {
        let mut directory = Directory::default();
        let mut last = Vec::new();
        for number in 0..self.segment.leaves {
            let leaf = self.block(BlockKind::Dictionary, number);
            let content = self.read(leaf)?;
            for entry in entries(&content, true).map_err(|damaged| damaged.in_block(leaf))? {
                if number > 0 || entry.index > 0 {
                    let is_ascending = last < entry.key;
                    let wrong = Damaged::new("the tokens do not ascend").in_block(leaf);
                    is_ascending.then_some(()).ok_or(wrong)?;
                }
                if entry.index == 0 {
                    self.separator(&mut directory, number, &last, &entry.key)?;
                }
                self.postings(&entry.key, entry.payload, entry.is_posted, leaf)?;
                last = entry.key;
            }
        }
        if directory.separators.len() > 0 || directory.blocks != self.segment.directories {
            return self.wrong("its directory has another number of entries or blocks");
        }
        if directory.roots.finish(&last) != self.segment.roots {
            return self.wrong("its roots are not those of the directory");
        }
        let Segment {
            leaves, directories, ..
        } = *self.segment;
        self.end(BlockKind::Dictionary, leaves)?;
        self.end(BlockKind::Directory, directories)?;
        self.end(BlockKind::Postings, self.postings_blocks)
    }

    /// Checks which dense lists are disjoint. Returns the size of the segment.
    fn disjoint(mut self) -> Result<Verified, B::Error> {
        let count = self.dense.blocks();
        self.end(BlockKind::Disjoint, count)?;
        self.verified.blocks += u64::from(count);
        Comparison::whole(self.dense, self.blocks)?.verify(self.blocks)?;
        Ok(self.verified)
    }

    /// Checks the directory's entry of a dictionary block.
    fn separator(
        &mut self,
        directory: &mut Directory,
        leaf: u32,
        before: &[u8],
        token: &[u8],
    ) -> Result<(), B::Error> {
        let separator = separator_of(before, token);
        let block = if directory.separators.len() == 0 {
            let block = self.block(BlockKind::Directory, directory.blocks);
            let content = self.read(block)?;
            let read = directory.open(&content, leaf);
            read.map_err(|damaged| damaged.in_block(block))?;
            directory.roots.push(separator, token);
            block
        } else {
            self.block(BlockKind::Directory, directory.blocks - 1)
        };
        match directory.separators.next().as_deref() == Some(separator) {
            true => Ok(()),
            false => Err(Damaged::new("a separator does not match its dictionary block")
                .in_block(block)
                .into()),
        }
    }

    fn postings(
        &mut self,
        token: &[u8],
        payload: &[u8],
        is_posted: bool,
        leaf: BlockId,
    ) -> Result<(), B::Error> {
        let mut list = PostingList {
            rows: self.segment.rows,
            next: 0,
            count: 0,
        };
        let see = &mut self.see;
        if !is_posted {
            let listed = list.add_deltas(payload, 0, |row| see(token, row));
            let is_short = payload.len() <= INLINE_BYTES_MAX;
            let long = Damaged::new("a posting list is too long for the dictionary");
            let listed = listed.and_then(|()| is_short.then_some(()).ok_or(long));
            listed.map_err(|damaged| damaged.in_block(leaf))?;
        } else {
            let posted = Postings::open(self.segment.id, payload);
            let posted = posted.map_err(|damaged| damaged.in_block(leaf))?;
            for (first_chunk, number) in posted.block_refs() {
                if *number != self.postings_blocks {
                    let damaged = Damaged::new("a posting list has the blocks of another one");
                    return Err(damaged.in_block(leaf).into());
                }
                self.postings_blocks += 1;
                let block = self.block(BlockKind::Postings, *number);
                let content = self.read(block)?;
                let see = &mut self.see;
                let listed = list.add_containers(&content, *first_chunk, |row| see(token, row));
                listed.map_err(|damaged| damaged.in_block(block))?;
            }
            if posted.dense() != self.dense.next_number(list.count) {
                let damaged = Damaged::new("a posting list has another number among the dense ones");
                return Err(damaged.in_block(leaf).into());
            }
            if posted.dense().is_some() {
                self.dense.push(posted);
            }
        }
        if list.count == 0 {
            return Err(Damaged::new("a posting list is empty").in_block(leaf).into());
        }
        self.verified.postings += list.count;
        Ok(())
    }
}

/// The first ids of ids blocks.
struct FirstIds {
    /// The number of those that were not compared yet.
    left: u32,
    /// The number of blocks that were read.
    blocks: u32,
    /// First ids of the current block that remain to be verified.
    ids: Vec<u8>,
}

impl FirstIds {
    fn of<I: RowId>(segment: &Segment<I>) -> Self {
        Self {
            left: first_ids::<I>(segment.rows),
            blocks: 0,
            ids: Vec::new(),
        }
    }
}

/// The part of a posting list that was verified.
struct PostingList {
    /// The number of rows of the segment.
    rows: u32,
    /// The lowest row that may follow.
    next: u64,
    count: u64,
}

impl PostingList {
    fn add(&mut self, row: u64) -> Result<u32, Damaged> {
        if row < self.next {
            return Err(Damaged::new("a posting list does not ascend"));
        }
        let within = u32::try_from(row).ok().filter(|row| *row < self.rows);
        self.next = row + 1;
        self.count += 1;
        within.ok_or(Damaged::new("a row is out of range"))
    }

    fn add_deltas(&mut self, deltas: &[u8], first: u32, mut see: impl FnMut(u32)) -> Result<(), Damaged> {
        let mut rows = Vec::new();
        for_each_delta(deltas, |row| rows.push(row))?;
        for row in rows {
            see(self.add(u64::from(first) + u64::from(row))?);
        }
        Ok(())
    }

    fn add_containers(
        &mut self,
        block: &[u8],
        first_chunk: u32,
        mut see: impl FnMut(u32),
    ) -> Result<(), Damaged> {
        for (index, container) in containers(block).enumerate() {
            let container = container?;
            if index == 0 && container.chunk != first_chunk {
                return Err(Damaged::new("the block begins with another chunk"));
            }
            let (first, before) = (first_of(container.chunk), self.count);
            if container.is_bitmap {
                if container.bytes.len() > CHUNK_ROWS as usize / 8 {
                    return Err(Damaged::new("a bitmap is too long"));
                }
                for row in rows_of(container.bytes) {
                    see(self.add(u64::from(first) + u64::from(row))?);
                }
            } else {
                self.add_deltas(container.bytes, first, &mut see)?;
            }
            let is_beyond = self.next > u64::from(first) + u64::from(CHUNK_ROWS);
            if is_beyond || self.count == before {
                return Err(Damaged::new("a container is empty or leaves its chunk"));
            }
        }
        Ok(())
    }
}

/// The directory of a segment, block by block.
#[derive(Default)]
struct Directory {
    /// The number of blocks so far.
    blocks: u32,
    /// The remaining separators of the current block.
    separators: std::vec::IntoIter<Vec<u8>>,
    roots: RootsWriter,
}

impl Directory {
    /// Opens the next block, whose first entry must be that of dictionary block `leaf`.
    fn open(&mut self, content: &[u8], leaf: u32) -> Result<(), Damaged> {
        let entries = entries(content, false)?;
        let first = entries.first().map(|entry| Reader::new(entry.payload).number());
        if first.transpose()? != Some(leaf) {
            return Err(Damaged::new("the block begins with another dictionary block"));
        }
        self.blocks += 1;
        let separators: Vec<Vec<u8>> = entries.into_iter().map(|entry| entry.key).collect();
        self.separators = separators.into_iter();
        Ok(())
    }
}

/// An entry of a dictionary or directory block.
struct Entry<'a> {
    index: usize,
    key: Vec<u8>,
    payload: &'a [u8],
    is_posted: bool,
}

/// The entries of a block, at least one, with correct restart points.
fn entries(block: &[u8], is_leaf: bool) -> Result<Vec<Entry<'_>>, Damaged> {
    let (bytes, restarts) = split_trailer(block)?;
    let (mut reader, mut key, mut entries) = (Reader::new(bytes), Vec::new(), Vec::new());
    let wrong_restart = Damaged::new("a restart point is at another offset");
    while !reader.is_at_end() {
        let index = entries.len();
        if index.is_multiple_of(RESTART_ENTRIES as usize) {
            let offset = (bytes.len() - reader.left()) as u16;
            key.clear();
            if restarts.get(index / RESTART_ENTRIES as usize) != Some(&offset.to_le_bytes()) {
                return Err(wrong_restart);
            }
        }
        next_token(&mut reader, &mut key)?;
        let header = match is_leaf {
            true => reader.number()?,
            false => 0,
        };
        let before = &bytes[bytes.len() - reader.left()..];
        let payload = match (is_leaf, index) {
            (true, _) => reader.bytes(header >> 1)?,
            // The number of the dictionary block.
            (false, 0) => {
                reader.number()?;
                &before[..before.len() - reader.left()]
            }
            (false, _) => &[],
        };
        entries.push(Entry {
            index,
            key: key.clone(),
            payload,
            is_posted: header & 1 == 1,
        });
    }
    if entries.is_empty() || restarts.len() != entries.len().div_ceil(RESTART_ENTRIES as usize) {
        return Err(wrong_restart);
    }
    Ok(entries)
}
