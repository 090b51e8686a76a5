//! Followers and auditors of honest logs and of logs that were tampered with.

use crate::log::Log;
use audit_domain::ContentHash;
use audit_ledger::{
    Advance, Auditor, Checkpoint, CheckpointError, ConsistencyProof, FollowError, Follower, Frontier, Hash,
    HistoryError, KeyName, NoteError, Origin, ProofError, SignedCheckpoint, SigningKey, TileId, TreeHead,
    VerifierKey,
};

/// A log that signs every checkpoint, because the operator is not trusted.
#[derive(Clone)]
struct Service {
    events: Vec<ContentHash>,
}

fn event(n: u32) -> ContentHash {
    let mut bytes = [0; 32];
    bytes[..4].copy_from_slice(&n.to_be_bytes());
    ContentHash::from_bytes(bytes)
}

fn signing_key() -> SigningKey {
    SigningKey::from_seed(KeyName::parse("example.com/log").unwrap(), &[1; 32]).unwrap()
}

fn keys() -> Vec<VerifierKey> {
    vec![signing_key().verifier().clone()]
}

fn origin() -> Origin {
    Origin::parse("example.com/log").unwrap()
}

impl Service {
    fn with(count: u32) -> Self {
        Self {
            events: (0..count).map(event).collect(),
        }
    }

    fn checkpoint(&self) -> SignedCheckpoint {
        signing_key().sign(Checkpoint::new(origin(), TreeHead::of_events(&self.events)))
    }

    fn log(&self) -> Log {
        let mut log = Log::default();
        log.append(self.events.iter().map(Hash::of_event)).unwrap();
        log
    }

    fn consistency(&self, from: u64) -> ConsistencyProof {
        self.log()
            .prove_consistency(from, self.events.len() as u64)
            .unwrap()
    }
}

/// A follower and an auditor at a checkpoint of `count` events, resumed from their stored state.
fn verifiers(count: u32) -> (Follower, Auditor) {
    let service = Service::with(count);
    let mut follower = Follower::new(origin(), keys());
    let none = ConsistencyProof::from_hashes(Vec::new());
    follower.advance(service.checkpoint().note(), &none).unwrap();
    let mut auditor = Auditor::new(origin(), keys());
    assert_eq!(
        audit(&mut auditor, &service),
        Ok(Advance {
            from: 0,
            to: count.into()
        })
    );

    let kept = (
        auditor.last().unwrap().note().to_owned(),
        auditor.frontier().encode(),
    );
    let frontier = Frontier::decode(&kept.1).unwrap();
    let auditor = Auditor::resume(origin(), keys(), &kept.0, frontier).unwrap();
    (Follower::resume(origin(), keys(), &kept.0).unwrap(), auditor)
}

fn audit(auditor: &mut Auditor, service: &Service) -> Result<Advance, FollowError> {
    let checkpoint = service.checkpoint();
    let mut replay = auditor.begin(checkpoint.note())?;
    for seq in replay.missing() {
        replay.append(&service.events[seq as usize]);
    }
    replay.finish()
}

/// Advances the follower with the service's own consistency proof.
fn follow(follower: &mut Follower, service: &Service) -> Result<Advance, FollowError> {
    let checkpoint = service.checkpoint();
    let offered = follower.check(checkpoint.note())?;
    assert_eq!(&offered, &checkpoint);
    let proof = service.consistency(follower.size());
    follower.advance(checkpoint.note(), &proof)
}

#[test]
fn an_honest_log_is_followed() {
    let (mut follower, mut auditor) = verifiers(10);
    for count in [10, 11, 300, 300, 1_000] {
        let service = Service::with(count);
        let from = follower.size();
        let advance = Advance {
            from,
            to: count.into(),
        };
        assert_eq!(follow(&mut follower, &service), Ok(advance));
        assert_eq!(audit(&mut auditor, &service), Ok(advance));
        assert_eq!(follower.last(), Some(&service.checkpoint()));
        assert_eq!(auditor.last(), Some(&service.checkpoint()));
    }
}

#[test]
fn an_empty_log_is_followed() {
    let (mut follower, mut auditor) = verifiers(0);
    let advance = Advance { from: 0, to: 5 };
    assert_eq!(follow(&mut follower, &Service::with(5)), Ok(advance));
    assert_eq!(audit(&mut auditor, &Service::with(5)), Ok(advance));
}

#[test]
fn a_rollback_is_caught() {
    let (mut follower, mut auditor) = verifiers(100);
    let rolled_back = Service::with(99);
    let rollback = FollowError::History(HistoryError::Rollback {
        known: 100,
        offered: 99,
    });
    assert_eq!(follow(&mut follower, &rolled_back), Err(rollback.clone()));
    assert_eq!(audit(&mut auditor, &rolled_back), Err(rollback));
    assert_eq!(follower.size(), 100, "the earlier checkpoint stays as evidence");
}

#[test]
fn a_rollback_that_grew_again_is_caught() {
    let (mut follower, mut auditor) = verifiers(100);
    let mut service = Service::with(99);
    service.events.extend((0..50).map(|n| event(1_000 + n)));
    assert!(matches!(
        follow(&mut follower, &service),
        Err(FollowError::History(HistoryError::Inconsistent {
            known: 100,
            offered: 149,
            ..
        }))
    ));
    assert_eq!(
        audit(&mut auditor, &service),
        Err(FollowError::EventsDiffer { size: 149 })
    );
}

#[test]
fn two_histories_of_one_size_are_caught() {
    let (mut follower, mut auditor) = verifiers(100);
    let mut service = Service::with(100);
    service.events[99] = event(1_000);
    let fork = FollowError::History(HistoryError::Fork { size: 100 });
    assert_eq!(follow(&mut follower, &service), Err(fork.clone()));
    assert_eq!(audit(&mut auditor, &service), Err(fork));
}

/// Each way to tamper with events that were seen before, while the log grows.
#[test]
fn every_change_to_past_events_is_caught() {
    type Tamper = fn(&mut Vec<ContentHash>, usize);
    let ways: [(&str, Tamper); 4] = [
        ("edit", |events, at| events[at] = event(1_000)),
        ("delete", |events, at| {
            events.remove(at);
        }),
        ("insert", |events, at| events.insert(at, event(1_000))),
        ("swap", |events, at| events.swap(at, at + 1)),
    ];
    let before = verifiers(40);
    for (way, tamper) in ways {
        for at in 0..39 {
            let mut service = Service::with(60);
            tamper(&mut service.events, at);
            let (mut follower, mut auditor) = before.clone();
            let size = service.events.len() as u64;
            let followed = follow(&mut follower, &service);
            assert!(
                matches!(
                    followed,
                    Err(FollowError::History(HistoryError::Inconsistent { .. }))
                ),
                "{way} at {at}"
            );
            let audited = audit(&mut auditor, &service);
            assert_eq!(audited, Err(FollowError::EventsDiffer { size }), "{way} at {at}");
            assert_eq!(auditor.frontier().size(), 40, "nothing changed");
        }
    }
}

#[test]
fn events_that_differ_from_the_checkpoint_are_caught_and_located() {
    let service = Service::with(700);
    for wrong in [0, 255, 256, 600, 699] {
        let (_, mut auditor) = verifiers(0);
        let checkpoint = service.checkpoint();
        let mut shown = service.events.clone();
        shown[wrong] = event(1_000);
        let mut replay = auditor.begin(checkpoint.note()).unwrap();
        shown.iter().for_each(|event| replay.append(event));
        assert_eq!(replay.finish(), Err(FollowError::EventsDiffer { size: 700 }));

        let leaves: Vec<Hash> = shown.iter().map(Hash::of_event).collect();
        let log = service.log();
        let tiles = TileId::completed(0, 700).chain(TileId::partial_of(700));
        let first = tiles.filter(|id| id.level() == 0).find_map(|id| {
            let shown = &leaves[id.index() as usize * 256..];
            log.tile(id).unwrap().first_difference(shown)
        });
        assert_eq!(first.map(|subtree| subtree.index()), Some(wrong as u64));
    }
}

#[test]
fn too_few_and_too_many_events_are_caught() {
    let service = Service::with(10);
    for shown in [0, 9, 11] {
        let (_, mut auditor) = verifiers(0);
        let checkpoint = service.checkpoint();
        let mut replay = auditor.begin(checkpoint.note()).unwrap();
        assert_eq!(replay.missing(), 0..10);
        (0..shown).for_each(|n| replay.append(&event(n)));
        let replayed = shown.into();
        assert_eq!(
            replay.finish(),
            Err(FollowError::EventCount {
                expected: 10,
                replayed
            })
        );
    }
}

#[test]
fn a_wrong_proof_does_not_move_a_follower() {
    let (mut follower, _) = verifiers(10);
    let service = Service::with(20);
    let wrong = service.consistency(9);
    let error = HistoryError::Inconsistent {
        known: 10,
        offered: 20,
        source: ProofError::EarlierRoot,
    };
    let advanced = follower.advance(service.checkpoint().note(), &wrong);
    assert!(matches!(
        advanced,
        Err(FollowError::History(HistoryError::Inconsistent { .. }))
    ));
    let mut hashes = service.consistency(10).hashes().to_vec();
    hashes[0] = Hash::of_leaf(b"wrong");
    let wrong = ConsistencyProof::from_hashes(hashes);
    assert_eq!(
        follower.advance(service.checkpoint().note(), &wrong),
        Err(FollowError::History(error))
    );
    assert_eq!(follower.size(), 10);
    assert!(follow(&mut follower, &service).is_ok());
}

#[test]
fn a_checkpoint_of_another_signer_or_log_is_refused() {
    let (follower, mut auditor) = verifiers(10);
    let head = TreeHead::of_events(&Service::with(20).events);
    let stranger = SigningKey::from_seed(KeyName::parse("example.com/log").unwrap(), &[2; 32]).unwrap();
    let forged = stranger.sign(Checkpoint::new(origin(), head));
    let unknown = FollowError::Checkpoint(CheckpointError::Note(NoteError::UnknownSigner));
    assert_eq!(follower.check(forged.note()), Err(unknown.clone()));
    assert_eq!(auditor.begin(forged.note()).map(|_| ()).unwrap_err(), unknown);
    let other = Origin::parse("example.com/other").unwrap();
    let of_another_log = signing_key().sign(Checkpoint::new(other, head));
    assert!(matches!(
        follower.check(of_another_log.note()),
        Err(FollowError::Checkpoint(CheckpointError::OtherLog { .. }))
    ));
}

#[test]
fn a_stored_frontier_must_belong_to_the_stored_checkpoint() {
    let note = Service::with(10).checkpoint();
    let resumed = Auditor::resume(origin(), keys(), note.note(), Frontier::new());
    assert_eq!(resumed.map(|_| ()).unwrap_err(), FollowError::OtherFrontier);
    let tampered = note.note().replace("\n10\n", "\n11\n");
    assert!(Follower::resume(origin(), keys(), &tampered).is_err());
}
