//! `/api/v1/portal`.

use crate::caller::Caller;
use crate::error::ApiError;
use crate::input::{Fielded, JsonBody, ProjectParameters};
use crate::reply::Reply;
use crate::schema::{LogoText, NameText, Nullable, absent_not_null};
use audit_app::{Logo, Portal, PortalChange};
use audit_auth::{Master, Readers};
use audit_domain::{Fields, Name};
use schemars::JsonSchema;
use serde::Serialize;

/// Name and logo of the portal. Absent fields keep their values.
#[derive(JsonSchema)]
#[schemars(rename = "PortalChange", transform = absent_not_null)]
#[expect(dead_code, reason = "describes what is read")]
pub(super) struct PortalChangeInput {
    /// Stands in the place of the title of the portal; `null` for none.
    name: Option<Nullable<NameText>>,
    /// Stands beside the name; `null` for none. A data URL in base64 of a PNG, JPEG or WebP file of at most 64 KiB, at most
    /// 2,048 pixels wide and high.
    logo: Option<Nullable<LogoText>>,
}

/// Name and logo of the portal of a project.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Portal")]
struct PortalBody {
    #[schemars(with = "Option<NameText>")]
    name: Option<String>,
    /// A data URL of a PNG, JPEG or WebP file.
    #[schemars(with = "Option<LogoText>")]
    logo: Option<String>,
}

#[derive(Serialize, JsonSchema)]
#[schemars(rename = "PortalResult")]
pub(super) struct OnePortalBody {
    portal: PortalBody,
}

impl From<Portal> for OnePortalBody {
    fn from(Portal { name, logo }: Portal) -> Self {
        Self {
            portal: PortalBody {
                name: name.map(|name| name.to_string()),
                logo: logo.map(|logo| logo.to_string()),
            },
        }
    }
}

impl Fielded for PortalChangeInput {
    type Read = PortalChange;

    fn read(fields: &mut Fields<'_>) -> Option<PortalChange> {
        let name = match fields.take_null("name") {
            true => Some(None),
            false => fields.optional_parsed::<Name>("name").map(Some),
        };
        let logo = match fields.take_null("logo") {
            true => Some(None),
            false => fields.optional_parsed::<Logo>("logo").map(Some),
        };
        Some(PortalChange { name, logo })
    }
}

/// Reads name and logo.
pub(super) async fn get(
    caller: Caller<Readers>,
    parameters: ProjectParameters,
) -> Result<Reply<OnePortalBody>, ApiError> {
    let selection = parameters.read()?;
    let portal = caller
        .run(move |service, principal| service.portal(&principal, selection))
        .await?;
    Ok(Reply::ok(portal.into()))
}

/// Changes name and logo.
pub(super) async fn change(
    caller: Caller<Master>,
    parameters: ProjectParameters,
    body: JsonBody<PortalChangeInput>,
) -> Result<Reply<OnePortalBody>, ApiError> {
    let selection = parameters.read()?;
    let change = body.read(caller.room()).await?;
    let portal = caller
        .run(move |service, master| service.change_portal(&master, selection, change))
        .await?;
    Ok(Reply::ok(portal.into()))
}

/// The documentation of the endpoints, by the names of their handlers.
pub(super) mod about {
    use crate::about::{About, Sample, Tag};

    /// A dot of one pixel.
    const PORTAL: &str = r#"{"portal": {
        "name": "Acme Cloud",
        "logo": "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg=="
    }}"#;

    pub(crate) fn get() -> About {
        About {
            description: "What the portal shows in the place of its own title. Both are `null` until they are set. \
                          Every viewer token of the project reads it.",
            outcome: "Name and logo.",
            responses: &[Sample("example", PORTAL)],
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
            responses: &[Sample("example", PORTAL)],
            is_additive: true,
            ..About::new("update_portal", Tag::Viewers, "Change the portal's name and logo")
        }
    }
}
