//! `/api/v1/projects`.

use crate::caller::{Caller, Master};
use crate::error::ApiError;
use crate::input::{JsonBody, read_query};
use crate::reply::Reply;
use actix_web::HttpRequest;
use audit_app::Project;
use audit_domain::{Name, ProjectId};
use serde::Serialize;

#[derive(Serialize)]
struct ProjectBody {
    id: ProjectId,
    name: String,
    created_at: String,
}

#[derive(Serialize)]
pub(super) struct OneProjectBody {
    project: ProjectBody,
}

#[derive(Serialize)]
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
    request: HttpRequest,
    body: JsonBody,
) -> Result<Reply<OneProjectBody>, ApiError> {
    read_query(&request, |_| Some(()))?;
    let name = body.read(|fields| fields.required_parsed::<Name>("name"))?;
    let project = caller
        .run(move |service, master| service.create_project(master.organization_id, &name))
        .await?;
    Ok(Reply::created(OneProjectBody {
        project: project.into(),
    }))
}

/// Lists the organization's projects.
pub(super) async fn list(
    caller: Caller<Master>,
    request: HttpRequest,
) -> Result<Reply<ProjectsBody>, ApiError> {
    read_query(&request, |_| Some(()))?;
    let projects = caller.run(|service, master| service.projects(&master)).await?;
    Ok(Reply::ok(ProjectsBody {
        projects: projects.into_iter().map(ProjectBody::from).collect(),
    }))
}
