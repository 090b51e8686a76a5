//! Uses the client that openapi-generator makes for Rust. Arguments: URL, project key, master key.

use audit_log_generated::apis::configuration::Configuration;
use audit_log_generated::apis::{Error, events_api, webhooks_api};
use audit_log_generated::models::{
    ActorInput, ActorType, ErrorCode, EventCategory, EventInput, EventsInput, WebhookInput,
};
use chrono::{Duration, Utc};

const TENANT: &str = "generated-rust";

fn client(url: &str, key: &str) -> Configuration {
    Configuration {
        base_path: url.to_owned(),
        bearer_access_token: Some(key.to_owned()),
        ..Configuration::default()
    }
}

fn event(action: &str) -> EventInput {
    let actor = ActorInput::new("user_1".to_owned(), ActorType::USER);
    EventInput::new(action.to_owned(), actor, EventCategory::Mutation, TENANT.to_owned())
}

fn main() {
    let arguments: Vec<String> = std::env::args().collect();
    let project = client(&arguments[1], &arguments[2]);
    let ingest = |events| events_api::ingest_events(&project, events, None, None, None, None).expect("stored");
    let one = ingest(EventsInput::EventInput(Box::new(event("user.created"))));
    assert_eq!(one.ids.len(), 1);
    let batch = ingest(EventsInput::EventBatch(vec![event("user.updated"); 5]));
    assert_eq!(batch.ids.len(), 5);

    let now = Utc::now().fixed_offset();
    let (start, end) = (Some(now - Duration::days(1)), Some(now + Duration::days(1)));
    let mut found = Vec::new();
    let mut cursor: Option<String> = None;
    loop {
        let page = events_api::list_events(
            &project,
            None,
            None,
            None,
            None,
            cursor.as_deref(),
            end,
            None,
            None,
            Some(2),
            None,
            None,
            None,
            None,
            None,
            None,
            None,
            None,
            None,
            None,
            None,
            None,
            None,
            None,
            None,
            None,
            start,
            None,
            None,
            Some(vec![TENANT.to_owned()]),
            None,
            None,
        )
        .expect("a page");
        found.extend(page.events);
        cursor = page.cursor;
        if cursor.is_none() {
            break;
        }
    }
    assert_eq!(found.len(), 6);

    let missing = events_api::get_event(&project, "evt_00000000000000000000000000", None, None);
    let Err(Error::ResponseError(response)) = missing else {
        panic!("no response with an error: {missing:?}");
    };
    let Some(events_api::GetEventError::Status400(body)) = response.entity else {
        panic!("no typed error: {}", response.content);
    };
    assert_eq!((response.status.as_u16(), body.error.code), (404, ErrorCode::NotFound));

    let master = client(&arguments[1], &arguments[3]);
    let webhook = WebhookInput::new("https://example.com/hook".to_owned());
    let made = webhooks_api::create_webhook(&master, webhook, None, None).expect("a webhook");
    assert!(made.webhook.secret.starts_with("whsec_"));
    println!("rust: ok");
}
