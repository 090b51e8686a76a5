//! The application of `examples/todo_actix` against the real server.

#[path = "../../examples/todo_actix/app.rs"]
mod app;

use crate::real_server::RealServer;
use actix_web::http::{Method, StatusCode, header};
use actix_web::test::{TestRequest, call_service, init_service, read_body};
use actix_web::{App, web};
use app::Todos;
use audit_client::{Client, Overflow, Spool};
use serde_json::{Value, json};
use std::time::Duration;

/// A request of a user: its status and its body.
macro_rules! send {
    ($app:expr, $user:expr, $method:expr, $path:expr, $body:expr) => {{
        let request = TestRequest::with_uri($path)
            .method($method)
            .insert_header(("x-user", $user))
            .set_json($body);
        let response = call_service($app, request.to_request()).await;
        let (status, headers) = (response.status(), response.headers().clone());
        let body = read_body(response).await;
        let body: Value = serde_json::from_slice(&body).unwrap_or_default();
        (status, body, headers)
    }};
}

#[actix_web::test]
async fn a_customer_sees_what_its_users_did_and_nothing_of_others_verified() {
    let server = RealServer::start();
    let spool = tempfile::tempdir().expect("a directory");
    let audit = Client::builder(&server.base_url)
        .api_key(&server.project_key)
        .spool(Spool::new(spool.path()))
        .overflow(Overflow::Block)
        .build()
        .expect("a client");
    let log_key = audit.log().key().expect("a key");
    let todos = web::Data::new(Todos::new(audit.clone(), server.base_url.clone(), log_key));
    let app = init_service(App::new().configure(|config| app::configure(config, todos))).await;

    let (status, todo, _) = send!(
        &app,
        "alice@acme",
        Method::POST,
        "/todos",
        json!({"title": "Write tests"})
    );
    assert_eq!((status, &todo["id"]), (StatusCode::CREATED, &json!(1)));
    send!(
        &app,
        "alice@acme",
        Method::PATCH,
        "/todos/1",
        json!({"done": true})
    );
    send!(
        &app,
        "mallory@other",
        Method::POST,
        "/todos",
        json!({"title": "Look around"})
    );
    let (status, ..) = send!(&app, "mallory@other", Method::DELETE, "/todos/2", json!({}));
    assert_eq!(status, StatusCode::NOT_FOUND);
    let (status, ..) = send!(&app, "bob@acme", Method::DELETE, "/todos/1", json!({}));
    assert_eq!(status, StatusCode::NO_CONTENT);
    let (status, ..) = send!(&app, "nobody", Method::POST, "/todos", json!({}));
    assert_eq!(status, StatusCode::UNAUTHORIZED);
    assert!(audit.flush(Duration::from_secs(60)), "{:?}", audit.stats());

    let (status, events, _) = send!(&app, "alice@acme", Method::GET, "/history/verified", json!({}));
    assert_eq!(status, StatusCode::OK);
    let seen: Vec<(&str, &str)> = events
        .as_array()
        .expect("events")
        .iter()
        .map(|event| {
            (
                event["who"].as_str().expect("who"),
                event["what"].as_str().expect("what"),
            )
        })
        .collect();
    assert_eq!(
        seen,
        [
            ("bob", "todo.deleted"),
            ("alice", "todo.updated"),
            ("alice", "todo.created")
        ]
    );
    assert_eq!(
        events[0]["log_size"], 3,
        "a viewer verifies against the log of its tenant"
    );

    let (status, _, headers) = send!(&app, "alice@acme", Method::GET, "/history", json!({}));
    assert_eq!(status, StatusCode::SEE_OTHER);
    let link = headers.get(header::LOCATION).expect("a link");
    let link = link.to_str().expect("a text");
    assert!(
        link.starts_with(&format!("{}/portal#token=vt_", server.base_url)),
        "{link}"
    );
    assert!(audit.close(Duration::from_secs(60)));
}
