//! `/api/v1/viewer-tokens`.

use super::{About, Sample, Tag};

pub(crate) fn create() -> About {
    About {
        description: "For a live project key; a test key gets 403. The token reads one tenant's live events through \
                      `GET /api/v1/events` and can do nothing else. It cannot be revoked alone: deleting its tier ends \
                      all tokens of that tier.",
        requests: &[Sample(
            "example",
            r#"{"tenant_id": "acme", "tier": "minimal", "expires_in": 600}"#,
        )],
        outcome: "The token, shown here only.",
        answers: &[Sample(
            "example",
            r#"{"token": "vt_eyJub3QiOiJyZWFsIn0.eyJub3QiOiJyZWFsIn0.bm90LXJlYWw", "expires_at": "2026-01-15T10:40:00.000Z"}"#,
        )],
        ..About::new("create_viewer_token", Tag::Viewers, "Make a viewer token")
    }
}
