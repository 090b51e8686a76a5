//! Making one segment of several.

use crate::blocks::{Blocks, WriteBlocks};
use crate::dictionary::{Beginning, DictionaryWriter, Walk, beginning_of};
use crate::ids::{IdReader, IdWriter};
use crate::row_id::RowId;
use crate::segment::Segment;

/// Segments of a level that are merged into one of the next.
const FANOUT: usize = 8;
/// Rows of a segment that is not merged any more have at least half as many as this, and at most as many. A merge holds
/// four bytes for each row in memory.
const ROWS_MAX: u32 = 1 << 21;

/// The segments that are to be merged, if there are enough of a kind: those of the lowest level first, and of a level those
/// with the lowest numbers.
#[must_use]
pub fn due<I: RowId>(segments: &[Segment<I>]) -> Option<Vec<Segment<I>>> {
    let mut unfinished: Vec<Segment<I>> = segments
        .iter()
        .copied()
        .filter(|segment| segment.rows < ROWS_MAX / 2)
        .collect();
    unfinished.sort_unstable_by_key(|segment| (segment.level, segment.id));
    let mut levels = unfinished.chunk_by(|one, next| one.level == next.level);
    let enough = levels.find(|level| level.len() >= FANOUT)?;
    let mut rows = 0_u32;
    let fit = enough.iter().take(FANOUT).take_while(|segment| {
        rows = rows.saturating_add(segment.rows);
        rows <= ROWS_MAX
    });
    Some(fit.copied().collect())
}

/// A merge on its way, to be done step by step between other work.
///
/// What it has written so far is of use only when it gets to its end: whoever loses a block of it must drop it and remove
/// the others.
#[derive(Debug)]
pub struct Merge<I = i64> {
    sources: Vec<Source<I>>,
    merged: Segment<I>,
    dictionary: DictionaryWriter,
    token: Vec<u8>,
    rows: Vec<u32>,
}

#[derive(Debug)]
struct Source<I> {
    segment: Segment<I>,
    walk: Walk,
    /// What the token that it is at begins with; `None` at its end.
    beginning: Option<Beginning>,
    /// What its rows are in the merged segment.
    rows: Vec<u32>,
}

impl<I: RowId> Merge<I> {
    /// Begins to make the segment `id`, whose number nothing has had before.
    ///
    /// # Errors
    /// When a block cannot be read or written, or is not as it was written.
    pub fn begin<B: WriteBlocks>(segments: &[Segment<I>], id: u32, blocks: &mut B) -> Result<Self, B::Error> {
        let mut sources = Vec::with_capacity(segments.len());
        for segment in segments {
            let mut source = Source {
                segment: *segment,
                walk: Walk::to(segment, b"", blocks)?,
                beginning: None,
                rows: Vec::with_capacity(segment.rows as usize),
            };
            source.advance(blocks)?;
            sources.push(source);
        }
        let rows = number_rows(&mut sources, id, blocks)?;
        Ok(Self {
            sources,
            merged: Segment {
                id,
                level: segments.iter().map(|segment| segment.level).max().unwrap_or(0) + 1,
                rows,
                first: segments
                    .iter()
                    .map(|segment| segment.first)
                    .min()
                    .unwrap_or(I::MAX),
                last: segments
                    .iter()
                    .map(|segment| segment.last)
                    .max()
                    .unwrap_or(I::MIN),
                leaves: 0,
                directories: 0,
            },
            dictionary: DictionaryWriter::new(id),
            token: Vec::new(),
            rows: Vec::new(),
        })
    }

    /// The segment that it makes, of which the number, the level and the rows are known.
    #[must_use]
    pub const fn merged(&self) -> &Segment<I> {
        &self.merged
    }

    /// The segments that it takes the place of.
    pub fn sources(&self) -> impl Iterator<Item = &Segment<I>> {
        self.sources.iter().map(|source| &source.segment)
    }

    /// Goes on for about `rows` rows of tokens; the merged segment when it is finished.
    ///
    /// # Errors
    /// As [`Self::begin`]. It cannot go on after that.
    pub fn step<B: WriteBlocks>(
        &mut self,
        rows: usize,
        blocks: &mut B,
    ) -> Result<Option<Segment<I>>, B::Error> {
        /// What a token costs, as rows.
        const TOKEN_ROWS: usize = 8;
        let mut done = 0;
        while done < rows {
            let left = self
                .sources
                .iter()
                .filter_map(|source| Some((source.beginning?, source.walk.token())));
            let Some((beginning, next)) = left.min() else {
                let dictionary =
                    std::mem::replace(&mut self.dictionary, DictionaryWriter::new(self.merged.id));
                (self.merged.leaves, self.merged.directories) = dictionary.finish(blocks)?;
                return Ok(Some(self.merged));
            };
            self.token.clear();
            self.token.extend_from_slice(next);
            self.rows.clear();
            for source in &mut self.sources {
                if source.beginning == Some(beginning) && source.walk.token() == self.token {
                    source.take_rows(&mut self.rows, blocks)?;
                    done += TOKEN_ROWS;
                }
            }
            if !self.rows.is_sorted_by(|one, next| one < next) {
                // Those of each source ascend, which this kind of sorting makes use of.
                self.rows.sort();
                self.rows.dedup();
            }
            done += self.rows.len();
            self.dictionary.push(&self.token, &self.rows, blocks)?;
        }
        Ok(None)
    }
}

impl<I: RowId> Source<I> {
    /// Appends the rows of the token that it is at, as those of the merged segment, and goes on.
    fn take_rows<B: Blocks>(&mut self, rows: &mut Vec<u32>, blocks: &mut B) -> Result<(), B::Error> {
        let mut is_out_of_range = false;
        let renumbered = &self.rows;
        let take = |row: u32| match renumbered.get(row as usize) {
            Some(row) => rows.push(*row),
            None => is_out_of_range = true,
        };
        self.walk.rows().for_each(self.segment.id, take, blocks)?;
        if is_out_of_range {
            return Err(crate::Damaged {
                what: "a row is out of range",
            }
            .into());
        }
        self.advance(blocks)
    }

    fn advance<B: Blocks>(&mut self, blocks: &mut B) -> Result<(), B::Error> {
        let is_at_token = self.walk.advance(blocks)?;
        self.beginning = is_at_token.then(|| beginning_of(self.walk.token()));
        Ok(())
    }
}

/// Writes the ids of all sources in their order, and notes what becomes of each row; how many there are.
fn number_rows<I: RowId, B: WriteBlocks>(
    sources: &mut [Source<I>],
    id: u32,
    blocks: &mut B,
) -> Result<u32, B::Error> {
    let mut readers: Vec<IdReader<I>> = sources
        .iter()
        .map(|source| IdReader::new(source.segment))
        .collect();
    // The next id of each, `None` at its end.
    let mut heads: Vec<Option<I>> = Vec::with_capacity(sources.len());
    for (source, reader) in sources.iter().zip(&mut readers) {
        heads.push(match source.segment.rows {
            0 => None,
            _ => Some(reader.id(0, blocks)?),
        });
    }
    let mut writer = IdWriter::new(id);
    let mut last = None;
    let mut count = 0_u32;
    loop {
        let lowest = heads
            .iter()
            .enumerate()
            .filter_map(|(index, head)| head.map(|head| (head, index)));
        let Some((head, index)) = lowest.min() else {
            return writer.finish(blocks);
        };
        if last != Some(head) {
            writer.push(head, blocks)?;
            count += 1;
            last = Some(head);
        }
        let source = &mut sources[index];
        source.rows.push(count - 1);
        let next = source.rows.len() as u32;
        heads[index] = match next < source.segment.rows {
            true => Some(readers[index].id(next, blocks)?),
            false => None,
        };
    }
}
