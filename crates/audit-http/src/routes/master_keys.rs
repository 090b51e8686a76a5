//! `/api/v1/master-keys`.

use super::keys::{LimitsBody, LimitsInput, RevokedBody, RotationInput, read_limits};
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
