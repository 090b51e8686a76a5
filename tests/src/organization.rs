//! Organizations: each test has its own on a shared server.

use crate::client::Client;
use crate::database::DatabaseKind;
use crate::server::Server;
use serde_json::{Value, json};
use std::sync::atomic::{AtomicU32, Ordering};

/// An organization with its project `default`, a master key and a live project key, created through the command line.
#[derive(Clone, Debug)]
pub struct Organization {
    anonymous: Client,
    /// For commands.
    pub organization_id: String,
    /// Of the project `default`.
    pub project_id: String,
    /// Starts with `mk_`.
    pub master_key: String,
    /// Starts with `pk_live_`.
    pub project_key: String,
}

impl Organization {
    /// A new one on the plan `enterprise`, on the shared server.
    pub fn fresh(kind: DatabaseKind) -> Self {
        Self::create(Server::shared(kind), "enterprise")
    }

    /// A new one on `server`.
    pub fn create(server: &Server, plan: &str) -> Self {
        Self::create_with(server, plan, &[])
    }

    /// The same with these environment variables.
    pub fn create_with(server: &Server, plan: &str, environment: &[(&str, &str)]) -> Self {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let name = format!("organization {}", COUNT.fetch_add(1, Ordering::Relaxed));
        let create = ["org", "create", "--name", &name, "--plan", plan, "--json"];
        let created = server.command_line_with(&create, environment).json();
        Self::from_json(server, &created)
    }

    /// From the output of `org create --json`.
    pub fn from_json(server: &Server, created: &Value) -> Self {
        let text = |member: &str| {
            created[member]
                .as_str()
                .unwrap_or_else(|| panic!("{member} in {created}"))
                .to_owned()
        };
        Self {
            anonymous: server.client(),
            organization_id: text("organization_id"),
            project_id: text("project_id"),
            master_key: text("master_key"),
            project_key: text("project_key"),
        }
    }

    /// The same organization on another server of the same database.
    pub fn on(&self, server: &Server) -> Self {
        Self {
            anonymous: server.client(),
            ..self.clone()
        }
    }

    /// Without a credential.
    pub fn anonymous(&self) -> &Client {
        &self.anonymous
    }

    /// With this credential.
    pub fn with_credential(&self, credential: &str) -> Client {
        self.anonymous.with_credential(credential)
    }

    /// With the master key.
    pub fn master(&self) -> Client {
        self.with_credential(&self.master_key)
    }

    /// With the live key of the project `default`.
    pub fn project(&self) -> Client {
        self.with_credential(&self.project_key)
    }

    /// With a new test key of the project `default`.
    pub fn test(&self) -> Client {
        self.with_credential(&self.create_key("test"))
    }

    /// Creates a key of the project `default` and returns its text.
    pub fn create_key(&self, environment: &str) -> String {
        self.create_key_of(&self.project_id, environment)
    }

    /// Creates a key of any of its projects and returns its text.
    pub fn create_key_of(&self, project_id: &str, environment: &str) -> String {
        let body =
            json!({"project_id": project_id, "type": "project", "name": "a key", "environment": environment});
        self.master()
            .post("/keys")
            .json(body)
            .send()
            .expect_status(201)
            .text("key")
    }

    /// Revokes the key with this text.
    pub fn revoke_key(&self, key: &str) {
        let keys = self.master().get("/keys").send().list("keys");
        let listed = keys.iter().find(|listed| listed["prefix"] == key[..12]);
        let id = &listed.expect("the key is listed")["id"];
        let path = format!("/keys/{}", id.as_str().expect("an id"));
        self.master().delete(&path).send().expect_status(200);
    }

    /// Creates another project and returns its id.
    pub fn create_project(&self, name: &str) -> String {
        let response = self
            .master()
            .post("/projects")
            .json(json!({"name": name}))
            .send()
            .expect_status(201);
        response["project"]["id"]
            .as_str()
            .expect("a project has an id")
            .to_owned()
    }

    /// With a new viewer token for `tenant` on `tier`.
    pub fn viewer(&self, tenant: &str, tier: &str) -> Client {
        self.with_credential(&self.viewer_token(tenant, tier))
    }

    /// A new viewer token for `tenant` on `tier`.
    pub fn viewer_token(&self, tenant: &str, tier: &str) -> String {
        let body = json!({"tenant_id": tenant, "tier": tier});
        self.project()
            .post("/viewer-tokens")
            .json(body)
            .send()
            .expect_status(201)
            .text("token")
    }

    /// Creates a viewer tier.
    pub fn create_tier(&self, tier: Value) {
        self.master()
            .post("/viewer-tiers")
            .json(tier)
            .send()
            .expect_status(201);
    }

    /// Creates a redaction rule and returns it.
    pub fn create_rule(&self, rule: Value) -> Value {
        self.master()
            .post("/redaction/rules")
            .json(rule)
            .send()
            .expect_status(201)["rule"]
            .clone()
    }
}
