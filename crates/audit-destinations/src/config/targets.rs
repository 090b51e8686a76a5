//! The configurations of destinations over HTTP.

use super::headers::Headers;
use super::parts::{Parts, secret, url, url_with_path, word};
use super::{Described, Secret};
use audit_domain::{Fields, Violations};
use audit_webhooks::{AddressPolicy, WebhookSecret, WebhookUrl};
use rusty_s3::{Bucket, UrlStyle};
use serde_json::{Value, json};
use url::Url;

/// The longest names, in characters.
const NAME_CHARS_MAX: usize = 200;
/// The longest tags, in characters. Each record repeats them.
const TAGS_CHARS_MAX: usize = 400;
/// The longest names that Splunk gives to an index, in characters. Each record repeats them.
const INDEX_CHARS_MAX: usize = 80;

audit_domain::words! {
    /// How the records of a batch become one body.
    pub enum Framing {
        /// A JSON array.
        Array = "array",
        /// One record a line, each with a line break after it.
        Lines = "lines",
    }
}

/// A `POST` to any receiver.
#[derive(Clone)]
pub(crate) struct Https {
    pub(crate) url: WebhookUrl,
    pub(crate) framing: Framing,
    pub(crate) headers: Headers,
    pub(crate) signing_secret: WebhookSecret,
    pub(crate) secret_headers: Headers,
}

impl Https {
    pub(super) fn read(parts: &Parts<'_>) -> Result<Self, Violations> {
        let settings = |fields: &mut Fields<'_>, policy| {
            let url = url(fields, policy);
            let framing = fields.optional_parsed("framing").unwrap_or(Framing::Array);
            let headers = Headers::read(fields);
            Some((url?, framing, headers?))
        };
        let credentials = |fields: &mut Fields<'_>| {
            let text = fields
                .required_text("signing_secret", 1, NAME_CHARS_MAX)
                .map(Secret::new);
            let signing_secret = text.and_then(|text| match WebhookSecret::parse(text.as_str()) {
                Ok(secret) => Some(secret),
                Err(error) => fields.violate("signing_secret", error),
            });
            let headers = Headers::read(fields);
            Some((signing_secret?, headers?))
        };
        let ((url, framing, headers), (signing_secret, secret_headers)) =
            parts.read(settings, credentials)?;
        headers.check_beside(&secret_headers)?;
        Ok(Self {
            url,
            framing,
            headers,
            signing_secret,
            secret_headers,
        })
    }
}

impl Described for Https {
    fn settings(&self) -> Value {
        json!({
            "url": self.url.as_str(),
            "framing": self.framing.as_str(),
            "headers": self.headers.to_json(),
        })
    }

    fn credentials(&self) -> Vec<(&'static str, Value)> {
        let mut credentials = vec![("signing_secret", self.signing_secret.to_text().into())];
        credentials.extend(self.secret_headers.credential());
        credentials
    }

    fn host(&self) -> &str {
        self.url.host()
    }
}

/// Objects in a bucket.
#[derive(Clone)]
pub(crate) struct S3 {
    url: String,
    pub(crate) bucket: Bucket,
    /// Before the names of objects: empty, or it ends in a slash.
    pub(crate) prefix: String,
    pub(crate) compress: bool,
    pub(crate) access_key: Secret,
    pub(crate) secret_key: Secret,
}

impl S3 {
    pub(super) fn read(parts: &Parts<'_>) -> Result<Self, Violations> {
        let settings = |fields: &mut Fields<'_>, policy| {
            let region = match fields.has("region") {
                true => word(fields, "region", NAME_CHARS_MAX),
                false => fields.violate("region", "Required"),
            };
            let compress = fields.optional_bool("compress").unwrap_or(true);
            let text = fields.required_text("url", 1, WebhookUrl::CHARS_MAX)?;
            let bucket = match bucket(&text, region.clone().unwrap_or_default(), policy) {
                Ok(bucket) => Some(bucket),
                Err(message) => fields.violate("url", message),
            };
            region
                .and(bucket)
                .map(|(bucket, prefix)| (text, bucket, prefix, compress))
        };
        let credentials = |fields: &mut Fields<'_>| {
            let access_key = secret(fields, "access_key");
            let secret_key = secret(fields, "secret_key");
            Some((access_key?, secret_key?))
        };
        let ((url, bucket, prefix, compress), (access_key, secret_key)) =
            parts.read(settings, credentials)?;
        Ok(Self {
            url,
            bucket,
            prefix,
            compress,
            access_key,
            secret_key,
        })
    }
}

/// The bucket of a URL, path style, and the prefix of names. `http` is for stores in the operator's own network.
fn bucket(text: &str, region: String, policy: AddressPolicy) -> Result<(Bucket, String), String> {
    // The rules of webhooks are those of everything behind the scheme.
    let checked = match text.strip_prefix("http://") {
        Some(rest) if policy == AddressPolicy::AllowPrivate => format!("https://{rest}"),
        _ => text.to_owned(),
    };
    let checked = WebhookUrl::parse(&checked, policy).map_err(|error| error.to_string())?;
    if checked.uri().query().is_some() {
        return Err("must not contain a query (?…)".into());
    }
    let mut url = Url::parse(text).map_err(|_| "must be a valid URL")?;
    let path = url.path().trim_matches('/').to_owned();
    let (name, prefix) = path.split_once('/').unwrap_or((&path, ""));
    if name.is_empty() {
        return Err(
            "must end in the name of the bucket, such as https://s3.eu-central-1.amazonaws.com/bucket".into(),
        );
    }
    // Others would have to be encoded, once for the URL and once for the signature.
    if !path
        .chars()
        .all(|c| c.is_ascii_alphanumeric() || "-._=/".contains(c))
    {
        return Err(
            "must have a path of letters, digits, hyphens, dots, underscores and equals signs".into(),
        );
    }
    url.set_path("");
    let bucket = Bucket::new(url, UrlStyle::Path, name.to_owned(), region);
    let prefix = match prefix {
        "" => String::new(),
        prefix => format!("{prefix}/"),
    };
    Ok((bucket.map_err(|_| "must be the URL of a bucket")?, prefix))
}

impl Described for S3 {
    fn settings(&self) -> Value {
        json!({"url": self.url, "region": self.bucket.region(), "compress": self.compress})
    }

    fn credentials(&self) -> Vec<(&'static str, Value)> {
        vec![
            ("access_key", self.access_key.as_str().into()),
            ("secret_key", self.secret_key.as_str().into()),
        ]
    }

    fn host(&self) -> &str {
        self.bucket.base_url().host_str().unwrap_or_default()
    }
}

/// Splunk's HTTP Event Collector.
#[derive(Clone)]
pub(crate) struct SplunkHec {
    pub(crate) url: WebhookUrl,
    pub(crate) index: Option<String>,
    pub(crate) source: Option<String>,
    pub(crate) sourcetype: String,
    pub(crate) token: Secret,
}

impl SplunkHec {
    pub(super) fn read(parts: &Parts<'_>) -> Result<Self, Violations> {
        let settings = |fields: &mut Fields<'_>, policy| {
            let url = url_with_path(fields, "/services/collector/event", policy);
            let index = word(fields, "index", INDEX_CHARS_MAX);
            let source = word(fields, "source", INDEX_CHARS_MAX);
            let sourcetype = word(fields, "sourcetype", INDEX_CHARS_MAX);
            Some((
                url?,
                index,
                source,
                sourcetype.unwrap_or_else(|| "audit-log".into()),
            ))
        };
        let ((url, index, source, sourcetype), token) =
            parts.read(settings, |fields| secret(fields, "token"))?;
        Ok(Self {
            url,
            index,
            source,
            sourcetype,
            token,
        })
    }
}

impl Described for SplunkHec {
    fn settings(&self) -> Value {
        json!({
            "url": self.url.as_str(),
            "index": self.index,
            "source": self.source,
            "sourcetype": self.sourcetype,
        })
    }

    fn credentials(&self) -> Vec<(&'static str, Value)> {
        vec![("token", self.token.as_str().into())]
    }

    fn host(&self) -> &str {
        self.url.host()
    }
}

/// Datadog's intake of logs.
#[derive(Clone)]
pub(crate) struct Datadog {
    site: Option<String>,
    pub(crate) url: WebhookUrl,
    pub(crate) service: String,
    pub(crate) tags: Option<String>,
    pub(crate) api_key: Secret,
}

impl Datadog {
    const PATH: &'static str = "/api/v2/logs";

    pub(super) fn read(parts: &Parts<'_>) -> Result<Self, Violations> {
        let settings = |fields: &mut Fields<'_>, policy| {
            let service = word(fields, "service", NAME_CHARS_MAX);
            let tags = word(fields, "tags", TAGS_CHARS_MAX);
            let target = match (fields.has("site"), fields.has("url")) {
                (true, true) => fields.violate("url", "must not be set together with site"),
                (false, true) => url_with_path(fields, Self::PATH, policy).map(|url| (None, url)),
                _ => site(fields, policy).map(|(site, url)| (Some(site), url)),
            };
            Some((target?, service.unwrap_or_else(|| "audit-log".into()), tags))
        };
        let (((site, url), service, tags), api_key) =
            parts.read(settings, |fields| secret(fields, "api_key"))?;
        Ok(Self {
            site,
            url,
            service,
            tags,
            api_key,
        })
    }
}

/// One of Datadog's sites, such as `datadoghq.eu`, and the URL of its intake.
fn site(fields: &mut Fields<'_>, policy: AddressPolicy) -> Option<(String, WebhookUrl)> {
    let site = fields.required_text("site", 1, NAME_CHARS_MAX)?;
    let host = format!("http-intake.logs.{site}");
    match WebhookUrl::parse(&format!("https://{host}{}", Datadog::PATH), policy) {
        Ok(url) if url.host() == host => Some((site, url)),
        _ => fields.violate(
            "site",
            "must be a site such as datadoghq.com, datadoghq.eu or us5.datadoghq.com",
        ),
    }
}

impl Described for Datadog {
    fn settings(&self) -> Value {
        match &self.site {
            Some(site) => json!({"site": site, "service": self.service, "tags": self.tags}),
            None => json!({"url": self.url.as_str(), "service": self.service, "tags": self.tags}),
        }
    }

    fn credentials(&self) -> Vec<(&'static str, Value)> {
        vec![("api_key", self.api_key.as_str().into())]
    }

    fn host(&self) -> &str {
        self.url.host()
    }
}

/// A receiver of OpenTelemetry logs.
#[derive(Clone)]
pub(crate) struct Otlp {
    pub(crate) url: WebhookUrl,
    pub(crate) headers: Headers,
    pub(crate) secret_headers: Headers,
}

impl Otlp {
    pub(super) fn read(parts: &Parts<'_>) -> Result<Self, Violations> {
        let settings = |fields: &mut Fields<'_>, policy| {
            let url = url_with_path(fields, "/v1/logs", policy);
            let headers = Headers::read(fields);
            Some((url?, headers?))
        };
        let ((url, headers), secret_headers) = parts.read(settings, Headers::read)?;
        headers.check_beside(&secret_headers)?;
        Ok(Self {
            url,
            headers,
            secret_headers,
        })
    }
}

impl Described for Otlp {
    fn settings(&self) -> Value {
        json!({"url": self.url.as_str(), "headers": self.headers.to_json()})
    }

    fn credentials(&self) -> Vec<(&'static str, Value)> {
        self.secret_headers.credential().into_iter().collect()
    }

    fn host(&self) -> &str {
        self.url.host()
    }
}
