//! `/api/v1/keys`.

use super::{About, PathParameter, Sample, Tag};
use crate::error_code::ErrorCode;
use crate::schema::Uuid;

const fn path(description: &'static str) -> PathParameter {
    PathParameter {
        description,
        schema: |generator| generator.subschema_for::<Uuid>(),
        example: "fb564014-b5c8-4473-b4a9-6d488ed16ad3",
        refusal: ErrorCode::NotFound,
    }
}

pub(crate) fn create() -> About {
    About {
        description: "At most 1,000 keys of a project that are not revoked (403).",
        requests: &[Sample(
            "example",
            r#"{"project_id": "8aefe29f-cd1a-4802-85e0-718cd30d0f63", "type": "project", "name": "ci", "environment": "test",
                "expires_at": "2027-01-15T00:00:00Z", "scopes": ["events:write"], "networks": ["10.0.0.0/8"]}"#,
        )],
        outcome: "The key. It is not shown again.",
        answers: &[Sample(
            "example",
            r#"{
                "key": "pk_test_10EBnotarealkey0123456789ABCDEFGHIJKLMN", "id": "fb564014-b5c8-4473-b4a9-6d488ed16ad3",
                "prefix": "pk_test_10EB", "type": "project", "name": "ci", "environment": "test",
                "expiresAt": null, "scopes": ["events:write"], "networks": null
            }"#,
        )],
        errors: &[ErrorCode::NotFound],
        ..About::new("create_key", Tag::Keys, "Create a project key")
    }
}

pub(crate) fn list() -> About {
    About {
        description: "With a project key the keys of its project, of both environments; with a master key those of the \
                      whole organization, which `project_id` narrows. Oldest first, revoked keys included.",
        outcome: "The keys.",
        answers: &[Sample(
            "example",
            r#"{"keys": [{
                "id": "39e98361-ba60-4053-9d17-7c53faef3c23", "prefix": "pk_live_1lNh", "type": "project",
                "name": "default", "project_id": "8aefe29f-cd1a-4802-85e0-718cd30d0f63", "environment": "live",
                "lastUsedAt": "2026-01-15T10:30:00.873Z", "lastUsedFrom": "192.0.2.17", "createdAt": "2026-01-14T09:00:00.731Z", "revokedAt": null,
                "expiresAt": null, "scopes": null, "networks": null
            }]}"#,
        )],
        ..About::new("list_keys", Tag::Keys, "List project keys")
    }
}

pub(crate) fn get() -> About {
    About {
        description: "With a project key one of its project; with a master key one of the organization, which `project_id` \
                      narrows. Revoked keys are found too.",
        path: Some(path("The id of the key.")),
        outcome: "The key, without its text.",
        answers: &[Sample(
            "example",
            r#"{"key": {
                "id": "fb564014-b5c8-4473-b4a9-6d488ed16ad3", "prefix": "pk_test_10EB", "type": "project",
                "name": "ci", "project_id": "8aefe29f-cd1a-4802-85e0-718cd30d0f63", "environment": "test",
                "lastUsedAt": null, "lastUsedFrom": null, "createdAt": "2026-01-15T10:30:00.862Z", "revokedAt": null,
                "expiresAt": null, "scopes": ["events:write"], "networks": null
            }}"#,
        )],
        is_additive: true,
        ..About::new("get_key", Tag::Keys, "Read one project key")
    }
}

pub(crate) fn rotate() -> About {
    About {
        description: "Creates a key with the same name, environment and limits, and expires the old one after \
                      `overlap` seconds, atomically. A key that expires is followed by one that is valid for as long.",
        path: Some(path("The id of the old key.")),
        outcome: "The new key. It is not shown again.",
        answers: &[Sample(
            "example",
            r#"{
                "key": "pk_test_10EBnotarealkey0123456789ABCDEFGHIJKLMN", "id": "0dbb5a9b-6d2e-4b0c-9b0f-2b3c5bd3a0b1",
                "prefix": "pk_test_10EB", "type": "project", "name": "ci", "environment": "test",
                "expiresAt": null, "scopes": ["events:write"], "networks": null
            }"#,
        )],
        errors: &[ErrorCode::Conflict],
        ..About::new("rotate_key", Tag::Keys, "Rotate a project key")
    }
}

pub(crate) fn revoke() -> About {
    About {
        description: "Immediate and permanent, on every node. A project key revokes keys of its project, itself \
                      included; \
                      a master key any of the organization. A revoked key again: 200, and `revokedAt` stays as it was.",
        path: Some(path("The id of the key.")),
        outcome: "The key is revoked.",
        answers: &[Sample("example", r#"{"revoked": true}"#)],
        ..About::new("revoke_key", Tag::Keys, "Revoke a project key")
    }
}
