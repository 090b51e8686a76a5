//! Merging the segments of an index, a little at a time.

use crate::error::{Result, StoreError};
use audit_index::{Merge, RowId, Segment, WriteBlocks, due};

/// How much of merges is done for each event that is filed, and at least, in rows of tokens. An event has some sixty for
/// each level; what is left is done while there is nothing to file.
const MERGED_ROWS_PER_EVENT: usize = 300;
pub(crate) const MERGED_ROWS_MIN: usize = 50_000;

/// How much of merges is done when so many events were filed.
pub(crate) fn rows_to_merge(events: usize) -> usize {
    MERGED_ROWS_MIN.max(events * MERGED_ROWS_PER_EVENT)
}

/// A number of the list of segments.
pub(crate) fn small(number: i64) -> Result<u32> {
    u32::try_from(number).map_err(|_| StoreError::Damaged {
        what: "list of segments",
    })
}

/// The number of a segment, which is stored with the numbers of its blocks.
pub(crate) fn segment_id(number: i64) -> Result<u32> {
    let in_range = i32::try_from(number).ok().map(i32::unsigned_abs);
    in_range.ok_or(StoreError::Damaged {
        what: "number of the last segment",
    })
}

/// The segments of an index, with their blocks.
pub(crate) trait Segments: WriteBlocks<Error = StoreError> {
    /// What its rows are known by.
    type Id: RowId;

    /// Those that together have everything that is in the index.
    fn complete(&mut self) -> Result<Vec<Segment<Self::Id>>>;

    /// A number for a new segment, which none of those that anybody may have read had.
    fn next_id(&mut self) -> Result<u32>;

    /// Adds a segment to the list, or what will be one.
    fn put(&mut self, segment: &Segment<Self::Id>, is_complete: bool) -> Result<()>;

    /// Whether a segment that is being made is still on the list.
    fn is_being_made(&mut self, id: u32) -> Result<bool>;

    /// The numbers of those that are being made.
    fn unfinished(&mut self) -> Result<Vec<i64>>;

    /// Takes a segment off the list, with its blocks.
    fn remove(&mut self, id: u32) -> Result<()>;

    /// Takes off what was being made. Another process that is at it finds out, and begins anew.
    fn remove_unfinished(&mut self) -> Result<()> {
        for id in self.unfinished()? {
            self.remove(small(id)?)?;
        }
        Ok(())
    }

    /// Files rows, ascending, as a segment of their own.
    fn file(&mut self, rows: &[(Self::Id, &str)]) -> Result<()>
    where
        Self: Sized,
    {
        let id = self.next_id()?;
        let segment = audit_index::build_segment(rows, id, self)?;
        self.put(&segment, true)
    }
}

/// The merges that are on their way.
#[derive(Debug)]
pub(crate) struct Merging<I> {
    merges: Vec<Merge<I>>,
    /// Whether segments stay as they are, because one of them is not as it was written.
    is_damaged: bool,
}

impl<I> Default for Merging<I> {
    fn default() -> Self {
        Self {
            merges: Vec::new(),
            is_damaged: false,
        }
    }
}

impl<I: RowId> Merging<I> {
    /// Forgets what was begun: nobody knows what has become of it.
    pub(crate) fn forget(&mut self) {
        self.merges.clear();
    }

    /// Goes on with the merge of the lowest level for about so many rows of tokens, in a transaction of the caller's; whether
    /// there is more to do.
    pub(crate) fn step(&mut self, rows: usize, segments: &mut impl Segments<Id = I>) -> Result<bool> {
        if self.is_damaged {
            return Ok(false);
        }
        let complete = segments.complete()?;
        let is_in_a_merge = |id: u32| {
            let mut sources = self.merges.iter().flat_map(Merge::sources);
            sources.any(|source| source.id == id)
        };
        let others: Vec<_> = complete
            .iter()
            .copied()
            .filter(|segment| !is_in_a_merge(segment.id))
            .collect();
        if let Some(due) = due(&others) {
            let id = segments.next_id()?;
            let merge = Merge::begin(&due, id, segments)?;
            segments.put(merge.merged(), false)?;
            self.merges.push(merge);
        }
        let merges = &mut self.merges;
        let lowest = (0..merges.len()).min_by_key(|index| merges[*index].merged().level);
        let Some(lowest) = lowest else { return Ok(false) };
        // Another process may have taken its sources meanwhile, or it for one that a killed process left.
        let are_there = |merge: &Merge<I>| merge.sources().all(|source| complete.contains(source));
        if !are_there(&merges[lowest]) || !segments.is_being_made(merges[lowest].merged().id)? {
            segments.remove(merges.swap_remove(lowest).merged().id)?;
        } else if let Some(segment) = merges[lowest].step(rows, segments)? {
            for source in merges.swap_remove(lowest).sources() {
                segments.remove(source.id)?;
            }
            segments.put(&segment, true)?;
        }
        Ok(true)
    }

    /// What became of a [`Self::step`]. From the first that finds the index damaged on there is no other: what is stored is filed
    /// all the same.
    pub(crate) fn stepped(&mut self, outcome: Result<bool>, how_to_mend: &str) -> Result<bool> {
        match outcome {
            Err(StoreError::DamagedIndex(error)) => {
                log::error!("{error}; {how_to_mend}");
                self.is_damaged = true;
                self.merges.clear();
                Ok(false)
            }
            outcome => outcome,
        }
    }
}
