//! Queries: candidates from the index, in the order of the response, each checked against the filter itself.

use crate::access::Reader;
use crate::append::LedgerId;
use crate::database::{on_database, on_either};
use crate::error::Result;
use crate::ledgers::actions_beginning;
use crate::search::tokens::{Kind, any_of, searched, token};
use audit_domain::{
    ActionFilter, ActionGlob, Category, EventFilter, EventId, PageLimit, Position, SearchedText, StoredEvent,
    Timestamp, ViewerTier,
};
use audit_index::Term;

/// What a reader asks for.
#[derive(Clone, Debug)]
pub struct EventQuery {
    /// Which ledger.
    pub ledger_id: LedgerId,
    /// Which events of it.
    pub filter: EventFilter,
    /// What the reader may see; everything when `None`.
    pub tier: Option<ViewerTier>,
    /// Only what follows this place.
    pub after: Option<Position>,
    /// How many at most.
    pub limit: PageLimit,
}

/// A page of events, `occurred_at` descending, then id descending.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EventPage {
    /// The events, as they are stored.
    pub events: Vec<StoredEvent>,
    /// Whether more follow.
    pub has_more: bool,
}

/// A query as the index understands it.
#[derive(Debug)]
pub(crate) struct Candidates {
    pub(crate) ledger_id: LedgerId,
    pub(crate) terms: Vec<Term>,
    pub(crate) start: Option<Timestamp>,
    pub(crate) end: Option<Timestamp>,
}

/// Candidates that are fetched at once, at most.
const FETCHED_ROWS_MAX: usize = 1_000;
/// When a beginning or a tier stands for more actions than these, the index is not asked for each of them.
const ACTION_TERMS_MAX: usize = 64;

/// An event with its place in the log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LoggedEvent {
    /// Counts from 0, without a gap, in the order of commits.
    pub seq: u64,
    /// The event.
    pub event: StoredEvent,
}

impl Reader<'_> {
    /// The events of a ledger from the `start`th on, in the order of the log, `limit` at most. What commits later than
    /// this is read comes behind what is read.
    ///
    /// # Errors
    /// When the database cannot be queried.
    pub fn logged_events(
        &mut self,
        ledger_id: LedgerId,
        start: u64,
        limit: usize,
    ) -> Result<Vec<LoggedEvent>> {
        let (start, limit) = (start.cast_signed(), i64::try_from(limit).unwrap_or(i64::MAX));
        on_database!(self.session(), events::logged(ledger_id, start, limit))
    }

    /// How many events a ledger holds.
    ///
    /// # Errors
    /// When the database cannot be queried.
    pub fn ledger_size(&mut self, ledger_id: LedgerId) -> Result<u64> {
        Ok(crate::ledgers::ledger_size(self.session(), ledger_id)?.cast_unsigned())
    }

    /// One page of events.
    ///
    /// # Errors
    /// When the database cannot be queried, or holds what is no event.
    pub fn events(&mut self, query: &EventQuery) -> Result<EventPage> {
        let Some(terms) = self.terms(query)? else {
            return Ok(EventPage {
                events: Vec::new(),
                has_more: false,
            });
        };
        let candidates = Candidates {
            ledger_id: query.ledger_id,
            terms,
            start: query.filter.start,
            end: query.filter.end,
        };
        on_either!(self.session(), session => read_page(session, query, candidates))
    }

    /// One event by its id.
    ///
    /// # Errors
    /// When the database cannot be queried.
    pub fn event(&mut self, ledger_id: LedgerId, id: EventId) -> Result<Option<LoggedEvent>> {
        on_database!(self.session(), events::event(ledger_id, id))
    }

    /// The positions in the log of the events that occurred from `start` to `end`, both included, in the order of the log.
    /// Holds eight bytes for each.
    ///
    /// # Errors
    /// When the database cannot be queried.
    pub fn seqs_between(
        &mut self,
        ledger_id: LedgerId,
        start: Timestamp,
        end: Timestamp,
    ) -> Result<Vec<u64>> {
        let mut seqs = on_database!(self.session(), events::seqs_between(ledger_id, start, end))?;
        seqs.sort_unstable();
        Ok(seqs)
    }

    /// The conditions for the index; `None` when no event can match.
    fn terms(&mut self, query: &EventQuery) -> Result<Option<Vec<Term>>> {
        if query
            .tier
            .as_ref()
            .is_some_and(|tier| query.filter.is_hidden_by(tier))
        {
            return Ok(None);
        }
        let EventFilter {
            tenant_id,
            actor_ids,
            actor_type,
            action,
            category,
            target_ids,
            target_type,
            start: _, // The range of the scan.
            end: _,
            search,
        } = &query.filter;
        let ledger = query.ledger_id.0;
        let is = |kind, value: &str| Term::is(token(kind, ledger, value.as_bytes()));
        let ids = |kind, ids: &Vec<String>| any_of(kind, ledger, ids.iter().map(String::as_str));
        let visible = query.visible_texts();
        let mut terms = Vec::new();
        terms.extend(tenant_id.as_deref().map(|value| is(Kind::Tenant, value)));
        terms.extend(actor_ids.as_ref().map(|values| ids(Kind::ActorId, values)));
        terms.extend(target_ids.as_ref().map(|values| ids(Kind::TargetId, values)));
        terms.extend(actor_type.map(|value| is(Kind::ActorType, value.as_str())));
        terms.extend(target_type.as_deref().map(|value| is(Kind::TargetType, value)));
        terms.extend(category.map(|value| is(Kind::Category, value.as_str())));
        for word in search.iter().flat_map(|search| search.words()) {
            terms.push(searched(ledger, word, &visible));
        }
        match action {
            None => {}
            Some(ActionFilter::Exact(action)) => terms.push(is(Kind::Action, action)),
            Some(ActionFilter::Prefix(prefix)) if prefix.is_empty() => {}
            Some(ActionFilter::Prefix(prefix)) if prefix.ends_with('.') => {
                terms.push(is(Kind::ActionBeginning, prefix));
            }
            Some(ActionFilter::Prefix(prefix)) => {
                match self.actions_like(query.ledger_id, prefix, |_| true)? {
                    Actions::None => return Ok(None),
                    Actions::Few(actions) => terms.push(actions),
                    // The whole segments before it narrow it down at least.
                    Actions::Many => terms.extend(
                        prefix
                            .rfind('.')
                            .map(|dot| is(Kind::ActionBeginning, &prefix[..=dot])),
                    ),
                }
            }
        }
        match self.add_tier(query, &mut terms)? {
            true => Ok(Some(terms)),
            false => Ok(None),
        }
    }

    /// Adds the conditions that a tier puts on every event; `false` when none can meet them.
    fn add_tier(&mut self, query: &EventQuery, terms: &mut Vec<Term>) -> Result<bool> {
        let Some(tier) = &query.tier else {
            return Ok(true);
        };
        match &tier.categories {
            Some(allowed) if allowed.is_empty() => return Ok(false),
            Some(allowed) if query.filter.category.is_none() => {
                terms.push(any_of(
                    Kind::Category,
                    query.ledger_id.0,
                    allowed.iter().map(|category| Category::as_str(*category)),
                ));
            }
            _ => {}
        }
        if let Some(globs) = &tier.actions {
            match self.terms_of_globs(query.ledger_id, globs)? {
                Actions::None => return Ok(false),
                Actions::Few(actions) => terms.push(actions),
                Actions::Many => {}
            }
        }
        Ok(true)
    }

    /// The actions that a tier allows. A glob that is an action, or whole segments and a `*`, has a token of its own.
    fn terms_of_globs(&mut self, ledger_id: LedgerId, globs: &[ActionGlob]) -> Result<Actions> {
        let mut tokens = Vec::new();
        for glob in globs {
            let text = glob.as_str();
            match text.split_once('*') {
                None => tokens.push(token(Kind::Action, ledger_id.0, text.as_bytes())),
                Some((beginning, "")) if beginning.ends_with('.') => {
                    tokens.push(token(Kind::ActionBeginning, ledger_id.0, beginning.as_bytes()));
                }
                Some((beginning, _)) => {
                    match self.actions_like(ledger_id, beginning, |action| glob.matches(action))? {
                        Actions::None => {}
                        Actions::Few(Term::AnyOf(few)) => tokens.extend(few),
                        Actions::Few(_) | Actions::Many => return Ok(Actions::Many),
                    }
                }
            }
        }
        Ok(if tokens.is_empty() {
            Actions::None
        } else {
            Actions::Few(Term::AnyOf(tokens))
        })
    }

    fn actions_like(
        &mut self,
        ledger_id: LedgerId,
        prefix: &str,
        wanted: impl Fn(&str) -> bool,
    ) -> Result<Actions> {
        const LOOKED_AT_MAX: usize = 1_000;
        let actions = actions_beginning(self.session(), ledger_id, prefix, LOOKED_AT_MAX as i64 + 1)?;
        if actions.len() > LOOKED_AT_MAX {
            return Ok(Actions::Many);
        }
        let wanted: Vec<&str> = actions
            .iter()
            .map(String::as_str)
            .filter(|action| wanted(action))
            .collect();
        Ok(match wanted.len() {
            0 => Actions::None,
            1..=ACTION_TERMS_MAX => Actions::Few(any_of(Kind::Action, ledger_id.0, wanted.into_iter())),
            _ => Actions::Many,
        })
    }
}

/// The actions of a ledger that a beginning or a tier stands for.
enum Actions {
    None,
    Few(Term),
    Many,
}

impl EventQuery {
    /// The searched texts that the reader sees.
    fn visible_texts(&self) -> Vec<SearchedText> {
        let is_visible = |text: &SearchedText| match &self.tier {
            Some(tier) => !tier.hides(text.field()),
            None => true,
        };
        SearchedText::ALL.iter().copied().filter(is_visible).collect()
    }

    /// Whether the event is one the query asks for, of those the reader may see.
    fn shows(&self, event: &StoredEvent) -> Result<bool> {
        Ok(self.filter.shows(event, self.tier.as_ref())?)
    }
}

/// Walks through the candidates of a query, newest first.
pub(crate) trait ScanSession {
    /// The position of a walk.
    type Scan;

    /// Begins a walk, at `after` if it continues one.
    fn open_scan(&mut self, candidates: Candidates, after: Option<Position>) -> Result<Self::Scan>;

    /// The next events, `wanted` at most; fewer only at the end.
    fn scan(&mut self, scan: &mut Self::Scan, wanted: usize) -> Result<Vec<StoredEvent>>;
}

/// Reads candidates until the page is full.
fn read_page<S: ScanSession>(
    session: &mut S,
    query: &EventQuery,
    candidates: Candidates,
) -> Result<EventPage> {
    let mut page = EventPage {
        events: Vec::new(),
        has_more: false,
    };
    let mut scan = session.open_scan(candidates, query.after)?;
    let mut wanted = query.limit.get() + 1;
    loop {
        let fetched = session.scan(&mut scan, wanted)?;
        let is_end = fetched.len() < wanted;
        for event in fetched {
            if !query.shows(&event)? {
                continue;
            }
            if page.events.len() == query.limit.get() {
                page.has_more = true;
                return Ok(page);
            }
            page.events.push(event);
        }
        if is_end {
            return Ok(page);
        }
        wanted = (wanted * 2).min(FETCHED_ROWS_MAX);
    }
}
