//! What holds for any input of the parsers and verifiers. [`PROPERTIES`] are the targets of the fuzzer in `fuzz/`, and the tests
//! of this package check them with mutated seeds, so that a plain `cargo test` shows a property that no longer holds.
//!
//! A property panics if it does not hold.
#![expect(clippy::missing_panics_doc, reason = "that is how a property fails")]

pub mod csv;
pub mod destinations;
pub mod events;
pub mod hashes;
pub mod index;
pub mod ledger;
pub mod names;
pub mod network;
pub mod receipts;
pub mod removals;
pub mod requests;
pub mod stored;
pub mod texts;

/// A property, by the name of its fuzz target.
#[derive(Debug)]
pub struct Property {
    /// The name of the target and of its corpus.
    pub name: &'static str,
    /// Panics if the property does not hold for the input. Returns whether the input was accepted, so that there was something
    /// to check.
    pub check: fn(&[u8]) -> bool,
    /// Inputs that are accepted.
    pub seeds: fn() -> Vec<Vec<u8>>,
}

/// All properties.
pub const PROPERTIES: &[Property] = &[
    Property {
        name: "json",
        check: events::json,
        seeds: events::json_seeds,
    },
    Property {
        name: "event",
        check: events::event,
        seeds: events::event_seeds,
    },
    Property {
        name: "redaction",
        check: events::redaction,
        seeds: events::redaction_seeds,
    },
    Property {
        name: "pattern",
        check: events::pattern,
        seeds: events::pattern_seeds,
    },
    Property {
        name: "cursor",
        check: texts::cursor,
        seeds: texts::cursor_seeds,
    },
    Property {
        name: "credential",
        check: texts::credential,
        seeds: texts::credential_seeds,
    },
    Property {
        name: "filter",
        check: texts::filter,
        seeds: texts::filter_seeds,
    },
    Property {
        name: "time",
        check: texts::time,
        seeds: texts::time_seeds,
    },
    Property {
        name: "index_block",
        check: index::block,
        seeds: index::block_seeds,
    },
    Property {
        name: "proof",
        check: ledger::proof,
        seeds: ledger::proof_seeds,
    },
    Property {
        name: "note",
        check: ledger::note,
        seeds: ledger::note_seeds,
    },
    Property {
        name: "witness_request",
        check: ledger::witness_request,
        seeds: ledger::witness_request_seeds,
    },
    Property {
        name: "stored_tree",
        check: ledger::stored_tree,
        seeds: ledger::stored_tree_seeds,
    },
    Property {
        name: "csv",
        check: csv::csv,
        seeds: csv::csv_seeds,
    },
    Property {
        name: "identifier",
        check: names::identifier,
        seeds: names::identifier_seeds,
    },
    Property {
        name: "webhook_url",
        check: network::webhook_url,
        seeds: network::webhook_url_seeds,
    },
    Property {
        name: "time_stamp",
        check: network::time_stamp,
        seeds: network::time_stamp_seeds,
    },
    Property {
        name: "alert_state",
        check: stored::alert_state,
        seeds: stored::alert_state_seeds,
    },
    Property {
        name: "sealed_secret",
        check: stored::sealed_secret,
        seeds: stored::sealed_secret_seeds,
    },
    Property {
        name: "entries",
        check: ledger::entries,
        seeds: ledger::entries_seeds,
    },
    Property {
        name: "receipt",
        check: receipts::receipt,
        seeds: receipts::receipt_seeds,
    },
    Property {
        name: "forwarded_for",
        check: requests::forwarded_for,
        seeds: requests::forwarded_for_seeds,
    },
    Property {
        name: "summary",
        check: requests::summary,
        seeds: requests::summary_seeds,
    },
    Property {
        name: "sha256_lanes",
        check: hashes::sha256_lanes,
        seeds: hashes::sha256_lanes_seeds,
    },
    Property {
        name: "destinations",
        check: destinations::destinations,
        seeds: destinations::destinations_seeds,
    },
    Property {
        name: "removed",
        check: removals::removed,
        seeds: removals::removed_seeds,
    },
    Property {
        name: "lifecycle",
        check: removals::lifecycle,
        seeds: removals::lifecycle_seeds,
    },
];

/// The input as text, if it is.
fn text(bytes: &[u8]) -> Option<&str> {
    std::str::from_utf8(bytes).ok()
}

/// Inputs out of texts.
fn seeds(texts: &[&str]) -> Vec<Vec<u8>> {
    texts.iter().map(|text| text.as_bytes().to_vec()).collect()
}

#[cfg(test)]
mod tests;
