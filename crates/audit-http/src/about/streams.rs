//! `/api/v1/streams`.

use super::{About, PathParameter, Sample, Tag, events};
use crate::error_code::ErrorCode;
use crate::schema::RandomUuid;

fn token() -> Option<PathParameter> {
    Some(PathParameter {
        description: "The token of the stream: a UUID of version 4, which the sender made. Whoever has it may send to \
                      the stream, so keep it secret.",
        schema: |generator| generator.subschema_for::<RandomUuid>(),
        example: "67e55044-10b1-426f-9247-bb680e5fe0c8",
        refusal: ErrorCode::ValidationError,
    })
}

pub(crate) fn ingest() -> About {
    About {
        description: "One event, or an array of 1 to 100; the first begins the stream. The built-in redaction rules \
                      that are on by default always apply, custom ones when the stream is claimed. Events raise no \
                      alerts and cannot be read before that.\n\n\
                      By default 30 requests a minute and 10 new streams a day from one address (`rate_limited`), 100 \
                      events a day and 500 in all for a stream. A request that would pass a limit is refused whole.",
        path: token(),
        requests: events::REQUESTS,
        outcome: "The events are stored.",
        answers: events::ANSWERS,
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
        answers: &[Sample(
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
        description: "Atomic and permanent: the token cannot be used again. The events keep id, times and \
                      order, pass the project's redaction rules, raise no alerts and count against no daily limit. \
                      Where an idempotency key exists in the project, the project's event stays and the stream's is \
                      dropped and not counted.",
        requests: &[Sample(
            "example",
            r#"{"claim_token": "67e55044-10b1-426f-9247-bb680e5fe0c8"}"#,
        )],
        outcome: "The events belong to the project.",
        answers: &[Sample("example", r#"{"event_count": 3}"#)],
        errors: &[
            ErrorCode::StreamNotFound,
            ErrorCode::StreamExpired,
            ErrorCode::StreamAlreadyClaimed,
        ],
        ..About::new("claim_stream", Tag::Streams, "Claim a stream")
    }
}
