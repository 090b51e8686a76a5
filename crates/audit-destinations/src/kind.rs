//! Kinds of destinations, formats of records, states of a run.

audit_domain::words! {
    /// The protocol by which a destination is reached.
    pub enum Kind {
        /// A `POST` of JSON to any receiver.
        Https = "https",
        /// Objects in an S3-compatible bucket.
        S3 = "s3",
        /// Splunk's HTTP Event Collector.
        SplunkHec = "splunk_hec",
        /// The intake of Datadog Logs.
        Datadog = "datadog",
        /// OpenTelemetry logs over HTTP, in JSON.
        Otlp = "otlp",
        /// Syslog (RFC 5424) over TLS (RFC 5425).
        Syslog = "syslog",
    }
}

audit_domain::words! {
    /// The format of a record.
    pub enum RecordFormat {
        /// The event as the service shows it.
        Json = "json",
        /// Open Cybersecurity Schema Framework, as JSON.
        Ocsf = "ocsf",
        /// ArcSight Common Event Format.
        Cef = "cef",
    }
}

audit_domain::words! {
    /// The state of a run: whether its records arrive.
    pub enum RunState {
        /// The last attempt succeeded, or there was none.
        Active = "active",
        /// The last attempt failed in a way that passes; the run repeats it for ever.
        Delayed = "delayed",
        /// The receiver refuses the credentials.
        Credentials = "credentials",
        /// The receiver refuses record after record; the run waits for the operator.
        Parked = "parked",
    }
}

/// Whether a destination of this kind can have this format: CEF is one line of text, which the other kinds would send as JSON.
///
/// # Errors
/// What the format must be, as the message of a violation of the field `format`.
pub const fn check_format(kind: Kind, format: RecordFormat) -> Result<(), &'static str> {
    match (kind, format) {
        (Kind::Syslog, _) | (_, RecordFormat::Json | RecordFormat::Ocsf) => Ok(()),
        (_, RecordFormat::Cef) => Err("must be json or ocsf: cef is for destinations of the kind syslog"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_syslog_takes_cef() {
        for kind in Kind::ALL {
            assert_eq!(check_format(*kind, RecordFormat::Json), Ok(()));
            assert_eq!(check_format(*kind, RecordFormat::Ocsf), Ok(()));
            assert_eq!(
                check_format(*kind, RecordFormat::Cef).is_ok(),
                *kind == Kind::Syslog,
                "{kind}"
            );
        }
    }
}
