//! Counting the events that fulfil the terms of a query, by time, in the index and its backlog.

use crate::error::{Result, StoreError};
use audit_domain::{Buckets, Interval, StoredEvent, TimeZone, Timestamp, TooManyBuckets};
use audit_index::{Blocks, Counts, RowId, Segment, Term, first_wide, oldest, part_of};
use std::collections::BTreeSet;
use std::ops::Range;

/// The row of an event, which begins with its time.
pub(crate) trait TimedRow: RowId {
    /// The lowest row of this time.
    fn at(time: Timestamp) -> Self;

    /// The time of the event.
    fn time(self) -> Timestamp;
}

/// Why the index does not count events.
#[derive(Debug)]
pub(crate) enum Uncounted {
    /// The range of time has too many buckets.
    TooManyBuckets(TooManyBuckets),
    /// It does not have all events.
    Incomplete,
    /// The term at this position is a prefix of too many tokens.
    WidePrefix(usize),
}

/// How events are counted.
#[derive(Debug)]
pub(crate) struct Counting {
    /// The length of the buckets; `None` if the range of time chooses it.
    pub(crate) interval: Option<Interval>,
    /// The time zone in whose calendar buckets begin.
    pub(crate) zone: TimeZone,
    /// The time of the first bucket; `None` for that of the oldest event.
    pub(crate) start: Option<Timestamp>,
    /// The time of the last bucket; `None` for that of the newest event.
    pub(crate) end: Option<Timestamp>,
    /// Tokens, of which an event has one at most. The events of each are counted too.
    pub(crate) splits: Vec<String>,
    /// The tokens whose numbers are wanted.
    pub(crate) top: WantedTop,
}

/// Which tokens of the newest events are counted.
#[derive(Debug)]
pub(crate) struct WantedTop {
    /// The prefixes of the tokens, one for each field.
    pub(crate) prefixes: Vec<String>,
    /// The newest events, at most.
    pub(crate) events_max: u64,
    /// The tokens of a field, at most.
    pub(crate) values_max: usize,
}

/// The most frequent tokens of the newest events.
#[derive(Debug)]
pub(crate) struct Top<T> {
    /// The number of the newest events.
    pub(crate) looked_at: u64,
    /// For each prefix the tokens with their numbers, the most frequent one first, each with an event that has it.
    pub(crate) tokens: Vec<Vec<(u64, T)>>,
}

/// The numbers of events in buckets.
#[derive(Debug)]
pub(crate) struct Tally<T> {
    pub(crate) buckets: Buckets,
    pub(crate) counts: Counts,
    /// `None` if there are so few events that reading them costs less.
    pub(crate) top: Option<Top<T>>,
}

/// A row with the number of the split token that it has.
pub(crate) type SplitRow<I> = (I, Option<usize>);

/// A row of the backlog.
#[derive(Debug)]
pub(crate) struct BacklogRow<I> {
    pub(crate) row: I,
    /// The number of the split token that it has.
    pub(crate) split: Option<usize>,
    /// Its tokens with a prefix of [`WantedTop`], separated by spaces.
    pub(crate) tokens: String,
}

/// What is counted in the index.
pub(crate) struct Indexed<'a, I> {
    pub(crate) segments: &'a [Segment<I>],
    /// The rows of the backlog that match. They are in no segment.
    pub(crate) backlog: &'a [BacklogRow<I>],
    pub(crate) terms: &'a [Term],
    pub(crate) range: &'a Range<I>,
    /// Events of which reading all costs less than counting their tokens, at most, for each million rows: the tokens of every
    /// segment that has matches are read.
    pub(crate) read_per_million: u64,
}

/// Rows whose ids are read to find the newest of them, at most.
const READ_ROWS_MAX: u64 = 256;
/// Rows of an index beyond which no more events are read instead of counting their tokens.
const SCALED_ROWS_MAX: u64 = 10_000_000;
/// Parts into which a range of time is divided to find the newest events in it.
const FINER_PARTS: i128 = 64;

impl Counting {
    /// The buckets. `ends` returns the times of the oldest and the newest event; it is called only if it matters.
    pub(crate) fn buckets(
        &self,
        ends: impl FnOnce() -> Result<Option<(Timestamp, Timestamp)>>,
    ) -> Result<Result<Buckets, TooManyBuckets>> {
        if let Some((start, end)) = self.start.zip(self.end) {
            let buckets = Buckets::between(self.interval, start, end, &self.zone);
            if buckets.is_ok() || self.interval.is_some() {
                return Ok(buckets);
            }
        }
        let Some((oldest, newest)) = ends()? else {
            return Ok(Ok(Buckets::none(self.interval)));
        };
        let (first, last) = (self.start.unwrap_or(oldest), self.end.unwrap_or(newest));
        let buckets = Buckets::between(self.interval, first, last, &self.zone);
        Ok(match self.interval {
            Some(_) => buckets,
            // A range of centuries, of which the events have a part.
            None => buckets.or_else(|_| Buckets::between(None, oldest, newest, &self.zone)),
        })
    }

    /// The row of the backlog with these tokens.
    pub(crate) fn backlog_row<I>(&self, row: I, tokens: &str) -> BacklogRow<I> {
        let mut found = BacklogRow {
            row,
            split: None,
            tokens: String::new(),
        };
        for token in tokens.split(' ') {
            found.split = found
                .split
                .or_else(|| self.splits.iter().position(|split| split == token));
            if self.top.of(token).is_some() {
                found.tokens.push_str(token);
                found.tokens.push(' ');
            }
        }
        found
    }

    /// Counts rows, each with its time, without an index.
    pub(crate) fn count_rows<T>(
        &self,
        rows: &[SplitRow<Timestamp>],
    ) -> Result<Result<Tally<T>, TooManyBuckets>> {
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
        Ok(Ok(Tally {
            buckets,
            counts,
            top: None,
        }))
    }

    /// Counts the rows that fulfil all terms.
    pub(crate) fn count<I: TimedRow, B: Blocks<Error = StoreError>>(
        &self,
        indexed: &Indexed<'_, I>,
        blocks: &mut B,
    ) -> Result<Result<Tally<I>, Uncounted>> {
        if let Some(position) = first_wide(indexed.segments, indexed.terms, indexed.range, blocks)? {
            return Ok(Err(Uncounted::WidePrefix(position)));
        }
        let buckets = match self.buckets(|| indexed.ends(blocks))? {
            Ok(buckets) => buckets,
            Err(refused) => return Ok(Err(Uncounted::TooManyBuckets(refused))),
        };
        if buckets.starts.is_empty() {
            let (counts, top) = (Counts::none(0, self.splits.len()), None);
            return Ok(Ok(Tally { buckets, counts, top }));
        }
        let inner = buckets.starts.iter().skip(1).map(|start| I::at(*start));
        let bounds: Vec<I> = std::iter::once(indexed.range.start)
            .chain(inner)
            .chain([indexed.range.end])
            .collect();
        let counts = indexed.count(&bounds, &self.splits, blocks)?;
        let total: u64 = counts.all.iter().sum();
        let top = match total <= indexed.read_max() || self.top.prefixes.is_empty() {
            true => None,
            false => Some(self.top.count(indexed, bounds, &counts.all, blocks)?),
        };
        Ok(Ok(Tally { buckets, counts, top }))
    }
}

fn add(counts: &mut Counts, part: usize, split: Option<usize>) {
    counts.all[part] += 1;
    if let Some(split) = split {
        counts.split[split][part] += 1;
    }
}

impl<I: TimedRow> Indexed<'_, I> {
    /// Events of which reading all costs less than counting their tokens, at most.
    fn read_max(&self) -> u64 {
        let in_range = self
            .segments
            .iter()
            .filter(|segment| segment.overlaps(self.range));
        let rows: u64 = in_range.map(|segment| u64::from(segment.rows)).sum();
        self.read_per_million * rows.clamp(1_000_000, SCALED_ROWS_MAX) / 1_000_000
    }

    /// Counts the rows between the bounds.
    fn count<B: Blocks<Error = StoreError>>(
        &self,
        bounds: &[I],
        splits: &[String],
        blocks: &mut B,
    ) -> Result<Counts> {
        let splits: Vec<Term> = splits.iter().cloned().map(Term::is).collect();
        let mut counts = audit_index::count(self.segments, self.terms, bounds, &splits, blocks)?;
        let (Some(first), Some(last)) = (bounds.first(), bounds.last()) else {
            return Ok(counts);
        };
        let split = |row: &BacklogRow<I>| row.split.filter(|_| !splits.is_empty());
        for row in self
            .backlog
            .iter()
            .filter(|row| (*first..*last).contains(&row.row))
        {
            add(&mut counts, part_of(bounds, row.row), split(row));
        }
        Ok(counts)
    }

    /// The times of the oldest and the newest event.
    fn ends<B: Blocks<Error = StoreError>>(&self, blocks: &mut B) -> Result<Option<(Timestamp, Timestamp)>> {
        let rows = self.backlog.iter().map(|row| row.row);
        let oldest = oldest(self.segments, self.terms, self.range, 1, blocks)?;
        let newest = audit_index::newest(self.segments, self.terms, self.range, 1, blocks)?;
        let oldest = rows.clone().chain(oldest).min();
        let newest = rows.chain(newest.first().copied()).max();
        Ok(oldest
            .zip(newest)
            .map(|(oldest, newest)| (oldest.time(), newest.time())))
    }

    /// The lowest of the `wanted` newest rows. `counts` are the numbers of rows between the `bounds`, `wanted` or more together.
    fn lowest_of_newest<B: Blocks<Error = StoreError>>(
        &self,
        wanted: u64,
        mut bounds: Vec<I>,
        mut counts: Vec<u64>,
        blocks: &mut B,
    ) -> Result<I> {
        let mut missing = wanted;
        loop {
            let mut part = counts.len() - 1;
            while part > 0 && counts[part] < missing {
                missing -= counts[part];
                part -= 1;
            }
            let range = bounds[part]..bounds[part + 1];
            match finer(&range) {
                // The ids of more rows cost more than another count.
                Some(parts) if counts[part] > READ_ROWS_MAX => bounds = parts,
                _ => return self.nth_newest(missing, &range, blocks),
            }
            counts = self.count(&bounds, &[], blocks)?.all;
        }
    }

    /// The `number`th newest row within `range`, from 1.
    fn nth_newest<B: Blocks<Error = StoreError>>(
        &self,
        number: u64,
        range: &Range<I>,
        blocks: &mut B,
    ) -> Result<I> {
        let number = usize::try_from(number).unwrap_or(usize::MAX);
        let mut rows = audit_index::newest(self.segments, self.terms, range, number, blocks)?;
        let unindexed = self.backlog.iter().map(|row| row.row);
        rows.extend(unindexed.filter(|row| range.contains(row)));
        rows.sort_unstable_by(|one, other| other.cmp(one));
        Ok(rows.get(number - 1).copied().unwrap_or(range.start))
    }
}

/// Bounds that divide a range into parts of the same length of time; `None` for one that is too short.
fn finer<I: TimedRow>(range: &Range<I>) -> Option<Vec<I>> {
    let [start, end] = [range.start, range.end].map(|row| i128::from(row.time().as_micros()));
    let step = (end - start) / FINER_PARTS;
    if step < 1_000 {
        return None;
    }
    let micros = (1..FINER_PARTS).map(|part| i64::try_from(start + part * step).unwrap_or(i64::MAX));
    let inner = micros.map(|micros| I::at(Timestamp::from_micros(micros)));
    Some(
        std::iter::once(range.start)
            .chain(inner)
            .chain([range.end])
            .collect(),
    )
}

impl WantedTop {
    /// The number of the prefix that a token has.
    fn of(&self, token: &str) -> Option<usize> {
        self.prefixes
            .iter()
            .position(|prefix| token.starts_with(prefix.as_str()))
    }

    /// The tokens of each field that events which fulfil all `terms` can have.
    fn wanted(&self, terms: &[Term]) -> Vec<Term> {
        let of_field = |prefix: &String| {
            // An event has one token of a field at most, so those of others that the query does not select need no look-up.
            let selected = terms.iter().find_map(|term| match term {
                Term::AnyOf(tokens) if tokens.iter().all(|token| token.starts_with(prefix)) => Some(tokens),
                _ => None,
            });
            match selected {
                Some(tokens) => Term::AnyOf(
                    tokens
                        .iter()
                        .collect::<BTreeSet<_>>()
                        .into_iter()
                        .cloned()
                        .collect(),
                ),
                None => Term::Prefix(vec![prefix.clone()]),
            }
        };
        self.prefixes.iter().map(of_field).collect()
    }

    /// Counts the tokens of the newest rows. `counts` are the numbers of all rows between the `bounds`.
    fn count<I: TimedRow, B: Blocks<Error = StoreError>>(
        &self,
        indexed: &Indexed<'_, I>,
        bounds: Vec<I>,
        counts: &[u64],
        blocks: &mut B,
    ) -> Result<Top<I>> {
        let total: u64 = counts.iter().sum();
        let looked_at = total.min(self.events_max);
        let lowest = match total > looked_at {
            true => indexed.lowest_of_newest(looked_at, bounds, counts.to_vec(), blocks)?,
            false => indexed.range.start,
        };
        let range = lowest..indexed.range.end;
        let wanted: Vec<Term> = self.wanted(indexed.terms);
        let mut found = audit_index::count_tokens(indexed.segments, indexed.terms, &range, &wanted, blocks)?;
        for row in indexed.backlog.iter().filter(|row| range.contains(&row.row)) {
            for token in row.tokens.split_terminator(' ') {
                if let Some(prefix) = self.of(token) {
                    found[prefix].add(token, row.row);
                }
            }
        }
        let mut tokens = Vec::with_capacity(found.len());
        for counts in found {
            let frequent = counts.most_frequent(self.values_max, indexed.segments, blocks)?;
            tokens.push(
                frequent
                    .into_iter()
                    .map(|token| (token.count, token.row))
                    .collect(),
            );
        }
        Ok(Top { looked_at, tokens })
    }
}

impl<I> Tally<I> {
    /// With the event of each row; those that were removed are left out.
    pub(crate) fn with_events(
        self,
        mut event: impl FnMut(I) -> Result<Option<StoredEvent>>,
    ) -> Result<Tally<StoredEvent>> {
        let mut read = |(count, row): (u64, I)| Ok(event(row)?.map(|event| (count, event)));
        let top = match self.top {
            None => None,
            Some(Top { looked_at, tokens }) => {
                let mut read_field = |field: Vec<(u64, I)>| {
                    let events = field.into_iter().map(&mut read);
                    let events: Vec<Option<(u64, StoredEvent)>> = events.collect::<Result<_>>()?;
                    Ok(events.into_iter().flatten().collect())
                };
                let tokens = tokens.into_iter().map(&mut read_field).collect::<Result<_>>()?;
                Some(Top { looked_at, tokens })
            }
        };
        Ok(Tally {
            buckets: self.buckets,
            counts: self.counts,
            top,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use audit_index::Roots;

    #[test]
    fn the_larger_the_segments_in_the_range_the_more_events_are_read_instead_of_counted() {
        let segment = |id: u32, rows| Segment {
            id,
            level: 0,
            rows,
            first: i64::from(id) * 10,
            last: i64::from(id) * 10 + 9,
            leaves: 1,
            directories: 1,
            roots: Roots::default(),
        };
        let read_max = |rows: &[u32], range: Range<i64>| {
            let segments: Vec<Segment> = rows
                .iter()
                .zip(0..)
                .map(|(rows, id)| segment(id, *rows))
                .collect();
            let indexed = Indexed {
                segments: &segments,
                backlog: &[],
                terms: &[],
                range: &range,
                read_per_million: 500,
            };
            indexed.read_max()
        };
        assert_eq!(read_max(&[], 0..100), 500);
        assert_eq!(read_max(&[300_000, 40_000], 0..100), 500);
        assert_eq!(read_max(&[2_000_000, 2_000_000, 400_000], 0..100), 2_200);
        assert_eq!(read_max(&[2_000_000, 2_000_000, 400_000], 0..20), 2_000);
        assert_eq!(read_max(&[2_000_000; 30], 0..1_000), 5_000);
    }
}
