use super::*;
use proptest::prelude::*;
use proptest::sample::Index;
use proptest::test_runner::{Config, TestRunner};
use std::fs;
use std::path::Path;

/// Changed inputs of each property.
const CASES: u32 = 96;

/// One change of an input.
#[derive(Clone, Debug)]
enum Change {
    Set(Index, u8),
    Flip(Index, u8),
    Insert(Index, Vec<u8>),
    Remove(Index, usize),
    /// A part of the input, repeated in another place.
    Copy(Index, Index, usize),
    /// The rest of another seed from here on.
    Splice(Index, Index),
}

fn change() -> impl Strategy<Value = Change> {
    prop_oneof![
        (any::<Index>(), any::<u8>()).prop_map(|(at, byte)| Change::Set(at, byte)),
        (any::<Index>(), 0..8_u8).prop_map(|(at, bit)| Change::Flip(at, bit)),
        (any::<Index>(), prop::collection::vec(any::<u8>(), 1..8))
            .prop_map(|(at, bytes)| Change::Insert(at, bytes)),
        (any::<Index>(), "[\\x00-\\x7f]{1,6}|[0-9]{1,20}|\\PC{1,3}")
            .prop_map(|(at, text)| Change::Insert(at, text.into_bytes())),
        (any::<Index>(), 1..40_usize).prop_map(|(at, length)| Change::Remove(at, length)),
        (any::<Index>(), any::<Index>(), 1..60_usize)
            .prop_map(|(from, to, length)| Change::Copy(from, to, length)),
        (any::<Index>(), any::<Index>()).prop_map(|(at, seed)| Change::Splice(at, seed)),
    ]
}

fn apply(input: &mut Vec<u8>, change: &Change, seeds: &[Vec<u8>]) {
    let place = |index: &Index| index.index(input.len() + 1);
    match change {
        Change::Set(at, byte) if !input.is_empty() => {
            let at = at.index(input.len());
            input[at] = *byte;
        }
        Change::Flip(at, bit) if !input.is_empty() => {
            let at = at.index(input.len());
            input[at] ^= 1 << bit;
        }
        Change::Set(..) | Change::Flip(..) => {}
        Change::Insert(at, bytes) => {
            let at = place(at);
            input.splice(at..at, bytes.iter().copied());
        }
        Change::Remove(at, length) => {
            let at = place(at);
            input.drain(at..(at + length).min(input.len()));
        }
        Change::Copy(from, to, length) => {
            let (from, to) = (place(from), place(to));
            let part = input[from..(from + length).min(input.len())].to_vec();
            input.splice(to..to, part);
        }
        Change::Splice(at, seed) => {
            let other = &seeds[seed.index(seeds.len())];
            let at = place(at);
            input.truncate(at);
            input.extend(other.get(at..).unwrap_or_default());
        }
    }
}

#[test]
fn each_property_holds_for_its_seeds_and_for_what_the_fuzzer_found() {
    let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/corpus");
    for property in PROPERTIES {
        let seeds = (property.seeds)();
        assert!(!seeds.is_empty(), "{}", property.name);
        let refused: Vec<_> = seeds.iter().filter(|seed| !(property.check)(seed)).collect();
        let refused: Vec<_> = refused.iter().map(|seed| String::from_utf8_lossy(seed)).collect();
        assert!(refused.is_empty(), "{}: {refused:#?}", property.name);
        let Ok(files) = fs::read_dir(corpus.join(property.name)) else {
            continue;
        };
        for file in files {
            let path = file.expect("an entry of the corpus").path();
            (property.check)(&fs::read(&path).expect("a file of the corpus"));
        }
    }
}

#[test]
fn each_property_holds_for_changed_seeds_and_for_random_bytes() {
    for property in PROPERTIES {
        let seeds = (property.seeds)();
        let input = (
            any::<Index>(),
            prop::collection::vec(change(), 0..6),
            prop::collection::vec(any::<u8>(), 0..64),
        );
        let mut runner = TestRunner::new(Config {
            cases: CASES,
            failure_persistence: None,
            ..Config::default()
        });
        let outcome = runner.run(&input, |(seed, changes, bytes)| {
            let mut input = seeds[seed.index(seeds.len())].clone();
            changes
                .iter()
                .for_each(|change| apply(&mut input, change, &seeds));
            (property.check)(&input);
            (property.check)(&bytes);
            Ok(())
        });
        outcome.unwrap_or_else(|error| panic!("{}: {error}", property.name));
    }
}

#[test]
fn each_property_has_a_fuzz_target() {
    let fuzz = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz");
    let manifest = fs::read_to_string(fuzz.join("Cargo.toml")).expect("the manifest of the fuzz targets");
    for Property { name, .. } in PROPERTIES {
        assert!(manifest.contains(&format!("name = \"{name}\"\n")), "{name}");
        let target = fs::read_to_string(fuzz.join(format!("fuzz_targets/{name}.rs"))).expect("the target");
        assert!(
            target.contains("audit_properties::") && target.contains("fuzz_target!"),
            "{name}"
        );
    }
    let targets = fs::read_dir(fuzz.join("fuzz_targets")).expect("the targets");
    assert_eq!(targets.count(), PROPERTIES.len());
}
