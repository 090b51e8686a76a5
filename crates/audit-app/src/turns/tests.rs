use super::*;
use crate::export::Exports;
use crate::feed::Feeds;
use std::future::Future;
use std::pin::pin;
use std::task::{Context, Poll, Waker};
use tokio::time::advance;

fn owner(organization: u8, key: u8) -> CredentialOwner {
    CredentialOwner {
        organization_id: OrganizationId::from_random([organization; 16]),
        member: Member::Key(KeyId::from_random([key; 16])),
    }
}

/// The outcome of a future that need not wait.
pub(crate) fn at_once<T>(future: impl Future<Output = T>) -> Option<T> {
    match pin!(future).poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(outcome) => Some(outcome),
        Poll::Pending => None,
    }
}

#[tokio::test(start_paused = true)]
async fn an_organization_alone_prepares_on_all_processors_and_leaves_turns_to_others() {
    let turns = ReaderTurns::new(8);
    let of = |organization: u8| {
        let organization_id = OrganizationId::from_random([organization; 16]);
        let project_id = ProjectId::from_random([1; 16]);
        let take = || at_once(turns.preparations.take(organization_id, project_id))?.ok();
        std::iter::from_fn(take).collect::<Vec<_>>()
    };
    let held = of(1);
    assert_eq!(held.len(), processors());
    assert!(!of(2).is_empty());
}

/// As many turns as the owner gets without waiting.
fn all_of(turns: &OwnedTurns, owner: &CredentialOwner) -> Vec<ReadTurn> {
    std::iter::from_fn(|| at_once(turns.take(owner))?.ok()).collect()
}

#[tokio::test(start_paused = true)]
async fn neither_an_organization_nor_one_of_its_keys_takes_all_reading_sessions() {
    let turns = ReaderTurns::new(8);
    let greedy = all_of(&turns.sessions, &owner(1, 1));
    assert_eq!(greedy.len(), 4);
    let colleague = all_of(&turns.sessions, &owner(1, 2));
    assert_eq!(colleague.len(), 2);
    assert!(!all_of(&turns.sessions, &owner(2, 3)).is_empty());
}

#[tokio::test(start_paused = true)]
async fn one_reader_of_the_feed_leaves_turns_to_others() {
    for connections in [1, 2, 8, 64] {
        let feeds = Feeds::new(connections);
        let held = all_of(&feeds.reads, &owner(1, 1));
        assert!(!held.is_empty());
        assert!(!all_of(&feeds.reads, &owner(2, 1)).is_empty(), "{connections}");
    }
}

/// One organization has all the queries that it can. A follower of another one and an export of a third need not wait.
#[tokio::test(start_paused = true)]
async fn the_feed_and_exports_of_others_read_beside_the_queries_of_an_organization() {
    let turns = ReaderTurns::new(8);
    let (feeds, exports) = (Feeds::new(8), Exports::default());
    let greedy = [1, 2, 3, 4].map(|key| all_of(&turns.sessions, &owner(1, key)));
    assert_eq!(greedy.iter().map(Vec::len).sum::<usize>(), 6);
    let (follower, exporter) = (owner(2, 1), owner(3, 1));
    let page = feeds.reads.take_with_session(&turns.sessions, &follower);
    let _page = at_once(page).expect("no wait").unwrap();
    let export = exports.reads.take_with_session(&turns.sessions, &exporter);
    let _export = at_once(export).expect("no wait").unwrap();
    assert_eq!(turns.sessions.0.held(), 8, "no more than there are sessions");
    assert!(at_once(turns.sessions.take(&owner(4, 1))).is_none());
}

/// A session that becomes free goes to the organization that holds the fewest, even if another one has waited longer.
#[tokio::test(start_paused = true)]
async fn a_follower_of_another_organization_gets_the_next_session_before_queries_that_wait_for_longer() {
    let turns = ReaderTurns::new(2);
    let feeds = Feeds::new(2);
    let (greedy, other) = (owner(1, 1), owner(2, 1));
    let first = turns.sessions.take(&greedy).await.unwrap();
    let third = turns.sessions.take(&owner(3, 1)).await.unwrap();
    let mut waiting = pin!(turns.sessions.take(&greedy));
    let mut follower = pin!(feeds.reads.take_with_session(&turns.sessions, &other));
    let mut context = Context::from_waker(Waker::noop());
    assert!(waiting.as_mut().poll(&mut context).is_pending());
    assert!(follower.as_mut().poll(&mut context).is_pending());
    drop(third);
    assert!(waiting.as_mut().poll(&mut context).is_pending());
    assert!(follower.as_mut().poll(&mut context).is_ready());
    drop(first);
}

#[tokio::test(start_paused = true)]
async fn look_ups_of_one_address_delay_neither_other_addresses_nor_known_credentials() {
    let turns = ReaderTurns::new(8);
    let of = |address: &str| at_once(turns.look_ups.take(address.to_owned(), ()));
    let held: Vec<_> = std::iter::from_fn(|| of("192.0.2.1")?.ok()).collect();
    assert_eq!(held.len(), 2);
    assert!(of("192.0.2.2").is_some());
    assert!(!all_of(&turns.sessions, &owner(1, 1)).is_empty());
}

#[tokio::test(start_paused = true)]
async fn a_wait_for_a_turn_has_a_bound() {
    let turns = ReaderTurns::new(8);
    let held = all_of(&turns.sessions, &owner(1, 1));
    let refused = turns.sessions.take(&owner(1, 1)).await.err();
    assert!(matches!(
        refused,
        Some(AppError::Unavailable(StoreError::Overloaded))
    ));
    drop(held);
    assert!(at_once(turns.sessions.take(&owner(1, 1))).is_some());
}

/// A client that disconnects must not free the turn of a query that still runs: it would begin the next one at once.
#[tokio::test(start_paused = true)]
async fn work_without_a_client_keeps_its_turn_until_it_ends_or_hangs() {
    let turns = ReaderTurns::new(1);
    let turn = turns.sessions.take(&owner(1, 1)).await.unwrap();
    let (end, ended) = std::sync::mpsc::channel::<()>();
    let hanging = turn.run(move || ended.recv().map_err(AppError::internal));
    assert!(at_once(hanging).is_none());
    assert_eq!(turns.sessions.0.held(), 1);
    // The task that ends the turn begins to wait.
    tokio::task::yield_now().await;
    advance(TURN_KEPT).await;
    tokio::task::yield_now().await;
    assert_eq!(turns.sessions.0.held(), 0);
    end.send(()).unwrap();
}
