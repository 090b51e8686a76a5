//! The options of OpenTelemetry.

use anyhow::bail;
use clap::Args;

/// The variables are OpenTelemetry's.
#[derive(Debug, Args)]
pub struct OtlpOptions {
    /// URL of an OpenTelemetry collector that takes OTLP over HTTP in JSON, such as `http://127.0.0.1:4318`; traces and metrics are
    /// sent to /v1/traces and /v1/metrics below it.
    #[arg(
        long,
        value_name = "URL",
        env = "OTEL_EXPORTER_OTLP_ENDPOINT",
        hide_env_values = true
    )]
    otlp_endpoint: Option<String>,
    /// Headers of these requests, such as a credential: NAME=VALUE, separated by commas.
    #[arg(
        long,
        value_name = "LIST",
        env = "OTEL_EXPORTER_OTLP_HEADERS",
        hide_env_values = true
    )]
    otlp_headers: Option<String>,
    /// Name of this service in traces and metrics.
    #[arg(
        long,
        value_name = "NAME",
        env = "OTEL_SERVICE_NAME",
        default_value = "audit-server"
    )]
    otlp_service_name: String,
}

/// Where traces and metrics go.
#[derive(Clone, Debug)]
pub struct Collector {
    pub endpoint: String,
    pub headers: Vec<(String, String)>,
    pub service_name: String,
}

impl OtlpOptions {
    /// The collector, if there is one.
    pub fn collector(&self) -> anyhow::Result<Option<Collector>> {
        let Some(endpoint) = &self.otlp_endpoint else {
            return Ok(None);
        };
        if !endpoint.starts_with("http://") && !endpoint.starts_with("https://") {
            // Not repeated: it may have a credential.
            bail!("--otlp-endpoint: must begin with http:// or https://");
        }
        Ok(Some(Collector {
            endpoint: endpoint.trim_end_matches('/').to_owned(),
            headers: headers(self.otlp_headers.as_deref().unwrap_or_default())?,
            service_name: self.otlp_service_name.clone(),
        }))
    }
}

/// Never repeats a value, which may be a credential.
fn headers(list: &str) -> anyhow::Result<Vec<(String, String)>> {
    let entries = list.split(',').map(str::trim).filter(|entry| !entry.is_empty());
    let mut headers = Vec::new();
    for entry in entries {
        let Some((name, value)) = entry.split_once('=') else {
            bail!("--otlp-headers: must be NAME=VALUE, separated by commas");
        };
        let (name, value) = (name.trim(), value.trim());
        let is_header = ureq::http::HeaderName::try_from(name).is_ok()
            && ureq::http::HeaderValue::try_from(value).is_ok();
        if !is_header {
            bail!("--otlp-headers: a name or value cannot be sent in a header");
        }
        headers.push((name.to_owned(), value.to_owned()));
    }
    Ok(headers)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headers_are_names_and_values() {
        assert_eq!(headers("").unwrap(), []);
        let read = headers("authorization=Bearer a=b, x-team = ops ").unwrap();
        let expected = [("authorization", "Bearer a=b"), ("x-team", "ops")];
        assert_eq!(
            read,
            expected.map(|(name, value)| (name.to_owned(), value.to_owned()))
        );
        for wrong in ["secret", "a b=secret", "a=secret\nb"] {
            let error = headers(wrong).unwrap_err().to_string();
            assert!(!error.contains("secret"), "{error}");
        }
    }
}
