//! What the types of a handler say about its endpoint: its arguments say who may call and with what, its result what
//! comes back. The document takes all of this from here, so it cannot say anything else than what is served.

use crate::error::ApiError;
use crate::error_code::ErrorCode;
use crate::openapi::CredentialKind;
use crate::state::HttpState;
use actix_web::{Handler, HttpRequest, HttpResponse, web};
use schemars::{Schema, SchemaGenerator};
use std::collections::BTreeSet;

/// Makes a schema. What it refers to is noted in the generator.
pub(crate) type SchemaOf = fn(&mut SchemaGenerator) -> Schema;

/// Reads an example as the endpoint does.
#[cfg(test)]
pub(crate) type Check = fn(serde_json::Value) -> Result<(), audit_domain::Violations>;

/// What the types of a handler say.
#[derive(Default)]
pub(crate) struct Facts {
    /// Which credentials are taken; none is needed when this is `None`.
    pub(crate) credentials: Option<Vec<CredentialKind>>,
    /// Whether a project and an environment can be chosen.
    pub(crate) takes_project: bool,
    /// The parameters of the query string, as the fields of an object.
    pub(crate) query: Option<Input>,
    pub(crate) body: Option<Input>,
    pub(crate) answer: Option<Answer>,
    /// With what it can be refused.
    pub(crate) codes: BTreeSet<ErrorCode>,
}

/// What a request brings.
pub(crate) struct Input {
    pub(crate) schema: SchemaOf,
    #[cfg(test)]
    pub(crate) check: Check,
}

/// What comes back.
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) schema: SchemaOf,
}

/// A type of a handler's arguments or result that says something about the endpoint.
pub(crate) trait Describe {
    /// Adds what it says.
    fn describe(facts: &mut Facts);
}

/// The arguments of a handler.
pub(crate) trait DescribeAll {
    /// Adds what each of them says.
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

/// What the types of a handler say.
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

/// The words about an endpoint say what stands in its path.
impl Describe for web::Path<String> {
    fn describe(_: &mut Facts) {}
}

/// An answer that is no JSON of this interface; the words about the endpoint say what it is.
impl Describe for HttpResponse {
    fn describe(_: &mut Facts) {}
}

impl<T: Describe> Describe for Result<T, ApiError> {
    fn describe(facts: &mut Facts) {
        T::describe(facts);
    }
}
