use super::*;
use crate::owner::Sharer;
use actix_web::error::PayloadError;
use std::collections::VecDeque;
use std::sync::Arc;
use std::task::{Context, Poll};
use tokio::time::timeout;

/// A body of which these pieces arrive at once, and the next one `pause` after the last one, if there is one.
struct Arriving {
    pieces: VecDeque<Bytes>,
    pause: Option<(Duration, Pin<Box<tokio::time::Sleep>>)>,
    /// Whether the sender stalls after the last piece.
    stalls: bool,
}

impl Stream for Arriving {
    type Item = Result<Bytes, PayloadError>;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        if let Some((pause, sleep)) = &mut self.pause {
            if sleep.as_mut().poll(context).is_pending() {
                return Poll::Pending;
            }
            let next = Instant::now() + *pause;
            sleep.as_mut().reset(next);
        }
        match self.pieces.pop_front() {
            None if self.stalls => Poll::Pending,
            piece => Poll::Ready(piece.map(Ok)),
        }
    }
}

/// A body that arrives at once, in one piece.
fn whole(body: Vec<u8>) -> Arriving {
    Arriving {
        pieces: VecDeque::from([Bytes::from(body)]),
        pause: None,
        stalls: false,
    }
}

fn unread(body: Arriving, declared: Option<usize>) -> UnreadBody {
    UnreadBody {
        payload: Payload::Stream {
            payload: Box::pin(body),
        },
        declared,
        is_gzip: false,
    }
}

async fn collected(mut body: UnreadBody, room: Room) -> Result<Body, ApiError> {
    body.collect(room).await
}

/// A body whose sender stalls after these bytes.
fn stalled(arrived: usize, declared: Option<usize>) -> UnreadBody {
    let arriving = Arriving {
        pieces: VecDeque::from([Bytes::from(vec![b' '; arrived])]),
        pause: None,
        stalls: true,
    };
    unread(arriving, declared)
}

/// A body of pieces of one kilobyte, one at a time.
fn paced(kilobytes: usize, pause: Duration) -> UnreadBody {
    let arriving = Arriving {
        pieces: vec![Bytes::from(vec![b' '; 1024]); kilobytes].into(),
        pause: Some((pause, Box::pin(tokio::time::sleep(pause)))),
        stalls: false,
    };
    unread(arriving, Some(kilobytes * 1024))
}

/// The room of a client.
fn room(memory: &Shared, client: usize) -> Room {
    Room {
        memory: memory.clone(),
        owner: Owner::Address(client.to_string()),
        inflaters: inflaters(),
    }
}

async fn collect(memory: &Shared, client: usize, body: Vec<u8>) -> Result<Body, ApiError> {
    let declared = Some(body.len());
    let payload = Payload::from(Bytes::from(body));
    let is_gzip = false;
    let body = UnreadBody {
        payload,
        declared,
        is_gzip,
    };
    collected(body, room(memory, client)).await
}

#[actix_web::test]
async fn an_owner_is_refused_at_its_share_and_another_one_is_not() {
    let memory = Shared::new(BODIES_BYTES_MAX);
    let mut bodies = Vec::new();
    let refused = loop {
        match collect(&memory, 1, vec![b' '; BODY_BYTES_MAX]).await {
            Ok(body) => bodies.push(body),
            Err(error) => break error,
        }
    };
    assert!(matches!(refused, ApiError::Overloaded));
    assert_eq!(bodies.len(), 8, "two thirds of twelve");
    for other in 2..4 {
        let body = collect(&memory, other, vec![b' '; BODY_BYTES_MAX]).await;
        bodies.push(body.expect("a body of the largest size has room"));
    }
    drop(bodies);
    let body = collect(&memory, 1, b"{}".to_vec()).await;
    assert_eq!(&*body.expect("the body fits again"), b"{}");
    assert_eq!(memory.held(), 0);
}

#[actix_web::test]
async fn what_is_announced_and_does_not_arrive_holds_nothing() {
    let memory = Shared::new(BODIES_BYTES_MAX);
    for declared in [16 * 1024, BODY_BYTES_MAX] {
        let mut idle: Vec<_> = (0..1_000)
            .map(|_| Box::pin(collected(stalled(0, Some(declared)), room(&memory, 1))))
            .collect();
        for body in &mut idle {
            let polled = poll_fn(|context| Poll::Ready(body.as_mut().poll(context))).await;
            assert!(polled.is_pending());
        }
        assert_eq!(memory.held(), 0);
        assert!(collect(&memory, 1, b"{}".to_vec()).await.is_ok());
    }
}

#[actix_web::test]
async fn bytes_are_held_from_their_arrival_to_the_end_of_their_body() {
    let memory = Shared::new(BODIES_BYTES_MAX);
    let mut body = Box::pin(collected(stalled(1_000, Some(BODY_BYTES_MAX)), room(&memory, 1)));
    let polled = poll_fn(|context| Poll::Ready(body.as_mut().poll(context))).await;
    assert!(polled.is_pending());
    assert_eq!(memory.held(), 1_000);
    drop(body);
    assert_eq!(memory.held(), 0);
    let pieces = collected(paced(100, Duration::ZERO), room(&memory, 1)).await;
    let pieces = pieces.expect("the body arrives");
    assert_eq!((pieces.len(), memory.held()), (100 * 1024, 100 * 1024));
}

#[actix_web::test]
async fn a_sender_that_stalls_is_given_up_whatever_the_size_of_its_body() {
    tokio::time::pause();
    let memory = Shared::new(BODIES_BYTES_MAX);
    for (arrived, seconds) in [(0, 5), (1, 5), (16 * 1024, 7), (BODY_BYTES_MAX - 1, 30)] {
        for declared in [Some(arrived + 1), None] {
            let started = Instant::now();
            let body = collected(stalled(arrived, declared), room(&memory, 1)).await;
            assert!(matches!(body, Err(ApiError::SlowBody)), "{arrived} {declared:?}");
            assert_eq!(started.elapsed().as_secs(), seconds, "{arrived} {declared:?}");
        }
    }
    assert_eq!(memory.held(), 0);
}

#[actix_web::test]
async fn a_body_has_a_minimum_rate_and_a_total_time() {
    tokio::time::pause();
    let memory = Shared::new(BODIES_BYTES_MAX);
    // 8 KiB a second, exactly the minimum.
    let steady = collected(paced(100, Duration::from_millis(125)), room(&memory, 1)).await;
    assert_eq!(steady.expect("fast enough").len(), 100 * 1024);
    let trickle = collected(paced(100, Duration::from_millis(250)), room(&memory, 1)).await;
    assert!(matches!(trickle, Err(ApiError::SlowBody)));
    // Faster than the minimum, but more than thirty seconds long.
    let long = collected(paced(1_000, Duration::from_millis(40)), room(&memory, 1)).await;
    assert!(matches!(long, Err(ApiError::SlowBody)));
}

#[actix_web::test]
async fn a_body_has_a_largest_size() {
    let memory = Shared::new(BODIES_BYTES_MAX);
    let large = collect(&memory, 1, vec![b' '; BODY_BYTES_MAX + 1]).await;
    assert!(matches!(large, Err(ApiError::PayloadTooLarge)));
    let mut undeclared = UnreadBody {
        payload: Payload::from(Bytes::from(vec![b' '; BODY_BYTES_MAX + 1])),
        declared: None,
        is_gzip: false,
    };
    let large = undeclared.collect(room(&memory, 1)).await;
    assert!(matches!(large, Err(ApiError::PayloadTooLarge)));
    let largest = collect(&memory, 1, vec![b' '; BODY_BYTES_MAX]).await;
    assert_eq!(largest.expect("the largest size").len(), BODY_BYTES_MAX);
    assert_eq!(memory.held(), 0);
}

#[actix_web::test]
async fn pieces_are_put_together() {
    let memory = Shared::new(BODIES_BYTES_MAX);
    for declared in [None, Some(4), Some(1), Some(1_000)] {
        let pieces = ["ab", "", "c", "d"].map(|piece| Bytes::from_static(piece.as_bytes()));
        let arriving = Arriving {
            pieces: pieces.into(),
            pause: None,
            stalls: false,
        };
        let body = unread(arriving, declared).collect(room(&memory, 1)).await;
        assert_eq!(&*body.expect("whole"), b"abcd", "{declared:?}");
    }
}

/// The text as gzip.
fn gzip(text: &[u8]) -> Vec<u8> {
    audit_web::gzip(text, flate2::Compression::best()).unwrap()
}

/// A body that arrives as gzip, in pieces of so many bytes.
async fn inflate(memory: &Shared, client: usize, body: &[u8], piece: usize) -> Result<Body, ApiError> {
    let pieces = body.chunks(piece).map(Bytes::copy_from_slice).collect();
    let arriving = Arriving {
        pieces,
        pause: None,
        stalls: false,
    };
    let mut body = UnreadBody {
        is_gzip: true,
        ..unread(arriving, Some(body.len()))
    };
    body.collect(room(memory, client)).await
}

#[actix_web::test]
async fn gzip_is_inflated_however_it_arrives() {
    let memory = Shared::new(BODIES_BYTES_MAX);
    let text: Vec<u8> = (0..100_000u32)
        .flat_map(|number| number.to_string().into_bytes())
        .collect();
    let mut members = gzip(&text[..1_000]);
    members.extend(gzip(&text[1_000..]));
    for body in [gzip(&text), members] {
        for piece in [1, 7, 16 * 1024, body.len()] {
            assert_eq!(*inflate(&memory, 1, &body, piece).await.unwrap(), *text);
        }
    }
    assert_eq!(*inflate(&memory, 1, &gzip(b""), 5).await.unwrap(), *b"");
    assert_eq!(memory.held(), 0);
}

#[actix_web::test]
async fn the_limit_of_a_body_is_one_of_its_inflated_bytes() {
    let memory = Shared::new(BODIES_BYTES_MAX);
    let inflated = inflate(&memory, 1, &gzip(&vec![b' '; BODY_BYTES_MAX]), 4096)
        .await
        .unwrap();
    assert_eq!(inflated.len(), BODY_BYTES_MAX);
    assert!(memory.held() >= BODY_BYTES_MAX, "{}", memory.held());
    drop(inflated);
    // A thousand times its size, a million times as members that follow each other.
    let bomb = gzip(&vec![b' '; 64 * BODY_BYTES_MAX]);
    assert!(bomb.len() < BODY_BYTES_MAX / 8);
    for body in [gzip(&vec![b' '; BODY_BYTES_MAX + 1]), bomb] {
        let refused = inflate(&memory, 1, &body, 16 * 1024).await;
        assert!(matches!(refused, Err(ApiError::PayloadTooLarge)), "{refused:?}");
    }
    assert_eq!(memory.held(), 0);
}

#[actix_web::test]
async fn gzip_that_is_none_or_incomplete_is_refused() {
    let memory = Shared::new(BODIES_BYTES_MAX);
    let whole = gzip(&[b'x'; 10_000]);
    let mut damaged = whole.clone();
    let checksum = damaged.len() - 6;
    damaged[checksum] ^= 1;
    let trailing = [&whole[..], b"{}"].concat();
    for body in [
        &whole[..whole.len() - 1],
        &whole[..20],
        &damaged,
        &trailing,
        b"{\"a\": 1}",
    ] {
        let refused = inflate(&memory, 1, body, 16).await;
        assert!(matches!(refused, Err(ApiError::BrokenGzip)), "{refused:?}");
    }
}

#[actix_web::test]
async fn inflated_bytes_count_as_their_owners() {
    let memory = Shared::new(BODIES_BYTES_MAX);
    let body = gzip(&vec![b' '; BODY_BYTES_MAX]);
    let mut held = Vec::new();
    let refused = loop {
        match inflate(&memory, 1, &body, 16 * 1024).await {
            Ok(body) => held.push(body),
            Err(error) => break error,
        }
    };
    assert!(matches!(refused, ApiError::Overloaded), "{refused:?}");
    assert!(held.len() < 12);
    assert!(inflate(&memory, 2, &body, 16 * 1024).await.is_ok());
}

#[actix_web::test]
async fn a_body_that_is_not_small_is_inflated_in_the_turn_of_its_owner() {
    let memory = Shared::new(BODIES_BYTES_MAX);
    let turns = inflaters();
    // Each by another owner, none of which is the one of the body.
    let mut taken = Vec::new();
    while let Ok(turn) = timeout(
        Duration::ZERO,
        turns.take(Sharer::Address(taken.len().to_string()), ()),
    )
    .await
    {
        taken.push(turn.unwrap());
    }
    let many_members = gzip(b"").repeat(1_000);
    for body in [gzip(&vec![b' '; BODY_BYTES_MAX]), many_members] {
        let room = Room {
            inflaters: Arc::clone(&turns),
            ..room(&memory, 9)
        };
        let mut body = UnreadBody {
            is_gzip: true,
            ..unread(whole(body), None)
        };
        let mut waiting = Box::pin(body.collect(room));
        assert!(timeout(Duration::ZERO, &mut waiting).await.is_err(), "it waits");
        assert_eq!(*inflate(&memory, 1, &gzip(b"{}"), 100).await.unwrap(), *b"{}");
        let freed = taken.pop();
        drop(freed);
        waiting.await.unwrap();
        taken.push(turns.take(Sharer::Address("again".to_owned()), ()).await.unwrap());
    }
}
