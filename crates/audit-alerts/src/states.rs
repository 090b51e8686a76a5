//! The states of one group of events for all rules that count it, which are stored together: an event that a hundred rules count
//! changes one row and not a hundred.

use crate::window::{DecodeError, GroupState};
use audit_domain::Timestamp;
use std::collections::BTreeMap;

const VERSION: u8 = 1;
const KEY_BYTES: usize = 8;
const TIME_BYTES: usize = 8;
const LENGTH_BYTES: usize = 4;

/// Identifies a rule among those that count a group: 64 bits of a hash of its id.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RuleKey(pub(crate) [u8; KEY_BYTES]);

/// The states of a group, by rule.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct GroupStates(BTreeMap<RuleKey, StoredState>);

/// An encoded state, and from when on it can be deleted.
#[derive(Clone, Debug, PartialEq, Eq)]
struct StoredState {
    expires_at: Timestamp,
    bytes: Vec<u8>,
}

impl GroupStates {
    /// The state for a rule.
    ///
    /// # Errors
    /// [`DecodeError`] when it is damaged.
    pub fn get(&self, rule: RuleKey) -> Result<GroupState, DecodeError> {
        let stored = self.0.get(&rule);
        stored.map_or(Ok(GroupState::default()), |stored| {
            GroupState::decode(&stored.bytes)
        })
    }

    /// Replaces the state for a rule.
    pub fn set(&mut self, rule: RuleKey, state: &GroupState, expires_at: Timestamp) {
        let bytes = state.encode();
        self.0.insert(rule, StoredState { expires_at, bytes });
    }

    /// The states that have not expired at `now`, encoded, and the time from which all of them can be deleted.
    pub fn encode(&self, now: Timestamp) -> (Vec<u8>, Timestamp) {
        let (mut encoded, mut last) = (vec![VERSION], Timestamp::from_micros(0));
        for (rule, StoredState { expires_at, bytes }) in &self.0 {
            if *expires_at <= now {
                continue;
            }
            last = last.max(*expires_at);
            encoded.extend(rule.0);
            encoded.extend(expires_at.as_micros().to_be_bytes());
            encoded.extend((bytes.len() as u32).to_be_bytes());
            encoded.extend(bytes);
        }
        (encoded, last)
    }

    /// Decodes the output of [`Self::encode`]; `None` when it is damaged.
    pub fn decode(encoded: &[u8]) -> Option<Self> {
        let mut rest = encoded.strip_prefix(&[VERSION])?;
        let mut states = BTreeMap::new();
        while !rest.is_empty() {
            let (rule, after) = rest.split_first_chunk::<KEY_BYTES>()?;
            let (time, after) = after.split_first_chunk::<TIME_BYTES>()?;
            let (length, after) = after.split_first_chunk::<LENGTH_BYTES>()?;
            let (bytes, after) = after.split_at_checked(u32::from_be_bytes(*length) as usize)?;
            let expires_at = Timestamp::from_micros(i64::from_be_bytes(*time));
            let bytes = bytes.to_vec();
            states.insert(RuleKey(*rule), StoredState { expires_at, bytes });
            rest = after;
        }
        Some(Self(states))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn states_round_trip_and_expired_ones_are_left_out() {
        let time = Timestamp::from_seconds;
        let mut states = GroupStates::default();
        assert_eq!(states.encode(time(0)), (vec![VERSION], Timestamp::from_micros(0)));
        for n in 1..=3 {
            states.set(RuleKey([n; 8]), &GroupState::default(), time(i64::from(n)));
        }
        let (encoded, last) = states.encode(time(0));
        assert_eq!(
            (GroupStates::decode(&encoded).as_ref(), last),
            (Some(&states), time(3))
        );
        assert_eq!(states.get(RuleKey([9; 8])), Ok(GroupState::default()));
        let (encoded, last) = states.encode(time(2));
        let left = GroupStates::decode(&encoded).unwrap();
        assert_eq!(
            (left.0.keys().copied().collect::<Vec<_>>(), last),
            (vec![RuleKey([3; 8])], time(3))
        );
        for damaged in [&encoded[..encoded.len() - 1], &[], &[2], &[VERSION, 0]] {
            assert_eq!(GroupStates::decode(damaged), None, "{damaged:?}");
        }
    }
}
