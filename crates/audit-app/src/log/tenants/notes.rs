//! The signed notes of maps. A reader that asks for the same map again gets the same note: a signature can be a request to a
//! program with the key, and a proof of it costs others their turn.

use crate::error::Result;
use quick_cache::sync::Cache;
use std::sync::Arc;

/// The notes that are cached, at most: about 0.5 KB each.
const NOTES_MAX: usize = 4_096;
/// How long a note is given out, so that its time tells when the log had no more events.
pub(in crate::log) const NOTE_SECONDS: i64 = 60;

/// Signed notes by what was signed.
#[derive(Debug)]
pub(in super::super) struct SignedNotes(Cache<String, Arc<str>>);

impl Default for SignedNotes {
    fn default() -> Self {
        Self(Cache::new(NOTES_MAX))
    }
}

impl SignedNotes {
    /// The note of `unsigned`. Of concurrent calls, one signs.
    pub(in crate::log) fn get_or_sign(
        &self,
        unsigned: &str,
        sign: impl FnOnce() -> Result<String>,
    ) -> Result<String> {
        let sign = || sign().map(Arc::from);
        let note = self.0.get_or_insert_with(unsigned, sign)?;
        Ok(String::from(&*note))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::AppError;
    use std::sync::Barrier;
    use std::sync::atomic::{AtomicUsize, Ordering};

    #[test]
    fn many_readers_of_a_map_cost_one_signature() {
        let (notes, signed, start) = (SignedNotes::default(), AtomicUsize::new(0), Barrier::new(8));
        let sign = || {
            signed.fetch_add(1, Ordering::SeqCst);
            Ok("note".to_owned())
        };
        std::thread::scope(|scope| {
            for _ in 0..8 {
                scope.spawn(|| {
                    start.wait();
                    assert_eq!(notes.get_or_sign("map", sign).unwrap(), "note");
                });
            }
        });
        assert_eq!(signed.load(Ordering::SeqCst), 1);
        notes.get_or_sign("another map", sign).unwrap();
        assert_eq!(signed.load(Ordering::SeqCst), 2);
    }

    #[test]
    fn a_failure_to_sign_is_not_cached() {
        let notes = SignedNotes::default();
        let failed = notes.get_or_sign("map", || Err(AppError::TooManyExports));
        assert!(failed.is_err());
        assert_eq!(
            notes.get_or_sign("map", || Ok("note".to_owned())).unwrap(),
            "note"
        );
    }
}
