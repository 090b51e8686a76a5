//! The objects that the requests of the table name.

use super::key_id;
use super::route::{Route, Target};
use audit_tests::{Client, Deadline, Organization, Request, Stream, address, alert_rule, event, event_with};
use serde_json::{Value, json};
use std::cell::OnceCell;
use std::sync::atomic::{AtomicU32, Ordering};

/// The path of the URLs of webhooks here. It is a secret of the receiver.
pub(crate) const WEBHOOK_SECRET_PATH: &str = "/services/T0G9PQBBK";

/// A URL without a listener.
pub(crate) fn nobody() -> String {
    format!("https://127.0.0.1:1{WEBHOOK_SECRET_PATH}")
}

/// A destination that nothing is sent to.
pub(super) fn new_destination(_: &str) -> Value {
    json!({"name": "a SIEM", "kind": "https", "settings": {"url": nobody()}, "paused": true})
}

pub(crate) fn unique_name() -> String {
    static COUNT: AtomicU32 = AtomicU32::new(0);
    format!("name-{}", COUNT.fetch_add(1, Ordering::Relaxed))
}

fn text_of(object: &Value, member: &str) -> String {
    object[member].as_str().expect("a string").to_owned()
}

/// An organization, and those of its objects that many requests can name.
pub(crate) struct Objects {
    pub(crate) organization: Organization,
    webhook: OnceCell<String>,
    delivery: OnceCell<String>,
    destination: OnceCell<String>,
    erasure: OnceCell<String>,
}

impl Objects {
    pub(crate) fn of(organization: Organization) -> Self {
        organization.create_alert_rule(alert_rule(json!({})));
        Self {
            organization,
            webhook: OnceCell::new(),
            delivery: OnceCell::new(),
            destination: OnceCell::new(),
            erasure: OnceCell::new(),
        }
    }

    /// An object for the parameter of a route, so that every request finds one intact.
    pub(crate) fn object(&self, target: Target) -> String {
        let own = &self.organization;
        match target {
            Target::None => String::new(),
            Target::Project => own.project_id.clone(),
            Target::Event => own.project().store(event()),
            Target::Tile => "0/000.p/1".to_owned(),
            Target::Key => key_id(own, &own.create_key("live")),
            Target::MasterKey => {
                let request = own.master().post("/master-keys");
                let response = request.json(json!({"name": unique_name()})).send();
                response.expect_status(201).text("id")
            }
            Target::Rule => {
                let rule = json!({"type": "pattern", "name": "x", "pattern": "x"});
                text_of(&own.create_rule(rule), "id")
            }
            Target::AlertRule => {
                let rule = alert_rule(json!({"action_pattern": "never.used"}));
                text_of(&own.create_alert_rule(rule), "id")
            }
            Target::Alert => text_of(&own.raise_alert(), "id"),
            Target::Webhook => self.webhook.get_or_init(|| self.new_webhook()).clone(),
            Target::NewWebhook => self.new_webhook(),
            Target::Delivery => self.delivery.get_or_init(|| self.new_delivery()).clone(),
            Target::Destination => self.destination(),
            Target::NewDestination => self.new_destination(),
            Target::Replayed => {
                own.project().store(event());
                let id = self.destination();
                let path = format!("/destinations/{id}/replay");
                let started = own.master().post(&path).json(json!({})).send();
                assert!(matches!(started.status(), 200 | 409), "{started:?}");
                id
            }
            Target::NotReplayed => {
                own.project().store(event());
                let id = self.destination();
                let path = format!("/destinations/{id}/replay");
                let stopped = own.master().delete(&path).send();
                assert!(matches!(stopped.status(), 200 | 404), "{stopped:?}");
                id
            }
            Target::Stream | Target::ClaimToken => {
                let stream = Stream::of(&own.anonymous().with_address(&address()));
                stream.store(event());
                stream.token
            }
            Target::Policy => {
                let request = own.master().put("/retention").json(json!({"days": 365}));
                request.send().expect_status(200);
                String::new()
            }
            Target::Hold => {
                let request = own
                    .master()
                    .post("/holds")
                    .json(json!({"reason": "a case", "tenant_id": unique_name()}));
                text_of(&request.send().expect_status(201)["hold"], "id")
            }
            Target::Erasure => self.erasure.get_or_init(|| self.listed_erasure()).clone(),
            Target::NewErasure => self.new_erasure(),
            Target::Action => {
                let action = format!("user.{}", unique_name().replace('-', "_"));
                let label = json!({"languages": {"en": {"label": "Label"}}});
                let put = own.master().put(&format!("/actions/{action}")).json(label);
                put.send().expect_status(200);
                action
            }
            Target::SignIn => {
                let change = json!({"sign_in_url": "https://app.example.com/sign-in"});
                let request = own.master().patch("/portal").json(change);
                request.send().expect_status(200);
                own.project_id.clone()
            }
            Target::Tier => {
                let name = unique_name();
                own.create_tier(json!({"name": name}));
                name
            }
        }
    }

    fn new_webhook(&self) -> String {
        text_of(&self.organization.create_webhook(&nobody()), "id")
    }

    fn destination(&self) -> String {
        self.destination.get_or_init(|| self.new_destination()).clone()
    }

    fn new_destination(&self) -> String {
        let request = self.organization.master().post("/destinations");
        let created = request
            .json(new_destination(&self.organization.project_id))
            .send();
        text_of(&created.expect_status(201)["destination"], "id")
    }

    /// An erasure that finds an event.
    fn new_erasure(&self) -> String {
        let (own, actor) = (&self.organization, unique_name());
        let id = own.project().store(event_with(json!({"actor": {"id": actor}})));
        // An erasure reads what is under a signed checkpoint, as the proof is.
        let proof = own.project().get(&format!("/events/{id}/proof"));
        proof.send().expect_status(200);
        let new = json!({"identifiers": {"ids": [actor]}, "basis": "gdpr_17"});
        let requested = own.master().post("/erasures").json(new).send();
        text_of(&requested.expect_status(201)["erasure"], "id")
    }

    fn listed_erasure(&self) -> String {
        let id = self.new_erasure();
        Deadline::seconds(600).poll("the list of an erasure", || {
            let request = self.organization.master().get(&format!("/erasures/{id}"));
            (request.send().expect_status(200)["erasure"]["state"] == "listed").then_some(())
        });
        id
    }

    fn new_delivery(&self) -> String {
        let webhook = self.organization.create_webhook(&nobody());
        self.organization.raise_alert();
        text_of(&self.organization.master().only_delivery(&webhook), "id")
    }

    /// The request of a row to this object.
    pub(crate) fn request(&self, route: &Route, object: &str, client: &Client) -> Request {
        let request = client.request(route.method, &route.path_to(object));
        match (route.body, route.target) {
            (Some(body), _) => request.json(body(&self.organization.project_id)),
            (None, Target::ClaimToken) => request.json(json!({"claim_token": object})),
            (None, _) => request,
        }
    }

    /// A client that the route admits: with the master key, or with the project's key where that one is refused.
    pub(crate) fn client(&self, route: &Route) -> Client {
        match route.master.is_admitted() {
            true => self.organization.master(),
            false => self.organization.project(),
        }
    }
}
