//! The blocks that a query reads in an index of billions of events.

use crate::memory::Memory;
use crate::{Rows, file_all};
use audit_index::{
    Block, BlockCache, BlockId, BlockKind, Blocks, Damaged, NamedBlock, Segment, Term, newest,
};

/// Rows of a segment that is not merged further are between 2^20 and 2^21; ten billion events have had 5,200 such segments.
const FINAL_SEGMENT_EVENTS: u64 = 10_000_000_000 / 5_200;
/// Segments of a level that are not merged yet, at most: seven that wait, and eight that a merge is reading.
const UNMERGED_SEGMENTS_MAX: u32 = 15;
/// The cache of the service, in bytes.
const CACHE_BYTES: usize = 15 << 19;

/// The stored segments: one of each level of merging (8,000, 64,000 and 512,000 rows, and one that is not merged further), and
/// another one of the last level, which has a rare token.
const STORED: u32 = 5;
const FINAL: u32 = 3;
const FINAL_WITH_RARE: u32 = 4;

/// Stored segments under many numbers, in a remote store that counts.
struct Repeated {
    blocks: Memory,
    requests: usize,
    read_blocks: usize,
}

/// The number under which a stored segment appears for the `number`th time.
const fn number_of(stored: u32, number: u32) -> u32 {
    (number + 1) * STORED + stored
}

impl Repeated {
    /// A block of a segment: that of the stored one, with the ids shifted.
    fn stored(&mut self, block: BlockId) -> Result<Option<Block>, Damaged> {
        self.read_blocks += 1;
        let stored = BlockId {
            segment: block.segment % STORED,
            ..block
        };
        let Some(content) = self.blocks.read(stored)? else {
            return Ok(None);
        };
        if block.kind != BlockKind::Ids {
            return Ok(Some(content));
        }
        let shift = first_id(block.segment);
        let ids = content
            .as_chunks()
            .0
            .iter()
            .map(|id| i64::from_le_bytes(*id) + shift);
        let mut bytes: Vec<u8> = ids.flat_map(i64::to_le_bytes).collect();
        let checksum = crc32c::crc32c_append(crc32c::crc32c(&block.key().to_le_bytes()), &bytes);
        bytes.extend(checksum.to_le_bytes());
        Block::check(block, bytes).map(Some)
    }
}

/// The first id of a segment: no two overlap.
fn first_id(segment: u32) -> i64 {
    i64::from(segment) << 32
}

impl Blocks for &mut Repeated {
    type Error = Damaged;
    const IS_REMOTE: bool = true;

    fn read(&mut self, block: BlockId) -> Result<Option<Block>, Damaged> {
        self.requests += 1;
        self.stored(block)
    }

    fn read_all(&mut self, blocks: &[BlockId]) -> Result<Vec<NamedBlock>, Damaged> {
        self.requests += 1;
        let mut read = |block: &BlockId| Ok(self.stored(*block)?.map(|bytes| (*block, bytes)));
        blocks
            .iter()
            .filter_map(|block| read(block).transpose())
            .collect()
    }
}

/// Rows of ten ledgers with the tokens of an event: some frequent ones, some of a few hundred values, and two of its own.
fn rows(count: i64, has_rare: bool) -> Rows {
    let tokens = |number: i64| {
        let hash = |salt: i64| ((number * 11 + salt).cast_unsigned() + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15);
        let ledger = (hash(1) >> 32) % 10;
        let rare = if has_rare && number == count / 2 {
            " 5arare"
        } else {
            ""
        };
        format!(
            "{ledger} {ledger}t{} {ledger}x{} {ledger}a{:06} {ledger}o{:016x} {ledger}k{:016x}{rare}",
            (hash(2) >> 32) % 5,
            (hash(3) >> 32) % 40,
            (hash(4) >> 32) % 300,
            hash(5),
            hash(6),
        )
    };
    (0..count).map(|number| (number, tokens(number))).collect()
}

/// The descriptors of the stored segments, and their blocks.
///
/// The segments are a sixteenth of their real size, so that the test is fast. A look-up reads one directory block and one
/// dictionary block of a segment whatever its size, as soon as it has several dictionary blocks (`roots.rs`). A sixteenth of a
/// final segment still has several directory blocks.
fn stored() -> (Vec<Segment>, Memory) {
    let mut blocks = Memory::default();
    let stored = (0..STORED).map(|stored| {
        let count = match stored {
            FINAL | FINAL_WITH_RARE => 2_000_000 / 16,
            level => 8_000 * 8_i64.pow(level) / 16,
        };
        let segment = file_all(&rows(count, stored == FINAL_WITH_RARE), stored, &mut blocks);
        assert!(segment.leaves > 1, "{segment:?}");
        segment
    });
    let stored: Vec<Segment> = stored.collect();
    assert!(
        stored.last().is_some_and(|last| last.directories > 1),
        "{stored:?}"
    );
    (stored, blocks)
}

/// The segments of an index of so many events in so many months, of which some have the rare token once. Each month that is over has
/// one segment that could be merged further, at most (`due_at_rest`). It counts as a final one. What the current month has besides final
/// segments is in those that are not merged yet.
fn segments(stored: &[Segment], events: u64, months: u64, with_rare: u32) -> Vec<Segment> {
    let of_past_month = (events / months).div_ceil(FINAL_SEGMENT_EVENTS);
    let finals = of_past_month * (months - 1) + events / months / FINAL_SEGMENT_EVENTS;
    let finals = u32::try_from(finals).expect("some thousands");
    let mut segments = Vec::new();
    for segment in stored {
        let count = match segment.id {
            FINAL => finals - with_rare.min(finals),
            FINAL_WITH_RARE => with_rare.min(finals),
            _ => UNMERGED_SEGMENTS_MAX,
        };
        segments.extend((0..count).map(|number| {
            let id = number_of(segment.id, number);
            Segment {
                id,
                first: first_id(id),
                last: first_id(id) + i64::from(segment.rows) - 1,
                ..segment.clone()
            }
        }));
    }
    segments
}

/// Blocks and requests of a query for a page of 50 events.
fn cost(segments: &[Segment], blocks: Memory, terms: &[&str], found: usize) -> (usize, usize) {
    let mut blocks = Repeated {
        blocks,
        requests: 0,
        read_blocks: 0,
    };
    let terms: Vec<Term> = terms.iter().map(|token| Term::is((*token).to_owned())).collect();
    let cache = BlockCache::new(CACHE_BYTES);
    let everything = i64::MIN..i64::MAX;
    let results = newest(segments, &terms, &everything, 50, &mut cache.before(&mut blocks));
    assert_eq!(results.map(|results| results.len()), Ok(found));
    (blocks.read_blocks, blocks.requests)
}

/// A ledger is in one of 64 groups, and its queries read the segments of that group only.
#[test]
fn a_query_over_billions_of_events_in_64_groups_reads_at_most_300_blocks() {
    let (stored, blocks) = stored();
    for (events, months) in [
        (1_000_000_000, 1),
        (10_000_000_000, 1),
        (1_000_000_000, 24),
        (10_000_000_000, 24),
    ] {
        // (segments with the rare token, terms, results, requests)
        for (with_rare, terms, found, requests_max) in [
            (0, ["5aabsent"].as_slice(), 0, 6),
            (0, &["5"], 50, 5),
            (5, &["5arare"], 5, 6 + 5),
            (20, &["5arare"], 20, 6 + 20),
            (u32::MAX, &["5arare"], 50, 6 + 50),
        ] {
            let segments = segments(&stored, events / 64, months, with_rare);
            let finals = segments
                .iter()
                .filter(|segment| segment.id % STORED >= FINAL)
                .count();
            let found = if with_rare > 0 { finals.min(found) } else { found };
            let (read, requests) = cost(&segments, blocks.clone(), terms, found);
            println!(
                "{events} events in {months} months, {} segments, {terms:?}, {found} results: {read} blocks in {requests} requests",
                segments.len()
            );
            assert!(read <= 300, "{terms:?}: {read} blocks");
            // A request has a limited number of blocks.
            let requests_max = requests_max + if months > 1 { 2 } else { 0 };
            assert!(requests <= requests_max, "{terms:?}: {requests} requests");
        }
    }
}

#[test]
fn a_ledger_outside_of_the_range_of_all_segments_costs_nothing_at_any_size() {
    let (stored, blocks) = stored();
    let segments = segments(&stored, 10_000_000_000, 1, 0);
    assert!(segments.len() > 5_000);
    assert_eq!(cost(&segments, blocks, &["~absent"], 0), (0, 0));
}
