//! `/api/v1/log` and `/api/v1/events/{id}/proof`.

use super::{About, PathParameter, Plain, Sample, Tag};
use crate::error_code::ErrorCode;
use crate::schema::Id;
use audit_domain::EventId;
use schemars::json_schema;

const NOTE: Plain = Plain {
    status: 200,
    content_types: &["text/plain"],
    json_type: "string",
};

pub(crate) fn checkpoint() -> About {
    About {
        description: "A signed note: the name of the log, its size and the root of its tree, in the format of C2SP \
                      `tlog-checkpoint`. It has everything that was acknowledged before. Where the deployment has \
                      witnesses, it has their cosignatures as far as they are known, and the header `Log-Quorum` tells \
                      whether they are the quorum. `cosigned=true` reads the last checkpoint with a quorum, or 404.",
        outcome: "The newest checkpoint.",
        plain: Some(NOTE),
        errors: &[
            ErrorCode::LogInconsistent,
            ErrorCode::NotFound,
            ErrorCode::InternalError,
            ErrorCode::Unavailable,
        ],
        is_additive: true,
        ..About::new("get_log_checkpoint", Tag::Log, "Read the checkpoint")
    }
}

pub(crate) fn tile() -> About {
    About {
        description: "Up to 256 neighbouring hashes of the tree, 32 bytes each, in the format of C2SP `tlog-tiles`. \
                      Level 0 has the hashes of leaves: `SHA-256(0x00 || content hash)`. A full tile never changes. \
                      `entries` in place of the level reads the entries themselves: two bytes of length and the content \
                      hash of each event.",
        path: Some(PathParameter {
            description: "Level and index, and the width of a partial tile: `0/x001/x234/067` or `0/000.p/7`; \
                          `entries/000` for entries.",
            schema: |_| json_schema!({"type": "string"}),
            example: "0/000.p/1",
            refusal: ErrorCode::NotFound,
        }),
        outcome: "The hashes.",
        plain: Some(Plain {
            content_types: &["application/octet-stream"],
            ..NOTE
        }),
        errors: &[ErrorCode::InternalError, ErrorCode::Unavailable],
        is_additive: true,
        ..About::new("get_log_tile", Tag::Log, "Read a tile of the tree")
    }
}

pub(crate) fn key() -> About {
    About {
        description: "The deployment's Ed25519 key as C2SP `signed-note` writes it: name, key id, public key. Keep it \
                      somewhere else than what it is to verify.",
        outcome: "The key that verifies checkpoints.",
        plain: Some(NOTE),
        errors: &[ErrorCode::InternalError, ErrorCode::Unavailable],
        is_additive: true,
        ..About::new("get_log_key", Tag::Log, "Read the public key")
    }
}

pub(crate) fn rotations() -> About {
    About {
        description: "Signed notes, one after another, by which each key of the deployment names the one that follows it; \
                      both sign. Empty before the first rotation. A verifier that knows an earlier key follows them to \
                      the present one.",
        outcome: "The rotations of the key.",
        plain: Some(NOTE),
        errors: &[ErrorCode::InternalError, ErrorCode::Unavailable],
        is_additive: true,
        ..About::new("get_log_key_rotations", Tag::Log, "Read the rotations of the key")
    }
}

pub(crate) fn proof() -> About {
    About {
        description: "The event's place in the log, and the hashes that lead from its content hash to the root of the \
                      checkpoint. A reader who sees the whole event computes its content hash with `content_salt`. A \
                      viewer from whom fields are hidden gets `parts` instead: by part its salt, or its hash if the \
                      tier hides something of it. With a viewer token place and checkpoint are those of its tenant's \
                      log, so that they tell nothing of other tenants; a tier that hides events has no proofs.",
        errors: &[ErrorCode::LogInconsistent],
        path: Some(PathParameter {
            description: "The id of the event.",
            schema: |generator| generator.subschema_for::<Id<EventId>>(),
            example: "evt_01M7YBDWMHNWK91QZQDZCEC02X",
            refusal: ErrorCode::NotFound,
        }),
        outcome: "The proof.",
        answers: &[Sample(
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
        description: "The same proof as text in the format of C2SP `tlog-proof`, which `audit-server check` and other \
                      programs verify offline. Its line `extra` has the event as it was hashed with its salt, in base64; \
                      with a viewer token, what it sees of the event with the salts or hashes of its parts, and the proof is \
                      one in the log of its tenant. Keep it as `EVENT_ID.tlog-proof`.",
        errors: &[
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
        plain: Some(NOTE),
        is_additive: true,
        ..About::new("get_event_receipt", Tag::Log, "Read the receipt of an event")
    }
}

pub(crate) fn consistency() -> About {
    About {
        description: "The hashes that lead to the roots of both sizes: nothing that was there at the earlier one was \
                      changed, removed or moved since.",
        errors: &[ErrorCode::LogInconsistent],
        outcome: "That the log at size `to` begins with all it had at size `from`.",
        answers: &[Sample(
            "example",
            r#"{"from": 1, "to": 2, "consistency": ["4ti0sSFJI4tq9ir51ZSZd7atRj8YaOVJT6RMa+wRq4U="]}"#,
        )],
        is_additive: true,
        ..About::new(
            "get_log_consistency",
            Tag::Log,
            "Prove that the log is append-only",
        )
    }
}

pub(crate) fn completeness() -> About {
    About {
        description: "The signed size and root of the tree over all events of a tenant, in the order of the feed, and the \
                      path to the root of the map that commits to all tenants. Whoever reads the tenant's events computes \
                      size and root from their content hashes: a difference shows that an event was left out. It tells \
                      nothing of other tenants. A tier that hides events has none.",
        errors: &[ErrorCode::LogInconsistent],
        outcome: "The proof of the tenant's events.",
        answers: &[Sample(
            "example",
            r#"{
                "tenant_id": "acme", "salt": "iNNzqoDxzE1bu4RlR52b2Elc9jVQb5WqhL8292PVz2Y=",
                "checkpoint": "audit-log-33ea0d660239eab4/e08c3d15-61b1-4005-9dc1-2205d270c86f/live/tenants/1c0f…\n2\n…",
                "path": ["4ti0sSFJI4tq9ir51ZSZd7atRj8YaOVJT6RMa+wRq4U="],
                "map": "audit-log-33ea0d660239eab4/e08c3d15-61b1-4005-9dc1-2205d270c86f/live/tenants\n2026-11-22T10:15:00.123Z\n…"
            }"#,
        )],
        is_additive: true,
        ..About::new("get_log_completeness", Tag::Log, "Prove a tenant's events")
    }
}

pub(crate) fn tenants() -> About {
    About {
        description: "The signed map of all tenants, with the secret that blinds it and the size of the log that it is computed \
                      from: an auditor computes the same map from the events.",
        errors: &[ErrorCode::LogInconsistent],
        outcome: "The map.",
        answers: &[Sample(
            "example",
            r#"{
                "size": 2, "key": "iNNzqoDxzE1bu4RlR52b2Elc9jVQb5WqhL8292PVz2Y=",
                "map": "audit-log-33ea0d660239eab4/e08c3d15-61b1-4005-9dc1-2205d270c86f/live/tenants\n2026-11-22T10:15:00.123Z\n…"
            }"#,
        )],
        is_additive: true,
        ..About::new("get_log_tenants", Tag::Log, "Read the map of tenants")
    }
}
