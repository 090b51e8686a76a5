//! Whether the server signs its events: an old checkpoint that is served forever hides what happens after it.

use super::server::{Fetched, LogServer};
use super::{AuditOptions, AuditResult, Failure};
use anyhow::Context;
use audit_cli::SystemClock;
use audit_domain::{Clock, logged_at};

/// Checks that the checkpoint of `size` events covers what the server has acknowledged, and every event that it received long
/// ago. `cursor` is the feed cursor behind the last signed event.
pub(super) fn check(
    server: &LogServer,
    options: &AuditOptions,
    size: u64,
    cursor: Option<&str>,
) -> AuditResult<()> {
    if let Some(acknowledged) = options.acknowledged.filter(|acknowledged| *acknowledged > size) {
        return Err(Failure::Inconsistent(format!(
            "the server has acknowledged {acknowledged} events, and signs {size}"
        )));
    }
    // The feed begins with the first event. Without a cursor the server has none.
    if cursor.is_none() && size > 0 {
        return Ok(());
    }
    let page = match server.feed(1, cursor)? {
        Fetched::Found(page) => page,
        Fetched::Refused(_) => return Ok(()),
    };
    let Some(first) = page["events"].as_array().and_then(|events| events.first()) else {
        return Ok(());
    };
    let received_at = first.as_object().and_then(logged_at);
    let received_at = received_at.context("an event has no time of receipt")?;
    let signed_before = SystemClock.now().plus_seconds(-options.max_unsigned.seconds());
    match received_at < signed_before {
        true => Err(Failure::Inconsistent(format!(
            "event {size} ({}) was received at {received_at} and is not signed{}: the server shows an old checkpoint",
            first["id"].as_str().unwrap_or("no id"),
            match options.policy.is_given() {
                true => " with a quorum of witnesses",
                false => "",
            }
        ))),
        false => Ok(()),
    }
}
