//! The age of an event.

use std::str::FromStr;

/// A time as a number of seconds, minutes or hours.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Age(u32);

impl Age {
    /// The number of seconds.
    pub fn seconds(self) -> i64 {
        i64::from(self.0)
    }
}

impl FromStr for Age {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, &'static str> {
        let error = "must be a whole number with the unit s, m or h, such as 90s";
        let (number, factor) = match text.split_at_checked(text.len().saturating_sub(1)) {
            Some((number, "s")) => (number, 1),
            Some((number, "m")) => (number, 60),
            Some((number, "h")) => (number, 3_600),
            _ => return Err(error),
        };
        let number: u32 = number.parse().map_err(|_| error)?;
        number.checked_mul(factor).map(Self).ok_or(error)
    }
}
