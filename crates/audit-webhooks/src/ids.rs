//! Ids of webhooks, deliveries and messages.

use audit_domain::ulid_id;

ulid_id!(
    /// A webhook: an address to which a project's alerts are sent.
    WebhookId,
    "wh_",
    "a webhook id"
);
ulid_id!(
    /// A delivery: one message on its way to one webhook, with all its attempts.
    DeliveryId,
    "whd_",
    "a delivery id"
);
ulid_id!(
    /// A message: the header `webhook-id`, by which receivers detect a repeat. It is derived from the id of the alert, so that
    /// every attempt on every node has the same id. A test message has a random id.
    MessageId,
    "msg_",
    "a message id"
);

#[cfg(test)]
mod tests {
    use super::*;
    use audit_domain::Timestamp;
    use proptest::prelude::*;

    #[test]
    fn ids_have_a_prefix_and_one_encoding() {
        let now = Timestamp::from_millis(1_768_473_000_000);
        let text = WebhookId::new(now, [7; 10]).to_string();
        assert!(text.starts_with("wh_01") && text.len() == 29, "{text}");
        assert_eq!(text.parse(), Ok(WebhookId::new(now, [7; 10])));
        let delivery = DeliveryId::new(now, [7; 10]).to_string();
        assert!(
            delivery.starts_with("whd_01") && delivery.len() == 30,
            "{delivery}"
        );
        for other in [
            text.to_lowercase(),
            delivery,
            "wh_".into(),
            format!("wh_8{}", "Z".repeat(25)),
        ] {
            let error = other.parse::<WebhookId>().expect_err("one spelling");
            assert_eq!(
                error.to_string(),
                "must be a webhook id: wh_ and 26 characters",
                "{other}"
            );
        }
    }

    proptest! {
        #[test]
        fn a_message_id_round_trips(bytes in any::<[u8; 16]>()) {
            let id = MessageId::from_bytes(bytes);
            prop_assert_eq!(id.to_bytes(), bytes);
            prop_assert_eq!(id.to_string().len(), 30);
            prop_assert_eq!(id.to_string().parse(), Ok(id));
        }

        #[test]
        fn webhook_and_delivery_ids_sort_as_their_bytes(a in any::<[u8; 16]>(), b in any::<[u8; 16]>()) {
            prop_assert_eq!(WebhookId::from_bytes(a).to_string().cmp(&WebhookId::from_bytes(b).to_string()), a.cmp(&b));
            prop_assert_eq!(DeliveryId::from_bytes(a).to_string().parse(), Ok(DeliveryId::from_bytes(a)));
        }
    }
}
