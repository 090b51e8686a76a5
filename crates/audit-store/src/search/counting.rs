//! Counting the events that fulfil the terms of a query, by time, in the index and its backlog.

use crate::error::{Result, StoreError};
use audit_domain::{Buckets, Interval, Timestamp, TooManyBuckets};
use audit_index::{Blocks, Counts, RowId, Segment, Term, oldest, part_of};
use std::ops::Range;

/// The row of an event, which begins with its time.
pub(crate) trait TimedRow: RowId {
    /// The lowest row of this time.
    fn at(time: Timestamp) -> Self;

    /// The time of the event.
    fn time(self) -> Timestamp;
}

/// How events are counted.
#[derive(Debug)]
pub(crate) struct Counting {
    /// The length of the buckets; `None` if the range of time chooses it.
    pub(crate) interval: Option<Interval>,
    /// The time of the first bucket; `None` for that of the oldest event.
    pub(crate) start: Option<Timestamp>,
    /// The time of the last bucket; `None` for that of the newest event.
    pub(crate) end: Option<Timestamp>,
    /// Tokens, of which an event has one at most. The events of each are counted too.
    pub(crate) splits: Vec<String>,
}

/// The numbers of events in buckets.
#[derive(Debug)]
pub(crate) struct Tally {
    pub(crate) buckets: Buckets,
    pub(crate) counts: Counts,
}

/// A row of the backlog, with the number of the split token that it has.
pub(crate) type SplitRow<I> = (I, Option<usize>);

impl Counting {
    /// The buckets. `ends` returns the times of the oldest and the newest event; it is called only if it matters.
    pub(crate) fn buckets(
        &self,
        ends: impl FnOnce() -> Result<Option<(Timestamp, Timestamp)>>,
    ) -> Result<Result<Buckets, TooManyBuckets>> {
        if let Some((start, end)) = self.start.zip(self.end) {
            let buckets = Buckets::between(self.interval, start, end);
            if buckets.is_ok() || self.interval.is_some() {
                return Ok(buckets);
            }
        }
        let Some((oldest, newest)) = ends()? else {
            return Ok(Ok(Buckets::none(self.interval)));
        };
        let (first, last) = (self.start.unwrap_or(oldest), self.end.unwrap_or(newest));
        let buckets = Buckets::between(self.interval, first, last);
        Ok(match self.interval {
            Some(_) => buckets,
            // A range of centuries, of which the events have a part.
            None => buckets.or_else(|_| Buckets::between(None, oldest, newest)),
        })
    }

    /// Counts rows, each with its time, without an index.
    pub(crate) fn count_rows(&self, rows: &[SplitRow<Timestamp>]) -> Result<Result<Tally, TooManyBuckets>> {
        let times = rows.iter().map(|(time, _)| *time);
        let ends = times.clone().min().zip(times.max());
        let buckets = match self.buckets(|| Ok(ends))? {
            Ok(buckets) => buckets,
            Err(refused) => return Ok(Err(refused)),
        };
        let mut counts = Counts::none(buckets.starts.len(), self.splits.len());
        if !buckets.starts.is_empty() {
            for (time, split) in rows {
                let not_after = buckets.starts.partition_point(|start| start <= time);
                add(&mut counts, not_after.saturating_sub(1), *split);
            }
        }
        Ok(Ok(Tally { buckets, counts }))
    }

    /// Counts the rows within `range` that fulfil all terms: those of the segments, and those of the backlog, which are in no
    /// segment.
    pub(crate) fn count<I: TimedRow, B: Blocks<Error = StoreError>>(
        &self,
        segments: &[Segment<I>],
        backlog: &[SplitRow<I>],
        terms: &[Term],
        range: &Range<I>,
        blocks: &mut B,
    ) -> Result<Result<Tally, TooManyBuckets>> {
        let buckets = self.buckets(|| ends_of(segments, backlog, terms, range, blocks))?;
        let buckets = match buckets {
            Ok(buckets) => buckets,
            Err(refused) => return Ok(Err(refused)),
        };
        if buckets.starts.is_empty() {
            let counts = Counts::none(0, self.splits.len());
            return Ok(Ok(Tally { buckets, counts }));
        }
        let inner = buckets.starts.iter().skip(1).map(|start| I::at(*start));
        let bounds: Vec<I> = std::iter::once(range.start)
            .chain(inner)
            .chain([range.end])
            .collect();
        let splits: Vec<Term> = self.splits.iter().cloned().map(Term::is).collect();
        let mut counts = audit_index::count(segments, terms, &bounds, &splits, blocks)?;
        for (row, split) in backlog {
            add(&mut counts, part_of(&bounds, *row), *split);
        }
        Ok(Ok(Tally { buckets, counts }))
    }
}

fn add(counts: &mut Counts, part: usize, split: Option<usize>) {
    counts.all[part] += 1;
    if let Some(split) = split {
        counts.split[split][part] += 1;
    }
}

/// The times of the oldest and the newest event.
fn ends_of<I: TimedRow, B: Blocks<Error = StoreError>>(
    segments: &[Segment<I>],
    backlog: &[SplitRow<I>],
    terms: &[Term],
    range: &Range<I>,
    blocks: &mut B,
) -> Result<Option<(Timestamp, Timestamp)>> {
    let rows = backlog.iter().map(|(row, _)| *row);
    let oldest = oldest(segments, terms, range, blocks)?;
    let newest = audit_index::newest(segments, terms, range, 1, blocks)?;
    let oldest = rows.clone().chain(oldest).min();
    let newest = rows.chain(newest.first().copied()).max();
    Ok(oldest
        .zip(newest)
        .map(|(oldest, newest)| (oldest.time(), newest.time())))
}
