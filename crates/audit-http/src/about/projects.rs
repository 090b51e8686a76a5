//! `/api/v1/projects`.

use super::{About, Sample, Tag};

pub(crate) fn create() -> About {
    About {
        description: "The project starts with the built-in redaction and alert rules and the three initial viewer \
                      tiers, and without keys. At most 1,000 of an organization (403). Projects cannot be renamed or \
                      deleted.",
        requests: &[Sample("example", r#"{"name": "billing"}"#)],
        outcome: "The project.",
        answers: &[Sample(
            "example",
            r#"{"project": {
                "id": "5b867afb-5c40-4553-9a5d-adba77d1c5ac", "name": "billing", "created_at": "2026-01-15T10:30:00.912Z"
            }}"#,
        )],
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
