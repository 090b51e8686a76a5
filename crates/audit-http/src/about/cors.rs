//! The preflights of `/api/v1/events`, `/api/v1/events/feed` and `/api/v1/log/completeness`.

use super::{About, HeaderParameter, Plain, Tag};
use crate::error_code::ErrorCode;
use schemars::json_schema;

const HEADERS: &[HeaderParameter] = &[
    HeaderParameter {
        name: "Origin",
        description: "The origin of the page.",
        schema: |_| json_schema!({"type": "string"}),
        example: "https://app.example.com",
        is_required: true,
    },
    HeaderParameter {
        name: "Access-Control-Request-Method",
        description: "What the page wants to do.",
        schema: |_| json_schema!({"type": "string", "const": "GET"}),
        example: "GET",
        is_required: true,
    },
];

const EMPTY: Plain = Plain {
    status: 204,
    content_types: &[],
    json_type: "",
};

pub(crate) fn preflight() -> About {
    About {
        description: "What a browser asks before it sends a viewer token from a page of another origin (the CORS \
                      protocol). A preflight for another method, or from an origin that the operator does not allow, is \
                      405.",
        headers: HEADERS,
        outcome: "The page may read events.",
        plain: Some(EMPTY),
        errors: &[ErrorCode::MethodNotAllowed],
        is_additive: true,
        ..About::new(
            "preflight_events",
            Tag::Events,
            "Ask whether a page may read events",
        )
    }
}

pub(crate) fn preflight_feed() -> About {
    About {
        outcome: "The page may follow the feed.",
        ..About {
            id: "preflight_feed",
            summary: "Ask whether a page may follow events",
            ..preflight()
        }
    }
}

pub(crate) fn preflight_completeness() -> About {
    About {
        outcome: "The page may read the proof of a tenant's events.",
        ..About {
            id: "preflight_log_completeness",
            tag: Tag::Log,
            summary: "Ask whether a page may read a proof",
            ..preflight()
        }
    }
}
