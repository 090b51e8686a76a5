//! Field paths of rules, and the location of a value in a document.

use std::fmt;

/// The dot path of a field rule, for example `metadata.user.ssn` or `changes.*.before`.
///
/// `*` matches any one step: an object's key or an array's index. `**` matches any number of steps, also none, so that
/// `**.password` names that member at any depth. A key that contains a dot is matched only by these.
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

    pub(crate) fn steps(&self) -> &[String] {
        &self.steps
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

#[cfg(test)]
mod tests {
    use super::*;

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
}
