//! The portal of a project: the name and logo that it shows, the destinations that tenants may create, and where readers sign in.

mod changes;
mod sign_in;

use crate::error::{AppError, Result};
use audit_destinations::Kind;
use audit_domain::Name;
use audit_store::{PortalLogoRow, PortalRow, StoreError};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use imagesize::{ImageError, ImageType};
use std::fmt;
use std::str::FromStr;

pub use sign_in::{SignInUrl, SignInUrlError};

/// The settings of a portal.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Portal {
    /// Stands in the place of the title of the page.
    pub name: Option<Name>,
    /// Stands beside the name.
    pub logo: Option<Logo>,
    /// The kinds of destinations that tenants may create, where their tier allows destinations; `None` for all.
    pub destination_kinds: Option<Vec<Kind>>,
    /// Where readers without a token sign in; `None` for nowhere.
    pub sign_in_url: Option<SignInUrl>,
}

/// A change of a portal. `Some(None)` removes the name, the logo, the limit of kinds or the URL.
#[derive(Clone, Debug, Default)]
#[expect(missing_docs, reason = "as in Portal")]
pub struct PortalChange {
    pub name: Option<Option<Name>>,
    pub logo: Option<Option<Logo>>,
    pub destination_kinds: Option<Option<Vec<Kind>>>,
    pub sign_in_url: Option<Option<SignInUrl>>,
}

/// An image in one of the formats that cannot contain code: PNG, JPEG or WebP. Its text is a data URL (RFC 2397) in base64, so
/// that no route of the server has the file under a URL of its own.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Logo {
    media_type: &'static str,
    bytes: Vec<u8>,
}

/// The text is not a logo.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[expect(missing_docs, reason = "the messages say it")]
pub enum LogoError {
    #[error("must be a data URL in base64: data:image/png;base64,…, or of the type image/jpeg or image/webp")]
    Form,
    #[error("must be an image of the type that the data URL names")]
    OtherType,
    #[error("must have at most {} bytes", Logo::BYTES_MAX)]
    TooLarge,
    #[error("must be at most {0} pixels wide and {0} pixels high", Logo::SIDE_PIXELS_MAX)]
    TooWide,
}

impl Logo {
    /// The size of the largest file.
    pub const BYTES_MAX: usize = 64 * 1024;
    /// The longest data URL: a file of this size, after the longest prefix.
    pub const URL_CHARS_MAX: usize = "data:image/jpeg;base64,".len() + Self::BYTES_MAX.div_ceil(3) * 4;
    /// The largest width and height. A small file can have so many pixels that a browser has not enough memory for them.
    pub const SIDE_PIXELS_MAX: usize = 2_048;
    /// The media types.
    pub const MEDIA_TYPES: [&'static str; 3] = ["image/png", "image/jpeg", "image/webp"];

    /// A file whose beginning is that of an image of the type.
    ///
    /// # Errors
    /// The file is too large, has too many pixels, or is no such image.
    pub fn new(media_type: &str, bytes: Vec<u8>) -> Result<Self, LogoError> {
        let known = Self::MEDIA_TYPES.into_iter().find(|known| *known == media_type);
        let media_type = known.ok_or(LogoError::Form)?;
        if bytes.len() > Self::BYTES_MAX {
            return Err(LogoError::TooLarge);
        }
        if imagesize::image_type(&bytes).ok().and_then(media_type_of) != Some(media_type) {
            return Err(LogoError::OtherType);
        }
        let size = imagesize::blob_size(&bytes).map_err(|_: ImageError| LogoError::OtherType)?;
        match size.width.max(size.height) <= Self::SIDE_PIXELS_MAX {
            true => Ok(Self { media_type, bytes }),
            false => Err(LogoError::TooWide),
        }
    }
}

fn media_type_of(found: ImageType) -> Option<&'static str> {
    match found {
        ImageType::Png => Some("image/png"),
        ImageType::Jpeg => Some("image/jpeg"),
        ImageType::Webp => Some("image/webp"),
        _ => None,
    }
}

impl FromStr for Logo {
    type Err = LogoError;

    fn from_str(url: &str) -> Result<Self, LogoError> {
        let parts = url
            .strip_prefix("data:")
            .and_then(|rest| rest.split_once(";base64,"));
        let (media_type, text) = parts.ok_or(LogoError::Form)?;
        if text.len() > Self::URL_CHARS_MAX {
            return Err(LogoError::TooLarge);
        }
        let bytes = STANDARD.decode(text).map_err(|_| LogoError::Form)?;
        Self::new(media_type, bytes)
    }
}

impl fmt::Display for Logo {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            formatter,
            "data:{};base64,{}",
            self.media_type,
            STANDARD.encode(&self.bytes)
        )
    }
}

impl Portal {
    fn from_row(row: PortalRow) -> Result<Self> {
        let damaged = |what| AppError::from(StoreError::Damaged { what });
        let name = row.name.map(|name| name.parse::<Name>()).transpose();
        let logo = row
            .logo
            .map(|logo| Logo::new(&logo.media_type, logo.bytes))
            .transpose();
        let kinds = row
            .destination_kinds
            .map(|kinds| {
                kinds
                    .iter()
                    .map(|kind| kind.parse())
                    .collect::<Result<Vec<Kind>, _>>()
            })
            .transpose();
        Ok(Self {
            name: name.map_err(|_| damaged("name of a portal"))?,
            logo: logo.map_err(|_| damaged("logo of a portal"))?,
            destination_kinds: kinds.map_err(|_| damaged("kind of destination"))?,
            sign_in_url: row
                .sign_in_url
                .as_deref()
                .map(SignInUrl::from_stored)
                .transpose()?,
        })
    }

    fn to_row(&self) -> PortalRow {
        PortalRow {
            name: self.name.as_ref().map(|name| name.as_str().to_owned()),
            logo: self.logo.as_ref().map(|logo| PortalLogoRow {
                media_type: logo.media_type.to_owned(),
                bytes: logo.bytes.clone(),
            }),
            destination_kinds: self
                .destination_kinds
                .as_ref()
                .map(|kinds| kinds.iter().map(Kind::to_string).collect()),
            sign_in_url: self.sign_in_url.as_ref().map(SignInUrl::to_string),
        }
    }
}

#[cfg(test)]
mod tests;
