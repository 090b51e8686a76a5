//! Secrets: the values of names such as `password` and `api_key`, credentials in URLs and headers, keys with a vendor's
//! prefix, and private keys.

mod assignment;
mod calls;
mod codes;
mod command;
mod credentials;
mod list;
mod markup;
mod name;
mod protocol;
mod sides;
mod spoken;
mod value;
mod vendor;

use crate::scan::prefilter::{self, Hints};
use crate::scan::{Span, Subject};
use name::Name;
use value::Place;

/// Fewest digits of a number that is a secret.
const NUMBER_DIGITS_MIN: usize = 3;

/// A text needs one of these to contain a secret, unless its key names it.
pub(super) const HINTS: Hints = Hints::NAMED
    .union(Hints::ASSIGNMENT)
    .union(Hints::CODE)
    .union(Hints::AT)
    .union(Hints::BASIC)
    .union(Hints::VENDOR_PREFIX)
    .union(Hints::COMMAND)
    .union(Hints::PEM);

/// Whether the value of this key may be a secret. A quick check of the key's last letters.
#[inline]
pub(crate) fn may_be_named_by(key: &str) -> bool {
    prefilter::may_end_name(key.as_bytes())
        && name::may_end_secret(key.as_bytes())
        // The keys of pairs are frequent, and no secrets alone.
        && !matches!(key, "key" | "value" | "code")
}

/// Whether an integer of any size behind this key is a secret.
pub(super) fn names_number(key: &str) -> bool {
    matches!(
        Name::of(key),
        Some(Name::Password | Name::PasswordChange | Name::Code)
    )
}

/// Whether a text is the name of a secret, as in `{"name": "password", "value": "…"}`.
pub(super) fn is_name(text: &str) -> bool {
    text.len() <= name::NAME_BYTES_MAX && Name::of(text).is_some()
}

pub(super) fn find(hints: Hints, subject: Subject<'_>, mut hit: impl FnMut(Span)) {
    let text = subject.text;
    if hints.intersects(Hints::NAMED)
        && let Some(name) = Name::of(subject.key)
    {
        let whole = Span::new(0, text.len());
        if subject.integer {
            let is_secret = match name {
                Name::Password | Name::Code => text.len() >= NUMBER_DIGITS_MIN,
                Name::PasswordChange => text.len() >= NUMBER_DIGITS_MIN && !value::is_unix_time(text),
                _ => false,
            };
            if is_secret {
                hit(whole);
            }
            return;
        }
        if let Some(span) = value::secret_in(name, text, whole, Place::Value) {
            hit(span);
        }
    }
    if hints.intersects(Hints::ASSIGNMENT) {
        assignment::find(text, &mut hit);
    }
    if hints.intersects(Hints::CODE) && hints.intersects(Hints::FEW_DIGITS) {
        codes::find(text, &mut hit);
    }
    if hints.intersects(Hints::COMMAND) {
        command::find(text, &mut hit);
    }
    if hints.intersects(Hints::AT) {
        credentials::find_in_urls(text, &mut hit);
    }
    if hints.intersects(Hints::BASIC) {
        credentials::find_basic(text, &mut hit);
    }
    if hints.intersects(Hints::VENDOR_PREFIX) {
        vendor::find(text, &mut hit);
    }
    if hints.intersects(Hints::PEM) {
        vendor::find_private_keys(text, &mut hit);
    }
}
