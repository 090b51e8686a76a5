//! Reads settings and credentials.

use super::Secret;
use audit_domain::{Fields, Violations};
use audit_webhooks::{AddressPolicy, WebhookUrl};
use serde_json::{Map, Value};
use url::Url;

/// The longest credential other than a certificate, in characters.
const SECRET_CHARS_MAX: usize = 4_096;

/// What a configuration is read from.
pub(super) struct Parts<'a> {
    pub(super) settings: &'a Value,
    pub(super) credentials: &'a Value,
    pub(super) policy: AddressPolicy,
}

impl Parts<'_> {
    /// Reads both parts and names everything that is wrong with either.
    pub(super) fn read<S, C>(
        &self,
        settings: impl FnOnce(&mut Fields<'_>, AddressPolicy) -> Option<S>,
        credentials: impl FnOnce(&mut Fields<'_>) -> Option<C>,
    ) -> Result<(S, C), Violations> {
        let settings = part("settings", self.settings, |fields| settings(fields, self.policy));
        let credentials = part("credentials", self.credentials, credentials);
        let mut found = Vec::new();
        let settings = settings.map_err(|violations| found.extend(violations.into_vec()));
        let credentials = credentials.map_err(|violations| found.extend(violations.into_vec()));
        match (settings, credentials) {
            (Ok(settings), Ok(credentials)) => Ok((settings, credentials)),
            _ => Violations::check(found).and_then(|()| Err(Violations::one("", "could not be read"))),
        }
    }
}

fn part<T>(
    name: &str,
    value: &Value,
    read: impl FnOnce(&mut Fields<'_>) -> Option<T>,
) -> Result<T, Violations> {
    let value = match value {
        Value::Null => Value::Object(Map::new()),
        Value::Object(_) => value.clone(),
        _ => return Err(Violations::one(name, "must be an object")),
    };
    Fields::read(value, read).map_err(|found| found.below(name))
}

/// A URL under the rules of webhooks.
pub(super) fn url(fields: &mut Fields<'_>, policy: AddressPolicy) -> Option<WebhookUrl> {
    let text = fields.required_text("url", 1, WebhookUrl::CHARS_MAX)?;
    parsed(fields, &text, policy)
}

/// The same with `path`, where the URL has none.
pub(super) fn url_with_path(
    fields: &mut Fields<'_>,
    path: &str,
    policy: AddressPolicy,
) -> Option<WebhookUrl> {
    let written = url(fields, policy)?;
    if written.uri().path() != "/" {
        return Some(written);
    }
    // It was parsed already.
    let mut with_path = Url::parse(written.as_str()).ok()?;
    with_path.set_path(path);
    parsed(fields, with_path.as_str(), policy)
}

fn parsed(fields: &mut Fields<'_>, text: &str, policy: AddressPolicy) -> Option<WebhookUrl> {
    match WebhookUrl::parse(text, policy) {
        Ok(url) => Some(url),
        Err(error) => fields.violate("url", error),
    }
}

/// A credential that becomes a part of a header: visible ASCII without spaces.
pub(super) fn secret(fields: &mut Fields<'_>, name: &str) -> Option<Secret> {
    let text = Secret::new(fields.required_text(name, 1, SECRET_CHARS_MAX)?);
    match text.as_str().bytes().all(|byte| byte.is_ascii_graphic()) {
        true => Some(text),
        false => fields.violate(name, "must have only visible ASCII characters"),
    }
}

/// A text of visible ASCII characters without spaces and quotes, if there is one.
pub(super) fn word(fields: &mut Fields<'_>, name: &str, chars_max: usize) -> Option<String> {
    let text = fields.optional_text(name, 1, chars_max)?;
    match text.bytes().all(|byte| byte.is_ascii_graphic() && byte != b'"') {
        true => Some(text),
        false => fields.violate(name, "must have only visible ASCII characters other than quotes"),
    }
}
