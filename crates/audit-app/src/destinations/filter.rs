//! Which events a destination gets.

use audit_domain::{
    ActionGlob, Category, DamagedEvent, Facet, Facets, Fields, SERVICE_TENANT_ID, StoredEvent, Violations,
    canonical, limits,
};
use audit_store::DestinationRow;
use serde_json::{Map, Value, json};
use sha2::{Digest, Sha256};
use std::str::FromStr;

/// The events that a destination gets: those that meet every condition that it has.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DestinationFilter {
    /// Only events whose whole action matches one of these.
    actions: Option<Vec<ActionGlob>>,
    /// Only events of these categories.
    categories: Option<Vec<Category>>,
    /// Only events of these tenants.
    tenant_ids: Option<Vec<TenantId>>,
}

/// The events of the service that say what is gone. Who has copies of events must learn of it.
const REMOVALS: [&str; 2] = ["audit.events.erased", "audit.events.removed"];

/// SHA-256 of the canonical form of a JSON value, in hexadecimal.
pub(super) fn fingerprint_of(value: &Value) -> String {
    let hash = Sha256::digest(canonical::to_string(value));
    hash.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// The id of a tenant, as in an event.
#[derive(Clone, Debug, PartialEq, Eq)]
struct TenantId(String);

impl FromStr for TenantId {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text.chars().count() {
            1..=limits::ID_CHARS_MAX => Ok(Self(text.to_owned())),
            _ => Err(format!("must have 1 to {} characters", limits::ID_CHARS_MAX)),
        }
    }
}

impl DestinationFilter {
    /// The maximum number of values of a condition.
    pub const VALUES_MAX: usize = 100;

    /// Reads the conditions. An absent one lets every event pass.
    pub fn read(fields: &mut Fields<'_>) -> Option<Self> {
        Some(Self {
            actions: fields.optional_filled_list("actions", Self::VALUES_MAX),
            categories: fields.optional_filled_list("categories", Self::VALUES_MAX),
            tenant_ids: fields.optional_filled_list("tenant_ids", Self::VALUES_MAX),
        })
    }

    /// The filter of this JSON object.
    ///
    /// # Errors
    /// Every field that is unknown or not as it must be.
    pub fn parse(value: &Value) -> Result<Self, Violations> {
        Fields::read(value.clone(), Self::read)
    }

    /// The filter of a stored destination. That of a tenant lets no event of another tenant pass, whatever is stored.
    ///
    /// # Errors
    /// As [`Self::parse`].
    pub(crate) fn of(row: &DestinationRow) -> Result<Self, Violations> {
        let filter = Self::from_stored(&row.filter)?;
        Ok(match &row.created_by_tenant {
            Some(tenant) => filter.of_tenant(tenant),
            None => filter,
        })
    }

    /// The filter, confined to the events of a tenant.
    #[must_use]
    pub(crate) fn of_tenant(self, tenant: &str) -> Self {
        Self {
            tenant_ids: Some(vec![TenantId(tenant.to_owned())]),
            ..self
        }
    }

    /// Whether it names a tenant other than this one.
    pub(crate) fn names_other_than(&self, tenant: &str) -> bool {
        self.tenant_ids.iter().flatten().any(|id| id.0 != tenant)
    }

    /// The filter of the text of [`Self::to_json`].
    fn from_stored(text: &str) -> Result<Self, Violations> {
        let value = serde_json::from_str(text).map_err(|error| Violations::one("filter", error))?;
        Self::parse(&value)
    }

    /// The conditions as a JSON object; `{}` for all events.
    pub fn to_json(&self) -> Value {
        let actions = self
            .actions
            .as_ref()
            .map(|globs| json!(globs.iter().map(ActionGlob::as_str).collect::<Vec<_>>()));
        let categories = self.categories.as_ref();
        let categories =
            categories.map(|words| json!(words.iter().map(|word| word.as_str()).collect::<Vec<_>>()));
        let tenants = self.tenant_ids.as_ref();
        let tenants = tenants.map(|ids| json!(ids.iter().map(|id| id.0.as_str()).collect::<Vec<_>>()));
        let members = [
            ("actions", actions),
            ("categories", categories),
            ("tenant_ids", tenants),
        ];
        let members = members
            .into_iter()
            .filter_map(|(name, value)| Some((name.to_owned(), value?)));
        Value::Object(members.collect::<Map<_, _>>())
    }

    /// SHA-256 of the canonical JSON, in hexadecimal. Signed checkpoints of a stream name their filter by it.
    pub(crate) fn fingerprint(&self) -> String {
        fingerprint_of(&self.to_json())
    }

    /// Whether the destination gets the event.
    ///
    /// # Errors
    /// When what is stored is not an event.
    pub(crate) fn matches(&self, event: &StoredEvent) -> Result<bool, DamagedEvent> {
        match self.is_everything() {
            true => Ok(true),
            false => Ok(self.allows(&event.facets()?)),
        }
    }

    /// Whether events of all tenants may pass. Such a destination also gets the events that say which events were removed or erased, whatever
    /// its other conditions.
    pub(crate) const fn is_of_all_tenants(&self) -> bool {
        self.tenant_ids.is_none()
    }

    /// Whether it lets every event pass.
    pub(crate) fn is_everything(&self) -> bool {
        *self == Self::default()
    }

    fn allows(&self, facets: &Facets<'_>) -> bool {
        let [action, category, tenant] = [Facet::Action, Facet::Category, Facet::TenantId]
            .map(|facet| facets.get(facet).unwrap_or_default());
        let has_action = |globs: &Vec<ActionGlob>| globs.iter().any(|glob| glob.matches(action));
        let has_category = |words: &Vec<Category>| words.iter().any(|word| word.as_str() == category);
        let has_tenant = |ids: &Vec<TenantId>| ids.iter().any(|id| id.0 == tenant);
        if self.is_of_all_tenants() && tenant == SERVICE_TENANT_ID && REMOVALS.contains(&action) {
            return true;
        }
        self.actions.as_ref().is_none_or(has_action)
            && self.categories.as_ref().is_none_or(has_category)
            && self.tenant_ids.as_ref().is_none_or(has_tenant)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn filter(value: Value) -> DestinationFilter {
        DestinationFilter::parse(&value).unwrap()
    }

    fn event() -> Facets<'static> {
        Facets::default()
            .with(Facet::Action, "user.created")
            .with(Facet::Category, "mutation")
            .with(Facet::TenantId, "acme")
    }

    #[test]
    fn an_event_must_meet_every_condition() {
        for (value, is_met) in [
            (json!({}), true),
            (json!({"actions": ["auth.*", "user.*"]}), true),
            (json!({"actions": ["auth.*"]}), false),
            (json!({"categories": ["mutation"]}), true),
            (json!({"categories": ["auth", "security"]}), false),
            (json!({"tenant_ids": ["other", "acme"]}), true),
            (json!({"tenant_ids": ["acm"]}), false),
            (json!({"actions": ["user.*"], "tenant_ids": ["other"]}), false),
        ] {
            assert_eq!(filter(value.clone()).allows(&event()), is_met, "{value}");
        }
    }

    #[test]
    fn what_says_that_events_are_gone_passes_every_filter_without_tenants() {
        for (action, tenant, is_removal) in [
            ("audit.events.erased", SERVICE_TENANT_ID, true),
            ("audit.events.removed", SERVICE_TENANT_ID, true),
            ("audit.erasure.planned", SERVICE_TENANT_ID, false),
            ("audit.events.erased", "acme", false),
        ] {
            let event = Facets::default()
                .with(Facet::Action, action)
                .with(Facet::Category, "security")
                .with(Facet::TenantId, tenant);
            for value in [json!({"actions": ["user.*"]}), json!({"categories": ["auth"]})] {
                assert_eq!(
                    filter(value.clone()).allows(&event),
                    is_removal,
                    "{action} {value}"
                );
                assert!(!filter(value).of_tenant("other").allows(&event), "{action}");
            }
        }
    }

    #[test]
    fn a_filter_is_read_back_as_written_and_named_by_its_content() {
        let all = json!({"actions": ["a.*"], "categories": ["auth"], "tenant_ids": ["é"]});
        for value in [json!({}), all.clone(), json!({"tenant_ids": ["acme"]})] {
            let read = filter(value.clone());
            assert_eq!(read.to_json(), value);
            assert_eq!(DestinationFilter::from_stored(&value.to_string()), Ok(read));
        }
        assert!(filter(json!({})).is_everything() && !filter(all.clone()).is_everything());
        assert_eq!(
            filter(all.clone()).fingerprint(),
            filter(all.clone()).fingerprint()
        );
        assert_ne!(filter(all).fingerprint(), filter(json!({})).fingerprint());
        // SHA-256 of `{}`.
        let empty = "44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a";
        assert_eq!(filter(json!({})).fingerprint(), empty);
    }

    #[test]
    fn a_filter_of_a_tenant_keeps_its_other_conditions_and_no_other_tenant() {
        for (value, is_met) in [
            (json!({}), true),
            (json!({"tenant_ids": ["other", "acme"]}), true),
            (json!({"actions": ["auth.*"]}), false),
        ] {
            let confined = filter(value.clone()).of_tenant("acme");
            assert_eq!(confined.to_json()["tenant_ids"], json!(["acme"]));
            assert_eq!(confined.to_json()["actions"], value["actions"]);
            assert_eq!(confined.allows(&event()), is_met, "{value}");
            let of_other = event().with(Facet::TenantId, "other");
            assert!(!confined.allows(&of_other), "{value}");
        }
        assert!(!filter(json!({})).names_other_than("acme"));
        assert!(!filter(json!({"tenant_ids": ["acme"]})).names_other_than("acme"));
        assert!(filter(json!({"tenant_ids": ["acme", "other"]})).names_other_than("acme"));
    }

    #[test]
    fn every_fault_is_named() {
        let faults = json!({
            "actions": ["User"], "categories": [], "tenant_ids": ["", "a".repeat(limits::ID_CHARS_MAX + 1)], "tenants": ["a"],
        });
        let found = DestinationFilter::parse(&faults).unwrap_err().into_vec();
        let found: Vec<String> = found.into_iter().map(|violation| violation.field).collect();
        assert_eq!(
            found,
            [
                "actions[0]",
                "categories",
                "tenant_ids[0]",
                "tenant_ids[1]",
                "tenants"
            ]
        );
    }
}
