//! Summaries: the numbers of events by time, and their most frequent values.
//!
//! The numbers are exact. They come from the index where its terms select exactly the events of the filter, and otherwise
//! from the events themselves, of which a summary reads [`READ_EVENTS_MAX`] at most.

use super::{Candidates, FetchSize, PAGE_BYTES_MAX, ScanSession};
use crate::error::Result;
use crate::ids::LedgerId;
use crate::search::counting::{self, Counting, SplitRow, Tally, Uncounted, WantedTop};
use crate::search::terms::{QueryTerms, Selected, parameter_of_prefix};
use crate::search::tokens::{category_tokens, field_prefix};
use audit_domain::{
    Category, EventField, EventFilter, EventOrder, Facet, Facets, Interval, StoredEvent, TimeZone, Timestamp,
    TooManyBuckets, TopField, ViewerTier,
};
use std::borrow::Cow;
use std::collections::HashMap;

/// The newest events whose values are counted, at most.
pub const TOP_EVENTS_MAX: usize = 10_000;
/// The values of a field, at most.
const TOP_VALUES_MAX: usize = 10;
/// Events that are read in order to count them, at most.
const READ_EVENTS_MAX: usize = 100_000;
/// The size of the events whose values are counted, at most, rounded up to a whole event. Larger events are fewer.
const TOP_BYTES_MAX: usize = 16 * 1024 * 1024;
/// The size of the events that are read in order to count them, at most.
const READ_BYTES_MAX: usize = 128 * 1024 * 1024;

/// A request for a summary of the events of a ledger.
#[derive(Clone, Debug)]
pub struct SummaryQuery {
    /// The ledger.
    pub ledger_id: LedgerId,
    /// The conditions.
    pub filter: EventFilter,
    /// Restricts the events and fields that the reader sees; `None` shows all.
    pub tier: Option<ViewerTier>,
    /// The length of the buckets; `None` if the range of time chooses it.
    pub interval: Option<Interval>,
    /// The time zone in whose calendar buckets begin.
    pub zone: TimeZone,
    /// Whether buckets are split by category.
    pub splits_by_category: bool,
}

/// The events in a bucket.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SummaryBucket {
    /// The first instant of the bucket.
    pub start: Timestamp,
    /// The number of its events.
    pub count: u64,
    /// The categories that it has, with their numbers of events; `None` if it is not split.
    pub categories: Option<Vec<(Category, u64)>>,
}

/// The most frequent values of a field, the most frequent one first, with their numbers of events.
pub type FrequentValues = (TopField, Vec<(String, u64)>);

/// The numbers of events by time, and their most frequent values.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EventSummary {
    /// The length of the buckets.
    pub interval: Interval,
    /// Consecutive buckets, the earliest first. Empty if there is no event, and the filter has not both times.
    pub buckets: Vec<SummaryBucket>,
    /// The number of all events.
    pub total: u64,
    /// How many of the newest events `top` counts: [`TOP_EVENTS_MAX`] at most, and fewer if they have more than 16 MiB.
    pub looked_at: usize,
    /// The most frequent values of each field that the reader sees.
    pub top: Vec<FrequentValues>,
}

/// Why there is no summary.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SummaryRefusal {
    /// The range of time has too many buckets.
    TooManyBuckets(TooManyBuckets),
    /// The index cannot count the events of this parameter, and there are too many to read them.
    Uncountable(Cow<'static, str>),
    /// The index does not have all events yet, and there are too many to read them.
    IndexIncomplete,
}

impl SummaryQuery {
    pub(super) const fn selected(&self) -> Selected<'_> {
        Selected {
            ledger_id: self.ledger_id,
            filter: &self.filter,
            tier: self.tier.as_ref(),
        }
    }

    fn counting(&self) -> Counting {
        let is_split = self.splits_by_category && self.shows(EventField::Category);
        Counting {
            interval: self.interval,
            zone: self.zone.clone(),
            start: self.filter.start,
            end: self.filter.end,
            splits: match is_split {
                true => category_tokens(self.ledger_id.0),
                false => Vec::new(),
            },
            top: WantedTop {
                prefixes: self
                    .visible_fields()
                    .map(|field| field_prefix(self.ledger_id.0, field))
                    .collect(),
                events_max: TOP_EVENTS_MAX as u64,
                values_max: TOP_VALUES_MAX,
            },
        }
    }

    /// The fields whose values the reader sees.
    fn visible_fields(&self) -> impl Iterator<Item = TopField> {
        let fields = TopField::ALL.iter().copied();
        fields.filter(|field| self.shows(field.facet().field()))
    }

    fn shows(&self, field: EventField) -> bool {
        self.tier.as_ref().is_none_or(|tier| !tier.hides(field))
    }

    /// The summary of no event.
    pub(super) fn empty(&self) -> Result<EventSummary, SummaryRefusal> {
        let counted = self.counting().count_rows::<StoredEvent>(&[]);
        match counted {
            Ok(Ok(tally)) => Ok(self.summary(tally, Top::of(self))),
            Ok(Err(refused)) => Err(SummaryRefusal::TooManyBuckets(refused)),
            Err(_) => Err(SummaryRefusal::IndexIncomplete),
        }
    }

    fn summary<T>(&self, tally: Tally<T>, top: Top<'_>) -> EventSummary {
        let Tally { buckets, counts, .. } = tally;
        let of_bucket = |(number, start): (usize, &Timestamp)| {
            let of_category = counts.split.iter().map(|counts| counts[number]);
            let categories = Category::ALL.iter().copied().zip(of_category);
            SummaryBucket {
                start: *start,
                count: counts.all[number],
                categories: (!counts.split.is_empty())
                    .then(|| categories.filter(|(_, count)| *count > 0).collect()),
            }
        };
        EventSummary {
            interval: buckets.interval,
            buckets: buckets.starts.iter().enumerate().map(of_bucket).collect(),
            total: counts.all.iter().sum(),
            looked_at: top.looked_at,
            top: top.most_frequent(),
        }
    }
}

/// The values of the newest events.
struct Top<'a> {
    query: &'a SummaryQuery,
    looked_at: usize,
    bytes: usize,
    values: Vec<(TopField, HashMap<String, u64>)>,
}

impl<'a> Top<'a> {
    fn of(query: &'a SummaryQuery) -> Self {
        Self {
            query,
            looked_at: 0,
            bytes: 0,
            values: query
                .visible_fields()
                .map(|field| (field, HashMap::new()))
                .collect(),
        }
    }

    const fn is_full(&self) -> bool {
        self.looked_at == TOP_EVENTS_MAX || self.bytes >= TOP_BYTES_MAX
    }

    /// Adds an event, if the reader sees it and the filter selects it. Returns whether it is so.
    fn add(&mut self, event: &StoredEvent) -> Result<bool> {
        if !self.query.filter.shows(event, self.query.tier.as_ref())? {
            return Ok(false);
        }
        if !self.is_full() {
            self.looked_at += 1;
            self.bytes += event.canonical.len();
            let facets = event.facets()?;
            for (field, values) in &mut self.values {
                if let Some(value) = facets.get(field.facet()) {
                    match values.get_mut(value) {
                        Some(count) => *count += 1,
                        None => drop(values.insert(value.to_owned(), 1)),
                    }
                }
            }
        }
        Ok(true)
    }

    /// Takes over what the index has counted.
    fn set(&mut self, counted: &counting::Top<StoredEvent>) -> Result<()> {
        self.looked_at = usize::try_from(counted.looked_at).unwrap_or(usize::MAX);
        for ((field, values), counted) in self.values.iter_mut().zip(&counted.tokens) {
            for (count, event) in counted {
                if let Some(value) = event.facets()?.get(field.facet()) {
                    values.insert(value.to_owned(), *count);
                }
            }
        }
        Ok(())
    }

    fn most_frequent(self) -> Vec<FrequentValues> {
        let first = |values: HashMap<String, u64>| {
            let mut values: Vec<(String, u64)> = values.into_iter().collect();
            values.sort_unstable_by(|(one, of_one), (other, of_other)| {
                of_other.cmp(of_one).then_with(|| one.cmp(other))
            });
            values.truncate(TOP_VALUES_MAX);
            values
        };
        self.values
            .into_iter()
            .map(|(field, values)| (field, first(values)))
            .collect()
    }
}

/// Counts with the index if it can, and otherwise by reading the events.
pub(super) fn summarize<S: ScanSession>(
    session: &mut S,
    query: &SummaryQuery,
    found: QueryTerms,
) -> Result<Result<EventSummary, SummaryRefusal>> {
    let QueryTerms {
        terms,
        words,
        inexact,
    } = found;
    let candidates = Candidates {
        ledger_id: query.ledger_id,
        terms,
        start: query.filter.start,
        end: query.filter.end,
        order: EventOrder::Descending,
    };
    let counting = query.counting();
    let refusal = match inexact {
        Some(parameter) => SummaryRefusal::Uncountable(parameter),
        None => match session.count(&candidates, &counting)? {
            Ok(tally) => return complete(session, query, candidates, tally).map(Ok),
            Err(Uncounted::TooManyBuckets(refused)) => {
                return Ok(Err(SummaryRefusal::TooManyBuckets(refused)));
            }
            Err(Uncounted::Incomplete) => SummaryRefusal::IndexIncomplete,
            Err(Uncounted::WidePrefix(position)) => {
                SummaryRefusal::Uncountable(parameter_of_prefix(words, position).into())
            }
        },
    };
    let (mut top, mut rows) = (Top::of(query), Vec::<SplitRow<Timestamp>>::new());
    let (mut read_events, mut read_bytes) = (0, 0);
    let is_end = walk(session, candidates, |event| {
        read_events += 1;
        read_bytes += event.canonical.len();
        if read_events > READ_EVENTS_MAX || read_bytes > READ_BYTES_MAX {
            return Ok(false);
        }
        if top.add(event)? {
            rows.push((event.occurred_at, category_of(&event.facets()?)));
        }
        Ok(true)
    })?;
    if !is_end {
        return Ok(Err(refusal));
    }
    if counting.splits.is_empty() {
        rows.iter_mut().for_each(|(_, split)| *split = None);
    }
    let counted = counting.count_rows::<StoredEvent>(&rows)?;
    let counted = counted.map_err(SummaryRefusal::TooManyBuckets);
    Ok(counted.map(|tally| query.summary(tally, top)))
}

/// The summary of what the index has counted. Reads the newest events if it has not counted their values.
fn complete<S: ScanSession>(
    session: &mut S,
    query: &SummaryQuery,
    candidates: Candidates,
    tally: Tally<StoredEvent>,
) -> Result<EventSummary> {
    let mut top = Top::of(query);
    match &tally.top {
        Some(counted) => top.set(counted)?,
        None => {
            walk(session, candidates, |event| {
                top.add(event)?;
                Ok(!top.is_full())
            })?;
        }
    }
    Ok(query.summary(tally, top))
}

/// The number of the event's category.
fn category_of(facets: &Facets<'_>) -> Option<usize> {
    let category = facets.get(Facet::Category)?;
    Category::ALL.iter().position(|one| one.as_str() == category)
}

/// Calls `see` with the candidates, newest first, until it returns `false`. Returns whether it has seen all.
fn walk<S: ScanSession>(
    session: &mut S,
    candidates: Candidates,
    mut see: impl FnMut(&StoredEvent) -> Result<bool>,
) -> Result<bool> {
    let (mut scan, mut fetch) = (session.open_scan(candidates, None)?, FetchSize::default());
    loop {
        let wanted = fetch.rows_of(PAGE_BYTES_MAX);
        let events = session.scan(&mut scan, wanted)?;
        for event in &events {
            fetch.note(event);
            if !see(event)? {
                return Ok(false);
            }
        }
        if events.len() < wanted {
            return Ok(true);
        }
    }
}
