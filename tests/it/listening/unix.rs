//! A Unix socket to listen on.

use audit_tests::process::Exit;
use audit_tests::{
    Database, DatabaseKind, Finished, Server, command_line_with, event, has_curl, temporary_directory,
};
use serde_json::Value;
use std::io::{Read, Write};
use std::os::unix::fs::{FileTypeExt, PermissionsExt};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::process::Command;

fn socket() -> PathBuf {
    temporary_directory("socket-").join("audit.sock")
}

fn address(path: &Path) -> String {
    format!("unix:{}", path.display())
}

fn serve(database: &Database, path: &Path, environment: &[(&str, &str)]) -> Server {
    let address = address(path);
    let arguments = ["serve", "--listen", &address, "--database-url", database.url()];
    Server::start_with(database, &arguments, environment)
}

fn try_serve(path: &Path) -> Finished {
    let database = Database::create(DatabaseKind::Sqlite);
    let address = address(path);
    let arguments = ["serve", "--listen", &address, "--database-url", database.url()];
    command_line_with(&arguments, &[])
}

/// The response to a request with these further lines of its head, and this body.
fn send(path: &Path, request: &str, lines: &str, body: &str) -> String {
    let mut stream = UnixStream::connect(path).expect("connect");
    let length = body.len();
    let head =
        format!("{request} HTTP/1.1\r\nHost: test\r\nConnection: close\r\nContent-Length: {length}\r\n");
    let request = format!("{head}{lines}\r\n{body}");
    stream.write_all(request.as_bytes()).expect("send a request");
    let mut response = String::new();
    stream.read_to_string(&mut response).expect("read a response");
    response
}

#[test]
fn the_socket_has_mode_660_and_is_removed_when_the_server_stops() {
    let path = socket();
    let server = serve(&Database::create(DatabaseKind::Sqlite), &path, &[]);
    assert_eq!(server.base_url(), address(&path));
    let metadata = path.metadata().expect("a socket");
    assert!(metadata.file_type().is_socket());
    assert_eq!(metadata.permissions().mode() & 0o777, 0o660);
    let response = send(&path, "GET /healthz", "", "");
    assert!(response.starts_with("HTTP/1.1 200 "), "{response}");
    assert_eq!(server.stop().exit, Exit::Code(0));
    assert!(!path.exists());
}

#[test]
fn the_socket_of_a_dead_process_is_replaced_and_that_of_a_running_one_is_not() {
    let path = socket();
    let database = Database::create(DatabaseKind::Sqlite);
    serve(&database, &path, &[]).kill();
    assert!(path.exists(), "a killed process leaves its socket");
    let server = serve(&database, &path, &[]);
    let refusal = try_serve(&path).refusal();
    assert!(refusal.contains("another process listens on it"), "{refusal}");
    let response = send(&path, "GET /healthz", "", "");
    assert!(response.starts_with("HTTP/1.1 200 "), "{response}");
    // Another program's socket under the same name is not removed at the end.
    std::fs::remove_file(&path).expect("remove the socket");
    let other = UnixListener::bind(&path).expect("bind a socket");
    assert_eq!(server.stop().exit, Exit::Code(0));
    assert!(path.exists());
    drop(other);
}

#[test]
fn a_file_that_is_no_socket_is_left_alone() {
    let path = socket();
    std::fs::write(&path, "precious").expect("write a file");
    let refusal = try_serve(&path).refusal();
    assert!(refusal.contains("is not a socket"), "{refusal}");
    assert_eq!(std::fs::read_to_string(&path).expect("read a file"), "precious");
    let refusal = try_serve(&path.join("deeper")).refusal();
    assert!(refusal.contains("cannot listen on unix:"), "{refusal}");
}

/// The status of an event sent to a new stream by a client that a proxy names.
fn status_of_stream(path: &Path, client: &str) -> String {
    let target = format!("POST /api/v1/streams/{}/events", audit_tests::claim_token());
    let lines = format!("Content-Type: application/json\r\nX-Forwarded-For: {client}\r\n");
    let response = send(path, &target, &lines, &event().to_string());
    response["HTTP/1.1 ".len()..][..3].to_owned()
}

#[test]
fn clients_of_the_socket_are_one_address_unless_it_is_a_trusted_proxy() {
    const ONE: (&str, &str) = ("AUDIT_STREAM_REQUESTS_PER_MINUTE", "1");
    let database = Database::create(DatabaseKind::Sqlite);
    let path = socket();
    let server = serve(&database, &path, &[ONE]);
    assert_eq!(status_of_stream(&path, "192.0.2.1"), "201");
    assert_eq!(status_of_stream(&path, "192.0.2.2"), "429");
    let log = server.stop().stderr;
    assert!(!log.contains("192.0.2."), "{log}");

    let trusting = ("AUDIT_TRUSTED_PROXIES", "unix,10.0.0.0/8");
    let server = serve(&database, &path, &[ONE, trusting]);
    assert_eq!(status_of_stream(&path, "192.0.2.3"), "201");
    assert_eq!(status_of_stream(&path, "192.0.2.4, 10.0.0.7"), "201");
    assert_eq!(status_of_stream(&path, "192.0.2.3"), "429");
    let log = server.stop().stderr;
    assert!(log.contains("client=192.0.2.4"), "{log}");
}

#[test]
fn the_printed_curl_line_works_on_a_socket() {
    if !has_curl() {
        return;
    }
    let path = socket();
    let server = serve(&Database::create(DatabaseKind::Sqlite), &path, &[]);
    let stdout = server.stdout();
    let mut lines = stdout.lines().map(str::trim);
    let command = lines.find(|line| line.starts_with("curl ")).expect("a curl line");
    assert!(command.contains("--unix-socket"), "{command}");
    let output = Command::new("sh").args(["-c", command]).output();
    let output = output.expect("run a shell").stdout;
    let response: Value = serde_json::from_slice(&output).expect("a response in JSON");
    assert_eq!(response["ids"].as_array().map(Vec::len), Some(1), "{response}");
}
