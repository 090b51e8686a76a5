//! Distinct values in the window of a group.

use super::{GroupState, Sample};
use crate::bounds::Threshold;
use crate::value_hash::ValueHash;

/// A value, and its newest event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct CountedValue {
    pub(super) event: Sample,
    pub(super) value: ValueHash,
}

impl GroupState {
    /// Counts a value. Returns whether the values of the window reach the threshold; `None` if the event changes nothing.
    ///
    /// A value keeps its newest event, except that the event that makes the rule fire stays, so that it is a sample of its alert.
    pub(super) fn insert_value(
        &mut self,
        counted: CountedValue,
        threshold: Threshold,
        may_fire: bool,
    ) -> Option<bool> {
        let threshold = threshold.get() as usize;
        let known = self.values.iter().position(|other| other.value == counted.value);
        let is_reached = self.values.len() + usize::from(known.is_none()) >= threshold;
        let fires = may_fire && is_reached;
        if let Some(at) = known {
            if !fires && self.values[at].event >= counted.event {
                return None;
            }
            self.values.remove(at);
        }
        let at = self.values.partition_point(|other| other.event > counted.event);
        if !fires && at >= threshold {
            return None;
        }
        self.values.insert(at, counted);
        if !fires {
            self.values.truncate(threshold);
        }
        Some(is_reached)
    }
}
