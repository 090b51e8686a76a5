//! Content security policies.

use crate::files::File;
use actix_web::http::header::{HeaderValue, InvalidHeaderValue};
use std::fmt;

/// What a page may load and do: files and requests of its own origin, no inline code, no forms, no markup from text except through
/// Lit's templates.
const BASE: &str = "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data:; \
                    base-uri 'none'; form-action 'none'; require-trusted-types-for 'script'; trusted-types lit-html; \
                    frame-ancestors ";

/// Who may show the portal in a frame: `frame-ancestors` of CSP.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FrameAncestors(Vec<String>);

/// The text is not an origin.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FrameAncestorError(String);

impl fmt::Display for FrameAncestorError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self(text) = self;
        write!(
            formatter,
            "{text:?} is not an origin such as https://app.example.com or https://*.example.com"
        )
    }
}

impl std::error::Error for FrameAncestorError {}

impl FrameAncestors {
    /// Reads origins. None means that no page may frame the portal.
    ///
    /// # Errors
    /// A text has no scheme `http` or `https`, or characters that do not belong into an origin.
    pub fn parse(origins: &[String]) -> Result<Self, FrameAncestorError> {
        let origins = origins.iter().map(|origin| {
            let origin = origin.trim_end_matches('/');
            match is_origin(origin) {
                true => Ok(origin.to_owned()),
                false => Err(FrameAncestorError(origin.to_owned())),
            }
        });
        origins.collect::<Result<_, _>>().map(Self)
    }

    fn text(&self) -> String {
        match self.0.as_slice() {
            [] => "'none'".to_owned(),
            origins => origins.join(" "),
        }
    }
}

fn is_origin(text: &str) -> bool {
    let host = text.strip_prefix("https://").or(text.strip_prefix("http://"));
    let is_part = |character: char| character.is_ascii_alphanumeric() || ".-*:[]".contains(character);
    host.is_some_and(|host| !host.is_empty() && host.chars().all(is_part))
}

/// The policies of all files.
#[derive(Debug)]
pub(crate) struct Policies {
    portal: HeaderValue,
    others: HeaderValue,
}

impl Policies {
    pub(crate) fn new(ancestors: &FrameAncestors) -> Result<Self, InvalidHeaderValue> {
        Ok(Self {
            portal: HeaderValue::from_str(&format!("{BASE}{}", ancestors.text()))?,
            others: HeaderValue::from_str(&format!("{BASE}'none'"))?,
        })
    }

    pub(crate) fn of(&self, file: &File) -> &HeaderValue {
        match file.path {
            "/portal" => &self.portal,
            _ => &self.others,
        }
    }
}
