use super::*;

const AT: Timestamp = Timestamp::from_seconds(1_768_473_000);
const EVENT: &str = r#"{"content_hash":"sha256:00","redacted":false,"action":"auth.login","id":"evt_1","occurred_at":"2026-01-15T09:00:00.000Z","outcome":"denied","metadata":{"n":1E400}}"#;

fn stream(run: u64, position: u64) -> StreamPart<'static> {
    StreamPart {
        destination: "dst_1",
        log: "p/live",
        run,
        position,
    }
}

fn encoded(stream: StreamPart<'_>, payload: Payload<'_>, format: RecordFormat) -> Encoded {
    encode(&Record { stream, payload }, format, &OcsfOptions::default(), AT)
}

#[test]
fn a_record_in_json_is_the_event_byte_for_byte_with_its_place() {
    let record = encoded(
        stream(0, 12),
        Payload::Event {
            seq: 345,
            json: EVENT,
        },
        RecordFormat::Json,
    );
    let place = r#"{"destination":"dst_1","log":"p/live","position":12,"run":0,"seq":345}"#;
    let event = EVENT.strip_suffix('}').expect("an object");
    assert_eq!(record.text, format!("{event},\"stream\":{place}}}"));
}

#[test]
fn a_record_has_the_id_the_time_and_the_severity_of_its_event() {
    for format in RecordFormat::ALL {
        let event = EVENT.replace("1E400", "1");
        let record = encoded(
            stream(0, 12),
            Payload::Event {
                seq: 345,
                json: &event,
            },
            *format,
        );
        assert_eq!(record.id, "evt_1");
        assert_eq!(record.time.to_string(), "2026-01-15T09:00:00.000Z");
        assert_eq!(record.severity, Severity::Warning);
        let succeeded = event.replace("denied", "success");
        let record = encoded(
            stream(0, 12),
            Payload::Event {
                seq: 345,
                json: &succeeded,
            },
            *format,
        );
        assert_eq!(record.severity, Severity::Informational);
    }
}

#[test]
fn a_replay_and_a_test_are_marked() {
    let place = |record: Encoded| {
        let value: Value = serde_json::from_str(&record.text).expect("JSON");
        value["stream"].clone()
    };
    let replayed = encoded(
        stream(3, 1),
        Payload::Event { seq: 7, json: "{}" },
        RecordFormat::Json,
    );
    assert_eq!(
        place(replayed),
        json!({"destination": "dst_1", "log": "p/live", "run": 3, "position": 1, "seq": 7, "replay": true})
    );
    let test = encoded(stream(0, 0), Payload::Test, RecordFormat::Json);
    assert_eq!((test.id.as_str(), test.time), ("dst_1-0-0", AT));
    assert_eq!(
        place(test),
        json!({"destination": "dst_1", "log": "p/live", "run": 0, "position": 0, "test": true})
    );
}

#[test]
fn a_checkpoint_has_the_members_of_the_interface() {
    let checkpoint = Payload::Checkpoint {
        note: "a\nb\n",
        log_checkpoint: "c\n",
        through_position: 12,
        through_seq: 345,
    };
    let members = json!({
        "type": "audit.log.checkpoint", "note": "a\nb\n", "log_checkpoint": "c\n", "through_position": 12, "through_seq": 345,
        "stream": {"destination": "dst_1", "log": "p/live", "run": 0, "position": 13},
    });
    for format in RecordFormat::ALL {
        let record = encoded(stream(0, 13), checkpoint, *format);
        assert_eq!((record.id.as_str(), record.time), ("dst_1-0-13", AT));
        assert!(!record.text.contains('\n'), "{}", record.text);
        match format {
            RecordFormat::Json => assert_eq!(record.text, members.to_string()),
            RecordFormat::Ocsf => {
                let value: Value = serde_json::from_str(&record.text).expect("JSON");
                assert_eq!(value["unmapped"], members);
            }
            RecordFormat::Cef => assert!(record.text.contains(" cs4=a\\nb\\n "), "{}", record.text),
        }
    }
}

#[test]
fn an_event_without_an_id_has_that_of_its_place() {
    let record = encoded(
        stream(0, 12),
        Payload::Event {
            seq: 345,
            json: " { } ",
        },
        RecordFormat::Json,
    );
    let value: Value = serde_json::from_str(&record.text).expect("JSON");
    assert_eq!(value["stream"]["position"], 12);
    assert_eq!((record.id.as_str(), record.time), ("dst_1-0-12", AT));
}
