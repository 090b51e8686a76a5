//! Requests to any receiver: JSON with a signature of Standard Webhooks.

use super::{Batch, BatchId, Message};
use crate::config::{Framing, Https};
use audit_domain::Timestamp;
use audit_webhooks::{MessageId, SignatureHeaders};
use sha2::{Digest, Sha256};

pub(super) fn message(target: &Https, batch: &Batch, now: Timestamp) -> Message {
    let body = body(target.framing, batch).into_bytes();
    let signature = SignatureHeaders::sign(message_id(&batch.id), now, &body, &target.signing_secret, &[]);
    let mut message = Message::post(target.url.uri(), body);
    if matches!(target.framing, Framing::Lines) {
        message.headers.clear();
        message = message.with_header("content-type", "application/x-ndjson");
    }
    for (name, value) in signature.pairs() {
        message = message.with_header(name, value);
    }
    let added = target.headers.iter().chain(target.secret_headers.iter());
    message.headers.extend(added.cloned());
    message
}

fn body(framing: Framing, batch: &Batch) -> String {
    let records = batch.records.iter().map(|record| record.text.as_str());
    match framing {
        Framing::Array => format!("[{}]", Vec::from_iter(records).join(",")),
        Framing::Lines => records.flat_map(|record| [record, "\n"]).collect(),
    }
}

/// The id of a batch: the same at each attempt, by which a receiver detects a repeat.
fn message_id(id: &BatchId) -> MessageId {
    let text = format!(
        "{}\n{}\n{}\n{}\n{}\n{}",
        id.destination, id.run, id.first_position, id.records, id.first_seq, id.end_seq
    );
    let hash = Sha256::digest(text);
    MessageId::new(id.at, std::array::from_fn(|index| hash[index]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_part_of_a_batch_id_makes_another_message_id() {
        let id = || BatchId {
            destination: "dst_1".into(),
            run: 1,
            first_position: 2,
            records: 3,
            first_seq: 4,
            end_seq: 5,
            at: Timestamp::from_seconds(6),
        };
        let others = [
            BatchId {
                destination: "dst_2".into(),
                ..id()
            },
            BatchId { run: 0, ..id() },
            BatchId {
                first_position: 1,
                ..id()
            },
            BatchId { records: 2, ..id() },
            BatchId { first_seq: 3, ..id() },
            BatchId { end_seq: 6, ..id() },
            BatchId {
                at: Timestamp::from_seconds(7),
                ..id()
            },
        ];
        assert_eq!(message_id(&id()), message_id(&id()));
        for other in others {
            assert_ne!(message_id(&id()), message_id(&other), "{other:?}");
        }
    }
}
