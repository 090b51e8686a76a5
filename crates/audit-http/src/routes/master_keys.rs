//! `/api/v1/master-keys`.

use super::key_limits::{LimitsBody, LimitsInput, read_limits};
use super::keys::{RevokedBody, RotationInput};
use crate::caller::Caller;
use crate::error::ApiError;
use crate::input::{Fielded, JsonBody, NoParameters, Parameters};
use crate::reply::{Created, Reply};
use crate::schema::{NameText, Time, Uuid, absent_not_null};
use actix_web::web;
use audit_app::{AppError, Key, KeyManager, NewKey};
use audit_auth::{Master, Principal};
use audit_domain::{Fields, KeyId, KeyLimits, Name};
use schemars::JsonSchema;
use serde::Serialize;

/// The properties of a new master key.
#[derive(JsonSchema)]
#[schemars(rename = "MasterKeyInput", transform = absent_not_null)]
#[expect(dead_code, reason = "describes what is read")]
pub(super) struct NewMasterKeyInput {
    /// For people; need not be unique.
    name: NameText,
    #[serde(flatten)]
    limits: LimitsInput,
}

#[derive(Serialize, JsonSchema)]
#[schemars(rename = "CreatedMasterKey")]
pub(super) struct NewMasterKeyBody {
    /// The full key. It is not shown again; only its SHA-256 is stored.
    #[schemars(regex(pattern = "^mk_[0-9A-Za-z]{39}$"))]
    key: String,
    #[schemars(with = "Uuid")]
    id: KeyId,
    /// The first characters of the key.
    prefix: String,
    #[schemars(with = "NameText")]
    name: String,
    #[serde(flatten)]
    limits: LimitsBody,
}

/// A master key, without its text.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "MasterKey")]
struct MasterKeyBody {
    #[schemars(with = "Uuid")]
    id: KeyId,
    /// The first characters of the key.
    prefix: String,
    #[schemars(with = "NameText")]
    name: String,
    /// `null` until it is used. May lag by up to a minute.
    #[schemars(with = "Option<Time>")]
    last_used_at: Option<String>,
    /// The address of the client then. Also of an attempt from a network that the key must not be used from.
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
#[schemars(rename = "MasterKeyResult")]
pub(super) struct OneMasterKeyBody {
    master_key: MasterKeyBody,
}

#[derive(Serialize, JsonSchema)]
#[schemars(rename = "MasterKeyList")]
pub(super) struct MasterKeysBody {
    master_keys: Vec<MasterKeyBody>,
}

impl From<NewKey> for NewMasterKeyBody {
    fn from(new: NewKey) -> Self {
        Self {
            key: new.text.as_str().to_owned(),
            id: new.key.id,
            prefix: new.key.prefix,
            name: new.key.name,
            limits: new.key.limits.into(),
        }
    }
}

impl From<Key> for MasterKeyBody {
    fn from(key: Key) -> Self {
        Self {
            id: key.id,
            prefix: key.prefix,
            name: key.name,
            last_used_at: key.last_used_at.map(|time| time.to_string()),
            last_used_from: key.last_used_from.map(|address| address.to_string()),
            created_at: key.created_at.to_string(),
            revoked_at: key.revoked_at.map(|time| time.to_string()),
            limits: key.limits.into(),
        }
    }
}

impl Fielded for NewMasterKeyInput {
    type Read = (Name, KeyLimits);

    fn read(fields: &mut Fields<'_>) -> Option<Self::Read> {
        let name = fields.required_parsed::<Name>("name");
        let limits = read_limits(fields);
        Some((name?, limits))
    }
}

fn id_in(path: &str) -> Result<KeyId, AppError> {
    path.parse().map_err(|_| AppError::NotFound("master key"))
}

/// Makes a master key.
pub(super) async fn create(
    caller: Caller<Master>,
    parameters: NoParameters,
    body: JsonBody<NewMasterKeyInput>,
) -> Result<Reply<NewMasterKeyBody, Created>, ApiError> {
    parameters.refuse()?;
    let (name, limits) = body.read(caller.room()).await?;
    let new = caller.run_at_home(move |service, master| {
        let manager = KeyManager::Holder(&Principal::Master(master));
        service.create_master_key(manager, master.organization_id, &name, limits)
    });
    Ok(Reply::created(new.await?.into()))
}

/// Lists the master keys.
pub(super) async fn list(
    caller: Caller<Master>,
    parameters: NoParameters,
) -> Result<Reply<MasterKeysBody>, ApiError> {
    parameters.refuse()?;
    let keys = caller.run_at_home(move |service, master| service.master_keys(master.organization_id));
    Ok(Reply::ok(MasterKeysBody {
        master_keys: keys.await?.into_iter().map(MasterKeyBody::from).collect(),
    }))
}

/// One master key.
pub(super) async fn get(
    caller: Caller<Master>,
    parameters: NoParameters,
    id: web::Path<String>,
) -> Result<Reply<OneMasterKeyBody>, ApiError> {
    parameters.refuse()?;
    let id = id_in(&id)?;
    let key = caller.run_at_home(move |service, master| {
        service.master_key(KeyManager::Holder(&Principal::Master(master)), id)
    });
    Ok(Reply::ok(OneMasterKeyBody {
        master_key: key.await?.into(),
    }))
}

/// Replaces a master key.
pub(super) async fn rotate(
    caller: Caller<Master>,
    parameters: Parameters<RotationInput>,
    id: web::Path<String>,
) -> Result<Reply<NewMasterKeyBody, Created>, ApiError> {
    let (_, overlap) = parameters.read()?;
    let id = id_in(&id)?;
    let new = caller.run_at_home(move |service, master| {
        service.rotate_master_key(KeyManager::Holder(&Principal::Master(master)), id, overlap)
    });
    Ok(Reply::created(new.await?.into()))
}

/// Revokes a master key.
pub(super) async fn revoke(
    caller: Caller<Master>,
    parameters: NoParameters,
    id: web::Path<String>,
) -> Result<Reply<RevokedBody>, ApiError> {
    parameters.refuse()?;
    let id = id_in(&id)?;
    caller
        .run_at_home(move |service, master| {
            service.revoke_master_key(KeyManager::Holder(&Principal::Master(master)), id)
        })
        .await?;
    Ok(Reply::ok(RevokedBody { revoked: true }))
}

/// The documentation of the endpoints, by the names of their handlers.
pub(super) mod about {
    use crate::about::{About, PathParameter, Sample, Tag};
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
            responses: NEW_KEY,
            ..About::new("create_master_key", Tag::Keys, "Create a master key")
        }
    }

    pub(crate) fn list() -> About {
        About {
            description: "Those of the organization, oldest first, revoked keys included.",
            outcome: "The keys.",
            responses: &[Sample(
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
            responses: &[Sample(
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
            description: "Creates a key with the same name and limits, and expires the old one after `overlap` \
                          seconds, atomically. A key that expires is followed by one that is valid for as long.",
            path: Some(path("The id of the old key.")),
            outcome: "The new key. It is not shown again.",
            responses: NEW_KEY,
            errors: &[ErrorCode::Conflict],
            ..About::new("rotate_master_key", Tag::Keys, "Rotate a master key")
        }
    }

    pub(crate) fn revoke() -> About {
        About {
            description: "Immediate and permanent, on every node. The last key that does not expire and has the \
                          scope `admin` stays (403): only the operator revokes it, on the command line.",
            path: Some(path("The id of the key.")),
            outcome: "The key is revoked.",
            responses: &[Sample("example", r#"{"revoked": true}"#)],
            ..About::new("revoke_master_key", Tag::Keys, "Revoke a master key")
        }
    }
}
