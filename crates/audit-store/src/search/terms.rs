//! From a query to terms of the index.
//!
//! The terms select candidates. They may select too many, never too few: each candidate is checked against the filter
//! itself. A prefix or glob of actions that has no token of its own expands to the ledger's actions that match it.

use super::tokens::{Kind, any_of, bounded, network_prefixes, searched, shares_its_token, token};
use crate::database::AnySession;
use crate::error::Result;
use crate::ids::LedgerId;
use crate::ledgers::actions_with_prefix;
use audit_domain::{
    ActionGlob, Category, Condition, EventFilter, Facet, Network, SearchedText, ValuePattern, ViewerTier,
};
use audit_index::Term;
use std::borrow::Cow;
use std::net::IpAddr;

/// A prefix or glob that expands to more actions than this selects no candidates.
const EXPANDED_ACTIONS_MAX: usize = 64;
/// Actions of a ledger that an expansion reads, at most.
const READ_ACTIONS_MAX: usize = 1_000;
/// A network with fewer bits, of IPv4 and of IPv6, selects no candidates: each address in it would be looked up.
const NETWORK_BITS_MIN: (u8, u8) = (8, 16);

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
    /// The number of those that are of the search. They come first.
    pub(crate) words: usize,
    /// The parameter of a condition that also lets other events fulfil the terms; `None` if the events that fulfil the terms
    /// are exactly the selected ones.
    pub(crate) inexact: Option<Cow<'static, str>>,
}

/// The parameter of the prefix at a position in [`QueryTerms`], which begin with this number of words. Only words and networks are prefixes.
pub(crate) const fn parameter_of_prefix(words: usize, position: usize) -> &'static str {
    match position < words {
        true => "search",
        false => Facet::IpAddress.as_str(),
    }
}

/// The terms that every selected event fulfils; `None` when no event can match.
pub(crate) fn terms_of(session: &mut AnySession, query: &Selected<'_>) -> Result<Option<QueryTerms>> {
    if query.tier.is_some_and(|tier| query.filter.is_hidden_by(tier)) {
        return Ok(None);
    }
    let terms = word_terms(query);
    let mut found = QueryTerms {
        words: terms.len(),
        terms,
        inexact: metadata_parameter(query.filter)
            .or_else(|| selects_too_many(query).then_some("search".into())),
    };
    for (facet, condition) in &query.filter.conditions {
        if !add_condition_terms(session, query, (*facet, condition), &mut found)? {
            return Ok(None);
        }
    }
    Ok(add_tier_terms(session, query, &mut found)?.then_some(found))
}

/// The parameter of a condition on the metadata, which no index has.
fn metadata_parameter(filter: &EventFilter) -> Option<Cow<'static, str>> {
    let (path, condition) = filter.metadata.first_key_value()?;
    Some(path.parameter(condition).into())
}

/// Whether events that do not match the search can have what it looks up: not every key is looked up, or other words share the token of
/// a truncated one.
fn selects_too_many(query: &Selected<'_>) -> bool {
    query.filter.search.as_ref().is_some_and(|search| {
        let (_, is_exact) = search.lookups();
        !is_exact || search.words().into_iter().any(shares_its_token)
    })
}

/// The terms of the words of a search.
fn word_terms(query: &Selected<'_>) -> Vec<Term> {
    let Some(search) = &query.filter.search else {
        return Vec::new();
    };
    let is_visible = |text: &SearchedText| query.tier.is_none_or(|tier| !tier.hides_path(text.as_str()));
    let visible: Vec<SearchedText> = search.texts().filter(is_visible).collect();
    let (lookups, _) = search.lookups();
    lookups
        .into_iter()
        .map(|lookup| searched(query.ledger_id.0, lookup, &visible))
        .collect()
}

/// Adds the term of a condition. Returns whether an event can match.
///
/// Excluded values add none. A token is a hash of 64 bits: a writer who finds two values with one token could hide the events of one
/// behind an exclusion of the other.
fn add_condition_terms(
    session: &mut AnySession,
    query: &Selected<'_>,
    (facet, condition): (Facet, &Condition),
    found: &mut QueryTerms,
) -> Result<bool> {
    if !condition.none_of.is_empty() {
        found.inexact = Some(facet.exclusion().into());
    }
    if condition.any_of.is_empty() {
        return Ok(true);
    }
    let Selected { ledger_id, tier, .. } = *query;
    let further = Kind::further(facet).filter(|_| tier.is_none_or(|tier| !tier.hides_further(facet)));
    let kinds: Vec<Kind> = [Kind::Is(facet)].into_iter().chain(further).collect();
    let segments = |prefix: &str| token(Kind::ActionPrefix, ledger_id.0, prefix.as_bytes());
    let (mut tokens, mut prefixes) = (Vec::new(), Vec::new());
    for pattern in &condition.any_of {
        match pattern {
            ValuePattern::Is(value) => {
                let of_value = kinds
                    .iter()
                    .map(|kind| token(*kind, ledger_id.0, value.as_bytes()));
                tokens.extend(of_value);
            }
            ValuePattern::Within(network) if is_wide(network) => {
                found.inexact = Some(facet.as_str().into());
                return Ok(true);
            }
            // What is in another network is found with it.
            ValuePattern::Within(network) if !is_within_another(network, condition) => {
                let of_network = network_prefixes(ledger_id.0, network);
                match network.is_address() {
                    true => tokens.extend(of_network),
                    false => prefixes.extend(of_network),
                }
            }
            ValuePattern::Within(_) => {}
            ValuePattern::ActionPrefix(prefix) if prefix.is_empty() => return Ok(true),
            ValuePattern::ActionPrefix(prefix) if prefix.ends_with('.') => tokens.push(segments(prefix)),
            ValuePattern::ActionPrefix(prefix) => match expand(session, ledger_id, prefix, |_| true)? {
                Actions::None => {}
                Actions::Tokens(more) if tokens.len() + more.len() <= EXPANDED_ACTIONS_MAX => {
                    tokens.extend(more)
                }
                Actions::Tokens(_) | Actions::Many => {
                    found.inexact = Some(facet.as_str().into());
                    // The whole segments of the prefix select fewer candidates than no term.
                    match prefix.rfind('.') {
                        Some(dot) => tokens.push(segments(&prefix[..=dot])),
                        None => return Ok(true),
                    }
                }
            },
        }
    }
    if tokens.is_empty() && prefixes.is_empty() {
        return Ok(false);
    }
    found.terms.push(match prefixes.is_empty() {
        true => Term::AnyOf(tokens),
        // No other token begins with the token of a value or an address.
        false => bounded(ledger_id.0, prefixes.into_iter().chain(tokens).collect()),
    });
    Ok(true)
}

/// Whether a network has too many addresses to look them up.
fn is_wide(network: &Network) -> bool {
    let (of_v4, of_v6) = NETWORK_BITS_MIN;
    let bits_min = match network.first() {
        IpAddr::V4(_) => of_v4,
        IpAddr::V6(_) => of_v6,
    };
    network.prefix_bits() < bits_min
}

/// Whether a condition demands a wider network as well.
fn is_within_another(network: &Network, condition: &Condition) -> bool {
    condition.any_of.iter().any(|pattern| match pattern {
        ValuePattern::Within(other) => other != network && other.includes(network),
        ValuePattern::Is(_) | ValuePattern::ActionPrefix(_) => false,
    })
}

/// Adds the terms of a tier, which restricts the events that its reader sees. Returns whether it shows any of them.
fn add_tier_terms(session: &mut AnySession, query: &Selected<'_>, found: &mut QueryTerms) -> Result<bool> {
    let Some(tier) = query.tier else {
        return Ok(true);
    };
    if let Some(allowed) = &tier.categories {
        if allowed.is_empty() {
            return Ok(false);
        }
        let allowed = allowed.iter().map(|category| Category::as_str(*category));
        let wanted = query.filter.values(Facet::Category);
        let is_allowed = |wanted: &&str| allowed.clone().any(|one| one == *wanted);
        if !wanted.is_some_and(|wanted| wanted.iter().all(is_allowed)) {
            found
                .terms
                .push(any_of(Kind::Is(Facet::Category), query.ledger_id.0, allowed));
        }
    }
    if let Some(globs) = &tier.actions {
        match expand_globs(session, query.ledger_id, globs)? {
            Actions::None => return Ok(false),
            Actions::Tokens(tokens) => found.terms.push(Term::AnyOf(tokens)),
            Actions::Many => found.inexact = Some("action".into()),
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn networks_of_most_addresses_select_no_candidates() {
        for (network, expected) in [
            ("0.0.0.0/0", true),
            ("10.0.0.0/7", true),
            ("10.0.0.0/8", false),
            ("::/0", true),
            ("2000::/15", true),
            ("2001::/16", false),
            ("::1", false),
        ] {
            assert_eq!(is_wide(&network.parse().unwrap()), expected, "{network}");
        }
    }
}
