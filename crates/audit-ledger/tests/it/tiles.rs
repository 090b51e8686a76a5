//! Tiles: their positions, their hashes and the proofs built from them.

use crate::log::Log;
use crate::reference::Reference;
use audit_ledger::{
    Frontier, Hash, InclusionProof, MissingTile, Subtree, TREE_LEAVES_MAX, Tile, TileError, TileId, TileSet,
};
use proptest::prelude::*;
use std::collections::BTreeSet;

fn id(level: u8, index: u64, width: u16) -> TileId {
    TileId::new(level, index, width).unwrap()
}

fn partial(size: u64) -> Vec<TileId> {
    TileId::partial_of(size).collect()
}

fn full(size: u64) -> Vec<TileId> {
    TileId::completed(0, size).collect()
}

#[test]
fn the_examples_of_the_specification_hold() {
    assert_eq!(partial(70_000), [id(0, 273, 112), id(1, 1, 17), id(2, 0, 1)]);
    let mut expected: Vec<TileId> = (0..273).map(|index| id(0, index, 256)).collect();
    expected.push(id(1, 0, 256));
    assert_eq!(full(70_000), expected);
    assert_eq!(partial(256), [id(1, 0, 1)]);
    assert_eq!(full(256), [id(0, 0, 256)]);
    assert_eq!(id(0, 273, 112).to_string(), "tile/0/273.p/112");
}

#[test]
fn an_empty_tree_has_no_tile() {
    assert_eq!(partial(0), []);
    assert_eq!(full(0), []);
}

#[test]
fn the_largest_tree_has_tiles_at_eight_levels() {
    assert_eq!(partial(TREE_LEAVES_MAX), [id(7, 0, 64)]);
    let all = partial(TREE_LEAVES_MAX - 1);
    assert_eq!(all.len(), 8);
    assert!(all[..7].iter().all(|tile| tile.width() == 255));
    assert_eq!(all[7].width(), 63);
    assert_eq!(
        partial(u64::MAX),
        partial(TREE_LEAVES_MAX),
        "a larger size counts as the largest"
    );
    assert_eq!(TileId::completed(u64::MAX, 5).count(), 0);
}

#[test]
fn a_tile_out_of_range_is_refused() {
    for (level, index, width) in [
        (0, 0, 0),
        (0, 0, 257),
        (7, 0, 65),
        (7, 1, 1),
        (8, 0, 1),
        (255, 0, 1),
        (0, u64::MAX, 1),
        (0, TREE_LEAVES_MAX / 256, 1),
    ] {
        let error = TileError::Range { level, index, width };
        assert_eq!(TileId::new(level, index, width), Err(error));
    }
}

#[test]
fn a_tile_has_the_hashes_of_its_definition() {
    let tree = Reference::of_size(70_000);
    let log = Log::of_size(70_000);
    let ids = full(70_000).into_iter().chain(partial(70_000));
    for id in ids {
        let expected: Vec<Hash> = (0..u32::from(id.width()))
            .map(|i| {
                let leaves = 256_usize.pow(id.level().into());
                let first = (id.index() as usize * 256 + i as usize) * leaves;
                tree.mth(first, first + leaves)
            })
            .collect();
        assert_eq!(log.tile(id).unwrap().hashes(), expected, "{id}");
    }
    assert_eq!(log.head(), tree.head(70_000));
}

#[test]
fn proofs_built_from_tiles_verify() {
    let (tree, log) = (Reference::of_size(70_000), Log::of_size(70_000));
    for size in [
        1, 2, 255, 256, 257, 300, 511, 512, 513, 65_535, 65_536, 65_537, 69_999, 70_000,
    ] {
        let head = tree.head(size);
        let frontier = Frontier::read(size, |subtree| tree.hash(subtree)).unwrap();
        let tiles = log.tiles(Subtree::of_tree(size).collect(), size);
        assert_eq!(Frontier::read(size, |subtree| tiles.hash(subtree)), Ok(frontier));
        for index in
            (0..size).filter(|index| size <= 2 || size == 300 || index % 9_001 < 2 || size - index < 3)
        {
            let proof = log.prove_inclusion(index, size).unwrap();
            assert_eq!(
                proof.verify(index, &tree.leaf(index), &head),
                Ok(()),
                "{index} in {size}"
            );
        }
        for from in (0..=size).filter(|from| size <= 2 || size == 300 || from % 9_001 < 2 || size - from < 3)
        {
            let proof = log.prove_consistency(from, size).unwrap();
            assert_eq!(proof.verify(&tree.head(from), &head), Ok(()), "{from} to {size}");
        }
    }
}

#[test]
fn a_missing_tile_is_named_by_its_leaves() {
    let log = Log::of_size(600);
    let subtree = Subtree::new(8, 1).unwrap();
    assert_eq!(TileSet::default().hash(subtree), Err(MissingTile { subtree }));
    assert_eq!(
        MissingTile { subtree }.to_string(),
        "no tile in the set has the hash of leaves 256 to 512"
    );
    let beyond = Subtree::new(0, 600).unwrap();
    assert_eq!(
        TileSet::needed([beyond], 600),
        Err(MissingTile { subtree: beyond })
    );
    let narrow = TileSet::from_iter([log.tile(id(1, 0, 1)).unwrap()]);
    assert!(narrow.hash(Subtree::new(8, 0).unwrap()).is_ok());
    assert_eq!(narrow.hash(subtree), Err(MissingTile { subtree }));
}

#[test]
fn the_wider_of_two_tiles_is_used_in_any_order() {
    let log = Log::of_size(256);
    let (narrow, wide) = (log.tile(id(0, 0, 7)).unwrap(), log.tile(id(0, 0, 256)).unwrap());
    let last = Subtree::new(0, 255).unwrap();
    for tiles in [[narrow.clone(), wide.clone()], [wide, narrow]] {
        assert_eq!(TileSet::from_iter(tiles).hash(last), Ok(log.leaves[255]));
    }
}

#[test]
fn an_inclusion_proof_at_a_million_events_takes_six_tiles_and_two_kilobytes() {
    let size = 1_000_000;
    for index in (0..size).step_by(997) {
        let subtrees = InclusionProof::subtrees(index, size).unwrap();
        assert!(TileSet::needed(subtrees, size).unwrap().len() <= 6);
        let any = |subtree: Subtree| Ok::<_, ()>(Hash::of_leaf(&subtree.index().to_be_bytes()));
        let proof = InclusionProof::prove(index, size, any).unwrap();
        assert!(proof.hashes().len() <= 20);
        let json_bytes: usize = proof.to_base64().iter().map(|text| text.len() + 3).sum();
        assert!(json_bytes <= 940, "{json_bytes}");
    }
}

proptest! {
    #[test]
    fn tiles_become_full_when_their_last_leaf_comes(from in 0_u64..200_000, growth in 0_u64..140_000) {
        let to = from + growth;
        let all: BTreeSet<TileId> = full(to).into_iter().collect();
        let before: BTreeSet<TileId> = full(from).into_iter().collect();
        let new: BTreeSet<TileId> = TileId::completed(from, to).collect();
        prop_assert_eq!(all.difference(&before).copied().collect::<BTreeSet<_>>(), new);
        for tile in all {
            prop_assert!(tile.exists_in(to) && (tile.exists_in(from) == before.contains(&tile)));
        }
    }

    #[test]
    fn a_partial_tile_ends_where_its_level_does(size in 0..=TREE_LEAVES_MAX) {
        for tile in TileId::partial_of(size) {
            prop_assert!(!tile.is_full() && tile.exists_in(size));
            let wider = TileId::new(tile.level(), tile.index(), tile.width() + 1);
            prop_assert!(wider.is_err() || wider.is_ok_and(|wider| !wider.exists_in(size)));
            let last = tile.subtrees().last().unwrap();
            prop_assert!(last.leaves().end <= size && size - last.leaves().end < 1 << (8 * tile.level()));
        }
    }

    #[test]
    fn a_subtree_is_in_the_tile_that_holds_it(size in 1..=TREE_LEAVES_MAX, level in 0_u8..63, index: u64) {
        let count = size >> level;
        prop_assume!(count > 0);
        let subtree = Subtree::new(level, index % count).unwrap();
        let tile = TileId::holding(subtree, size).unwrap();
        prop_assert!(tile.exists_in(size));
        let (first, last) = (tile.subtrees().next().unwrap(), tile.subtrees().last().unwrap());
        prop_assert!(first.leaves().start <= subtree.leaves().start && subtree.leaves().end <= last.leaves().end);
        prop_assert!(tile.is_full() || TileId::partial_of(size).any(|partial| partial == tile));
        let beyond = Subtree::new(level, count);
        prop_assert_eq!(beyond.and_then(|beyond| TileId::holding(beyond, size)), None);
    }

    #[test]
    fn a_path_leads_back_to_its_tile(level in 0_u8..8, index: u64, width in 1_u16..=256) {
        let index = index % (TREE_LEAVES_MAX >> (8 * level)).div_ceil(256);
        if let Ok(id) = TileId::new(level, index, width) {
            prop_assert_eq!(id.to_string().parse(), Ok(id));
        }
    }

    #[test]
    fn any_text_is_refused_or_the_one_path_of_a_tile(text in "tile/[0-9x/.p]{1,20}|tile/[0-7]/(x[0-9]{3}/){0,3}[0-9]{2,3}(\\.p/[0-9]{1,3})?|.{0,20}") {
        if let Ok(id) = text.parse::<TileId>() {
            prop_assert_eq!(id.to_string(), text);
        }
    }

    #[test]
    fn a_tile_of_other_bytes_gives_other_roots(byte in 0_usize..8_192, bit in 0_u32..8) {
        let tile = Log::of_size(256).tile(id(0, 0, 256)).unwrap();
        let mut bytes = tile.encode();
        bytes[byte] ^= 1 << bit;
        let changed = Tile::decode(tile.id(), &bytes).unwrap();
        prop_assert_ne!(changed.root(), tile.root());
        let subtree = changed.first_difference(tile.hashes()).unwrap();
        prop_assert_eq!(subtree.index(), byte as u64 / 32);
    }
}
