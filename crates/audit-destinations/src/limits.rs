//! The limits of receivers.

use crate::{Encoded, Kind, send};

/// The limits of a batch and of a record. Bytes are those of [`Encoded::text`]: what a protocol adds has been subtracted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// The most records of a batch.
    pub records_max: usize,
    /// The most bytes of a batch.
    pub bytes_max: usize,
    /// The most bytes of one record. [`too_large`] decides.
    pub record_bytes_max: usize,
    /// The greatest age in seconds. Older records are sent with the time of sending; the record itself keeps its time.
    pub age_seconds_max: Option<i64>,
}

impl Kind {
    /// The limits of this kind.
    ///
    /// | Kind | Limit of the receiver | Here | Source |
    /// |---|---|---|---|
    /// | `https` | Sumo Logic: 1 MB a request | 0.9 MB | <https://help.sumologic.com/docs/send-data/hosted-collectors/http-source/logs-metrics/> |
    /// | `https` | Azure Monitor and Sentinel: 1 MB a request | 0.9 MB | <https://learn.microsoft.com/azure/azure-monitor/service-limits> |
    /// | `https` | New Relic: 10⁶ bytes a request | 0.9 MB | <https://docs.newrelic.com/docs/logs/log-api/introduction-log-api/> |
    /// | `s3` | 5 GB a `PUT` | 8 MB and 10,000 records, which is what one attempt holds in memory | <https://docs.aws.amazon.com/AmazonS3/latest/userguide/upload-objects.html> |
    /// | `splunk_hec` | `max_content_length` a request: 1 MB in earlier versions, 800 MiB now | 0.5 MB, because 1,000 envelopes have as much | <https://docs.splunk.com/Documentation/Splunk/latest/Admin/Limitsconf> |
    /// | `datadog` | 5 MB a request, 1,000 records, 1 MB a record (longer ones are cut silently), 18 hours | 2 MB, because text is quoted, which doubles it at most; 18 hours less 5 minutes for the way | <https://docs.datadoghq.com/api/latest/logs/send-logs/> |
    /// | `otlp` | 20 MiB a request is recommended, 413 beyond the server's limit | 1.5 MB, because text is quoted, and many receivers stop at 4 MiB, the default of gRPC | <https://github.com/open-telemetry/opentelemetry-proto/blob/main/docs/specification.md> |
    /// | `syslog` | receivers should take 8,192 bytes a message | 8,192 with its header; longer records are cut | <https://www.rfc-editor.org/rfc/rfc5425#section-4.3.1> |
    pub const fn limits(self) -> Limits {
        let (records_max, bytes_max, record_bytes_max, age_seconds_max) = match self {
            Self::Https => (1_000, 900_000, 900_000, None),
            Self::S3 => (10_000, 8_000_000, 8_000_000, None),
            Self::SplunkHec => (1_000, 500_000, 500_000, None),
            Self::Datadog => (1_000, 2_000_000, 1_000_000, Some(18 * 3_600 - 300)),
            Self::Otlp => (1_000, 1_500_000, 1_500_000, None),
            Self::Syslog => (1_000, 1_000_000, 8_192, None),
        };
        Limits {
            records_max,
            bytes_max,
            record_bytes_max,
            age_seconds_max,
        }
    }
}

/// Whether the receiver would refuse the record, or cut it silently, for its length. Such a record is set aside without an
/// attempt. Syslog has none: a record that is too long is cut here, and says so.
pub fn too_large(kind: Kind, record: &Encoded) -> bool {
    let bytes = match kind {
        Kind::Syslog => return false,
        Kind::Datadog => send::datadog::entry_bytes(record),
        _ => record.text.len(),
    };
    bytes > kind.limits().record_bytes_max
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Severity;
    use audit_domain::Timestamp;

    fn record(text: String) -> Encoded {
        Encoded {
            text,
            time: Timestamp::from_seconds(0),
            id: String::new(),
            severity: Severity::Informational,
        }
    }

    #[test]
    fn a_record_may_have_exactly_the_bytes_of_the_limit() {
        for kind in Kind::ALL {
            let limits = kind.limits();
            assert!(limits.record_bytes_max <= limits.bytes_max, "{kind}");
            let of_bytes = |bytes| record("x".repeat(bytes));
            // Datadog's limit is that of the entry, which has other members.
            if !matches!(kind, Kind::Datadog) {
                assert!(!too_large(*kind, &of_bytes(limits.record_bytes_max)), "{kind}");
            }
            let one_more = too_large(*kind, &of_bytes(limits.record_bytes_max + 1));
            assert_eq!(one_more, *kind != Kind::Syslog, "{kind}");
        }
    }

    #[test]
    fn quotes_count_twice_for_datadog() {
        assert!(!too_large(Kind::Datadog, &record("x".repeat(600_000))));
        assert!(too_large(Kind::Datadog, &record("\"".repeat(600_000))));
    }
}
