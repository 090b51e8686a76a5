//! Merging segments.

use crate::blocks::{Blocks, Damaged, WriteBlocks};
use crate::cursor::DictionaryCursor;
use crate::dictionary::{DictionaryWriter, TokenHead, head_of};
use crate::disjoint::Comparison;
use crate::ids::{IdReader, IdWriter};
use crate::roots::Roots;
use crate::row_id::RowId;
use crate::segment::Segment;

/// Number of segments of one level that are merged into one of the next level.
const FANOUT: usize = 8;
/// Most rows of a segment. A segment of at least half as many rows is not merged further. A merge uses four bytes of memory
/// per row.
const ROWS_MAX: u32 = 1 << 21;
/// In place of the number of a source's row that the merged segment does not have.
const LEFT_OUT: u32 = u32::MAX;

/// The segments to merge next, if a level has enough of them: those of the lowest such level, with the lowest ids.
#[must_use]
pub fn due<I: RowId>(segments: &[Segment<I>]) -> Option<Vec<Segment<I>>> {
    let mut unfinished: Vec<Segment<I>> = segments
        .iter()
        .filter(|segment| segment.rows < ROWS_MAX / 2)
        .cloned()
        .collect();
    unfinished.sort_unstable_by_key(|segment| (segment.level, segment.id));
    let mut levels = unfinished.chunk_by(|one, next| one.level == next.level);
    let enough = levels.find(|level| level.len() >= FANOUT)?;
    let mut rows = 0_u32;
    let fit = enough.iter().take(FANOUT).take_while(|segment| {
        rows = rows.saturating_add(segment.rows);
        rows <= ROWS_MAX
    });
    Some(fit.cloned().collect())
}

/// The segments to merge next of an index, or part of one, that gets no more rows: the smallest, until one segment that could be merged
/// further is left.
#[must_use]
pub fn due_at_rest<I: RowId>(segments: &[Segment<I>]) -> Option<Vec<Segment<I>>> {
    let mut unfinished: Vec<&Segment<I>> = segments
        .iter()
        .filter(|segment| segment.rows < ROWS_MAX / 2)
        .collect();
    unfinished.sort_unstable_by_key(|segment| (segment.rows, segment.id));
    let mut rows = 0_u32;
    let fit = unfinished.into_iter().take(FANOUT).take_while(|segment| {
        rows = rows.saturating_add(segment.rows);
        rows <= ROWS_MAX
    });
    let fit: Vec<Segment<I>> = fit.cloned().collect();
    (fit.len() > 1).then_some(fit)
}

/// A merge in progress. It runs in steps between other work.
///
/// Its blocks are valid only when it is complete. If one of them is lost, for example by a rollback, drop the merge and delete
/// the others.
#[derive(Debug)]
pub struct Merge<I = i64> {
    sources: Vec<Source<I>>,
    left_out: Vec<I>,
    merged: Segment<I>,
    dictionary: DictionaryWriter,
    /// Of the dense lists, once the dictionary is written.
    comparison: Option<Comparison>,
    token: Vec<u8>,
    rows: Vec<u32>,
}

#[derive(Debug)]
struct Source<I> {
    segment: Segment<I>,
    cursor: DictionaryCursor,
    /// The head of the current token; `None` at the end.
    head: Option<TokenHead>,
    /// By row number in the source: the row number in the merged segment, or [`LEFT_OUT`].
    rows: Vec<u32>,
}

impl<I: RowId> Merge<I> {
    /// Starts to merge `segments` into segment `id`, which must not have been used before.
    ///
    /// # Errors
    /// If a block cannot be read or written, or is damaged.
    pub fn begin<B: WriteBlocks>(segments: &[Segment<I>], id: u32, blocks: &mut B) -> Result<Self, B::Error> {
        Self::begin_without(segments, &[], id, blocks)
    }

    /// [`Self::begin`] that leaves out the rows with the ids of `gone`, which ascend, and the tokens that only these rows have.
    ///
    /// # Errors
    /// As [`Self::begin`].
    pub fn begin_without<B: WriteBlocks>(
        segments: &[Segment<I>],
        gone: &[I],
        id: u32,
        blocks: &mut B,
    ) -> Result<Self, B::Error> {
        let mut sources = Vec::with_capacity(segments.len());
        for segment in segments {
            let mut source = Source {
                segment: segment.clone(),
                cursor: DictionaryCursor::all(segment),
                head: None,
                rows: Vec::with_capacity(segment.rows as usize),
            };
            source.advance(blocks)?;
            sources.push(source);
        }
        let Numbered { rows, ends, left_out } = number_rows(&mut sources, gone, id, blocks)?;
        let (first, last) = ends.unwrap_or((I::MAX, I::MIN));
        Ok(Self {
            sources,
            left_out,
            merged: Segment {
                id,
                level: segments.iter().map(|segment| segment.level).max().unwrap_or(0) + 1,
                rows,
                first,
                last,
                leaves: 0,
                directories: 0,
                roots: Roots::default(),
            },
            dictionary: DictionaryWriter::new(id, rows),
            comparison: None,
            token: Vec::new(),
            rows: Vec::new(),
        })
    }

    /// The merged segment. Its block counts and roots are not known before the merge is complete.
    #[must_use]
    pub const fn merged(&self) -> &Segment<I> {
        &self.merged
    }

    /// The segments that the merged segment replaces.
    pub fn sources(&self) -> impl Iterator<Item = &Segment<I>> {
        self.sources.iter().map(|source| &source.segment)
    }

    /// The ids of the rows of the sources that the merged segment does not have, ascending.
    #[must_use]
    pub fn left_out(&self) -> &[I] {
        &self.left_out
    }

    /// Merges about `rows` postings. Returns the merged segment when the merge is complete.
    ///
    /// # Errors
    /// As [`Self::begin`]. The merge must be dropped after an error.
    pub fn step<B: WriteBlocks>(
        &mut self,
        rows: usize,
        blocks: &mut B,
    ) -> Result<Option<Segment<I>>, B::Error> {
        /// The cost of a token, in postings.
        const TOKEN_ROWS: usize = 8;
        /// The cost of comparing the rows that a list has in a chunk, in postings.
        const COMPARED_ROWS: usize = 512;
        let mut done = 0;
        while done < rows {
            if let Some(comparison) = &mut self.comparison {
                match comparison.step(blocks)? {
                    Some(lists) => done += lists * COMPARED_ROWS,
                    None => {
                        comparison.write(blocks)?;
                        return Ok(Some(self.merged.clone()));
                    }
                }
                continue;
            }
            let left = self
                .sources
                .iter()
                .filter_map(|source| Some((source.head?, source.cursor.token())));
            let Some((head, next)) = left.min() else {
                self.finish_dictionary(blocks)?;
                continue;
            };
            self.token.clear();
            self.token.extend_from_slice(next);
            self.rows.clear();
            for source in &mut self.sources {
                if source.head == Some(head) && source.cursor.token() == self.token {
                    source.take_rows(&mut self.rows, blocks)?;
                    done += TOKEN_ROWS;
                }
            }
            if !self.rows.is_sorted_by(|one, next| one < next) {
                // The rows are runs, one per source, each ascending. The stable sort merges runs.
                self.rows.sort();
                self.rows.dedup();
            }
            done += self.rows.len();
            if !self.rows.is_empty() {
                self.dictionary.push(&self.token, &self.rows, blocks)?;
            }
        }
        Ok(None)
    }

    /// Writes the last blocks of the dictionary, and begins to compare the dense lists.
    fn finish_dictionary<B: WriteBlocks>(&mut self, blocks: &mut B) -> Result<(), B::Error> {
        let Segment { id, rows, .. } = self.merged;
        let dictionary = std::mem::replace(&mut self.dictionary, DictionaryWriter::new(id, rows));
        let dictionary = dictionary.finish(blocks)?;
        self.merged.leaves = dictionary.leaves;
        self.merged.directories = dictionary.directories;
        self.merged.roots = dictionary.roots;
        self.comparison = Some(Comparison::of(dictionary.dense));
        Ok(())
    }
}

impl<I: RowId> Source<I> {
    /// Appends the rows of the current token that are not left out, renumbered for the merged segment, and moves to the next token.
    fn take_rows<B: Blocks>(&mut self, rows: &mut Vec<u32>, blocks: &mut B) -> Result<(), B::Error> {
        let mut is_out_of_range = false;
        let renumbered = &self.rows;
        let take = |row: u32| match renumbered.get(row as usize) {
            Some(&LEFT_OUT) => {}
            Some(row) => rows.push(*row),
            None => is_out_of_range = true,
        };
        self.cursor.rows().for_each(self.segment.id, take, blocks)?;
        if is_out_of_range {
            let damaged = Damaged::new("a row is out of range");
            return Err(damaged.in_segment(self.segment.id).into());
        }
        self.advance(blocks)
    }

    fn advance<B: Blocks>(&mut self, blocks: &mut B) -> Result<(), B::Error> {
        let is_at_token = self.cursor.advance(blocks)?;
        self.head = is_at_token.then(|| head_of(self.cursor.token()));
        Ok(())
    }
}

/// The rows of a merged segment.
struct Numbered<I> {
    rows: u32,
    /// The lowest and the highest id; none without a row.
    ends: Option<(I, I)>,
    /// The ids of the other rows.
    left_out: Vec<I>,
}

/// Writes the merged ids, without those of `gone`, and records the new row number of each source row.
fn number_rows<I: RowId, B: WriteBlocks>(
    sources: &mut [Source<I>],
    mut gone: &[I],
    id: u32,
    blocks: &mut B,
) -> Result<Numbered<I>, B::Error> {
    let mut readers: Vec<IdReader<I>> = sources
        .iter()
        .map(|source| IdReader::new(&source.segment))
        .collect();
    // The next id of each source; `None` at its end.
    let mut heads: Vec<Option<I>> = Vec::with_capacity(sources.len());
    for (source, reader) in sources.iter().zip(&mut readers) {
        heads.push(match source.segment.rows {
            0 => None,
            _ => Some(reader.id(0, blocks)?),
        });
    }
    let mut writer = IdWriter::new(id);
    let (mut count, mut ends, mut left_out) = (0_u32, None, Vec::new());
    loop {
        let lowest = heads
            .iter()
            .enumerate()
            .filter_map(|(index, head)| head.map(|head| (head, index)));
        let Some((head, index)) = lowest.min() else {
            let rows = writer.finish(blocks)?;
            return Ok(Numbered { rows, ends, left_out });
        };
        while gone.first().is_some_and(|id| *id < head) {
            gone = &gone[1..];
        }
        let source = &mut sources[index];
        if gone.first() == Some(&head) {
            source.rows.push(LEFT_OUT);
            if left_out.last() != Some(&head) {
                left_out.push(head);
            }
        } else {
            let (first, last) = ends.map_or((head, None), |(first, last)| (first, Some(last)));
            if last != Some(head) {
                writer.push(head, blocks)?;
                count += 1;
                ends = Some((first, head));
            }
            source.rows.push(count - 1);
        }
        let next = source.rows.len() as u32;
        heads[index] = match next < source.segment.rows {
            true => Some(readers[index].id(next, blocks)?),
            false => None,
        };
    }
}
