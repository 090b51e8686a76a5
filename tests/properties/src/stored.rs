//! State from the database, as somebody writes it who can write there.

use audit_alerts::{
    AlertRate, CooldownSeconds, GroupState, GroupStates, Revision, Threshold, WindowSeconds, Windowing,
};
use audit_domain::{EventId, Timestamp};
use audit_secrets::{EncryptionKey, KeyRing, NONCE_BYTES, Place, Secret};

const NOW: Timestamp = Timestamp::from_seconds(1_768_473_000);

/// The state of an alert rule has one encoding, and another event can be counted in it.
pub fn alert_state(bytes: &[u8]) -> bool {
    let rate = AlertRate::decode(bytes);
    if let Some(mut rate) = rate {
        assert_eq!(rate.encode(), bytes);
        rate.admit(NOW);
        rate.expires_at();
        assert_eq!(AlertRate::decode(&rate.encode()), Some(rate));
    }
    let state = GroupState::decode(bytes);
    if let Ok(state) = &state {
        assert_eq!(state.encode(), bytes);
        let rule = Windowing {
            revision: Revision::from_number(1),
            threshold: Threshold::MIN,
            window_seconds: WindowSeconds::MAX,
            cooldown_seconds: CooldownSeconds::MIN,
        };
        let mut counted = state.clone();
        counted.observe(&rule, NOW, NOW, EventId::new(NOW, [3; 10]));
        counted.expires_at(&rule);
        assert_eq!(GroupState::decode(&counted.encode()), Ok(counted));
    }
    let states = GroupStates::decode(bytes);
    if let Some(states) = &states {
        let (encoded, _) = states.encode(Timestamp::from_micros(i64::MIN));
        let again = GroupStates::decode(&encoded).expect("what was encoded");
        assert_eq!(again.encode(NOW), states.encode(NOW));
    }
    rate.is_some() || state.is_ok() || states.is_some()
}

/// Inputs of [`alert_state`].
pub fn alert_state_seeds() -> Vec<Vec<u8>> {
    let rule = Windowing {
        revision: Revision::from_number(1),
        threshold: Threshold::MAX,
        window_seconds: WindowSeconds::MAX,
        cooldown_seconds: CooldownSeconds::MIN,
    };
    let mut state = GroupState::default();
    let mut rate = AlertRate::default();
    let mut seeds = vec![state.encode(), rate.encode()];
    for number in [0, 1, 1, 2, 700, 90_000] {
        let at = Timestamp::from_millis(NOW.as_millis() - 100_000 + number);
        state.observe(&rule, NOW, at, EventId::new(at, [1; 10]));
        rate.admit(at);
        seeds.extend([state.encode(), rate.encode()]);
    }
    // A row: a version, and for each rule its key, the time at which its state expires, and the state with its length.
    let mut row = vec![1];
    for rule in [1, 2] {
        let bytes = state.encode();
        row.extend([rule; 8]);
        row.extend(NOW.plus_seconds(i64::from(rule)).as_micros().to_be_bytes());
        row.extend((bytes.len() as u32).to_be_bytes());
        row.extend(bytes);
    }
    seeds.push(row);
    seeds
}

fn ring(key: u8) -> KeyRing {
    let key = format!("{key:02x}").repeat(EncryptionKey::BYTES);
    let key: EncryptionKey = key.parse().expect("a key");
    KeyRing::new(key, []).expect("one key")
}

/// A secret opens with its key at its place only, and bytes that the key did not seal do not open.
pub fn sealed_secret(bytes: &[u8]) -> bool {
    let place = Place::new("projects", "secret", ["a"]);
    let ring = ring(1);
    assert!(ring.open_only_sealed(bytes, &place).is_err());
    assert!(ring.open(bytes, &place).is_err(), "it was sealed with no key");
    let Some(secret) = bytes
        .first_chunk::<{ Secret::BYTES }>()
        .map(|bytes| Secret::new(*bytes))
    else {
        return false;
    };
    let stored = ring.seal(secret.as_bytes(), &place, [7; NONCE_BYTES]);
    assert_eq!(ring.open_secret(&stored, &place), Ok(secret));
    assert!(
        ring.open(&stored, &Place::new("projects", "secret", ["b"]))
            .is_err()
    );
    assert!(self::ring(2).open(&stored, &place).is_err());
    // The rest of the input says which byte of the sealed secret changes, and how.
    if let [.., at, change] = bytes
        && *change != 0
    {
        let mut changed = stored.clone();
        changed[usize::from(*at) % stored.len()] ^= change;
        assert!(ring.open(&changed, &place).is_err());
    }
    true
}

/// Inputs of [`sealed_secret`].
pub fn sealed_secret_seeds() -> Vec<Vec<u8>> {
    let whole: Vec<u8> = (0..40).collect();
    vec![whole[..Secret::BYTES].to_vec(), whole]
}
