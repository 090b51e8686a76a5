//! The configuration of a syslog receiver.

use super::parts::{Parts, word};
use super::{Described, Secret};
use audit_domain::{Fields, Violations};
use audit_webhooks::{AddressPolicy, WebhookUrl, only_roots};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::sign::CertifiedKey;
use serde_json::{Value, json};

/// The registered port of syslog over TLS (RFC 5425 section 4.1).
const PORT: u16 = 6_514;
/// The facility "log audit" (RFC 5424 section 6.2.1), and the highest.
const FACILITY: u8 = 13;
const FACILITY_MAX: i64 = 23;
/// The longest APP-NAME (RFC 5424 section 6) and the longest PEM, in characters.
const APP_NAME_CHARS_MAX: usize = 48;
const PEM_CHARS_MAX: usize = 65_536;

/// A receiver of syslog over TLS.
#[derive(Clone)]
pub(crate) struct Syslog {
    /// The receiver as a URL, by whose rules it was checked.
    target: WebhookUrl,
    /// The host as written.
    host: String,
    pub(crate) port: u16,
    pub(crate) app_name: String,
    pub(crate) facility: u8,
    /// The only authorities that are trusted, in PEM; those of the public web and of the operator if there are none.
    pub(crate) ca: Option<String>,
    pub(crate) client: Option<ClientCertificate>,
}

/// What proves to the receiver who sends.
#[derive(Clone)]
pub(crate) struct ClientCertificate {
    certificate: Secret,
    key: Secret,
}

impl Syslog {
    pub(super) fn read(parts: &Parts<'_>) -> Result<Self, Violations> {
        let settings = |fields: &mut Fields<'_>, policy| {
            let port = fields.optional_integer("port", 1..=65_535);
            let port = port.and_then(|port| u16::try_from(port).ok()).unwrap_or(PORT);
            let app_name = word(fields, "app_name", APP_NAME_CHARS_MAX);
            let facility = fields.optional_integer("facility", 0..=FACILITY_MAX);
            let facility = facility.and_then(|number| u8::try_from(number).ok());
            let ca = authorities(fields);
            let (host, target) = target(fields, port, policy)?;
            let app_name = app_name.unwrap_or_else(|| "audit-log".into());
            Some((host, target, port, app_name, facility.unwrap_or(FACILITY), ca))
        };
        let ((host, target, port, app_name, facility, ca), client) =
            parts.read(settings, |fields| Some(client_certificate(fields)))?;
        Ok(Self {
            target,
            host,
            port,
            app_name,
            facility,
            ca,
            client,
        })
    }
}

fn authorities(fields: &mut Fields<'_>) -> Option<String> {
    let pem = fields.optional_text("ca", 1, PEM_CHARS_MAX)?;
    match only_roots(pem.as_bytes()) {
        Ok(_) => Some(pem),
        Err(error) => fields.violate("ca", error),
    }
}

fn target(fields: &mut Fields<'_>, port: u16, policy: AddressPolicy) -> Option<(String, WebhookUrl)> {
    let host = fields.required_text("host", 1, WebhookUrl::CHARS_MAX)?;
    // Without brackets, an IPv6 address cannot be told from a name with a port.
    let authority = match host.contains(':') && !host.starts_with('[') {
        true => format!("[{host}]"),
        false => host.clone(),
    };
    let is_host = |c: char| c.is_ascii_alphanumeric() || "-._:[]".contains(c);
    if !host.chars().all(is_host) {
        return fields.violate(
            "host",
            "must be a name or an address, without scheme, port or path",
        );
    }
    match WebhookUrl::parse(&format!("https://{authority}:{port}/"), policy) {
        Ok(target) => Some((host, target)),
        Err(error) => fields.violate("host", error),
    }
}

fn client_certificate(fields: &mut Fields<'_>) -> Option<ClientCertificate> {
    let certificate = fields
        .optional_text("client_certificate", 1, PEM_CHARS_MAX)
        .map(Secret::new);
    let key = fields
        .optional_text("client_key", 1, PEM_CHARS_MAX)
        .map(Secret::new);
    match (certificate, key) {
        (None, None) => None,
        (Some(_), None) => fields.violate("client_key", "must be set with client_certificate"),
        (None, Some(_)) => fields.violate("client_certificate", "must be set with client_key"),
        (Some(certificate), Some(key)) => {
            let client = ClientCertificate { certificate, key };
            match client.certified_key() {
                Ok(_) => Some(client),
                Err((field, message)) => fields.violate(field, message),
            }
        }
    }
}

impl ClientCertificate {
    /// The certificates and the key for TLS.
    ///
    /// # Errors
    /// The credential that cannot be used, and why.
    pub(crate) fn certified_key(&self) -> Result<CertifiedKey, (&'static str, String)> {
        let certificates: Result<Vec<_>, _> =
            CertificateDer::pem_slice_iter(self.certificate.as_str().as_bytes()).collect();
        let certificates = match certificates {
            Ok(certificates) if !certificates.is_empty() => certificates,
            _ => return Err(("client_certificate", "must be certificates in PEM".into())),
        };
        let key = PrivateKeyDer::from_pem_slice(self.key.as_str().as_bytes()).map_err(|_| {
            (
                "client_key",
                "must be a private key in PEM that is not encrypted".into(),
            )
        })?;
        CertifiedKey::from_der(certificates, key, &rustls::crypto::ring::default_provider()).map_err(
            |error| {
                (
                    "client_key",
                    format!("cannot be used with client_certificate: {error}"),
                )
            },
        )
    }
}

impl Described for Syslog {
    fn settings(&self) -> Value {
        json!({
            "host": self.host,
            "port": self.port,
            "app_name": self.app_name,
            "facility": self.facility,
            "ca": self.ca,
        })
    }

    fn credentials(&self) -> Vec<(&'static str, Value)> {
        match &self.client {
            Some(client) => vec![
                ("client_certificate", client.certificate.as_str().into()),
                ("client_key", client.key.as_str().into()),
            ],
            None => Vec::new(),
        }
    }

    /// In the form of the URL: a name in lower case, or an address, with brackets around one of IPv6.
    fn host(&self) -> &str {
        self.target.host()
    }
}
