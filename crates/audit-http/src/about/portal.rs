//! `/api/v1/portal`.

use super::{About, Sample, Tag};

/// A dot of one pixel.
const PORTAL: &str = r#"{"portal": {
    "name": "Acme Cloud",
    "logo": "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg=="
}}"#;

pub(crate) fn get() -> About {
    About {
        description: "What the portal shows in the place of its own title. Both are `null` until they are set. Every viewer \
                      token of the project reads it.",
        outcome: "Name and logo.",
        answers: &[Sample("example", PORTAL)],
        is_additive: true,
        ..About::new("get_portal", Tag::Viewers, "Read the portal's name and logo")
    }
}

pub(crate) fn change() -> About {
    About {
        description: "Shown by portals that are opened from then on. An image in another format, SVG among them, is refused.",
        requests: &[
            Sample(
                "example",
                r#"{
                    "name": "Acme Cloud",
                    "logo": "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg=="
                }"#,
            ),
            Sample("remove", r#"{"name": null, "logo": null}"#),
        ],
        outcome: "Name and logo as they are now.",
        answers: &[Sample("example", PORTAL)],
        is_additive: true,
        ..About::new("update_portal", Tag::Viewers, "Change the portal's name and logo")
    }
}
