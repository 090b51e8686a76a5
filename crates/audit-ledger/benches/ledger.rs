//! Cost of appends, tiles, proofs at a million events, and checkpoints, on one core. The figures depend on the machine; their
//! ratios are comparable between machines.
#![allow(clippy::print_stdout)]

use audit_domain::{
    ContentHash, ContentSalt, Environment, Event, EventId, LogName, ProjectId, Record, Stamp, Timestamp, json,
};
use audit_ledger::{
    Checkpoint, ConsistencyProof, Frontier, Growth, Hash, InclusionProof, KeyName, MapPart, Origin,
    SignedCheckpoint, SigningKey, Subtree, TenantLogs, TenantMapKey, Tile, TileId, TileSet,
};
use std::collections::BTreeMap;
use std::error::Error;
use std::hint::black_box;
use std::time::Instant;

/// Number of rounds. The fastest counts, because other load on the machine only adds time.
const ROUNDS: usize = 5;
const EVENTS: u64 = 1_000_000;
/// Number of proofs per round, spread over the tree.
const PROOFS: u64 = 1_000;

type Outcome<T> = Result<T, Box<dyn Error>>;

/// The log as a database stores it.
#[derive(Default)]
struct Stored {
    tiles: BTreeMap<TileId, Vec<u8>>,
    roots: BTreeMap<TileId, Hash>,
    frontier: Frontier,
    leaves: Vec<Hash>,
}

#[derive(Debug, thiserror::Error)]
#[error("tile {0} is missing")]
struct NoTile(TileId);

fn main() -> Outcome<()> {
    let content_hashes: Vec<ContentHash> = (0..EVENTS).map(content_hash).collect();
    println!("at {EVENTS} events, best of {ROUNDS} rounds");
    appending(&content_hashes);
    for batch in [1, 50, 500] {
        growing(&content_hashes, batch)?;
    }
    let stored = grow(&content_hashes, EVENTS as usize)?;
    let tile_bytes: usize = stored.tiles.values().map(Vec::len).sum();
    println!(
        "{:<58} {:>12.2} bytes an event",
        "full tiles",
        tile_bytes as f64 / EVENTS as f64
    );
    inclusion(&stored, &content_hashes)?;
    consistency(&stored)?;
    checkpoints(&stored)?;
    verifying_a_log()?;
    tenants()?;
    Ok(())
}

/// The map of 100,000 tenants: computed as a whole, and brought up to date for some of them.
fn tenants() -> Outcome<()> {
    const TENANTS: u64 = 100_000;
    const CHANGED: u64 = 2_000;
    let key = TenantMapKey::new([7; 32]);
    let mut logs = TenantLogs::default();
    for tenant in 0..TENANTS {
        let tenant_id = tenant.to_string();
        let leaf = Hash::of_leaf(&tenant.to_be_bytes());
        logs.append(key.label(&tenant_id), Some(&tenant_id), leaf);
    }
    let started = Instant::now();
    let root = logs.root(&key);
    print(
        "root of the map of 100,000 tenants, per tenant",
        started.elapsed().as_nanos() as f64 / TENANTS as f64,
    );
    let mut part = MapPart::default();
    let (updated, _) = part.update(&key, logs.leaves());
    assert_eq!(updated, root);
    let label = key.label("7");
    let slots: Vec<u64> = (0..CHANGED)
        .map(|tenant| key.label(&tenant.to_string()).slot())
        .collect();
    let nanos = best(CHANGED, || part.verify(&key, &root, slots.iter().copied()));
    print("verify the parts above 2,000 of them, per tenant", nanos);
    let leaf = Hash::of_leaf(b"changed");
    let nanos = best(CHANGED, || {
        part.update(&key, slots.iter().map(|slot| (*slot, leaf)))
    });
    print("update 2,000 of them, per tenant", nanos);
    let (root, _) = part.update(&key, logs.leaves());
    let path = part.path(&key, label.slot());
    let leaf = label.leaf(&logs.get(&label).ok_or("a tenant")?.head());
    print("prove a tenant", best(1, || part.path(&key, label.slot())));
    print(
        "verify its path",
        best(1, || path.verify(label.slot(), leaf, &root)),
    );
    Ok(())
}

/// Any hash for each number.
fn content_hash(n: u64) -> ContentHash {
    let mut bytes = [0; 32];
    bytes[..8].copy_from_slice(&n.to_be_bytes());
    ContentHash::from_bytes(bytes)
}

/// Nanoseconds per item, of `count` items.
fn best<T>(count: u64, mut all: impl FnMut() -> T) -> f64 {
    let mut best = f64::INFINITY;
    for _ in 0..ROUNDS {
        let start = Instant::now();
        black_box(all());
        best = best.min(start.elapsed().as_nanos() as f64 / count as f64);
    }
    best
}

fn print(what: &str, nanos: f64) {
    println!("{what:<58} {:>12.2} µs {:>12.0} /s", nanos / 1e3, 1e9 / nanos);
}

fn appending(content_hashes: &[ContentHash]) {
    let nanos = best(EVENTS, || {
        let mut frontier = Frontier::new();
        for content_hash in content_hashes {
            frontier.append(Hash::of_event(content_hash));
        }
        frontier.root()
    });
    print("append to the frontier, with the leaf's hash", nanos);
}

fn growing(content_hashes: &[ContentHash], batch: usize) -> Outcome<()> {
    let mut failed = None;
    let nanos = best(EVENTS, || {
        failed = grow(content_hashes, batch).err();
    });
    print(
        &format!("append and write tiles, root and frontier each {batch}"),
        nanos,
    );
    failed.map_or(Ok(()), Err)
}

/// Appends in transactions of `batch` events, with their reads and writes but without a database.
fn grow(content_hashes: &[ContentHash], batch: usize) -> Outcome<Stored> {
    let mut stored = Stored::default();
    for events in content_hashes.chunks(batch) {
        let frontier = Frontier::decode(&stored.frontier.encode())?;
        let mut growth = Growth::new(frontier);
        let leaves = Hash::of_events(events.iter().copied());
        growth.extend(&leaves);
        stored.leaves.extend(leaves);
        black_box(growth.head());
        let (frontier, tiles) = growth.finish(|id| stored.read(id))?;
        for tile in tiles {
            stored.roots.extend(tile.root().map(|root| (tile.id(), root)));
            stored.tiles.insert(tile.id(), tile.encode());
        }
        stored.frontier = frontier;
    }
    Ok(stored)
}

impl Stored {
    fn read(&self, id: TileId) -> Result<Tile, NoTile> {
        if let Some(bytes) = self.tiles.get(&id) {
            return Tile::decode(id, bytes).map_err(|_| NoTile(id));
        }
        let hash = |subtree: Subtree| match id.level() {
            0 => self.leaves.get(subtree.index() as usize).copied(),
            level => {
                let below = TileId::new(level - 1, subtree.index(), TileId::WIDTH_MAX).ok()?;
                self.roots.get(&below).copied()
            }
        };
        let hashes: Option<Vec<Hash>> = id.subtrees().map(hash).collect();
        Tile::new(id, hashes.ok_or(NoTile(id))?).map_err(|_| NoTile(id))
    }

    fn tiles(&self, subtrees: Vec<Subtree>) -> Outcome<TileSet> {
        let ids = TileSet::needed(subtrees, EVENTS)?;
        Ok(ids
            .into_iter()
            .map(|id| self.read(id))
            .collect::<Result<_, _>>()?)
    }

    fn inclusion(&self, index: u64) -> Outcome<InclusionProof> {
        let tiles = self.tiles(InclusionProof::subtrees(index, EVENTS)?)?;
        Ok(InclusionProof::prove(index, EVENTS, |subtree| {
            tiles.hash(subtree)
        })?)
    }

    fn consistency(&self, from: u64) -> Outcome<ConsistencyProof> {
        let tiles = self.tiles(ConsistencyProof::subtrees(from, EVENTS)?)?;
        Ok(ConsistencyProof::prove(from, EVENTS, |subtree| {
            tiles.hash(subtree)
        })?)
    }
}

fn indices() -> impl Iterator<Item = u64> {
    (0..PROOFS).map(|n| n * (EVENTS / PROOFS) + n % 7)
}

fn inclusion(stored: &Stored, content_hashes: &[ContentHash]) -> Outcome<()> {
    let proofs: Vec<InclusionProof> = indices()
        .map(|index| stored.inclusion(index))
        .collect::<Outcome<_>>()?;
    let nanos = best(PROOFS, || {
        indices()
            .map(|index| stored.inclusion(index).is_ok())
            .filter(|made| *made)
            .count()
    });
    print("inclusion proof from tiles, read and decoded", nanos);
    let head = stored.frontier.head();
    let verify = |(index, proof): (u64, &InclusionProof)| {
        let leaf = Hash::of_event(&content_hashes[index as usize]);
        proof.verify(index, &leaf, &head)
    };
    indices().zip(&proofs).try_for_each(verify)?;
    let nanos = best(PROOFS, || indices().zip(&proofs).try_for_each(verify));
    print("verify an inclusion proof, with the leaf's hash", nanos);
    let json_bytes = |proof: &InclusionProof| {
        let texts = proof.to_base64();
        texts.iter().map(|text| text.len() + 3).sum::<usize>()
    };
    let largest = proofs.iter().map(json_bytes).max().unwrap_or_default();
    println!("{:<58} {largest:>12} bytes of JSON", "inclusion proof, at most");
    Ok(())
}

fn consistency(stored: &Stored) -> Outcome<()> {
    let leaves = &stored.leaves;
    let heads = indices().map(|from| {
        let mut frontier = Frontier::new();
        leaves[..from as usize].iter().for_each(|leaf| {
            frontier.append(*leaf);
        });
        frontier.head()
    });
    let heads: Vec<_> = heads.step_by(50).collect();
    let proofs: Vec<ConsistencyProof> = heads
        .iter()
        .map(|head| stored.consistency(head.size))
        .collect::<Outcome<_>>()?;
    let head = stored.frontier.head();
    let nanos = best(PROOFS, || {
        indices()
            .map(|from| stored.consistency(from).is_ok())
            .filter(|made| *made)
            .count()
    });
    print("consistency proof from tiles, read and decoded", nanos);
    let verify = || {
        heads
            .iter()
            .zip(&proofs)
            .try_for_each(|(from, proof)| proof.verify(from, &head))
    };
    verify()?;
    print("verify a consistency proof", best(heads.len() as u64, verify));
    Ok(())
}

fn checkpoints(stored: &Stored) -> Outcome<()> {
    let key = SigningKey::from_seed(KeyName::parse("audit.example.com")?, &[7; 32])?;
    let origin = Origin::parse("audit.example.com/log/example/live")?;
    let checkpoint = Checkpoint::new(origin.clone(), stored.frontier.head());
    let nanos = best(100, || {
        (0..100).for_each(|_| drop(black_box(key.sign(checkpoint.clone()))))
    });
    print("sign a checkpoint", nanos);
    let signed = key.sign(checkpoint);
    let keys = [key.verifier().clone()];
    let open = || (0..100).try_for_each(|_| SignedCheckpoint::open(signed.note(), &origin, &keys).map(drop));
    open()?;
    print("open a checkpoint", best(100, open));
    println!("{:<58} {:>12} bytes", "checkpoint", signed.note().len());
    Ok(())
}

/// Recomputes a log from its canonical texts, without the time to read them.
fn verifying_a_log() -> Outcome<()> {
    let lines = include_str!("../../../docs/examples/cloudtrail-events.jsonl");
    let received_at = Timestamp::parse_rfc3339("2026-01-15T10:30:00Z")?;
    let mut texts = Vec::new();
    for line in lines.lines() {
        let event = Event::from_json(json::parse(line.as_bytes())?, received_at)?;
        let id = EventId::new(received_at, [0; 10]);
        let record = Record::new(&event, false, Stamp { id, received_at });
        texts.push(record.canonical().to_owned());
    }
    let salt = ContentSalt::from_bytes([7; 16]);
    let log = LogName::new(ProjectId::from_random([1; 16]), Environment::Live);
    let nanos = best(texts.len() as u64, || {
        let mut frontier = Frontier::new();
        for text in &texts {
            frontier.append(Hash::of_event(&ContentHash::of(text, &salt, &log)?));
        }
        Some(frontier.root())
    });
    let bytes: usize = texts.iter().map(String::len).sum();
    print(
        &format!(
            "content hash, leaf and append; texts of {} bytes",
            bytes / texts.len()
        ),
        nanos,
    );
    Ok(())
}
