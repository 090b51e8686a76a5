//! A service that stores every event it gets, once for each idempotency key.

use parking_lot::Mutex;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Read, Result, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::Arc;

/// Stored events by their keys.
type Stored = Arc<Mutex<BTreeMap<String, Value>>>;

pub(crate) struct Service {
    pub(crate) base_url: String,
    pub(crate) stored: Stored,
}

impl Service {
    /// Serves on a free port until the process ends.
    pub(crate) fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let address = listener.local_addr().expect("an address");
        let stored = Stored::default();
        let shared = Arc::clone(&stored);
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let stored = Arc::clone(&shared);
                // A client that was killed ends its connection with an error.
                std::thread::spawn(move || drop(serve(&stream, &stored)));
            }
        });
        Self {
            base_url: format!("http://{address}"),
            stored,
        }
    }

    /// `metadata.n` of the stored events, in order.
    pub(crate) fn numbers(&self) -> Vec<u64> {
        let stored = self.stored.lock();
        let mut numbers: Vec<u64> = stored
            .values()
            .map(|event| event["metadata"]["n"].as_u64().expect("a number"))
            .collect();
        numbers.sort_unstable();
        numbers
    }
}

fn serve(stream: &TcpStream, stored: &Stored) -> Result<()> {
    let mut reader = BufReader::new(stream);
    loop {
        let mut length = 0;
        loop {
            let mut line = String::new();
            if reader.read_line(&mut line)? == 0 {
                return Ok(());
            }
            if let Some(value) = line.to_ascii_lowercase().strip_prefix("content-length:") {
                length = value.trim().parse().expect("a length");
            }
            if line == "\r\n" {
                break;
            }
        }
        let mut body = vec![0; length];
        reader.read_exact(&mut body)?;
        let events: Vec<Value> = serde_json::from_slice(&body).expect("an array");
        let mut ids = Vec::new();
        for event in events {
            let key = event["idempotency_key"].as_str().expect("a key").to_owned();
            ids.push(format!("evt_{key}"));
            let mut stored = stored.lock();
            let first = stored.entry(key).or_insert_with(|| event.clone());
            assert_eq!(*first, event, "a repeat has the same content");
        }
        let text = json!({"ids": ids, "redacted_count": 0, "request_id": "req_1"}).to_string();
        let head = format!("HTTP/1.1 201 Created\r\ncontent-length: {}\r\n\r\n", text.len());
        let mut writer = stream;
        writer.write_all(format!("{head}{text}").as_bytes())?;
    }
}
