use super::*;
use crate::{Frontier, Growth, Hash, KeyName, Origin, SigningKey, Tile, TileSet, WitnessKey};

const TIME: u64 = 1_700_000_000;

fn log() -> SigningKey {
    SigningKey::from_seed(KeyName::parse("log.example").unwrap(), &[1; 32]).unwrap()
}

fn signer() -> WitnessSigner {
    WitnessSigner::from_seed(KeyName::parse("witness.example/w1").unwrap(), &[2; 32]).unwrap()
}

fn leaves(size: u64) -> Vec<Hash> {
    (0..size).map(|leaf| Hash::of_leaf(&leaf.to_be_bytes())).collect()
}

fn head(size: u64) -> TreeHead {
    let mut growth = Growth::new(Frontier::new());
    growth.extend(&leaves(size));
    growth.head()
}

fn note(size: u64) -> String {
    let origin = Origin::parse("log.example/project/live").unwrap();
    log().sign(Checkpoint::new(origin, head(size))).note().to_owned()
}

fn request(old_size: u64, size: u64) -> AddCheckpoint {
    let id = format!("tile/0/000.p/{size}").parse().unwrap();
    let tiles = TileSet::from_iter([Tile::new(id, leaves(size)).unwrap()]);
    AddCheckpoint {
        old_size,
        consistency: ConsistencyProof::prove(old_size, size, |subtree| tiles.hash(subtree)).unwrap(),
        checkpoint: note(size),
    }
}

fn witness(request: &AddCheckpoint, last: u64) -> Result<Witnessed, WitnessError> {
    request.witness(&head(last), log().verifier(), &signer(), TIME)
}

#[test]
fn a_checkpoint_that_continues_the_last_one_is_cosigned() {
    for (old, new) in [(0, 1), (0, 5), (1, 2), (3, 7), (4, 8), (5, 5)] {
        let text = request(old, new).to_string();
        let request: AddCheckpoint = text.parse().unwrap();
        let witnessed = witness(&request, old).unwrap();
        let found = signer().key().find(&witnessed.note).unwrap();
        assert_eq!(found, witnessed.cosignature);
        assert_eq!(found.time, TIME);
        assert_eq!(stored_head(&witnessed.note), Ok(head(new)));
        // The stored note still has the signature of the log, and no other.
        assert_eq!(
            witnessed
                .note
                .lines()
                .filter(|line| line.starts_with('—'))
                .count(),
            2
        );
        SignedCheckpoint::open_of_owner(&witnessed.note, log().verifier()).unwrap();
        // What the client has: its own note with the line of the response.
        let cosigned = format!("{}{}", request.checkpoint, witnessed.cosignature.line);
        assert_eq!(signer().key().find(&cosigned), Some(witnessed.cosignature));
    }
}

#[test]
fn what_does_not_continue_the_last_checkpoint_is_not_cosigned() {
    assert_eq!(
        witness(&request(3, 7), 4),
        Err(WitnessError::Conflict { last: 4 })
    );
    assert_eq!(
        witness(&request(0, 7), 4),
        Err(WitnessError::Conflict { last: 4 })
    );
    let mut above = request(3, 7);
    above.old_size = 8;
    assert_eq!(witness(&above, 8), Err(WitnessError::OldSize));
    let mut unproved = request(3, 7);
    unproved.consistency = ConsistencyProof::from_hashes(Vec::new());
    assert!(matches!(witness(&unproved, 3), Err(WitnessError::History(_))));
    let mut proved_from_nothing = request(0, 7);
    proved_from_nothing.consistency = request(3, 7).consistency;
    assert!(matches!(
        witness(&proved_from_nothing, 0),
        Err(WitnessError::History(_))
    ));
    // Another history of the same size.
    let other = TreeHead {
        size: 5,
        root: Hash::of_leaf(b"other"),
    };
    let forked = request(5, 5).witness(&other, log().verifier(), &signer(), TIME);
    assert!(matches!(
        forked,
        Err(WitnessError::History(HistoryError::Fork { size: 5 }))
    ));
    let continued = request(5, 7).witness(&other, log().verifier(), &signer(), TIME);
    assert!(matches!(continued, Err(WitnessError::History(_))));
}

#[test]
fn an_unsigned_checkpoint_is_not_cosigned() {
    let stranger = SigningKey::from_seed(KeyName::parse("log.example").unwrap(), &[9; 32]).unwrap();
    let signature = request(0, 3).witness(&head(0), stranger.verifier(), &signer(), TIME);
    assert!(matches!(signature, Err(WitnessError::Signature(_))));
    let mut changed = request(0, 3);
    changed.checkpoint = changed.checkpoint.replace("\n3\n", "\n4\n");
    assert!(matches!(witness(&changed, 0), Err(WitnessError::Signature(_))));
    let other_log = SigningKey::from_seed(KeyName::parse("other.example").unwrap(), &[1; 32]).unwrap();
    let origin = Origin::parse("log.example/project/live").unwrap();
    let foreign = AddCheckpoint {
        checkpoint: other_log.sign(Checkpoint::new(origin, head(3))).note().to_owned(),
        ..request(0, 3)
    };
    let unknown = foreign.witness(&head(0), other_log.verifier(), &signer(), TIME);
    assert_eq!(unknown, Err(WitnessError::UnknownLog));
}

#[test]
fn a_request_has_one_form() {
    let text = request(3, 7).to_string();
    for (changed, error) in [
        (String::new(), AddCheckpointTextError::OldSize),
        (text.replace("old 3", "old 03"), AddCheckpointTextError::OldSize),
        (text.replace("old 3", "old  3"), AddCheckpointTextError::OldSize),
        (text.replace("\n\n", "\n"), AddCheckpointTextError::Checkpoint),
        (
            "o".repeat(AddCheckpoint::BYTES_MAX + 1),
            AddCheckpointTextError::TooLong,
        ),
    ] {
        assert_eq!(changed.parse::<AddCheckpoint>(), Err(error), "{changed}");
    }
    let hash = format!("{}\n", Hash::of_leaf(b"x"));
    let long = text.replacen("old 3\n", &format!("old 3\n{}", hash.repeat(64)), 1);
    assert!(matches!(
        long.parse::<AddCheckpoint>(),
        Err(AddCheckpointTextError::Proof(_))
    ));
}

#[test]
fn a_cosignature_of_another_text_time_or_key_is_not_valid() {
    let witnessed = witness(&request(0, 3), 0).unwrap();
    let own = signer();
    let swapped = format!("{}{}", note(4), witnessed.cosignature.line);
    assert_eq!(own.key().find(&swapped), None);
    let other = WitnessSigner::from_seed(own.key().name().clone(), &[3; 32]).unwrap();
    assert_eq!(other.key().find(&witnessed.note), None);
    assert_eq!(own.key().find("nonsense"), None);
    let key = own.key().to_string();
    assert_eq!(key.parse::<WitnessKey>().as_ref(), Ok(own.key()));
    assert!(log().verifier().to_string().parse::<WitnessKey>().is_err());
    assert!(key.parse::<VerifierKey>().is_err());
}
