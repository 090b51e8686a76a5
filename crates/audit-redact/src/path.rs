//! Field paths of rules, and the location of a value in a document.

use std::fmt;

/// The dot path of a field rule, for example `metadata.user.ssn` or `changes.*.before`.
///
/// `*` matches any one step: an object's key or an array's index. A key that contains a dot is matched only by `*`.
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
    /// Most characters in a path.
    pub const CHARS_MAX: usize = 512;
    /// Most steps in a path.
    pub const STEPS_MAX: usize = 32;

    /// Parses a path.
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

    /// Whether this path names the value at `location`, or a container of the part that the value belongs to.
    pub(crate) fn covers(&self, location: &Location<'_>) -> bool {
        location.covered_by(&self.steps)
    }
}

/// The location of a value in a document: a linked list on the stack, so that walking a clean document allocates
/// nothing.
#[derive(Clone, Copy)]
pub(crate) enum Location<'a> {
    /// The path of a part, as handed over by the caller.
    Part(&'a [&'a str]),
    /// A value in an object. `shown` is the key after redaction; only this form may appear in a report.
    Key {
        parent: &'a Location<'a>,
        key: &'a str,
        shown: &'a str,
    },
    /// A value in an array.
    Index { parent: &'a Location<'a>, index: usize },
}

impl Location<'_> {
    fn covered_by(&self, steps: &[String]) -> bool {
        match self {
            // A path that names a container covers the parts in it: `actor` covers `actor.name`. The second pattern
            // applies to members of `metadata`, which itself stays an object.
            Location::Part(part)
            | Location::Key {
                parent: Location::Part(part),
                ..
            } if steps.len() <= part.len() && names(steps, part) => true,
            _ => self.is(steps),
        }
    }

    /// Whether the steps name exactly this value.
    fn is(&self, steps: &[String]) -> bool {
        let (parent, found, last, rest) = match (self, steps.split_last()) {
            (Location::Part(part), _) => return steps.len() == part.len() && names(steps, part),
            (_, None) => return false,
            (Location::Key { parent, key, .. }, Some((last, rest))) => (parent, last == key, last, rest),
            (Location::Index { parent, index }, Some((last, rest))) => {
                (parent, last.parse() == Ok(*index), last, rest)
            }
        };
        (found || last == "*") && parent.is(rest)
    }

    /// The key before this value. The items of an array have the array's key.
    pub(crate) fn nearest_key(&self) -> &str {
        match self {
            Location::Part(part) => part.last().copied().unwrap_or_default(),
            Location::Key { key, .. } => key,
            Location::Index { parent, .. } => parent.nearest_key(),
        }
    }
}

impl fmt::Display for Location<'_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let parent = match self {
            Location::Part(part) => return formatter.write_str(&part.join(".")),
            Location::Key { parent, .. } | Location::Index { parent, .. } => parent,
        };
        if !matches!(parent, Location::Part([])) {
            write!(formatter, "{parent}.")?;
        }
        match self {
            Location::Key { shown, .. } => formatter.write_str(shown),
            Location::Index { index, .. } => write!(formatter, "{index}"),
            Location::Part(_) => Ok(()),
        }
    }
}

/// Whether each step names the key at the same index.
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
        assert!(path("actor").covers(&Location::Part(&["actor", "name"])));
        assert!(path("changes.*").covers(&Location::Part(&["changes", "3", "before"])));
        assert!(!path("actor.name").covers(&Location::Part(&["actor"])));
        assert!(!path("actor.id").covers(&Location::Part(&["actor", "name"])));
    }

    #[test]
    fn inside_a_part_a_path_names_one_value_and_a_star_any_one_step() {
        let metadata = Location::Part(&["metadata"]);
        let users = Location::Key {
            parent: &metadata,
            key: "users",
            shown: "users",
        };
        let second = Location::Index {
            parent: &users,
            index: 1,
        };
        let ssn = Location::Key {
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
