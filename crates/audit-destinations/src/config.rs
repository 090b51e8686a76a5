//! The configuration of a destination: where it is, and what proves to it who sends.

mod headers;
mod parts;
mod secret;
mod syslog;
mod targets;

use crate::Kind;
use audit_domain::Violations;
use audit_webhooks::AddressPolicy;
use parts::Parts;
pub(crate) use secret::Secret;
use serde_json::{Map, Value, json};
use std::cmp::Reverse;
use std::fmt;
pub(crate) use syslog::Syslog;
pub(crate) use targets::{Datadog, Framing, Https, Otlp, S3, SplunkHec};
use url::form_urlencoded;

/// Shorter words of a credential and shorter parts of a URL are no secrets, such as the name of a scheme.
const WORD_BYTES_MIN: usize = 8;
/// The shortest secret that is replaced as a whole.
const SECRET_BYTES_MIN: usize = 4;

/// Settings and credentials of a destination. `Debug` shows the kind and the host only, and the memory of credentials is zeroed
/// when they are dropped. [`Self::to_stored`] has the credentials in plain text: seal it before it is stored.
#[derive(Clone)]
pub struct Config {
    pub(crate) target: Target,
    /// Whether only public addresses are reached, also where the sender allows private ones.
    pub(crate) is_public: bool,
}

/// The configuration by kind.
#[derive(Clone)]
pub(crate) enum Target {
    Https(Https),
    S3(S3),
    SplunkHec(SplunkHec),
    Datadog(Datadog),
    Otlp(Otlp),
    Syslog(Syslog),
}

/// What every kind of destination tells of itself.
pub(crate) trait Described {
    /// The settings, with their defaults.
    fn settings(&self) -> Value;
    /// The credentials that are set.
    fn credentials(&self) -> Vec<(&'static str, Value)>;
    /// The host that is connected to.
    fn host(&self) -> &str;
}

/// The text is not what [`Config::to_stored`] writes.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the stored configuration of a destination is damaged")]
pub struct StoredConfigError;

impl Config {
    /// Reads the configuration of a destination of `kind`. `null` stands for an empty object.
    ///
    /// An `https` destination needs `credentials.signing_secret`: the caller makes one where the user gave none.
    ///
    /// # Errors
    /// Every member that is missing, unknown or not as it must be: `settings.url`, `credentials.token`.
    pub fn parse(
        kind: Kind,
        settings: &Value,
        credentials: &Value,
        policy: AddressPolicy,
    ) -> Result<Self, Violations> {
        let parts = Parts {
            settings,
            credentials,
            policy,
        };
        let target = match kind {
            Kind::Https => Target::Https(Https::read(&parts)?),
            Kind::S3 => Target::S3(S3::read(&parts)?),
            Kind::SplunkHec => Target::SplunkHec(SplunkHec::read(&parts)?),
            Kind::Datadog => Target::Datadog(Datadog::read(&parts)?),
            Kind::Otlp => Target::Otlp(Otlp::read(&parts)?),
            Kind::Syslog => Target::Syslog(Syslog::read(&parts)?),
        };
        Ok(Self {
            target,
            is_public: false,
        })
    }

    /// The kind of destination.
    pub fn kind(&self) -> Kind {
        match &self.target {
            Target::Https(_) => Kind::Https,
            Target::S3(_) => Kind::S3,
            Target::SplunkHec(_) => Kind::SplunkHec,
            Target::Datadog(_) => Kind::Datadog,
            Target::Otlp(_) => Kind::Otlp,
            Target::Syslog(_) => Kind::Syslog,
        }
    }

    /// The text for [`Self::from_stored`], with the credentials.
    pub fn to_stored(&self) -> String {
        let stored = json!({
            "kind": self.kind().as_str(),
            "settings": self.settings(),
            "credentials": self.credentials(),
        });
        stored.to_string()
    }

    /// Reads what [`Self::to_stored`] wrote. Addresses are not checked again here: the sender checks them at each attempt.
    ///
    /// # Errors
    /// [`StoredConfigError`] for every other text.
    pub fn from_stored(text: &str) -> Result<Self, StoredConfigError> {
        let stored: Value = serde_json::from_str(text).map_err(|_| StoredConfigError)?;
        let kind = stored["kind"].as_str().and_then(|kind| kind.parse().ok());
        Self::parse(
            kind.ok_or(StoredConfigError)?,
            &stored["settings"],
            &stored["credentials"],
            AddressPolicy::AllowPrivate,
        )
        .map_err(|_| StoredConfigError)
    }

    /// The same, for a sender to reach public addresses alone, whatever else its policy allows.
    #[must_use]
    pub fn on_public_addresses(self) -> Self {
        Self {
            is_public: true,
            ..self
        }
    }

    /// Whether only public addresses are reached: see [`Self::on_public_addresses`].
    pub fn is_on_public_addresses(&self) -> bool {
        self.is_public
    }

    /// The settings, with their defaults. No credential is among them.
    pub fn settings(&self) -> Value {
        self.described().settings()
    }

    /// The names of the credentials that are set.
    pub fn credential_names(&self) -> Vec<&'static str> {
        let credentials = self.described().credentials().into_iter();
        credentials.map(|(name, _)| name).collect()
    }

    /// The host that is connected to: a name or an address.
    pub fn host(&self) -> String {
        self.described().host().to_owned()
    }

    /// `text` with a placeholder for each credential, for each long word of one (`Bearer …`), and for each long part of the URL: a
    /// receiver may repeat in its response what it was sent.
    pub(crate) fn without_secrets(&self, text: &str) -> String {
        let mut secrets = self.url_parts();
        for (_, value) in self.described().credentials() {
            let texts = match &value {
                Value::Object(headers) => headers.values().filter_map(Value::as_str).collect(),
                value => Vec::from_iter(value.as_str()),
            };
            for text in texts {
                let words = text
                    .split_whitespace()
                    .filter(|word| word.len() >= WORD_BYTES_MIN);
                // A response has short texts by chance.
                let whole = (text.len() >= SECRET_BYTES_MIN).then_some(text);
                secrets.extend(whole.into_iter().chain(words).map(str::to_owned));
            }
        }
        // Of a secret that begins with another one, the rest would stay.
        secrets.sort_by_key(|secret| Reverse(secret.len()));
        let redacted = |text: String, secret: &String| text.replace(secret.as_str(), "[REDACTED]");
        secrets.iter().fold(text.to_owned(), redacted)
    }

    /// The long segments of the path and the long values of the query, as they are sent and decoded: receivers put tokens into
    /// them. The URL of a bucket has none, because its path names objects.
    fn url_parts(&self) -> Vec<String> {
        let uri = match &self.target {
            Target::Https(target) => target.url.uri(),
            Target::SplunkHec(target) => target.url.uri(),
            Target::Datadog(target) => target.url.uri(),
            Target::Otlp(target) => target.url.uri(),
            Target::S3(_) | Target::Syslog(_) => return Vec::new(),
        };
        let pairs = uri.query().unwrap_or_default().split('&');
        let values = pairs.map(|pair| pair.split_once('=').map_or(pair, |(_, value)| value));
        let parts = uri.path().split('/').chain(values);
        parts
            // A plus sign is a space in some queries.
            .flat_map(|part| [part.to_owned(), decoded(part), decoded(&part.replace('+', "%2B"))])
            .filter(|part| part.len() >= WORD_BYTES_MIN)
            .collect()
    }

    fn credentials(&self) -> Map<String, Value> {
        let credentials = self.described().credentials().into_iter();
        credentials
            .map(|(name, value)| (name.to_owned(), value))
            .collect()
    }

    fn described(&self) -> &dyn Described {
        match &self.target {
            Target::Https(target) => target,
            Target::S3(target) => target,
            Target::SplunkHec(target) => target,
            Target::Datadog(target) => target,
            Target::Otlp(target) => target,
            Target::Syslog(target) => target,
        }
    }
}

/// A part of a URL as the value of a form.
fn decoded(part: &str) -> String {
    let form = format!("={}", part.replace('&', "%26"));
    form_urlencoded::parse(form.as_bytes())
        .map(|(_, value)| value.into_owned())
        .collect()
}

impl fmt::Debug for Config {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("Config")
            .field("kind", &self.kind().as_str())
            .field("host", &self.host())
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests;
