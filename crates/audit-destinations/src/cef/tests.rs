use crate::{OcsfOptions, Payload, Record, RecordFormat, StreamPart, encode};
use audit_domain::Timestamp;
use serde_json::{Value, json};

fn line_of(event: &Value) -> String {
    let stream = StreamPart {
        destination: "dst_1",
        log: "p/live",
        run: 0,
        position: 12,
    };
    let json = event.to_string();
    let payload = Payload::Event {
        seq: 345,
        json: &json,
    };
    let at = Timestamp::from_seconds(1_768_473_000);
    encode(
        &Record { stream, payload },
        RecordFormat::Cef,
        &OcsfOptions::default(),
        at,
    )
    .text
}

#[test]
fn an_event_is_one_line() {
    let event = json!({
        "id": "evt_1", "occurred_at": "2026-01-15T09:00:00.000Z", "received_at": "2026-01-15T10:30:00.250Z", "outcome": "denied",
        "action": "document.viewed", "category": "access", "tenant_id": "acme", "content_hash": "sha256:00",
        "actor": {"id": "u_1", "type": "user", "name": "Jane"}, "target": {"id": "d_1", "type": "document"},
        "context": {"ip_address": "203.0.113.7", "user_agent": "curl/8", "session_id": "s_1"},
    });
    assert_eq!(
        line_of(&event),
        "CEF:0|audit-log|audit-log|1|document.viewed|document.viewed by Jane on d_1|6|externalId=evt_1 start=1768467600000 \
         rt=1768473000250 act=document.viewed cat=access outcome=denied suid=u_1 suser=Jane src=203.0.113.7 \
         requestClientApplication=curl/8 cs1Label=tenant cs1=acme cs2Label=targetType cs2=document cs3Label=targetId cs3=d_1 \
         cs4Label=session cs4=s_1 cs5Label=contentHash cs5=sha256:00 cs6Label=stream cs6=p/live/destinations/dst_1/0 \
         cn1Label=position cn1=12 cn2Label=seq cn2=345"
    );
}

#[test]
fn separators_and_line_breaks_are_escaped() {
    let event = json!({
        "action": "a.b", "actor": {"id": "a|b=c\\d\ne\rf\tg"}, "context": {"ip_address": "2001:db8::7"},
    });
    let line = line_of(&event);
    let (header, extension) = line.split_once("|3|").expect("a header");
    assert_eq!(header, r"CEF:0|audit-log|audit-log|1|a.b|a.b by a\|b=c\\d e f g");
    assert!(extension.contains(r" suid=a|b\=c\\d\ne\rf g "), "{extension}");
    // A value at whose end is a separator of the header is not the header's end.
    let piped = line_of(&json!({"action": "a.b", "actor": {"id": "a|"}}));
    assert!(piped.contains(" suid=a| cs6Label="), "{piped}");
    assert!(
        extension.contains(" c6a2Label=sourceIPv6Address c6a2=2001:db8::7 "),
        "{extension}"
    );
}
