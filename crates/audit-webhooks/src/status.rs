//! Where a delivery stands.

audit_domain::words! {
    /// Where a delivery stands.
    pub enum DeliveryStatus {
        /// Not yet delivered; another attempt is due now or later.
        Pending = "pending",
        /// Answered with 2xx.
        Delivered = "delivered",
        /// Given up: the last attempt failed, or the receiver is gone.
        Failed = "failed",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn statuses_are_read_back_as_written() {
        for status in DeliveryStatus::ALL {
            assert_eq!(status.as_str().parse(), Ok(*status));
        }
        assert!("Pending".parse::<DeliveryStatus>().is_err());
    }
}
