//! Where readers of a portal sign in.

use crate::error::{AppError, Result};
use crate::service::AuditLog;
use audit_domain::ProjectId;
use audit_store::StoreError;
use audit_webhooks::{AddressPolicy, UrlError, WebhookUrl};
use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

/// The page of an application that signs readers of the portal in: an `https` URL, or an `http` URL on the reader's own machine.
/// `Display` writes the text as it was given.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SignInUrl(String);

/// The text is not a valid URL of a page to sign in. The messages follow the name of a field.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SignInUrlError {
    /// It has another scheme or none, or `http` with a host that is not the reader's own machine.
    #[error("must begin with https://, or with http:// and localhost, 127.0.0.1 or [::1]")]
    Scheme,
    /// It violates a rule that holds for URLs of webhooks too.
    #[error(transparent)]
    Url(UrlError),
}

impl SignInUrl {
    /// The longest URL, in characters.
    pub const CHARS_MAX: usize = WebhookUrl::CHARS_MAX;

    const OWN_MACHINE: [&str; 3] = ["localhost", "127.0.0.1", "[::1]"];

    pub(super) fn from_stored(text: &str) -> Result<Self> {
        let damaged = |_| {
            AppError::from(StoreError::Damaged {
                what: "URL of a portal",
            })
        };
        text.parse().map_err(damaged)
    }
}

impl FromStr for SignInUrl {
    type Err = SignInUrlError;

    fn from_str(text: &str) -> Result<Self, SignInUrlError> {
        // The parser takes `https` alone. Apart from the scheme the rules are the same.
        let plain = text
            .split_once("://")
            .filter(|(scheme, _)| scheme.eq_ignore_ascii_case("http"))
            .map(|(_, rest)| format!("https://{rest}"));
        let parsed = WebhookUrl::parse(plain.as_deref().unwrap_or(text), AddressPolicy::AllowPrivate);
        let url = parsed.map_err(|error| match error {
            UrlError::NotHttps => SignInUrlError::Scheme,
            other => SignInUrlError::Url(other),
        })?;
        match plain.is_none() || Self::OWN_MACHINE.contains(&url.host()) {
            true => Ok(Self(text.to_owned())),
            false => Err(SignInUrlError::Scheme),
        }
    }
}

impl fmt::Display for SignInUrl {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0)
    }
}

impl AuditLog {
    /// Where readers of the portal of a project sign in. For everybody: a reader without a token has no credential.
    ///
    /// # Errors
    /// [`AppError::NotFound`], the same where the project has no such URL and where there is no such project.
    pub fn sign_in_url(self: &Arc<Self>, project_id: ProjectId) -> Result<SignInUrl> {
        let cell = self.cell_of_project(project_id)?;
        let url = cell.store.read(|reader| reader.sign_in_url(project_id))?;
        SignInUrl::from_stored(&url.ok_or(AppError::NotFound("sign-in URL"))?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sign_in_url_is_https_or_http_on_the_own_machine() {
        for text in [
            "https://app.example.com",
            "HTTPS://App.example.com:8443/sign-in?from=audit%20log",
            "https://192.168.1.7/sign-in",
            "https://bücher.example/anmelden",
            "http://localhost:3000/sign-in",
            "HTTP://LOCALHOST/",
            "http://127.0.0.1/sign-in",
            "http://[::1]:3000/",
        ] {
            let url = text.parse::<SignInUrl>();
            assert_eq!(url.map(|url| url.to_string()).as_deref(), Ok(text));
        }
    }

    #[test]
    fn what_could_run_code_or_send_a_reader_elsewhere_is_refused() {
        for (text, error) in [
            ("", SignInUrlError::Scheme),
            ("/sign-in", SignInUrlError::Scheme),
            ("//app.example.com/", SignInUrlError::Scheme),
            ("javascript:alert(1)", SignInUrlError::Scheme),
            ("javascript://app.example.com/%0aalert(1)", SignInUrlError::Scheme),
            ("data:text/html,<script>alert(1)</script>", SignInUrlError::Scheme),
            (" https://app.example.com/", SignInUrlError::Scheme),
            ("http://app.example.com/", SignInUrlError::Scheme),
            ("http://localhost.example.com/", SignInUrlError::Scheme),
            (
                "http://localhost:80@app.example.com/",
                SignInUrlError::Url(UrlError::Credentials),
            ),
            ("http://192.168.1.7/", SignInUrlError::Scheme),
            (
                "https://app.example.com\\@evil.example/",
                SignInUrlError::Url(UrlError::Blank),
            ),
            ("https://app.example.com/\n", SignInUrlError::Url(UrlError::Blank)),
            (
                "https://user@app.example.com/",
                SignInUrlError::Url(UrlError::Credentials),
            ),
            (
                "https://app.example.com/#token=",
                SignInUrlError::Url(UrlError::Fragment),
            ),
            ("https://", SignInUrlError::Url(UrlError::Invalid)),
        ] {
            assert_eq!(text.parse::<SignInUrl>(), Err(error), "{text}");
        }
    }

    #[test]
    fn a_sign_in_url_has_a_limit_of_characters() {
        let of = |chars: usize| format!("{:x<chars$}", "https://app.example.com/");
        assert!(of(SignInUrl::CHARS_MAX).parse::<SignInUrl>().is_ok());
        let longer = of(SignInUrl::CHARS_MAX + 1).parse::<SignInUrl>();
        assert_eq!(longer, Err(SignInUrlError::Url(UrlError::TooLong)));
    }
}
