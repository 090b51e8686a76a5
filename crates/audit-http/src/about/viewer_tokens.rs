//! `/api/v1/viewer-tokens`.

use super::{About, Sample, Tag};

pub(crate) fn create() -> About {
    About {
        description: "For a live project key; a test key gets 403. The token reads one tenant's live events through \
                      `GET /api/v1/events` and can do nothing else. It cannot be revoked alone: deleting its tier ends \
                      all tokens of that tier.",
        requests: &[
            Sample(
                "example",
                r#"{"tenant_id": "acme", "tier": "minimal", "expires_in": 600}"#,
            ),
            Sample("portal", r#"{"tenant_id": "acme", "portal": true}"#),
        ],
        outcome: "The token, shown here only.",
        answers: &[
            Sample(
                "example",
                r#"{"token": "vt_eyJub3QiOiJyZWFsIn0.eyJub3QiOiJyZWFsIn0.bm90LXJlYWw", "expires_at": "2026-01-15T10:40:00.000Z"}"#,
            ),
            Sample(
                "portal",
                r#"{
                    "token": "vt_eyJub3QiOiJyZWFsIn0.eyJub3QiOiJyZWFsIn0.bm90LXJlYWw", "expires_at": "2026-01-15T10:40:00.000Z",
                    "portal_url": "https://audit.example.com/portal#token=vt_eyJub3QiOiJyZWFsIn0.eyJub3QiOiJyZWFsIn0.bm90LXJlYWw&key=audit-log-1%2B0a1b2c3d%2BAQ=="
                }"#,
            ),
        ],
        ..About::new("create_viewer_token", Tag::Viewers, "Create a viewer token")
    }
}
