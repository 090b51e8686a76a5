//! Projects, keys, rules, webhooks with their deliveries, destinations, tiers and streams.
//!
//! Objects come and go as JSON: the interface (`docs/api.md`) lists their members, and a client has to ignore those that it does not
//! know.

use crate::client::Client;
use crate::error::Error;
use crate::pages::{Pages, objects, segment, with_query};
use crate::reading::{object, text};
use crate::transport::Call;
use serde_json::{Map, Value, json};

/// An object of the interface.
pub type Object = Map<String, Value>;

/// A kind of object that is administered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Resource {
    /// Projects of the organization: list (those that are not archived), read, create and update (name, archived). Master key.
    Projects,
    /// Project keys: list, read, create and update (name, end and networks; master key), delete (revoke).
    Keys,
    /// Master keys: list, read, create, delete (revoke). Master key.
    MasterKeys,
    /// Redaction rules. Writing needs a master key.
    RedactionRules,
    /// Alert rules. Writing needs a master key.
    AlertRules,
    /// Webhooks. Master key. Only the response to `create` shows the secret.
    Webhooks,
    /// Destinations of the environment. Master key, or a viewer token whose tier allows destinations, for those of its tenant. The response to `create` or `update` shows the signing secret, if it made one.
    Destinations,
    /// Tiers of viewer tokens, by their name. Master key.
    ViewerTiers,
}

impl Resource {
    /// Path, name of the list, name of one object in a response (`None`: the response is the object), method of a change.
    const fn shape(self) -> (&'static str, &'static str, Option<&'static str>, &'static str) {
        match self {
            Self::Projects => ("/projects", "projects", Some("project"), "PATCH"),
            Self::Keys => ("/keys", "keys", None, "PATCH"),
            Self::MasterKeys => ("/master-keys", "master_keys", None, "PATCH"),
            Self::RedactionRules => ("/redaction/rules", "rules", Some("rule"), "PUT"),
            Self::AlertRules => ("/alerts/rules", "rules", Some("rule"), "PATCH"),
            Self::Webhooks => ("/alerts/webhooks", "webhooks", Some("webhook"), "PATCH"),
            Self::Destinations => ("/destinations", "destinations", Some("destination"), "PATCH"),
            Self::ViewerTiers => ("/viewer-tiers", "viewer_tiers", Some("viewer_tier"), "PATCH"),
        }
    }

    fn read(self, response: Value) -> Result<Object, Error> {
        match (self.shape().2, response) {
            (Some(name), response) => object(response, name),
            (None, Value::Object(object)) => Ok(object),
            (None, _) => Err(Error::network("the response is not an object")),
        }
    }
}

/// The name of one object in a response, of keys too, which have none in the response to `create`.
fn singular(list: &str) -> &str {
    list.trim_end_matches('s')
}

impl Client {
    pub(crate) fn send(
        &self,
        method: &'static str,
        path: String,
        body: Option<&Value>,
        once: bool,
    ) -> Result<Value, Error> {
        let mut call = Call::new(method, path);
        if let Some(body) = body {
            call = call.body(body.to_string().into_bytes());
        }
        self.shared.transport.json(&if once { call.once() } else { call })
    }

    /// The path of all objects of a kind. Each environment has destinations of its own.
    fn path_of(&self, resource: Resource) -> String {
        match resource {
            Resource::Destinations => self.in_environment(resource.shape().0),
            _ => resource.shape().0.to_owned(),
        }
    }

    /// All objects of a kind.
    ///
    /// # Errors
    /// [`Error::Api`], [`Error::Network`].
    pub fn list(&self, resource: Resource) -> Result<Vec<Object>, Error> {
        objects(&self.get(&self.path_of(resource))?, resource.shape().1).map(Vec::from)
    }

    /// The projects of the organization that are archived (`true`), that are not (`false`), or `all`. Master key.
    ///
    /// # Errors
    /// [`Error::Api`], [`Error::Network`].
    pub fn projects(&self, archived: &str) -> Result<Vec<Object>, Error> {
        let path = with_query("/projects", [("archived", archived)]);
        objects(&self.get(&path)?, "projects").map(Vec::from)
    }

    /// One object.
    ///
    /// # Errors
    /// [`Error::Api`] with the status 404 if there is none, [`Error::Network`].
    pub fn read(&self, resource: Resource, id: &str) -> Result<Object, Error> {
        let (path, list, ..) = resource.shape();
        object(self.get(&format!("{path}/{}", segment(id)?))?, singular(list))
    }

    /// Makes an object of these members. Retried only if the service has not got the first attempt.
    ///
    /// # Errors
    /// [`Error::Api`], [`Error::Network`].
    pub fn create(&self, resource: Resource, members: &Value) -> Result<Object, Error> {
        resource.read(self.send("POST", self.path_of(resource), Some(members), true)?)
    }

    /// Changes the given members of an object.
    ///
    /// # Errors
    /// [`Error::Api`], [`Error::Network`].
    pub fn update(&self, resource: Resource, id: &str, members: &Value) -> Result<Object, Error> {
        let (path, list, _, method) = resource.shape();
        let path = format!("{path}/{}", segment(id)?);
        object(self.send(method, path, Some(members), false)?, singular(list))
    }

    /// Ends an object: revokes a key, deletes a rule, a webhook, a destination or a tier.
    ///
    /// # Errors
    /// [`Error::Api`], [`Error::Network`].
    pub fn delete(&self, resource: Resource, id: &str) -> Result<(), Error> {
        let path = format!("{}/{}", resource.shape().0, segment(id)?);
        self.send("DELETE", path, None, false).map(drop)
    }

    /// Replaces a key by a successor with the same limits, which the response shows. The old key ends after `overlap_seconds`; 0 for
    /// a leaked key. Of [`Resource::Keys`] or [`Resource::MasterKeys`].
    ///
    /// # Errors
    /// [`Error::Api`], [`Error::Network`].
    pub fn rotate_key(&self, resource: Resource, id: &str, overlap_seconds: u64) -> Result<Object, Error> {
        let path = format!(
            "{}/{}/rotate?overlap={overlap_seconds}",
            resource.shape().0,
            segment(id)?
        );
        resource.read(self.send("POST", path, None, true)?)
    }

    /// A new secret of a webhook, shown only here. The old one also signs for 24 hours.
    ///
    /// # Errors
    /// [`Error::Api`], [`Error::Network`].
    pub fn rotate_webhook_secret(&self, id: &str) -> Result<Object, Error> {
        let path = format!("/alerts/webhooks/{}/rotate-secret", segment(id)?);
        object(self.send("POST", path, None, true)?, "webhook")
    }

    /// Sends a message of the type `webhook.test`. Returns its delivery.
    ///
    /// # Errors
    /// [`Error::Api`], [`Error::Network`].
    pub fn test_webhook(&self, id: &str) -> Result<Object, Error> {
        let path = format!("/alerts/webhooks/{}/test", segment(id)?);
        object(self.send("POST", path, None, true)?, "delivery")
    }

    /// The deliveries of a webhook that match the parameters of the interface (`status`, `limit`), newest first, page by page.
    ///
    /// # Errors
    /// [`Error::Argument`] for an id that is none.
    pub fn deliveries(&self, webhook_id: &str, params: &[(&'static str, &str)]) -> Result<Pages, Error> {
        let path = format!("/alerts/webhooks/{}/deliveries", segment(webhook_id)?);
        let params = params
            .iter()
            .map(|(name, value)| ((*name).into(), (*value).to_owned()));
        Ok(Pages::new(self, path, "deliveries", params.collect()))
    }

    /// One delivery, with its attempts.
    ///
    /// # Errors
    /// [`Error::Api`] with the status 404 if there is none, [`Error::Network`].
    pub fn delivery(&self, id: &str) -> Result<Object, Error> {
        let response = self.get(&format!("/alerts/deliveries/{}", segment(id)?))?;
        object(response, "delivery")
    }

    /// Makes another attempt of a delivery at once.
    ///
    /// # Errors
    /// [`Error::Api`], [`Error::Network`].
    pub fn retry_delivery(&self, id: &str) -> Result<Object, Error> {
        let path = format!("/alerts/deliveries/{}/retry", segment(id)?);
        object(self.send("POST", path, None, false)?, "delivery")
    }

    /// Sends a made-up record to a destination at once, also to a paused one, and waits for the receiver. Returns the attempt.
    ///
    /// # Errors
    /// [`Error::Api`], [`Error::Network`].
    pub fn test_destination(&self, id: &str) -> Result<Value, Error> {
        let path = format!("/destinations/{}/test", segment(id)?);
        self.send("POST", path, None, true)
    }

    /// The next ten records of a destination, or the latest ten of the log, in its format or another `format`. Sends nothing.
    ///
    /// # Errors
    /// [`Error::Api`], [`Error::Network`].
    pub fn preview_destination(&self, id: &str, format: Option<&str>) -> Result<Value, Error> {
        let path = format!("/destinations/{}/preview", segment(id)?);
        self.get(&with_query(&path, format.map(|format| ("format", format))))
    }

    /// Sends events of the past to a destination again, beside its main run; with `dry_run` only counts them.
    ///
    /// # Errors
    /// [`Error::Api`] with the status 409 while another replay runs, and without events; [`Error::Network`].
    pub fn replay_destination(&self, id: &str, members: &Value) -> Result<Value, Error> {
        let path = format!("/destinations/{}/replay", segment(id)?);
        self.send("POST", path, Some(members), true)
    }

    /// Stops the replay of a destination. Its main run is not changed.
    ///
    /// # Errors
    /// [`Error::Api`] with the status 404 if none runs, [`Error::Network`].
    pub fn stop_replay(&self, id: &str) -> Result<(), Error> {
        let path = format!("/destinations/{}/replay", segment(id)?);
        self.send("DELETE", path, None, false).map(drop)
    }

    /// The events that the receiver of a destination refused, by run and position, `limit` (1 to 100) on a page.
    ///
    /// # Errors
    /// [`Error::Argument`] for an id that is none.
    pub fn set_aside(&self, id: &str, limit: u32) -> Result<Pages, Error> {
        let path = format!("/destinations/{}/set-aside", segment(id)?);
        let params = vec![("limit".into(), limit.to_string())];
        Ok(Pages::new(self, path, "events", params))
    }

    /// Sends events again that were set aside: those in `positions` of a `run`, or the first ten. Delivered ones leave the list.
    ///
    /// # Errors
    /// [`Error::Api`], [`Error::Network`].
    pub fn resend_set_aside(&self, id: &str, members: &Value) -> Result<Value, Error> {
        let path = format!("/destinations/{}/set-aside/resend", segment(id)?);
        self.send("POST", path, Some(members), true)
    }

    /// What the enabled redaction rules would do to an event. Nothing is stored.
    ///
    /// # Errors
    /// [`Error::Api`], [`Error::Network`].
    pub fn test_redaction(&self, event: &Value) -> Result<Value, Error> {
        self.send(
            "POST",
            "/redaction/test".to_owned(),
            Some(&json!({"event": event})),
            false,
        )
    }

    /// Plan of the organization, and how much the project has of what is limited.
    ///
    /// # Errors
    /// [`Error::Api`], [`Error::Network`].
    pub fn usage(&self) -> Result<Object, Error> {
        object(self.get("/usage")?, "usage")
    }

    /// The tenants that have events, with their numbers, `limit` (1 to 100) on a page.
    pub fn tenants(&self, limit: u32) -> Pages {
        Pages::new(
            self,
            "/tenants",
            "tenants",
            vec![("limit".into(), limit.to_string())],
        )
    }

    /// Name and logo of the project's portal, what tenants may create in it, and where its readers sign in.
    ///
    /// # Errors
    /// [`Error::Api`], [`Error::Network`].
    pub fn portal(&self) -> Result<Object, Error> {
        object(self.get("/portal")?, "portal")
    }

    /// Changes name, logo, `destination_kinds` and `sign_in_url` of the project's portal: `null` removes one. The logo is a data URL of a
    /// PNG, JPEG or WebP file. Master key.
    ///
    /// # Errors
    /// [`Error::Api`], [`Error::Network`].
    pub fn update_portal(&self, members: &Value) -> Result<Object, Error> {
        object(
            self.send("PATCH", "/portal".to_owned(), Some(members), false)?,
            "portal",
        )
    }

    /// Where readers of the portal of a project sign in. Needs no credential.
    ///
    /// # Errors
    /// [`Error::Api`], with status 404 where the project has no such URL; [`Error::Network`].
    pub fn portal_sign_in_url(&self, project_id: &str) -> Result<String, Error> {
        let response = self.get(&format!("/portal/{}/sign-in", segment(project_id)?))?;
        text(&response, "sign_in_url")
    }

    /// The actions that events have or that have a label, `limit` (1 to 100) on a page.
    pub fn actions(&self, limit: u32) -> Pages {
        let params = vec![("limit".into(), limit.to_string())];
        Pages::new(self, "/actions", "actions", params)
    }

    /// The labels of actions for readers of a language, a tag (BCP 47) such as `de`.
    ///
    /// # Errors
    /// [`Error::Api`], [`Error::Network`].
    pub fn action_labels(&self, language: &str) -> Result<Value, Error> {
        let path = with_query("/actions/labels", [("language", language)]);
        Ok(self.get(&path)?["labels"].take())
    }

    /// Labels an action: `icon`, and `languages` with `label` and `template` by language tag. Master key.
    ///
    /// # Errors
    /// [`Error::Api`], [`Error::Network`].
    pub fn put_action_label(&self, action: &str, members: &Value) -> Result<Object, Error> {
        let path = format!("/actions/{}", segment(action)?);
        object(self.send("PUT", path, Some(members), false)?, "label")
    }

    /// Deletes the label of an action. Master key.
    ///
    /// # Errors
    /// [`Error::Api`], [`Error::Network`].
    pub fn delete_action_label(&self, action: &str) -> Result<(), Error> {
        let path = format!("/actions/{}", segment(action)?);
        self.send("DELETE", path, None, false).map(drop)
    }

    /// Number of events and state of an anonymous stream.
    ///
    /// # Errors
    /// [`Error::Api`], [`Error::Network`].
    pub fn stream_info(&self, claim_token: &str) -> Result<Value, Error> {
        self.get(&format!("/streams/{}/info", segment(claim_token)?))
    }

    /// Moves the events of a stream into the project, and returns their number. Irreversible. Master key.
    ///
    /// # Errors
    /// [`Error::Api`], [`Error::Network`].
    pub fn claim_stream(&self, claim_token: &str) -> Result<u64, Error> {
        let body = json!({"claim_token": claim_token});
        let response = self.send("POST", "/streams/claim".to_owned(), Some(&body), true)?;
        let count = response["event_count"].as_u64();
        count.ok_or_else(|| Error::network("the response has no event_count"))
    }
}
