//! The operating system's clock and random generator, as the arguments that every other crate takes.

use audit_domain::{Clock, Entropy, Timestamp};
use rustix::fs::Mode;
use rustix::process::umask;
use std::cell::Cell;
use std::time::{SystemTime, UNIX_EPOCH};

/// Sets the umask to 077, so that files of this process and its children are private. What others may read gets its permissions
/// where it is created.
pub fn make_files_private() {
    umask(Mode::from_raw_mode(0o077));
}

/// The operating system's clock.
pub struct SystemClock;

impl Clock for SystemClock {
    #[expect(
        clippy::disallowed_methods,
        reason = "the one place that reads the wall clock"
    )]
    fn now(&self) -> Timestamp {
        let since_epoch = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        Timestamp::from_micros(i64::try_from(since_epoch.as_micros()).unwrap_or(i64::MAX))
    }
}

/// The operating system's random generator.
pub struct SystemEntropy;

/// Random bytes that a thread fetches at a time. A request needs some thirty; the system call costs more than the bytes.
const POOL_BYTES: usize = 512;

thread_local! {
    /// The pool, and how many unused bytes are at its end.
    static POOL: Cell<([u8; POOL_BYTES], usize)> = const { Cell::new(([0; POOL_BYTES], 0)) };
}

impl Entropy for SystemEntropy {
    fn fill(&self, bytes: &mut [u8]) {
        if bytes.len() > POOL_BYTES / 2 {
            return fill_from_system(bytes);
        }
        // The pool is empty meanwhile, so a panic below cannot make two callers receive the same bytes.
        let (mut pool, mut unused) = POOL.replace(([0; POOL_BYTES], 0));
        if unused < bytes.len() {
            fill_from_system(&mut pool);
            unused = POOL_BYTES;
        }
        let rest = unused - bytes.len();
        bytes.copy_from_slice(&pool[POOL_BYTES - unused..POOL_BYTES - rest]);
        // Used bytes become keys: no copy stays in memory.
        pool[..POOL_BYTES - rest].fill(0);
        POOL.set((pool, rest));
    }
}

#[expect(clippy::disallowed_methods, reason = "the source of ids, keys and secrets")]
fn fill_from_system(bytes: &mut [u8]) {
    // Keys and secrets must be unpredictable, so the process cannot continue without randomness.
    getrandom::fill(bytes).unwrap_or_else(|error| {
        log::error!("the operating system returns no random bytes: {error}");
        std::process::abort()
    });
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn no_random_bytes_are_returned_twice() {
        let fill = || {
            let mut filled = Vec::new();
            for length in [10, 20, 16, 256, 7, 300, 0, 255].repeat(20) {
                let mut bytes = vec![0; length];
                SystemEntropy.fill(&mut bytes);
                filled.extend(bytes.as_chunks::<8>().0.iter().copied());
            }
            filled
        };
        let threads = [(); 4].map(|()| std::thread::spawn(fill));
        let filled: Vec<[u8; 8]> = threads
            .into_iter()
            .flat_map(|thread| thread.join().unwrap())
            .collect();
        let different: HashSet<_> = filled.iter().collect();
        assert!(filled.len() > 4_000 && different.len() == filled.len());
    }
}
