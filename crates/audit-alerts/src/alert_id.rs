//! Ids of alerts.

use audit_domain::Timestamp;
use std::fmt;
use std::str::FromStr;
use ulid::Ulid;

/// An alert: `alt_` and a ULID, 26 characters of Crockford base32. The upper 48 bits are the milliseconds at which it
/// fired, so ids sort as fired.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct AlertId(Ulid);

/// The text is not the id of an alert.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("must be an alert id: alt_ and 26 characters")]
pub struct AlertIdError;

impl AlertId {
    /// Before the 26 characters.
    pub const PREFIX: &'static str = "alt_";
    /// Length of the text form.
    pub const CHARS: usize = 30;

    /// An id for an alert that fired at `fired_at`, made unique by 80 unpredictable bits.
    pub fn new(fired_at: Timestamp, random: [u8; 10]) -> Self {
        let mut bits = [0; 16];
        bits[6..].copy_from_slice(&random);
        let millis = u64::try_from(fired_at.as_millis()).unwrap_or(0);
        Self(Ulid::from_parts(millis, u128::from_be_bytes(bits)))
    }

    /// Sixteen bytes that sort as the id does.
    pub fn to_bytes(self) -> [u8; 16] {
        self.0.0.to_be_bytes()
    }

    /// From the bytes of [`Self::to_bytes`].
    pub fn from_bytes(bytes: [u8; 16]) -> Self {
        Self(Ulid(u128::from_be_bytes(bytes)))
    }
}

impl fmt::Display for AlertId {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut buffer = [0; ulid::ULID_LEN];
        formatter.write_str(Self::PREFIX)?;
        formatter.write_str(self.0.array_to_str(&mut buffer))
    }
}

impl FromStr for AlertId {
    type Err = AlertIdError;

    fn from_str(text: &str) -> Result<Self, AlertIdError> {
        let ulid = text
            .strip_prefix(Self::PREFIX)
            .and_then(|rest| Ulid::from_string(rest).ok())
            .ok_or(AlertIdError)?;
        // One alert has one spelling: lower case and the letters Crockford's alphabet maps to others are refused.
        Some(Self(ulid))
            .filter(|id| id.to_string() == text)
            .ok_or(AlertIdError)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn alert_ids_read_like_the_interface_says() {
        let id = AlertId::new(Timestamp::from_millis(1_768_473_000_000), [7; 10]);
        let text = id.to_string();
        assert_eq!(text.len(), AlertId::CHARS);
        assert!(text.starts_with("alt_01"), "{text}");
        assert_eq!(text.parse(), Ok(id));
        let as_event = text.replace("alt_", "evt_");
        for other in [
            text.to_lowercase(),
            as_event,
            "alt_".into(),
            format!("alt_8{}", "Z".repeat(25)),
        ] {
            assert_eq!(other.parse::<AlertId>(), Err(AlertIdError), "{other}");
        }
    }

    proptest! {
        #[test]
        fn alert_ids_sort_as_text_and_bytes_alike(a in any::<u128>(), b in any::<u128>()) {
            let (a, b) = (AlertId::from_bytes(a.to_be_bytes()), AlertId::from_bytes(b.to_be_bytes()));
            prop_assert_eq!(a.cmp(&b), a.to_string().cmp(&b.to_string()));
            prop_assert_eq!(a.cmp(&b), a.to_bytes().cmp(&b.to_bytes()));
            prop_assert_eq!(a.to_string().parse(), Ok(a));
        }
    }
}
