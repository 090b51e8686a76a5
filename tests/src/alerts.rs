//! Alert rules and their alerts.

use crate::client::Client;
use crate::events::{event_with, merge};
use crate::organization::Organization;
use serde_json::{Value, json};

/// An event by this actor that no built-in rule matches.
pub fn door_opened(actor: &str) -> Value {
    event_with(json!({"action": "door.opened", "category": "access", "actor": {"id": actor}}))
}

/// A rule by which every [`door_opened`] raises an alert, with these members changed; null removes a member.
pub fn alert_rule(changes: Value) -> Value {
    let rule = json!({
        "name": "a door",
        "action_pattern": "door.opened",
        "threshold": 1,
        "window_seconds": 600,
        "group_by": "actor_id",
        "severity": "low",
        "cooldown_seconds": 0,
    });
    merge(rule, changes)
}

impl Client {
    /// The first page of the alerts that match these parameters.
    pub fn alerts(&self, parameters: &[(&str, &str)]) -> Vec<Value> {
        self.get("/alerts")
            .queries(parameters)
            .send()
            .expect_status(200)
            .list("alerts")
    }

    /// All alerts, the newest first.
    pub fn all_alerts(&self) -> Vec<Value> {
        self.pages_of("/alerts", "alerts", &[("limit", "100")]).concat()
    }

    /// The only alert there is.
    pub fn only_alert(&self) -> Value {
        let mut alerts = self.alerts(&[]);
        assert_eq!(alerts.len(), 1, "{alerts:?}");
        alerts.remove(0)
    }

    /// The alert rules, built-in ones first.
    pub fn alert_rules(&self) -> Vec<Value> {
        self.get("/alerts/rules").send().expect_status(200).list("rules")
    }

    /// Moves an alert to this status and returns it.
    pub fn move_alert(&self, alert: &Value, status: &str) -> Value {
        let id = alert["id"].as_str().expect("an alert has an id");
        self.patch(&format!("/alerts/{id}"))
            .json(json!({"status": status}))
            .send()
            .expect_status(200)["alert"]
            .clone()
    }
}

impl Organization {
    /// Creates an alert rule and returns it.
    pub fn create_alert_rule(&self, rule: Value) -> Value {
        self.master()
            .post("/alerts/rules")
            .json(rule)
            .send()
            .expect_status(201)["rule"]
            .clone()
    }

    /// Changes an alert rule and returns it.
    pub fn change_alert_rule(&self, id: &str, change: Value) -> Value {
        self.master()
            .patch(&format!("/alerts/rules/{id}"))
            .json(change)
            .send()
            .expect_status(200)["rule"]
            .clone()
    }

    /// Stores a [`door_opened`], which must raise one more alert, and returns the alert.
    pub fn raise_alert(&self) -> Value {
        let before = self.project().all_alerts().len();
        self.project().store(door_opened("actor-1"));
        let mut alerts = self.project().all_alerts();
        assert_eq!(alerts.len(), before + 1, "{alerts:?}");
        alerts.remove(0)
    }
}
