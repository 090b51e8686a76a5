//! The cases that the tests of all clients read: `clients/conformance/tables`.

use audit_client::{Client, Error, NewEvent, Record, RecordedEvents};
use parking_lot::Mutex;
use serde_json::Value;
use std::sync::Arc;

/// The cases of a table.
pub(crate) fn cases(name: &str) -> Vec<Value> {
    let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../clients/conformance/tables")
        .join(name);
    let text = std::fs::read(path).expect("a table");
    serde_json::from_slice(&text).expect("an array")
}

#[test]
fn what_the_service_accepts_is_recorded() {
    for case in cases("valid-events.json") {
        let event = NewEvent::from_serialize(&case["event"]).expect("an object");
        assert_eq!(event.check(), Ok(()), "{case}");
        let audit = RecordedEvents::default();
        assert!(audit.record(event).expect("no error"), "{case}");
    }
}

#[test]
fn an_invalid_event_is_reported_at_once_and_by_its_field() {
    for case in cases("invalid-events.json") {
        let reported = Arc::new(Mutex::new(Vec::new()));
        let kept = Arc::clone(&reported);
        let builder = Client::builder("http://127.0.0.1:9").api_key("pk_live_x");
        let audit = builder
            .clone()
            .on_result(move |recorded| kept.lock().push(recorded.result.clone()))
            .build()
            .expect("a client");
        let event = NewEvent::from_serialize(&case["event"]).expect("an object");
        assert!(!audit.record(event.clone()).expect("no error"), "{case}");
        let results = reported.lock().clone();
        let [Err(error)] = results.as_slice() else {
            panic!("{case}: {results:?}")
        };
        let field = format!(" {}: ", case["field"].as_str().expect("a field"));
        assert!(format!("{error}").contains(&field), "{case}: {error}");
        let stats = audit.stats();
        assert_eq!(
            (stats.recorded, stats.failed, stats.dropped, stats.pending),
            (1, 1, 0, 0)
        );
        assert!(!audit.flush(std::time::Duration::ZERO));
        let strict = builder.raise_invalid(true).build().expect("a client");
        assert!(
            matches!(strict.record(event), Err(Error::Argument { .. })),
            "{case}"
        );
    }
}
