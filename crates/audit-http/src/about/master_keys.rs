//! `/api/v1/master-keys`.

use super::{About, PathParameter, Sample, Tag};
use crate::error_code::ErrorCode;
use crate::schema::Uuid;

const NEW_KEY: &[Sample] = &[Sample(
    "example",
    r#"{
        "key": "mk_10EBnotarealkey0123456789ABCDEFGHIJKLMN", "id": "a37c4a5d-3b8e-4a0e-8f52-93a3a7f0f7a4",
        "prefix": "mk_10EBnotar", "name": "terraform",
        "expiresAt": "2027-01-15T00:00:00.000Z", "scopes": ["admin", "alerts"], "networks": ["10.0.0.0/8"]
    }"#,
)];

const fn path(description: &'static str) -> PathParameter {
    PathParameter {
        description,
        schema: |generator| generator.subschema_for::<Uuid>(),
        example: "a37c4a5d-3b8e-4a0e-8f52-93a3a7f0f7a4",
        refusal: ErrorCode::NotFound,
    }
}

pub(crate) fn create() -> About {
    About {
        description: "At most 100 keys of an organization that are not revoked (403).",
        requests: &[Sample(
            "example",
            r#"{"name": "terraform", "expires_at": "2027-01-15T00:00:00Z", "scopes": ["admin", "alerts"],
                "networks": ["10.0.0.0/8"]}"#,
        )],
        outcome: "The key. It is not shown again.",
        answers: NEW_KEY,
        ..About::new("create_master_key", Tag::Keys, "Create a master key")
    }
}

pub(crate) fn list() -> About {
    About {
        description: "Those of the organization, oldest first, revoked keys included.",
        outcome: "The keys.",
        answers: &[Sample(
            "example",
            r#"{"master_keys": [{
                "id": "a37c4a5d-3b8e-4a0e-8f52-93a3a7f0f7a4", "prefix": "mk_1lNh4Xc8A", "name": "master",
                "lastUsedAt": "2026-01-15T10:30:00.873Z", "lastUsedFrom": "192.0.2.17",
                "createdAt": "2026-01-14T09:00:00.731Z", "revokedAt": null,
                "expiresAt": null, "scopes": null, "networks": null
            }]}"#,
        )],
        ..About::new("list_master_keys", Tag::Keys, "List master keys")
    }
}

pub(crate) fn get() -> About {
    About {
        description: "One of the organization. Revoked keys are found too.",
        path: Some(path("The id of the key.")),
        outcome: "The key, without its text.",
        answers: &[Sample(
            "example",
            r#"{"master_key": {
                "id": "a37c4a5d-3b8e-4a0e-8f52-93a3a7f0f7a4", "prefix": "mk_10EBnotar", "name": "terraform",
                "lastUsedAt": null, "lastUsedFrom": null, "createdAt": "2026-01-15T10:30:00.947Z", "revokedAt": null,
                "expiresAt": "2027-01-15T00:00:00.000Z", "scopes": ["admin", "alerts"], "networks": ["10.0.0.0/8"]
            }}"#,
        )],
        is_additive: true,
        ..About::new("get_master_key", Tag::Keys, "Read one master key")
    }
}

pub(crate) fn rotate() -> About {
    About {
        description: "Creates a key with the same name and limits, and expires the old one after `overlap` seconds, \
                      atomically. A key that expires is followed by one that is valid for as long.",
        path: Some(path("The id of the old key.")),
        outcome: "The new key. It is not shown again.",
        answers: NEW_KEY,
        errors: &[ErrorCode::Conflict],
        ..About::new("rotate_master_key", Tag::Keys, "Rotate a master key")
    }
}

pub(crate) fn revoke() -> About {
    About {
        description: "Immediate and permanent, on every node. The last key that does not expire and has the scope \
                      `admin` stays \
                      (403): only the operator revokes it, on the command line.",
        path: Some(path("The id of the key.")),
        outcome: "The key is revoked.",
        answers: &[Sample("example", r#"{"revoked": true}"#)],
        ..About::new("revoke_master_key", Tag::Keys, "Revoke a master key")
    }
}
