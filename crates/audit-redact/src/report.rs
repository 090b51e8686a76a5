//! What a redaction did.

/// What was redacted, and by which rules.
///
/// A report on a clean event holds no memory.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Report {
    pub(crate) fields: Vec<String>,
    pub(crate) rules: Vec<String>,
    pub(crate) rules_evaluated: usize,
}

impl Report {
    /// Whether anything changed.
    pub fn was_redacted(&self) -> bool {
        !self.fields.is_empty()
    }

    /// The dot paths of the fields that changed, for example `actor.email` or `changes.0.before.ssn`. Keys
    /// that were rewritten appear as rewritten.
    pub fn fields(&self) -> &[String] {
        &self.fields
    }

    /// The rules that changed something, each once, in the order of evaluation: `custom:<name>` or
    /// `builtin:<name>`.
    pub fn rules(&self) -> &[String] {
        &self.rules
    }

    /// How many rules were looked at.
    pub fn rules_evaluated(&self) -> usize {
        self.rules_evaluated
    }
}
