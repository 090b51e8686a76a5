//! `/api/v1/projects`.

use crate::caller::Caller;
use crate::error::ApiError;
use crate::input::{Fielded, JsonBody, NoParameters, UnscopedParameters};
use crate::reply::{Created, Reply};
use crate::schema::{MetadataPathText, NameText, Time, Uuid, Word, absent_not_null, words_of};
use actix_web::web;
use audit_app::{AppError, Project, ProjectChange, ProjectListing, Requester};
use audit_auth::Master;
use audit_domain::{Fields, MetadataPath, Name, ProjectId};
use schemars::JsonSchema;
use serde::Serialize;
use std::collections::BTreeSet;

/// The properties of a new project.
#[derive(JsonSchema)]
#[schemars(rename = "ProjectInput")]
#[expect(dead_code, reason = "describes what is read")]
pub(super) struct NewProjectInput {
    /// For people; need not be unique.
    name: NameText,
}

/// What is changed of a project. Absent fields keep their values.
#[derive(JsonSchema)]
#[schemars(rename = "ProjectChange", transform = absent_not_null)]
#[expect(dead_code, reason = "describes what is read")]
pub(super) struct ProjectChangeInput {
    /// For people; need not be unique.
    name: Option<NameText>,
    /// Whether it is archived: it takes no events then.
    archived: Option<bool>,
    /// The members of the metadata by which events can be filtered, as dot paths such as `metadata.order.id`. Each is a parameter of
    /// the requests that read events, and with `not_` before it another one. An empty array for none.
    #[schemars(length(max = MetadataPath::OF_PROJECT_MAX))]
    metadata_filter_paths: Option<Vec<MetadataPathText>>,
}

impl Fielded for ProjectChangeInput {
    type Read = ProjectChange;

    fn read(fields: &mut Fields<'_>) -> Option<ProjectChange> {
        Some(ProjectChange {
            name: fields.optional_parsed("name"),
            is_archived: fields.optional_bool("archived"),
            metadata_filter_paths: read_paths(fields),
        })
    }
}

/// Reads the paths, each once.
fn read_paths(fields: &mut Fields<'_>) -> Option<Vec<MetadataPath>> {
    let paths = fields.optional_list("metadata_filter_paths", MetadataPath::OF_PROJECT_MAX)?;
    let distinct: BTreeSet<MetadataPath> = paths.into_iter().collect();
    Some(distinct.into_iter().collect())
}

words_of! {
    ProjectListing: "ProjectListing", as_str, "Whether the archived projects are listed.";
}

/// Which projects are listed.
#[derive(JsonSchema)]
#[schemars(transform = absent_not_null)]
#[expect(dead_code, reason = "describes what is read")]
pub(super) struct ProjectsQuery {
    /// `false`: those that are not archived, `true`: those that are, `all`: both. By default `false`.
    #[schemars(example = &"all")]
    archived: Option<Word<ProjectListing>>,
}

impl Fielded for ProjectsQuery {
    type Read = ProjectListing;

    fn read(fields: &mut Fields<'_>) -> Option<ProjectListing> {
        let listed = fields.optional_parsed("archived");
        Some(listed.unwrap_or(ProjectListing::Active))
    }
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
    /// Since when it is archived; absent if it is not.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Time")]
    archived_at: Option<String>,
    /// The members of the metadata by which events can be filtered, sorted; absent if none.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schemars(with = "Vec<MetadataPathText>", length(min = 1, max = MetadataPath::OF_PROJECT_MAX))]
    metadata_filter_paths: Vec<String>,
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
            archived_at: project.archived_at.map(|at| at.to_string()),
            metadata_filter_paths: project
                .metadata_filter_paths
                .iter()
                .map(ToString::to_string)
                .collect(),
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
    parameters: UnscopedParameters<ProjectsQuery>,
) -> Result<Reply<ProjectsBody>, ApiError> {
    let listed = parameters.read()?;
    let projects = caller
        .run_at_home(move |service, master| service.projects(&master, listed))
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
    let id = id_in(&id)?;
    let project = caller.run_at_home(move |service, master| service.project(&master, id));
    Ok(Reply::ok(OneProjectBody {
        project: project.await?.into(),
    }))
}

/// Changes a project.
pub(super) async fn change(
    caller: Caller<Master>,
    parameters: NoParameters,
    id: web::Path<String>,
    body: JsonBody<ProjectChangeInput>,
) -> Result<Reply<OneProjectBody>, ApiError> {
    parameters.refuse()?;
    let change = body.read(caller.room()).await?;
    let id = id_in(&id)?;
    let project = caller.run_at_home(move |service, master| service.update_project(&master, id, &change));
    Ok(Reply::ok(OneProjectBody {
        project: project.await?.into(),
    }))
}

fn id_in(path: &str) -> Result<ProjectId, AppError> {
    path.parse().map_err(|_| AppError::NotFound("project"))
}

/// The documentation of the endpoints, by the names of their handlers.
pub(super) mod about {
    use crate::about::{About, PathParameter, Sample, Tag};
    use crate::error_code::ErrorCode;
    use crate::schema::Uuid;

    const PROJECT: &str = r#"{"project": {
        "id": "5b867afb-5c40-4553-9a5d-adba77d1c5ac", "name": "billing", "created_at": "2026-01-15T10:30:00.912Z"
    }}"#;

    pub(crate) fn create() -> About {
        About {
            description: "The project starts with the built-in redaction and alert rules and the three initial \
                          viewer tiers, and without keys. At most 1,000 of an organization, archived ones included \
                          (403). Projects cannot be deleted, but archived.",
            requests: &[Sample("example", r#"{"name": "billing"}"#)],
            outcome: "The project.",
            responses: &[Sample("example", PROJECT)],
            is_additive: true,
            ..About::new("create_project", Tag::Projects, "Create a project")
        }
    }

    pub(crate) fn list() -> About {
        About {
            description: "Oldest first, without the archived ones unless `archived` says otherwise.",
            outcome: "The projects.",
            responses: &[Sample(
                "example",
                r#"{"projects": [{
                    "id": "8aefe29f-cd1a-4802-85e0-718cd30d0f63", "name": "default", "created_at": "2026-01-14T09:00:00.731Z"
                }]}"#,
            )],
            is_additive: true,
            ..About::new("list_projects", Tag::Projects, "List projects")
        }
    }

    pub(crate) fn get() -> About {
        About {
            description: "One of the organization.",
            path: id(),
            outcome: "The project.",
            responses: &[Sample("example", PROJECT)],
            is_additive: true,
            ..About::new("get_project", Tag::Projects, "Read one project")
        }
    }

    pub(crate) fn change() -> About {
        About {
            description: "Renames, archives or unarchives the project, or sets the members of the metadata by \
                          which its events can be filtered: `metadata_filter_paths` replaces all of them. The name \
                          is for people: keys, log and events of the project stay as they are.\n\n\
                          An archived project takes no events: requests to store new \
                          ones and claims of streams are 403 `project_archived`. Of a request that is processed \
                          meanwhile all events are stored or none. Everything else stays possible: reading, exporting, \
                          verifying, keys, viewer tokens and all settings. Deliveries and alerts go on, and the \
                          service's own events are recorded.",
            path: id(),
            requests: &[
                Sample("archive", r#"{"archived": true}"#),
                Sample(
                    "filter_by_metadata",
                    r#"{"metadata_filter_paths": ["metadata.plan", "metadata.order.id"]}"#,
                ),
                Sample("rename", r#"{"name": "billing"}"#),
            ],
            outcome: "The changed project.",
            responses: &[
                Sample(
                    "archived",
                    r#"{"project": {
                        "id": "5b867afb-5c40-4553-9a5d-adba77d1c5ac", "name": "billing",
                        "created_at": "2026-01-15T10:30:00.912Z", "archived_at": "2026-03-01T09:00:00.118Z"
                    }}"#,
                ),
                Sample(
                    "filtered_by_metadata",
                    r#"{"project": {
                        "id": "5b867afb-5c40-4553-9a5d-adba77d1c5ac", "name": "billing",
                        "created_at": "2026-01-15T10:30:00.912Z", "metadata_filter_paths": ["metadata.order.id", "metadata.plan"]
                    }}"#,
                ),
                Sample("renamed", PROJECT),
            ],
            is_additive: true,
            ..About::new(
                "update_project",
                Tag::Projects,
                "Rename, archive or configure a project",
            )
        }
    }

    fn id() -> Option<PathParameter> {
        Some(PathParameter {
            description: "The id of the project.",
            schema: |generator| generator.subschema_for::<Uuid>(),
            example: "5b867afb-5c40-4553-9a5d-adba77d1c5ac",
            refusal: ErrorCode::NotFound,
        })
    }
}
