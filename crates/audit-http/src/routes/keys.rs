//! `/api/v1/keys`.

use crate::caller::{Caller, Keys, Master};
use crate::error::ApiError;
use crate::input::{JsonBody, read_query, read_selection};
use crate::reply::Reply;
use actix_web::{HttpRequest, web};
use audit_app::{AppError, Key, NewKey};
use audit_domain::{Environment, KeyId, Name, ProjectId};
use serde::Serialize;

#[derive(Serialize)]
pub(super) struct NewKeyBody {
    key: String,
    id: KeyId,
    prefix: String,
    #[serde(rename = "type")]
    kind: &'static str,
    name: String,
    environment: &'static str,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct KeyBody {
    id: KeyId,
    prefix: String,
    #[serde(rename = "type")]
    kind: &'static str,
    name: String,
    #[serde(rename = "project_id")]
    project_id: Option<ProjectId>,
    environment: Option<&'static str>,
    last_used_at: Option<String>,
    created_at: String,
    revoked_at: Option<String>,
}

#[derive(Serialize)]
pub(super) struct KeysBody {
    keys: Vec<KeyBody>,
}

#[derive(Serialize)]
pub(super) struct RevokedBody {
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

impl From<Key> for KeyBody {
    fn from(key: Key) -> Self {
        let (project_id, environment) = key.project.unzip();
        Self {
            id: key.id,
            prefix: key.prefix,
            kind: if project_id.is_some() { PROJECT } else { "master" },
            name: key.name,
            project_id,
            environment: environment.map(Environment::as_str),
            last_used_at: key.last_used_at.map(|time| time.to_string()),
            created_at: key.created_at.to_string(),
            revoked_at: key.revoked_at.map(|time| time.to_string()),
        }
    }
}

/// Makes a project key.
pub(super) async fn create(
    caller: Caller<Master>,
    request: HttpRequest,
    body: JsonBody,
) -> Result<Reply<NewKeyBody>, ApiError> {
    read_query(&request, |_| Some(()))?;
    let (project_id, name, environment) = body.read(|fields| {
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
    })?;
    let new = caller.run(move |service, master| {
        service.create_project_key(Some(master.organization_id), project_id, environment, &name)
    });
    Ok(Reply::created(new.await?.into()))
}

/// Lists project keys.
pub(super) async fn list(caller: Caller<Keys>, request: HttpRequest) -> Result<Reply<KeysBody>, ApiError> {
    let selection = read_selection(&request)?;
    let keys = caller
        .run(move |service, principal| service.keys(&principal, selection.project_id))
        .await?;
    Ok(Reply::ok(KeysBody {
        keys: keys.into_iter().map(KeyBody::from).collect(),
    }))
}

/// Revokes a project key.
pub(super) async fn revoke(
    caller: Caller<Keys>,
    request: HttpRequest,
    id: web::Path<String>,
) -> Result<Reply<RevokedBody>, ApiError> {
    read_selection(&request)?;
    let id: KeyId = id.parse().map_err(|_| AppError::NotFound("key"))?;
    caller
        .run(move |service, principal| service.revoke_key(&principal, id))
        .await?;
    Ok(Reply::ok(RevokedBody { revoked: true }))
}
