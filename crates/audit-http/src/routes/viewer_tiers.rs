//! `/api/v1/viewer-tiers`.

use crate::caller::Caller;
use crate::error::ApiError;
use crate::input::{Fielded, JsonBody, ProjectParameters};
use crate::reply::{Created, Deleted, Reply};
use crate::schema::{GlobText, HiddenFieldText, Nullable, TierNameText, Time, Word, absent_not_null};
use actix_web::web;
use audit_app::{AppError, StoredTier, TierChange};
use audit_auth::Master;
use audit_domain::{ActionGlob, Category, Fields, HiddenField, TierName, ViewerRoute, ViewerTier};
use schemars::JsonSchema;
use serde::Serialize;

/// Action patterns and hidden fields of a tier, at most each.
const LIST_ITEMS_MAX: usize = 100;

/// The properties of a new viewer tier.
#[derive(JsonSchema)]
#[schemars(rename = "ViewerTierInput", transform = absent_not_null)]
#[expect(dead_code, reason = "describes what is read")]
pub(super) struct NewTierInput {
    /// Unique in the project. Cannot be changed.
    name: TierNameText,
    #[schemars(flatten)]
    shows: TierChangeInput,
}

/// The settings of a viewer tier. Absent fields keep their values.
#[derive(JsonSchema)]
#[schemars(rename = "ViewerTierChange", transform = absent_not_null)]
#[expect(dead_code, reason = "describes what is read")]
pub(super) struct TierChangeInput {
    /// Only events of these categories; `null` for all. By default all.
    categories: Option<Nullable<CategoryList>>,
    /// Only events whose whole action matches one of these, in which `*` stands for any characters, dots included;
    /// `null` for all. By default all.
    actions: Option<Nullable<ActionList>>,
    /// Dot paths of fields that are left out with everything below them; `*` stands for any one step. By
    /// default none.
    #[schemars(length(max = LIST_ITEMS_MAX))]
    hidden_fields: Option<Vec<HiddenFieldText>>,
    /// What tokens can read beside `GET /events`, which also reads single events by `id`: `event` is `GET /events/:id`, `summary`, `feed`
    /// and `export` are those of events, `proofs` are proofs and receipts of events and `GET /log/completeness`; `null` for all of these. By default
    /// all of these. `destinations` are the destinations of the tenant, which the tier must name, and which send every event with every field: such
    /// a tier limits neither categories nor actions and hides nothing.
    routes: Option<Nullable<RouteList>>,
}

#[derive(JsonSchema)]
#[schemars(inline)]
#[expect(dead_code, reason = "describes what is read")]
struct RouteList(#[schemars(length(max = ViewerRoute::ALL.len()))] Vec<Word<ViewerRoute>>);

#[derive(JsonSchema)]
#[schemars(inline)]
#[expect(dead_code, reason = "describes what is read")]
struct CategoryList(#[schemars(length(max = Category::ALL.len()))] Vec<Word<Category>>);

#[derive(JsonSchema)]
#[schemars(inline)]
#[expect(dead_code, reason = "describes what is read")]
struct ActionList(#[schemars(length(max = LIST_ITEMS_MAX))] Vec<GlobText>);

/// Which events, and which of their fields, viewer tokens of this tier show.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "ViewerTier")]
struct TierBody {
    #[schemars(with = "TierNameText")]
    name: String,
    /// Only events of these categories; all when `null`.
    #[schemars(with = "Option<Vec<Word<Category>>>")]
    categories: Option<Vec<&'static str>>,
    /// Only events whose action matches one of these; all when `null`.
    #[schemars(with = "Option<Vec<GlobText>>")]
    actions: Option<Vec<String>>,
    /// Paths of fields that are left out.
    #[schemars(with = "Vec<HiddenFieldText>")]
    hidden_fields: Vec<String>,
    /// What tokens may use beside `GET /events`; `null` for all but `destinations`.
    #[schemars(with = "Option<Vec<Word<ViewerRoute>>>")]
    routes: Option<Vec<&'static str>>,
    #[schemars(with = "Time")]
    created_at: String,
}

#[derive(Serialize, JsonSchema)]
#[schemars(rename = "ViewerTierResult")]
pub(super) struct OneTierBody {
    viewer_tier: TierBody,
}

#[derive(Serialize, JsonSchema)]
#[schemars(rename = "ViewerTierList")]
pub(super) struct TiersBody {
    viewer_tiers: Vec<TierBody>,
}

impl From<StoredTier> for TierBody {
    fn from(stored: StoredTier) -> Self {
        let tier = stored.tier;
        let words = |categories: Vec<Category>| categories.into_iter().map(Category::as_str).collect();
        let texts = |globs: Vec<ActionGlob>| globs.iter().map(ToString::to_string).collect();
        Self {
            name: tier.name.to_string(),
            categories: tier.categories.map(words),
            actions: tier.actions.map(texts),
            hidden_fields: tier.hidden_fields.iter().map(ToString::to_string).collect(),
            routes: tier
                .routes
                .map(|routes| routes.into_iter().map(ViewerRoute::as_str).collect()),
            created_at: stored.created_at.to_string(),
        }
    }
}

fn read_change(fields: &mut Fields<'_>) -> TierChange {
    let categories = match fields.take_null("categories") {
        true => Some(None),
        false => fields
            .optional_list::<Category>("categories", Category::ALL.len())
            .map(Some),
    };
    let actions = match fields.take_null("actions") {
        true => Some(None),
        false => fields
            .optional_list::<ActionGlob>("actions", LIST_ITEMS_MAX)
            .map(Some),
    };
    let hidden_fields = fields.optional_list::<HiddenField>("hidden_fields", LIST_ITEMS_MAX);
    let routes = match fields.take_null("routes") {
        true => Some(None),
        false => fields
            .optional_list::<ViewerRoute>("routes", ViewerRoute::ALL.len())
            .map(Some),
    };
    TierChange {
        categories,
        actions,
        hidden_fields,
        routes,
    }
}

impl Fielded for NewTierInput {
    type Read = ViewerTier;

    fn read(fields: &mut Fields<'_>) -> Option<ViewerTier> {
        let name = fields.required_parsed::<TierName>("name");
        let TierChange {
            categories,
            actions,
            hidden_fields,
            routes,
        } = read_change(fields);
        Some(ViewerTier {
            name: name?,
            categories: categories.flatten(),
            actions: actions.flatten(),
            hidden_fields: hidden_fields.unwrap_or_default(),
            routes: routes.flatten(),
        })
    }
}

impl Fielded for TierChangeInput {
    type Read = TierChange;

    fn read(fields: &mut Fields<'_>) -> Option<TierChange> {
        Some(read_change(fields))
    }
}

fn name_in(path: &str) -> Result<TierName, AppError> {
    path.parse().map_err(|_| AppError::NotFound("viewer tier"))
}

/// Makes a tier.
pub(super) async fn create(
    caller: Caller<Master>,
    parameters: ProjectParameters,
    body: JsonBody<NewTierInput>,
) -> Result<Reply<OneTierBody, Created>, ApiError> {
    let selection = parameters.read()?;
    let tier = body.read(caller.room()).await?;
    let made = caller.run(move |service, master| service.create_viewer_tier(&master, selection, tier));
    Ok(Reply::created(OneTierBody {
        viewer_tier: made.await?.into(),
    }))
}

/// Lists the project's tiers.
pub(super) async fn list(
    caller: Caller<Master>,
    parameters: ProjectParameters,
) -> Result<Reply<TiersBody>, ApiError> {
    let selection = parameters.read()?;
    let tiers = caller
        .run(move |service, master| service.viewer_tiers(&master, selection))
        .await?;
    Ok(Reply::ok(TiersBody {
        viewer_tiers: tiers.into_iter().map(TierBody::from).collect(),
    }))
}

/// One tier.
pub(super) async fn get(
    caller: Caller<Master>,
    parameters: ProjectParameters,
    name: web::Path<String>,
) -> Result<Reply<OneTierBody>, ApiError> {
    let selection = parameters.read()?;
    let name = name_in(&name)?;
    let tier = caller.run(move |service, master| service.viewer_tier(&master, selection, &name));
    Ok(Reply::ok(OneTierBody {
        viewer_tier: tier.await?.into(),
    }))
}

/// Changes a tier.
pub(super) async fn change(
    caller: Caller<Master>,
    parameters: ProjectParameters,
    name: web::Path<String>,
    body: JsonBody<TierChangeInput>,
) -> Result<Reply<OneTierBody>, ApiError> {
    let selection = parameters.read()?;
    let name = name_in(&name)?;
    let change = body.read(caller.room()).await?;
    let changed =
        caller.run(move |service, master| service.change_viewer_tier(&master, selection, name, change));
    Ok(Reply::ok(OneTierBody {
        viewer_tier: changed.await?.into(),
    }))
}

/// Deletes a tier.
pub(super) async fn delete(
    caller: Caller<Master>,
    parameters: ProjectParameters,
    name: web::Path<String>,
) -> Result<Reply<Deleted>, ApiError> {
    let selection = parameters.read()?;
    let name = name_in(&name)?;
    let deleted = caller.run(move |service, master| service.delete_viewer_tier(&master, selection, name));
    deleted.await?;
    Ok(Reply::deleted())
}

/// The documentation of the endpoints, by the names of their handlers.
pub(super) mod about {
    use crate::about::{About, PathParameter, Sample, Tag};
    use crate::error_code::ErrorCode;
    use crate::schema::TierNameText;

    fn name() -> Option<PathParameter> {
        Some(PathParameter {
            description: "The name of the tier.",
            schema: |generator| generator.subschema_for::<TierNameText>(),
            example: "logins",
            refusal: ErrorCode::NotFound,
        })
    }

    const TIER: &str = r#"{"viewer_tier": {
        "name": "logins", "categories": ["auth"], "actions": ["auth.*"],
        "hidden_fields": ["actor.email", "metadata.*.ip"], "routes": ["event", "feed"], "created_at": "2026-01-15T10:30:00.968Z"
    }}"#;

    pub(crate) fn create() -> About {
        About {
            description: "At most 50 tiers of a project (403).",
            requests: &[Sample(
                "example",
                r#"{"name": "logins", "categories": ["auth"], "actions": ["auth.*"], "hidden_fields": ["actor.email", "metadata.*.ip"],
                    "routes": ["event", "feed"]}"#,
            )],
            outcome: "The tier.",
            responses: &[Sample("example", TIER)],
            errors: &[ErrorCode::Conflict],
            is_additive: true,
            ..About::new("create_viewer_tier", Tag::Viewers, "Create a viewer tier")
        }
    }

    pub(crate) fn list() -> About {
        About {
            description: "Every project starts with `full` (everything), `standard` (hides `context`, `metadata`, \
                          `actor.email`) and `minimal` (hides those and `changes`, `actor.name`, `target.name`, and \
                          shows no `security`, `admin` or `system` events).",
            outcome: "The tiers, by name.",
            responses: &[Sample(
                "example",
                r#"{"viewer_tiers": [{
                    "name": "standard", "categories": null, "actions": null,
                    "hidden_fields": ["context", "metadata", "actor.email"], "routes": null, "created_at": "2026-01-14T09:00:00.731Z"
                }]}"#,
            )],
            is_additive: true,
            ..About::new("list_viewer_tiers", Tag::Viewers, "List viewer tiers")
        }
    }

    pub(crate) fn get() -> About {
        About {
            description: "Its settings as they hold now, also for tokens that were issued before.",
            path: name(),
            outcome: "The tier.",
            responses: &[Sample("example", TIER)],
            is_additive: true,
            ..About::new("get_viewer_tier", Tag::Viewers, "Read one viewer tier")
        }
    }

    pub(crate) fn change() -> About {
        About {
            description: "Holds at once, also for tokens that are out. A list replaces the old one.",
            path: name(),
            requests: &[Sample(
                "example",
                r#"{"categories": ["auth", "access"], "actions": null, "hidden_fields": ["context.ip_address"], "routes": ["event"]}"#,
            )],
            outcome: "The tier as it is now.",
            responses: &[Sample(
                "example",
                r#"{"viewer_tier": {
                    "name": "logins", "categories": ["auth", "access"], "actions": null, "hidden_fields": ["context.ip_address"],
                    "routes": ["event", "feed"], "created_at": "2026-01-15T10:30:00.968Z"
                }}"#,
            )],
            is_additive: true,
            ..About::new("update_viewer_tier", Tag::Viewers, "Change a viewer tier")
        }
    }

    pub(crate) fn delete() -> About {
        About {
            description: "Ends the access of the tier's tokens at once (401 `invalid_token`).",
            path: name(),
            outcome: "The tier is deleted.",
            responses: &[Sample("example", r#"{"deleted": true}"#)],
            is_additive: true,
            ..About::new("delete_viewer_tier", Tag::Viewers, "Delete a viewer tier")
        }
    }
}
