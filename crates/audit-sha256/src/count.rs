//! Counts compressions, for tests of what an event costs.

use crate::BLOCK_BYTES;
use std::cell::Cell;

thread_local! {
    static COMPRESSIONS: Cell<usize> = const { Cell::new(0) };
}

pub(crate) fn add(compressions: usize) {
    COMPRESSIONS.set(COMPRESSIONS.get() + compressions);
}

/// Adds those of a message, with a bit that ends it and its length (FIPS 180-4 §5.1.1).
pub(crate) fn add_message(bytes: usize) {
    add((bytes + 1 + size_of::<u64>()).div_ceil(BLOCK_BYTES));
}

/// The compressions of SHA-256 that this crate makes for `work`, on this thread.
pub fn compressions_of<T>(work: impl FnOnce() -> T) -> (T, usize) {
    let before = COMPRESSIONS.get();
    let result = work();
    (result, COMPRESSIONS.get() - before)
}
