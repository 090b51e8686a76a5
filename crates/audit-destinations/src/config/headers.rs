//! Headers that users add to requests.

use super::Secret;
use audit_domain::{Fields, Violation, Violations};
use serde_json::{Map, Value};
use ureq::http::{HeaderName, HeaderValue};

/// The most headers of one object, and the longest value in characters.
const COUNT_MAX: usize = 20;
const VALUE_CHARS_MAX: usize = 4_096;

/// Headers of one message that the sender decides: they frame it, name its target, or belong to the connection (RFC 9110
/// section 7.6.1).
const RESERVED: [&str; 14] = [
    "connection",
    "content-encoding",
    "content-length",
    "content-type",
    "expect",
    "host",
    "keep-alive",
    "proxy-authenticate",
    "proxy-authorization",
    "proxy-connection",
    "te",
    "trailer",
    "transfer-encoding",
    "upgrade",
];

/// Words in the names of headers that have credentials: `authorization`, `x-api-key`.
const SECRET: [&str; 6] = ["auth", "cookie", "key", "password", "secret", "token"];

/// Additional headers by name, in lower case. Their values are treated as secrets, because tokens are put into them.
#[derive(Clone, Debug, Default)]
pub(crate) struct Headers(Vec<(String, Secret)>);

impl Headers {
    /// The member `headers`: an object of texts.
    pub(super) fn read(fields: &mut Fields<'_>) -> Option<Self> {
        let members = match fields.optional_object("headers") {
            Some(members) if members.len() > COUNT_MAX => {
                return fields.violate("headers", format_args!("must have at most {COUNT_MAX} members"));
            }
            Some(members) => members,
            None => return Some(Self::default()),
        };
        let mut names: Vec<String> = members.iter().map(|(name, _)| name.to_string()).collect();
        names.sort_unstable();
        let mut nested = fields.nested("headers", members);
        let mut headers: Vec<(String, Secret)> = Vec::new();
        for name in names {
            let value = nested.required_text(&name, 1, VALUE_CHARS_MAX);
            let lower = name.to_ascii_lowercase();
            if let Err(message) = check_name(&lower) {
                nested.violate::<()>(&name, message);
            } else if headers.iter().any(|(other, _)| *other == lower) {
                nested.violate::<()>(&name, "must not occur twice");
            } else if let Some(value) = value {
                match HeaderValue::from_str(&value).is_ok_and(|value| value.to_str().is_ok()) {
                    true => headers.push((lower, Secret::new(value))),
                    false => {
                        nested.violate::<()>(&name, "must have only visible ASCII characters and spaces");
                    }
                }
            }
        }
        Some(Self(headers))
    }

    /// That `self`, which is shown, has no header with the name of a credential, and none of `secret`.
    pub(super) fn check_beside(&self, secret: &Self) -> Result<(), Violations> {
        let is_secret = |(name, _): &&(String, Secret)| SECRET.iter().any(|word| name.contains(word));
        let is_twice = |(name, _): &&(String, Secret)| self.0.iter().any(|(other, _)| other == name);
        let shown = self.0.iter().filter(is_secret).map(|(name, _)| {
            Violation::new(
                format!("settings.headers.{name}"),
                "must be in credentials.headers",
            )
        });
        let twice = secret.0.iter().filter(is_twice).map(|(name, _)| {
            Violation::new(
                format!("credentials.headers.{name}"),
                "must not be in settings.headers as well",
            )
        });
        Violations::check(shown.chain(twice).collect())
    }

    /// The credential `headers`, if there is any header.
    pub(super) fn credential(&self) -> Option<(&'static str, Value)> {
        (!self.0.is_empty()).then(|| ("headers", self.to_json()))
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &(String, Secret)> {
        self.0.iter()
    }

    pub(super) fn to_json(&self) -> Value {
        let members = self
            .0
            .iter()
            .map(|(name, value)| (name.clone(), value.as_str().into()));
        Value::Object(members.collect::<Map<_, _>>())
    }
}

fn check_name(lower: &str) -> Result<(), &'static str> {
    if HeaderName::from_bytes(lower.as_bytes()).is_err() {
        return Err("must be the name of a header");
    }
    if RESERVED.contains(&lower) || lower.starts_with("webhook-") {
        return Err("must not be a header that the service sets");
    }
    Ok(())
}
