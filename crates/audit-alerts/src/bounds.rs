//! Bounded whole numbers.

use std::fmt;

/// A number is out of range.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("must be a whole number from {min} to {max}")]
pub struct OutOfBounds {
    min: u32,
    max: u32,
}

macro_rules! bounded {
    ($(#[$doc:meta])* $name:ident, $min:literal to $max:literal) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(u32);

        impl $name {
            /// The smallest value.
            pub const MIN: Self = Self($min);
            /// The largest value.
            pub const MAX: Self = Self($max);

            /// A constant within the limits.
            pub(crate) const fn known(value: u32) -> Self {
                assert!(Self::MIN.0 <= value && value <= Self::MAX.0);
                Self(value)
            }

            /// The number.
            pub const fn get(self) -> u32 {
                self.0
            }
        }

        impl TryFrom<i64> for $name {
            type Error = OutOfBounds;

            fn try_from(value: i64) -> Result<Self, OutOfBounds> {
                u32::try_from(value)
                    .ok()
                    .map(Self)
                    .filter(|value| (Self::MIN..=Self::MAX).contains(value))
                    .ok_or(OutOfBounds { min: Self::MIN.0, max: Self::MAX.0 })
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.0.fmt(formatter)
            }
        }
    };
}

bounded!(
    /// The number of matching events of a group that raises an alert.
    Threshold, 1 to 10_000
);
bounded!(
    /// The length of a rule's sliding window.
    WindowSeconds, 60 to 3_600
);
bounded!(
    /// The time after an alert in which the group raises no further one.
    CooldownSeconds, 0 to 604_800
);

/// An hour.
impl Default for CooldownSeconds {
    fn default() -> Self {
        Self::known(3_600)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_are_accepted_and_values_past_them_are_refused() {
        assert_eq!(Threshold::try_from(1), Ok(Threshold::MIN));
        assert_eq!(Threshold::try_from(10_000), Ok(Threshold::MAX));
        assert_eq!(WindowSeconds::try_from(60), Ok(WindowSeconds::MIN));
        assert_eq!(WindowSeconds::try_from(3_600), Ok(WindowSeconds::MAX));
        assert_eq!(CooldownSeconds::try_from(0), Ok(CooldownSeconds::MIN));
        assert_eq!(CooldownSeconds::try_from(604_800), Ok(CooldownSeconds::MAX));
        for value in [i64::MIN, -1, 0, 10_001, 1 << 32, i64::MAX] {
            assert!(Threshold::try_from(value).is_err(), "{value}");
        }
        for value in [59, 3_601] {
            assert!(WindowSeconds::try_from(value).is_err(), "{value}");
        }
        for value in [-1, 604_801] {
            assert!(CooldownSeconds::try_from(value).is_err(), "{value}");
        }
    }

    #[test]
    fn errors_name_the_limits() {
        let error = WindowSeconds::try_from(59).unwrap_err();
        assert_eq!(error.to_string(), "must be a whole number from 60 to 3600");
    }
}
