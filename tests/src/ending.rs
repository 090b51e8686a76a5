//! The end of what several threads of a test do together.

use std::sync::atomic::{AtomicBool, Ordering};

/// Whether the threads of a test are to end. It is announced only by the end of a value, which a panic brings about as well:
/// otherwise a test that fails would wait for its other threads forever, and say nothing.
#[derive(Debug, Default)]
pub struct Ending(AtomicBool);

impl Ending {
    /// Whether it has been announced.
    pub fn is_announced(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }

    /// Announces the end when the returned value is dropped. The thread that decides about the end has it.
    pub fn announced_on_drop(&self) -> AnnounceOnDrop<'_> {
        AnnounceOnDrop(self)
    }
}

/// See [`Ending::announced_on_drop`].
#[derive(Debug)]
#[must_use = "dropping it announces the end"]
pub struct AnnounceOnDrop<'a>(&'a Ending);

impl Drop for AnnounceOnDrop<'_> {
    fn drop(&mut self) {
        self.0.0.store(true, Ordering::Relaxed);
    }
}
