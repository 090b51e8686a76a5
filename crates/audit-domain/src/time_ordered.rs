//! Ids that sort as the things they name came about.

use crate::Timestamp;
use std::fmt;
use ulid::Ulid;

/// 128 bits that sort by time: 48 bits of milliseconds since the Unix epoch, then 80 that make it unique. Its text is a
/// [ULID](https://github.com/ulid/spec), 26 characters of Crockford base32. [`ulid_id!`](crate::ulid_id) makes a kind of
/// ids of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TimeOrdered(Ulid);

impl TimeOrdered {
    /// Length of the text form.
    pub const CHARS: usize = ulid::ULID_LEN;

    /// The bits for `at`, made unique by 80 unpredictable ones.
    pub fn new(at: Timestamp, random: [u8; 10]) -> Self {
        let mut bits = [0; 16];
        bits[6..].copy_from_slice(&random);
        let millis = u64::try_from(at.as_millis()).unwrap_or(0);
        Self(Ulid::from_parts(millis, u128::from_be_bytes(bits)))
    }

    /// The next ones in order.
    #[must_use]
    pub fn successor(self) -> Self {
        Self(Ulid(self.0.0.saturating_add(1)))
    }

    /// The time of the upper 48 bits, to the millisecond.
    pub fn time(self) -> Timestamp {
        Timestamp::from_millis(self.0.timestamp_ms().cast_signed())
    }

    /// Sixteen bytes that sort as the bits do.
    pub fn to_bytes(self) -> [u8; 16] {
        self.0.0.to_be_bytes()
    }

    /// From the bytes of [`Self::to_bytes`].
    pub fn from_bytes(bytes: [u8; 16]) -> Self {
        Self(Ulid(u128::from_be_bytes(bytes)))
    }

    /// From the text form; `None` for any other text. There is one spelling: lower case and the letters that Crockford's
    /// alphabet maps to others are refused.
    pub fn parse(text: &str) -> Option<Self> {
        let ulid = Ulid::from_string(text).ok()?;
        let mut buffer = [0; ulid::ULID_LEN];
        (ulid.array_to_str(&mut buffer) == text).then_some(Self(ulid))
    }
}

impl fmt::Display for TimeOrdered {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut buffer = [0; ulid::ULID_LEN];
        formatter.write_str(self.0.array_to_str(&mut buffer))
    }
}

/// Makes a type of ids: a prefix and [`TimeOrdered`] bits.
///
/// ```
/// audit_domain::ulid_id!(
///     /// A parcel.
///     ParcelId, "pcl_", "a parcel id"
/// );
/// let id = ParcelId::new(audit_domain::Timestamp::from_seconds(1_768_473_000), [7; 10]);
/// assert_eq!(id.to_string().parse(), Ok(id));
/// assert_eq!("x".parse::<ParcelId>().unwrap_err().to_string(), "must be a parcel id: pcl_ and 26 characters");
/// ```
#[macro_export]
macro_rules! ulid_id {
    ($(#[$doc:meta])* $name:ident, $prefix:literal, $what:literal) => {
        $(#[$doc])*
        #[doc = concat!("\n\nIts text is `", $prefix, "` and a ULID, 26 characters of Crockford base32.")]
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name($crate::TimeOrdered);

        impl $name {
            /// Before the 26 characters.
            pub const PREFIX: &'static str = $prefix;
            /// Length of the text form.
            pub const CHARS: usize = $prefix.len() + $crate::TimeOrdered::CHARS;

            /// An id of the time `at`, made unique by 80 unpredictable bits.
            pub fn new(at: $crate::Timestamp, random: [u8; 10]) -> Self {
                Self($crate::TimeOrdered::new(at, random))
            }

            /// Sixteen bytes that sort as the id does.
            pub fn to_bytes(self) -> [u8; 16] {
                self.0.to_bytes()
            }

            /// From the bytes of [`Self::to_bytes`].
            pub fn from_bytes(bytes: [u8; 16]) -> Self {
                Self($crate::TimeOrdered::from_bytes(bytes))
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                formatter.write_str(Self::PREFIX)?;
                self.0.fmt(formatter)
            }
        }

        impl std::str::FromStr for $name {
            type Err = $crate::IdError;

            fn from_str(text: &str) -> Result<Self, $crate::IdError> {
                text.strip_prefix(Self::PREFIX)
                    .and_then($crate::TimeOrdered::parse)
                    .map(Self)
                    .ok_or($crate::IdError::new(concat!($what, ": ", $prefix, " and 26 characters")))
            }
        }

        impl $crate::serde::Serialize for $name {
            fn serialize<S: $crate::serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.collect_str(self)
            }
        }
    };
}
