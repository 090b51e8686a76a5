//! Credentials of requests.

use crate::{KeyText, ViewerTokenText};

/// A well-formed credential, not yet verified.
#[derive(Clone, Debug)]
pub enum Credential {
    /// `mk_…` or `pk_…`.
    Key(KeyText),
    /// `vt_…`.
    ViewerToken(ViewerTokenText),
}

/// The text is not a credential. The response to each of these has status 401.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CredentialError {
    /// No credential, or an unknown prefix. Code `unauthorized`.
    #[error("no credential of a known form: expected an mk_ or pk_ key or a vt_ token")]
    UnknownForm,
    /// The prefix of a key, but an invalid length, character or checksum. Code `invalid_api_key`.
    #[error("the key is mistyped: its checksum does not match")]
    MistypedKey,
    /// The prefix of a viewer token, but not followed by a JWT, or too long. Code `invalid_token`.
    #[error("the viewer token is malformed")]
    MalformedToken,
}

impl Credential {
    /// The authentication scheme of the `Authorization` header (RFC 6750), compared without regard to case.
    pub const SCHEME: &'static str = "Bearer";

    /// Parses a credential: the text after `Bearer ` in the header. Its prefix determines its kind.
    ///
    /// # Errors
    /// [`CredentialError`], by prefix.
    pub fn parse(text: &str) -> Result<Self, CredentialError> {
        if ViewerTokenText::is_meant_by(text) {
            ViewerTokenText::parse(text).map(Self::ViewerToken)
        } else {
            KeyText::parse(text).map(Self::Key)
        }
    }

    /// Parses the value of an `Authorization` header: `Bearer`, one or more spaces (RFC 9110 section 11.4), credential.
    ///
    /// # Errors
    /// [`CredentialError::UnknownForm`] for another scheme, otherwise as [`Self::parse`].
    pub fn from_authorization_header(value: &str) -> Result<Self, CredentialError> {
        let (scheme, credential) = value.split_once(' ').ok_or(CredentialError::UnknownForm)?;
        if !scheme.eq_ignore_ascii_case(Self::SCHEME) {
            return Err(CredentialError::UnknownForm);
        }
        Self::parse(credential.trim_start_matches(' '))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::KeyKind;
    use audit_domain::Environment;

    fn key() -> KeyText {
        KeyText::generate(KeyKind::Project(Environment::Test), [3; KeyText::RANDOM_BYTES])
    }

    #[test]
    fn the_prefix_determines_the_kind_of_a_credential() {
        assert!(
            matches!(Credential::parse(key().as_str()), Ok(Credential::Key(parsed)) if parsed.hash() == key().hash())
        );
        assert!(
            matches!(Credential::parse("vt_a.b.c"), Ok(Credential::ViewerToken(token)) if token.as_str() == "vt_a.b.c")
        );
        assert_eq!(
            Credential::parse("mk_abc").unwrap_err(),
            CredentialError::MistypedKey
        );
        assert_eq!(
            Credential::parse("pk_abc").unwrap_err(),
            CredentialError::MistypedKey
        );
        assert_eq!(
            Credential::parse("vt_abc").unwrap_err(),
            CredentialError::MalformedToken
        );
        assert_eq!(
            Credential::parse("abc").unwrap_err(),
            CredentialError::UnknownForm
        );
        assert_eq!(Credential::parse("").unwrap_err(), CredentialError::UnknownForm);
    }

    #[test]
    fn the_scheme_is_bearer_in_any_case() {
        for scheme in ["Bearer ", "bearer ", "BEARER ", "Bearer    "] {
            let header = format!("{scheme}{}", key().as_str());
            assert!(Credential::from_authorization_header(&header).is_ok(), "{header}");
        }
    }

    #[test]
    fn other_headers_have_no_credential() {
        let key = key();
        let headers = [
            String::new(),
            "Bearer".to_owned(),
            "Bearer ".to_owned(),
            format!("Basic {}", key.as_str()),
            format!("Bearer\t{}", key.as_str()),
            format!(" Bearer {}", key.as_str()),
            format!("Bearer{}", key.as_str()),
            key.as_str().to_owned(),
        ];
        for header in headers {
            let error = Credential::from_authorization_header(&header).unwrap_err();
            assert_eq!(error, CredentialError::UnknownForm, "{header}");
        }
        let two = format!("Bearer {0} {0}", key.as_str());
        assert_eq!(
            Credential::from_authorization_header(&two).unwrap_err(),
            CredentialError::MistypedKey
        );
    }

    #[test]
    fn debug_shows_no_secret() {
        let credential = Credential::parse(key().as_str()).unwrap();
        assert!(!format!("{credential:?}").contains(&key().as_str()[KeyText::PREFIX_CHARS..]));
        let credential = Credential::parse("vt_aaaa.bbbb.cccc").unwrap();
        assert_eq!(format!("{credential:?}"), "ViewerToken(ViewerTokenText(..))");
    }
}
