//! From a query to terms of the index.
//!
//! The terms select candidates. They may select too many, never too few: each candidate is checked against the filter
//! itself. A prefix or glob of actions that has no token of its own expands to the ledger's actions that match it.

use super::tokens::{Kind, any_of, searched, shares_its_token, token};
use crate::database::AnySession;
use crate::error::Result;
use crate::ids::LedgerId;
use crate::ledgers::actions_with_prefix;
use audit_domain::{ActionGlob, Category, Condition, EventFilter, Facet, SearchedText, ViewerTier};
use audit_index::Term;

/// A prefix or glob that expands to more actions than this selects no candidates.
const EXPANDED_ACTIONS_MAX: usize = 64;
/// Actions of a ledger that an expansion reads, at most.
const READ_ACTIONS_MAX: usize = 1_000;

/// The actions of a ledger that a prefix or the globs of a tier allow.
enum Actions {
    /// None: no event can match.
    None,
    /// These tokens of actions.
    Tokens(Vec<String>),
    /// Too many for a term.
    Many,
}

/// The events that a reader asks for, and those of them that it may see.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Selected<'a> {
    pub(crate) ledger_id: LedgerId,
    pub(crate) filter: &'a EventFilter,
    pub(crate) tier: Option<&'a ViewerTier>,
}

/// The terms that every selected event fulfils.
#[derive(Debug, Default)]
pub(crate) struct QueryTerms {
    pub(crate) terms: Vec<Term>,
    /// The parameter of a condition that also lets other events fulfil the terms; `None` if the events that fulfil the terms
    /// are exactly the selected ones.
    pub(crate) inexact: Option<&'static str>,
}

/// The terms that every selected event fulfils; `None` when no event can match.
pub(crate) fn terms_of(session: &mut AnySession, query: &Selected<'_>) -> Result<Option<QueryTerms>> {
    if query.tier.is_some_and(|tier| query.filter.is_hidden_by(tier)) {
        return Ok(None);
    }
    let mut found = QueryTerms {
        terms: field_terms(query),
        inexact: long_words(query.filter).then_some("search"),
    };
    let is_selected =
        add_prefix_terms(session, query, &mut found)? && add_tier_terms(session, query, &mut found)?;
    Ok(is_selected.then_some(found))
}

/// Whether the search has a word whose token other words share, because it is truncated.
fn long_words(filter: &EventFilter) -> bool {
    let mut words = filter.search.iter().flat_map(|search| search.words());
    words.any(shares_its_token)
}

/// The terms of a filter, except those of the beginning of an action.
fn field_terms(query: &Selected<'_>) -> Vec<Term> {
    let EventFilter {
        conditions,
        start: _, // The range of the scan.
        end: _,
        search,
    } = query.filter;
    let ledger = query.ledger_id.0;
    let visible = visible_texts(query.tier);
    let mut terms = Vec::new();
    for (facet, condition) in conditions {
        match condition {
            Condition::OneOf(values) => {
                terms.push(any_of(
                    Kind::Is(*facet),
                    ledger,
                    values.iter().map(String::as_str),
                ));
            }
            Condition::ActionPrefix(_) => {} // See `add_prefix_terms`.
        }
    }
    for word in search.iter().flat_map(|search| search.words()) {
        terms.push(searched(ledger, word, &visible));
    }
    terms
}

/// The searched texts that a reader with this tier sees.
fn visible_texts(tier: Option<&ViewerTier>) -> Vec<SearchedText> {
    let is_visible = |text: &SearchedText| tier.is_none_or(|tier| !tier.hides(text.field()));
    SearchedText::ALL.iter().copied().filter(is_visible).collect()
}

/// Adds the terms of the beginning of an action. Returns whether an event can match.
fn add_prefix_terms(session: &mut AnySession, query: &Selected<'_>, found: &mut QueryTerms) -> Result<bool> {
    let Some(Condition::ActionPrefix(prefix)) = query.filter.conditions.get(&Facet::Action) else {
        return Ok(true);
    };
    let is = |value: &str| Term::is(token(Kind::ActionPrefix, query.ledger_id.0, value.as_bytes()));
    if prefix.is_empty() {
        return Ok(true);
    }
    if prefix.ends_with('.') {
        found.terms.push(is(prefix));
        return Ok(true);
    }
    match expand(session, query.ledger_id, prefix, |_| true)? {
        Actions::None => return Ok(false),
        Actions::Tokens(tokens) => found.terms.push(Term::AnyOf(tokens)),
        // The whole segments of the prefix select fewer candidates than no term.
        Actions::Many => {
            let segments = prefix.rfind('.').map(|dot| &prefix[..=dot]);
            found.terms.extend(segments.map(is));
            found.inexact = Some(Facet::Action.as_str());
        }
    }
    Ok(true)
}

/// Adds the terms of a tier, which restricts the events that its reader sees. Returns whether it shows any of them.
fn add_tier_terms(session: &mut AnySession, query: &Selected<'_>, found: &mut QueryTerms) -> Result<bool> {
    let Some(tier) = query.tier else {
        return Ok(true);
    };
    let of_category =
        |wanted: &String, allowed: &[Category]| allowed.iter().any(|one| one.as_str() == wanted);
    match (&tier.categories, query.filter.values(Facet::Category)) {
        (Some(allowed), None) if !allowed.is_empty() => {
            let allowed = allowed.iter().map(|category| Category::as_str(*category));
            found
                .terms
                .push(any_of(Kind::Is(Facet::Category), query.ledger_id.0, allowed));
        }
        (Some(allowed), Some(wanted)) if wanted.iter().any(|wanted| of_category(wanted, allowed)) => {}
        (Some(_), _) => return Ok(false),
        (None, _) => {}
    }
    if let Some(globs) = &tier.actions {
        match expand_globs(session, query.ledger_id, globs)? {
            Actions::None => return Ok(false),
            Actions::Tokens(tokens) => found.terms.push(Term::AnyOf(tokens)),
            Actions::Many => found.inexact = Some("action"),
        }
    }
    Ok(true)
}

/// The actions that the globs of a tier allow. A glob without `*`, or of whole segments and a `*`, has a token of its own.
fn expand_globs(session: &mut AnySession, ledger_id: LedgerId, globs: &[ActionGlob]) -> Result<Actions> {
    let mut tokens = Vec::new();
    for glob in globs {
        let text = glob.as_str();
        match text.split_once('*') {
            None => tokens.push(token(Kind::Is(Facet::Action), ledger_id.0, text.as_bytes())),
            Some((prefix, "")) if prefix.ends_with('.') => {
                tokens.push(token(Kind::ActionPrefix, ledger_id.0, prefix.as_bytes()));
            }
            Some((prefix, _)) => match expand(session, ledger_id, prefix, |action| glob.matches(action))? {
                Actions::None => {}
                Actions::Tokens(expanded) => tokens.extend(expanded),
                Actions::Many => return Ok(Actions::Many),
            },
        }
    }
    Ok(match tokens.is_empty() {
        true => Actions::None,
        false => Actions::Tokens(tokens),
    })
}

/// The actions of a ledger that begin with `prefix` and are `wanted`.
fn expand(
    session: &mut AnySession,
    ledger_id: LedgerId,
    prefix: &str,
    wanted: impl Fn(&str) -> bool,
) -> Result<Actions> {
    let actions = actions_with_prefix(session, ledger_id, prefix, READ_ACTIONS_MAX as i64 + 1)?;
    if actions.len() > READ_ACTIONS_MAX {
        return Ok(Actions::Many);
    }
    let wanted = actions.iter().filter(|action| wanted(action));
    let tokens: Vec<String> = wanted
        .map(|action| token(Kind::Is(Facet::Action), ledger_id.0, action.as_bytes()))
        .collect();
    Ok(match tokens.len() {
        0 => Actions::None,
        1..=EXPANDED_ACTIONS_MAX => Actions::Tokens(tokens),
        _ => Actions::Many,
    })
}
