use super::*;

fn tree(size: u64) -> Frontier {
    let mut tree = Frontier::new();
    while tree.size() < size {
        tree.append(Hash::of_leaf(b""));
    }
    tree
}

fn signed(origin: &str, size: &str) -> Signed {
    Signed {
        note: note_of(origin, size),
        tree: tree(size.len().min(9) as u64),
    }
}

fn remembered(origin: &str, size: &str) -> Remembered {
    Remembered {
        signed: Some(signed(origin, size)),
        unsigned: Vec::new(),
    }
}

fn change(origin: &str, before: Option<&str>, size: &str) -> Change {
    Change {
        origin: origin.into(),
        before: before.map_or_else(Remembered::default, |size| remembered(origin, size)),
        signed: signed(origin, size),
    }
}

fn note_of(origin: &str, size: &str) -> Arc<str> {
    format!("{origin}\n{size}\nroot\n\n— signature\n").into()
}

#[test]
fn what_was_remembered_is_there_after_a_start() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("new/audit.db.signed");
    let memory = SignerMemory::open(&path).unwrap();
    assert!(memory.is_new());
    assert_eq!(memory.note("a"), None);
    let both = [change("a", None, "1"), change("b", None, "7")];
    assert_eq!(memory.commit(&both).unwrap(), [true, true]);
    assert_eq!(memory.commit(&[change("a", Some("1"), "2")]).unwrap(), [true]);
    assert_eq!(memory.get("a"), remembered("a", "2"));
    drop(memory);
    let memory = SignerMemory::open(&path).unwrap();
    assert!(!memory.is_new());
    assert_eq!(memory.get("a"), remembered("a", "2"));
    assert_eq!(memory.get("b"), remembered("b", "7"));
}

#[test]
fn the_file_is_written_through_no_link() {
    let folder = tempfile::tempdir().unwrap();
    let (path, other) = (folder.path().join("signed"), folder.path().join("other"));
    std::fs::write(&other, "other").unwrap();
    std::os::unix::fs::symlink(&other, folder.path().join("signed.new")).unwrap();
    drop(SignerMemory::open(&path).unwrap());
    assert_eq!(std::fs::read(&other).unwrap(), b"other");
    assert!(path.symlink_metadata().unwrap().is_file());
}

#[test]
fn a_note_replaces_only_the_one_that_it_continues() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("signed");
    let memory = SignerMemory::open(&path).unwrap();
    memory.commit(&[change("a", None, "1")]).unwrap();
    let changes = [
        change("a", None, "2"),
        change("a", Some("5"), "6"),
        change("b", None, "1"),
    ];
    assert_eq!(memory.commit(&changes).unwrap(), [false, false, true]);
    drop(memory);
    let known = SignerMemory::read(&path).unwrap().unwrap();
    assert_eq!(known["a"], remembered("a", "1"));
    assert_eq!(known["b"], remembered("b", "1"));
}

#[test]
fn a_second_process_is_refused_and_may_read() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("signed");
    assert!(SignerMemory::read(&path).unwrap().is_none());
    let memory = SignerMemory::open(&path).unwrap();
    memory.commit(&[change("a", None, "1")]).unwrap();
    let refused = SignerMemory::open(&path).unwrap_err();
    assert!(matches!(refused, SignerMemoryError::InUse(_)), "{refused}");
    assert_eq!(SignerMemory::read(&path).unwrap().unwrap().len(), 1);
    drop(memory);
    SignerMemory::open(&path).unwrap();
}

#[test]
fn an_interrupted_line_is_dropped_and_any_other_damage_is_an_error() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("signed");
    let memory = SignerMemory::open(&path).unwrap();
    memory.commit(&[change("a", None, "1")]).unwrap();
    let before = std::fs::read(&path).unwrap().len();
    memory.commit(&[change("a", Some("1"), "2")]).unwrap();
    drop(memory);
    let whole = std::fs::read(&path).unwrap();
    for length in [before, before + 1, before + 50, whole.len() - 1] {
        std::fs::write(&path, &whole[..length]).unwrap();
        let memory = SignerMemory::open(&path).unwrap();
        assert_eq!(memory.note("a"), Some(note_of("a", "1")), "{length}");
        memory.commit(&[change("a", Some("1"), "3")]).unwrap();
        drop(memory);
        let known = SignerMemory::read(&path).unwrap().unwrap();
        assert_eq!(known["a"], remembered("a", "3"));
    }
    let mut zeroed = whole.clone();
    zeroed[before + 60..].fill(0);
    std::fs::write(&path, &zeroed).unwrap();
    assert_eq!(
        SignerMemory::read(&path).unwrap().unwrap()["a"],
        remembered("a", "1")
    );
    for damaged in [0, 10, before - 10] {
        let mut bytes = whole.clone();
        bytes[damaged] ^= 1;
        std::fs::write(&path, &bytes).unwrap();
        let refused = SignerMemory::open(&path).unwrap_err();
        assert!(matches!(refused, SignerMemoryError::Damaged { .. }), "{refused}");
    }
    std::fs::write(&path, "").unwrap();
    assert!(
        SignerMemory::open(&path).is_err(),
        "an empty file is not a new one"
    );
}

#[test]
fn an_outdated_file_is_replaced() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("signed");
    let memory = SignerMemory::open(&path).unwrap();
    let long = "x".repeat(50_000);
    let mut before = None;
    for number in 0..100 {
        let text = format!("{number}{long}");
        memory.commit(&[change("a", before.as_deref(), &text)]).unwrap();
        before = Some(text);
        let bytes = std::fs::metadata(&path).unwrap().len();
        assert!(bytes <= OUTDATED_BYTES_MIN, "{bytes}");
    }
    assert_eq!(memory.note("a"), Some(note_of("a", &before.unwrap())));
    let files = std::fs::read_dir(folder.path()).unwrap().count();
    assert_eq!(files, 2, "the file and its lock");
}

#[test]
fn a_head_that_could_not_be_signed_is_known_until_a_note_continues_it() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("signed");
    let memory = SignerMemory::open(&path).unwrap();
    memory.commit(&[change("a", None, "11")]).unwrap();
    let head = |size| tree(size).head();
    for size in [2, 3, 5, 3] {
        memory.acknowledge("a", head(size)).unwrap();
    }
    memory.acknowledge("b", head(1)).unwrap();
    drop(memory);
    let memory = SignerMemory::open(&path).unwrap();
    let known = memory.get("a");
    assert_eq!(known.signed, Some(signed("a", "11")));
    assert_eq!(known.unsigned, [head(3), head(5)]);
    assert_eq!((known.size(), memory.get("b").size()), (5, 1));
    // Who did not see the heads has not proven that a note continues them.
    let blind = change("a", Some("11"), "333333");
    assert_eq!(memory.commit(&[blind]).unwrap(), [false]);
    let proven = Change {
        origin: "a".into(),
        before: known,
        signed: signed("a", "333333"),
    };
    assert_eq!(memory.commit(&[proven]).unwrap(), [true]);
    assert_eq!(memory.get("a"), remembered("a", "333333"));
}

#[test]
fn the_heads_that_could_not_be_signed_are_bounded_and_the_first_ones_stay() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("signed");
    let memory = SignerMemory::open(&path).unwrap();
    for size in 1..=UNSIGNED_MAX as u64 + 5 {
        memory.acknowledge("a", tree(size).head()).unwrap();
    }
    drop(memory);
    let unsigned = &SignerMemory::read(&path).unwrap().unwrap()["a"].unsigned;
    assert_eq!(unsigned.len(), UNSIGNED_MAX);
    assert_eq!(unsigned[0], tree(1).head());
}
