//! `/api/v1/events/summary`.

use super::filter::HistoryQuery;
use crate::caller::Bearer;
use crate::error::ApiError;
use crate::input::{Fielded, Parameters};
use crate::reply::Reply;
use crate::schema::{Time, TimeZoneName, Word, absent_not_null, words_of};
use crate::time_zones::read_time_zone;
use audit_app::{EventSummary, FrequentValues, SummaryBucket, SummaryRequest};
use audit_auth::Readers;
use audit_domain::{Category, Fields, Interval, TimeZone, TopField};
use schemars::JsonSchema;
use serde::Serialize;
use std::collections::BTreeMap;

audit_domain::words! {
    /// By what the buckets of a summary are split.
    pub enum Split {
        /// The category of the events.
        Category = "category",
    }
}

words_of! {
    Split: "SummarySplit", as_str, "By what the buckets of a summary are split.";
}

/// Which events, and how they are counted.
#[derive(JsonSchema)]
#[schemars(transform = absent_not_null)]
#[expect(dead_code, reason = "describes what is read")]
pub(super) struct SummaryQuery {
    #[schemars(flatten)]
    history: HistoryQuery,
    /// The length of the buckets. By default the shortest one with at most 120 buckets.
    #[schemars(example = &"day")]
    interval: Option<Word<Interval>>,
    /// The time zone in whose calendar buckets begin: a day has 23 or 25 hours where its clocks are changed, and an hour that they
    /// show twice is two buckets. A date alone in `start_date` and `end_date` is a day of this zone. A name of the IANA database,
    /// in upper or lower case; by default UTC.
    #[schemars(extend("x-additive" = true), example = &"Europe/Berlin")]
    time_zone: Option<TimeZoneName>,
    /// Adds the number of events of each category to each bucket.
    #[schemars(example = &"category")]
    split: Option<Word<Split>>,
}

impl Fielded for SummaryQuery {
    type Read = SummaryRequest;

    fn read(fields: &mut Fields<'_>) -> Option<SummaryRequest> {
        let zone = read_time_zone(fields).unwrap_or_else(TimeZone::utc);
        let filter = HistoryQuery::read_in(fields, &zone)?;
        let split = fields.optional_parsed::<Split>("split");
        Some(SummaryRequest {
            filter,
            interval: fields.optional_parsed("interval"),
            zone,
            splits_by_category: split == Some(Split::Category),
        })
    }

    fn is_repeatable(parameter: &str) -> bool {
        HistoryQuery::is_repeatable(parameter)
    }
}

/// The events of a span of time.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "SummaryBucket")]
struct BucketBody {
    /// The first instant of the bucket, written in UTC.
    #[schemars(with = "Time")]
    start: String,
    /// How many events occurred in it.
    count: u64,
    /// How many of them have each category; those without an event are absent. Only with `split=category`, and not for a viewer
    /// from whom the category is hidden.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "BTreeMap<String, u64>")]
    categories: Option<BTreeMap<&'static str, u64>>,
}

/// A value with the number of events that have it.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "CountedValue")]
struct CountedBody {
    value: String,
    count: u64,
}

/// The most frequent values of the newest events that were found, 10 of each field at most, the most frequent one first. A field that
/// is hidden from the viewer is absent.
#[derive(Default, Serialize, JsonSchema)]
#[schemars(rename = "FrequentValues")]
struct TopBody {
    /// How many of the newest events were looked at: 10,000 at most, and fewer if they have more than 16 MiB.
    looked_at: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Vec<CountedBody>")]
    actor_id: Option<Vec<CountedBody>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Vec<CountedBody>")]
    action: Option<Vec<CountedBody>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Vec<CountedBody>")]
    category: Option<Vec<CountedBody>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Vec<CountedBody>")]
    target_type: Option<Vec<CountedBody>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Vec<CountedBody>")]
    tenant_id: Option<Vec<CountedBody>>,
}

#[derive(Serialize, JsonSchema)]
#[schemars(rename = "EventSummary")]
pub(super) struct SummaryBody {
    #[schemars(with = "Word<Interval>")]
    interval: &'static str,
    /// From the bucket of `start_date` to the one of `end_date`, those without an event included. Without one of them, from the
    /// first event that was found, or to the last one.
    #[schemars(length(max = audit_domain::BUCKETS_MAX))]
    buckets: Vec<BucketBody>,
    /// How many events were found.
    total: u64,
    top: TopBody,
}

impl From<SummaryBucket> for BucketBody {
    fn from(bucket: SummaryBucket) -> Self {
        let by_word = |categories: Vec<(Category, u64)>| {
            let words = categories
                .into_iter()
                .map(|(category, count)| (category.as_str(), count));
            words.collect()
        };
        Self {
            start: bucket.start.to_string(),
            count: bucket.count,
            categories: bucket.categories.map(by_word),
        }
    }
}

impl TopBody {
    fn of(looked_at: usize, fields: Vec<FrequentValues>) -> Self {
        let mut body = Self {
            looked_at,
            ..Self::default()
        };
        for (field, values) in fields {
            let place = match field {
                TopField::ActorId => &mut body.actor_id,
                TopField::Action => &mut body.action,
                TopField::Category => &mut body.category,
                TopField::TargetType => &mut body.target_type,
                TopField::TenantId => &mut body.tenant_id,
            };
            let values = values.into_iter();
            *place = Some(
                values
                    .map(|(value, count)| CountedBody { value, count })
                    .collect(),
            );
        }
        body
    }
}

impl From<EventSummary> for SummaryBody {
    fn from(summary: EventSummary) -> Self {
        Self {
            interval: summary.interval.as_str(),
            buckets: summary.buckets.into_iter().map(Into::into).collect(),
            total: summary.total,
            top: TopBody::of(summary.looked_at, summary.top),
        }
    }
}

/// The numbers of events by time, and their most frequent values.
pub(super) async fn summarize(
    bearer: Bearer<Readers>,
    parameters: Parameters<SummaryQuery>,
) -> Result<Reply<SummaryBody>, ApiError> {
    let (presented, (selection, request)) = bearer.with(parameters.read()).await?;
    let (summary, removed_before) = presented
        .query(move |presented| presented.summary(selection, request))
        .await?;
    Ok(Reply::ok(SummaryBody::from(summary)).with_removed_before(removed_before))
}

/// The documentation of the endpoints, by the names of their handlers.
pub(super) mod about {
    use crate::about::{About, Sample, Tag};

    pub(crate) fn summarize() -> About {
        About {
            description: "The number of matching events by time, and the most frequent values of the newest ones. \
                          The numbers are exact, and agree with the pages of `GET /events` with the same parameters. \
                          `top` counts the newest 10,000 events only; `top.looked_at` is their number. With `time_zone` buckets are the \
                          hours, days, weeks and months of that zone. \
                          `metadata.<path>` and `not_metadata.<path>` filter by what the project has in \
                          `metadata_filter_paths`.\n\n\
                          There are at most 1,000 buckets; a shorter `interval` than the range of time allows is \
                          400. So is a query that only the events themselves can answer, if it finds more than \
                          100,000 of them: a prefix of an action that does not end with `.*` and of which there are \
                          more than 64, or a word of 64 characters or more. While the index is rebuilt, more than \
                          100,000 events are 503 `unavailable`.\n\n\
                          With a viewer token only what its tier shows is counted, and hidden fields have no values. \
                          A web page may call this path with a viewer token.",
            outcome: "The summary.",
            responses: &[Sample(
                "by_category",
                r#"{
                    "interval": "day",
                    "buckets": [
                        {"start": "2026-01-15T00:00:00.000Z", "count": 3, "categories": {"admin": 1, "auth": 2}},
                        {"start": "2026-01-16T00:00:00.000Z", "count": 0, "categories": {}}
                    ],
                    "total": 3,
                    "top": {
                        "looked_at": 3,
                        "actor_id": [{"value": "user_1", "count": 3}],
                        "action": [{"value": "auth.failed", "count": 2}, {"value": "user.role.updated", "count": 1}],
                        "category": [{"value": "auth", "count": 2}, {"value": "admin", "count": 1}],
                        "target_type": [{"value": "user", "count": 1}],
                        "tenant_id": [{"value": "acme", "count": 3}]
                    }
                }"#,
            )],
            is_additive: true,
            ..About::new("summarize_events", Tag::Events, "Count events")
        }
    }
}
