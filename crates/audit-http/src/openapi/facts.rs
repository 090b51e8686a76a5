//! The facts about an endpoint that follow from the types of its handler: the arguments declare credentials, parameters
//! and body, the result declares the response. The document takes them from here, so it agrees with the handlers.

use crate::error::ApiError;
use crate::error_code::ErrorCode;
use crate::openapi::CredentialKind;
use crate::state::HttpState;
use actix_web::{Handler, HttpRequest, HttpResponse, web};
use schemars::{Schema, SchemaGenerator};
use std::collections::BTreeSet;

/// Makes a schema. The generator collects the schemas that it refers to.
pub(crate) type SchemaOf = fn(&mut SchemaGenerator) -> Schema;

/// Reads an example as the endpoint does.
#[cfg(test)]
pub(crate) type Check = fn(serde_json::Value) -> Result<(), audit_domain::Violations>;

/// The facts that follow from the types of a handler.
#[derive(Default)]
pub(crate) struct Facts {
    /// The accepted credentials; `None` if no credential is needed.
    pub(crate) credentials: Option<Vec<CredentialKind>>,
    /// Whether a project and an environment can be chosen.
    pub(crate) takes_project: bool,
    /// The parameters of the query string, as the fields of an object.
    pub(crate) query: Option<Input>,
    pub(crate) body: Option<Input>,
    /// Whether the items of an array in the body may also come as JSON lines.
    pub(crate) takes_lines: bool,
    pub(crate) response: Option<Response>,
    /// The codes of its errors.
    pub(crate) codes: BTreeSet<ErrorCode>,
}

/// A body or a query string.
pub(crate) struct Input {
    pub(crate) schema: SchemaOf,
    #[cfg(test)]
    pub(crate) check: Check,
}

/// A successful response.
pub(crate) struct Response {
    pub(crate) status: u16,
    pub(crate) schema: SchemaOf,
}

/// A type of a handler's arguments or result, from which facts about the endpoint follow.
pub(crate) trait Describe {
    /// Adds the facts of the type.
    fn describe(facts: &mut Facts);
}

/// The arguments of a handler.
pub(crate) trait DescribeAll {
    /// Adds the facts of each argument.
    fn describe_all(facts: &mut Facts);
}

macro_rules! describe_all {
    ($(($($argument:ident),*);)+) => {
        $(impl<$($argument: Describe),*> DescribeAll for ($($argument,)*) {
            fn describe_all(_facts: &mut Facts) {
                $($argument::describe(_facts);)*
            }
        })+
    };
}

describe_all! {
    ();
    (A);
    (A, B);
    (A, B, C);
    (A, B, C, D);
    (A, B, C, D, E);
}

/// The facts that follow from the types of a handler.
pub(crate) fn facts_of<F, A>(_: F) -> Facts
where
    F: Handler<A>,
    F::Output: Describe,
    A: DescribeAll,
{
    let mut facts = Facts::default();
    A::describe_all(&mut facts);
    F::Output::describe(&mut facts);
    facts
}

impl Describe for HttpRequest {
    fn describe(_: &mut Facts) {}
}

impl Describe for web::Data<HttpState> {
    fn describe(_: &mut Facts) {}
}

/// [`crate::about`] describes the path.
impl Describe for web::Path<String> {
    fn describe(_: &mut Facts) {}
}

/// A response without a JSON schema; [`crate::about`] describes it.
impl Describe for HttpResponse {
    fn describe(_: &mut Facts) {}
}

impl<T: Describe> Describe for Result<T, ApiError> {
    fn describe(facts: &mut Facts) {
        T::describe(facts);
    }
}
