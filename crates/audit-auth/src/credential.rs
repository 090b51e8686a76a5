//! What a request presents to be let in.

use crate::{KeyText, ViewerTokenText};

/// A well-formed credential. Nothing is known yet about whether it opens anything.
#[derive(Clone, Debug)]
pub enum Credential {
    /// `mk_…` or `pk_…`.
    Key(KeyText),
    /// `vt_…`.
    ViewerToken(ViewerTokenText),
}

/// The text is not a credential. All of these are answered with status 401.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CredentialError {
    /// There is no credential, or it begins like none of ours. Answered as `unauthorized`.
    #[error("no credential of a known form: expected an mk_ or pk_ key or a vt_ token")]
    UnknownForm,
    /// It begins like a key, but length, characters or checksum are wrong. Answered as `invalid_api_key`.
    #[error("the key is mistyped: its checksum does not match")]
    MistypedKey,
    /// It begins like a viewer token, but what follows is no JWT, or is too long. Answered as `invalid_token`.
    #[error("the viewer token is malformed")]
    MalformedToken,
}

impl Credential {
    /// The authentication scheme of the `Authorization` header (RFC 6750), compared without regard to case.
    pub const SCHEME: &'static str = "Bearer";

    /// Reads a credential: what follows `Bearer ` in the header. Its first three characters decide what it is.
    ///
    /// # Errors
    /// [`CredentialError`], according to what the text was meant to be.
    pub fn parse(text: &str) -> Result<Self, CredentialError> {
        if ViewerTokenText::is_meant_by(text) {
            ViewerTokenText::parse(text).map(Self::ViewerToken)
        } else {
            KeyText::parse(text).map(Self::Key)
        }
    }

    /// Reads the value of an `Authorization` header: `Bearer`, one or more spaces (RFC 9110 section 11.4), credential.
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
    fn the_first_characters_decide_what_a_credential_is() {
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
    fn other_headers_hold_no_credential() {
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
