//! Objects in S3-compatible buckets.

use super::{Batch, BatchId, Message, Method};
use crate::config::{S3, Secret};
use audit_domain::Timestamp;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use flate2::Compression;
use flate2::write::GzEncoder;
use rusty_s3::actions::PutObject;
use rusty_s3::{Credentials, S3Action};
use sha2::{Digest, Sha256};
use std::io::Write;
use std::time::Duration;
use ureq::http::Uri;

/// How long a signed request is valid. It is sent at once.
const SIGNED_FOR: Duration = Duration::from_secs(300);

/// A `PUT` that stores an object only if there is none of its name: a repeat of the batch has the same name.
pub(super) fn message(target: &S3, batch: &Batch, now: Timestamp) -> Message {
    let body = content(target.compress, batch);
    let name = format!("{}{}", target.prefix, object_name(&batch.id, target.compress));
    let headers = [
        ("if-none-match", "*".to_owned()),
        // A bucket with object lock refuses requests without the digest of the content.
        ("x-amz-checksum-sha256", STANDARD.encode(Sha256::digest(&body))),
    ];
    let credentials = Credentials::new(target.access_key.as_str(), target.secret_key.as_str());
    let mut action = PutObject::new(&target.bucket, Some(&credentials), &name);
    for (name, value) in &headers {
        action.headers_mut().insert(*name, value.clone());
    }
    let signed_at = jiff::Timestamp::from_second(now.as_seconds()).unwrap_or_default();
    let url = action.sign_with_time(SIGNED_FOR, &signed_at);
    let uri: Uri = url
        .as_str()
        .parse()
        .expect("a URL of the standard is a URI once it is encoded");
    Message {
        method: Method::Put,
        uri,
        headers: headers
            .map(|(name, value)| (name.to_owned(), Secret::new(value)))
            .into(),
        body,
    }
}

/// One record a line.
fn content(compress: bool, batch: &Batch) -> Vec<u8> {
    let records = batch.records.iter();
    let lines: String = records.flat_map(|record| [record.text.as_str(), "\n"]).collect();
    if !compress {
        return lines.into_bytes();
    }
    let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
    encoder
        .write_all(lines.as_bytes())
        .and_then(|()| encoder.finish())
        .expect("a vector takes every write")
}

/// `destination=<id>/run=<number>/date=<UTC day>/hour=<UTC hour>/<first>-<last position>-<microseconds>.jsonl[.gz]`, of the time at
/// which the batch was planned.
///
/// Destinations may share a bucket, and runs have the same positions, so both are in the name. The microseconds tell a repeat
/// of a batch from another batch with the same positions, such as one that is planned after the database was restored from a
/// backup: it must not be taken for delivered because an object of its name exists.
fn object_name(id: &BatchId, compress: bool) -> String {
    let at = id.at.to_string();
    let last = (id.first_position + id.records).saturating_sub(1);
    format!(
        "destination={}/run={}/date={}/hour={}/{:012}-{last:012}-{}.jsonl{}",
        id.destination,
        id.run,
        &at[..10],
        &at[11..13],
        id.first_position,
        id.at.as_micros(),
        if compress { ".gz" } else { "" },
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_those_of_one_batch_of_one_run() {
        let id = BatchId {
            destination: "dst_1".into(),
            run: 0,
            first_position: 12,
            records: 3,
            first_seq: 40,
            end_seq: 50,
            at: Timestamp::from_seconds(1_768_473_000),
        };
        assert_eq!(
            object_name(&id, true),
            "destination=dst_1/run=0/date=2026-01-15/hour=10/000000000012-000000000014-1768473000000000.jsonl.gz"
        );
        let one_later = BatchId {
            at: Timestamp::from_micros(id.at.as_micros() + 1),
            ..id.clone()
        };
        assert_ne!(object_name(&id, false), object_name(&one_later, false));
        assert!(object_name(&id, false).ends_with(".jsonl"));
    }
}
