//! `/api/v1/keys`.

use super::key_limits::{LimitsBody, LimitsChangeInput, LimitsInput, read_limits, read_limits_change};
use crate::caller::Caller;
use crate::error::ApiError;
use crate::input::{Fielded, JsonBody, NoParameters, Parameters, ProjectParameters};
use crate::reply::{Created, Reply};
use crate::schema::{NameText, Time, True, Uuid, Word, absent_not_null};
use actix_web::web;
use audit_app::{AppError, KEY_OVERLAP_MAX, Key, KeyChange, KeyManager, NewKey};
use audit_auth::{Keys, Master, Principal};
use audit_domain::{Environment, Fields, KeyId, KeyLimits, Name, ProjectId};
use schemars::JsonSchema;
use serde::Serialize;
use std::str::FromStr;
use std::time::Duration;

/// The properties of a new project key.
#[derive(JsonSchema)]
#[schemars(rename = "KeyInput", transform = absent_not_null)]
#[expect(dead_code, reason = "describes what is read")]
pub(super) struct NewKeyInput {
    /// A project of the organization; another one is 404. The header `X-Project-Id` is not looked at.
    project_id: Uuid,
    /// `POST /api/v1/master-keys` creates master keys.
    #[schemars(rename = "type", extend("enum" = [PROJECT]))]
    kind: String,
    /// For people; need not be unique.
    name: NameText,
    /// Whose events the key reads and writes.
    #[schemars(extend("default" = Environment::Live.as_str(), "x-additive" = true))]
    environment: Option<Word<Environment>>,
    #[serde(flatten)]
    limits: LimitsInput,
}

/// What is changed of a key. Absent fields keep their values.
#[derive(JsonSchema)]
#[schemars(rename = "KeyChange", transform = absent_not_null)]
#[expect(dead_code, reason = "describes what is read")]
pub(super) struct KeyChangeInput {
    /// For people; need not be unique.
    name: Option<NameText>,
    #[serde(flatten)]
    limits: LimitsChangeInput,
}

/// How long the old key stays valid.
#[derive(JsonSchema)]
#[schemars(rename = "KeyRotation")]
#[expect(dead_code, reason = "describes what is read")]
pub(super) struct RotationInput {
    /// Seconds for which the old key remains valid, unless it expires earlier; 0 ends it immediately.
    #[schemars(range(min = 0, max = KEY_OVERLAP_MAX.as_secs()), example = 86_400)]
    overlap: u32,
}

#[derive(Serialize, JsonSchema)]
#[schemars(rename = "CreatedKey")]
pub(super) struct NewKeyBody {
    /// The full key. It is not shown again; only its SHA-256 is stored.
    #[schemars(regex(pattern = "^pk_(live|test)_[0-9A-Za-z]{39}$"))]
    key: String,
    #[schemars(with = "Uuid", extend("x-additive" = true))]
    id: KeyId,
    /// The first 12 characters of the key.
    prefix: String,
    #[serde(rename = "type")]
    #[schemars(extend("enum" = [PROJECT]))]
    kind: &'static str,
    #[schemars(with = "NameText")]
    name: String,
    #[schemars(with = "Word<Environment>", extend("x-additive" = true))]
    environment: &'static str,
    #[serde(flatten)]
    limits: LimitsBody,
}

/// A project key, without its text.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "ProjectKey")]
struct KeyBody {
    #[schemars(with = "Uuid")]
    id: KeyId,
    /// The first 12 characters of the key.
    prefix: String,
    #[serde(rename = "type")]
    #[schemars(extend("enum" = [PROJECT]))]
    kind: &'static str,
    #[schemars(with = "NameText")]
    name: String,
    #[serde(rename = "project_id")]
    #[schemars(with = "Uuid", extend("x-additive" = true))]
    project_id: ProjectId,
    #[schemars(with = "Word<Environment>", extend("x-additive" = true))]
    environment: &'static str,
    /// `null` until it is used. May lag by up to a minute.
    #[schemars(with = "Option<Time>")]
    last_used_at: Option<String>,
    /// The address of the client then. Also of an attempt from a network that the key must not be used from.
    #[schemars(extend("x-additive" = true))]
    last_used_from: Option<String>,
    #[schemars(with = "Time")]
    created_at: String,
    /// `null` until it is revoked.
    #[schemars(with = "Option<Time>")]
    revoked_at: Option<String>,
    #[serde(flatten)]
    limits: LimitsBody,
}

#[derive(Serialize, JsonSchema)]
#[schemars(rename = "KeyResult")]
pub(super) struct OneKeyBody {
    key: KeyBody,
}

#[derive(Serialize, JsonSchema)]
#[schemars(rename = "KeyList")]
pub(super) struct KeysBody {
    keys: Vec<KeyBody>,
}

#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Revocation")]
pub(super) struct RevokedBody {
    #[schemars(with = "True")]
    pub(super) revoked: bool,
}

const PROJECT: &str = "project";

impl From<NewKey> for NewKeyBody {
    fn from(new: NewKey) -> Self {
        let environment = new
            .key
            .project
            .map_or(Environment::Live, |(_, environment)| environment);
        Self {
            key: new.text.as_str().to_owned(),
            id: new.key.id,
            prefix: new.key.prefix,
            kind: PROJECT,
            name: new.key.name,
            environment: environment.as_str(),
            limits: new.key.limits.into(),
        }
    }
}

impl KeyBody {
    /// The key, if it is a project's.
    fn of(key: Key) -> Option<Self> {
        let (project_id, environment) = key.project?;
        Some(Self {
            id: key.id,
            prefix: key.prefix,
            kind: PROJECT,
            name: key.name,
            project_id,
            environment: environment.as_str(),
            last_used_at: key.last_used_at.map(|time| time.to_string()),
            created_at: key.created_at.to_string(),
            last_used_from: key.last_used_from.map(|address| address.to_string()),
            revoked_at: key.revoked_at.map(|time| time.to_string()),
            limits: key.limits.into(),
        })
    }
}

impl Fielded for RotationInput {
    type Read = Duration;

    fn read(fields: &mut Fields<'_>) -> Option<Duration> {
        fields
            .required_parsed::<Overlap>("overlap")
            .map(|overlap| overlap.0)
    }
}

/// A number of seconds up to [`KEY_OVERLAP_MAX`].
struct Overlap(Duration);

impl FromStr for Overlap {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let max = KEY_OVERLAP_MAX.as_secs();
        match text.parse() {
            Ok(seconds) if seconds <= max => Ok(Self(Duration::from_secs(seconds))),
            _ => Err(format!("must be a whole number from 0 to {max}")),
        }
    }
}

impl Fielded for NewKeyInput {
    type Read = (ProjectId, Name, Environment, KeyLimits);

    fn read(fields: &mut Fields<'_>) -> Option<Self::Read> {
        let project_id = fields.required_parsed::<ProjectId>("project_id");
        let kind = fields.required_text("type", 0, usize::MAX);
        if kind.as_deref().is_some_and(|kind| kind != PROJECT) {
            fields.violate::<()>("type", "must be project");
        }
        let name = fields.required_parsed::<Name>("name");
        let environment = fields
            .optional_parsed::<Environment>("environment")
            .unwrap_or(Environment::Live);
        let limits = read_limits(fields);
        Some((project_id?, name?, environment, limits))
    }
}

impl Fielded for KeyChangeInput {
    type Read = KeyChange;

    fn read(fields: &mut Fields<'_>) -> Option<KeyChange> {
        Some(KeyChange {
            name: fields.optional_parsed::<Name>("name"),
            ..read_limits_change(fields)
        })
    }
}

/// Makes a project key.
pub(super) async fn create(
    caller: Caller<Master>,
    parameters: NoParameters,
    body: JsonBody<NewKeyInput>,
) -> Result<Reply<NewKeyBody, Created>, ApiError> {
    parameters.refuse()?;
    let (project_id, name, environment, limits) = body.read(caller.room()).await?;
    let new = caller.run_at_home(move |service, master| {
        let master = Principal::Master(master);
        service.create_project_key(
            KeyManager::Holder(&master),
            (project_id, environment),
            &name,
            limits,
        )
    });
    Ok(Reply::created(new.await?.into()))
}

/// Lists project keys.
pub(super) async fn list(
    caller: Caller<Keys>,
    parameters: ProjectParameters,
) -> Result<Reply<KeysBody>, ApiError> {
    let selection = parameters.read()?;
    let keys = caller
        .run_at_home(move |service, principal| service.keys(&principal, selection.project_id))
        .await?;
    Ok(Reply::ok(KeysBody {
        keys: keys.into_iter().filter_map(KeyBody::of).collect(),
    }))
}

/// One project key.
pub(super) async fn get(
    caller: Caller<Keys>,
    parameters: ProjectParameters,
    id: web::Path<String>,
) -> Result<Reply<OneKeyBody>, ApiError> {
    let selection = parameters.read()?;
    let id = id_in(&id)?;
    let key = caller
        .run_at_home(move |service, principal| service.key(&principal, selection.project_id, id))
        .await?;
    let key = KeyBody::of(key).ok_or(AppError::NotFound("key"))?;
    Ok(Reply::ok(OneKeyBody { key }))
}

/// Changes a project key.
pub(super) async fn change(
    caller: Caller<Master>,
    parameters: ProjectParameters,
    id: web::Path<String>,
    body: JsonBody<KeyChangeInput>,
) -> Result<Reply<OneKeyBody>, ApiError> {
    parameters.read()?;
    let change = body.read(caller.room()).await?;
    let id = id_in(&id)?;
    let key = caller.run_at_home(move |service, master| {
        service.change_key(KeyManager::Holder(&Principal::Master(master)), id, change)
    });
    let key = KeyBody::of(key.await?).ok_or(AppError::NotFound("key"))?;
    Ok(Reply::ok(OneKeyBody { key }))
}

/// Replaces a project key.
pub(super) async fn rotate(
    caller: Caller<Master>,
    parameters: Parameters<RotationInput>,
    id: web::Path<String>,
) -> Result<Reply<NewKeyBody, Created>, ApiError> {
    let (_, overlap) = parameters.read()?;
    let id = id_in(&id)?;
    let new = caller.run_at_home(move |service, master| {
        service.rotate_key(KeyManager::Holder(&Principal::Master(master)), id, overlap)
    });
    Ok(Reply::created(new.await?.into()))
}

/// Revokes a project key.
pub(super) async fn revoke(
    caller: Caller<Keys>,
    parameters: ProjectParameters,
    id: web::Path<String>,
) -> Result<Reply<RevokedBody>, ApiError> {
    parameters.read()?;
    let id = id_in(&id)?;
    caller
        .run_at_home(move |service, principal| service.revoke_key(KeyManager::Holder(&principal), id))
        .await?;
    Ok(Reply::ok(RevokedBody { revoked: true }))
}

fn id_in(path: &str) -> Result<KeyId, AppError> {
    path.parse().map_err(|_| AppError::NotFound("key"))
}

/// The documentation of the endpoints, by the names of their handlers.
pub(super) mod about {
    use crate::about::{About, PathParameter, Sample, Tag};
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
            responses: &[Sample(
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
            description: "With a project key the keys of its project, of both environments; with a master key those \
                          of the whole organization, which `project_id` narrows. Oldest first, revoked keys \
                          included.",
            outcome: "The keys.",
            responses: &[Sample(
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
            description: "With a project key one of its project; with a master key one of the organization, which \
                          `project_id` narrows. Revoked keys are found too.",
            path: Some(path("The id of the key.")),
            outcome: "The key, without its text.",
            responses: &[Sample(
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

    pub(crate) fn change() -> About {
        About {
            description: "Takes effect immediately, on every node. A limit can always be narrowed. A key that a change \
                          makes wider must be no wider than the master key that changes it: used from no other \
                          networks, and for no longer. A key that is revoked or has expired cannot be changed (409); \
                          scopes and environment of a key never change.",
            path: Some(path("The id of the key.")),
            requests: &[
                Sample(
                    "example",
                    r#"{"name": "ci", "expires_at": "2027-01-15T00:00:00Z", "networks": ["10.0.0.0/8"]}"#,
                ),
                Sample("unlimited", r#"{"expires_at": null, "networks": null}"#),
            ],
            outcome: "The changed key, without its text.",
            responses: &[Sample(
                "example",
                r#"{"key": {
                    "id": "fb564014-b5c8-4473-b4a9-6d488ed16ad3", "prefix": "pk_test_10EB", "type": "project",
                    "name": "ci", "project_id": "8aefe29f-cd1a-4802-85e0-718cd30d0f63", "environment": "test",
                    "lastUsedAt": null, "lastUsedFrom": null, "createdAt": "2026-01-15T10:30:00.862Z", "revokedAt": null,
                    "expiresAt": "2027-01-15T00:00:00.000Z", "scopes": ["events:write"], "networks": ["10.0.0.0/8"]
                }}"#,
            )],
            errors: &[ErrorCode::Conflict],
            is_additive: true,
            ..About::new("update_key", Tag::Keys, "Change a project key")
        }
    }

    pub(crate) fn rotate() -> About {
        About {
            description: "Creates a key with the same name, environment and limits, and expires the old one after \
                          `overlap` seconds, atomically. A key that expires is followed by one that is valid for as \
                          long.",
            path: Some(path("The id of the old key.")),
            outcome: "The new key. It is not shown again.",
            responses: &[Sample(
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
                          included; a master key any of the organization. A revoked key again: 200, and `revokedAt` \
                          stays as it was.",
            path: Some(path("The id of the key.")),
            outcome: "The key is revoked.",
            responses: &[Sample("example", r#"{"revoked": true}"#)],
            ..About::new("revoke_key", Tag::Keys, "Revoke a project key")
        }
    }
}
