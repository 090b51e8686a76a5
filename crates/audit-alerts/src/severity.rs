//! How much an alert matters.

audit_domain::words! {
    /// How much an alert matters, from least to most.
    pub enum Severity {
        /// Good to know.
        Low = "low",
        /// Worth a look.
        Medium = "medium",
        /// Look soon.
        High = "high",
        /// Look now.
        Critical = "critical",
    }
}
