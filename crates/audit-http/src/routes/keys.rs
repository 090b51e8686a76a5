//! `/api/v1/keys`.

use crate::caller::Caller;
use crate::error::ApiError;
use crate::input::{Fielded, JsonBody, NoParameters, ProjectParameters};
use crate::reply::{Created, Reply};
use crate::schema::{NameText, Time, True, Uuid, Word, absent_not_null};
use actix_web::web;
use audit_app::{AppError, Key, NewKey};
use audit_auth::{Keys, Master};
use audit_domain::{Environment, Fields, KeyId, Name, ProjectId};
use schemars::JsonSchema;
use serde::Serialize;

/// A project key to be made.
#[derive(JsonSchema)]
#[schemars(rename = "NewKey", transform = absent_not_null)]
#[expect(dead_code, reason = "describes what is read")]
pub(super) struct NewKeyInput {
    /// A project of the organization; another one is 404. The header `X-Project-Id` is not looked at.
    project_id: Uuid,
    /// Master keys cannot be made over HTTP.
    #[schemars(rename = "type", extend("const" = PROJECT))]
    kind: String,
    /// For people; need not be unique.
    name: NameText,
    /// Whose events the key reads and writes.
    #[schemars(extend("default" = Environment::Live.as_str(), "x-additive" = true))]
    environment: Option<Word<Environment>>,
}

#[derive(Serialize, JsonSchema)]
pub(super) struct NewKeyBody {
    /// The full key, shown here only. Only its SHA-256 is kept.
    #[schemars(regex(pattern = "^pk_(live|test)_[0-9A-Za-z]{39}$"))]
    key: String,
    #[schemars(with = "Uuid", extend("x-additive" = true))]
    id: KeyId,
    /// The first 12 characters of the key.
    prefix: String,
    #[serde(rename = "type")]
    #[schemars(extend("const" = PROJECT))]
    kind: &'static str,
    #[schemars(with = "NameText")]
    name: String,
    #[schemars(with = "Word<Environment>", extend("x-additive" = true))]
    environment: &'static str,
}

/// A project key, without its text.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "Key")]
struct KeyBody {
    #[schemars(with = "Uuid")]
    id: KeyId,
    /// The first 12 characters of the key.
    prefix: String,
    #[serde(rename = "type")]
    #[schemars(extend("const" = PROJECT))]
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
    #[schemars(with = "Time")]
    created_at: String,
    /// `null` until it is revoked.
    #[schemars(with = "Option<Time>")]
    revoked_at: Option<String>,
}

#[derive(Serialize, JsonSchema)]
pub(super) struct KeysBody {
    keys: Vec<KeyBody>,
}

#[derive(Serialize, JsonSchema)]
pub(super) struct RevokedBody {
    #[schemars(with = "True")]
    revoked: bool,
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
            revoked_at: key.revoked_at.map(|time| time.to_string()),
        })
    }
}

impl Fielded for NewKeyInput {
    type Read = (ProjectId, Name, Environment);

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
        Some((project_id?, name?, environment))
    }
}

/// Makes a project key.
pub(super) async fn create(
    caller: Caller<Master>,
    parameters: NoParameters,
    body: JsonBody<NewKeyInput>,
) -> Result<Reply<NewKeyBody, Created>, ApiError> {
    parameters.refuse()?;
    let (project_id, name, environment) = body.read(caller.room()).await?;
    let new = caller.run_at_home(move |service, master| {
        service.create_project_key(Some(master.organization_id), project_id, environment, &name)
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

/// Revokes a project key.
pub(super) async fn revoke(
    caller: Caller<Keys>,
    parameters: ProjectParameters,
    id: web::Path<String>,
) -> Result<Reply<RevokedBody>, ApiError> {
    parameters.read()?;
    let id: KeyId = id.parse().map_err(|_| AppError::NotFound("key"))?;
    caller
        .run_at_home(move |service, principal| service.revoke_key(&principal, id))
        .await?;
    Ok(Reply::ok(RevokedBody { revoked: true }))
}
