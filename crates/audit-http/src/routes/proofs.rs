//! `/api/v1/events/{id}/proof` and `/api/v1/events/{id}/receipt`.

use crate::caller::Bearer;
use crate::error::ApiError;
use crate::input::ProjectParameters;
use crate::reply::Reply;
use crate::schema::{ContentHashText, ContentSaltText, absent_not_null};
use actix_web::http::header::ContentType;
use actix_web::{HttpResponse, web};
use audit_app::{AppError, Disclosure, EventProof};
use audit_auth::Readers;
use audit_domain::EventId;
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Map, Value};

#[derive(Serialize, JsonSchema)]
#[schemars(transform = absent_not_null)]
#[schemars(rename = "InclusionProof")]
pub(super) struct ProofBody {
    /// The place of the event in the log, from 0; for a viewer token, in the log of its tenant.
    seq: u64,
    #[schemars(with = "ContentHashText")]
    content_hash: String,
    /// For readers who see the whole event: the random bytes in its content hash.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<ContentSaltText>")]
    content_salt: Option<String>,
    /// For viewers from whom fields are hidden, and of an event of which parts were erased: by part of the event `{"salt": …}`, or
    /// `{"hash": …}` if the tier hides something of the part or it was erased, in hexadecimal.
    #[serde(skip_serializing_if = "Option::is_none")]
    parts: Option<Map<String, Value>>,
    /// The hashes that lead from the event to the root of the checkpoint (RFC 9162 §2.1.3), in base64.
    inclusion: Vec<String>,
    /// A signed note (C2SP `tlog-checkpoint`).
    checkpoint: String,
}

impl From<EventProof> for ProofBody {
    fn from(proof: EventProof) -> Self {
        let (content_salt, parts) = match proof.disclosure {
            Disclosure::Whole(salt) => (Some(salt.to_string()), None),
            Disclosure::Parts(proofs) => (None, Some(proofs.to_json())),
        };
        Self {
            seq: proof.seq,
            content_hash: proof.content_hash.to_string(),
            content_salt,
            parts,
            inclusion: proof.inclusion.to_base64(),
            checkpoint: proof.checkpoint,
        }
    }
}

/// That an event is in the log.
pub(super) async fn proof(
    bearer: Bearer<Readers>,
    parameters: ProjectParameters,
    id: web::Path<String>,
) -> Result<Reply<ProofBody>, ApiError> {
    let input = parameters.read().and_then(|selection| {
        let id = id.parse::<EventId>();
        Ok((selection, id.map_err(|_| AppError::NotFound("event"))?))
    });
    let (presented, (selection, id)) = bearer.with(input).await?;
    let own = presented.clone();
    let proof = presented
        .read_with_map(move || own.event_proof(selection, id))
        .await?;
    Ok(Reply::ok(proof.into()))
}

/// That an event is in the log, in one file.
pub(super) async fn receipt(
    bearer: Bearer<Readers>,
    parameters: ProjectParameters,
    id: web::Path<String>,
) -> Result<HttpResponse, ApiError> {
    let input = parameters.read().and_then(|selection| {
        let id = id.parse::<EventId>();
        Ok((selection, id.map_err(|_| AppError::NotFound("event"))?))
    });
    let (presented, (selection, id)) = bearer.with(input).await?;
    let own = presented.clone();
    let receipt = presented
        .read_with_map(move || own.event_receipt(selection, id))
        .await?;
    Ok(HttpResponse::Ok()
        .content_type(ContentType::plaintext())
        .body(receipt.to_string()))
}

/// The documentation of the endpoints, by the names of their handlers.
pub(super) mod about {
    use crate::about::{About, PathParameter, Plain, Sample, Tag};
    use crate::error_code::ErrorCode;
    use crate::schema::Id;
    use audit_domain::EventId;

    pub(crate) fn proof() -> About {
        About {
            description: "The event's place in the log, and the hashes that lead from its content hash to the root \
                          of the checkpoint. A reader who sees the whole event computes its content hash with \
                          `content_salt`. A viewer from whom fields are hidden gets `parts` instead: by part its \
                          salt, or its hash if the tier hides something of it. So does every reader of an event of \
                          which parts were erased, with the hashes of these. With a viewer token place and \
                          checkpoint are those of its tenant's log, so that they tell nothing of other tenants; a \
                          tier that hides events has no proofs.",
            errors: &[ErrorCode::EventRemoved, ErrorCode::LogInconsistent],
            path: Some(PathParameter {
                description: "The id of the event.",
                schema: |generator| generator.subschema_for::<Id<EventId>>(),
                example: "evt_01M7YBDWMHNWK91QZQDZCEC02X",
                refusal: ErrorCode::NotFound,
            }),
            outcome: "The proof.",
            responses: &[Sample(
                "example",
                r#"{
                    "seq": 1, "content_hash": "sha256:eb4f204992b9c4db0a2b3efcf4b0179a2f7fbc9d33cb75ea964a664702d46e5a",
                    "content_salt": "c5a9e2c0f1b04d7f8a6d3c2b1e0f9a87",
                    "inclusion": ["4ti0sSFJI4tq9ir51ZSZd7atRj8YaOVJT6RMa+wRq4U="],
                    "checkpoint": "audit-log-33ea0d660239eab4/e08c3d15-61b1-4005-9dc1-2205d270c86f/live\n2\n…"
                }"#,
            )],
            is_additive: true,
            ..About::new("get_event_proof", Tag::Log, "Prove that an event is in the log")
        }
    }

    pub(crate) fn receipt() -> About {
        About {
            description: "The same proof as text in the format of C2SP `tlog-proof`, which `audit-server check` and \
                          other programs verify offline. Its line `extra` has the event as it was hashed with its \
                          salt, in base64; with a viewer token, what it sees of the event with the salts or hashes \
                          of its parts, and the proof is one in the log of its tenant. Keep it as \
                          `EVENT_ID.tlog-proof`.",
            errors: &[
                ErrorCode::EventRemoved,
                ErrorCode::LogInconsistent,
                ErrorCode::InternalError,
                ErrorCode::Unavailable,
            ],
            path: Some(PathParameter {
                description: "The id of the event.",
                schema: |generator| generator.subschema_for::<Id<EventId>>(),
                example: "evt_01M7YBDWMHNWK91QZQDZCEC02X",
                refusal: ErrorCode::NotFound,
            }),
            outcome: "The receipt.",
            plain: Some(Plain::TEXT),
            is_additive: true,
            ..About::new("get_event_receipt", Tag::Log, "Read the receipt of an event")
        }
    }
}
