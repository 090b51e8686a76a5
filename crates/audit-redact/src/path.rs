//! Paths: those that field rules name, and the trail of the value at hand.

use std::fmt;

/// The dot path of a field rule, for example `metadata.user.ssn` or `changes.*.before`.
///
/// A `*` stands for any one step, an object's key or an array's index. A key that contains a dot cannot be
/// named, other than by `*`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FieldPath {
    text: String,
    steps: Vec<String>,
}

/// Why a field path was refused.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum FieldPathError {
    /// It has more characters than [`FieldPath::CHARS_MAX`].
    #[error("field path is longer than {} characters", FieldPath::CHARS_MAX)]
    TooLong,
    /// It has more steps than [`FieldPath::STEPS_MAX`].
    #[error("field path has more than {} steps", FieldPath::STEPS_MAX)]
    TooManySteps,
    /// It is empty, begins or ends with a dot, or has two in a row.
    #[error("field path has an empty step")]
    EmptyStep,
}

impl FieldPath {
    /// Most characters of a path.
    pub const CHARS_MAX: usize = 512;
    /// Most steps of a path.
    pub const STEPS_MAX: usize = 32;

    /// Checks a path.
    pub fn parse(path: &str) -> Result<FieldPath, FieldPathError> {
        if path.chars().count() > FieldPath::CHARS_MAX {
            return Err(FieldPathError::TooLong);
        }
        let steps: Vec<String> = path.split('.').map(str::to_owned).collect();
        if steps.len() > FieldPath::STEPS_MAX {
            return Err(FieldPathError::TooManySteps);
        }
        if steps.iter().any(String::is_empty) {
            return Err(FieldPathError::EmptyStep);
        }
        Ok(FieldPath {
            text: path.to_owned(),
            steps,
        })
    }

    /// The path as written.
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// Whether this path names the value at `trail`, or something that contains the part it belongs to.
    pub(crate) fn covers(&self, trail: &Trail<'_>) -> bool {
        trail.covered_by(&self.steps)
    }
}

/// Where in an event a value stands: a list that grows on the stack while the event is walked, so that clean
/// events allocate nothing.
#[derive(Clone, Copy)]
pub(crate) enum Trail<'a> {
    /// The path of a part, as handed over by the caller.
    Part(&'a [&'a str]),
    /// A value in an object. `shown` is the key after redaction, the only one that may be reported.
    Key {
        parent: &'a Trail<'a>,
        key: &'a str,
        shown: &'a str,
    },
    /// A value in an array.
    Index { parent: &'a Trail<'a>, index: usize },
}

impl Trail<'_> {
    fn covered_by(&self, steps: &[String]) -> bool {
        match self {
            // A path that names a container covers the parts below it: `actor` covers `actor.name`. What is
            // directly in a part that a rule names is only looked at when the part itself must stay.
            Trail::Part(part)
            | Trail::Key {
                parent: Trail::Part(part),
                ..
            } if steps.len() <= part.len() && names(steps, part) => true,
            _ => self.is(steps),
        }
    }

    /// Whether the steps name exactly this value.
    fn is(&self, steps: &[String]) -> bool {
        let (parent, found, last, rest) = match (self, steps.split_last()) {
            (Trail::Part(part), _) => return steps.len() == part.len() && names(steps, part),
            (_, None) => return false,
            (Trail::Key { parent, key, .. }, Some((last, rest))) => (parent, last == key, last, rest),
            (Trail::Index { parent, index }, Some((last, rest))) => {
                (parent, last.parse() == Ok(*index), last, rest)
            }
        };
        (found || last == "*") && parent.is(rest)
    }

    /// The key that stands before this value: of an array's items, the array's.
    pub(crate) fn nearest_key(&self) -> &str {
        match self {
            Trail::Part(part) => part.last().copied().unwrap_or_default(),
            Trail::Key { key, .. } => key,
            Trail::Index { parent, .. } => parent.nearest_key(),
        }
    }
}

impl fmt::Display for Trail<'_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let parent = match self {
            Trail::Part(part) => return formatter.write_str(&part.join(".")),
            Trail::Key { parent, .. } | Trail::Index { parent, .. } => parent,
        };
        if !matches!(parent, Trail::Part([])) {
            write!(formatter, "{parent}.")?;
        }
        match self {
            Trail::Key { shown, .. } => formatter.write_str(shown),
            Trail::Index { index, .. } => write!(formatter, "{index}"),
            Trail::Part(_) => Ok(()),
        }
    }
}

/// Whether each step names the key at its place.
fn names(steps: &[String], keys: &[&str]) -> bool {
    steps
        .iter()
        .zip(keys)
        .all(|(step, key)| step == "*" || step == key)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn path(text: &str) -> FieldPath {
        FieldPath::parse(text).unwrap()
    }

    #[test]
    fn empty_steps_are_refused() {
        for text in ["", ".", "a.", ".a", "a..b"] {
            assert_eq!(FieldPath::parse(text), Err(FieldPathError::EmptyStep), "{text:?}");
        }
    }

    #[test]
    fn length_and_steps_are_limited() {
        assert!(FieldPath::parse(&"é".repeat(FieldPath::CHARS_MAX)).is_ok());
        assert_eq!(
            FieldPath::parse(&"é".repeat(FieldPath::CHARS_MAX + 1)),
            Err(FieldPathError::TooLong)
        );
        let most = vec!["a"; FieldPath::STEPS_MAX].join(".");
        assert!(FieldPath::parse(&most).is_ok());
        assert_eq!(
            FieldPath::parse(&format!("{most}.a")),
            Err(FieldPathError::TooManySteps)
        );
    }

    #[test]
    fn a_container_covers_its_parts() {
        assert!(path("actor").covers(&Trail::Part(&["actor", "name"])));
        assert!(path("changes.*").covers(&Trail::Part(&["changes", "3", "before"])));
        assert!(!path("actor.name").covers(&Trail::Part(&["actor"])));
        assert!(!path("actor.id").covers(&Trail::Part(&["actor", "name"])));
    }

    #[test]
    fn below_a_part_a_path_names_one_value_and_a_star_any_one_step() {
        let metadata = Trail::Part(&["metadata"]);
        let users = Trail::Key {
            parent: &metadata,
            key: "users",
            shown: "users",
        };
        let second = Trail::Index {
            parent: &users,
            index: 1,
        };
        let ssn = Trail::Key {
            parent: &second,
            key: "ssn",
            shown: "ssn",
        };
        assert!(path("metadata.users.1.ssn").covers(&ssn));
        assert!(path("metadata.users.*.ssn").covers(&ssn));
        assert!(path("metadata.*.*.*").covers(&ssn));
        assert!(!path("metadata.users.*").covers(&ssn));
        assert!(!path("metadata.users.2.ssn").covers(&ssn));
        assert!(!path("users.1.ssn").covers(&ssn));
        assert!(!path("metadata.*.ssn").covers(&ssn));
        assert!(path("metadata").covers(&users) && !path("metadata").covers(&second));
        assert_eq!(ssn.to_string(), "metadata.users.1.ssn");
        assert_eq!(second.nearest_key(), "users");
    }
}
