//! The limits of anonymous streams.

/// The limits of streams. `None` is no limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StreamLimits {
    /// Requests of one client in any minute.
    pub requests_per_minute: Option<usize>,
    /// Streams that one client may create per UTC day.
    pub new_per_day: Option<u64>,
    /// Events of one stream per UTC day.
    pub events_per_day: Option<u64>,
    /// Events of one stream in total.
    pub events_total: Option<u64>,
}

impl Default for StreamLimits {
    fn default() -> Self {
        Self {
            requests_per_minute: Some(30),
            new_per_day: Some(10),
            events_per_day: Some(100),
            events_total: Some(500),
        }
    }
}
