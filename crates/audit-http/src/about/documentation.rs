//! `/api/v1/openapi.json` and `/docs`.

use super::{About, Plain, Tag};

pub(crate) fn openapi() -> About {
    About {
        description: "Made from the code that serves. The one JSON response without a `request_id` in it, because its \
                      form is not this interface's; the header `x-request-id` is there.",
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
        description: "With search, and with a form that sends requests to this server. The page loads and calls nothing \
                      else.",
        outcome: "This document as a page to read and to try.",
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
            "Read the script of the documentation",
        )
    }
}
