//! Classes that the operator assigns to actions.

use super::VERSION;
use super::table::{Class, OTHER, Rule, Shape};
use audit_domain::{ActionGlob, Fields};
use serde_json::{Value, json};

/// Classes of OCSF by action. They replace those of the table. The first item whose pattern matches an action decides.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct OcsfClasses(Vec<Assigned>);

/// A class and an activity for the actions that match a pattern.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Assigned {
    action: ActionGlob,
    pub(super) class_uid: u32,
    pub(super) activity_id: u32,
}

impl OcsfClasses {
    /// The maximum number of items.
    pub const ITEMS_MAX: usize = 100;

    /// The `class_uid` of each class that an action can have.
    pub fn class_uids() -> Vec<u32> {
        VERSION.classes.iter().map(|class| class.uid).collect()
    }

    /// Reads the list `name`, if there is one: objects with `action`, `class_uid` and `activity_id`.
    pub fn read(fields: &mut Fields<'_>, name: &str) -> Option<Self> {
        let items = fields.optional_array(name)?;
        if items.len() > Self::ITEMS_MAX {
            return fields.violate(name, format_args!("must have at most {} items", Self::ITEMS_MAX));
        }
        let mut classes = Vec::with_capacity(items.len());
        for (index, item) in items.into_iter().enumerate() {
            let path = format!("{name}[{index}]");
            if let Some(members) = fields.as_object(&path, item) {
                let mut members = fields.nested(&path, members);
                classes.extend(Assigned::read(&mut members));
                members.refuse_the_rest();
            }
        }
        Some(Self(classes))
    }

    /// What [`Self::read`] reads.
    pub fn to_json(&self) -> Value {
        let item = |assigned: &Assigned| {
            json!({
                "action": assigned.action.as_str(), "class_uid": assigned.class_uid, "activity_id": assigned.activity_id,
            })
        };
        self.0.iter().map(item).collect()
    }

    /// What an action has been assigned.
    pub(super) fn of(&self, action: &str) -> Option<&Assigned> {
        self.0.iter().find(|assigned| assigned.action.matches(action))
    }
}

impl Assigned {
    fn read(fields: &mut Fields<'_>) -> Option<Self> {
        let action = fields.required_parsed("action");
        let class = fields.required_number::<&Class>("class_uid");
        let activity_id = fields.required_number::<i64>("activity_id");
        let (class, activity_id) = (class?, activity_id?);
        match class.activity(activity_id) {
            Some(activity_id) => Some(Self {
                action: action?,
                class_uid: class.uid,
                activity_id,
            }),
            None => fields.violate(
                "activity_id",
                format_args!(
                    "must be from 1 to {}, or {OTHER}, in the class {}",
                    class.activity_max, class.uid
                ),
            ),
        }
    }

    /// What the class requires: as the rule of the table for this activity, or else as the class itself.
    pub(super) fn shape(&self) -> Option<Shape> {
        let has_activity = |(activity_id, _): &(u32, &[&str])| *activity_id == self.activity_id;
        let is_rule =
            |rule: &&Rule| rule.class_uid == self.class_uid && rule.activities.iter().any(has_activity);
        let rule = VERSION.rules.iter().find(is_rule);
        let class = || VERSION.classes.iter().find(|class| class.uid == self.class_uid);
        rule.map(|rule| rule.shape)
            .or_else(|| class().map(|class| class.shape))
    }
}

impl Class {
    /// The number as an activity of the class.
    fn activity(&self, number: i64) -> Option<u32> {
        let is_activity = |id: &u32| *id == OTHER || (1..=self.activity_max).contains(id);
        u32::try_from(number).ok().filter(is_activity)
    }
}

impl TryFrom<i64> for &Class {
    type Error = String;

    fn try_from(uid: i64) -> Result<Self, String> {
        let found = VERSION.classes.iter().find(|class| i64::from(class.uid) == uid);
        let known = || {
            OcsfClasses::class_uids()
                .iter()
                .map(u32::to_string)
                .collect::<Vec<_>>()
        };
        found.ok_or_else(|| format!("must be one of {}", known().join(", ")))
    }
}
