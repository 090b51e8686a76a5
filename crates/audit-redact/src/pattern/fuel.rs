//! The bound on the work of custom rules.

use crate::work;

/// Steps of custom patterns that the redaction of one document may take in addition to [`PATTERN_STEPS_PER_BYTE`].
pub const PATTERN_STEPS_PER_DOCUMENT: u64 = 256 * 1024;

/// Steps that all custom patterns together may take for each byte they scan. Beyond this the rest of the text is hidden.
///
/// One step reads one byte with one automaton, or visits one state of a pattern. A project has at most 100 patterns, and
/// one automaton reads a clean text for all of them.
pub const PATTERN_STEPS_PER_BYTE: u64 = 128;

/// The steps that custom rules may still take in one document.
#[derive(Debug, Clone)]
pub(crate) struct Fuel {
    steps: u64,
}

/// The fuel is used up.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Exhausted;

impl Fuel {
    pub(crate) fn for_document() -> Fuel {
        Fuel {
            steps: PATTERN_STEPS_PER_DOCUMENT,
        }
    }

    /// Adds the steps for a text that is about to be scanned.
    pub(crate) fn add_for(&mut self, text: &str) {
        self.steps += PATTERN_STEPS_PER_BYTE * text.len() as u64;
    }

    /// Adds the steps for a value whose location is about to be looked up. It has at least one byte.
    pub(crate) fn add_for_value(&mut self) {
        self.steps += PATTERN_STEPS_PER_BYTE;
    }

    /// Takes steps. Takes none if fewer are left.
    #[inline(always)]
    pub(crate) fn take(&mut self, steps: u64) -> Result<(), Exhausted> {
        match self.steps.checked_sub(steps) {
            Some(left) => {
                self.steps = left;
                work::steps_taken(steps);
                Ok(())
            }
            None => Err(Exhausted),
        }
    }
}
