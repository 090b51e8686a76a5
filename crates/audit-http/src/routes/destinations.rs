//! `/api/v1/destinations`.

use crate::caller::Caller;
use crate::error::ApiError;
use crate::input::{Fielded, JsonBody, ProjectParameters};
use crate::reply::{Created, Deleted, Reply};
use crate::schema::{FreeFormObject, GlobText, Id, NameText, Text, Time, Word, absent_not_null};
use actix_web::web;
use audit_app::{
    AppError, DestinationChange, DestinationError, DestinationFilter, DestinationId, DestinationKind,
    DestinationReport, DestinationState, NewDestination, OcsfClasses, RecordFormat, ReplayProgress,
    WebhookSecret,
};
use audit_auth::DestinationOwners;
use audit_domain::{Category, Environment, Fields, Name, json, limits};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;

/// The properties of a new destination.
#[derive(JsonSchema)]
#[schemars(rename = "DestinationInput", transform = absent_not_null)]
#[expect(dead_code, reason = "describes what is read")]
pub(super) struct NewDestinationInput {
    name: NameText,
    /// Cannot be changed.
    kind: Word<DestinationKind>,
    /// The format of records. `cef` is for `syslog`.
    #[schemars(extend("default" = RecordFormat::Json.as_str()))]
    format: Option<Word<RecordFormat>>,
    /// Whether records in the format `ocsf` have the original event as well.
    #[schemars(extend("default" = false))]
    include_raw: Option<bool>,
    /// The classes of records in `ocsf`. By default those of the mapping.
    #[schemars(length(max = OcsfClasses::ITEMS_MAX))]
    ocsf_classes: Option<Vec<OcsfClassInput>>,
    filter: Option<FilterInput>,
    /// Where the receiver is, by kind.
    settings: FreeFormObject,
    /// What proves to the receiver who sends, by kind. Written, never read.
    credentials: Option<FreeFormObject>,
    /// Whether nothing is sent yet.
    #[schemars(extend("default" = false))]
    paused: Option<bool>,
    /// The environment whose events it gets. Cannot be changed.
    #[schemars(extend("default" = Environment::Live.as_str()))]
    environment: Option<Word<Environment>>,
}

/// Changes of a destination. Absent fields keep their values.
#[derive(JsonSchema)]
#[schemars(rename = "DestinationChange", transform = absent_not_null)]
#[expect(dead_code, reason = "describes what is read")]
pub(super) struct DestinationChangeInput {
    name: Option<NameText>,
    format: Option<Word<RecordFormat>>,
    include_raw: Option<bool>,
    /// All items; an empty list leaves the classes of the mapping.
    #[schemars(length(max = OcsfClasses::ITEMS_MAX))]
    ocsf_classes: Option<Vec<OcsfClassInput>>,
    /// All conditions; an empty object lets every event pass.
    filter: Option<FilterInput>,
    /// All settings. They need `credentials` as well: stored ones are sent to no other receiver.
    settings: Option<FreeFormObject>,
    /// All credentials. The ones before stay in use until the receiver has taken records with these.
    credentials: Option<FreeFormObject>,
    /// `false` also resumes a parked destination.
    paused: Option<bool>,
}

/// The class of OCSF for an action, in the place of that of the mapping. The first item that matches an action decides. An event
/// that lacks what the class requires is of the class 6003.
#[derive(JsonSchema)]
#[schemars(rename = "OcsfClassInput", transform = absent_not_null)]
#[expect(dead_code, reason = "describes what is read")]
struct OcsfClassInput {
    /// Whole actions, in which `*` stands for any characters, dots included.
    action: GlobText,
    /// A class of the mapping: 3001, 3002, 3004, 3005, 3006 or 6003.
    #[schemars(extend("enum" = OcsfClasses::class_uids()))]
    class_uid: i64,
    /// An activity of the class, or 99.
    #[schemars(range(min = 1))]
    activity_id: i64,
}

/// The events that a destination gets: those that meet every condition. By default all.
#[derive(JsonSchema)]
#[schemars(rename = "DestinationFilterInput", transform = absent_not_null)]
#[expect(dead_code, reason = "describes what is read")]
struct FilterInput {
    /// Only events whose whole action matches one of these, in which `*` stands for any characters, dots included.
    #[schemars(length(min = 1, max = DestinationFilter::VALUES_MAX))]
    actions: Option<Vec<GlobText>>,
    /// Only events of these categories.
    #[schemars(length(min = 1, max = DestinationFilter::VALUES_MAX))]
    categories: Option<Vec<Word<Category>>>,
    /// Only events of these tenants.
    #[schemars(length(min = 1, max = DestinationFilter::VALUES_MAX))]
    tenant_ids: Option<Vec<Text<1, { limits::ID_CHARS_MAX }>>>,
}

/// A receiver of the events of a project, and how far it is.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Destination")]
struct DestinationBody {
    #[schemars(with = "Id<DestinationId>")]
    id: DestinationId,
    name: String,
    #[schemars(with = "Word<DestinationKind>")]
    kind: &'static str,
    #[schemars(with = "Word<Environment>")]
    environment: &'static str,
    #[schemars(with = "Word<RecordFormat>")]
    format: &'static str,
    include_raw: bool,
    /// The classes of records in `ocsf` by action, in the place of those of the mapping.
    #[schemars(with = "Vec<FreeFormObject>")]
    ocsf_classes: Value,
    /// The conditions: `actions`, `categories`, `tenant_ids`. Empty for all events.
    #[schemars(with = "FreeFormObject")]
    filter: Value,
    /// With their defaults. Empty if what is stored cannot be decrypted.
    #[schemars(with = "FreeFormObject")]
    settings: Value,
    /// The names of those that are set.
    credentials: Vec<&'static str>,
    paused: bool,
    #[schemars(with = "Word<DestinationState>")]
    state: &'static str,
    #[schemars(with = "Time")]
    created_at: String,
    /// The tenant that has created it with a viewer token, for its own events; `null` for the project.
    created_by_tenant: Option<String>,
    /// The number of the last record that was delivered; 0 at first.
    #[schemars(range(min = 0))]
    position: i64,
    /// The position in the log of the next event.
    #[schemars(range(min = 0))]
    cursor_seq: i64,
    /// Events of the log that it has not come to, those that its filter leaves out included.
    #[schemars(range(min = 0))]
    lag_events: i64,
    /// How long the log has had the first of these; `null` without one.
    lag_seconds: Option<i64>,
    /// When the receiver last took records.
    #[schemars(with = "Option<Time>")]
    last_success_at: Option<String>,
    /// The last attempt, if it failed.
    last_error: Option<DestinationErrorBody>,
    /// When the next attempt may begin, after one that failed.
    #[schemars(with = "Option<Time>")]
    next_attempt_at: Option<String>,
    /// The number of events that the receiver refused.
    #[schemars(range(min = 0))]
    set_aside: i64,
    /// Whether credentials were replaced, and no records were taken with the new ones yet.
    previous_credentials_in_use: bool,
    /// The replay that runs.
    replay: Option<ReplayBody>,
    /// The secret that signs requests, if this request has made it. No other response shows it.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String", regex(pattern = r"^whsec_[0-9A-Za-z+/]{43}=$"))]
    signing_secret: Option<String>,
}

/// An attempt to send that failed.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "DestinationFailure")]
struct DestinationErrorBody {
    #[schemars(with = "Time")]
    at: String,
    /// The HTTP status of the response; `null` without one.
    status: Option<i64>,
    /// What was sent, without secrets.
    request: String,
    /// The beginning of the response, or why there is none.
    response: String,
}

/// A second run over events of the past.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "DestinationReplay")]
pub(super) struct ReplayBody {
    /// Its records have it as `stream.run`.
    #[schemars(range(min = 1))]
    number: i64,
    /// The number of the last record that was delivered; 0 at first.
    #[schemars(range(min = 0))]
    position: i64,
    /// The position in the log of the next event.
    #[schemars(range(min = 0))]
    cursor_seq: i64,
    /// The position in the log after the last event.
    #[schemars(range(min = 0))]
    end_seq: i64,
    #[schemars(with = "Word<DestinationState>")]
    state: &'static str,
}

#[derive(Serialize, JsonSchema)]
#[schemars(rename = "DestinationResult")]
pub(super) struct OneDestinationBody {
    destination: DestinationBody,
}

#[derive(Serialize, JsonSchema)]
#[schemars(rename = "DestinationList")]
pub(super) struct DestinationsBody {
    destinations: Vec<DestinationBody>,
}

impl From<DestinationError> for DestinationErrorBody {
    fn from(error: DestinationError) -> Self {
        Self {
            at: error.at.to_string(),
            status: error.status,
            request: error.request,
            response: error.response,
        }
    }
}

impl From<ReplayProgress> for ReplayBody {
    fn from(replay: ReplayProgress) -> Self {
        Self {
            number: replay.number,
            position: replay.position,
            cursor_seq: replay.cursor_seq,
            end_seq: replay.end_seq,
            state: replay.state.as_str(),
        }
    }
}

impl From<DestinationReport> for DestinationBody {
    fn from(report: DestinationReport) -> Self {
        let DestinationReport {
            destination,
            progress,
        } = report;
        Self {
            id: destination.id,
            name: destination.name,
            kind: destination.kind.as_str(),
            environment: destination.environment.as_str(),
            format: destination.format.as_str(),
            include_raw: destination.include_raw,
            ocsf_classes: destination.ocsf_classes.to_json(),
            filter: destination.filter.to_json(),
            settings: destination.settings,
            credentials: destination.credentials,
            paused: destination.paused,
            state: progress.state.as_str(),
            created_at: destination.created_at.to_string(),
            created_by_tenant: destination.created_by_tenant,
            position: progress.position,
            cursor_seq: progress.cursor_seq,
            lag_events: progress.lag_events,
            lag_seconds: progress.lag_seconds,
            last_success_at: progress.last_success_at.map(|at| at.to_string()),
            last_error: progress.last_error.map(DestinationErrorBody::from),
            next_attempt_at: progress.next_attempt_at.map(|at| at.to_string()),
            set_aside: progress.set_aside,
            previous_credentials_in_use: destination.has_previous_credentials,
            replay: progress.replay.map(ReplayBody::from),
            signing_secret: destination.signing_secret.as_ref().map(WebhookSecret::to_text),
        }
    }
}

impl From<DestinationReport> for OneDestinationBody {
    fn from(report: DestinationReport) -> Self {
        Self {
            destination: report.into(),
        }
    }
}

fn read_filter(fields: &mut Fields<'_>) -> Option<DestinationFilter> {
    let members = fields.optional_object("filter")?;
    let mut conditions = fields.nested("filter", members);
    let filter = DestinationFilter::read(&mut conditions);
    conditions.refuse_the_rest();
    filter
}

fn read_object(fields: &mut Fields<'_>, name: &str) -> Option<Value> {
    fields
        .optional_object(name)
        .map(|members| Value::Object(json::to_map(members)))
}

impl Fielded for NewDestinationInput {
    type Read = NewDestination;

    fn read(fields: &mut Fields<'_>) -> Option<NewDestination> {
        let name = fields.required_parsed::<Name>("name");
        let kind = fields.required_parsed("kind");
        let format = fields.optional_parsed("format").unwrap_or(RecordFormat::Json);
        let include_raw = fields.optional_bool("include_raw").unwrap_or(false);
        let ocsf_classes = OcsfClasses::read(fields, "ocsf_classes").unwrap_or_default();
        let filter = read_filter(fields).unwrap_or_default();
        let settings = fields.required_object("settings").map(json::to_map);
        let credentials = read_object(fields, "credentials").unwrap_or(Value::Null);
        let paused = fields.optional_bool("paused").unwrap_or(false);
        let environment = fields.optional_parsed("environment");
        Some(NewDestination {
            environment,
            name: name?,
            kind: kind?,
            format,
            include_raw,
            ocsf_classes,
            filter,
            settings: Value::Object(settings?),
            credentials,
            paused,
        })
    }
}

impl Fielded for DestinationChangeInput {
    type Read = DestinationChange;

    fn read(fields: &mut Fields<'_>) -> Option<DestinationChange> {
        Some(DestinationChange {
            name: fields.optional_parsed("name"),
            format: fields.optional_parsed("format"),
            include_raw: fields.optional_bool("include_raw"),
            ocsf_classes: OcsfClasses::read(fields, "ocsf_classes"),
            filter: read_filter(fields),
            settings: read_object(fields, "settings"),
            credentials: read_object(fields, "credentials"),
            paused: fields.optional_bool("paused"),
        })
    }
}

pub(super) fn id_in(path: &str) -> Result<DestinationId, AppError> {
    path.parse().map_err(|_| AppError::NotFound("destination"))
}

/// Lists the destinations of the project for one environment, or those of the tenant.
pub(super) async fn list(
    caller: Caller<DestinationOwners>,
    parameters: ProjectParameters,
) -> Result<Reply<DestinationsBody>, ApiError> {
    let selection = parameters.read()?;
    let found = caller.read(move |service, owner| service.destinations(&owner, selection));
    Ok(Reply::ok(DestinationsBody {
        destinations: found.await?.into_iter().map(DestinationBody::from).collect(),
    }))
}

/// One destination.
pub(super) async fn get(
    caller: Caller<DestinationOwners>,
    parameters: ProjectParameters,
    id: web::Path<String>,
) -> Result<Reply<OneDestinationBody>, ApiError> {
    let selection = parameters.read()?;
    let id = id_in(&id)?;
    let found = caller.read(move |service, owner| service.destination(&owner, selection, id));
    Ok(Reply::ok(found.await?.into()))
}

/// Creates a destination.
pub(super) async fn create(
    caller: Caller<DestinationOwners>,
    parameters: ProjectParameters,
    body: JsonBody<NewDestinationInput>,
) -> Result<Reply<OneDestinationBody, Created>, ApiError> {
    let selection = parameters.read()?;
    let new = body.read(caller.room()).await?;
    let made = caller.run(move |service, owner| service.create_destination(&owner, selection, new));
    Ok(Reply::created(made.await?.into()))
}

/// Changes a destination.
pub(super) async fn change(
    caller: Caller<DestinationOwners>,
    parameters: ProjectParameters,
    id: web::Path<String>,
    body: JsonBody<DestinationChangeInput>,
) -> Result<Reply<OneDestinationBody>, ApiError> {
    let selection = parameters.read()?;
    let change = body.read(caller.room()).await?;
    let id = id_in(&id)?;
    let changed = caller.run(move |service, owner| service.change_destination(&owner, selection, id, change));
    Ok(Reply::ok(changed.await?.into()))
}

/// Deletes a destination.
pub(super) async fn delete(
    caller: Caller<DestinationOwners>,
    parameters: ProjectParameters,
    id: web::Path<String>,
) -> Result<Reply<Deleted>, ApiError> {
    let selection = parameters.read()?;
    let id = id_in(&id)?;
    let deleted = caller.run(move |service, owner| service.delete_destination(&owner, selection, id));
    deleted.await?;
    Ok(Reply::deleted())
}

/// The documentation of the endpoints, by the names of their handlers.
pub(super) mod about;
