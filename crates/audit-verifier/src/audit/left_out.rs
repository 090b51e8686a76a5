//! Which event the shown log of a tenant lacks. The server shows only size and root, so the auditor reads the events of the tenant
//! again and looks for a run of them without which the rest has that root.

use super::AuditResult;
use super::events::EventSource;
use super::server::{Fetched, LogServer};
use audit_domain::LogName;
use audit_ledger::{Frontier, Hash, TreeHead};

/// The maximum number of events of a tenant among which the missing ones are looked for everywhere: some seconds of hashing. Of more
/// only missing last ones are found.
const SEARCHED_EVENTS_MAX: usize = 5_000;

/// An event of a tenant.
struct Own {
    id: String,
    leaf: Hash,
}

/// Says which event of a tenant is the first that a shown log lacks, where that can be told. `own` is the edge of the tenant's
/// log, `size` the number of events of the whole log that it is computed from.
pub(super) fn described(
    server: &LogServer,
    log: Option<LogName>,
    size: u64,
    tenant_id: &str,
    own: &Frontier,
    shown: &TreeHead,
) -> AuditResult<Option<String>> {
    let events = read(server, log, size, tenant_id)?;
    let mut tree = Frontier::new();
    events.iter().for_each(|event| {
        tree.append(event.leaf);
    });
    if tree.head() != own.head() {
        return Ok(None);
    }
    let leaves: Vec<Hash> = events.iter().map(|event| event.leaf).collect();
    let Some(first) = first_left_out(&leaves, shown) else {
        return Ok(None);
    };
    let id = &events[first].id;
    let proof = server.json(&format!("events/{id}/proof"), &[])?;
    let seq = match proof {
        Fetched::Found(body) => body["seq"].as_u64(),
        Fetched::Refused(_) => None,
    };
    let event = seq.map_or_else(|| format!("event {id}"), |seq| format!("event {seq} ({id})"));
    Ok(Some(match leaves.len() as u64 - shown.size {
        1 => format!("{event} is left out"),
        missing => format!("{missing} events from {event} on are left out"),
    }))
}

/// The events of a tenant among the first `size` events of the log.
fn read(server: &LogServer, log: Option<LogName>, size: u64, tenant_id: &str) -> AuditResult<Vec<Own>> {
    let mut source = EventSource::new(server, log, 0..size, None);
    let mut events = Vec::new();
    for _ in 0..size {
        // The order matters, so events come from the feed, which needs no leaf.
        let Some(event) = source.next(&Hash::of_leaf(&[]))? else {
            break;
        };
        if let Some(leaf) = event.leaf.filter(|_| event.tenant_id == tenant_id) {
            events.push(Own { id: event.id, leaf });
        }
    }
    Ok(events)
}

/// The index of the first leaf of a run without which the others have the shown root.
fn first_left_out(leaves: &[Hash], shown: &TreeHead) -> Option<usize> {
    let kept = usize::try_from(shown.size).ok()?;
    let missing = leaves.len().checked_sub(kept).filter(|missing| *missing > 0)?;
    let searched = match leaves.len() {
        0..=SEARCHED_EVENTS_MAX => 0..=kept,
        _ => kept..=kept,
    };
    let mut before = Frontier::new();
    leaves[..*searched.start()].iter().for_each(|leaf| {
        before.append(*leaf);
    });
    for first in searched {
        let mut tree = before.clone();
        leaves[first + missing..].iter().for_each(|leaf| {
            tree.append(*leaf);
        });
        if tree.root() == shown.root {
            return Some(first);
        }
        before.append(leaves[first]);
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn leaves(count: u8) -> Vec<Hash> {
        (0..count).map(|number| Hash::of_leaf(&[number])).collect()
    }

    fn head(leaves: &[Hash]) -> TreeHead {
        let mut tree = Frontier::new();
        for leaf in leaves {
            tree.append(*leaf);
        }
        tree.head()
    }

    #[test]
    fn the_first_event_that_was_left_out_is_found() {
        let all = leaves(20);
        for (first, missing) in [(0, 1), (7, 1), (19, 1), (3, 5), (15, 5), (0, 20)] {
            let kept = [&all[..first], &all[first + missing..]].concat();
            assert_eq!(
                first_left_out(&all, &head(&kept)),
                Some(first),
                "{first}, {missing}"
            );
        }
    }

    #[test]
    fn what_is_not_a_run_and_what_is_not_missing_is_not_named() {
        let all = leaves(20);
        let mut kept = all.clone();
        kept.remove(12);
        kept.remove(3);
        for shown in [head(&kept), head(&all), head(&leaves(21))] {
            assert_eq!(first_left_out(&all, &shown), None);
        }
    }
}
