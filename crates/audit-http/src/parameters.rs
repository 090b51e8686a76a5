//! Parameters that several lists take.

use audit_domain::{Fields, Timestamp, Violations};
use std::fmt::Display;
use std::str::FromStr;

/// Items of a page unless the request says.
pub(crate) const LIMIT_DEFAULT: usize = 50;

/// The number of items of a page, 1 to `max`.
pub(crate) fn read_limit(fields: &mut Fields<'_>, max: usize) -> Option<usize> {
    if !fields.has("limit") {
        return Some(LIMIT_DEFAULT);
    }
    let WholeNumber(limit) = fields.optional_parsed("limit")?;
    if (1..=max).contains(&limit) {
        return Some(limit);
    }
    fields.violate("limit", format_args!("must be from 1 to {max}"))
}

/// The value, or `None` with the violations noted.
pub(crate) fn take<T>(fields: &mut Fields<'_>, outcome: Result<T, Violations>) -> Option<T> {
    match outcome {
        Ok(value) => Some(value),
        Err(violations) => {
            violations
                .into_vec()
                .into_iter()
                .for_each(|violation| fields.note(violation));
            None
        }
    }
}

/// A time, if there is one.
pub(crate) fn read_time(fields: &mut Fields<'_>, name: &str) -> Option<Timestamp> {
    let text = fields.optional_text(name, 0, usize::MAX)?;
    // A `+` that was not percent-encoded arrives as a space; no other space can stand in a time with an offset.
    let text = text.replace(' ', "+");
    match Timestamp::parse_rfc3339(&text) {
        Ok(time) => Some(time),
        Err(error) => fields.violate(name, error),
    }
}

/// Decimal digits.
pub(crate) struct WholeNumber(pub(crate) usize);

#[derive(Debug)]
pub(crate) struct NotWholeNumber;

impl Display for NotWholeNumber {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str("must be a whole number")
    }
}

impl FromStr for WholeNumber {
    type Err = NotWholeNumber;

    fn from_str(text: &str) -> Result<Self, NotWholeNumber> {
        text.parse().map(Self).map_err(|_| NotWholeNumber)
    }
}
