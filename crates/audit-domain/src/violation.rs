//! The violations of a request, field by field.

use std::fmt;

/// One thing wrong with one field.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Violation {
    /// Dot path of the field (`actor.type`), with the index first in a batch (`[3].actor.type`).
    pub field: String,
    /// What the field must be, as a sentence part: `Required`, `must be a string`.
    pub message: String,
}

impl Violation {
    /// The longest path that is reported, in characters; keys of free-form objects can be long.
    const FIELD_CHARS_MAX: usize = 256;

    /// `message` about `field`.
    pub fn new(field: impl Into<String>, message: impl fmt::Display) -> Self {
        let mut field = field.into();
        if let Some((end, _)) = field.char_indices().nth(Self::FIELD_CHARS_MAX) {
            field.truncate(end);
            field.push('…');
        }
        Self {
            field,
            message: message.to_string(),
        }
    }
}

/// Everything wrong with a request; never empty.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{} of the fields are not as they must be", .0.len())]
pub struct Violations(Vec<Violation>);

impl Violations {
    /// The most violations that one response reports.
    pub const COUNT_MAX: usize = 100;

    /// A single violation.
    pub fn one(field: impl Into<String>, message: impl fmt::Display) -> Self {
        Self(vec![Violation::new(field, message)])
    }

    /// `Ok` when nothing is wrong.
    ///
    /// # Errors
    /// All of `found` when there is any.
    pub fn check(found: Vec<Violation>) -> Result<(), Self> {
        if found.is_empty() {
            Ok(())
        } else {
            Err(Self(found))
        }
    }

    /// The same violations below `prefix` (`[3]`).
    #[must_use]
    pub fn below(self, prefix: &str) -> Self {
        let nest = |violation: Violation| {
            let field = match violation.field.as_str() {
                "" => prefix.to_owned(),
                field => format!("{prefix}.{field}"),
            };
            Violation { field, ..violation }
        };
        Self(self.0.into_iter().map(nest).collect())
    }

    /// The violations in the order of the fields.
    pub fn as_slice(&self) -> &[Violation] {
        &self.0
    }

    /// The violations themselves.
    pub fn into_vec(self) -> Vec<Violation> {
        self.0
    }
}
