use super::*;
use crate::{Checkpoint, Frontier, KeyName, Origin, SignedCheckpoint, SigningKey};
use audit_domain::Timestamp;
use std::collections::BTreeMap;

fn key() -> TenantMapKey {
    TenantMapKey::new([7; 32])
}

fn leaf(number: u64) -> Hash {
    Hash::of_leaf(&number.to_be_bytes())
}

/// The stored form of the map with these logs, built in steps of `step` events.
fn stored(logs: &[(String, u64)], step: usize) -> (TenantLogs, MapPart, Hash) {
    let key = key();
    let mut all = TenantLogs::default();
    let mut part = MapPart::default();
    let mut root = MapPart::empty_root(&key);
    for events in logs.chunks(step) {
        let mut changed = BTreeMap::new();
        for (tenant_id, number) in events {
            let label = key.label(tenant_id);
            all.append(label, Some(tenant_id), leaf(*number));
            changed.insert(label.slot(), label.leaf(&all.get(&label).unwrap().head()));
        }
        part.verify(&key, &root, changed.keys().copied()).unwrap();
        (root, _) = part.update(&key, changed);
    }
    (all, part, root)
}

fn events(tenants: u64, count: u64) -> Vec<(String, u64)> {
    (0..count)
        .map(|n| (format!("tenant {}", n * n % tenants), n))
        .collect()
}

#[test]
fn an_updated_map_is_the_one_computed_from_all_events() {
    for (tenants, count, step) in [(1, 1, 1), (3, 20, 1), (50, 400, 7), (3_000, 2_000, 300)] {
        let events = events(tenants, count);
        let (logs, part, root) = stored(&events, step);
        assert_eq!(logs.root(&key()), root, "{tenants} tenants");
        for (label, tenant_id, log) in logs.iter().take(50) {
            assert_eq!(tenant_id.map(|tenant_id| key().label(tenant_id)), Some(*label));
            let path = part.path(&key(), label.slot());
            path.verify(label.slot(), label.leaf(&log.head()), &root).unwrap();
            let other = label.leaf(&Frontier::new().head());
            assert_eq!(path.verify(label.slot(), other, &root), Err(MapError::PathRoot));
        }
    }
    assert_eq!(TenantLogs::default().root(&key()), MapPart::empty_root(&key()));
}

#[test]
fn a_replayed_map_has_the_root_of_each_size() {
    let mut replay = TenantMapReplay::new(key());
    let mut logs = TenantLogs::default();
    assert_eq!(replay.root(), logs.root(&key()));
    for (size, (tenant_id, number)) in (1_u64..).zip(events(40, 300)) {
        let label = key().label(&tenant_id);
        // Of a removed event only the label is left.
        replay.append(label, None, leaf(number));
        logs.append(label, Some(&tenant_id), leaf(number));
        if size % 7 == 0 || size % 11 == 0 {
            assert_eq!(replay.root(), logs.root(&key()), "{size}");
            assert_eq!(replay.root(), logs.root(&key()), "{size}");
        }
    }
}

#[test]
fn a_changed_tile_or_leaf_is_not_that_of_the_root() {
    let (logs, part, root) = stored(&events(40, 100), 100);
    let slots: Vec<u64> = logs.leaves().into_keys().collect();
    part.verify(&key(), &root, slots.clone()).unwrap();
    for slot in &slots {
        let mut changed = part.clone();
        changed.insert(*slot, leaf(1));
        assert!(changed.verify(&key(), &root, [*slot]).is_err());
        for id in MapTileId::above([*slot]) {
            let mut changed = part.clone();
            changed.tiles.remove(&id);
            assert!(changed.verify(&key(), &root, [*slot]).is_err(), "{id:?}");
            let mut changed = part.clone();
            let tile = changed.tiles.get_mut(&id).unwrap();
            tile.0.pop_first();
            assert!(changed.verify(&key(), &root, [*slot]).is_err(), "{id:?}");
        }
    }
    // A tenant that is not in the map.
    let absent = key().label("nobody").slot();
    part.verify(&key(), &root, [absent]).unwrap();
}

#[test]
fn a_path_has_one_length_and_no_hash_that_tells_of_other_tenants() {
    let alone = stored(&[("acme".to_owned(), 1)], 1);
    let mut many = events(2_000, 2_000);
    many.push(("acme".to_owned(), 1));
    let among = stored(&many, 500);
    let slot = key().label("acme").slot();
    for (_, part, _) in [&alone, &among] {
        let path = part.path(&key(), slot);
        assert_eq!(path.hashes().len(), usize::from(MAP_DEPTH));
        // No hash repeats or is that of a known default.
        let mut hashes: Vec<_> = path.hashes().iter().map(|hash| *hash.as_bytes()).collect();
        hashes.sort_unstable();
        hashes.dedup();
        assert_eq!(hashes.len(), usize::from(MAP_DEPTH));
    }
}

#[test]
fn a_tile_has_one_encoding() {
    let (_, part, _) = stored(&events(40, 100), 100);
    for tile in part.tiles.values() {
        let bytes = tile.encode();
        assert_eq!(MapTile::decode(&bytes).as_ref(), Ok(tile));
        assert!(MapTile::decode(&bytes[1..]).is_err());
        assert!(MapTile::decode(&[bytes.as_slice(), &bytes[..33]].concat()).is_err());
    }
    assert!(MapTile::decode(&[]).is_err());
    assert!(MapTile::decode(&[64; 33]).is_err());
}

fn signing_key() -> SigningKey {
    SigningKey::from_seed(KeyName::parse("audit.example.com").unwrap(), &[7; 32]).unwrap()
}

fn proof(tenant_id: &str) -> TenantProof {
    let (logs, part, root) = stored(&events(40, 100), 100);
    let (key, signer) = (key(), signing_key());
    let log = Origin::parse("audit.example.com/acme/live").unwrap();
    let label = key.label(tenant_id);
    let of_tenant = logs.get(&label).map(|log_of_tenant| {
        let origin = TenantMapHead::tenant_origin(&log, &label).unwrap();
        let signed = signer.sign(Checkpoint::new(origin, log_of_tenant.head()));
        (signed.note().to_owned(), part.path(&key, label.slot()))
    });
    let head = TenantMapHead {
        log,
        signed_at: Timestamp::from_millis(1_768_473_000_123),
        root,
        binding: key.binding(100),
        empty: of_tenant.is_none().then(|| label.to_string()),
    };
    TenantProof {
        tenant_id: tenant_id.to_owned(),
        salt: key.salt(tenant_id),
        log: of_tenant,
        map: signer.sign_tenant_map(head).note().to_owned(),
    }
}

#[test]
fn a_proof_verifies_and_no_other_does() {
    let (logs, ..) = stored(&events(40, 100), 100);
    let signer = signing_key();
    let valid = proof("tenant 4");
    let (map, head) = valid.verify(std::slice::from_ref(signer.verifier())).unwrap();
    assert_eq!(head, logs.get(&key().label("tenant 4")).unwrap().head());
    assert_eq!(map.head().binding, key().binding(100));
    let absent = proof("nobody");
    assert_eq!(
        absent
            .verify(std::slice::from_ref(signer.verifier()))
            .unwrap()
            .1
            .size,
        0
    );
    let others = [
        TenantProof {
            tenant_id: "tenant 1".to_owned(),
            ..valid.clone()
        },
        TenantProof {
            salt: TenantSalt([0; 32]),
            ..valid.clone()
        },
        TenantProof {
            log: None,
            ..valid.clone()
        },
        TenantProof {
            log: proof("tenant 1").log,
            ..valid.clone()
        },
        TenantProof {
            map: absent.map.clone(),
            ..valid.clone()
        },
        TenantProof {
            map: valid.log.clone().unwrap().0,
            ..valid.clone()
        },
        TenantProof {
            map: valid.map.replace("acme", "acmf"),
            ..valid.clone()
        },
        TenantProof {
            tenant_id: "tenant 4".to_owned(),
            salt: key().salt("tenant 4"),
            ..absent
        },
    ];
    for other in others {
        assert!(
            other.verify(std::slice::from_ref(signer.verifier())).is_err(),
            "{other:?}"
        );
    }
}

#[test]
fn a_map_is_no_checkpoint_and_a_checkpoint_is_no_map() {
    let signer = signing_key();
    let map = proof("tenant 4").map;
    assert!(SignedCheckpoint::open_of_owner(&map, signer.verifier()).is_err());
    let origin = Origin::parse("audit.example.com/acme/live/tenants").unwrap();
    let checkpoint = signer.sign(Checkpoint::new(origin, TreeHead::of_empty_tree()));
    assert_eq!(
        SignedTenantMap::open(checkpoint.note(), std::slice::from_ref(signer.verifier())),
        Err(TenantMapNoteError::Form)
    );
}
