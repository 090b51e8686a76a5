//! `/api/v1/retention`.

pub(super) mod about;
mod bodies;

pub(super) use bodies::PolicyBody;

use crate::caller::Caller;
use crate::error::ApiError;
use crate::input::{Fielded, JsonBody, Parameters, ProjectParameters};
use crate::parameters::{WholeNumber, read_required_instant};
use crate::reply::Reply;
use crate::schema::{AnyTime, Nullable, RetentionDays, Word, absent_not_null};
use audit_app::{RETENTION_DAYS_MAX, RetentionChange, RetentionPreset};
use audit_auth::Master;
use audit_domain::{Category, Fields, Timestamp};
use bodies::{PreviewBody, RetentionBody};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use std::borrow::Cow;
use std::collections::BTreeMap;

/// A retention policy as a whole: what is absent is not kept from the one before.
#[derive(JsonSchema)]
#[schemars(rename = "RetentionInput", transform = absent_not_null)]
#[expect(dead_code, reason = "describes what is read")]
pub(super) struct RetentionInput {
    /// How many days events are kept. `null` for ever, and by default. Not together with `preset`.
    days: Option<Nullable<RetentionDays>>,
    /// How many days the events of some categories are kept, each more than `days`.
    categories: Option<CategoryDays>,
    /// `pci` is 365 days, `hipaa` 2,190, `cnil` 335.
    preset: Option<Word<RetentionPreset>>,
    /// Events go once an archive has them that the log names (`audit-server archive create --record`). `false` by default.
    archive: Option<bool>,
}

/// Days by category.
struct CategoryDays;

impl JsonSchema for CategoryDays {
    fn schema_name() -> Cow<'static, str> {
        "RetentionByCategory".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let mut properties = BTreeMap::new();
        for category in Category::ALL {
            properties.insert(category.as_str(), generator.subschema_for::<RetentionDays>());
        }
        json_schema!({
            "type": "object",
            "description": "Days by category.",
            "properties": properties,
            "additionalProperties": false,
        })
    }
}

fn read_preset(fields: &mut Fields<'_>, has_days: bool) -> Option<RetentionPreset> {
    if has_days && fields.has("preset") {
        fields.violate::<()>("preset", "must not be together with days");
    }
    fields.optional_parsed("preset")
}

fn read_categories(fields: &mut Fields<'_>) -> BTreeMap<Category, u32> {
    let mut read = BTreeMap::new();
    let Some(members) = fields.optional_object("categories") else {
        return read;
    };
    let mut categories = fields.nested("categories", members);
    for category in Category::ALL {
        let days = categories.optional_integer(category.as_str(), 1..=RETENTION_DAYS_MAX.into());
        if let Some(days) = days.and_then(|days| u32::try_from(days).ok()) {
            read.insert(*category, days);
        }
    }
    categories.refuse_the_rest();
    read
}

impl Fielded for RetentionInput {
    type Read = RetentionChange;

    fn read(fields: &mut Fields<'_>) -> Option<RetentionChange> {
        let days = fields.optional_integer("days", 1..=RETENTION_DAYS_MAX.into());
        Some(RetentionChange {
            preset: read_preset(fields, days.is_some()),
            days: days.and_then(|days| u32::try_from(days).ok()),
            categories: read_categories(fields),
            archive: fields.optional_bool("archive").unwrap_or_default(),
        })
    }
}

/// The policy whose effect is estimated: by default the one in force.
#[derive(JsonSchema)]
#[schemars(transform = absent_not_null)]
#[expect(dead_code, reason = "describes what is read")]
pub(super) struct PreviewQuery {
    /// How many days events would be kept. Not together with `preset`.
    #[schemars(example = 365)]
    days: Option<RetentionDays>,
    /// `pci`, `hipaa` or `cnil`.
    #[schemars(example = &"hipaa")]
    preset: Option<Word<RetentionPreset>>,
}

impl Fielded for PreviewQuery {
    type Read = Option<RetentionChange>;

    fn read(fields: &mut Fields<'_>) -> Option<Option<RetentionChange>> {
        let has_days = fields.has("days");
        let preset = read_preset(fields, has_days);
        let days = fields.optional_parsed::<WholeNumber>("days");
        let days = days.map(|WholeNumber(days)| u32::try_from(days).unwrap_or(u32::MAX));
        if days.is_some_and(|days| !(1..=RETENTION_DAYS_MAX).contains(&days)) {
            let message = format!("must be a whole number from 1 to {RETENTION_DAYS_MAX}");
            fields.violate::<()>("days", message);
        }
        let is_given = days.is_some() || preset.is_some();
        Some(is_given.then(|| RetentionChange {
            days,
            preset,
            ..RetentionChange::default()
        }))
    }
}

/// How far the next plan may reach.
#[derive(JsonSchema)]
#[schemars(rename = "RetentionConfirmation")]
#[expect(dead_code, reason = "describes what is read")]
pub(super) struct ConfirmInput {
    /// Plans may remove events that the log received before this time, as far as the policy does.
    until: AnyTime,
}

impl Fielded for ConfirmInput {
    type Read = Timestamp;

    fn read(fields: &mut Fields<'_>) -> Option<Timestamp> {
        read_required_instant(fields, "until")
    }
}

/// The plan that is cancelled.
#[derive(JsonSchema)]
#[schemars(rename = "RetentionCancellation")]
#[expect(dead_code, reason = "describes what is read")]
pub(super) struct CancelInput {
    /// Its `seq`.
    #[schemars(range(min = 0))]
    plan: i64,
}

impl Fielded for CancelInput {
    type Read = u64;

    fn read(fields: &mut Fields<'_>) -> Option<u64> {
        let plan = fields.required_integer("plan", 0..=i64::MAX);
        plan.map(i64::cast_unsigned)
    }
}

/// Reads the policy, the plan and the removals.
pub(super) async fn get(
    caller: Caller<Master>,
    parameters: ProjectParameters,
) -> Result<Reply<RetentionBody>, ApiError> {
    let selection = parameters.read()?;
    let retention = caller
        .read(move |service, master| service.retention(&master, selection))
        .await?;
    Ok(Reply::ok(retention.into()))
}

/// Sets the policy.
pub(super) async fn set(
    caller: Caller<Master>,
    parameters: ProjectParameters,
    body: JsonBody<RetentionInput>,
) -> Result<Reply<RetentionBody>, ApiError> {
    let selection = parameters.read()?;
    let change = body.read(caller.room()).await?;
    let retention = caller
        .run(move |service, master| service.set_retention(&master, selection, &change))
        .await?;
    Ok(Reply::ok(retention.into()))
}

/// Estimates what a policy would remove.
pub(super) async fn preview(
    caller: Caller<Master>,
    parameters: Parameters<PreviewQuery>,
) -> Result<Reply<PreviewBody>, ApiError> {
    let (selection, change) = parameters.read()?;
    let preview = caller
        .read(move |service, master| service.preview_retention(&master, selection, change.as_ref()))
        .await?;
    Ok(Reply::ok(preview.into()))
}

/// Confirms how far the next plan may reach.
pub(super) async fn confirm(
    caller: Caller<Master>,
    parameters: ProjectParameters,
    body: JsonBody<ConfirmInput>,
) -> Result<Reply<RetentionBody>, ApiError> {
    let selection = parameters.read()?;
    let until = body.read(caller.room()).await?;
    let retention = caller
        .run(move |service, master| service.confirm_retention(&master, selection, until))
        .await?;
    Ok(Reply::ok(retention.into()))
}

/// Cancels a plan.
pub(super) async fn cancel(
    caller: Caller<Master>,
    parameters: ProjectParameters,
    body: JsonBody<CancelInput>,
) -> Result<Reply<RetentionBody>, ApiError> {
    let selection = parameters.read()?;
    let plan = body.read(caller.room()).await?;
    let retention = caller
        .run(move |service, master| service.cancel_removal(&master, selection, plan))
        .await?;
    Ok(Reply::ok(retention.into()))
}
