use super::*;
use audit_domain::Violation;
use rcgen::{CertificateParams, KeyPair};

const SIGNING_SECRET: &str = "whsec_q6urq6urq6urq6urq6urq6urq6urq6urq6urq6urq6s=";

/// A complete configuration of each kind, with every setting and every credential.
fn complete() -> Vec<(Kind, Value, Value)> {
    let key = KeyPair::generate().unwrap();
    let certificate = CertificateParams::new(["client".to_owned()])
        .unwrap()
        .self_signed(&key)
        .unwrap();
    let headers = |value: &str| json!({"x-one": value});
    vec![
        (
            Kind::Https,
            json!({"url": "https://siem.example/in", "framing": "lines", "headers": headers("open")}),
            json!({"signing_secret": SIGNING_SECRET, "headers": {"authorization": "Bearer hidden-1"}}),
        ),
        (
            Kind::S3,
            json!({"url": "https://s3.example/bucket/a/b", "region": "eu-central-1", "compress": false}),
            json!({"access_key": "hidden-2", "secret_key": "hidden-3"}),
        ),
        (
            Kind::SplunkHec,
            json!({"url": "https://splunk.example:8088/services/collector/event", "index": "main", "source": "s", "sourcetype": "t"}),
            json!({"token": "hidden-4"}),
        ),
        (
            Kind::Datadog,
            json!({"site": "us5.datadoghq.com", "service": "s", "tags": "team:a,env:b"}),
            json!({"api_key": "hidden-5"}),
        ),
        (
            Kind::Otlp,
            json!({"url": "https://otel.example/v1/logs", "headers": headers("open")}),
            json!({"headers": {"api-key": "hidden-6"}}),
        ),
        (
            Kind::Syslog,
            json!({"host": "logs.example", "port": 6_515, "app_name": "a", "facility": 10, "ca": certificate.pem()}),
            json!({"client_certificate": certificate.pem(), "client_key": key.serialize_pem()}),
        ),
    ]
}

fn parse(kind: Kind, settings: &Value, credentials: &Value) -> Result<Config, Violations> {
    Config::parse(kind, settings, credentials, AddressPolicy::Public)
}

/// The violations as `field: message`.
fn violations(kind: Kind, settings: Value, credentials: Value) -> Vec<String> {
    let found = parse(kind, &settings, &credentials).unwrap_err().into_vec();
    let text = |violation: Violation| format!("{}: {}", violation.field, violation.message);
    found.into_iter().map(text).collect()
}

#[test]
fn a_complete_configuration_is_read_back_from_what_is_stored() {
    for (kind, settings, credentials) in complete() {
        let config = parse(kind, &settings, &credentials).unwrap();
        assert_eq!(config.kind(), kind);
        assert_eq!(config.settings(), settings);
        let names: Vec<&str> = credentials
            .as_object()
            .unwrap()
            .keys()
            .map(String::as_str)
            .collect();
        let mut shown = config.credential_names();
        shown.sort_unstable();
        assert_eq!(shown, names, "{kind}");
        let again = Config::from_stored(&config.to_stored()).unwrap();
        assert_eq!(again.to_stored(), config.to_stored(), "{kind}");
        assert_eq!(again.credentials(), *credentials.as_object().unwrap(), "{kind}");
    }
    assert_eq!(complete().len(), Kind::ALL.len());
}

#[test]
fn no_secret_is_in_debug_or_in_settings() {
    for (kind, settings, credentials) in complete() {
        let config = parse(kind, &settings, &credentials).unwrap();
        let shown = format!("{config:?} {config:#?} {}", config.settings());
        for secret in ["hidden", "whsec_", "PRIVATE KEY"] {
            assert!(!shown.contains(secret), "{shown}");
        }
        assert!(config.to_stored().contains("hidden") || kind == Kind::Syslog);
    }
}

#[test]
fn a_response_that_repeats_a_secret_is_shown_without_it() {
    for (kind, settings, credentials) in complete() {
        let config = parse(kind, &settings, &credentials).unwrap();
        let shown = config.without_secrets(&format!("you sent {}", config.to_stored().replace("\\n", "\n")));
        for secret in ["hidden", "whsec_q6", "PRIVATE KEY"] {
            assert!(!shown.contains(secret), "{shown}");
        }
        assert!(shown.starts_with("you sent "));
    }
}

/// A response has each letter, and many short words, by chance.
#[test]
fn a_credential_that_is_too_short_to_be_recognized_blanks_nothing() {
    let response = r#"{"text":"Token is required","code":2,"sent":"tokentokentokentoken"}"#;
    let shown = |token: &str| {
        let settings = json!({"url": "https://splunk.example:8088"});
        let config = parse(Kind::SplunkHec, &settings, &json!({"token": token})).unwrap();
        config.without_secrets(response)
    };
    for token in ["t", "e", "2", "\"", "to", "ken"] {
        assert_eq!(shown(token), response, "{token}");
        assert!(token.len() < SECRET_BYTES_MIN);
    }
    assert_eq!("toke".len(), SECRET_BYTES_MIN);
    let blanked = response.replace("toke", "[REDACTED]");
    assert_eq!(shown("toke"), blanked);
    assert!(blanked.contains("Token is required"), "{blanked}");
    // Words of a header have a bound of their own: this one is replaced as a whole, and not the name of its scheme.
    let headers = json!({"headers": {"x-key": "Key abcdefg"}});
    let config = parse(Kind::Otlp, &json!({"url": "https://otel.example/"}), &headers).unwrap();
    assert_eq!(
        config.without_secrets("Key abcdefg, abcdefg, Key"),
        "[REDACTED], abcdefg, Key"
    );
}

#[test]
fn a_response_that_repeats_a_part_of_the_url_is_shown_without_it() {
    let shown = |kind, url: &str, credentials: Value, text: &str| {
        let settings = match kind {
            Kind::S3 => json!({"url": url, "region": "r"}),
            _ => json!({"url": url}),
        };
        parse(kind, &settings, &credentials)
            .unwrap()
            .without_secrets(text)
    };
    let secret = || json!({"signing_secret": SIGNING_SECRET});
    let url = "https://siem.example/v1/http/Zm9v%2BbGl0&dG+xl==?key=a%20secret+word&flag&only-a-token";
    for (text, expected) in [
        ("no source Zm9v%2BbGl0&dG+xl==.", "no source [REDACTED]."),
        ("no source Zm9v+bGl0&dG+xl==.", "no source [REDACTED]."),
        (
            "a%20secret+word, a secret word, a secret+word",
            "[REDACTED], [REDACTED], [REDACTED]",
        ),
        ("?only-a-token", "?[REDACTED]"),
        ("siem.example: flag v1 http key", "siem.example: flag v1 http key"),
    ] {
        assert_eq!(shown(Kind::Https, url, secret(), text), expected);
    }
    let nested = "https://siem.example/abcdefgh/abcdefghijkl";
    assert_eq!(
        shown(Kind::Https, nested, secret(), "/abcdefgh/abcdefghijkl"),
        "/[REDACTED]/[REDACTED]"
    );
    let keys = json!({"access_key": "hidden-1", "secret_key": "hidden-2"});
    let bucket = "https://s3.example/acme-audit/prefixes";
    assert_eq!(
        shown(Kind::S3, bucket, keys, "no bucket acme-audit"),
        "no bucket acme-audit"
    );
}

#[test]
fn defaults_are_shown() {
    let of =
        |kind, settings: Value, credentials: Value| parse(kind, &settings, &credentials).unwrap().settings();
    let token = json!({"token": "t"});
    assert_eq!(
        of(
            Kind::SplunkHec,
            json!({"url": "https://splunk.example:8088"}),
            token.clone()
        ),
        json!({"url": "https://splunk.example:8088/services/collector/event", "index": null, "source": null, "sourcetype": "audit-log"})
    );
    let own_path = json!({"url": "https://splunk.example/other"});
    assert_eq!(
        of(Kind::SplunkHec, own_path, token)["url"],
        "https://splunk.example/other"
    );
    assert_eq!(
        of(Kind::Otlp, json!({"url": "https://otel.example"}), Value::Null),
        json!({"url": "https://otel.example/v1/logs", "headers": {}})
    );
    assert_eq!(
        of(Kind::Syslog, json!({"host": "2001:4860::1"}), json!({})),
        json!({"host": "2001:4860::1", "port": 6_514, "app_name": "audit-log", "facility": 13, "ca": null})
    );
    assert_eq!(
        of(
            Kind::Datadog,
            json!({"site": "datadoghq.eu"}),
            json!({"api_key": "k"})
        ),
        json!({"site": "datadoghq.eu", "service": "audit-log", "tags": null})
    );
    let keys = json!({"access_key": "a", "secret_key": "b"});
    assert_eq!(
        of(
            Kind::S3,
            json!({"url": "https://s3.example/b", "region": "x"}),
            keys
        )["compress"],
        true
    );
    let secret = json!({"signing_secret": SIGNING_SECRET});
    assert_eq!(
        of(Kind::Https, json!({"url": "https://a.example/"}), secret)["framing"],
        "array"
    );
}

#[test]
fn every_failing_field_is_named() {
    assert_eq!(
        violations(
            Kind::Https,
            json!({"url": "http://siem.example", "framing": "xml", "header": {}, "headers": {"host": "x"}}),
            json!({"signing_secret": "x", "token": "t"}),
        ),
        [
            "settings.url: must begin with https://",
            "settings.framing: must be one of array, lines",
            "settings.headers.host: must not be a header that the service sets",
            "settings.header: Unrecognized field",
            "credentials.signing_secret: must be whsec_ and 32 bytes in base64",
            "credentials.token: Unrecognized field",
        ]
    );
    assert_eq!(
        violations(
            Kind::S3,
            json!({"url": "https://s3.example"}),
            json!({"access_key": "a b"})
        ),
        [
            "settings.region: Required",
            "settings.url: must end in the name of the bucket, such as https://s3.eu-central-1.amazonaws.com/bucket",
            "credentials.access_key: must have only visible ASCII characters",
            "credentials.secret_key: Required",
        ]
    );
    assert_eq!(
        violations(Kind::Datadog, json!({}), json!([])),
        ["settings.site: Required", "credentials: must be an object"]
    );
    assert_eq!(
        violations(
            Kind::Datadog,
            json!({"site": "evil.example/"}),
            json!({"api_key": "k"})
        ),
        ["settings.site: must be a site such as datadoghq.com, datadoghq.eu or us5.datadoghq.com"]
    );
    assert_eq!(
        violations(
            Kind::Syslog,
            json!({"host": "logs.example:6514", "port": 0, "facility": 24, "app_name": "a b", "ca": "x"}),
            json!({"client_key": "k"}),
        ),
        [
            "settings.port: must be a whole number from 1 to 65535",
            "settings.app_name: must have only visible ASCII characters other than quotes",
            "settings.facility: must be a whole number from 0 to 23",
            "settings.ca: there is no certificate in the PEM",
            "settings.host: must be a valid URL",
            "credentials.client_certificate: must be set with client_key",
        ]
    );
}

#[test]
fn a_bucket_has_a_name_and_http_is_for_private_networks() {
    let keys = json!({"access_key": "a", "secret_key": "b"});
    let with = |url: &str, policy| {
        Config::parse(Kind::S3, &json!({"url": url, "region": "r"}), &keys, policy)
            .map_err(|found| found.into_vec()[0].message.clone())
    };
    use AddressPolicy::{AllowPrivate, Public};
    assert!(with("http://10.0.0.1:9000/bucket", AllowPrivate).is_ok());
    assert_eq!(
        with("http://s3.example/bucket", Public).unwrap_err(),
        "must begin with https://"
    );
    assert_eq!(
        with("https://10.0.0.1/bucket", Public).unwrap_err(),
        "must not lead to a loopback, private or otherwise special address"
    );
    for (url, message) in [
        ("https://s3.example/", "must end in the name"),
        ("https://s3.example/b?x=y", "must not contain a query"),
        ("https://s3.example/b/%2e%2e/é", "must have a path of"),
        ("ftp://s3.example/b", "must begin with https://"),
    ] {
        assert!(with(url, Public).unwrap_err().starts_with(message), "{url}");
    }
}

#[test]
fn headers_of_the_message_cannot_be_replaced() {
    let of = |settings: Value, credentials: Value| {
        violations(
            Kind::Otlp,
            json!({"url": "https://otel.example/", "headers": settings}),
            json!({"headers": credentials}),
        )
    };
    for name in [
        "Host",
        "content-length",
        "Content-Type",
        "transfer-encoding",
        "Webhook-Signature",
        "TE",
    ] {
        let expected = format!("credentials.headers.{name}: must not be a header that the service sets");
        assert_eq!(of(json!({}), json!({name: "x"})), [expected]);
    }
    assert_eq!(
        of(
            json!({"a b": "x", "c": "1\r\nhost: x", "d": 1, "E": "1", "e": "2"}),
            json!({})
        ),
        [
            "settings.headers.a b: must be the name of a header",
            "settings.headers.c: must have only visible ASCII characters and spaces",
            "settings.headers.d: Expected string, received number",
            "settings.headers.e: must not occur twice",
        ]
    );
    assert_eq!(
        of(json!({"X-Tag": "open"}), json!({"x-tag": "secret"})),
        ["credentials.headers.x-tag: must not be in settings.headers as well"]
    );
    let many: Map<String, Value> = (0..21).map(|n| (format!("h{n}"), "x".into())).collect();
    assert_eq!(
        of(many.into(), json!({})),
        ["settings.headers: must have at most 20 members"]
    );
}

#[test]
fn headers_with_names_of_credentials_are_never_shown() {
    for name in [
        "Authorization",
        "Cookie",
        "X-Auth",
        "X-Goog-Api-Key",
        "X-Audit-Secret",
        "DD-Access-Token",
        "X-Password",
    ] {
        let settings = json!({"url": "https://otel.example/", "headers": {name: "x"}});
        let lower = name.to_ascii_lowercase();
        assert_eq!(
            violations(Kind::Otlp, settings, json!({})),
            [format!(
                "settings.headers.{lower}: must be in credentials.headers"
            )]
        );
    }
}

#[test]
fn a_client_key_must_be_that_of_the_certificate() {
    let (_, settings, credentials) = complete().remove(5);
    let other = KeyPair::generate().unwrap().serialize_pem();
    let mut swapped = credentials;
    swapped["client_key"] = other.into();
    let found = violations(Kind::Syslog, settings, swapped);
    assert!(
        found.len() == 1 && found[0].starts_with("credentials.client_key: cannot be used with"),
        "{found:?}"
    );
}

#[test]
fn damaged_configurations_are_refused() {
    for text in [
        "",
        "{}",
        "null",
        r#"{"kind":"ftp"}"#,
        r#"{"kind":"otlp","settings":{},"credentials":{}}"#,
    ] {
        assert_eq!(Config::from_stored(text).err(), Some(StoredConfigError), "{text}");
    }
}
