//! The report of a redaction.

/// The fields that were redacted and the rules that hit.
///
/// A report on a clean event allocates nothing.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Report {
    pub(crate) fields: Vec<String>,
    pub(crate) rules: Vec<String>,
    pub(crate) rules_evaluated: usize,
}

impl Report {
    /// Whether any field changed.
    pub fn was_redacted(&self) -> bool {
        !self.fields.is_empty()
    }

    /// The dot paths of the fields that changed, for example `actor.email` or `changes.0.before.ssn`. A rewritten key
    /// appears in its new form.
    pub fn fields(&self) -> &[String] {
        &self.fields
    }

    /// The rules that hit, each once, in order of evaluation: `custom:<name>` or `builtin:<name>`.
    pub fn rules(&self) -> &[String] {
        &self.rules
    }

    /// The number of rules evaluated.
    pub fn rules_evaluated(&self) -> usize {
        self.rules_evaluated
    }
}
