//! Events: queries, the feed, proofs and receipts. Alerts. Viewer tokens.

use crate::client::Client;
use crate::error::Error;
use crate::pages::{Pages, Params, objects, segment, with_query};
use crate::transport::Call;
use audit_domain::{ActorType, Category, Outcome};
use serde_json::{Map, Value, json};
use std::borrow::Cow;
use std::time::Duration;

/// How long a page of the feed waits for an event.
const FEED_WAIT: Duration = Duration::from_secs(30);

/// Filters of a query. An event has to match every one that is set.
#[derive(Clone, Debug, Default)]
#[must_use]
pub struct EventQuery(pub(crate) Params);

impl EventQuery {
    /// All events.
    pub fn new() -> Self {
        Self::default()
    }

    /// A parameter by its name in the interface (`docs/api.md`), which replaces an earlier value.
    pub fn set(mut self, name: impl Into<Cow<'static, str>>, value: impl Into<String>) -> Self {
        let name = name.into();
        self.0.retain(|(other, _)| *other != name);
        self.0.push((name, value.into()));
        self
    }

    /// Another value of a parameter that can have several: of one of these actors, of none of those (`not_actor_id`).
    pub fn add(mut self, name: impl Into<Cow<'static, str>>, value: impl Into<String>) -> Self {
        self.0.push((name.into(), value.into()));
        self
    }

    /// Names and values.
    pub(crate) fn pairs(&self) -> impl Iterator<Item = (&str, &str)> {
        self.0.iter().map(|(name, value)| (name.as_ref(), value.as_str()))
    }

    /// Of this customer.
    pub fn tenant_id(self, id: impl Into<String>) -> Self {
        self.set("tenant_id", id)
    }

    /// Of this actor.
    pub fn actor_id(self, id: impl Into<String>) -> Self {
        self.set("actor_id", id)
    }

    /// Of actors of this kind.
    pub fn actor_type(self, kind: ActorType) -> Self {
        self.set("actor_type", kind.as_str())
    }

    /// With this action, or a pattern such as `user.*`.
    pub fn action(self, action: impl Into<String>) -> Self {
        self.set("action", action)
    }

    /// Of this category.
    pub fn category(self, category: Category) -> Self {
        self.set("category", category.as_str())
    }

    /// With this target, the first or another.
    pub fn target_id(self, id: impl Into<String>) -> Self {
        self.set("target_id", id)
    }

    /// With a target of this type.
    pub fn target_type(self, kind: impl Into<String>) -> Self {
        self.set("target_type", kind)
    }

    /// From this address, or an address of this network such as `203.0.113.0/24`.
    pub fn ip_address(self, address: impl Into<String>) -> Self {
        self.set("ip_address", address)
    }

    /// In this session.
    pub fn session_id(self, id: impl Into<String>) -> Self {
        self.set("session_id", id)
    }

    /// With this outcome.
    pub fn outcome(self, outcome: Outcome) -> Self {
        self.set("outcome", outcome.as_str())
    }

    /// With this value of a member of the metadata that the project has in its `metadata_filter_paths`, such as `order.id`; called several
    /// times for a member, one of these. `add("not_metadata.order.id", …)` excludes.
    pub fn metadata(self, path: &str, value: impl Into<String>) -> Self {
        self.add(format!("metadata.{path}"), value)
    }

    /// This event; called several times, one of these. By id, descending. Not for the feed, summaries and exports.
    pub fn id(self, id: impl Into<String>) -> Self {
        self.add("id", id)
    }

    /// Not before this date or time (ISO 8601).
    pub fn start_date(self, date: impl Into<String>) -> Self {
        self.set("start_date", date)
    }

    /// Not after this date or time (ISO 8601).
    pub fn end_date(self, date: impl Into<String>) -> Self {
        self.set("end_date", date)
    }

    /// With these words, in names; `add("search_in", "ids")` searches ids, `set("search_mode", "prefix")` for what is still being typed.
    pub fn search(self, words: impl Into<String>) -> Self {
        self.set("search", words)
    }

    /// Oldest first. [`Client::events`] alone takes it.
    pub fn oldest_first(self) -> Self {
        self.set("order", "asc")
    }

    /// Events of one page, 1 to 200.
    pub fn limit(self, events: u32) -> Self {
        self.set("limit", events.to_string())
    }
}

/// A page of the feed.
#[derive(Clone, Debug)]
pub struct FeedPage {
    /// In the order in which they were stored. A page can be empty.
    pub events: Vec<Map<String, Value>>,
    /// Where the next page begins. Store it after the events of the page are safe.
    pub cursor: String,
    /// Whether there are more events now.
    pub has_more: bool,
}

/// Pages of the feed; see [`Client::follow`].
#[derive(Debug)]
#[must_use]
pub struct Follow {
    client: Client,
    query: EventQuery,
    after: Option<String>,
    has_failed: bool,
}

impl Iterator for Follow {
    type Item = Result<FeedPage, Error>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.has_failed {
            return None;
        }
        let client = &self.client;
        let page = client
            .shared
            .transport
            .through_outages(|| client.feed(&self.query, self.after.as_deref(), FEED_WAIT));
        match &page {
            Ok(page) => self.after = Some(page.cursor.clone()),
            Err(_) => self.has_failed = true,
        }
        Some(page)
    }
}

impl Client {
    pub(crate) fn get(&self, path: &str) -> Result<Value, Error> {
        self.shared.transport.json(&Call::new("GET", path))
    }

    /// The events that match, newest first unless the query says [`EventQuery::oldest_first`], page by page.
    pub fn events(&self, query: EventQuery) -> Pages {
        Pages::new(self, "/events", "events", query.0)
    }

    /// How many events match, by time, and the most frequent values of the newest ones; see `GET /events/summary`. `interval` is `minute`,
    /// `hour`, `day`, `week` or `month`; without it the range of time chooses it. Its calendar is that of UTC, or of the parameter
    /// `time_zone`, such as `Europe/Berlin`. The query has no [`EventQuery::limit`].
    ///
    /// # Errors
    /// [`Error::Api`], [`Error::Network`].
    pub fn summary(
        &self,
        query: &EventQuery,
        interval: Option<&str>,
        splits_by_category: bool,
    ) -> Result<Map<String, Value>, Error> {
        let params = query
            .pairs()
            .chain(interval.map(|interval| ("interval", interval)))
            .chain(splits_by_category.then_some(("split", "category")));
        let path = self.in_environment(&with_query("/events/summary", params));
        match self.get(&path)? {
            Value::Object(summary) => Ok(summary),
            _ => Err(Error::network("the summary is no object")),
        }
    }

    /// One event.
    ///
    /// # Errors
    /// [`Error::Api`] with the status 404 if there is none.
    pub fn event(&self, id: &str) -> Result<Map<String, Value>, Error> {
        let response = self.get(&self.in_environment(&format!("/events/{}", segment(id)?)))?;
        object(response, "event")
    }

    /// A page of events in the order in which they were stored, without gaps. Begins after a cursor. Waits up to `wait` for an event,
    /// 30 s at most. Filters are those of a query, except the search and the dates.
    ///
    /// # Errors
    /// [`Error::Api`], [`Error::Network`].
    pub fn feed(&self, query: &EventQuery, after: Option<&str>, wait: Duration) -> Result<FeedPage, Error> {
        let seconds = wait.as_secs().to_string();
        let params = query
            .pairs()
            .chain(after.map(|after| ("after", after)))
            .chain([("wait", seconds.as_str())]);
        let mut call = Call::new("GET", self.in_environment(&with_query("/events/feed", params)));
        call.extra = wait;
        let page = self.shared.transport.json(&call)?;
        let cursor = page["cursor"].as_str();
        Ok(FeedPage {
            events: objects(&page, "events")?.into(),
            cursor: cursor
                .ok_or_else(|| Error::network("the page has no cursor"))?
                .to_owned(),
            has_more: page["has_more"] == true,
        })
    }

    /// Pages of the feed without end, from a cursor on; see [`Self::feed`]. Goes on after an outage, with pauses that grow to 30 s; any other
    /// error is the last item.
    pub fn follow(&self, query: EventQuery, after: Option<String>) -> Follow {
        Follow {
            client: self.clone(),
            query,
            after,
            has_failed: false,
        }
    }

    /// The proof that an event is in the log, for `verify_proof`.
    ///
    /// # Errors
    /// [`Error::Api`], [`Error::Network`].
    pub fn proof(&self, id: &str) -> Result<Value, Error> {
        self.get(&self.in_environment(&format!("/events/{}/proof", segment(id)?)))
    }

    /// The same proof in one file (C2SP tlog-proof), for `verify_receipt` and `audit-server check`.
    ///
    /// # Errors
    /// [`Error::Api`], [`Error::Network`].
    pub fn receipt(&self, id: &str) -> Result<String, Error> {
        let path = self.in_environment(&format!("/events/{}/receipt", segment(id)?));
        self.shared.transport.text(Call::new("GET", path))
    }

    /// The alerts that match the parameters of the interface (`status`, `severity`, `rule_id`, …), newest first, page by page.
    pub fn alerts(&self, params: &[(&'static str, &str)]) -> Pages {
        let params = params
            .iter()
            .map(|(name, value)| ((*name).into(), (*value).to_owned()));
        Pages::new(self, "/alerts", "alerts", params.collect())
    }

    /// One alert.
    ///
    /// # Errors
    /// [`Error::Api`] with the status 404 if there is none, [`Error::Network`].
    pub fn alert(&self, id: &str) -> Result<Map<String, Value>, Error> {
        let response = self.get(&self.in_environment(&format!("/alerts/{}", segment(id)?)))?;
        object(response, "alert")
    }

    /// Notes that somebody has seen an open alert.
    ///
    /// # Errors
    /// [`Error::Api`] with the code `invalid_transition` for another status, [`Error::Network`].
    pub fn acknowledge_alert(&self, id: &str) -> Result<Map<String, Value>, Error> {
        self.change_alert(id, &json!({"status": "acknowledged"}))
    }

    /// Ends an alert.
    ///
    /// # Errors
    /// As [`Self::acknowledge_alert`].
    pub fn resolve_alert(&self, id: &str) -> Result<Map<String, Value>, Error> {
        self.change_alert(id, &json!({"status": "resolved"}))
    }

    /// Records what was found about an alert: 1 to 1,000 characters, in the event `audit.alert.updated` of the service.
    ///
    /// # Errors
    /// [`Error::Api`] with the code `conflict` while the service does not record its own events, [`Error::Network`].
    pub fn add_alert_note(&self, id: &str, note: &str) -> Result<Map<String, Value>, Error> {
        self.change_alert(id, &json!({"note": note}))
    }

    fn change_alert(&self, id: &str, change: &Value) -> Result<Map<String, Value>, Error> {
        let path = self.in_environment(&format!("/alerts/{}", segment(id)?));
        let call = Call::new("PATCH", path).body(change.to_string().into_bytes());
        object(self.shared.transport.json(&call)?, "alert")
    }

    /// A token with which a browser reads the events of one tenant, as its tier shows them, for `lifetime` (1 minute to 1 day).
    ///
    /// # Errors
    /// [`Error::Api`], [`Error::Network`].
    pub fn viewer_token(
        &self,
        tenant_id: &str,
        tier: Option<&str>,
        lifetime: Duration,
    ) -> Result<String, Error> {
        self.new_viewer_token(tenant_id, tier, lifetime, false)
            .and_then(|response| text(&response, "token"))
    }

    /// The link that opens the portal of the server with a new [viewer token](Self::viewer_token). Whoever has it can read the events of
    /// the tenant until the token expires.
    ///
    /// # Errors
    /// [`Error::Api`], also where the server has no pages, [`Error::Network`].
    pub fn portal_url(
        &self,
        tenant_id: &str,
        tier: Option<&str>,
        lifetime: Duration,
    ) -> Result<String, Error> {
        self.new_viewer_token(tenant_id, tier, lifetime, true)
            .and_then(|response| text(&response, "portal_url"))
    }

    fn new_viewer_token(
        &self,
        tenant_id: &str,
        tier: Option<&str>,
        lifetime: Duration,
        has_link: bool,
    ) -> Result<Value, Error> {
        let mut body = json!({"tenant_id": tenant_id, "expires_in": lifetime.as_secs()});
        if let Some(tier) = tier {
            body["tier"] = tier.into();
        }
        if has_link {
            body["portal"] = true.into();
        }
        let call = Call::new("POST", "/viewer-tokens").body(body.to_string().into_bytes());
        self.shared.transport.json(&call)
    }
}

/// The text with this name in a response.
pub(crate) fn text(response: &Value, name: &str) -> Result<String, Error> {
    let text = response[name].as_str().map(str::to_owned);
    text.ok_or_else(|| Error::network(format!("the response has no {name}")))
}

/// The object with this name in a response.
pub(crate) fn object(mut response: Value, name: &str) -> Result<Map<String, Value>, Error> {
    match response[name].take() {
        Value::Object(object) => Ok(object),
        _ => Err(Error::network(format!("the response has no {name}"))),
    }
}
