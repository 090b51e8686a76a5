//! `/api/v1/portal`.

use crate::caller::Caller;
use crate::error::ApiError;
use crate::input::{Fielded, JsonBody, ProjectParameters};
use crate::reply::Reply;
use crate::schema::{LogoText, NameText, Nullable, Word, absent_not_null};
use audit_app::{DestinationKind, Logo, Portal, PortalChange};
use audit_auth::{Master, Readers};
use audit_domain::{Fields, Name};
use schemars::JsonSchema;
use serde::Serialize;

/// The settings of the portal. Absent fields keep their values.
#[derive(JsonSchema)]
#[schemars(rename = "PortalChange", transform = absent_not_null)]
#[expect(dead_code, reason = "describes what is read")]
pub(super) struct PortalChangeInput {
    /// Stands in the place of the title of the portal; `null` for none.
    name: Option<Nullable<NameText>>,
    /// Stands beside the name; `null` for none. A data URL in base64 of a PNG, JPEG or WebP file of at most 64 KiB, at most
    /// 2,048 pixels wide and high.
    logo: Option<Nullable<LogoText>>,
    /// The kinds of destinations that tenants may create with viewer tokens whose tier allows destinations; `null` for all. What is there stays.
    destination_kinds: Option<Nullable<KindList>>,
}

#[derive(JsonSchema)]
#[schemars(inline)]
#[expect(dead_code, reason = "describes what is read")]
struct KindList(#[schemars(length(min = 1, max = DestinationKind::ALL.len()))] Vec<Word<DestinationKind>>);

/// The settings of the portal of a project.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Portal")]
struct PortalBody {
    #[schemars(with = "Option<NameText>")]
    name: Option<String>,
    /// A data URL of a PNG, JPEG or WebP file.
    #[schemars(with = "Option<LogoText>")]
    logo: Option<String>,
    /// The kinds of destinations that tenants may create; with a viewer token those that it may create.
    #[schemars(with = "Vec<Word<DestinationKind>>")]
    destination_kinds: Vec<&'static str>,
}

#[derive(Serialize, JsonSchema)]
#[schemars(rename = "PortalResult")]
pub(super) struct OnePortalBody {
    portal: PortalBody,
}

impl From<Portal> for OnePortalBody {
    fn from(portal: Portal) -> Self {
        let Portal {
            name,
            logo,
            destination_kinds,
        } = portal;
        let kinds = destination_kinds.unwrap_or_else(|| DestinationKind::ALL.to_vec());
        Self {
            portal: PortalBody {
                name: name.map(|name| name.to_string()),
                logo: logo.map(|logo| logo.to_string()),
                destination_kinds: kinds.into_iter().map(DestinationKind::as_str).collect(),
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
        let destination_kinds = match fields.take_null("destination_kinds") {
            true => Some(None),
            false => fields
                .optional_filled_list::<DestinationKind>("destination_kinds", DestinationKind::ALL.len())
                .map(Some),
        };
        Some(PortalChange {
            name,
            logo,
            destination_kinds,
        })
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
        "logo": "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg==",
        "destination_kinds": ["splunk_hec", "datadog"]
    }}"#;

    pub(crate) fn get() -> About {
        About {
            description: "What the portal shows in the place of its own title: name and logo are `null` until they are set. And the \
                          kinds of destinations that tenants may create: for a viewer token an empty list, unless its tier allows \
                          destinations. Every viewer token of the project reads it.",
            outcome: "Name, logo and kinds.",
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
                        "logo": "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg==",
                        "destination_kinds": ["splunk_hec", "datadog"]
                    }"#,
                ),
                Sample(
                    "remove",
                    r#"{"name": null, "logo": null, "destination_kinds": null}"#,
                ),
            ],
            outcome: "The settings as they are now.",
            responses: &[Sample("example", PORTAL)],
            is_additive: true,
            ..About::new("update_portal", Tag::Viewers, "Change the portal's name and logo")
        }
    }
}
