//! What a program's log says when the service cannot be reached, or something else responds.

use audit_client::{Client, Error, RetryPolicy};
use std::io::{Read, Write};
use std::net::TcpListener;
use std::time::Duration;

fn client(base_url: &str) -> Client {
    let retry = RetryPolicy {
        backoff: Duration::from_millis(1),
        ..RetryPolicy::default()
    };
    let builder = Client::builder(base_url).api_key("pk_test").retry(retry);
    builder.build().expect("a client")
}

/// An address at which everything is responded to with this.
fn responding(response: &'static str) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = listener.local_addr().expect("an address");
    std::thread::spawn(move || {
        for mut stream in listener.incoming().flatten() {
            // The client may be gone.
            drop(stream.read(&mut [0; 4096]));
            drop(stream.write_all(response.as_bytes()));
        }
    });
    format!("http://{address}")
}

#[test]
fn an_error_names_the_address_and_no_secret() {
    let error = client("http://user:secret@127.0.0.1:9")
        .log()
        .key()
        .expect_err("nobody there");
    let text = error.to_string();
    assert!(text.starts_with("no response of http://127.0.0.1:9: "), "{text}");
    let token = "6f2b0f0e-3f0e-4c7e-9d0a-0d1f7f6f5a11";
    let error = client("http://127.0.0.1:9")
        .stream_info(token)
        .expect_err("nobody there");
    assert!(!error.to_string().contains(token), "{error}");
}

#[test]
fn the_page_of_a_proxy_is_named_as_such() {
    for head in ["200 OK", "407 Proxy Authentication Required"] {
        let response = format!("HTTP/1.1 {head}\r\ncontent-length: 6\r\nconnection: close\r\n\r\n<html>");
        let error = client(&responding(response.leak()))
            .event("evt_1")
            .expect_err("a page");
        assert!(
            error.to_string().contains("perhaps of a proxy"),
            "{head}: {error}"
        );
    }
}

#[test]
fn an_export_that_is_interrupted_ends_with_an_error() {
    // The length says that more must come.
    let response =
        "HTTP/1.1 200 OK\r\ncontent-length: 100\r\nconnection: close\r\n\r\n{\"id\": \"evt_1\"}\n{\"id\"";
    let client = client(&responding(response));
    let mut export = client
        .export(&audit_client::EventQuery::new())
        .expect("it begins");
    assert_eq!(export.next().expect("an event").expect("whole")["id"], "evt_1");
    let error = export.next().expect("an error").expect_err("interrupted");
    assert!(matches!(error, Error::Network { .. }), "{error}");
    assert!(export.next().is_none());
}
