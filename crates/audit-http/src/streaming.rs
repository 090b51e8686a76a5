//! Bodies that are produced while they are sent.
//!
//! A task produces the body piece by piece and waits until the client has read the last but one, so that a stalled
//! client holds two pieces. After a timeout the task ends and releases everything that it holds. If the task ends
//! before the body is complete, the connection is closed without the mark that ends a body.

use actix_web::body::{BodySize, MessageBody};
use actix_web::rt::time::timeout;
use actix_web::web::Bytes;
use audit_transport::STALL_SECONDS_MAX;
use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;
use tokio::sync::mpsc;

/// Bytes of a piece, at most.
const PIECE_BYTES_MAX: usize = 32 * 1024;

enum Piece {
    Bytes(Bytes),
    End,
}

/// The sending end of a body.
pub(crate) struct Pieces {
    sender: mpsc::Sender<Piece>,
    stall_max: Duration,
}

/// The body that the client receives.
pub(crate) struct StreamedBody(mpsc::Receiver<Piece>);

/// The client has disconnected or stalled.
#[derive(Debug)]
pub(crate) struct Gone;

/// The task ended before the body did.
#[derive(Debug, thiserror::Error)]
#[error("the body breaks off")]
pub(crate) struct BrokenOff;

/// A body and its sending end.
pub(crate) fn streamed() -> (Pieces, StreamedBody) {
    with_stall_max(Duration::from_secs(STALL_SECONDS_MAX))
}

fn with_stall_max(stall_max: Duration) -> (Pieces, StreamedBody) {
    let (sender, receiver) = mpsc::channel(1);
    (Pieces { sender, stall_max }, StreamedBody(receiver))
}

impl Pieces {
    /// Sends `bytes` as fast as the client reads them.
    pub(crate) async fn send(&self, mut bytes: Bytes) -> Result<(), Gone> {
        while !bytes.is_empty() {
            let piece = bytes.split_to(bytes.len().min(PIECE_BYTES_MAX));
            self.hand_over(Piece::Bytes(piece)).await?;
        }
        Ok(())
    }

    /// Ends the body: it is complete.
    pub(crate) async fn end(self) -> Result<(), Gone> {
        self.hand_over(Piece::End).await
    }

    async fn hand_over(&self, piece: Piece) -> Result<(), Gone> {
        let handed_over = timeout(self.stall_max, self.sender.send(piece)).await;
        handed_over.map_err(|_| Gone)?.map_err(|_| Gone)
    }

    /// The result of `work`, unless the client disconnects first.
    pub(crate) async fn unless_gone<T>(&self, work: impl Future<Output = T>) -> Result<T, Gone> {
        tokio::select! {
            outcome = work => Ok(outcome),
            () = self.sender.closed() => Err(Gone),
        }
    }
}

impl MessageBody for StreamedBody {
    type Error = BrokenOff;

    fn size(&self) -> BodySize {
        BodySize::Stream
    }

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Result<Bytes, BrokenOff>>> {
        Poll::Ready(match ready!(self.0.poll_recv(cx)) {
            Some(Piece::Bytes(bytes)) => Some(Ok(bytes)),
            Some(Piece::End) => None,
            None => Some(Err(BrokenOff)),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use actix_web::body::to_bytes;
    use actix_web::rt;

    #[actix_web::test]
    async fn a_body_is_what_was_sent_until_its_end() {
        let (pieces, body) = streamed();
        let sent = vec![7; 3 * PIECE_BYTES_MAX + 1];
        let expected = sent.clone();
        rt::spawn(async move {
            pieces.send(sent.into()).await.unwrap();
            pieces.end().await.unwrap();
        });
        assert_eq!(to_bytes(body).await.unwrap(), expected);
    }

    #[actix_web::test]
    async fn a_body_that_was_not_ended_breaks_off() {
        let (pieces, body) = streamed();
        rt::spawn(async move { pieces.send("half".into()).await });
        assert!(to_bytes(body).await.is_err());
    }

    #[actix_web::test]
    async fn whoever_takes_nothing_is_given_up_with_one_piece_in_hand() {
        let (pieces, body) = with_stall_max(Duration::from_millis(10));
        pieces.send("first".into()).await.unwrap();
        assert!(pieces.send("second".into()).await.is_err());
        drop(pieces);
        assert!(to_bytes(body).await.is_err());
    }

    #[actix_web::test]
    async fn work_for_a_client_that_hung_up_ends() {
        let (pieces, body) = streamed();
        assert_eq!(pieces.unless_gone(async { 1 }).await.unwrap(), 1);
        drop(body);
        assert!(pieces.unless_gone(std::future::pending::<()>()).await.is_err());
        assert!(pieces.send("late".into()).await.is_err());
    }
}
