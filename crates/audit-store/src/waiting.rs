//! Waiting for a future on a thread that may block, for a limited time.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, Wake, Waker};
use std::thread::{self, Thread};
use std::time::{Duration, Instant};

struct Unpark(Thread);

impl Wake for Unpark {
    fn wake(self: Arc<Self>) {
        self.0.unpark();
    }
}

/// The output of a future, or `None` when it takes longer than `timeout`.
pub(crate) fn wait_at_most<F: Future + Unpin>(future: &mut F, timeout: Duration) -> Option<F::Output> {
    let deadline = Instant::now() + timeout;
    let waker = Waker::from(Arc::new(Unpark(thread::current())));
    let mut context = Context::from_waker(&waker);
    loop {
        if let Poll::Ready(output) = Pin::new(&mut *future).poll(&mut context) {
            return Some(output);
        }
        let left = deadline.checked_duration_since(Instant::now())?;
        thread::park_timeout(left);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tokio::sync::oneshot;

    #[test]
    fn an_output_is_waited_for_until_the_timeout() {
        let (sender, mut receiver) = oneshot::channel();
        assert_eq!(wait_at_most(&mut receiver, Duration::ZERO), None);
        let sending = thread::spawn(move || sender.send(7));
        assert_eq!(wait_at_most(&mut receiver, Duration::from_secs(60)), Some(Ok(7)));
        assert_eq!(sending.join().unwrap(), Ok(()));
    }
}
