//! `/api/v1/portal`.

use crate::caller::Caller;
use crate::client_address::client_of;
use crate::error::ApiError;
use crate::input::{Fielded, JsonBody, NoParameters, ProjectParameters};
use crate::reply::Reply;
use crate::schema::{LogoText, NameText, Nullable, SignInUrlText, Word, absent_not_null};
use crate::state::HttpState;
use actix_web::{HttpRequest, web};
use audit_app::{AppError, DestinationKind, Logo, Portal, PortalChange, SignInUrl};
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
    /// The page of your application at which readers of the portal who have no token sign in; `null` for none. An `https` URL without
    /// user name and fragment, or an `http` URL with `localhost`, `127.0.0.1` or `[::1]`.
    sign_in_url: Option<Nullable<SignInUrlText>>,
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
    #[schemars(with = "Option<SignInUrlText>")]
    sign_in_url: Option<String>,
}

#[derive(Serialize, JsonSchema)]
#[schemars(rename = "PortalResult")]
pub(super) struct OnePortalBody {
    portal: PortalBody,
}

/// Where readers of a portal sign in.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "PortalSignIn")]
pub(super) struct SignInBody {
    #[schemars(with = "SignInUrlText")]
    sign_in_url: String,
}

impl From<Portal> for OnePortalBody {
    fn from(portal: Portal) -> Self {
        let Portal {
            name,
            logo,
            destination_kinds,
            sign_in_url,
        } = portal;
        let kinds = destination_kinds.unwrap_or_else(|| DestinationKind::ALL.to_vec());
        Self {
            portal: PortalBody {
                name: name.map(|name| name.to_string()),
                logo: logo.map(|logo| logo.to_string()),
                destination_kinds: kinds.into_iter().map(DestinationKind::as_str).collect(),
                sign_in_url: sign_in_url.map(|url| url.to_string()),
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
        let sign_in_url = match fields.take_null("sign_in_url") {
            true => Some(None),
            false => fields.optional_parsed::<SignInUrl>("sign_in_url").map(Some),
        };
        Some(PortalChange {
            name,
            logo,
            destination_kinds,
            sign_in_url,
        })
    }
}

/// Reads the settings.
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

/// Changes the settings.
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

/// Where readers of the portal of a project sign in. No credential.
pub(super) async fn sign_in(
    request: HttpRequest,
    state: web::Data<HttpState>,
    project_id: web::Path<String>,
    parameters: NoParameters,
) -> Result<Reply<SignInBody>, ApiError> {
    let client = client_of(&request, &state.trusted_proxies);
    let allowance = state.sign_ins.take(&client);
    if let Some(refusal) = allowance.refusal("this address asks too often") {
        return Err(refusal);
    }
    parameters.refuse()?;
    // As the use case says of a project that there is not.
    let project_id = project_id
        .parse()
        .map_err(|_| AppError::NotFound("sign-in URL"))?;
    let url = state
        .service
        .look_up_for_address(client, move |service| service.sign_in_url(project_id))
        .await?;
    Ok(Reply::ok(SignInBody {
        sign_in_url: url.to_string(),
    }))
}

/// The documentation of the endpoints, by the names of their handlers.
pub(super) mod about {
    use crate::about::{About, PathParameter, Sample, Tag};
    use crate::error_code::ErrorCode;
    use crate::schema::Uuid;

    /// A dot of one pixel.
    const PORTAL: &str = r#"{"portal": {
        "name": "Acme Cloud",
        "logo": "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg==",
        "destination_kinds": ["splunk_hec", "datadog"],
        "sign_in_url": "https://app.example.com/audit-log/sign-in"
    }}"#;

    pub(crate) fn get() -> About {
        About {
            description: "What the portal shows in the place of its own title: name and logo are `null` until they are set. And the \
                          kinds of destinations that tenants may create: for a viewer token an empty list, unless its tier allows \
                          destinations. And where readers without a token sign in, `null` for nowhere. Every viewer token of the \
                          project reads it.",
            outcome: "The settings.",
            responses: &[Sample("example", PORTAL)],
            is_additive: true,
            ..About::new("get_portal", Tag::Viewers, "Read the portal's settings")
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
                        "destination_kinds": ["splunk_hec", "datadog"],
                        "sign_in_url": "https://app.example.com/audit-log/sign-in"
                    }"#,
                ),
                Sample(
                    "remove",
                    r#"{"name": null, "logo": null, "destination_kinds": null, "sign_in_url": null}"#,
                ),
            ],
            outcome: "The settings as they are now.",
            responses: &[Sample("example", PORTAL)],
            is_additive: true,
            ..About::new("update_portal", Tag::Viewers, "Change the portal's settings")
        }
    }

    pub(crate) fn sign_in() -> About {
        About {
            description: "The portal sends readers who have no token there, with the parameter `return_to`. No credential. The response \
                          is the same for a project without the setting and for one that does not exist. From one address 10 requests \
                          a second, and 100 at once (`rate_limited`).",
            path: Some(PathParameter {
                description: "The id of the project.",
                schema: |generator| generator.subschema_for::<Uuid>(),
                example: "5b867afb-5c40-4553-9a5d-adba77d1c5ac",
                refusal: ErrorCode::NotFound,
            }),
            outcome: "The URL.",
            responses: &[Sample(
                "example",
                r#"{"sign_in_url": "https://app.example.com/audit-log/sign-in"}"#,
            )],
            errors: &[
                ErrorCode::RateLimited,
                ErrorCode::InternalError,
                ErrorCode::Unavailable,
            ],
            is_additive: true,
            ..About::new(
                "get_portal_sign_in",
                Tag::Viewers,
                "Read where readers of the portal sign in",
            )
        }
    }
}
