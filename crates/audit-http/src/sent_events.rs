//! The body of a request that stores events, and the header with the key of a single one.

use crate::about::HeaderParameter;
use crate::body::{Body, Room};
use crate::error::ApiError;
use crate::event_schema::EventsInput;
use crate::input::JsonBody;
use crate::openapi::{Describe, Facts, JSON, LINES};
use actix_web::dev::Payload;
use actix_web::http::header::{HeaderName, HeaderValue};
use actix_web::{FromRequest, HttpMessage, HttpRequest};
use audit_app::{EventsForm, SentEvents};
use audit_domain::Violations;
use audit_domain::limits::ID_CHARS_MAX;
use schemars::json_schema;
use std::convert::Infallible;
use std::future::{Ready, ready};

/// Other names of [`LINES`]. None is registered with IANA.
const LINES_ALIASES: [&str; 2] = ["application/ndjson", "application/jsonl"];

/// The header with the idempotency key of a single event (draft-ietf-httpapi-idempotency-key-header).
const IDEMPOTENCY_KEY: HeaderName = HeaderName::from_static("idempotency-key");

/// The description of that header.
pub(crate) const KEY_PARAMETER: HeaderParameter = HeaderParameter {
    name: "Idempotency-Key",
    description: "The `idempotency_key` of a single event, bare or as a string in quotes. Together with another \
                  `idempotency_key` in the event, and with a batch: 400.",
    schema: |_| json_schema!({"type": "string", "minLength": 1}),
    example: "\"a3f1\"",
    is_required: false,
};

/// The events of a request, which are not read yet.
pub(crate) struct SentEventsBody {
    body: JsonBody<EventsInput>,
    form: EventsForm,
    idempotency_key: Result<Option<String>, Violations>,
}

/// The events of a request.
pub(crate) struct ReceivedEvents {
    body: Body,
    form: EventsForm,
    idempotency_key: Option<String>,
}

impl SentEventsBody {
    /// Reads the body.
    pub(crate) async fn read(mut self, room: Room) -> Result<ReceivedEvents, ApiError> {
        Ok(ReceivedEvents {
            body: self.body.bytes(room).await?,
            form: self.form,
            idempotency_key: self.idempotency_key?,
        })
    }
}

impl ReceivedEvents {
    /// The events as the application reads them.
    pub(crate) fn sent(&self) -> SentEvents<'_> {
        SentEvents::new(&self.body, self.form).with_key(self.idempotency_key.clone())
    }
}

impl FromRequest for SentEventsBody {
    type Error = Infallible;
    type Future = Ready<Result<Self, Infallible>>;

    fn from_request(request: &HttpRequest, payload: &mut Payload) -> Self::Future {
        let content_type = request.content_type();
        let is = |name: &str| content_type.eq_ignore_ascii_case(name);
        let form = match is(LINES) || LINES_ALIASES.into_iter().any(is) {
            true => EventsForm::Lines,
            false => EventsForm::Json,
        };
        let refusal = (form == EventsForm::Json && !is(JSON)).then_some(ApiError::UnsupportedMediaType {
            accepted: "application/json or application/x-ndjson",
        });
        let body = JsonBody::of(request, payload, refusal);
        ready(Ok(Self {
            body,
            form,
            idempotency_key: read_key(request.headers().get_all(IDEMPOTENCY_KEY)),
        }))
    }
}

impl Describe for SentEventsBody {
    fn describe(facts: &mut Facts) {
        JsonBody::<EventsInput>::describe(facts);
        facts.takes_lines = true;
    }
}

/// The key of the header: a string in quotes (RFC 9651, section 3.3.3), or the bare value.
fn read_key<'a>(mut values: impl Iterator<Item = &'a HeaderValue>) -> Result<Option<String>, Violations> {
    let Some(value) = values.next() else {
        return Ok(None);
    };
    let key = match (value.to_str(), values.next()) {
        (_, Some(_)) => Err("must be given once"),
        (Err(_), None) => Err("must be ASCII"),
        (Ok(text), None) => match text.strip_prefix('"') {
            Some(rest) => {
                unquoted(rest).ok_or("must end with a quote, and have \\ before a quote or \\ in it")
            }
            None => Ok(text.to_owned()),
        },
    };
    let refused = |problem: &str| {
        let message = format_args!("the header Idempotency-Key {problem}");
        Violations::one("idempotency_key", message)
    };
    let key = key.map_err(refused)?;
    match (1..=ID_CHARS_MAX).contains(&key.len()) {
        true => Ok(Some(key)),
        false => Err(refused(&format!("must have 1 to {ID_CHARS_MAX} characters"))),
    }
}

/// The text of a quoted string after its first quote.
fn unquoted(quoted: &str) -> Option<String> {
    let mut text = String::with_capacity(quoted.len());
    let mut rest = quoted.chars();
    loop {
        match rest.next()? {
            '"' => return rest.as_str().is_empty().then_some(text),
            '\\' => text.push(rest.next().filter(|escaped| matches!(escaped, '"' | '\\'))?),
            other => text.push(other),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(values: &[&str]) -> Result<Option<String>, Violations> {
        let values: Vec<_> = values
            .iter()
            .map(|value| HeaderValue::from_bytes(value.as_bytes()).unwrap())
            .collect();
        read_key(values.iter())
    }

    #[test]
    fn a_key_is_bare_or_a_string_in_quotes() {
        let longest = "k".repeat(ID_CHARS_MAX);
        for (value, key) in [
            (
                "8e03978e-40d5-43dd-bc93-6894a57f9324",
                "8e03978e-40d5-43dd-bc93-6894a57f9324",
            ),
            (
                r#""8e03978e-40d5-43dd-bc93-6894a57f9324""#,
                "8e03978e-40d5-43dd-bc93-6894a57f9324",
            ),
            (r#""a \"b\" \\ c""#, r#"a "b" \ c"#),
            (r#"a"b\"#, r#"a"b\"#),
            (&longest, &longest),
            (&format!("\"{longest}\""), &longest),
        ] {
            assert_eq!(read(&[value]), Ok(Some(key.to_owned())), "{value}");
        }
        assert_eq!(read(&[]), Ok(None));
    }

    #[test]
    fn what_is_no_key_is_refused() {
        let too_long = "k".repeat(ID_CHARS_MAX + 1);
        for values in [
            &[""][..],
            &["\"\""],
            &["\""],
            &["\"a"],
            &["\"a\"b\""],
            &["\"a\"; x=1"],
            &["\"a\\b\""],
            &["\"a\\"],
            &["é"],
            &["a", "a"],
            &[&too_long],
        ] {
            let violations = read(values).unwrap_err();
            let [violation] = violations.as_slice() else {
                panic!("{values:?}: {violations:?}");
            };
            assert_eq!(violation.field, "idempotency_key", "{values:?}");
            assert!(
                violation.message.starts_with("the header Idempotency-Key "),
                "{values:?}"
            );
        }
    }
}
