//! `/api/v1/openapi.json` and `/docs`.

use super::{About, Plain, Tag};

pub(crate) fn openapi() -> About {
    About {
        description: "The only JSON response without `request_id`, whose form OpenAPI defines; the header \
                      `x-request-id` is present.",
        outcome: "This document.",
        plain: Some(Plain {
            status: 200,
            content_types: &["application/json"],
            json_type: "object",
        }),
        is_additive: true,
        ..About::new("get_openapi", Tag::Operations, "Read this document")
    }
}

pub(crate) fn page() -> About {
    About {
        description: "A page with search and a form that sends requests to this server. It loads nothing from other \
                      servers.",
        outcome: "The page.",
        plain: Some(Plain {
            status: 200,
            content_types: &["text/html"],
            json_type: "string",
        }),
        is_additive: true,
        ..About::new("get_documentation", Tag::Operations, "Read the documentation")
    }
}

pub(crate) fn library() -> About {
    About {
        outcome: "The library that shows the page.",
        plain: Some(Plain {
            status: 200,
            content_types: &["text/javascript"],
            json_type: "string",
        }),
        is_additive: true,
        ..About::new(
            "get_documentation_script",
            Tag::Operations,
            "Read the script of the documentation page",
        )
    }
}
