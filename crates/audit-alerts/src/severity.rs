//! The severity of an alert.

audit_domain::words! {
    /// The severity of an alert, in ascending order.
    pub enum Severity {
        /// For information.
        Low = "low",
        /// Should be reviewed.
        Medium = "medium",
        /// Should be reviewed soon.
        High = "high",
        /// Needs immediate attention.
        Critical = "critical",
    }
}
