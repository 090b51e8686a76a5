//! Merging of segments, in small steps. A segment has events of one month, and only segments of one month are merged.

use crate::error::{Result, StoreError};
use audit_domain::Month;
use audit_index::{Merge, RowId, Segment, WriteBlocks, due, due_at_rest};
use std::collections::{BTreeMap, BTreeSet};

/// Postings that are merged for each indexed event, and at least. An event has some sixty per level; the rest is merged while
/// the indexer is idle.
const MERGED_ROWS_PER_EVENT: usize = 300;
pub(crate) const MERGED_ROWS_MIN: usize = 50_000;

/// Rows of segments that one step removes, at most, unless the first has more.
const LARGE_ROWS: u32 = 50_000;

/// Postings to merge after so many events were indexed.
pub(crate) fn rows_to_merge(events: usize) -> usize {
    MERGED_ROWS_MIN.max(events * MERGED_ROWS_PER_EVENT)
}

/// Reads a number of the list of segments.
pub(crate) fn small(number: i64) -> Result<u32> {
    u32::try_from(number).map_err(|_| StoreError::Damaged {
        what: "list of segments",
    })
}

/// Reads the number of a segment, which the keys of its blocks contain.
pub(crate) fn segment_id(number: i64) -> Result<u32> {
    let in_range = i32::try_from(number).ok().map(i32::unsigned_abs);
    in_range.ok_or(StoreError::Damaged {
        what: "number of the last segment",
    })
}

/// The stored segments of an index, with their blocks.
pub(crate) trait Segments: WriteBlocks<Error = StoreError> {
    /// The id of a row.
    type Id: RowId;

    /// The segments that together have every indexed event, each with the month of its events.
    fn complete(&mut self) -> Result<Vec<(Month, Segment<Self::Id>)>>;

    /// A number for a new segment that no segment in a reader's memory has.
    fn next_id(&mut self) -> Result<u32>;

    /// Stores a segment of events of a month; not `is_complete` while a merge writes it.
    fn put(&mut self, month: Month, segment: &Segment<Self::Id>, is_complete: bool) -> Result<()>;

    /// Whether a segment that a merge writes is still stored.
    fn is_unfinished(&mut self, id: u32) -> Result<bool>;

    /// The numbers of the segments that merges write.
    fn unfinished(&mut self) -> Result<Vec<i64>>;

    /// Removes a segment and its blocks.
    fn remove(&mut self, id: u32) -> Result<()>;

    /// Removes the segments that merges write. A merge of another process notices, and restarts.
    fn remove_unfinished(&mut self) -> Result<()> {
        for id in self.unfinished()? {
            self.remove(small(id)?)?;
        }
        Ok(())
    }

    /// Adds a segment of these rows, which are ascending and of one month. Returns its number.
    fn add_segment(&mut self, month: Month, rows: &[(Self::Id, &str)]) -> Result<u32>
    where
        Self: Sized,
    {
        let id = self.next_id()?;
        let segment = audit_index::build_segment(rows, id, self)?;
        self.put(month, &segment, true)?;
        Ok(id)
    }
}

/// Rows of the index whose events were removed that are looked for in the segments at once.
pub(crate) const GONE_ROWS: i64 = 2_000;
/// Rows that a segment is written again without, at most.
pub(crate) const LEFT_OUT_ROWS_MAX: i64 = 1 << 20;
/// Those of them of which something remains, at most: one transaction indexes it anew.
const REFRESHED_ROWS_MAX: usize = 4_000;
// A segment is written without all rows that were looked for.
const _: () = assert!(GONE_ROWS <= REFRESHED_ROWS_MAX as i64);

/// [`GoneRow::fresh`] of an event that was erased and is not indexed anew yet. No segment has this number.
pub(crate) const TO_REFRESH: i64 = 0;

/// A row of the index whose event was removed or erased (`removed_rows`).
#[derive(Clone, Copy, Debug)]
pub(crate) struct GoneRow<I> {
    pub(crate) id: I,
    /// The segment that has what remains of the event; [`TO_REFRESH`] without one. `None`: the event is gone.
    pub(crate) fresh: Option<i64>,
}

/// The rows of the index whose events were removed or erased.
pub(crate) trait RemovedRows<S: Segments> {
    /// The numbers of the segments that have what remains of erased events.
    fn kept(&mut self, segments: &mut S) -> Result<BTreeSet<i64>>;

    /// The rows of a month that a segment must not have, ascending, at least [`GONE_ROWS`] from its first row on.
    fn left_out(&mut self, segments: &mut S, month: Month, segment: &Segment<S::Id>) -> Result<Vec<S::Id>>;

    /// Adds a segment of what remains of erased events, of these rows that another segment was written without.
    fn refresh(&mut self, segments: &mut S, month: Month, left_out: &[S::Id]) -> Result<()>;
}

/// The first of these rows, as many as a segment is written without at once.
pub(crate) fn left_out_at_once<I>(rows: impl IntoIterator<Item = GoneRow<I>>) -> Vec<I> {
    let mut refreshed = 0;
    let fits = |row: &GoneRow<I>| {
        refreshed += usize::from(row.fresh.is_some());
        refreshed <= REFRESHED_ROWS_MAX
    };
    rows.into_iter().take_while(fits).map(|row| row.id).collect()
}

/// Those of these rows, which a segment was written without, of which something remains that no other segment has. A number of a segment
/// may be of an index that was lost, so the segment is looked at.
pub(crate) fn to_refresh<S: Segments>(
    left_out: impl IntoIterator<Item = GoneRow<S::Id>>,
    segments: &mut S,
) -> Result<Vec<S::Id>> {
    let complete = segments.complete()?;
    let mut wanted = Vec::new();
    for row in left_out {
        let Some(fresh) = row.fresh else { continue };
        let kept = complete
            .iter()
            .find(|(_, segment)| i64::from(segment.id) == fresh);
        let is_kept = match kept {
            Some((_, segment)) => segment.has_any(&[row.id], segments)?,
            None => false,
        };
        if !is_kept {
            wanted.push(row.id);
        }
    }
    Ok(wanted)
}

/// How far segments are merged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Extent {
    /// As far as the number of segments of each level is bounded.
    Levels,
    /// Further than that, those of the months before the latest one: they get few events, or none.
    PastMonths,
}

/// The merges in progress.
#[derive(Debug)]
pub(crate) struct Merging<I> {
    /// Each with its month.
    merges: Vec<(Month, Merge<I>)>,
    /// Segments that a merge has replaced, and that are to be removed, each with its rows.
    replaced: Vec<(u32, u32)>,
    /// Whether merging has stopped, because a segment is damaged.
    is_damaged: bool,
}

impl<I> Default for Merging<I> {
    fn default() -> Self {
        Self {
            merges: Vec::new(),
            replaced: Vec::new(),
            is_damaged: false,
        }
    }
}

impl<I: RowId> Merging<I> {
    /// Drops the merges in progress: their state is unknown.
    pub(crate) fn forget(&mut self) {
        self.merges.clear();
        self.replaced.clear();
    }

    /// Schedules the removal of segments that merges of an earlier process have left, one in each step: large ones take a while.
    pub(crate) fn clean_up(&mut self, segments: &mut impl Segments<Id = I>) -> Result<()> {
        for id in segments.unfinished()? {
            self.replaced.push((small(id)?, u32::MAX));
        }
        Ok(())
    }

    /// Removes replaced segments: small ones together, or one large.
    fn remove_some(&mut self, segments: &mut impl Segments<Id = I>) -> Result<()> {
        let mut removed_rows = 0_u32;
        while let Some((id, rows)) = self.replaced.pop() {
            // Another process may have finished or removed one that it was writing.
            if segments.is_unfinished(id)? {
                segments.remove(id)?;
            }
            removed_rows = removed_rows.saturating_add(rows);
            if removed_rows >= LARGE_ROWS {
                break;
            }
        }
        Ok(())
    }

    /// Removes segments that merges have replaced, and continues the merge of the lowest level for about `rows` postings, in a
    /// transaction of the caller's. What remains of erased events is indexed anew when a segment is written without them. Returns whether
    /// there is more to do.
    pub(crate) fn step<S: Segments<Id = I>>(
        &mut self,
        rows: usize,
        extent: Extent,
        segments: &mut S,
        removed: &mut impl RemovedRows<S>,
    ) -> Result<bool> {
        if self.is_damaged {
            return Ok(false);
        }
        self.remove_some(segments)?;
        let (complete, kept) = (segments.complete()?, removed.kept(segments)?);
        if let Some((month, due)) = self.due(&complete, extent, &kept) {
            let id = segments.next_id()?;
            let merge = Merge::begin(&due, id, segments)?;
            segments.put(month, merge.merged(), false)?;
            let is_large = merge.merged().rows >= LARGE_ROWS;
            self.merges.push((month, merge));
            if is_large {
                // Numbering the rows of a large segment takes as long as a step.
                return Ok(true);
            }
        }
        let merges = &mut self.merges;
        let lowest = (0..merges.len()).min_by_key(|index| merges[*index].1.merged().level);
        let Some(lowest) = lowest else {
            return Ok(!self.replaced.is_empty());
        };
        // Another process may already have merged our sources, or deleted our unfinished segment as an orphan.
        let is_there = |source| complete.iter().any(|(_, segment)| segment == source);
        let (month, merge) = &mut merges[lowest];
        let (month, merged) = (*month, merge.merged().id);
        if !merge.sources().all(is_there) || !segments.is_unfinished(merged)? {
            merges.swap_remove(lowest);
            segments.remove(merged)?;
        } else if let Some(segment) = merge.step(rows, segments)? {
            // Incomplete segments are removed when the index is opened, if this process does not come to it.
            let (_, done) = merges.swap_remove(lowest);
            for source in done.sources() {
                segments.put(month, source, false)?;
                self.replaced.push((source.id, source.rows));
            }
            segments.put(month, &segment, true)?;
            if !done.left_out().is_empty() {
                removed.refresh(segments, month, done.left_out())?;
            }
        }
        Ok(true)
    }

    /// Begins to write a segment of `month` again without rows that are gone. `gone` are the first of these of the month, ascending. Returns
    /// `true` where no segment has one of `gone`. Call it after a [`Self::step`] that left nothing to do.
    pub(crate) fn purge<S: Segments<Id = I>>(
        &mut self,
        month: Month,
        gone: &[GoneRow<I>],
        segments: &mut S,
        removed: &mut impl RemovedRows<S>,
    ) -> Result<bool> {
        for (of, segment) in segments.complete()? {
            let is_kept = |row: &&GoneRow<I>| row.fresh == Some(i64::from(segment.id));
            let own = gone.iter().filter(|row| !is_kept(row)).map(|row| row.id);
            let own: Vec<I> = own.collect();
            if of == month && segment.has_any(&own, segments)? {
                let left_out = removed.left_out(segments, month, &segment)?;
                self.write_without(month, segment, &left_out, segments, removed)?;
                return Ok(false);
            }
        }
        Ok(true)
    }

    fn write_without<S: Segments<Id = I>>(
        &mut self,
        month: Month,
        source: Segment<I>,
        left_out: &[I],
        segments: &mut S,
        removed: &mut impl RemovedRows<S>,
    ) -> Result<()> {
        let id = segments.next_id()?;
        let merge = Merge::begin_without(std::slice::from_ref(&source), left_out, id, segments)?;
        if merge.merged().rows > 0 {
            segments.put(month, merge.merged(), false)?;
            self.merges.push((month, merge));
        } else {
            // No row is left, and no block was written.
            segments.put(month, &source, false)?;
            self.replaced.push((source.id, source.rows));
            removed.refresh(segments, month, merge.left_out())?;
        }
        Ok(())
    }

    /// Whether a damaged segment has stopped merging.
    pub(crate) const fn is_damaged(&self) -> bool {
        self.is_damaged
    }

    /// The segments to merge next, and their month.
    fn due(
        &self,
        complete: &[(Month, Segment<I>)],
        extent: Extent,
        kept: &BTreeSet<i64>,
    ) -> Option<(Month, Vec<Segment<I>>)> {
        let is_in_a_merge = |id: u32| {
            let mut sources = self.merges.iter().flat_map(|(_, merge)| merge.sources());
            sources.any(|source| source.id == id)
        };
        let mut months: BTreeMap<Month, Vec<Segment<I>>> = BTreeMap::new();
        for (month, segment) in complete {
            let of_month = months.entry(*month).or_default();
            if !is_in_a_merge(segment.id) && !kept.contains(&i64::from(segment.id)) {
                of_month.push(segment.clone());
            }
        }
        let of_levels = months
            .iter()
            .rev()
            .find_map(|(month, of_month)| Some((*month, due(of_month)?)));
        if of_levels.is_some() || extent == Extent::Levels || !self.merges.is_empty() {
            return of_levels;
        }
        let past = months.iter().rev().skip(1);
        past.map(|(month, of_month)| Some((*month, due_at_rest(of_month)?)))
            .find(Option::is_some)
            .flatten()
    }

    /// Handles the outcome of a [`Self::step`]. A damaged segment stops merging; new events are still indexed.
    pub(crate) fn stepped(&mut self, outcome: Result<bool>, repair: &str) -> Result<bool> {
        match outcome {
            Err(StoreError::DamagedIndex(error)) => {
                log::error!("the index is damaged: {error}; {repair}");
                self.is_damaged = true;
                self.forget();
                Ok(false)
            }
            outcome => outcome,
        }
    }
}
