//! Retention and legal holds of the log of one environment.

use crate::administration::Object;
use crate::client::Client;
use crate::error::Error;
use crate::pages::{objects, segment, with_query};
use crate::reading::object;
use crate::transport::Call;
use serde_json::{Value, json};

impl Client {
    /// The retention policy, the plan in its grace period, and the removals. Master key.
    ///
    /// # Errors
    /// [`Error::Api`], [`Error::Network`].
    pub fn retention(&self) -> Result<Value, Error> {
        self.get(&self.in_environment("/retention"))
    }

    /// Replaces the retention policy: `days` for all events, more days for some `categories`, or a `preset`; `{}` for ever. Master key.
    ///
    /// # Errors
    /// [`Error::Api`], [`Error::Network`].
    pub fn set_retention(&self, members: &Value) -> Result<Value, Error> {
        self.send("PUT", self.in_environment("/retention"), Some(members), false)
    }

    /// What a policy (`days` or `preset`), by default the one in force, would remove now. The numbers are estimates. Master key.
    ///
    /// # Errors
    /// [`Error::Api`], [`Error::Network`].
    pub fn preview_retention(&self, params: &[(&str, &str)]) -> Result<Value, Error> {
        let path = self.in_environment("/retention/preview");
        self.get(&with_query(&path, params.iter().copied()))
    }

    /// Lets plans reach up to a time, where the log is far behind its policy. Master key.
    ///
    /// # Errors
    /// [`Error::Api`] with the status 409 without a policy that removes events, [`Error::Network`].
    pub fn confirm_retention(&self, until: &str) -> Result<Value, Error> {
        let path = self.in_environment("/retention/confirm");
        self.send("POST", path, Some(&json!({"until": until})), false)
    }

    /// Cancels the plan in its grace period, by its `seq`. Master key.
    ///
    /// # Errors
    /// [`Error::Api`] with the status 409 if it is not open, [`Error::Network`].
    pub fn cancel_removal(&self, plan: u64) -> Result<Value, Error> {
        let path = self.in_environment("/retention/cancel");
        self.send("POST", path, Some(&json!({"plan": plan})), true)
    }

    /// The legal holds in force, oldest first; with `released` also those that were released. Master key.
    ///
    /// # Errors
    /// [`Error::Api`], [`Error::Network`].
    pub fn holds(&self, released: bool) -> Result<Vec<Object>, Error> {
        let path = self.in_environment("/holds");
        let released = released.then_some(("released", "true"));
        objects(&self.get(&with_query(&path, released))?, "holds").map(Vec::from)
    }

    /// Places a hold on the events that meet every condition (`tenant_id`, `actor_id`, `target_id`, `from`, `to`), and on all of them
    /// without one. `reason` is required. With `second_key` it is released only with another key. Master key.
    ///
    /// # Errors
    /// [`Error::Api`], [`Error::Network`].
    pub fn place_hold(&self, members: &Value) -> Result<Object, Error> {
        let path = self.in_environment("/holds");
        object(self.send("POST", path, Some(members), true)?, "hold")
    }

    /// Releases a hold. Master key.
    ///
    /// # Errors
    /// [`Error::Api`] with the status 403 if the hold asks for another key, and 409 if it was released; [`Error::Network`].
    pub fn release_hold(&self, id: &str, reason: &str) -> Result<Object, Error> {
        let path = self.in_environment(&format!("/holds/{}/release", segment(id)?));
        object(
            self.send("POST", path, Some(&json!({"reason": reason})), true)?,
            "hold",
        )
    }

    /// The plans of retention in their grace period, the removals and the erasures of the log, oldest first, for auditors.
    ///
    /// # Errors
    /// [`Error::Api`], [`Error::Network`].
    pub fn removals(&self) -> Result<Vec<Object>, Error> {
        let path = self.in_environment("/log/removals");
        objects(&self.get(&path)?, "removals").map(Vec::from)
    }

    /// The policies, removals, erasures and holds of the log, and the numbers of its events, for auditors.
    ///
    /// # Errors
    /// [`Error::Api`], [`Error::Network`].
    pub fn report(&self) -> Result<Value, Error> {
        self.get(&self.in_environment("/log/report"))
    }

    /// The same as a page to print.
    ///
    /// # Errors
    /// [`Error::Api`], [`Error::Network`].
    pub fn report_html(&self) -> Result<String, Error> {
        let path = self.in_environment("/log/report?format=html");
        self.shared.transport.text(Call::new("GET", path))
    }
}
