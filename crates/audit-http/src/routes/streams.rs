//! `/api/v1/streams`.

use super::events::IngestedBody;
use crate::body::Room;
use crate::caller::Caller;
use crate::client_address::client_of;
use crate::error::ApiError;
use crate::input::{Fielded, JsonBody, NoParameters, ProjectParameters};
use crate::owner::Owner;
use crate::reply::{Created, Reply};
use crate::schema::{RandomUuid, Time, Word};
use crate::sent_events::SentEventsBody;
use crate::state::HttpState;
use actix_web::{HttpRequest, web};
use audit_app::{AuditLog, StreamInfo, StreamStatus};
use audit_auth::Master;
use audit_domain::{ClaimToken, Fields, Violations};
use schemars::JsonSchema;
use serde::Serialize;
use std::sync::Arc;

#[derive(Serialize, JsonSchema)]
#[schemars(rename = "StreamInfo")]
pub(super) struct StreamBody {
    #[schemars(with = "RandomUuid")]
    claim_token: ClaimToken,
    /// How many events it accepted.
    event_count: u64,
    #[schemars(with = "Word<StreamStatus>")]
    status: &'static str,
    #[schemars(with = "Time")]
    created_at: String,
    /// When it expires unless it is claimed.
    #[schemars(with = "Time")]
    expires_at: String,
}

/// The stream to claim.
#[derive(JsonSchema)]
#[schemars(rename = "StreamClaim")]
#[expect(dead_code, reason = "describes what is read")]
pub(super) struct ClaimInput {
    /// The token of the stream.
    claim_token: RandomUuid,
}

impl Fielded for ClaimInput {
    type Read = ClaimToken;

    fn read(fields: &mut Fields<'_>) -> Option<ClaimToken> {
        fields.required_parsed("claim_token")
    }
}

#[derive(Serialize, JsonSchema)]
#[schemars(rename = "StreamClaimResult")]
pub(super) struct ClaimedBody {
    /// How many events were moved into the project.
    event_count: u64,
}

impl From<StreamInfo> for StreamBody {
    fn from(stream: StreamInfo) -> Self {
        Self {
            claim_token: stream.claim_token,
            event_count: stream.event_count,
            status: stream.status.as_str(),
            created_at: stream.created_at.to_string(),
            expires_at: stream.expires_at.to_string(),
        }
    }
}

fn token_in(path: &str) -> Result<ClaimToken, Violations> {
    path.parse().map_err(|error| Violations::one("token", error))
}

/// Stores one event or a batch of them in a stream. No credential.
pub(super) async fn ingest(
    request: HttpRequest,
    state: web::Data<HttpState>,
    token: web::Path<String>,
    parameters: NoParameters,
    body: SentEventsBody,
) -> Result<Reply<IngestedBody, Created>, ApiError> {
    let client = client_of(&request, &state.trusted_proxies);
    let (service, counted) = (&state.service, client.clone());
    // Before anything of the request is looked at, so that each one counts.
    let count = |service: &Arc<AuditLog>| service.count_stream_request(counted);
    service.for_address(client.clone(), count).await?;
    parameters.refuse()?;
    let token = token_in(&token)?;
    let room = Room {
        memory: state.stream_bodies.clone(),
        owner: Owner::Address(client.clone()),
        inflaters: Arc::clone(&state.inflaters),
    };
    let received = body.read(room).await?;
    let of_client = client.clone();
    let store = move |service: &Arc<AuditLog>| service.ingest_stream(token, of_client, &received.sent());
    let ingested = service.for_address(client, store).await?;
    state.metrics.ingested(&ingested);
    Ok(Reply::created(ingested.into()))
}

/// The state of a stream. No credential.
pub(super) async fn info(
    request: HttpRequest,
    state: web::Data<HttpState>,
    token: web::Path<String>,
    parameters: NoParameters,
) -> Result<Reply<StreamBody>, ApiError> {
    parameters.refuse()?;
    let token = token_in(&token)?;
    let client = client_of(&request, &state.trusted_proxies);
    let of_client = client.clone();
    let read = move |service: &Arc<AuditLog>| service.stream_info(token, of_client);
    let stream = state.service.for_address(client, read).await?;
    Ok(Reply::ok(stream.into()))
}

/// Moves the events of a stream into a project.
pub(super) async fn claim(
    caller: Caller<Master>,
    parameters: ProjectParameters,
    body: JsonBody<ClaimInput>,
) -> Result<Reply<ClaimedBody>, ApiError> {
    let selection = parameters.read()?;
    let token = body.read(caller.room()).await?;
    let event_count = caller
        .run(move |service, master| service.claim_stream(&master, selection, token))
        .await?;
    Ok(Reply::ok(ClaimedBody { event_count }))
}

/// The documentation of the endpoints, by the names of their handlers.
pub(super) mod about {
    use crate::about::{About, PathParameter, Sample, Tag};
    use crate::error_code::ErrorCode;
    use crate::routes::events::about as events;
    use crate::schema::RandomUuid;
    use crate::sent_events::KEY_PARAMETER;

    fn token() -> Option<PathParameter> {
        Some(PathParameter {
            description: "The token of the stream: a UUID of version 4, which the sender made. Whoever has it may \
                          send to the stream, so keep it secret.",
            schema: |generator| generator.subschema_for::<RandomUuid>(),
            example: "67e55044-10b1-426f-9247-bb680e5fe0c8",
            refusal: ErrorCode::ValidationError,
        })
    }

    pub(crate) fn ingest() -> About {
        About {
            description: "One event, an array of 1 to 100, or JSON lines; the first event begins the stream. The built-in redaction \
                          rules that are on by default always apply, custom ones when the stream is claimed. Events \
                          raise no alerts and cannot be read before that.\n\n\
                          By default 30 requests a minute and 10 new streams a day from one address \
                          (`rate_limited`), 100 events a day and 500 in all for a stream. A request that would pass \
                          a limit is refused whole.",
            path: token(),
            headers: &[KEY_PARAMETER],
            requests: events::REQUESTS,
            outcome: "The events are stored.",
            responses: events::RESPONSES,
            errors: &[
                ErrorCode::Conflict,
                ErrorCode::StreamExpired,
                ErrorCode::StreamAlreadyClaimed,
                ErrorCode::RateLimited,
                ErrorCode::StreamDailyLimitReached,
                ErrorCode::StreamEventLimitReached,
                ErrorCode::InternalError,
                ErrorCode::Unavailable,
            ],
            ..About::new("ingest_stream_events", Tag::Streams, "Send events to a stream")
        }
    }

    pub(crate) fn info() -> About {
        About {
            description: "Returns no events. Claimed and expired streams are reported with their status.",
            path: token(),
            outcome: "The state of the stream.",
            responses: &[Sample(
                "example",
                r#"{
                    "claim_token": "67e55044-10b1-426f-9247-bb680e5fe0c8", "event_count": 3, "status": "active",
                    "created_at": "2026-01-15T10:30:00.000Z", "expires_at": "2026-01-22T10:30:00.000Z"
                }"#,
            )],
            errors: &[
                ErrorCode::StreamNotFound,
                ErrorCode::RateLimited,
                ErrorCode::InternalError,
                ErrorCode::Unavailable,
            ],
            ..About::new("get_stream", Tag::Streams, "Read the state of a stream")
        }
    }

    pub(crate) fn claim() -> About {
        About {
            description: "Atomic and permanent: the token cannot be used again. The events keep id, times and order, \
                          pass the project's redaction rules, raise no alerts and count against no daily limit. \
                          Where an idempotency key exists in the project, the project's event stays and the stream's \
                          is dropped and not counted.",
            requests: &[Sample(
                "example",
                r#"{"claim_token": "67e55044-10b1-426f-9247-bb680e5fe0c8"}"#,
            )],
            outcome: "The events belong to the project.",
            responses: &[Sample("example", r#"{"event_count": 3}"#)],
            errors: &[
                ErrorCode::ProjectArchived,
                ErrorCode::StreamNotFound,
                ErrorCode::StreamExpired,
                ErrorCode::StreamAlreadyClaimed,
            ],
            ..About::new("claim_stream", Tag::Streams, "Claim a stream")
        }
    }
}
