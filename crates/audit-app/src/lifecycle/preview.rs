//! What a retention policy would remove now, estimated from the index. No event is read.

use super::policy::RetentionChange;
use crate::error::Result;
use crate::service::{AuditLog, Scope, Selection};
use crate::summary::refused;
use audit_auth::MasterKey;
use audit_domain::{
    Category, Condition, EventFilter, Facet, Hold, Interval, Lifecycle, Month, RetentionPolicy, TimeZone,
    Timestamp, ValuePattern, Violations,
};
use audit_store::{MAIN_RUN, Reader, SummaryBucket, SummaryQuery};
use std::collections::{BTreeMap, BTreeSet};

/// The months that a preview looks at, at most: those up to the present one.
pub const PREVIEW_MONTHS_MAX: i32 = 120;
/// The name of the time for the events of all categories without a longer retention.
const DEFAULT: &str = "default";

/// What a policy would remove now. All numbers are estimates: they count events by the time at which they happened.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RetentionPreview {
    /// The times, by category and `default`, before which the log has received the events that go. Empty where all stay.
    pub received_before: BTreeMap<String, Timestamp>,
    /// The months that have events that are old enough, the earliest first.
    pub months: Vec<PreviewMonth>,
    /// How many events go.
    pub events: u64,
    /// The destinations that have not got all these events yet.
    pub destinations_behind: Vec<String>,
    /// Whether an archive that the log names has all these events.
    pub archived: bool,
}

/// A month of a preview.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PreviewMonth {
    /// The month.
    pub month: Month,
    /// Its events.
    pub events: u64,
    /// Those of them that go.
    pub to_remove: u64,
    /// Those of them that are old enough, and stay because a hold covers them.
    pub held: u64,
    /// All others: they are not old enough.
    pub kept: u64,
}

impl AuditLog {
    /// What a policy, or without one the policy in force, would remove now.
    ///
    /// # Errors
    /// When the principal has no access to the project; [`Invalid`](crate::AppError::Invalid) when no policy is given or in force, or
    /// the given one is not valid; [`Unavailable`](crate::AppError::Unavailable) while the index is rebuilt.
    pub fn preview_retention(
        &self,
        master: &MasterKey,
        selection: Selection,
        change: Option<&RetentionChange>,
    ) -> Result<RetentionPreview> {
        let scope = self.lifecycle_scope(master, selection)?;
        let lifecycle = self.lifecycle(&scope)?;
        let in_force = lifecycle.fold.policy().map(|(_, policy)| policy.clone());
        let policy = match change {
            Some(change) => change.policy(self.store.idempotency_window())?,
            None => in_force
                .ok_or_else(|| Violations::one("days", "is required: no retention policy is in force"))?,
        };
        let now = self.clock.now();
        self.store
            .query(|reader| preview(reader, &scope, &policy, &lifecycle.fold, now))
    }
}

fn preview(
    reader: &mut Reader<'_>,
    scope: &Scope,
    policy: &RetentionPolicy,
    fold: &Lifecycle,
    now: Timestamp,
) -> Result<RetentionPreview> {
    let Some(latest) = policy.cutoff(DEFAULT, now) else {
        return Ok(RetentionPreview::default());
    };
    let first = Month::of(now).plus(1 - PREVIEW_MONTHS_MAX);
    let everything = EventFilter {
        start: Some(first.start()),
        ..EventFilter::default()
    };
    let mut months = BTreeMap::new();
    for bucket in counted(reader, scope, everything.clone())? {
        let month = Month::of(bucket.start);
        if bucket.count > 0 && bucket.start < latest {
            let due = due(&bucket, policy, now);
            months.insert(month, (bucket.count, due, 0));
        }
    }
    for (_, hold) in fold.holds() {
        for bucket in counted(reader, scope, held_by(hold, everything.clone()))? {
            if let Some((_, _, held)) = months.get_mut(&Month::of(bucket.start)) {
                *held += due(&bucket, policy, now);
            }
        }
    }
    let months = months.into_iter().map(|(month, (events, due, held))| {
        // Holds overlap.
        let held = due.min(held);
        PreviewMonth {
            month,
            events,
            to_remove: due - held,
            held,
            kept: events - due,
        }
    });
    let months: Vec<PreviewMonth> = months.collect();
    let longer = policy.categories.keys().map(String::as_str);
    let names = longer.chain([DEFAULT]);
    let end_seq = end_of(reader, scope, (Month::of(latest).max(first), now))?;
    Ok(RetentionPreview {
        received_before: names
            .filter_map(|name| Some((name.to_owned(), policy.cutoff(name, now)?)))
            .collect(),
        events: months.iter().map(|month| month.to_remove).sum(),
        destinations_behind: destinations_behind(reader, scope, end_seq)?,
        archived: fold.archived(end_seq).next().is_some(),
        months,
    })
}

/// The events that a filter selects, by month and category.
fn counted(reader: &mut Reader<'_>, scope: &Scope, filter: EventFilter) -> Result<Vec<SummaryBucket>> {
    if filter
        .start
        .zip(filter.end)
        .is_some_and(|(start, end)| end < start)
    {
        return Ok(Vec::new());
    }
    let query = SummaryQuery {
        ledger_id: scope.ledger_id,
        filter,
        tier: None,
        interval: Some(Interval::Month),
        zone: TimeZone::utc(),
        splits_by_category: true,
    };
    Ok(reader.summary(&query)?.map_err(refused)?.buckets)
}

/// `filter`, restricted to what a hold covers.
fn held_by(hold: &Hold, mut filter: EventFilter) -> EventFilter {
    let ids = [
        (Facet::TenantId, &hold.tenant_id),
        (Facet::ActorId, &hold.actor_id),
        (Facet::TargetId, &hold.target_id),
    ];
    for (facet, forms) in ids {
        if !forms.is_empty() {
            let condition = Condition {
                any_of: forms.iter().cloned().map(ValuePattern::Is).collect(),
                none_of: BTreeSet::new(),
            };
            filter.conditions.insert(facet, condition);
        }
    }
    filter.start = filter.start.max(hold.from);
    // Filters end with a time, and holds before one.
    let last = |to: Timestamp| Timestamp::from_micros(to.as_micros() - 1);
    filter.end = hold.to.map(last);
    filter
}

/// How many events of a month are old enough to go. Of a month in which they become so, the share of its days.
fn due(bucket: &SummaryBucket, policy: &RetentionPolicy, now: Timestamp) -> u64 {
    let end = Month::of(bucket.start).plus(1).start();
    let of_category = |(category, count): &(Category, u64)| {
        let cutoff = policy.cutoff(category.as_str(), now);
        cutoff.map_or(0, |cutoff| share(*count, (bucket.start, end), cutoff))
    };
    bucket.categories.iter().flatten().map(of_category).sum()
}

fn share(count: u64, (start, end): (Timestamp, Timestamp), cutoff: Timestamp) -> u64 {
    let days = |time: Timestamp| u64::try_from(time.utc_day() - start.utc_day()).unwrap_or(0);
    let (past, all) = (days(cutoff.min(end)), days(end).max(1));
    // A log has fewer events than 2^40.
    count * past / all
}

/// The position behind the last event that was received before a month.
fn end_of(reader: &mut Reader<'_>, scope: &Scope, (first, now): (Month, Timestamp)) -> Result<u64> {
    let (mut month, mut end_seq) = (first, None);
    while end_seq.is_none() && month <= Month::of(now) {
        end_seq = reader.first_seq_of_month(scope.ledger_id, month)?;
        month = month.plus(1);
    }
    match end_seq {
        Some(end_seq) => Ok(end_seq),
        None => Ok(reader.ledger_size(scope.ledger_id)?),
    }
}

/// The destinations that have not got all events before a position.
fn destinations_behind(reader: &mut Reader<'_>, scope: &Scope, end_seq: u64) -> Result<Vec<String>> {
    let mut behind = Vec::new();
    for row in reader.destinations(scope.project.project.id, scope.environment)? {
        let runs = reader.destination_runs(&row.id)?;
        let mut main = runs.iter().filter(|run| run.number == MAIN_RUN);
        if main.any(|run| run.cursor_seq < end_seq.cast_signed()) {
            behind.push(row.id);
        }
    }
    Ok(behind)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_a_month_that_ends_later_the_share_of_its_days_goes() {
        let at = |text: &str| Timestamp::parse_rfc3339(text).unwrap();
        let june = (at("2026-06-01T00:00:00Z"), at("2026-07-01T00:00:00Z"));
        for (cutoff, gone) in [
            ("2026-05-31T23:59:59Z", 0),
            ("2026-06-01T00:00:00Z", 0),
            ("2026-06-16T12:00:00Z", 150),
            ("2026-07-01T00:00:00Z", 300),
            ("2027-01-01T00:00:00Z", 300),
        ] {
            assert_eq!(share(300, june, at(cutoff)), gone, "{cutoff}");
        }
    }

    #[test]
    fn a_hold_without_ids_restricts_nothing_but_the_time() {
        let [from, to] = [1_000, 2_000].map(Timestamp::from_seconds);
        let hold = Hold {
            hold: "hld_1".to_owned(),
            reason: "a case".to_owned(),
            tenant_id: Vec::new(),
            actor_id: vec!["jane".to_owned(), "sha256:1".to_owned()],
            target_id: Vec::new(),
            from: Some(from),
            to: Some(to),
        };
        let filter = held_by(&hold, EventFilter::default());
        assert_eq!(filter.values(Facet::ActorId), Some(vec!["jane", "sha256:1"]));
        assert_eq!(filter.values(Facet::TenantId), None);
        assert_eq!(filter.start, Some(from));
        assert_eq!(filter.end, Some(Timestamp::from_micros(to.as_micros() - 1)));
    }
}
