//! Full tiles of a growing log, for transactions of any size.

use crate::log::{Log, leaf};
use audit_ledger::{Growth, GrowthError, Hash, TileError, TileId};
use proptest::prelude::*;

#[test]
fn a_log_grown_in_steps_equals_the_log_grown_at_once() {
    let at_once = Log::of_size(70_000);
    let mut in_steps = Log::default();
    let steps = [1, 2, 3, 250, 0, 256, 255, 1, 4_000, 60_000, 767, 1_000, 3_465];
    let mut next = 0;
    for step in steps {
        in_steps.append((next..next + step).map(leaf)).unwrap();
        next += step;
        let expected: Vec<TileId> = TileId::completed(0, next.into()).collect();
        assert!(
            in_steps
                .full
                .keys()
                .eq(expected.iter().collect::<std::collections::BTreeSet<_>>())
        );
    }
    assert_eq!(next, 70_000);
    assert!(in_steps.full == at_once.full && in_steps.frontier == at_once.frontier);
}

#[test]
fn a_partial_tile_is_read_only_when_it_becomes_full() {
    let mut log = Log::of_size(1_000);
    let mut growth = Growth::new(log.frontier.clone());
    for n in 1_000..1_023 {
        growth.extend(&[leaf(n)]);
    }
    let (frontier, tiles) = growth.finish(|id| Err(format!("{id} is not needed"))).unwrap();
    assert_eq!((frontier.size(), tiles.len()), (1_023, 0));
    log.append((1_000..1_023).map(leaf)).unwrap();
    assert_eq!(log.frontier, frontier);

    let mut growth = Growth::new(frontier);
    growth.extend(&[leaf(1_023)]);
    assert_eq!(growth.head(), Log::of_size(1_024).head());
    let mut asked = Vec::new();
    let finished = growth.finish(|id| {
        asked.push(id.to_string());
        log.tile(id)
    });
    assert_eq!(asked, ["tile/0/003.p/255"]);
    let (_, tiles) = finished.unwrap();
    assert_eq!(
        tiles,
        [Log::of_size(1_024).full.into_values().next_back().unwrap()]
    );
}

#[test]
fn a_changed_leaf_yields_no_tile() {
    for changed in 0..255 {
        let mut log = Log::of_size(255);
        log.leaves[changed] = Hash::of_leaf(b"changed");
        let id = TileId::new(0, 0, 256).unwrap();
        assert_eq!(log.append([leaf(255)]), Err(GrowthError::Changed { id }));
        assert!(log.full.is_empty());
    }
}

#[test]
fn a_changed_root_of_a_tile_yields_no_tile_above() {
    let mut log = Log::of_size(65_535);
    let id = TileId::new(0, 7, 256).unwrap();
    log.roots.insert(id, leaf(0));
    let above = TileId::new(1, 0, 256).unwrap();
    assert_eq!(
        log.append([leaf(65_535)]),
        Err(GrowthError::Changed { id: above })
    );
}

#[test]
fn the_tile_read_must_be_the_tile_requested() {
    let log = Log::of_size(10);
    let grown = || {
        let mut growth = Growth::new(log.frontier.clone());
        growth.extend(&(10..256).map(leaf).collect::<Vec<_>>());
        growth
    };
    let id = TileId::new(0, 0, 10).unwrap();
    let other = TileId::new(0, 0, 9).unwrap();
    assert_eq!(
        grown().finish(|_| log.tile(other)),
        Err(GrowthError::Tile(TileError::Other { id, other }))
    );
    let source = "no disk";
    assert_eq!(
        grown().finish(|_| Err(source)),
        Err(GrowthError::Read { id, source })
    );
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(50))]

    #[test]
    fn transactions_of_any_size_make_the_same_tiles(steps in prop::collection::vec(0_u32..600, 0..12)) {
        let mut log = Log::default();
        for step in steps {
            let next = log.leaves.len() as u32;
            log.append((next..next + step).map(leaf)).unwrap();
        }
        let at_once = Log::of_size(log.leaves.len() as u32);
        prop_assert!(log.full == at_once.full && log.frontier == at_once.frontier);
    }
}
