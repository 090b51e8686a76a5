use super::*;
use crate::{Frontier, KeyName, TREE_LEAVES_MAX};

/// A checkpoint of Go's checksum database, as served, and its key.
const GO: &str = "go.sum database tree\n63096908\n8lHrQPRYe4KT4WQ9/Qk8/taKnD6IRHbFgfN7vQE2Y54=\n\n— sum.golang.org Az3gri/oVBN1jAhNZ/iS+W31psFAWRT20/GyrhpU6taFwulQGetBkH5S7wpGXdS935jiIGiUUAXBVHzT/P6fYhqAmAk=\n";
const GO_KEY: &str = "sum.golang.org+033de0ae+Ac4zctda0e5eza+HJyk9SxEdh+s3Ux18htTTAD8OuAn8";
const ROOT: &str = "8lHrQPRYe4KT4WQ9/Qk8/taKnD6IRHbFgfN7vQE2Y54=";
const EMPTY_ROOT: &str = "47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=";

fn key() -> SigningKey {
    SigningKey::from_seed(KeyName::parse("example.com/key").unwrap(), &[1; 32]).unwrap()
}

fn origin() -> Origin {
    Origin::parse("example.com/log").unwrap()
}

fn head(size: u16) -> TreeHead {
    let mut frontier = Frontier::new();
    (0..size).for_each(|n| {
        frontier.append(Hash::of_leaf(&n.to_be_bytes()));
    });
    frontier.head()
}

#[test]
fn a_checkpoint_of_go_s_checksum_database_is_verified() {
    let origin = Origin::parse("go.sum database tree").unwrap();
    let keys = [GO_KEY.parse().unwrap()];
    let signed = SignedCheckpoint::open(GO, &origin, &keys).unwrap();
    assert_eq!(signed.head().size, 63_096_908);
    assert_eq!(signed.head().root.to_string(), ROOT);
    assert_eq!(signed.note(), GO);
    for byte in 0..GO.len() {
        let mut bytes = GO.as_bytes().to_vec();
        bytes[byte] ^= 1;
        if let Ok(changed) = String::from_utf8(bytes) {
            assert!(
                SignedCheckpoint::open(&changed, &origin, &keys).is_err(),
                "byte {byte}"
            );
        }
    }
}

#[test]
fn a_signed_checkpoint_round_trips() {
    let checkpoint = Checkpoint::new(origin(), head(3));
    let signed = key().sign(checkpoint.clone());
    let opened = SignedCheckpoint::open(signed.note(), &origin(), &[key().verifier().clone()]);
    assert_eq!(opened.as_ref(), Ok(&signed));
    assert_eq!(signed.checkpoint(), &checkpoint);
    assert_eq!(Checkpoint::parse(&checkpoint.to_string()), Ok(checkpoint));
}

#[test]
fn a_signed_checkpoint_of_another_log_is_refused() {
    let signed = key().sign(Checkpoint::new(origin(), head(3)));
    let other = Origin::parse("example.com/another").unwrap();
    assert_eq!(
        SignedCheckpoint::open(signed.note(), &other, &[key().verifier().clone()]),
        Err(CheckpointError::OtherLog {
            expected: "example.com/another".to_owned(),
            found: "example.com/log".to_owned(),
        })
    );
}

#[test]
fn extension_lines_are_kept() {
    let text = format!("o\n1\n{ROOT}\none line\nanother\n");
    let checkpoint = Checkpoint::parse(&text).unwrap();
    assert_eq!(checkpoint.extensions(), ["one line", "another"]);
    assert_eq!(checkpoint.to_string(), text);
}

#[test]
fn a_checkpoint_has_one_encoding() {
    let too_large = TREE_LEAVES_MAX + 1;
    for (text, error) in [
        (String::new(), CheckpointError::Lines),
        ("\n".to_owned(), CheckpointError::Origin),
        (format!("o\n1\n{ROOT}"), CheckpointError::Lines),
        ("o\n1\n".to_owned(), CheckpointError::Lines),
        (format!("\n1\n{ROOT}\n"), CheckpointError::Origin),
        (format!("\to\n1\n{ROOT}\n"), CheckpointError::Origin),
        (format!("o\n\n{ROOT}\n"), CheckpointError::Size),
        (format!("o\n01\n{ROOT}\n"), CheckpointError::Size),
        (format!("o\n+1\n{ROOT}\n"), CheckpointError::Size),
        (format!("o\n-1\n{ROOT}\n"), CheckpointError::Size),
        (format!("o\n 1\n{ROOT}\n"), CheckpointError::Size),
        (format!("o\n1\r\n{ROOT}\n"), CheckpointError::Size),
        (format!("o\n{too_large}\n{ROOT}\n"), CheckpointError::Size),
        (
            format!("o\n18446744073709551616\n{ROOT}\n"),
            CheckpointError::Size,
        ),
        (format!("o\n1\n{ROOT} \n"), CheckpointError::Root),
        (format!("o\n1\n{}\n", &ROOT[..43]), CheckpointError::Root),
        ("o\n1\n\n".to_owned(), CheckpointError::Root),
        (format!("o\n0\n{ROOT}\n"), CheckpointError::Root),
        (format!("o\n1\n{ROOT}\n\n"), CheckpointError::Extension),
        (format!("o\n1\n{ROOT}\na\n\nb\n"), CheckpointError::Extension),
        (format!("o\n1\n{ROOT}\na\rb\n"), CheckpointError::Extension),
    ] {
        assert_eq!(Checkpoint::parse(&text), Err(error), "{text:?}");
    }
    assert!(Checkpoint::parse(&format!("o\n0\n{EMPTY_ROOT}\n")).is_ok());
    assert!(Checkpoint::parse(&format!("o\n{TREE_LEAVES_MAX}\n{ROOT}\n")).is_ok());
}

#[test]
fn an_origin_and_a_checkpoint_have_limits() {
    let longest = "o".repeat(Origin::BYTES_MAX);
    assert!(Origin::parse(&longest).is_ok());
    assert_eq!(
        Origin::parse(&format!("{longest}o")),
        Err(CheckpointError::Origin)
    );
    let start = format!("o\n1\n{ROOT}\n");
    let line = "x".repeat(NOTE_BYTES_MAX - start.len() - 1);
    assert!(Checkpoint::parse(&format!("{start}{line}\n")).is_ok());
    assert_eq!(
        Checkpoint::parse(&format!("{start}{line}x\n")),
        Err(CheckpointError::Lines)
    );
}

#[test]
fn a_checkpoint_that_contradicts_the_last_one_is_not_signed() {
    let last = key().sign(Checkpoint::new(origin(), head(2)));
    let leaf = |n: u16| Hash::of_leaf(&n.to_be_bytes());
    let proof = ConsistencyProof::from_hashes(vec![leaf(2)]);
    let next = key().sign_successor(&last, head(3), &proof).unwrap();
    assert_eq!(next.checkpoint(), &Checkpoint::new(origin(), head(3)));
    let none = ConsistencyProof::from_hashes(vec![]);
    assert_eq!(
        key()
            .sign_successor(&last, head(2), &none)
            .map(|signed| signed.note().to_owned()),
        Ok(last.note().to_owned()),
        "the same again"
    );
    assert_eq!(
        key().sign_successor(&last, head(1), &none),
        Err(HistoryError::Rollback { known: 2, offered: 1 })
    );
    let forked = TreeHead { size: 2, ..head(3) };
    assert_eq!(
        key().sign_successor(&last, forked, &none),
        Err(HistoryError::Fork { size: 2 })
    );
    let changed = TreeHead { size: 3, ..head(4) };
    assert!(matches!(
        key().sign_successor(&last, changed, &proof),
        Err(HistoryError::Inconsistent {
            known: 2,
            offered: 3,
            ..
        })
    ));
}
