//! Cost of a digest by implementation, on one core. `RUSTFLAGS='--cfg sha2_backend="soft"'` shows `sha2` without SHA instructions.
#![allow(clippy::print_stdout)]

use audit_sha256::{Batch, Implementation};
use std::hint::black_box;
use std::time::Instant;

/// Number of rounds. The fastest counts, because other load on the machine only adds time.
const ROUNDS: usize = 40;
/// Messages per round.
const MESSAGES: usize = 4_096;

fn main() {
    println!(
        "fastest here: {:?}; ns per message, best of {ROUNDS} rounds",
        Implementation::fastest()
    );
    println!(
        "{:<10} {:>9} {:>12} {:>12} {:>12}",
        "", "at once", "18 bytes", "50 bytes", "640 bytes"
    );
    for implementation in Implementation::available() {
        for at_once in [1, 2, 6, 8, 11, 64] {
            let costs = [18, 50, 640].map(|bytes| cost(implementation, bytes, at_once));
            let name = format!("{implementation:?}");
            println!(
                "{name:<10} {at_once:>9} {:>12.0} {:>12.0} {:>12.0}",
                costs[0], costs[1], costs[2]
            );
        }
    }
}

/// Nanoseconds for a message of `bytes`, with `at_once` messages in a batch.
fn cost(implementation: Implementation, bytes: usize, at_once: usize) -> f64 {
    let message = vec![0x5a; bytes];
    let mut batch = Batch::new(implementation);
    let batches = MESSAGES / at_once;
    let round = |_| {
        let start = Instant::now();
        for _ in 0..batches {
            for _ in 0..at_once {
                batch.add(|to| to.extend_from_slice(black_box(&message)));
            }
            for digest in batch.digests() {
                black_box(digest);
            }
        }
        start.elapsed().as_secs_f64()
    };
    let best = (0..ROUNDS).map(round).fold(f64::INFINITY, f64::min);
    best * 1e9 / (batches * at_once) as f64
}
