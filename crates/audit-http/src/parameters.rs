//! Parameters that several lists take.

use audit_domain::{Bound, Fields, TimeZone, Timestamp, Violations};
use std::borrow::Cow;
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

/// The start or end of a span of time, if there is one.
pub(crate) fn read_time(fields: &mut Fields<'_>, name: &str, bound: Bound) -> Option<Timestamp> {
    read_time_in(fields, name, bound, &TimeZone::utc())
}

/// The same, where a date alone is a day of a time zone.
pub(crate) fn read_time_in(
    fields: &mut Fields<'_>,
    name: &str,
    bound: Bound,
    zone: &TimeZone,
) -> Option<Timestamp> {
    let text = fields.optional_text(name, 0, usize::MAX)?;
    match Timestamp::parse_bound_in(&text, bound, zone) {
        Ok(time) => Some(time),
        Err(error) => fields.violate(name, error),
    }
}

/// A time of a body, if there is one.
pub(crate) fn read_instant(fields: &mut Fields<'_>, name: &str) -> Option<Timestamp> {
    let text = fields.optional_text(name, 0, usize::MAX)?;
    instant(fields, name, &text)
}

/// A time of a body that must be there.
pub(crate) fn read_required_instant(fields: &mut Fields<'_>, name: &str) -> Option<Timestamp> {
    let text = fields.required_text(name, 0, usize::MAX)?;
    instant(fields, name, &text)
}

fn instant(fields: &mut Fields<'_>, name: &str, text: &str) -> Option<Timestamp> {
    match Timestamp::parse_instant(text) {
        Ok(time) => Some(time),
        Err(error) => fields.violate(name, error),
    }
}

/// 1 to `items_max` whole numbers, each at least `number_min`, if there is an array.
pub(crate) fn read_numbers(
    fields: &mut Fields<'_>,
    name: &str,
    number_min: i64,
    items_max: usize,
) -> Option<Vec<i64>> {
    let items = fields.optional_array(name)?;
    if !(1..=items_max).contains(&items.len()) {
        return fields.violate(name, format_args!("must have from 1 to {items_max} items"));
    }
    let mut numbers = Vec::with_capacity(items.len());
    for (index, item) in items.into_iter().enumerate() {
        let name = format!("{name}[{index}]");
        let mut only = fields.nested("", vec![(Cow::Borrowed(name.as_str()), item)]);
        numbers.extend(only.required_integer(&name, number_min..=i64::MAX));
    }
    Some(numbers)
}

/// Decimal digits, and a fraction of zeros: `50` or `50.0`.
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
        let digits = match text.split_once('.') {
            Some((digits, zeros)) if !zeros.is_empty() && zeros.bytes().all(|byte| byte == b'0') => digits,
            Some(_) => return Err(NotWholeNumber),
            None => text,
        };
        digits.parse().map(Self).map_err(|_| NotWholeNumber)
    }
}
