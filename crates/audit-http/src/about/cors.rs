//! The preflight of `/api/v1/events`.

use super::{About, HeaderParameter, Plain, Tag};
use crate::error_code::ErrorCode;
use schemars::json_schema;

pub(crate) fn preflight() -> About {
    About {
        description: "What a browser asks before it sends a viewer token from a page of another origin (the CORS \
                      protocol). A preflight for another method, or from an origin that the operator does not allow, is \
                      405.",
        headers: &[
            HeaderParameter {
                name: "Origin",
                description: "The origin of the page.",
                schema: |_| json_schema!({"type": "string"}),
                example: "https://app.example.com",
            },
            HeaderParameter {
                name: "Access-Control-Request-Method",
                description: "What the page wants to do.",
                schema: |_| json_schema!({"type": "string", "const": "GET"}),
                example: "GET",
            },
        ],
        outcome: "The page may read events.",
        plain: Some(Plain {
            status: 204,
            content_type: None,
            json_type: "",
        }),
        errors: &[ErrorCode::MethodNotAllowed],
        is_additive: true,
        ..About::new(
            "preflight_events",
            Tag::Events,
            "Ask whether a page may read events",
        )
    }
}
