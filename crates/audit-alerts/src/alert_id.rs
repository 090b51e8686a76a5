//! Alert ids.

audit_domain::ulid_id!(
    /// The id of an alert. The upper 48 bits are its `fired_at` in milliseconds, so ids sort by that time.
    AlertId, "alt_", "an alert id"
);

#[cfg(test)]
mod tests {
    use super::*;
    use audit_domain::{IdError, Timestamp};
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
            assert_eq!(
                other.parse::<AlertId>(),
                Err(IdError::new("an alert id: alt_ and 26 characters")),
                "{other}"
            );
        }
    }

    proptest! {
        #[test]
        fn alert_ids_sort_alike_as_text_and_as_bytes(a in any::<u128>(), b in any::<u128>()) {
            let (a, b) = (AlertId::from_bytes(a.to_be_bytes()), AlertId::from_bytes(b.to_be_bytes()));
            prop_assert_eq!(a.cmp(&b), a.to_string().cmp(&b.to_string()));
            prop_assert_eq!(a.cmp(&b), a.to_bytes().cmp(&b.to_bytes()));
            prop_assert_eq!(a.to_string().parse(), Ok(a));
        }
    }
}
