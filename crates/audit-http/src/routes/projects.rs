//! `/api/v1/projects`.

use crate::caller::Caller;
use crate::error::ApiError;
use crate::input::{Fielded, JsonBody, NoParameters};
use crate::reply::{Created, Reply};
use crate::schema::{NameText, Time, Uuid};
use actix_web::web;
use audit_app::{AppError, Project, Requester};
use audit_auth::Master;
use audit_domain::{Fields, Name, ProjectId};
use schemars::JsonSchema;
use serde::Serialize;

/// The properties of a new project.
#[derive(JsonSchema)]
#[schemars(rename = "ProjectInput")]
#[expect(dead_code, reason = "describes what is read")]
pub(super) struct NewProjectInput {
    /// For people; need not be unique.
    name: NameText,
}

impl Fielded for NewProjectInput {
    type Read = Name;

    fn read(fields: &mut Fields<'_>) -> Option<Name> {
        fields.required_parsed("name")
    }
}

/// A project of an organization.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Project")]
struct ProjectBody {
    #[schemars(with = "Uuid")]
    id: ProjectId,
    #[schemars(with = "NameText")]
    name: String,
    #[schemars(with = "Time")]
    created_at: String,
}

#[derive(Serialize, JsonSchema)]
#[schemars(rename = "ProjectResult")]
pub(super) struct OneProjectBody {
    project: ProjectBody,
}

#[derive(Serialize, JsonSchema)]
#[schemars(rename = "ProjectList")]
pub(super) struct ProjectsBody {
    projects: Vec<ProjectBody>,
}

impl From<Project> for ProjectBody {
    fn from(project: Project) -> Self {
        Self {
            id: project.id,
            name: project.name,
            created_at: project.created_at.to_string(),
        }
    }
}

/// Makes a project.
pub(super) async fn create(
    caller: Caller<Master>,
    parameters: NoParameters,
    body: JsonBody<NewProjectInput>,
) -> Result<Reply<OneProjectBody, Created>, ApiError> {
    parameters.refuse()?;
    let name = body.read(caller.room()).await?;
    let project = caller
        .run_at_home(move |service, master| {
            service.create_project(master.organization_id, &name, &Requester::from(&master))
        })
        .await?;
    Ok(Reply::created(OneProjectBody {
        project: project.into(),
    }))
}

/// Lists the organization's projects.
pub(super) async fn list(
    caller: Caller<Master>,
    parameters: NoParameters,
) -> Result<Reply<ProjectsBody>, ApiError> {
    parameters.refuse()?;
    let projects = caller
        .run_at_home(|service, master| service.projects(&master))
        .await?;
    Ok(Reply::ok(ProjectsBody {
        projects: projects.into_iter().map(ProjectBody::from).collect(),
    }))
}

/// One project.
pub(super) async fn get(
    caller: Caller<Master>,
    parameters: NoParameters,
    id: web::Path<String>,
) -> Result<Reply<OneProjectBody>, ApiError> {
    parameters.refuse()?;
    let id: ProjectId = id.parse().map_err(|_| AppError::NotFound("project"))?;
    let project = caller.run_at_home(move |service, master| service.project(&master, id));
    Ok(Reply::ok(OneProjectBody {
        project: project.await?.into(),
    }))
}
