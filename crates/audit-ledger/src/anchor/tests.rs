use super::*;
use crate::CheckpointError;
use proptest::prelude::*;

fn key(name: &str) -> SigningKey {
    SigningKey::from_seed(KeyName::parse(name).unwrap(), &[7; 32]).unwrap()
}

fn head(size: u64, root: u8) -> TreeHead {
    TreeHead {
        size,
        root: Hash::from_bytes([root; 32]),
    }
}

fn anchor(number: u64, heads: &[(&str, TreeHead)]) -> Anchor {
    let due = Timestamp::from_seconds(1_768_471_200 + 3_600 * i64::try_from(number).unwrap());
    Anchor {
        deployment: KeyName::parse("audit.example.com").unwrap(),
        number,
        due,
        time: due.plus_seconds(2),
        every_seconds: 3_600,
        previous: None,
        heads: heads
            .iter()
            .map(|(name, head)| ((*name).to_owned(), *head))
            .collect(),
        maps: BTreeMap::new(),
    }
}

fn map(size: u64, root: u8) -> AnchoredMap {
    AnchoredMap {
        size,
        root: Hash::from_bytes([root; 32]),
        binding: Hash::from_bytes([size as u8; 32]),
    }
}

/// The anchor `number` of a log of nine events with this map.
fn mapped(number: u64, map: Option<AnchoredMap>) -> Anchor {
    let mut mapped = anchor(number, &[("p/live", head(9, 1))]);
    mapped.maps = map.map(|map| ("p/live".to_owned(), map)).into_iter().collect();
    mapped
}

fn after(before: &SignedAnchor, heads: &[(&str, TreeHead)]) -> SignedAnchor {
    let mut next = anchor(before.anchor().number + 1, heads);
    next.previous = Some(before.digest());
    key("audit.example.com").sign_anchor(next)
}

#[test]
fn a_signed_anchor_is_opened_with_its_key_only() {
    let signed = key("audit.example.com").sign_anchor(anchor(1, &[("p/live", head(3, 1))]));
    let own = key("audit.example.com").verifier().clone();
    assert_eq!(
        SignedAnchor::open(signed.note(), std::slice::from_ref(&own)),
        Ok(signed.clone())
    );
    assert_eq!(signed.anchor().file_name(), "20260115T110000Z");
    let other = key("other.example.com").verifier().clone();
    let unknown = SignedAnchor::open(signed.note(), std::slice::from_ref(&other));
    assert_eq!(unknown, Err(AnchorError::Note(NoteError::UnknownSigner)));
    for changed in [
        signed.note().replace("p/live 3", "p/live 4"),
        signed.note().replace("number 1", "number 2"),
    ] {
        let opened = SignedAnchor::open(&changed, std::slice::from_ref(&own));
        assert!(
            matches!(opened, Err(AnchorError::Note(NoteError::WrongSignature { .. }))),
            "{changed}"
        );
    }
    // The deployment named in the text is that of the key.
    let foreign = key("other.example.com").sign_anchor(anchor(1, &[]));
    let opened = SignedAnchor::open(foreign.note(), &[other]);
    assert_eq!(
        opened,
        Err(AnchorError::OtherDeployment("audit.example.com".to_owned()))
    );
}

#[test]
fn an_anchor_is_no_checkpoint_and_a_checkpoint_no_anchor() {
    let key = key("audit.example.com");
    let signed = key.sign_anchor(anchor(1, &[("p/live", head(3, 1))]));
    let text = signed.anchor().to_string();
    assert_eq!(crate::Checkpoint::parse(&text), Err(CheckpointError::Size));
    let origin = crate::Origin::parse("audit.example.com/p/live").unwrap();
    let checkpoint = key.sign(crate::Checkpoint::new(origin, head(3, 1)));
    let opened = SignedAnchor::open(checkpoint.note(), &[key.verifier().clone()]);
    assert!(
        matches!(opened, Err(AnchorError::Line { line: 1, .. })),
        "{opened:?}"
    );
}

#[test]
fn an_anchor_has_one_form() {
    let text = anchor(2, &[("a/live", head(3, 1)), ("b/live", head(4, 2))]).to_string();
    assert_eq!(Anchor::parse(&text).unwrap().to_string(), text);
    let lines: Vec<&str> = text.lines().collect();
    let swapped = [&lines[..8], &[lines[9], lines[8], lines[10]]]
        .concat()
        .join("\n")
        + "\n";
    for other in [
        swapped,
        text.replace("number 2", "number 02"),
        text.replace(".000Z", "Z"),
        text.replace("logs 2", "logs 1"),
        text.replace("logs 2", "logs 3"),
        text.replace("maps 0", "maps 1"),
        text.replace("maps 0\n", ""),
        text.replace("a/live 3", "a/live 0"),
        text.replace("b/live", "a/live"),
        text.replace("previous none", "previous"),
        text.trim_end().to_owned(),
        format!("{text}\n"),
        format!("{text}x\n"),
    ] {
        assert!(Anchor::parse(&other).is_err(), "{other}");
    }
}

#[test]
fn a_later_anchor_has_every_log_and_none_of_them_shorter() {
    let first = key("audit.example.com").sign_anchor(anchor(1, &[("p/live", head(3, 1))]));
    for heads in [
        &[("p/live", head(3, 1))][..],
        &[("p/live", head(9, 2)), ("q/test", head(1, 1))],
    ] {
        assert_eq!(first.check_later(&after(&first, heads)), Ok(()));
    }
    let gone = after(&first, &[("q/live", head(3, 1))]);
    assert_eq!(
        first.check_later(&gone),
        Err(AnchorChainError::LogGone("p/live".to_owned()))
    );
    for wrong in [head(2, 1), head(3, 2)] {
        let later = after(&first, &[("p/live", wrong)]);
        let error = first.check_later(&later).unwrap_err();
        assert!(matches!(error, AnchorChainError::Log { .. }), "{error}");
    }
}

#[test]
fn a_map_is_that_of_a_log_of_the_anchor_and_has_no_more_events() {
    let text = mapped(1, Some(map(9, 1))).to_string();
    assert_eq!(Anchor::parse(&text).unwrap().maps["p/live"], map(9, 1));
    let last = text.lines().last().unwrap();
    let (before, _) = last.rsplit_once(' ').unwrap();
    for other in [
        text.replace(last, &last.replace("p/live 9", "p/live 10")),
        text.replace(last, &last.replace("p/live 9", "p/live 0")),
        text.replace(last, &last.replace("p/live", "p/test")),
        text.replace(last, before),
        text.replace(last, &format!("{last} x")),
        text.replace("maps 1", "maps 2"),
        text.replace("maps 1", "maps 0"),
    ] {
        assert_ne!(other, text);
        assert!(Anchor::parse(&other).is_err(), "{other}");
    }
}

#[test]
fn a_later_anchor_has_every_map_and_no_other_one_of_the_same_events() {
    let sign = |anchor| key("audit.example.com").sign_anchor(anchor);
    let first = sign(mapped(1, Some(map(7, 1))));
    let later = |map| first.check_later(&sign(mapped(3, map)));
    for same in [map(7, 1), map(8, 2)] {
        assert_eq!(later(Some(same)), Ok(()));
    }
    let rebound = AnchoredMap {
        binding: Hash::from_bytes([1; 32]),
        ..map(7, 1)
    };
    for (other, problem) in [
        (None, "is missing"),
        (Some(map(6, 1)), "has fewer events"),
        (Some(map(7, 2)), "is another one of the same events"),
        (Some(rebound), "is another one of the same events"),
    ] {
        let log = "p/live".to_owned();
        assert_eq!(later(other), Err(AnchorChainError::Map { log, problem }));
    }
}

#[test]
fn anchors_are_a_chain() {
    let heads = [("p/live", head(3, 1))];
    let first = key("audit.example.com").sign_anchor(anchor(1, &heads));
    let mut second = anchor(2, &heads);
    second.previous = Some(AnchorDigest::of_note("another note"));
    let second = key("audit.example.com").sign_anchor(second);
    assert_eq!(first.check_later(&second), Err(AnchorChainError::Previous(1)));
    assert_eq!(first.check_later(&first), Err(AnchorChainError::Number(1)));
    let mut early = anchor(3, &heads);
    early.due = first.anchor().due;
    let early = key("audit.example.com").sign_anchor(early);
    assert_eq!(first.check_later(&early), Err(AnchorChainError::Time(1)));
    // The one between them is missing.
    let third = key("audit.example.com").sign_anchor(anchor(3, &heads));
    assert_eq!(first.check_later(&third), Ok(()));
}

proptest! {
    #[test]
    fn an_anchor_is_read_back(number in 1..u64::MAX, sizes in prop::collection::btree_map("[a-z]{1,8}/(live|test)", 1u64..1_000_000, 0..6)) {
        let mut made = anchor(1, &[]);
        made.number = number;
        made.previous = (number > 1).then(|| AnchorDigest::of_note(&number.to_string()));
        made.heads = sizes.into_iter().map(|(name, size)| (name, head(size, size as u8))).collect();
        let of_log = |(name, head): (&String, &TreeHead)| (name.clone(), map(head.size.div_ceil(2), head.size as u8));
        made.maps = made.heads.iter().filter(|(_, head)| head.size % 2 == 0).map(of_log).collect();
        prop_assert_eq!(Anchor::parse(&made.to_string()), Ok(made));
    }

    #[test]
    fn no_text_causes_a_panic(text in "\\PC*") {
        let body = format!("{}\n{text}", Anchor::HEADER);
        prop_assert!(Anchor::parse(&text).is_err());
        prop_assert!(Anchor::parse(&body).is_err());
    }
}
