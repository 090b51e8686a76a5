//! Visibility tiers: which events, and which of their fields, a viewer token shows.

use crate::event::Category;
use crate::words;
use crate::{ActionGlob, EventField, EventPart, Facet, Facets, StoredSalt, Violations};
use serde_json::{Map, Value};
use std::fmt;
use std::str::{FromStr, Split};

/// The name of a tier: 1 to 64 characters out of `a-z`, `0-9`, `_` and `-`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TierName(String);

/// The text cannot name a tier.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "must have 1 to {} characters out of a-z, 0-9, underscore and hyphen",
    TierName::CHARS_MAX
)]
pub struct TierNameError;

impl TierName {
    /// The longest name, in characters.
    pub const CHARS_MAX: usize = 64;

    /// The text of the name.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl FromStr for TierName {
    type Err = TierNameError;

    fn from_str(text: &str) -> Result<Self, TierNameError> {
        let in_alphabet = |byte: u8| matches!(byte, b'a'..=b'z' | b'0'..=b'9' | b'_' | b'-');
        if text.is_empty() || text.len() > Self::CHARS_MAX || !text.bytes().all(in_alphabet) {
            return Err(TierNameError);
        }
        Ok(Self(text.to_owned()))
    }
}

impl fmt::Display for TierName {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0)
    }
}

/// The dot path of a field that a tier hides, with everything below it, and with [what it implies](EventField::implied_paths). `*` matches
/// any one step.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct HiddenField {
    path: String,
    /// The paths that the path implies.
    implied: Vec<String>,
}

/// The text is not the path of a field that can be hidden.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "must be the dot path of a field, such as actor.email or metadata.*.ssn, that begins with one of {} and has at most {} characters",
    HiddenField::roots().join(", "),
    HiddenField::CHARS_MAX
)]
pub struct HiddenFieldError;

impl HiddenField {
    /// The longest path, in characters.
    pub const CHARS_MAX: usize = 256;
    fn new(path: &str) -> Self {
        Self {
            path: path.to_owned(),
            implied: EventField::implied_paths(path),
        }
    }

    /// The text of the path.
    pub fn as_str(&self) -> &str {
        &self.path
    }

    /// The steps of the path, and those of each that it implies.
    fn paths(&self) -> impl Iterator<Item = Split<'_, char>> {
        let paths = std::iter::once(&self.path).chain(&self.implied);
        paths.map(|path| path.split('.'))
    }

    /// Whether a path is `member`, or that of an object that it is in. `*` in `member` is any item.
    fn covers(&self, member: &str) -> bool {
        self.paths().any(|mut steps| {
            let mut path = member.split('.');
            let is_step = |step: &str, actual: &str| step == "*" || actual == "*" || step == actual;
            steps.all(|step| path.next().is_some_and(|actual| is_step(step, actual)))
        })
    }

    /// Whether a path is that of the field, of an object that it is in, or of something below it.
    fn touches(&self, field: EventField) -> bool {
        self.paths().any(|steps| {
            let mut steps = steps.zip(field.path());
            steps.all(|(step, actual)| step == "*" || step == actual)
        })
    }

    /// The first steps that a path can have: the members of an event of which something can be hidden.
    pub fn roots() -> Vec<&'static str> {
        let mut roots = Vec::new();
        for field in EventField::ALL.iter().filter(|field| field.is_hideable()) {
            roots.extend(field.path().next().filter(|root| !roots.contains(root)));
        }
        roots
    }
}

impl FromStr for HiddenField {
    type Err = HiddenFieldError;

    fn from_str(text: &str) -> Result<Self, HiddenFieldError> {
        let root = text.split('.').next().unwrap_or_default();
        let is_path = text.chars().count() <= Self::CHARS_MAX
            && !text.contains('\0')
            && Self::roots().contains(&root)
            && text.split('.').all(|step| !step.is_empty());
        if is_path {
            Ok(Self::new(text))
        } else {
            Err(HiddenFieldError)
        }
    }
}

impl fmt::Display for HiddenField {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.path)
    }
}

words! {
    /// What a viewer token can do beside reading the list of events.
    pub enum ViewerRoute {
        /// One event at a path of its own. The list also finds it by its id.
        Event = "event",
        /// Numbers of events.
        Summary = "summary",
        /// The feed of new events.
        Feed = "feed",
        /// An export.
        Export = "export",
        /// Proofs and receipts of events, and of the completeness of what is shown.
        Proofs = "proofs",
        /// Destinations of its tenant, read and changed. Only a tier that names it allows it.
        Destinations = "destinations",
    }
}

/// A tier: which events a viewer token shows, and without which fields.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ViewerTier {
    /// The tier's name, unique in its project.
    pub name: TierName,
    /// Only events of these categories; all when `None`.
    pub categories: Option<Vec<Category>>,
    /// Only events whose action matches one of these; all when `None`.
    pub actions: Option<Vec<ActionGlob>>,
    /// Fields that are left out.
    pub hidden_fields: Vec<HiddenField>,
    /// Only this beside the list of events; when `None`, every way of reading.
    pub routes: Option<Vec<ViewerRoute>>,
}

/// The tier of a token whose request names none.
pub const DEFAULT_TIER: &str = "standard";

impl ViewerTier {
    /// The tiers that every project starts with: `full`, `standard` and `minimal`.
    pub fn initial() -> Vec<Self> {
        let tier = |name: &str, categories: Option<&[Category]>, hidden: &[&str]| Self {
            name: TierName(name.to_owned()),
            categories: categories.map(<[Category]>::to_vec),
            actions: None,
            hidden_fields: hidden.iter().copied().map(HiddenField::new).collect(),
            routes: None,
        };
        let everyday = [Category::Auth, Category::Access, Category::Mutation];
        vec![
            tier("full", None, &[]),
            tier(DEFAULT_TIER, None, &["context", "metadata", "actor.email"]),
            tier(
                "minimal",
                Some(&everyday),
                &[
                    "context",
                    "metadata",
                    "actor.email",
                    "changes",
                    "actor.name",
                    "target.name",
                ],
            ),
        ]
    }

    /// Whether events like this are shown at all.
    pub fn shows(&self, facets: &Facets<'_>) -> bool {
        let Self {
            name: _,
            categories,
            actions: _,
            hidden_fields: _,
            routes: _,
        } = self;
        let [action, category] =
            [Facet::Action, Facet::Category].map(|facet| facets.get(facet).unwrap_or_default());
        let allows_category = |allowed: &Vec<Category>| allowed.iter().any(|one| one.as_str() == category);
        categories.as_ref().is_none_or(allows_category) && self.allows_action(action)
    }

    /// Whether its readers may know the name of the action.
    pub fn names_action(&self, action: &str) -> bool {
        !self.hides(EventField::Action) && self.allows_action(action)
    }

    fn allows_action(&self, action: &str) -> bool {
        let is_allowed = |globs: &Vec<ActionGlob>| globs.iter().any(|glob| glob.matches(action));
        self.actions.as_ref().is_none_or(is_allowed)
    }

    /// Removes the hidden facets, so that no filter and no search can find an event by them.
    #[must_use]
    pub fn restrict<'a>(&self, facets: Facets<'a>) -> Facets<'a> {
        facets.without(|path| self.hides_path(path))
    }

    /// Whether its tokens can do this.
    pub fn allows(&self, route: ViewerRoute) -> bool {
        match &self.routes {
            Some(allowed) => allowed.contains(&route),
            // Destinations send events away.
            None => route != ViewerRoute::Destinations,
        }
    }

    /// That a tier which allows destinations shows its tokens what they send: every event of the tenant, with every field.
    ///
    /// # Errors
    /// Names the field.
    pub fn check(&self) -> Result<(), Violations> {
        let Self {
            name: _,
            categories,
            actions,
            hidden_fields,
            routes: _,
        } = self;
        let shows_everything = categories.is_none() && actions.is_none() && hidden_fields.is_empty();
        match self.allows(ViewerRoute::Destinations) && !shows_everything {
            true => Err(Violations::one(
                "routes",
                "must not have destinations in a tier that limits categories or actions or hides fields: a destination sends whole events",
            )),
            false => Ok(()),
        }
    }

    /// Whether the tier leaves the field out.
    pub fn hides(&self, field: EventField) -> bool {
        self.hides_path(field.as_str())
    }

    /// Whether the tier leaves out any value of the facet but the first.
    pub fn hides_further(&self, facet: Facet) -> bool {
        facet.further_path().is_some_and(|path| self.hides_path(path))
    }

    /// Whether the tier leaves out what has this dot path; with a step `*`, any of it.
    pub fn hides_path(&self, path: &str) -> bool {
        self.hidden_fields.iter().any(|hidden| hidden.covers(path))
    }

    /// Whether the tier leaves out anything of the part, so that its readers cannot hash it.
    pub fn hides_of(&self, part: EventPart) -> bool {
        let mut hidden = self.hidden_fields.iter();
        hidden.any(|hidden| part.fields().iter().any(|field| hidden.touches(*field)))
    }

    /// Whether the tier leaves out any field.
    pub fn hides_something(&self) -> bool {
        !self.hidden_fields.is_empty()
    }

    /// Removes the hidden fields from an event, and with them the salt or salts, by which they could be guessed. Of erasures it removes the
    /// positions, which tell how many events other tenants have.
    pub fn redact(&self, event: &mut Map<String, Value>) {
        if let Some(Value::Array(erasures)) = event.get_mut(StoredSalt::ERASED) {
            let erasures = erasures.iter_mut().filter_map(Value::as_object_mut);
            erasures.for_each(|erasure| drop(erasure.remove(StoredSalt::SEQ)));
        }
        if self.hides_something() {
            event.remove(EventField::ContentSalt.as_str());
            event.remove(StoredSalt::PARTS);
        }
        for path in self.hidden_fields.iter().flat_map(HiddenField::paths) {
            let steps: Vec<&str> = path.collect();
            remove_from_object(event, &steps);
        }
    }
}

fn remove_from_object(object: &mut Map<String, Value>, steps: &[&str]) {
    match steps {
        [] => {}
        ["*"] => object.clear(),
        [name] => {
            object.remove(*name);
        }
        ["*", rest @ ..] => object.values_mut().for_each(|value| remove(value, rest)),
        [name, rest @ ..] => {
            if let Some(value) = object.get_mut(*name) {
                remove(value, rest);
            }
        }
    }
}

fn remove(value: &mut Value, steps: &[&str]) {
    match (value, steps) {
        (Value::Object(object), steps) => remove_from_object(object, steps),
        (Value::Array(items), ["*"]) => items.clear(),
        (Value::Array(items), [step, rest @ ..]) => {
            for (index, item) in items.iter_mut().enumerate() {
                if *step == "*" || step.parse() == Ok(index) {
                    // The array keeps its length: an index in a path must go on naming the same item.
                    if rest.is_empty() {
                        *item = Value::Null
                    } else {
                        remove(item, rest)
                    }
                }
            }
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::SearchedText;
    use serde_json::json;

    fn tier(hidden: &[&str]) -> ViewerTier {
        ViewerTier {
            name: "t".parse().unwrap(),
            categories: None,
            actions: None,
            hidden_fields: hidden.iter().map(|path| path.parse().unwrap()).collect(),
            routes: None,
        }
    }

    #[test]
    fn hidden_fields_go_with_everything_below_them() {
        let event = json!({"id": "e", "actor": {"id": "a", "name": "n"}, "metadata": {"a": {"ssn": 1, "x": 2}, "b": [{"ssn": 3}]}, "changes": [{"field": "f", "before": 1}, {"before": 2}]});
        let hide = |paths: &[&str]| {
            let mut object = event.as_object().unwrap().clone();
            tier(paths).redact(&mut object);
            Value::Object(object)
        };
        assert_eq!(
            hide(&["actor.name", "metadata", "changes"]),
            json!({"id": "e", "actor": {"id": "a"}})
        );
        assert_eq!(
            hide(&["metadata.*.ssn"])["metadata"],
            json!({"a": {"x": 2}, "b": [{"ssn": 3}]})
        );
        assert_eq!(hide(&["metadata.b.0.ssn"])["metadata"]["b"], json!([{}]));
        assert_eq!(
            hide(&["changes.*.before"])["changes"],
            json!([{"field": "f"}, {}])
        );
        assert_eq!(hide(&["metadata.*"])["metadata"], json!({}));
        assert_eq!(hide(&["context.ip_address"]), event);
    }

    #[test]
    fn what_is_hidden_of_an_actor_or_target_is_hidden_of_their_twins() {
        let event = json!({
            "actor": {"id": "a", "name": "n", "on_behalf_of": {"id": "b", "name": "m", "type": "user"}},
            "target": {"id": "x", "name": "y"}, "targets": [{"id": "x", "name": "y"}, {"id": "z", "name": "w"}],
        });
        let hide = |paths: &[&str]| {
            let mut object = event.as_object().unwrap().clone();
            tier(paths).redact(&mut object);
            Value::Object(object)
        };
        let minimal = json!({
            "actor": {"id": "a", "on_behalf_of": {"id": "b", "type": "user"}},
            "target": {"id": "x"}, "targets": [{"id": "x"}, {"id": "z"}],
        });
        assert_eq!(hide(&["actor.name", "target.name"]), minimal);
        assert_eq!(hide(&["actor", "target"]), json!({}));
        assert_eq!(hide(&["targets"])["target"], event["target"]);
        assert_eq!(hide(&["actor.email"]), event);
        assert!(tier(&["target"]).hides(EventField::Targets));
        let touched = tier(&["actor.id", "target.type"]);
        assert!(touched.hides_of(EventPart::ActorName) && touched.hides_of(EventPart::TargetName));
    }

    #[test]
    fn what_is_hidden_cannot_be_found_by() {
        let of_target = Facets::default().with_text(SearchedText::TargetName, "t");
        let all = of_target
            .clone()
            .with(Facet::ActorId, "a")
            .with_text(SearchedText::ActorName, "n");
        let of_actor = Facets::default().with(Facet::ActorId, "a");
        assert_eq!(tier(&["actor.name", "target"]).restrict(all.clone()), of_actor);
        assert_eq!(tier(&["actor.*"]).restrict(all), of_target);
    }

    /// The targets after the first can be hidden without it.
    #[test]
    fn a_further_target_that_is_hidden_cannot_be_found_by() {
        let text = r#"{"action":"a.b","actor":{"id":"a","type":"user"},"category":"admin","target":{"id":"x","type":"y"},"targets":[{"id":"x","type":"y"},{"id":"z","type":"w"}],"tenant_id":"t"}"#;
        let found = |hidden: &[&str]| {
            let facets = tier(hidden).restrict(Facets::read(text).unwrap());
            let of = |facet| {
                let further = facets.further(facet).map(str::to_owned);
                facets
                    .get(facet)
                    .map(str::to_owned)
                    .into_iter()
                    .chain(further)
                    .collect::<Vec<_>>()
                    .join(" ")
            };
            [of(Facet::TargetId), of(Facet::TargetType)]
        };
        assert_eq!(found(&["targets.*.name"]), ["x z", "y w"]);
        assert_eq!(found(&["targets.*.id"]), ["x", "y w"]);
        assert_eq!(found(&["targets.1.type"]), ["x z", "y"]);
        for all in ["targets", "targets.*", "targets.1"] {
            assert_eq!(found(&[all]), ["x", "y"], "{all}");
        }
        assert_eq!(found(&["target.id"]), ["", "y w"]);
        assert_eq!(found(&["target"]), ["", ""]);
    }

    #[test]
    fn what_identifies_an_event_cannot_be_hidden() {
        for path in [
            "id",
            "received_at",
            "tenant_id",
            "content_hash",
            "",
            "actor.",
            ".actor",
            "actor..name",
        ] {
            assert!(path.parse::<HiddenField>().is_err(), "{path}");
        }
    }

    #[test]
    fn a_part_is_hidden_with_anything_of_its_fields() {
        let hidden = |paths: &[&str]| {
            let tier = tier(paths);
            let parts = EventPart::ALL.iter().filter(|part| tier.hides_of(**part));
            parts.copied().collect::<Vec<_>>()
        };
        assert_eq!(hidden(&[]), []);
        assert_eq!(hidden(&["metadata.*.ssn"]), [EventPart::Metadata]);
        assert_eq!(
            hidden(&["context.location", "action"]),
            [EventPart::Kind, EventPart::Network]
        );
        let of_actor = [
            EventPart::Kind,
            EventPart::ActorEmail,
            EventPart::ActorId,
            EventPart::ActorName,
        ];
        assert_eq!(hidden(&["actor"]), of_actor);
        assert_eq!(hidden(&["actor.*"]), of_actor);
        assert_eq!(
            hidden(&["target.name", "changes"]),
            [EventPart::Changes, EventPart::TargetName]
        );
    }

    #[test]
    fn destinations_must_be_named_by_a_tier_that_shows_everything() {
        let with = |routes: Option<&[ViewerRoute]>, change: fn(&mut ViewerTier)| {
            let mut tier = ViewerTier {
                routes: routes.map(<[ViewerRoute]>::to_vec),
                ..tier(&[])
            };
            change(&mut tier);
            (tier.allows(ViewerRoute::Destinations), tier.check().is_ok())
        };
        let named = Some([ViewerRoute::Destinations].as_slice());
        assert_eq!(with(None, |_| {}), (false, true));
        assert_eq!(with(Some(&[ViewerRoute::Event]), |_| {}), (false, true));
        assert_eq!(with(named, |_| {}), (true, true));
        let limits: [fn(&mut ViewerTier); 3] = [
            |tier| tier.categories = Some(Category::ALL.to_vec()),
            |tier| tier.actions = Some(vec!["*".parse().unwrap()]),
            |tier| tier.hidden_fields = vec!["metadata.*.ssn".parse().unwrap()],
        ];
        for limit in limits {
            assert_eq!(with(named, limit), (true, false));
            assert_eq!(with(None, limit), (false, true));
        }
        for tier in ViewerTier::initial() {
            assert!(!tier.allows(ViewerRoute::Destinations), "{}", tier.name);
        }
    }

    #[test]
    fn every_project_starts_with_three_tiers() {
        let names: Vec<_> = ViewerTier::initial()
            .into_iter()
            .map(|tier| tier.name.to_string())
            .collect();
        assert_eq!(names, ["full", "standard", "minimal"]);
    }
}
