//! What the name of an action says: what was done, to what kind of thing, and whether it succeeded.

use serde_json::{Map, Value};

/// Words at the end of an action that say how it ended.
const SUCCESSES: [&str; 2] = ["succeeded", "success"];
const FAILURES: [&str; 4] = ["failed", "failure", "denied", "refused"];

/// An action such as `team.member_removed`, taken apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ActionName<'a> {
    /// The segment that says what was done, without how it ended: `member_removed`.
    deed: &'a str,
    /// The segments before it: `team`.
    before: &'a str,
    /// Whether the action says that it succeeded.
    pub(crate) succeeded: Option<bool>,
}

impl<'a> ActionName<'a> {
    pub(crate) fn new(action: &'a str) -> Self {
        let (rest, succeeded) = without_ending(action);
        let (before, deed) = rest.rsplit_once('.').unwrap_or(("", rest));
        Self {
            deed,
            before,
            succeeded,
        }
    }

    /// What was done: the last segment.
    pub(crate) fn deed(&self) -> &'a str {
        self.deed
    }

    /// Whether this verb was done. A verb is at the end of the last segment (`member_removed`) or at its beginning (`get_bucket`).
    pub(crate) fn is(&self, verb: &str) -> bool {
        self.around(verb).is_some()
    }

    /// The noun of the verb: the word before it, or the last one after it (`member_removed`, `user.created`, `delete_user`).
    pub(crate) fn noun(&self, verb: &str) -> Option<&'a str> {
        let (before, after) = self.around(verb)?;
        let last = |text: &'a str| text.rsplit(['.', '_']).next();
        [before, after, self.before]
            .into_iter()
            .find(|text| !text.is_empty())
            .and_then(last)
    }

    /// The rest of the last segment before and after a verb.
    fn around(&self, verb: &str) -> Option<(&'a str, &'a str)> {
        if let Some(before) = self.deed.strip_suffix(verb)
            && (before.is_empty() || before.ends_with('_'))
        {
            return Some((before.trim_end_matches('_'), ""));
        }
        let after = self.deed.strip_prefix(verb)?.strip_prefix('_')?;
        Some(("", after))
    }
}

/// An action without the word that says how it ended, if it has one.
fn without_ending(action: &str) -> (&str, Option<bool>) {
    for (endings, succeeded) in [(SUCCESSES.as_slice(), true), (FAILURES.as_slice(), false)] {
        for ending in endings {
            let rest = action.strip_suffix(ending);
            let rest = rest.and_then(|rest| rest.strip_suffix(['.', '_']));
            if let Some(rest) = rest.filter(|rest| !rest.is_empty()) {
                return (rest, Some(succeeded));
            }
        }
    }
    (action, None)
}

/// Whether an event says that its action succeeded: by its outcome, or else by the name of its action.
pub(crate) fn succeeded(event: &Map<String, Value>) -> Option<bool> {
    match event.get("outcome").and_then(Value::as_str) {
        Some("success") => Some(true),
        Some("failure" | "denied") => Some(false),
        _ => ActionName::new(event.get("action")?.as_str()?).succeeded,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_verb_is_at_the_end_or_the_beginning_of_the_last_segment() {
        for (action, verb, noun) in [
            ("user.created", "created", Some("user")),
            ("team.member_removed", "removed", Some("member")),
            ("team.member.removed", "removed", Some("member")),
            ("s3.get_bucket_acl", "get", Some("acl")),
            ("user.api_key.created", "created", Some("key")),
            ("auth.login_failed", "login", Some("auth")),
            ("auth.login.failed", "login", Some("auth")),
            ("user.logged_in", "logged_in", Some("user")),
            ("user.recreated", "created", None),
            ("user.created_at", "created_", None),
            ("created.user", "created", None),
        ] {
            assert_eq!(ActionName::new(action).noun(verb), noun, "{action}");
        }
    }

    #[test]
    fn an_ending_says_whether_it_succeeded() {
        for (action, deed, succeeded) in [
            ("auth.login", "login", None),
            ("auth.login_succeeded", "login", Some(true)),
            ("s3.delete_bucket.failed", "delete_bucket", Some(false)),
            ("access.denied", "access", Some(false)),
            ("failed.failed", "failed", Some(false)),
            ("auth.undenied", "undenied", None),
        ] {
            let name = ActionName::new(action);
            assert_eq!((name.deed(), name.succeeded), (deed, succeeded), "{action}");
        }
    }

    #[test]
    fn the_outcome_outweighs_the_name() {
        let event = |outcome: Value| {
            let event = serde_json::json!({"action": "auth.login_failed", "outcome": outcome});
            event.as_object().cloned().expect("an object")
        };
        assert_eq!(succeeded(&event("success".into())), Some(true));
        assert_eq!(succeeded(&event("denied".into())), Some(false));
        assert_eq!(succeeded(&event(Value::Null)), Some(false));
        assert_eq!(succeeded(&Map::new()), None);
    }
}
