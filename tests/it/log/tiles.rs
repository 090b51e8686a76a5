//! `GET /log/tile/…`: the tree, as C2SP `tlog-tiles` serves it.

use super::{Case, EVENTS as CASE_EVENTS, leaf_of, live_log, store_events};
use audit_ledger::{Frontier, Hash};
use audit_tests::{Client, DatabaseKind, Organization, RawResponse, on_both_databases};

/// Two full tiles and 88 events in a partial one.
const EVENTS: usize = 600;

on_both_databases! {
    tiles_are_the_hashes_of_the_tree,
    full_tiles_can_be_kept_for_ever_and_partial_ones_not,
    bundles_have_the_content_hashes_of_the_events,
    no_proof_of_consistency_comes_from_a_changed_tile,
}

fn root(leaves: &[Hash]) -> Hash {
    let mut frontier = Frontier::new();
    for leaf in leaves {
        frontier.append(*leaf);
    }
    frontier.root()
}

fn bytes(hashes: &[Hash]) -> Vec<u8> {
    hashes.iter().flat_map(|hash| *hash.as_bytes()).collect()
}

fn tiles_are_the_hashes_of_the_tree(database: DatabaseKind) {
    let organization = Organization::fresh(database);
    let project = organization.project();
    let ids = store_events(&project, EVENTS);
    let events = project.pages(&[("limit", "200")]).concat();
    let event_of = |id: &String| {
        events
            .iter()
            .find(|event| event["id"] == **id)
            .expect("the event is stored")
    };
    let log = live_log(&organization);
    let leaves: Vec<Hash> = ids.iter().map(|id| leaf_of(&log, event_of(id))).collect();
    let get = |path: &str| project.get(&format!("/log/tile/{path}")).send_raw();
    let roots: Vec<Hash> = leaves.chunks_exact(256).map(root).collect();
    for (path, hashes) in [
        ("0/000", &leaves[..256]),
        ("0/001", &leaves[256..512]),
        ("0/002.p/88", &leaves[512..]),
        ("0/002.p/1", &leaves[512..513]),
        ("0/000.p/255", &leaves[..255]),
        ("1/000.p/2", &roots),
        ("1/000.p/1", &roots[..1]),
    ] {
        let response = get(path);
        assert_eq!(
            (response.status, response.header("content-type")),
            (200, Some("application/octet-stream")),
            "{path}"
        );
        assert_eq!(response.bytes, bytes(hashes), "{path}");
    }
    for path in [
        "0/002",
        "0/002.p/89",
        "0/003.p/1",
        "0/x001/000",
        "1/000",
        "1/000.p/3",
        "1/001.p/1",
        "2/000.p/1",
        "0/000.p/0",
        "0/000.p/256",
        "64/000",
        "0/0",
        "0",
        "x",
        "0/000.p/01",
        "00/000",
        "0/000.p/1/2",
    ] {
        assert_eq!(get(path).status, 404, "{path}");
    }
}

fn bundles_have_the_content_hashes_of_the_events(database: DatabaseKind) {
    let organization = Organization::fresh(database);
    let project = organization.project();
    store_events(&project, 300);
    let get = |path: &str| project.get(&format!("/log/tile/{path}")).send_raw();
    for (index, width) in [("000", 256), ("000.p/7", 7), ("001.p/44", 44), ("001.p/1", 1)] {
        let response = get(&format!("entries/{index}"));
        assert_eq!(response.header("content-type"), Some("application/octet-stream"));
        let is_for_ever = response
            .header("cache-control")
            .is_some_and(|value| value.contains("immutable"));
        assert_eq!(is_for_ever, width == 256, "{index}");
        let entries: Vec<&[u8]> = response.bytes.chunks(34).collect();
        assert_eq!(entries.len(), width, "{index}");
        assert!(entries.iter().all(|entry| entry.starts_with(&[0, 32])));
        let leaves: Vec<Hash> = entries.iter().map(|entry| Hash::of_leaf(&entry[2..])).collect();
        assert_eq!(bytes(&leaves), get(&format!("0/{index}")).bytes, "{index}");
    }
    for path in [
        "entries/001",
        "entries/001.p/45",
        "entries/002.p/1",
        "entries/0",
        "entries/",
        "entries/000.p/0",
        "entries/0/000",
    ] {
        assert_eq!(get(path).status, 404, "{path}");
    }
}

fn full_tiles_can_be_kept_for_ever_and_partial_ones_not(database: DatabaseKind) {
    let organization = Organization::fresh(database);
    store_events(&organization.project(), 257);
    let lifetime = |path: &str| {
        let response: RawResponse = organization
            .project()
            .get(&format!("/log/tile/{path}"))
            .send_raw();
        assert_eq!(response.status, 200, "{path}");
        response.header("cache-control").unwrap_or_default().to_owned()
    };
    assert!(lifetime("0/000").contains("immutable"));
    for partial in ["0/001.p/1", "1/000.p/1"] {
        assert!(!lifetime(partial).contains("immutable"), "{partial}");
    }
}

/// A witness that gets a wrong proof blames the operator.
fn no_proof_of_consistency_comes_from_a_changed_tile(kind: DatabaseKind) {
    let case = Case::fresh(kind);
    let (server, project) = case.start();
    let sizes = [1, 100, 200, 255, 256, 257, CASE_EVENTS - 1, CASE_EVENTS];
    let pairs = sizes
        .iter()
        .flat_map(|from| sizes.iter().map(move |to| (*from, *to)));
    let pairs: Vec<_> = pairs.filter(|(from, to)| from <= to).collect();
    let ask = |project: &Client| -> Vec<_> {
        let get = |(from, to): &(usize, usize)| {
            let response = project
                .get(&format!("/log/consistency?from={from}&to={to}"))
                .send();
            (response.status(), response["consistency"].clone())
        };
        pairs.iter().map(get).collect()
    };
    let right = ask(&project);
    assert!(right.iter().all(|(status, _)| *status == 200), "{right:?}");
    super::stop(server);
    // In the place of the first, of a middle and of the last hash.
    for place in [0, 100, 255] {
        let case = case.copy();
        let leaves = case.leaves();
        let tile = leaves[..256].iter().enumerate();
        let tile = tile.map(|(number, leaf)| {
            if number == place {
                Hash::of_leaf(&[7])
            } else {
                *leaf
            }
        });
        let wrong = case.database.blob(&bytes(&tile.collect::<Vec<_>>()));
        let (warm, project) = case.start();
        assert_eq!(ask(&project), right);
        case.tamper(&format!("UPDATE log_tiles SET hashes = {wrong} WHERE LEDGER"));
        let mut refused = 0;
        let mut expect = |project: &Client| {
            for ((status, proof), right) in ask(project).into_iter().zip(&right) {
                match status {
                    200 => assert_eq!(proof, right.1),
                    status => {
                        assert_eq!(status, 500);
                        refused += 1;
                    }
                }
            }
        };
        expect(&project);
        drop(warm);
        let (_cold, project) = case.start();
        expect(&project);
        assert!(refused > 0, "the tile is not read");
    }
}
