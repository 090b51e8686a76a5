//! What a response means for a batch.

use crate::{Kind, Verdict};
use audit_webhooks::RetryAfter;
use serde_json::Value;

/// The verdict on a response over HTTP.
///
/// A batch is [`Verdict::Refused`] only where the response blames its records or its size, because such records are set aside in
/// the end. A response that blames the configuration (a wrong path, bucket or index) or that is not understood is repeated for
/// ever, so that no record is set aside for it, and the operator sees the response.
pub(super) fn of_response(kind: Kind, status: u16, body: &str, retry_after: Option<RetryAfter>) -> Verdict {
    let retry = Verdict::Retry { after: retry_after };
    match kind {
        Kind::S3 => of_s3(status, body).unwrap_or(retry),
        Kind::SplunkHec => of_splunk(status, body).unwrap_or(retry),
        Kind::Otlp => of_otlp(status, body).unwrap_or(retry),
        Kind::Https | Kind::Datadog | Kind::Syslog => by_status(status).unwrap_or(retry),
    }
}

/// `None` where the same batch is to be sent again.
///
/// Datadog's responses have these meanings: <https://docs.datadoghq.com/api/latest/logs/send-logs/>.
fn by_status(status: u16) -> Option<Verdict> {
    match status {
        200..=299 => Some(Verdict::Delivered),
        401 | 403 => Some(Verdict::Credentials),
        400 | 413 | 422 => Some(Verdict::Refused),
        _ => None,
    }
}

/// The bucket does not read what it stores, so only the size of an object can be refused. 412: an earlier attempt of this batch
/// has stored it, because the name is that of this batch alone.
///
/// Codes: <https://docs.aws.amazon.com/AmazonS3/latest/API/ErrorResponses.html>.
fn of_s3(status: u16, body: &str) -> Option<Verdict> {
    let has_code = |code: &str| body.contains(&format!("<Code>{code}</Code>"));
    match status {
        200..=299 | 412 => Some(Verdict::Delivered),
        // The clock of one side is wrong, which no other credential cures.
        403 if has_code("RequestTimeTooSkewed") => None,
        401 | 403 => Some(Verdict::Credentials),
        413 => Some(Verdict::Refused),
        400 if has_code("EntityTooLarge") => Some(Verdict::Refused),
        400 if has_code("ExpiredToken") || has_code("InvalidToken") => Some(Verdict::Credentials),
        _ => None,
    }
}

/// Codes of the HTTP Event Collector that blame the records: no data, invalid data format, event missing or blank, fields.
/// <https://help.splunk.com/en/splunk-enterprise/get-data-in/collect-http-event-data/troubleshoot-http-event-collector>
const SPLUNK_REFUSES_RECORDS: [i64; 5] = [5, 6, 12, 13, 15];
/// Codes that blame the token, whatever the status: token disabled, required, invalid.
const SPLUNK_REFUSES_TOKEN: [i64; 4] = [1, 2, 3, 4];

/// A 200 without code 0 is not the collector's. Of a refused request, the collector indexes the records before the one that it
/// names; they are repeated when the batch is halved.
fn of_splunk(status: u16, body: &str) -> Option<Verdict> {
    let response: Option<Value> = serde_json::from_str(body).ok();
    let code = response.and_then(|response| response["code"].as_i64());
    match (status, code) {
        (_, Some(code)) if SPLUNK_REFUSES_TOKEN.contains(&code) => Some(Verdict::Credentials),
        (400, Some(code)) if SPLUNK_REFUSES_RECORDS.contains(&code) => Some(Verdict::Refused),
        // Incorrect index, acknowledgement or channel: the configuration. Queues full, shutting down: later.
        (400, Some(_)) => None,
        (200..=299, Some(0)) => Some(Verdict::Delivered),
        (200..=299, _) => None,
        (status, _) => by_status(status),
    }
}

/// A partial success tells how many records were rejected, but not which. The batch is halved until the rejected ones are alone;
/// the others are repeated.
///
/// By the specification, only 429, 502, 503 and 504 are retryable:
/// <https://github.com/open-telemetry/opentelemetry-proto/blob/main/docs/specification.md#otlphttp-response>. 404, 405, 415 and the
/// like blame the configuration, and are repeated all the same. So is 500, because an outage of the receiver also looks like this.
fn of_otlp(status: u16, body: &str) -> Option<Verdict> {
    match status {
        200..=299 if rejects_records(body) => Some(Verdict::Refused),
        status => by_status(status),
    }
}

fn rejects_records(body: &str) -> bool {
    let response: Value = serde_json::from_str(body).unwrap_or_default();
    // 64-bit numbers of protobuf are texts in JSON; readers take both.
    match &response["partialSuccess"]["rejectedLogRecords"] {
        Value::String(number) => number.parse::<i64>().is_ok_and(|number| number > 0),
        Value::Number(number) => number.as_i64().is_some_and(|number| number > 0),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use Verdict::{Credentials, Delivered, Refused};
    use proptest::prelude::*;

    const KINDS_OVER_HTTP: [Kind; 5] = [Kind::Https, Kind::S3, Kind::SplunkHec, Kind::Datadog, Kind::Otlp];
    const RETRY: Verdict = Verdict::Retry { after: None };

    fn assert_all(kind: Kind, rows: &[(u16, &str, Verdict)]) {
        for (status, body, expected) in rows {
            let verdict = of_response(kind, *status, body, None);
            assert_eq!(verdict, *expected, "{kind} {status} {body}");
        }
    }

    #[test]
    fn a_status_alone_decides_for_https_and_datadog() {
        for kind in [Kind::Https, Kind::Datadog] {
            assert_all(
                kind,
                &[
                    (200, "", Delivered),
                    (202, "{}", Delivered),
                    (204, "", Delivered),
                    (301, "", RETRY),
                    (304, "", RETRY),
                    (400, "", Refused),
                    (401, "", Credentials),
                    (403, "", Credentials),
                    (404, "", RETRY),
                    (405, "", RETRY),
                    (408, "", RETRY),
                    (410, "", RETRY),
                    (413, "", Refused),
                    (415, "", RETRY),
                    (422, "", Refused),
                    (429, "", RETRY),
                    (500, "", RETRY),
                    (501, "", RETRY),
                    (503, "", RETRY),
                    (507, "", RETRY),
                ],
            );
        }
    }

    #[test]
    fn a_bucket_refuses_credentials_or_size_and_never_records() {
        let code = |code: &str| format!("<Error><Code>{code}</Code><Message>…</Message></Error>");
        assert_all(
            Kind::S3,
            &[
                (200, "", Delivered),
                (412, &code("PreconditionFailed"), Delivered),
                (403, &code("SignatureDoesNotMatch"), Credentials),
                (403, &code("InvalidAccessKeyId"), Credentials),
                (403, &code("AccessDenied"), Credentials),
                (403, &code("RequestTimeTooSkewed"), RETRY),
                (400, &code("ExpiredToken"), Credentials),
                (400, &code("AuthorizationHeaderMalformed"), RETRY),
                (400, &code("EntityTooLarge"), Refused),
                (413, "", Refused),
                (404, &code("NoSuchBucket"), RETRY),
                (409, &code("ConditionalRequestConflict"), RETRY),
                (301, &code("PermanentRedirect"), RETRY),
                (503, &code("SlowDown"), RETRY),
                (507, &code("InsufficientStorage"), RETRY),
            ],
        );
    }

    #[test]
    fn splunk_tells_by_a_code_what_it_refuses() {
        assert_all(
            Kind::SplunkHec,
            &[
                (200, r#"{"text":"Success","code":0}"#, Delivered),
                (200, r#"{"text":"Success","code":0,"ackId":7}"#, Delivered),
                (200, "<html>login</html>", RETRY),
                (200, "", RETRY),
                (403, r#"{"text":"Token disabled","code":1}"#, Credentials),
                (401, r#"{"text":"Token is required","code":2}"#, Credentials),
                (401, r#"{"text":"Invalid authorization","code":3}"#, Credentials),
                (403, r#"{"text":"Invalid token","code":4}"#, Credentials),
                (400, r#"{"text":"Invalid token","code":4}"#, Credentials),
                (403, "", Credentials),
                (400, r#"{"text":"No data","code":5}"#, Refused),
                (
                    400,
                    r#"{"text":"Invalid data format","code":6,"invalid-event-number":1}"#,
                    Refused,
                ),
                (
                    400,
                    r#"{"text":"Incorrect index","code":7,"invalid-event-number":1}"#,
                    RETRY,
                ),
                (500, r#"{"text":"Internal server error","code":8}"#, RETRY),
                (503, r#"{"text":"Server is busy","code":9}"#, RETRY),
                (400, r#"{"text":"Data channel is missing","code":10}"#, RETRY),
                (400, r#"{"text":"Invalid data channel","code":11}"#, RETRY),
                (400, r#"{"text":"Event field is required","code":12}"#, Refused),
                (
                    400,
                    r#"{"text":"Event field cannot be blank","code":13}"#,
                    Refused,
                ),
                (400, r#"{"text":"ACK is disabled","code":14}"#, RETRY),
                (
                    400,
                    r#"{"text":"Error in handling indexed fields","code":15}"#,
                    Refused,
                ),
                (
                    400,
                    r#"{"text":"Query string authorization is not enabled","code":16}"#,
                    RETRY,
                ),
                (
                    503,
                    r#"{"text":"HEC is unhealthy, queues are full","code":18}"#,
                    RETRY,
                ),
                (400, "not JSON", Refused),
                (
                    404,
                    r#"{"text":"The requested URL was not found on this server.","code":404}"#,
                    RETRY,
                ),
                (413, "", Refused),
                (415, "<html>", RETRY),
                (429, "", RETRY),
            ],
        );
    }

    #[test]
    fn otlp_counts_rejected_records_and_repeats_what_is_no_refusal() {
        let rejected = |number: &str| format!(r#"{{"partialSuccess":{{"rejectedLogRecords":{number}}}}}"#);
        assert_all(
            Kind::Otlp,
            &[
                (200, "{}", Delivered),
                (200, "", Delivered),
                (200, "\u{0}binary", Delivered),
                (200, r#"{"partialSuccess":{}}"#, Delivered),
                (
                    200,
                    r#"{"partialSuccess":{"errorMessage":"a warning"}}"#,
                    Delivered,
                ),
                (200, &rejected("0"), Delivered),
                (200, &rejected("\"0\""), Delivered),
                (200, &rejected("\"2\""), Refused),
                (200, &rejected("2"), Refused),
                (400, "", Refused),
                (413, "", Refused),
                (401, "", Credentials),
                (403, "", Credentials),
                (404, "", RETRY),
                (429, "", RETRY),
                (500, "", RETRY),
                (502, "", RETRY),
                (503, "", RETRY),
                (504, "", RETRY),
            ],
        );
    }

    #[test]
    fn a_time_for_the_next_attempt_is_kept() {
        let after = Some(RetryAfter::Seconds(7));
        for kind in KINDS_OVER_HTTP {
            assert_eq!(
                of_response(kind, 429, "", after),
                Verdict::Retry { after },
                "{kind}"
            );
            assert_eq!(
                of_response(kind, 503, "", after),
                Verdict::Retry { after },
                "{kind}"
            );
        }
    }

    proptest! {
        #[test]
        fn no_status_of_a_server_that_fails_loses_a_batch(status in 500u16..600, body in "\\PC{0,80}") {
            for kind in KINDS_OVER_HTTP {
                let verdict = of_response(kind, status, &body, None);
                prop_assert_eq!(verdict, RETRY, "{} {}", kind, status);
            }
        }
    }
}
