//! Secrets: the values of names such as `password` and `api_key`, credentials in URLs and headers, keys with a vendor's
//! prefix, and private keys.

mod assignment;
mod credentials;
mod name;
mod value;
mod vendor;

use crate::scan::prefilter::Hints;
use crate::scan::{Span, Subject};
use name::Name;
use value::Place;

/// Fewest digits of a number that is a secret.
const NUMBER_DIGITS_MIN: usize = 3;

/// Whether the value of this key may be a secret. A quick check of the key's last letters.
#[inline]
pub(super) fn may_be_named_by(key: &str) -> bool {
    name::may_end_secret(key.as_bytes())
}

/// Whether an integer of any size behind this key is a secret.
pub(super) fn names_number(key: &str) -> bool {
    matches!(Name::of(key), Some(Name::Password | Name::Code))
}

/// Whether a text is the name of a secret, as in `{"name": "password", "value": "…"}`.
pub(super) fn is_name(text: &str) -> bool {
    text.len() <= name::NAME_BYTES_MAX && Name::of(text).is_some()
}

pub(super) fn find(hints: Hints, subject: Subject<'_>, mut hit: impl FnMut(Span)) {
    let text = subject.text;
    if let Some(name) = Name::of(subject.key) {
        let whole = Span::new(0, text.len());
        if subject.integer {
            if text.len() >= NUMBER_DIGITS_MIN && matches!(name, Name::Password | Name::Code) {
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
    if hints.intersects(Hints::AT) {
        credentials::find_in_urls(text, &mut hit);
    }
    if hints.intersects(Hints::SECRET_PREFIX) {
        credentials::find_basic(text, &mut hit);
        vendor::find(text, &mut hit);
        vendor::find_private_keys(text, &mut hit);
    }
}
