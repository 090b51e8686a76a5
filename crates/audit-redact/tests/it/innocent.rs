//! Text that looks sensitive and is not, and sensitive text that is easily missed.

use audit_redact::{Engine, Shape};
use serde_json::{Value, json};

fn redacted(value: &Value) -> Value {
    let mut value = value.clone();
    Engine::builtins().redact(&mut value, &Shape::free_form());
    value
}

fn assert_unchanged(values: &[Value]) {
    let changed: Vec<_> = values.iter().filter(|value| redacted(value) != **value).collect();
    assert!(changed.is_empty(), "{changed:#?}");
}

/// Texts in which the part between the brackets `⟦⟧` is redacted and nothing else.
fn assert_redacted(texts: &[&str]) {
    let wrong: Vec<_> = texts
        .iter()
        .filter_map(|text| {
            let original = text.replace(['⟦', '⟧'], "");
            let mut expected = String::new();
            for (index, piece) in text.split(['⟦', '⟧']).enumerate() {
                expected += if index % 2 == 1 { "[REDACTED]" } else { piece };
            }
            let output = redacted(&json!({"note": original}));
            (output["note"] != expected).then_some((*text, output["note"].clone()))
        })
        .collect();
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn ids_are_no_phone_numbers_however_their_keys_are_written() {
    assert_unchanged(&[
        json!({"ContactID": 100200300}),
        json!({"CONTACT_ID": 100200300}),
        json!({"contact-id": "100200300"}),
        json!({"CallID": 8412345678_u64}),
        json!({"callSID": "8412345678"}),
        json!({"cellIDs": [8412345678_u64, 8412345679_u64]}),
        json!({"smsID": "8412345678"}),
        json!({"PhoneID": "8412345678"}),
        json!({"PHONE_IDS": ["8412345678"]}),
        json!({"phoneUUIDs": "8412345678"}),
        json!({"CardID": "50180000000009"}),
        json!("phone id 8412345678"),
    ]);
}

#[test]
fn ordinary_words_are_no_evidence_for_a_phone_number_without_a_format() {
    assert_unchanged(&[
        json!("Deleted contact 4815162342"),
        json!("API call 8412345678 took 12ms"),
        json!({"call_started": 1755302400}),
        json!("called GET /v1/items/12345678 200"),
        json!("mobile session 4815162342"),
        json!("cell 4815162342 was edited"),
        json!("dial 4815162342"),
        json!({"contact": "4815162342"}),
        json!({"contact": 4815162342_u64}),
        json!({"mobile": 4815162342_u64}),
        json!("sms 4815162342 delivered"),
    ]);
    assert_redacted(&[
        "call ⟦0171 2345678⟧",
        "call ⟦07700900123⟧ today",
        "contact ⟦+442079460958⟧",
        "mobile number ⟦4815162342⟧",
        "call me at ⟦4155550123⟧",
        "tel ⟦4155550123⟧",
    ]);
    assert_eq!(
        redacted(&json!({"mobile": "9876543210"})),
        json!({"mobile": "[REDACTED]"})
    );
    assert_eq!(
        redacted(&json!({"mobile_number": 4815162342_u64})),
        json!({"mobile_number": "[REDACTED]"})
    );
}

#[test]
fn a_signed_amount_is_no_phone_number_and_a_count_is_no_part_of_one() {
    assert_unchanged(&[
        json!({"diff": "+20000000"}),
        json!({"delta": "+2012345678"}),
        json!("balance +5000000000"),
    ]);
    assert_redacted(&[
        "⟦+49 30 901820⟧ 12 pieces",
        "⟦+33 1 23 45 67 89⟧ 12 pieces",
        "⟦+44 20 7946 0958⟧ 120 pieces",
        "⟦+1 212 555 0187⟧ 12 pieces",
        "⟦+91 98765 43210⟧ 2 calls",
    ]);
}

#[test]
fn an_address_needs_a_top_level_domain() {
    assert_unchanged(&[
        json!({"members@odata.bind": ["https://graph.example.com/v1.0/users/1"]}),
        json!("owners@odata.bind"),
        json!("manager@odata.id"),
        json!("user@1000.service: Succeeded"),
        json!("started getty@tty1.service and dbus@x.socket"),
        json!("jane@example.notadomain"),
    ]);
    assert_redacted(&[
        "⟦jane@example.photography⟧",
        "⟦jane@host.internal⟧",
        "⟦JANE@EXAMPLE.COM⟧",
    ]);
}
