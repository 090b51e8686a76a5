//! The status of a delivery.

audit_domain::words! {
    /// The status of a delivery.
    pub enum DeliveryStatus {
        /// Not yet delivered; another attempt is due now or later.
        Pending = "pending",
        /// The receiver responded with 2xx.
        Delivered = "delivered",
        /// The last attempt failed, or the receiver responded with 410.
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
