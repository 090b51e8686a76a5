use super::*;
use crate::events::{Candidates, ScanSession};
use crate::ids::LedgerId;
use crate::search::counting::{Counting, Tally, Uncounted};
use audit_domain::{
    ContentHash, ContentSalt, EventFilter, EventId, EventOrder, Facet, PageLimit, Position, StoredSalt,
    Timestamp,
};

/// Events of these sizes, newest first.
struct Events {
    sizes: Vec<usize>,
    rows_read: usize,
    bytes_read: usize,
    fetches: usize,
}

impl Events {
    fn of(sizes: Vec<usize>) -> Self {
        Self {
            sizes,
            rows_read: 0,
            bytes_read: 0,
            fetches: 0,
        }
    }

    /// The events from this index on that are on a page.
    fn page(&mut self, mut from: usize, limit: usize, tenant_id: &str) -> EventPage {
        let filter = EventFilter::of(Facet::TenantId, tenant_id);
        let query = EventQuery {
            ledger_id: LedgerId(1),
            filter,
            tier: None,
            order: EventOrder::Descending,
            after: None,
            limit: PageLimit::new(limit).unwrap(),
        };
        read_page(&query, |wanted| self.scan(&mut from, wanted)).unwrap()
    }
}

impl ScanSession for Events {
    type Scan = usize;

    fn open_scan(&mut self, _: Candidates, _: Option<Position>) -> Result<usize> {
        Ok(0)
    }

    fn scan(&mut self, next: &mut usize, wanted: usize) -> Result<Vec<StoredEvent>> {
        let end = (*next + wanted).min(self.sizes.len());
        let events: Vec<_> = (*next..end)
            .map(|index| match self.sizes[index] {
                OTHER_BYTES => of_tenant("other", index, OTHER_BYTES),
                bytes => event(index, bytes),
            })
            .collect();
        self.rows_read += events.len();
        self.bytes_read += events.iter().map(|event| event.canonical.len()).sum::<usize>();
        self.fetches += 1;
        *next = end;
        Ok(events)
    }

    fn stopped_at(&self, _: &usize) -> Option<Position> {
        None
    }

    fn count(&mut self, _: &Candidates, _: &Counting) -> Result<Result<Tally<StoredEvent>, Uncounted>> {
        Ok(Err(Uncounted::Incomplete))
    }
}

/// The size of an event of the tenant "other".
const OTHER_BYTES: usize = 501;

/// An event of `bytes` of the tenant "t".
fn event(index: usize, bytes: usize) -> StoredEvent {
    of_tenant("t", index, bytes)
}

fn of_tenant(tenant: &str, index: usize, bytes: usize) -> StoredEvent {
    let text = |padding: &str| {
        format!(
            r#"{{"action":"a.b","actor":{{"id":"u","type":"user"}},"category":"access","metadata":{{"p":"{padding}"}},"tenant_id":"{tenant}"}}"#
        )
    };
    let padding = "x".repeat(bytes.saturating_sub(text("").len()));
    StoredEvent {
        id: EventId::from_bytes((index as u128).to_be_bytes()),
        occurred_at: Timestamp::from_micros(0),
        canonical: text(&padding),
        content_hash: ContentHash::from_bytes([0; 32]),
        content_salt: StoredSalt::Whole(ContentSalt::from_bytes([0; ContentSalt::BYTES])),
        redacted: false,
    }
}

#[test]
fn a_page_ends_at_its_size_and_little_more_is_read() {
    let mut events = Events::of(vec![60_000; 1_000]);
    let page = events.page(0, 200, "t");
    assert_eq!(page.events.len(), PAGE_BYTES_MAX.div_ceil(60_000));
    assert!(page.next.is_some());
    assert!(
        events.bytes_read <= PAGE_BYTES_MAX + 2 * 60_000,
        "{}",
        events.bytes_read
    );
}

#[test]
fn a_page_of_small_events_ends_at_its_limit() {
    for limit in [1, 50, 200] {
        let mut events = Events::of(vec![500; 1_000]);
        let page = events.page(0, limit, "t");
        assert_eq!((page.events.len(), page.next.is_some()), (limit, true));
        assert_eq!(events.rows_read, limit + 1);
        let rest = events.page(1_000 - limit, limit, "t");
        assert_eq!((rest.events.len(), rest.next.is_some()), (limit, false));
    }
}

#[test]
fn an_event_larger_than_a_page_is_one_and_pages_join_without_gap() {
    let sizes: Vec<_> = (0..300)
        .map(|number| match number % 7 {
            0 => 2 * PAGE_BYTES_MAX,
            1 => 200_000,
            _ => 400,
        })
        .collect();
    let mut events = Events::of(sizes.clone());
    let (mut seen, mut is_alone) = (Vec::new(), false);
    loop {
        let page = events.page(seen.len(), 200, "t");
        is_alone |= page.events.len() == 1;
        let all_but_last: usize = page
            .events
            .iter()
            .rev()
            .skip(1)
            .map(|event| event.canonical.len())
            .sum();
        assert!(all_but_last < PAGE_BYTES_MAX);
        seen.extend(page.events.into_iter().map(|event| event.canonical.len()));
        if page.next.is_none() {
            break;
        }
    }
    assert!(is_alone);
    assert_eq!(seen, sizes);
}

#[test]
fn candidates_that_do_not_match_are_fetched_in_pieces_of_bounded_size() {
    let mut events = Events::of(vec![60_000; 500]);
    let page = events.page(0, 200, "other");
    assert_eq!((page.events.len(), page.next.is_some()), (0, false));
    assert_eq!(events.rows_read, 500);
    let mut fetch = FetchSize::default();
    fetch.note(&event(0, 60_000));
    assert_eq!(fetch.rows_of(PAGE_BYTES_MAX), 18);
    assert_eq!(fetch.rows_of(1), 1);
    fetch.note(&event(0, 0));
    assert!(fetch.rows_of(usize::MAX) <= FETCHED_ROWS_MAX);
}

#[test]
fn a_page_of_few_among_many_candidates_ends_and_the_next_one_goes_on() {
    let count = 3 * PAGE_CANDIDATES_MAX;
    let mut events = Events::of(vec![500; count]);
    let page = events.page(0, 200, "other");
    assert!(page.events.is_empty());
    assert!(
        events.rows_read < PAGE_CANDIDATES_MAX + FETCHED_ROWS_MAX,
        "{}",
        events.rows_read
    );
    let last = event(events.rows_read - 1, 500);
    assert_eq!(page.next, Some(position_of(&last)));
    let mut pages = 2;
    while events.page(events.rows_read, 200, "other").next.is_some() {
        pages += 1;
    }
    assert_eq!((events.rows_read, pages), (count, 3));
}

#[test]
fn a_full_page_fetches_many_candidates_at_once_to_learn_whether_it_is_the_last() {
    let mut sizes = vec![64 * 1024; 17];
    sizes.extend(vec![OTHER_BYTES; 30_000]);
    let mut events = Events::of(sizes);
    let page = events.page(0, 200, "t");
    assert!(page.events.len() >= 16 && page.next.is_some());
    assert!(events.fetches < 150, "{} fetches", events.fetches);
}

#[test]
fn a_page_of_few_among_large_candidates_ends_by_their_size() {
    let mut events = Events::of(vec![60_000; 2_000]);
    assert!(events.page(0, 200, "other").next.is_some());
    assert!(
        events.bytes_read < CANDIDATES_BYTES_MAX + 2 * PAGE_BYTES_MAX,
        "{}",
        events.bytes_read
    );
}
