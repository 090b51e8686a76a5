//! `/api/v1/erasures`. No response repeats an identifier.

pub(super) mod about;
mod bodies;

use crate::caller::Caller;
use crate::error::ApiError;
use crate::input::{Fielded, JsonBody, Parameters, ProjectParameters};
use crate::parameters::{LIMIT_DEFAULT, WholeNumber, read_limit, read_numbers, take};
use crate::reply::{Accepted, Created, Reply};
use crate::schema::{ContentHashText, Text, Word, absent_not_null};
use actix_web::web;
use audit_app::{
    AppError, EXCLUDED_MAX, ErasureId, IDENTIFIER_CHARS_MAX, Identifiers, NewErasure, TEXT_CHARS_MIN,
};
use audit_auth::Master;
use audit_domain::{Basis, Extent, Fields, PageLimit, Sha256Digest};
use bodies::{ErasureEventsBody, ErasuresBody, OneErasureBody};
use schemars::JsonSchema;
use std::collections::BTreeSet;

/// The longest ticket, in characters.
const TICKET_CHARS_MAX: usize = 64;

/// A request to erase a person.
#[derive(JsonSchema)]
#[schemars(rename = "ErasureInput", transform = absent_not_null)]
#[expect(dead_code, reason = "describes what is read")]
pub(super) struct NewErasureInput {
    identifiers: IdentifiersInput,
    /// `person` erases what names the person, `all` everything that can be erased of the events, `row` the events as a whole. An event
    /// whose tenant is one of the ids is always erased as a whole.
    #[schemars(extend("default" = Extent::Person.as_str()))]
    extent: Option<Word<Extent>>,
    basis: Word<Basis>,
    /// The number of the request in another system. It is part of the log, so it must not name the person.
    #[schemars(length(min = 1, max = TICKET_CHARS_MAX), regex(pattern = "^[A-Za-z0-9._#/-]+$"))]
    ticket: Option<String>,
}

/// What identifies the person: one id or text at least, and 50 together at most. They are kept in memory while the log is read, and stored
/// nowhere.
#[derive(JsonSchema)]
#[schemars(rename = "ErasureIdentifiers", transform = absent_not_null)]
#[expect(dead_code, reason = "describes what is read")]
struct IdentifiersInput {
    /// Values that are found as a whole, such as the id of an actor. Case matters.
    ids: Option<Vec<Text<1, IDENTIFIER_CHARS_MAX>>>,
    /// Addresses, names and numbers that are also found within longer texts, in any case. With a letter or digit, and without white space
    /// at either end.
    texts: Option<Vec<Text<TEXT_CHARS_MIN, IDENTIFIER_CHARS_MAX>>>,
}

fn read_ticket(fields: &mut Fields<'_>) -> Option<String> {
    let ticket = fields.optional_text("ticket", 1, TICKET_CHARS_MAX)?;
    let is_allowed = |byte: u8| byte.is_ascii_alphanumeric() || b"._#/-".contains(&byte);
    match ticket.bytes().all(is_allowed) {
        true => Some(ticket),
        false => fields.violate(
            "ticket",
            "must have characters out of a-z, A-Z, 0-9, dot, underscore, #, / and hyphen: it is part of the log and must not name the \
             person",
        ),
    }
}

impl Fielded for NewErasureInput {
    type Read = NewErasure;

    fn read(fields: &mut Fields<'_>) -> Option<NewErasure> {
        let identifiers = Identifiers::read(fields);
        let extent = fields.optional_parsed("extent").unwrap_or(Extent::Person);
        let basis = fields.required_parsed("basis");
        let ticket = read_ticket(fields);
        Some(NewErasure {
            identifiers: identifiers?,
            extent,
            basis: basis?,
            ticket,
        })
    }
}

/// Which page of the list.
#[derive(JsonSchema)]
#[schemars(transform = absent_not_null)]
#[expect(dead_code, reason = "describes what is read")]
pub(super) struct ErasureEventsQuery {
    /// From an earlier response to the same query.
    #[schemars(example = &"812")]
    cursor: Option<String>,
    /// Events of a page.
    #[schemars(range(min = 1, max = PageLimit::EVENTS_MAX), extend("default" = LIMIT_DEFAULT), example = 50)]
    limit: Option<u32>,
}

impl Fielded for ErasureEventsQuery {
    type Read = (Option<u64>, PageLimit);

    fn read(fields: &mut Fields<'_>) -> Option<Self::Read> {
        let cursor = fields.optional_parsed::<WholeNumber>("cursor");
        let limit = read_limit(fields, PageLimit::EVENTS_MAX)?;
        // No event is behind the last position that the log can have.
        let after = cursor.map(|WholeNumber(seq)| (seq as u64).min(i64::MAX.cast_unsigned()));
        Some((after, take(fields, PageLimit::new(limit))?))
    }
}

/// Events that an erasure leaves as they are.
#[derive(JsonSchema)]
#[schemars(rename = "ErasureExclusion")]
#[expect(dead_code, reason = "describes what is read")]
pub(super) struct ExcludeInput {
    /// Their positions in the log.
    #[schemars(length(min = 1, max = EXCLUDED_MAX), inner(range(min = 0)))]
    seqs: Vec<i64>,
}

impl Fielded for ExcludeInput {
    /// Ascending.
    type Read = Vec<u64>;

    fn read(fields: &mut Fields<'_>) -> Option<Vec<u64>> {
        if !fields.has("seqs") {
            fields.take_null("seqs");
            return fields.violate("seqs", "Required");
        }
        let seqs = read_numbers(fields, "seqs", 0, EXCLUDED_MAX)?;
        let seqs: BTreeSet<u64> = seqs.into_iter().map(i64::cast_unsigned).collect();
        Some(seqs.into_iter().collect())
    }
}

/// Exactly the list that was seen.
#[derive(JsonSchema)]
#[schemars(rename = "ErasureConfirmation")]
#[expect(dead_code, reason = "describes what is read")]
pub(super) struct ConfirmInput {
    /// The `digest` of the erasure.
    digest: ContentHashText,
}

impl Fielded for ConfirmInput {
    type Read = String;

    fn read(fields: &mut Fields<'_>) -> Option<String> {
        let digest = fields.required_parsed::<Sha256Digest>("digest");
        digest.map(|digest| digest.to_string())
    }
}

fn id_in(path: &str) -> Result<ErasureId, AppError> {
    path.parse().map_err(|_| AppError::NotFound("erasure"))
}

/// Requests an erasure.
pub(super) async fn request(
    caller: Caller<Master>,
    parameters: ProjectParameters,
    body: JsonBody<NewErasureInput>,
) -> Result<Reply<OneErasureBody, Created>, ApiError> {
    let selection = parameters.read()?;
    let new = body.read(caller.room()).await?;
    let erasure = caller
        .run(move |service, master| service.request_erasure(&master, selection, new))
        .await?;
    Ok(Reply::created(erasure.into()))
}

/// Lists erasures.
pub(super) async fn list(
    caller: Caller<Master>,
    parameters: ProjectParameters,
) -> Result<Reply<ErasuresBody>, ApiError> {
    let selection = parameters.read()?;
    let found = caller.read(move |service, master| service.erasures(&master, selection));
    Ok(Reply::ok(found.await?.into()))
}

/// One erasure.
pub(super) async fn get(
    caller: Caller<Master>,
    parameters: ProjectParameters,
    id: web::Path<String>,
) -> Result<Reply<OneErasureBody>, ApiError> {
    let selection = parameters.read()?;
    let id = id_in(&id)?;
    let found = caller.read(move |service, master| service.erasure(&master, selection, id));
    Ok(Reply::ok(found.await?.into()))
}

/// One page of the events of an erasure.
pub(super) async fn events(
    caller: Caller<Master>,
    parameters: Parameters<ErasureEventsQuery>,
    id: web::Path<String>,
) -> Result<Reply<ErasureEventsBody>, ApiError> {
    let (selection, (after, limit)) = parameters.read()?;
    let id = id_in(&id)?;
    let page =
        caller.read(move |service, master| service.erasure_events(&master, selection, id, after, limit));
    Ok(Reply::ok(page.await?.into()))
}

/// Takes events off the list.
pub(super) async fn exclude(
    caller: Caller<Master>,
    parameters: ProjectParameters,
    id: web::Path<String>,
    body: JsonBody<ExcludeInput>,
) -> Result<Reply<OneErasureBody>, ApiError> {
    let selection = parameters.read()?;
    let seqs = body.read(caller.room()).await?;
    let id = id_in(&id)?;
    let erasure = caller
        .run(move |service, master| service.exclude_from_erasure(&master, selection, id, &seqs))
        .await?;
    Ok(Reply::ok(erasure.into()))
}

/// Confirms the list.
pub(super) async fn confirm(
    caller: Caller<Master>,
    parameters: ProjectParameters,
    id: web::Path<String>,
    body: JsonBody<ConfirmInput>,
) -> Result<Reply<OneErasureBody, Accepted>, ApiError> {
    let selection = parameters.read()?;
    let digest = body.read(caller.room()).await?;
    let id = id_in(&id)?;
    let erasure = caller
        .run(move |service, master| service.confirm_erasure(&master, selection, id, &digest))
        .await?;
    Ok(Reply::accepted(erasure.into()))
}

/// Cancels an erasure.
pub(super) async fn cancel(
    caller: Caller<Master>,
    parameters: ProjectParameters,
    id: web::Path<String>,
) -> Result<Reply<OneErasureBody>, ApiError> {
    let selection = parameters.read()?;
    let id = id_in(&id)?;
    let erasure = caller
        .run(move |service, master| service.cancel_erasure(&master, selection, id))
        .await?;
    Ok(Reply::ok(erasure.into()))
}
