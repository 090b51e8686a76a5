//! What each route records, as the table of routes says.

use super::atomicity::sha256;
use super::{ADDRESS, TENANT, master_actor, organization, own_events, project_actor};
use crate::access::{Objects, Outcome, ROUTES, Recorded, Route, Subject, Target, WEBHOOK_SECRET_PATH};
use audit_tests::{Client, DatabaseKind, Organization, Response, on_both_databases};
use serde_json::{Value, json};

on_both_databases! {
    every_change_is_exactly_one_event,
    what_the_table_calls_no_event_is_none,
    no_event_has_a_secret,
}

/// A key of an organization: its client, and the actor of the events that it causes.
type KeyKind = (fn(&Organization) -> Client, fn(&Organization) -> Value);

/// Those that a route admits.
fn admitted(route: &Route) -> impl Iterator<Item = KeyKind> {
    let kinds: [(Outcome, KeyKind); 2] = [
        (route.master, (Organization::master, master_actor)),
        (route.project, (Organization::project, project_actor)),
    ];
    let kinds = kinds.into_iter();
    kinds.filter_map(|(outcome, kind)| matches!(outcome, Outcome::Success(_)).then_some(kind))
}

/// The request of a row that is recorded.
struct Sent {
    objects: Objects,
    /// The object that it names.
    object: String,
    /// The response, if it is JSON.
    response: Option<Response>,
}

impl Sent {
    /// The id of the target of the event.
    fn target(&self, subject: Subject) -> Value {
        let in_answer = |pointer: &str| {
            let body = self.response.as_ref().expect("a response in JSON").body();
            let id = body.pointer(pointer);
            id.unwrap_or_else(|| panic!("{pointer} in {body}")).clone()
        };
        match subject {
            Subject::Object => json!(self.object),
            Subject::Digest => json!(sha256(&self.object)),
            Subject::Project => json!(self.objects.organization.project_id),
            Subject::Log => json!(format!("{}/live", self.objects.organization.project_id)),
            Subject::NewProject => in_answer("/project/id"),
            Subject::InResponse(pointer) => in_answer(pointer),
            Subject::Text(text) => json!(text),
        }
    }
}

/// The service's own events in the log of a project.
fn log_of(organization: &Organization, project_id: &str) -> Vec<Value> {
    own_events(&organization.master().with_header("x-project-id", project_id))
}

/// Sends the request of a row, with a key of a new organization, and checks the one new event.
fn recorded(route: &Route, (action, subject): (&str, Subject), key: KeyKind, database: DatabaseKind) -> Sent {
    let (client, actor) = key;
    let objects = Objects::of(organization(database));
    let organization = &objects.organization;
    let name = route.name();
    let object = objects.object(route.target);
    let before = log_of(organization, &organization.project_id);
    let client = client(organization).with_address(ADDRESS);
    let response = objects.request(route, &object, &client).send_raw();
    assert!(
        (200..300).contains(&response.status),
        "{name}: {}",
        String::from_utf8_lossy(&response.bytes)
    );
    let response = response.is_json().then(|| Response::check(response));
    let actor = actor(organization);
    let sent = Sent {
        objects,
        object,
        response,
    };
    let organization = &sent.objects.organization;
    let target = sent.target(subject);
    let (project_id, before) = match subject {
        Subject::NewProject => (target.as_str().expect("an id"), Vec::new()),
        _ => (organization.project_id.as_str(), before),
    };
    let mut after = log_of(organization, project_id);
    assert_eq!(after[..before.len()], before, "{name}");
    let mut new = after.split_off(before.len());
    assert_eq!(new.len(), 1, "{name}: {new:?}");
    let new = new.remove(0);
    assert_eq!(new["action"], action, "{name}");
    assert_eq!(new["tenant_id"], TENANT, "{name}");
    assert!(
        new["category"] == "admin" || new["category"] == "security",
        "{new}"
    );
    assert_eq!(new["context"]["ip_address"], ADDRESS, "{name}: {new}");
    assert_eq!(new["actor"], actor, "{name}");
    assert_eq!(new["target"]["id"], target, "{name}: {new}");
    sent
}

/// Sends the requests of all rows that are recorded.
fn all_recorded(database: DatabaseKind) -> Vec<(&'static Route, Sent)> {
    let mut all = Vec::new();
    for route in ROUTES {
        let Recorded::As(action, subject) = route.recorded else {
            continue;
        };
        for key in admitted(route) {
            all.push((route, recorded(route, (action, subject), key, database)));
        }
    }
    all
}

fn every_change_is_exactly_one_event(database: DatabaseKind) {
    let all = all_recorded(database);
    assert!(all.len() > 20, "only {} requests", all.len());
}

fn what_the_table_calls_no_event_is_none(database: DatabaseKind) {
    let objects = Objects::of(organization(database));
    for route in ROUTES {
        let Recorded::Nothing(reason) = route.recorded else {
            continue;
        };
        let object = objects.object(route.target);
        let before = own_events(&objects.organization.master());
        let client = objects.client(route);
        let response = objects.request(route, &object, &client).send_raw();
        let name = route.name();
        let is_refused = matches!(route.master, Outcome::Conflict) && response.status == 409;
        assert!(
            is_refused || (200..300).contains(&response.status),
            "{name}: {response:?}"
        );
        let after = own_events(&objects.organization.master());
        assert_eq!(after, before, "{name}: {reason}");
    }
}

fn no_event_has_a_secret(database: DatabaseKind) {
    for (route, sent) in all_recorded(database) {
        let organization = &sent.objects.organization;
        let mut secrets = vec![organization.master_key.clone(), organization.project_key.clone()];
        if let Some(response) = &sent.response {
            let body = response.body();
            let secret = &body["destination"]["signing_secret"];
            let created = [&body["key"], &body["token"], &body["webhook"]["secret"], secret];
            secrets.extend(created.into_iter().filter_map(Value::as_str).map(str::to_owned));
        }
        secrets.push(WEBHOOK_SECRET_PATH.to_owned());
        if matches!(route.target, Target::ClaimToken) {
            secrets.push(sent.object.clone());
        }
        let events = Value::Array(log_of(organization, &organization.project_id)).to_string();
        for secret in secrets {
            // Nor the part of a key that lists show.
            for part in [secret.as_str(), secret.get(..12).unwrap_or(&secret)] {
                let is_there = !part.starts_with("whsec_****") && events.contains(part);
                assert!(!is_there, "{}: {part} in {events}", route.name());
            }
        }
    }
}
