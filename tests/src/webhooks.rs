//! Webhooks and the log of their deliveries.

use crate::alerts::alert_rule;
use crate::client::Client;
use crate::database::DatabaseKind;
use crate::edge::Deadline;
use crate::organization::Organization;
use crate::receiver::{Received, Receiver, Reply};
use crate::server::Server;
use serde_json::{Value, json};

/// More than any test waits for in the log. The longest is the lease of a killed node, 30 seconds.
const LOG_SECONDS_MAX: u64 = 90;

/// The `id` of anything.
fn id_of(object: &Value) -> &str {
    object["id"]
        .as_str()
        .unwrap_or_else(|| panic!("no id in {object}"))
}

impl Client {
    /// Changes a webhook and returns it.
    pub fn change_webhook(&self, webhook: &Value, change: Value) -> Value {
        self.patch(&format!("/alerts/webhooks/{}", id_of(webhook)))
            .json(change)
            .send()
            .expect_status(200)["webhook"]
            .clone()
    }

    /// Rotates the secret of a webhook, and returns the webhook with it.
    pub fn rotate_secret(&self, webhook: &Value) -> Value {
        self.post(&format!("/alerts/webhooks/{}/rotate-secret", id_of(webhook)))
            .send()
            .expect_status(200)["webhook"]
            .clone()
    }

    /// Requests a test delivery and returns it.
    pub fn test_webhook(&self, webhook: &Value) -> Value {
        self.post(&format!("/alerts/webhooks/{}/test", id_of(webhook)))
            .send()
            .expect_status(202)["delivery"]
            .clone()
    }

    /// Requests another attempt of a delivery and returns it.
    pub fn retry_delivery(&self, delivery: &Value) -> Value {
        self.post(&format!("/alerts/deliveries/{}/retry", id_of(delivery)))
            .send()
            .expect_status(202)["delivery"]
            .clone()
    }

    /// All deliveries to a webhook, the newest first.
    pub fn deliveries(&self, webhook: &Value) -> Vec<Value> {
        let path = format!("/alerts/webhooks/{}/deliveries", id_of(webhook));
        self.pages_of(&path, "deliveries", &[("limit", "100")]).concat()
    }

    /// The only delivery to a webhook.
    pub fn only_delivery(&self, webhook: &Value) -> Value {
        let mut deliveries = self.deliveries(webhook);
        assert_eq!(deliveries.len(), 1, "{deliveries:?}");
        deliveries.remove(0)
    }

    /// Waits until the only delivery to a webhook is in the expected state, and returns it. The result of an attempt is
    /// recorded shortly after the receiver has seen it.
    pub fn wait_for_delivery(&self, webhook: &Value, is_expected: impl Fn(&Value) -> bool) -> Value {
        Deadline::seconds(LOG_SECONDS_MAX).poll("the log of deliveries", || {
            let delivery = self.only_delivery(webhook);
            is_expected(&delivery).then_some(delivery)
        })
    }

    /// Waits until the only delivery to a webhook has this status, and returns it.
    pub fn wait_for_status(&self, webhook: &Value, status: &str) -> Value {
        self.wait_for_delivery(webhook, |delivery| delivery["status"] == status)
    }

    /// Waits until this many attempts at the only delivery to a webhook are recorded, and returns the delivery.
    pub fn wait_for_attempts(&self, webhook: &Value, count: usize) -> Value {
        self.wait_for_delivery(webhook, |delivery| {
            let attempts = delivery["attempts"].as_array();
            attempts.is_some_and(|attempts| attempts.len() >= count)
        })
    }
}

impl Organization {
    /// Creates a webhook and returns it with its secret.
    pub fn create_webhook(&self, url: &str) -> Value {
        self.master()
            .post("/alerts/webhooks")
            .json(json!({"url": url}))
            .send()
            .expect_status(201)["webhook"]
            .clone()
    }

    /// Moves it to another plan.
    pub fn set_plan(&self, server: &Server, plan: &str) {
        server
            .command_line(&["org", "set-plan", &self.organization_id, plan])
            .success();
    }
}

/// An organization with a webhook for every [`crate::door_opened`], on the path [`Subscription::PATH`] of a receiver.
#[derive(Debug)]
pub struct Subscription {
    /// Its own.
    pub organization: Organization,
    /// With its master key.
    pub master: Client,
    /// The receiver of the webhook.
    pub receiver: Receiver,
    /// As created, with its secret.
    pub webhook: Value,
}

impl Subscription {
    /// The path of the webhook.
    pub const PATH: &str = "/hook";

    /// A new one on the shared server.
    pub fn fresh(database: DatabaseKind) -> Self {
        Self::on(Server::shared(database))
    }

    /// A new one on this server.
    pub fn on(server: &Server) -> Self {
        Self::to(server, Receiver::start())
    }

    /// A new one that leads to this receiver.
    pub fn to(server: &Server, receiver: Receiver) -> Self {
        let organization = Organization::create(server, "enterprise");
        organization.create_alert_rule(alert_rule(json!({})));
        Self {
            webhook: organization.create_webhook(&receiver.url(Self::PATH)),
            master: organization.master(),
            organization,
            receiver,
        }
    }

    /// The same on another server of the same database.
    #[must_use]
    pub fn moved_to(self, server: &Server) -> Self {
        let organization = self.organization.on(server);
        Self {
            master: organization.master(),
            organization,
            ..self
        }
    }

    /// Sets the replies to the webhook: each is sent once, the last one repeatedly.
    pub fn reply(&self, replies: impl IntoIterator<Item = Reply>) {
        self.receiver.reply(Self::PATH, replies);
    }

    /// Waits for this many requests to the webhook and returns all that have arrived.
    pub fn wait_for(&self, count: usize) -> Vec<Received> {
        self.receiver.wait_for(Self::PATH, count)
    }

    /// The secret that the webhook was created with.
    pub fn secret(&self) -> &str {
        self.webhook["secret"].as_str().expect("a secret")
    }

    /// `/alerts/webhooks/…` of the webhook.
    pub fn path(&self) -> String {
        format!("/alerts/webhooks/{}", id_of(&self.webhook))
    }

    /// Waits until the only delivery has this status, and returns it.
    pub fn wait_for_status(&self, status: &str) -> Value {
        self.master.wait_for_status(&self.webhook, status)
    }

    /// Waits until this many attempts at the only delivery are recorded, and returns the delivery.
    pub fn wait_for_attempts(&self, count: usize) -> Value {
        self.master.wait_for_attempts(&self.webhook, count)
    }
}
