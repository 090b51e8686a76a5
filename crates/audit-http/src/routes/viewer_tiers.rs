//! `/api/v1/viewer-tiers`.

use crate::caller::{Caller, Master};
use crate::error::ApiError;
use crate::input::{JsonBody, read_selection};
use crate::reply::{Deleted, Reply};
use actix_web::{HttpRequest, web};
use audit_app::{AppError, StoredTier, TierChange};
use audit_auth::Principal;
use audit_domain::{ActionGlob, Category, Fields, HiddenField, TierName, ViewerTier};
use serde::Serialize;

/// Action patterns and hidden fields of a tier, at most each.
const LIST_ITEMS_MAX: usize = 100;

#[derive(Serialize)]
struct TierBody {
    name: String,
    categories: Option<Vec<&'static str>>,
    actions: Option<Vec<String>>,
    hidden_fields: Vec<String>,
    created_at: String,
}

#[derive(Serialize)]
pub(super) struct OneTierBody {
    viewer_tier: TierBody,
}

#[derive(Serialize)]
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
    TierChange {
        categories,
        actions,
        hidden_fields,
    }
}

fn name_in(path: &str) -> Result<TierName, AppError> {
    path.parse().map_err(|_| AppError::NotFound("viewer tier"))
}

/// Makes a tier.
pub(super) async fn create(
    caller: Caller<Master>,
    request: HttpRequest,
    body: JsonBody,
) -> Result<Reply<OneTierBody>, ApiError> {
    let selection = read_selection(&request)?;
    let tier = body.read(|fields| {
        let name = fields.required_parsed::<TierName>("name");
        let TierChange {
            categories,
            actions,
            hidden_fields,
        } = read_change(fields);
        Some(ViewerTier {
            name: name?,
            categories: categories.flatten(),
            actions: actions.flatten(),
            hidden_fields: hidden_fields.unwrap_or_default(),
        })
    })?;
    let made = caller
        .run(move |service, master| service.create_viewer_tier(&Principal::Master(master), selection, tier));
    Ok(Reply::created(OneTierBody {
        viewer_tier: made.await?.into(),
    }))
}

/// Lists the project's tiers.
pub(super) async fn list(caller: Caller<Master>, request: HttpRequest) -> Result<Reply<TiersBody>, ApiError> {
    let selection = read_selection(&request)?;
    let tiers = caller
        .run(move |service, master| service.viewer_tiers(&Principal::Master(master), selection))
        .await?;
    Ok(Reply::ok(TiersBody {
        viewer_tiers: tiers.into_iter().map(TierBody::from).collect(),
    }))
}

/// Changes what a tier shows.
pub(super) async fn change(
    caller: Caller<Master>,
    request: HttpRequest,
    name: web::Path<String>,
    body: JsonBody,
) -> Result<Reply<OneTierBody>, ApiError> {
    let selection = read_selection(&request)?;
    let name = name_in(&name)?;
    let change = body.read(|fields| Some(read_change(fields)))?;
    let changed = caller.run(move |service, master| {
        service.change_viewer_tier(&Principal::Master(master), selection, name, change)
    });
    Ok(Reply::ok(OneTierBody {
        viewer_tier: changed.await?.into(),
    }))
}

/// Deletes a tier.
pub(super) async fn delete(
    caller: Caller<Master>,
    request: HttpRequest,
    name: web::Path<String>,
) -> Result<Reply<Deleted>, ApiError> {
    let selection = read_selection(&request)?;
    let name = name_in(&name)?;
    let deleted = caller
        .run(move |service, master| service.delete_viewer_tier(&Principal::Master(master), selection, name));
    deleted.await?;
    Ok(Reply::deleted())
}
