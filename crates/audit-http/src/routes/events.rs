//! `/api/v1/events`.

use super::filter::HistoryQuery;
use crate::caller::Bearer;
use crate::error::{ApiError, ErrorBody, item_error};
use crate::event_schema::VisibleEvent;
use crate::input::{Fielded, Parameters, ProjectParameters};
use crate::parameters::{WholeNumber, take};
use crate::preference::ReceiptPreference;
use crate::reply::{Created, Reply};
use crate::schema::{Id, Word, absent_not_null, words_of};
use crate::sent_events::SentEventsBody;
use crate::state::HttpState;
use actix_web::web;
use audit_app::{AppError, EventsRequest, Ingested};
use audit_auth::{EventsWrite, Keys, Readers};
use audit_domain::{EventId, EventJson, EventOrder, Fields, PageLimit, limits};
use schemars::JsonSchema;
use serde::Serialize;
use std::collections::BTreeSet;

/// Ids that a query may name, at most.
const IDS_MAX: usize = 100;

words_of! {
    EventOrder: "EventOrder", as_str, "The order of the events of a page.";
}

#[derive(Serialize, JsonSchema)]
#[schemars(rename = "IngestResult")]
pub(super) struct IngestedBody {
    /// Ids of the stored events in the order they were sent; for a repeat, the id of the first.
    #[schemars(with = "Vec<Id<EventId>>")]
    ids: Vec<EventId>,
    /// The number of redacted fields (fields, not matches; repeats are counted).
    redacted_count: usize,
    /// The number of `ids` that were stored before; absent if none.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "usize", range(min = 1), extend("x-additive" = true))]
    repeated_count: Option<usize>,
    /// The refused events of a batch; absent when none was.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(min = 1), extend("x-additive" = true))]
    errors: Vec<RefusedBody>,
    /// Where the events are in the verifiable log; a stream has none.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "LogBody", extend("x-additive" = true))]
    log: Option<LogBody>,
    /// For each of `ids` the proof that it is in the signed log, as text in the format of C2SP `tlog-proof`; only with the
    /// header `Prefer: receipt`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Vec<String>", extend("x-additive" = true))]
    receipts: Option<Vec<String>>,
}

/// Where events are in the verifiable log.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "LogPosition")]
struct LogBody {
    /// The size of a log that has all of them.
    size: u64,
}

/// An event of a batch that was refused.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "RefusedEvent")]
struct RefusedBody {
    /// Its place in the batch, from 0; empty lines do not count.
    index: usize,
    #[serde(flatten)]
    error: ErrorBody,
}

impl From<Ingested> for IngestedBody {
    fn from(ingested: Ingested) -> Self {
        let refused = ingested.refused.iter();
        let errors = refused.map(|refused| RefusedBody {
            index: refused.index,
            error: item_error(&refused.error),
        });
        Self {
            errors: errors.collect(),
            ids: ingested.ids,
            redacted_count: ingested.redacted_count,
            repeated_count: Some(ingested.repeated_count).filter(|count| *count > 0),
            log: ingested.log_size.map(|size| LogBody { size }),
            receipts: None,
        }
    }
}

#[derive(Serialize, JsonSchema)]
#[schemars(rename = "EventPage")]
pub(super) struct EventsBody {
    #[schemars(with = "Vec<VisibleEvent>")]
    events: Vec<EventJson>,
    /// Asks for the next page; `null` on the last.
    cursor: Option<String>,
    /// Whether there is a next page.
    has_more: bool,
}

#[derive(Serialize, JsonSchema)]
#[schemars(rename = "EventResult")]
pub(super) struct EventBody {
    #[schemars(with = "VisibleEvent")]
    event: EventJson,
}

/// How many events a page holds.
#[derive(JsonSchema)]
#[schemars(transform = absent_not_null)]
#[expect(dead_code, reason = "describes what is read")]
pub(super) struct PageQuery {
    /// Events of a page, at most. A page also ends when its events have 1 MiB together: it may have fewer than `limit`
    /// although there are more.
    #[schemars(
        range(min = 1, max = PageLimit::EVENTS_MAX),
        extend("default" = PageLimit::DEFAULT.get()),
        example = 50
    )]
    limit: Option<u32>,
}

/// Which events, and how many of them.
#[derive(JsonSchema)]
#[schemars(transform = absent_not_null)]
#[expect(dead_code, reason = "describes what is read")]
pub(super) struct EventsQuery {
    #[schemars(flatten)]
    history: HistoryQuery,
    /// The events with these ids, by id. Ids without an event that the credential may read have none in the response.
    #[schemars(length(max = IDS_MAX), extend("x-additive" = true), example = &["evt_01M7Y455JZBGQAZY8DYSMCQVZN"])]
    id: Option<Vec<Id<EventId>>>,
    /// The order of the events, by `occurred_at` and then by id: `desc` (default), newest first, or `asc`, oldest first.
    #[schemars(extend("x-additive" = true), example = &"asc")]
    order: Option<Word<EventOrder>>,
    /// From an earlier response to the same query.
    cursor: Option<String>,
    #[schemars(flatten)]
    page: PageQuery,
}

impl Fielded for PageQuery {
    type Read = PageLimit;

    fn read(fields: &mut Fields<'_>) -> Option<PageLimit> {
        let limit = fields.optional_parsed::<WholeNumber>("limit");
        let limit = limit.and_then(|number| take(fields, PageLimit::new(number.0)));
        Some(limit.unwrap_or(PageLimit::DEFAULT))
    }
}

impl Fielded for EventsQuery {
    type Read = EventsRequest;

    fn read(fields: &mut Fields<'_>) -> Option<EventsRequest> {
        let filter = HistoryQuery::read(fields)?;
        let ids = read_ids(fields);
        let order = fields.optional_parsed("order");
        let limit = PageQuery::read(fields)?;
        let cursor = fields.optional_text("cursor", 0, usize::MAX);
        Some(EventsRequest {
            filter,
            ids,
            order: order.unwrap_or(EventOrder::Descending),
            cursor,
            limit,
        })
    }

    fn is_repeatable(parameter: &str) -> bool {
        parameter == ID || HistoryQuery::is_repeatable(parameter)
    }
}

/// The parameter that names events.
const ID: &str = "id";

/// The ids that a query names; `None` if it names none.
fn read_ids(fields: &mut Fields<'_>) -> Option<BTreeSet<EventId>> {
    let texts = fields.repeated_text(ID, 1, limits::ID_CHARS_MAX);
    if texts.len() > IDS_MAX {
        return fields.violate(ID, format_args!("must be given at most {IDS_MAX} times"));
    }
    let mut ids = BTreeSet::new();
    for text in &texts {
        match text.parse() {
            Ok(id) => ids.insert(id),
            Err(error) => return fields.violate(ID, error),
        };
    }
    (!ids.is_empty()).then_some(ids)
}

/// Stores one event or a batch of them.
pub(super) async fn ingest(
    bearer: Bearer<Keys<EventsWrite>>,
    state: web::Data<HttpState>,
    parameters: ProjectParameters,
    preference: ReceiptPreference,
    body: SentEventsBody,
) -> Result<Reply<IngestedBody, Created>, ApiError> {
    let caller = bearer.admit().await?;
    let selection = caller.checked(parameters.read()).await?;
    if preference.is_given() {
        caller.require_room_for_responses()?;
    }
    let received = caller.checked(body.read(caller.room()).await).await?;
    let presented = caller.presented;
    let ingested = presented.ingest(selection, &received.sent()).await?;
    state.metrics.ingested(&ingested);
    if !preference.is_given() {
        return Ok(Reply::created(ingested.into()));
    }
    match Box::pin(presented.receipts(selection, &ingested)).await {
        Ok(receipts) => {
            let mut body = IngestedBody::from(ingested);
            body.receipts = Some(receipts.iter().map(ToString::to_string).collect());
            Ok(preference.applied(Reply::created(body)))
        }
        // The events are stored. A preference may be ignored.
        Err(error) => {
            log::warn!("events were stored, but their receipts cannot be made: {error}");
            Ok(Reply::created(ingested.into()))
        }
    }
}

/// One page of events.
pub(super) async fn list(
    bearer: Bearer<Readers>,
    parameters: Parameters<EventsQuery>,
) -> Result<Reply<EventsBody>, ApiError> {
    let (presented, (selection, query)) = bearer.with(parameters.read()).await?;
    let response = presented
        .query(move |presented| presented.events(selection, query))
        .await?;
    let body = EventsBody {
        has_more: response.cursor.is_some(),
        events: response.events,
        cursor: response.cursor,
    };
    Ok(Reply::ok(body).with_removed_before(response.removed_before))
}

/// One event.
pub(super) async fn get(
    bearer: Bearer<Readers>,
    parameters: ProjectParameters,
    id: web::Path<String>,
) -> Result<Reply<EventBody>, ApiError> {
    let input = parameters.read().and_then(|selection| {
        let id = id.parse::<EventId>();
        Ok((selection, id.map_err(|_| AppError::NotFound("event"))?))
    });
    let (presented, (selection, id)) = bearer.with(input).await?;
    let event = presented
        .query(move |presented| presented.event(selection, id))
        .await?;
    Ok(Reply::ok(EventBody { event }))
}

/// The documentation of the endpoints, by the names of their handlers.
pub(super) mod about {
    use crate::about::{About, HeaderParameter, PathParameter, Sample, Tag};
    use crate::error_code::ErrorCode;
    use crate::schema::Id;
    use crate::sent_events::KEY_PARAMETER;
    use audit_domain::EventId;
    use schemars::json_schema;

    pub(crate) fn ingest() -> About {
        About {
            description: "One event, an array of 1 to 100, or 1 to 1,000 as JSON lines. 201 means durable: the events \
                          are committed and synced before the response leaves.\n\n\
                          Each event of a batch is checked on its own, also where its line is no JSON. When at least one can be stored the response \
                          is 201, and `errors` names the others by `index`. When none can, it is 400, and \
                          `details[].field` begins with the index (`[3].actor.type`), or 409 if idempotency keys are \
                          the only reason. Nothing of a request is stored when the response is 4xx; after a 5xx or a \
                          broken connection send it again with the same idempotency keys.\n\n\
                          A request that would pass the project's daily limit is refused whole.",
            headers: &[
                HeaderParameter {
                    name: "Prefer",
                    description: "`receipt`: the response waits until the log is signed, about a second, and has \
                                  `receipts` and the header `Preference-Applied: receipt`. Without that header the \
                                  events are stored and have no receipts yet.",
                    schema: |_| json_schema!({"type": "string"}),
                    example: "receipt",
                    is_required: false,
                },
                KEY_PARAMETER,
            ],
            requests: REQUESTS,
            outcome: "The events are stored.",
            responses: RESPONSES,
            errors: &[
                ErrorCode::Conflict,
                ErrorCode::DailyEventLimitReached,
                ErrorCode::ProjectArchived,
            ],
            ..About::new("ingest_events", Tag::Events, "Store events")
        }
    }

    pub(crate) fn list() -> About {
        About {
            description: "One page of events, by `occurred_at` and then by id, newest first or in the `order` that is \
                          asked for; with `id`, by id. An event must meet every parameter that is given. \
                          `metadata.<path>` and `not_metadata.<path>` filter by what the project has in \
                          `metadata_filter_paths`.\n\n\
                          With a viewer token only the live events of its tenant are found, as its tier shows them: \
                          what is hidden can be neither read nor searched for. A web page may call this path and the \
                          feed, with a viewer token.",
            outcome: "One page of events.",
            responses: &[Sample(
                "last_page",
                r#"{"events": [{
                    "id": "evt_01M7Y455JZBGQAZY8DYSMCQVZN", "action": "user.role.updated", "category": "admin",
                    "tenant_id": "acme",
                    "actor": {"id": "user_1", "type": "user", "name": "Jane Doe", "email": "[REDACTED]"},
                    "target": {"id": "user_2", "type": "user", "name": "John Roe"},
                    "context": {"ip_address": "203.0.113.7", "session_id": "s_9f2c"},
                    "metadata": {"ticket": "OPS-17", "note": "paid with [REDACTED]"},
                    "changes": [{"field": "role", "before": "member", "after": "admin"}],
                    "idempotency_key": "a3f1", "occurred_at": "2026-01-15T10:30:00.000Z",
                    "received_at": "2026-01-15T10:30:00.734Z", "redacted": true,
                    "content_hash": "sha256:b5939fc5b90fec88a7db5e6912fd79a932652749f7a46469b7da460bd01d84a5",
                    "content_salt": "c5a9e2c0f1b04d7f8a6d3c2b1e0f9a87"
                }], "cursor": null, "has_more": false}"#,
            )],
            ..About::new("list_events", Tag::Events, "Read events")
        }
    }

    pub(crate) fn get() -> About {
        About {
            description: "A project key finds the events of its own environment only.",
            errors: &[ErrorCode::EventRemoved],
            path: Some(PathParameter {
                description: "The id of the event.",
                schema: |generator| generator.subschema_for::<Id<EventId>>(),
                example: "evt_01M7Y455JZBGQAZY8DYSMCQVZN",
                refusal: ErrorCode::NotFound,
            }),
            outcome: "The event.",
            responses: &[Sample(
                "example",
                r#"{"event": {
                    "id": "evt_01M7Y455KA2AA367HSAWZTY9SY", "action": "auth.failed", "category": "auth",
                    "tenant_id": "acme", "actor": {"id": "user_1", "type": "user"},
                    "occurred_at": "2026-01-15T10:31:00.000Z", "received_at": "2026-01-15T10:31:00.012Z",
                    "redacted": false,
                    "content_hash": "sha256:a1ebdad9f621be1e8fc041d2095f5cc8942ee3780da10f1ae303346b635b0b21",
                    "content_salt": "c5a9e2c0f1b04d7f8a6d3c2b1e0f9a87"
                }}"#,
            )],
            is_additive: true,
            ..About::new("get_event", Tag::Events, "Read one event")
        }
    }

    pub(crate) const REQUESTS: &[Sample] = &[
        Sample(
            "one_event",
            r#"{
                "action": "user.role.updated", "category": "admin", "tenant_id": "acme", "outcome": "success",
                "actor": {
                    "id": "user_1", "type": "user", "name": "Jane Doe", "email": "jane@example.com",
                    "on_behalf_of": {"id": "user_7", "type": "user", "name": "Sam Poe"}
                },
                "target": {"id": "user_2", "type": "user", "name": "John Roe"},
                "context": {
                    "ip_address": "203.0.113.7", "user_agent": "Mozilla/5.0", "location": "Utrecht", "session_id": "s_9f2c"
                },
                "metadata": {"ticket": "OPS-17", "note": "paid with 4111 1111 1111 1111"},
                "changes": [{"field": "role", "before": "member", "after": "admin"}],
                "idempotency_key": "a3f1", "occurred_at": "2026-01-15T11:30:00+01:00"
            }"#,
        ),
        Sample(
            "several_targets",
            r#"{
                "action": "team.member.added", "category": "admin", "tenant_id": "acme",
                "actor": {"id": "user_1", "type": "user"},
                "targets": [{"id": "team_3", "type": "team", "name": "Blue"}, {"id": "user_2", "type": "user"}]
            }"#,
        ),
        Sample(
            "array",
            r#"[
                {"action": "auth.failed", "category": "auth", "tenant_id": "acme", "actor": {"id": "user_1", "type": "user"}},
                {"action": "auth.succeeded", "category": "auth", "tenant_id": "acme", "actor": {"id": "user_1", "type": "user"}}
            ]"#,
        ),
    ];

    pub(crate) const RESPONSES: &[Sample] = &[
        Sample(
            "stored",
            r#"{"ids": ["evt_01M7Y455JZBGQAZY8DYSMCQVZN"], "redacted_count": 2}"#,
        ),
        Sample(
            "array_with_a_refused_event",
            r#"{
                "ids": ["evt_01M7Y455KA2AA367HSAWZTY9SY", "evt_01M7Y455KA2AA367HSAWZTY9SY"],
                "redacted_count": 0, "repeated_count": 1,
                "errors": [{
                    "index": 1, "code": "validation_error", "message": "the request is not valid",
                    "details": [{"field": "actor.type", "message": "must be one of user, api_key, service, system"}]
                }]
            }"#,
        ),
    ];
}
