use super::*;
use audit_ledger::{Anchor, AnchorDigest, Hash, KeyName, SigningKey};

fn key() -> SigningKey {
    SigningKey::from_seed(KeyName::parse("audit.example.com").unwrap(), &[7; 32]).unwrap()
}

fn map(size: u64, root: Hash) -> AnchoredMap {
    AnchoredMap {
        size,
        root,
        binding: root,
    }
}

/// The anchors of these numbers, each with the size of one log. The roots follow from the size.
fn files(anchors: &[(u64, u64)]) -> Vec<AnchorFile> {
    let mut previous = None;
    let mut files = Vec::new();
    for (number, size) in anchors {
        let due = Timestamp::from_seconds(1_768_471_200 + 3_600 * i64::try_from(*number).unwrap());
        let root = Hash::of_leaf(&size.to_be_bytes());
        let signed = key().sign_anchor(Anchor {
            deployment: KeyName::parse("audit.example.com").unwrap(),
            number: *number,
            due,
            time: due.plus_seconds(1),
            every_seconds: 3_600,
            previous: previous.take(),
            heads: BTreeMap::from([("p/live".to_owned(), TreeHead { size: *size, root })]),
            maps: BTreeMap::from([("p/live".to_owned(), map(*size, root))]),
        });
        previous = Some(AnchorDigest::of_note(signed.note()));
        files.push(AnchorFile {
            name: format!("{number}"),
            document: signed.note().to_owned(),
            time_stamp: None,
        });
    }
    files
}

fn verified(files: &[AnchorFile]) -> AnchorReport {
    verify_anchors(files, &[key().verifier().clone()], None)
}

#[test]
fn heads_and_maps_are_named_by_the_first_anchor_that_has_them() {
    let mut files = files(&[(1, 3), (2, 3), (3, 8)]);
    files.reverse();
    let report = verified(&files);
    assert_eq!((&report.findings, &report.notes), (&Vec::new(), &Vec::new()));
    let log = &report.logs["p/live"];
    let heads = log
        .heads
        .iter()
        .map(|anchored| (anchored.head.size, &*anchored.anchor));
    let maps = log
        .maps
        .iter()
        .map(|anchored| (anchored.map.size, &*anchored.anchor));
    assert!(heads.eq([(3, "1"), (8, "3")]));
    assert!(maps.eq([(3, "1"), (8, "3")]));
    let (first, last) = report.range.unwrap();
    assert_eq!(last, first.plus_seconds(7_200));
}

#[test]
fn gaps_are_noted_and_contradictions_are_findings() {
    let gap = verified(&files(&[(1, 3), (4, 5)]));
    assert_eq!(gap.findings, []);
    assert!(gap.notes[0].contains("2 anchors are missing"), "{:?}", gap.notes);
    let shrunk = verified(&files(&[(1, 3), (2, 2)]));
    assert_eq!(shrunk.findings[0].anchor, "2");
    assert!(shrunk.findings[0].problem.contains("p/live"), "{shrunk:?}");
    // Two chains: the third anchor continues another second one.
    let mut forked = files(&[(1, 3), (2, 4), (3, 5)]);
    forked[1] = files(&[(1, 3), (2, 5)]).remove(1);
    let forked = verified(&forked);
    assert_eq!(forked.findings.len(), 1);
    assert_eq!(forked.findings[0].anchor, "3");
    // Two second anchors.
    let mut both = files(&[(1, 3), (2, 4)]);
    both.push(files(&[(1, 3), (2, 5)]).remove(1));
    assert_eq!(verified(&both).findings.len(), 1);
    // One of them twice.
    let mut twice = files(&[(1, 3), (2, 4)]);
    twice.push(twice[1].clone());
    assert_eq!(verified(&twice).findings, []);
}

#[test]
fn an_anchor_by_another_key_and_a_wrong_time_stamp_are_findings() {
    let mut files = files(&[(1, 3)]);
    files[0].time_stamp = Some(b"not one".to_vec());
    let report = verified(&files);
    assert!(
        report.findings[0].problem.contains("time stamp is wrong"),
        "{report:?}"
    );
    files[0].document = files[0].document.replace("number 1", "number 2");
    let report = verified(&files);
    assert!(report.findings[0].problem.contains("has signed"), "{report:?}");
    assert!(report.logs.is_empty());
}
