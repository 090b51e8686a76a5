//! The encoding of a group's state.

use crate::windows::{Pair, steps};
use audit_alerts::{DecodeError, GroupState};
use proptest::collection::vec;
use proptest::prelude::*;

proptest! {
    #![proptest_config(ProptestConfig::with_cases(100))]

    #[test]
    fn a_state_round_trips_after_every_event((rule, steps) in steps()) {
        let mut pair = Pair::new(rule);
        for step in steps {
            let (_, _) = pair.take(step);
            let bytes = pair.state.encode();
            let decoded = GroupState::decode(&bytes);
            prop_assert_eq!(decoded.as_ref(), Ok(&pair.state));
        }
    }

    #[test]
    fn a_state_with_clock_skew_survives_too((rule, steps) in steps(), jumps in vec(-400_000..400_000_i64, 150)) {
        let mut pair = Pair::new(rule);
        for (step, jump) in steps.into_iter().zip(jumps) {
            pair.now += jump;
            let (_, _) = pair.take(step);
            let decoded = GroupState::decode(&pair.state.encode());
            prop_assert_eq!(decoded.as_ref(), Ok(&pair.state));
        }
    }

    #[test]
    fn damaged_bytes_are_refused_or_encode_another_state((rule, steps) in steps(), at in any::<prop::sample::Index>(), byte: u8) {
        let mut pair = Pair::new(rule);
        for step in steps {
            let (_, _) = pair.take(step);
        }
        let mut bytes = pair.state.encode();
        for end in 0..bytes.len() {
            prop_assert!(GroupState::decode(&bytes[..end]).is_err());
        }
        let at = at.index(bytes.len());
        bytes[at] = byte;
        if let Ok(state) = GroupState::decode(&bytes) {
            prop_assert_eq!(state.encode(), bytes);
        }
    }

    #[test]
    fn any_bytes_are_refused_or_the_one_encoding_of_a_state(mut bytes in vec(any::<u8>(), 0..60)) {
        if let Some(version) = bytes.first_mut() {
            *version = 1;
        }
        if let Ok(state) = GroupState::decode(&bytes) {
            prop_assert_eq!(state.encode(), bytes);
        }
    }
}

#[test]
fn each_kind_of_damage_has_its_own_error() {
    let empty = GroupState::default().encode();
    assert_eq!(empty, [1, 0, 0, 0]);
    let decode = |bytes: &[u8]| GroupState::decode(bytes).unwrap_err();
    assert_eq!(decode(&[]), DecodeError::Truncated);
    assert_eq!(decode(&[3, 0, 0, 0]), DecodeError::UnknownVersion(3));
    assert_eq!(decode(&[1, 0, 0]), DecodeError::Truncated);
    assert_eq!(decode(&[1, 0, 0, 0, 0]), DecodeError::TrailingBytes);
    assert_eq!(
        decode(&[1, 0x80, 0, 0, 0]),
        DecodeError::OutOfRange,
        "two encodings of one number"
    );
    assert_eq!(
        decode(&[1, 0, 0, 0xff, 0xff, 0x7f]),
        DecodeError::OutOfRange,
        "too many times"
    );
    let mut equal_times = vec![1, 0, 0, 2, 0, 0, 0];
    equal_times.extend([0; 32]);
    assert_eq!(decode(&equal_times), DecodeError::Disordered);
    let mut ids_ascend = vec![1, 0, 0, 1, 0, 1, 0];
    ids_ascend.extend([[0; 16], [1; 16]].concat());
    assert_eq!(decode(&ids_ascend), DecodeError::Disordered);
}
