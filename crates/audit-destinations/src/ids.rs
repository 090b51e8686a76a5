//! Ids of destinations.

use audit_domain::ulid_id;

ulid_id!(
    /// A destination: a place to which the events of one log are sent, with the cursor of how far they are.
    DestinationId,
    "dst_",
    "a destination id"
);

#[cfg(test)]
mod tests {
    use super::*;
    use audit_domain::Timestamp;

    #[test]
    fn an_id_has_a_prefix_and_one_encoding() {
        let id = DestinationId::new(Timestamp::from_millis(1_768_473_000_000), [7; 10]);
        let text = id.to_string();
        assert!(
            text.starts_with("dst_01") && text.len() == DestinationId::CHARS,
            "{text}"
        );
        assert_eq!(text.parse(), Ok(id));
        for other in [text.to_lowercase(), text.replace("dst_", "wh_"), "dst_".into()] {
            let error = other.parse::<DestinationId>().expect_err("one spelling");
            assert_eq!(
                error.to_string(),
                "must be a destination id: dst_ and 26 characters",
                "{other}"
            );
        }
    }
}
