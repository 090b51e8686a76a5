//! Text that looks sensitive and is not, and sensitive text that is easily missed.

use audit_redact::{Behavior, Builtin, Engine, Shape};
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

#[test]
fn a_card_number_is_found_with_every_usual_separator_and_in_full_width() {
    assert_redacted(&[
        "⟦4111\t1111\t1111\t1111⟧",
        "⟦4111  1111  1111  1111⟧",
        "⟦4111_1111_1111_1111⟧",
        "⟦4111/1111/1111/1111⟧",
        "paid ⟦4111111111111111⟧.00 EUR",
        "番号：⟦４１１１１１１１１１１１１１１１⟧。",
    ]);
    assert_redacted(&[
        "⟦４１１１　１１１１　１１１１　１１１１⟧",
        "⟦jane＠example.com⟧ です",
    ]);
    assert_unchanged(&[
        json!("4111_1111_1111_1112"),
        json!("4111/1111/1111/1112"),
        json!("4111111111111111.25"),
        json!("/4111/1111/1111/1111/2222"),
    ]);
    let engine = Engine::builder()
        .builtin(Builtin::CreditCard, Behavior::Mask)
        .builtin(Builtin::Phone, Behavior::Mask)
        .build();
    let mut value = json!({"card": "４１１１１１１１１１１１１１１１", "phone": "０３０１２３４５６７８"});
    engine.redact(&mut value, &Shape::free_form());
    assert_eq!(
        value,
        json!({"card": "****-****-****-1111", "phone": "*******5678"})
    );
}

#[test]
fn a_secret_is_found_by_its_name_at_any_depth() {
    let event = json!({
        "password": "hunter2", "user": {"newPassword": "Tr0ub4dor&3", "list": [{"DB_PASSWORD": "s3cret!"}]},
        "passwords": ["first-one", "second-one"], "pin": 1234, "cvv": "123", "otp": 123456, "passphrase": "correct horse battery",
        "client_secret": "kJ8sd-77ahsd_2", "apiKey": "a8f5f167f44f4964e6c998dee827110c", "access_token": "ya7dhs8s7dh3kd9s",
        "Authorization": "Basic dXNlcjpwYXNzd29yZA==", "Cookie": "session=ab12cd34ef; theme=dark",
        "password_hash": "$2b$12$KIXQ4uD0cP8j8c0e0v1w2e", "пароль": "кот-123",
    });
    let output = redacted(&event);
    let hidden = "[REDACTED]";
    let expected = json!({
        "password": hidden, "user": {"newPassword": hidden, "list": [{"DB_PASSWORD": hidden}]},
        "passwords": [hidden, hidden], "pin": hidden, "cvv": hidden, "otp": hidden, "passphrase": hidden,
        "client_secret": hidden, "apiKey": hidden, "access_token": hidden,
        "Authorization": "Basic [REDACTED]", "Cookie": hidden, "password_hash": hidden, "пароль": hidden,
    });
    assert_eq!(output, expected);
}

#[test]
fn a_secret_is_found_by_the_name_in_its_pair() {
    let pairs = json!([
        {"name": "password", "value": "hunter2"},
        {"Key": "DB_PASSWORD", "Value": "s3cret!"},
        {"field": "client_secret", "old_value": "kJ8sd-77ahsd_2", "new_value": null},
        {"parameterKey": "MasterUserPassword", "parameterValue": "Tr0ub4dor&3"},
        {"name": "pin", "value": 1234},
        {"name": "passwords", "values": ["first-one", "second-one"], "jane@example.com": true},
    ]);
    let hidden = "[REDACTED]";
    let expected = json!([
        {"name": "password", "value": hidden},
        {"Key": "DB_PASSWORD", "Value": hidden},
        {"field": "client_secret", "old_value": hidden, "new_value": null},
        {"parameterKey": "MasterUserPassword", "parameterValue": hidden},
        {"name": "pin", "value": hidden},
        {"name": "passwords", "values": [hidden, hidden], hidden: true},
    ]);
    let output = redacted(&pairs);
    assert_eq!(output, expected);
    assert_eq!(redacted(&output), output);
    assert_unchanged(&[
        json!({"name": "color", "value": "hunter2"}),
        json!({"name": "password_policy", "value": "strong-2"}),
        json!({"name": "password", "description": "hunter2"}),
        json!({"name": "pin_code", "value": 560001}),
    ]);
}

#[test]
fn a_secret_is_found_by_the_plural_of_its_name() {
    assert_redacted(&[
        "passwords: ⟦hunter2⟧, ⟦s3cr3t#4⟧, thanks",
        "tokens=⟦a8f5f167f44f4964⟧",
        "tokens=⟦a8f5f167f44f4964⟧,⟦b9f5f167f44f4965⟧&n=2",
        "secrets: ⟦kJ8sd77ahsd2⟧; restart",
        "api_keys = ⟦a8f5f167f44f4964⟧",
        "pwds=⟦hunter2⟧",
        "passphrases: '⟦correct horse⟧'",
        "recovery codes: ⟦48213975⟧, ⟦91734602⟧",
        "password1=⟦hunter2⟧&password2=⟦hunter2⟧",
        "new_password: ⟦hunter2⟧",
        "password_new=⟦hunter2⟧",
        "password_again=⟦hunter2⟧",
        "password: ⟦hunter2⟧, 10.0.0.1",
        "if (password == '⟦Winter2026!⟧') return;",
    ]);
    let hidden = "[REDACTED]";
    assert_eq!(
        redacted(
            &json!({"passcodes": ["first-one"], "cookies": "sid=s3A9kQ2mVb3LtR8w", "passphrases": ["a b c"]})
        ),
        json!({"passcodes": [hidden], "cookies": hidden, "passphrases": [hidden]})
    );
    assert_unchanged(&[
        json!({"pins": 1250, "codes": "404, 502", "tokens": "4096", "cookies": "accepted"}),
        json!("tokens: 4096, 8192"),
        json!("passwords: 3 expired, 2 weak"),
        json!("codes: 404, 502"),
    ]);
}

#[test]
fn a_time_behind_the_name_of_a_password_is_no_secret() {
    assert_unchanged(&[
        json!({"reset_password": "2024-05-01T08:30:00Z", "change_password": 1755302400}),
        json!({"resetPassword": "2024-05-01", "updatedPassword": "1755302400"}),
        json!({"password_changed_at": 1755302400, "token_expires": 1755302400, "passwordChanged": "2024-05-01"}),
        json!({"last_password_change": "2024-05-01 08:30:00", "password_expires": "2024-05-01"}),
        json!({"password": "2024-05-01T08:30:00Z"}),
        json!("reset_password: 2024-05-01T08:30:00Z"),
        json!("reset_password=1755302400"),
        json!("password_changed_at=2024-05-01T08:30:00Z"),
        json!("token_expires: 1755302400, secret_rotated_at: 2024-05-01"),
        json!("last_password_change: 2024-05-01 08:30"),
        json!("tokens_revoked_at=1755302400"),
    ]);
    assert_redacted(&["reset password: ⟦Temp-1234⟧", "password=⟦1234567890⟧"]);
}

#[test]
fn what_is_only_about_a_secret_is_left_alone() {
    assert_unchanged(&[
        json!({"token_count": 12, "tokens": 4096, "max_tokens": "4096", "total_tokens": 123}),
        json!({"password_changed_at": "2026-01-01T00:00:00Z", "password_length": 12, "password_policy": "strong"}),
        json!({"secret_santa": true, "secret_name": "db-creds", "secretId": "arn:aws:secretsmanager:eu-1:123:secret:db-x7Yz9Q"}),
        json!({"token_id": "8f3kQ2mZx9Lw4TbR", "tokenType": "Bearer", "hashed_token": "Yw3m0u4vJ9x8z7Q1ab2Cd3=="}),
        json!({"password": null, "secret": null, "token": ""}),
        json!({"password": "[FILTERED]"}),
        json!({"password": "********"}),
        json!({"password": "changed", "token": "expired"}),
        json!({"errors": {"password": ["is too short", "must contain a digit"]}}),
        json!({"masterUserPassword": "HIDDEN_DUE_TO_SECURITY_REASONS"}),
        json!({"content_hash": "a8f5f167f44f4964e6c998dee827110c", "sha256": "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"}),
        json!({"clientRequestToken": "62D9D045-09D2-4527-86FF-63CC3A7A269B", "nextToken": "AAEAAbwQk+7AJvg2ZAp3PkimvgnsksUOA0Tk"}),
        json!({"secret": "prod/db/credentials", "token": "deploy-token-2", "api_key": "production"}),
        json!({"password": "${DB_PASSWORD}", "api_key": "{{ .Values.key }}", "token": "$TOKEN"}),
        json!({"passwordResetRequired": "false", "pin": true, "pinned": 12345, "status_code": 404, "key": "index-2024.zip"}),
        json!({"pin_code": 560001, "pincode": "560001", "zip_pin": "110001", "tokens_used": 123, "pass_count": 204}),
        json!({"has_password": 204, "max_token": "a8f5f167f44f4964", "passport_type": "P12345", "reset_password": true}),
        json!("Password: must be at least 8 characters"),
        json!("Token: expired"),
        json!("password reset requested for user 12"),
        json!("secret: rotated by admin"),
        json!("https://example.com/reset?token=&next=/home"),
        json!("https://example.com:8443/a@b"),
        json!("postgres://db.example.com:5432/app"),
        json!("Basic authentication is disabled"),
        json!("ghp_xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"),
        json!("-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----"),
        json!("-----BEGIN PUBLIC KEY-----\nMIIB\n-----END PUBLIC KEY-----"),
    ]);
}

#[test]
fn a_secret_is_found_in_text() {
    assert_redacted(&[
        "login with password=⟦hunter2⟧&user=jane",
        "PASSWORD: ⟦hunter2⟧, thanks",
        "my password is ⟦hunter2⟧.",
        "mot de passe : ⟦chat99⟧",
        "contraseña: ⟦gato-123⟧",
        "密码：⟦abc12345⟧",
        r#"{"password":"⟦a b c⟧","n":1}"#,
        r#"{\"api_key\":\"⟦a8f5f167f44f4964⟧\"}"#,
        "export API_KEY='⟦a8f5f167f44f4964⟧'",
        "mysql --user=root --password=⟦s3cr3t⟧ -h db",
        "deploy --token ⟦a8f5f167f44f4964⟧ now",
        "GET /x?access_token=⟦a8f5f167f44f4964⟧&b=1",
        "client_secret%3D⟦kJ8sd77ahsd2⟧",
        "Server=db;User Id=sa;Password=⟦Tr0ub4dor⟧;",
        "AccountKey=⟦Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq==⟧;",
        "Your verification code is ⟦123456⟧",
        "your one-time code is ⟦123456⟧",
        "mi contraseña es ⟦Gato2025⟧",
        "ALTER USER app WITH PASSWORD '⟦sunshine⟧'",
        "Set-Cookie: ⟦sid=s3A9kQ2mVb3LtR8w⟧; HttpOnly",
        "postgres://app:⟦s3cr3t⟧@db.example.com/app",
        "redis://:⟦pw⟧@cache:6379",
        "Authorization: Basic ⟦dXNlcjpwYXNzd29yZA==⟧",
        concat!("key ⟦ghp", "_16C7e42F292c6912E7710c838347Ae178B4a⟧ leaked"),
        concat!("⟦xoxb", "-123456789012-123456789012-AbCdEfGhIjKlMnOpQrStUvWx⟧"),
        concat!("⟦sk_live", "_4eC39HqLyjWDarjtT1zdp7dc⟧"),
        concat!("⟦AIza", "SyD-9tSrke72PouQMnMX-a7eZSW0jkFMBWY⟧"),
        "⟦-----BEGIN RSA PRIVATE KEY-----\nMIIEow\n-----END RSA PRIVATE KEY-----⟧\n",
        "IBAN ⟦DE89 3704 0044 0532 0130 00⟧",
    ]);
}

#[test]
fn an_id_of_a_session_is_a_secret_in_a_text_and_an_identifier_as_a_key() {
    assert_unchanged(&[
        json!({"session_id": "a91bc3d4e5f60718293a4b5c"}),
        json!({"context": {"sessionId": "a91bc3d4e5f60718293a4b5c"}}),
        json!({"sid": "S-1-5-21-3623811015-3361044348-30300820-1013"}),
        json!("sid=S-1-5-21-3623811015-3361044348-30300820-1013"),
    ]);
    assert_redacted(&["GET /a?session_id=⟦a91bc3d4e5f60718293a4b5c⟧"]);
}

#[test]
fn an_option_has_a_password_only_behind_its_program() {
    assert_unchanged(&[
        json!("docker run -p 8080:80 -u 1000:1000 nginx"),
        json!("mysql -P 3306 -u root -p"),
        json!("ssh -p 2222 root@host1 | mysql -u root"),
        json!("mkdir -p /srv/a1 && cp -p a1.txt b2.txt"),
    ]);
    assert_redacted(&[
        "mysql -uroot -p⟦s3cret⟧ < a.sql",
        "docker run -p 80:80 x && docker login -p ⟦s3cret⟧ r.example.com",
        "sshpass -p ⟦s3cret⟧ ssh -p 2222 host1",
    ]);
}
