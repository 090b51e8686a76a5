//! A connection that limits each read, and ends when its client takes no bytes or stays silent.
//!
//! actix-http drains a connection before it parses, up to 128 KiB into a buffer that grows to 256 KiB. With 512
//! connections that send large bodies that is 133 MiB. It passes on the data of each read at once, so smaller reads
//! cost nothing. And it waits forever for a client that does not read its response.

use super::share::Slot;
use crate::Patience;
use std::io;
use std::io::IoSlice;
use std::pin::Pin;
use std::task::{Context, Poll, Waker, ready};
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, ReadBuf, Take};
use tokio::time::{Instant, Sleep, sleep, sleep_until};

/// Bytes that are read from a connection before actix-http parses them.
const READ_BYTES_MAX: u64 = 16 * 1024;

/// Bytes that a client must take of a response that waits for it, in each window of the [`Patience`] of the response.
const TAKEN_BYTES_MIN: usize = 32 * 1024;
/// The time after which a connection is closed on which no byte went in either direction. The longest pause of a response is
/// the minute that a request may wait for events, and idle connections are closed earlier.
const SILENT_SECONDS_MAX: u64 = 150;

/// A connection of a client, with its slot among the connections of all.
pub(super) struct Connection<S> {
    /// Limited to the rest of the current read, since a read fills the whole buffer.
    stream: Take<S>,
    /// Present while bytes wait to be sent.
    waiting: Option<Window>,
    patience: Patience,
    active_at: Instant,
    silence: Pin<Box<Sleep>>,
    /// The task that `silence` wakes.
    listener: Option<Waker>,
    _slot: Slot,
}

/// A window of time in which a client must take bytes.
struct Window {
    time: Duration,
    end: Pin<Box<Sleep>>,
    taken: usize,
}

impl Window {
    fn new(time: Duration) -> Self {
        Self {
            time,
            end: Box::pin(sleep(time)),
            taken: 0,
        }
    }

    /// Ready when a window ends in which too few bytes were taken.
    fn poll_failed(&mut self, context: &mut Context<'_>) -> Poll<()> {
        loop {
            ready!(self.end.as_mut().poll(context));
            if self.taken < TAKEN_BYTES_MIN {
                return Poll::Ready(());
            }
            self.taken = 0;
            self.end.as_mut().reset(Instant::now() + self.time);
        }
    }
}

impl<S: AsyncRead + AsyncWrite + Unpin> Connection<S> {
    pub(super) fn new(stream: S, slot: Slot) -> Self {
        let silent_max = Duration::from_secs(SILENT_SECONDS_MAX);
        Self {
            stream: stream.take(READ_BYTES_MAX),
            waiting: None,
            patience: Patience::default(),
            active_at: Instant::now(),
            silence: Box::pin(sleep(silent_max)),
            listener: None,
            _slot: slot,
        }
    }

    /// How long the connection waits for its client.
    pub(super) const fn patience(&self) -> &Patience {
        &self.patience
    }

    /// Ready when the connection was silent for too long.
    fn poll_silent(&mut self, context: &mut Context<'_>) -> Poll<()> {
        let wakes = |listener: &Waker| listener.will_wake(context.waker());
        if !self.silence.is_elapsed() && self.listener.as_ref().is_some_and(wakes) {
            return Poll::Pending;
        }
        loop {
            if self.silence.as_mut().poll(context).is_pending() {
                self.listener = Some(context.waker().clone());
                return Poll::Pending;
            }
            // Moving the timer with every read would cost more than this.
            let until = self.active_at + Duration::from_secs(SILENT_SECONDS_MAX);
            if until <= Instant::now() {
                return Poll::Ready(());
            }
            self.silence.set(sleep_until(until));
        }
    }

    /// Counts what the client takes, and gives up one that takes too little.
    fn counted(
        &mut self,
        context: &mut Context<'_>,
        written: Poll<io::Result<usize>>,
    ) -> Poll<io::Result<usize>> {
        match written {
            Poll::Ready(Ok(bytes)) => {
                self.active_at = Instant::now();
                if let Some(window) = &mut self.waiting {
                    window.taken += bytes;
                }
                written
            }
            Poll::Ready(Err(_)) => written,
            Poll::Pending => {
                let patience = &self.patience;
                let window = self.waiting.get_or_insert_with(|| Window::new(patience.get()));
                ready!(window.poll_failed(context));
                Poll::Ready(Err(timed_out("the client does not read its response")))
            }
        }
    }
}

fn timed_out(reason: &'static str) -> io::Error {
    io::Error::new(io::ErrorKind::TimedOut, reason)
}

impl<S: AsyncRead + AsyncWrite + Unpin> AsyncRead for Connection<S> {
    /// Reports "pending" after [`READ_BYTES_MAX`] bytes, and wakes its reader at once.
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        if self.stream.limit() == 0 {
            self.stream.set_limit(READ_BYTES_MAX);
            context.waker().wake_by_ref();
            return Poll::Pending;
        }
        let outcome = Pin::new(&mut self.stream).poll_read(context, buffer);
        if outcome.is_ready() {
            self.active_at = Instant::now();
            return outcome;
        }
        self.stream.set_limit(READ_BYTES_MAX);
        ready!(self.poll_silent(context));
        Poll::Ready(Err(timed_out("the connection is silent")))
    }
}

impl<S: AsyncRead + AsyncWrite + Unpin> AsyncWrite for Connection<S> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let written = Pin::new(self.stream.get_mut()).poll_write(context, bytes);
        self.counted(context, written)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        slices: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let written = Pin::new(self.stream.get_mut()).poll_write_vectored(context, slices);
        self.counted(context, written)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.get_ref().is_write_vectored()
    }

    /// actix-http flushes when everything is written.
    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.waiting = None;
        Pin::new(self.stream.get_mut()).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(self.stream.get_mut()).poll_shutdown(context)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::server::share::Connections;
    use std::future::poll_fn;
    use std::net::{IpAddr, Ipv4Addr};
    use tokio::io::{AsyncWriteExt, DuplexStream, duplex};

    /// Both ends of a connection whose buffer has this size.
    fn connect(bytes: usize) -> (Connection<DuplexStream>, DuplexStream) {
        let (server, client) = duplex(bytes);
        let slots = Connections::new(10, |_| false);
        let slot = slots.admit(Some(IpAddr::V4(Ipv4Addr::LOCALHOST))).unwrap();
        (Connection::new(server, slot), client)
    }

    #[actix_web::test]
    async fn a_connection_is_read_to_its_end_in_limited_reads() {
        const BYTES: usize = 3 * READ_BYTES_MAX as usize + 1;
        let (mut connection, mut sender) = connect(BYTES);
        sender.write_all(&[7; BYTES]).await.unwrap();
        drop(sender);
        let mut first = vec![0; READ_BYTES_MAX as usize];
        connection.read_exact(&mut first).await.unwrap();
        let next = poll_fn(|context| {
            let mut buffer = [0; 1];
            let mut buffer = ReadBuf::new(&mut buffer);
            Poll::Ready(Pin::new(&mut connection).poll_read(context, &mut buffer))
        });
        assert!(
            next.await.is_pending(),
            "the first read is parsed before the second"
        );
        let mut rest = Vec::new();
        connection.read_to_end(&mut rest).await.unwrap();
        assert_eq!(first.len() + rest.len(), BYTES);
        assert!(rest.iter().all(|byte| *byte == 7));
    }

    #[actix_web::test]
    async fn a_client_that_takes_nothing_is_given_up() {
        tokio::time::pause();
        let (mut connection, _client) = connect(1_024);
        let started = Instant::now();
        let error = connection.write_all(&[7; 4_096]).await.unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::TimedOut);
        assert_eq!(started.elapsed().as_secs(), Patience::default().get().as_secs());
    }

    /// Whether a response of a megabyte is written to a client that takes a kilobyte after each pause.
    async fn is_written(pause: Duration) -> bool {
        let (mut connection, mut client) = connect(1_024);
        let taking = async {
            let mut taken = [0; 1_024];
            loop {
                sleep(pause).await;
                client.read_exact(&mut taken).await.unwrap();
            }
        };
        tokio::select! {
            written = connection.write_all(&[7; 1 << 20]) => written.is_ok(),
            () = taking => unreachable!(),
        }
    }

    #[actix_web::test]
    async fn a_client_that_takes_too_little_is_given_up_and_a_slow_one_is_not() {
        tokio::time::pause();
        assert!(is_written(Duration::from_millis(400)).await);
        assert!(!is_written(Duration::from_millis(600)).await);
    }

    #[actix_web::test]
    async fn a_pause_between_responses_is_not_counted() {
        tokio::time::pause();
        let (mut connection, mut client) = connect(1_024);
        let mut taken = [0; 2_048];
        for _ in 0..3 {
            let (written, read) = tokio::join!(
                async {
                    connection.write_all(&[7; 2_048]).await?;
                    connection.flush().await
                },
                client.read_exact(&mut taken)
            );
            written.unwrap();
            read.unwrap();
            sleep(2 * Patience::default().get()).await;
        }
    }

    #[actix_web::test]
    async fn a_silent_connection_ends() {
        tokio::time::pause();
        let (mut connection, mut client) = connect(1_024);
        let started = Instant::now();
        let speaking = async {
            sleep(Duration::from_secs(100)).await;
            client.write_all(&[7]).await.unwrap();
            std::future::pending::<()>().await;
        };
        let mut heard = [0; 2];
        let error = tokio::select! {
            read = connection.read_exact(&mut heard) => read.unwrap_err(),
            () = speaking => unreachable!(),
        };
        assert_eq!(error.kind(), io::ErrorKind::TimedOut);
        assert_eq!(started.elapsed().as_secs(), 100 + SILENT_SECONDS_MAX);
    }
}
