//! `/api/v1/projects`.

use super::{About, PathParameter, Sample, Tag};
use crate::error_code::ErrorCode;
use crate::schema::Uuid;

const PROJECT: &str = r#"{"project": {
    "id": "5b867afb-5c40-4553-9a5d-adba77d1c5ac", "name": "billing", "created_at": "2026-01-15T10:30:00.912Z"
}}"#;

pub(crate) fn create() -> About {
    About {
        description: "The project starts with the built-in redaction and alert rules and the three initial viewer \
                      tiers, and without keys. At most 1,000 of an organization (403). Projects cannot be renamed or \
                      deleted.",
        requests: &[Sample("example", r#"{"name": "billing"}"#)],
        outcome: "The project.",
        answers: &[Sample("example", PROJECT)],
        is_additive: true,
        ..About::new("create_project", Tag::Projects, "Create a project")
    }
}

pub(crate) fn list() -> About {
    About {
        description: "Oldest first.",
        outcome: "The projects.",
        answers: &[Sample(
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
        path: Some(PathParameter {
            description: "The id of the project.",
            schema: |generator| generator.subschema_for::<Uuid>(),
            example: "5b867afb-5c40-4553-9a5d-adba77d1c5ac",
            refusal: ErrorCode::NotFound,
        }),
        outcome: "The project.",
        answers: &[Sample("example", PROJECT)],
        is_additive: true,
        ..About::new("get_project", Tag::Projects, "Read one project")
    }
}
