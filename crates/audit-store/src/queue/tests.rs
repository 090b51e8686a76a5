//! Tests of the write queue.

use super::*;
use crate::append::request::{Destination, Origin};
use crate::configuration::ConfigurationVersion;
use crate::queue::turns::SHARE_OF_FREE;
use audit_domain::{Environment, OrganizationId, ProjectId};

fn append() -> WaitingAppend {
    append_to(LedgerId(1))
}

fn append_to(ledger_id: LedgerId) -> WaitingAppend {
    append_of(0, ledger_id)
}

/// A request of an organization.
fn append_of(organization: u8, ledger_id: LedgerId) -> WaitingAppend {
    let destination = Destination {
        ledger_id,
        project_id: ProjectId::from_random([0; 16]),
        organization_id: OrganizationId::from_random([organization; 16]),
        environment: Environment::Live,
        configuration_version: ConfigurationVersion(1),
        daily_events_max: None,
        is_archived: false,
        webhook_ids: std::sync::Arc::new([]),
    };
    WaitingAppend::new(AppendRequest {
        destination,
        events: Vec::new(),
        origin: Origin::Sent,
    })
    .0
}

/// Takes work as a writer that has released all its ledgers.
fn take(queue: &Queue) -> Option<Work> {
    queue.release(&(1..10).map(LedgerId).collect());
    queue.take()
}

#[test]
fn a_request_beyond_the_bounds_is_refused() {
    let queue = Queue::new(QueueLimits {
        jobs_max: 2,
        bytes_max: 1_000,
    });
    let of = |organization| queue.push_append(append_of(organization, LedgerId(1)));
    assert!(of(1).is_ok() && of(2).is_ok());
    assert!(matches!(of(3), Err(StoreError::Overloaded)));
    assert!(matches!(take(&queue), Some(Work::Append(commit)) if commit.len() == 2));
    assert!(queue.push_append(append()).is_ok());
    let large = WaitingAppend {
        bytes: 1_001,
        ..append()
    };
    assert!(matches!(queue.push_append(large), Err(StoreError::Overloaded)));
}

#[test]
fn one_request_is_taken_however_large_it_is() {
    let queue = Queue::new(QueueLimits {
        jobs_max: 2,
        bytes_max: 1_000,
    });
    assert!(
        queue
            .push_append(WaitingAppend {
                bytes: 1_001,
                ..append()
            })
            .is_ok()
    );
}

#[test]
fn a_commit_takes_later_requests_for_its_ledger_and_the_others_stay_in_order() {
    let queue = Queue::new(QueueLimits::default());
    for (ledger, rows) in [(1, 1), (2, 2), (1, 3), (3, 4), (1, COMMIT_ROWS_MAX), (1, 5)] {
        let waiting = WaitingAppend {
            rows,
            ..append_to(LedgerId(ledger))
        };
        assert!(queue.push_append(waiting).is_ok());
    }
    let rows = |commit: &[WaitingAppend]| commit.iter().map(|append| append.rows).collect::<Vec<_>>();
    let mut commit = vec![append()];
    queue.join(&mut commit, |ledger_id| ledger_id == LedgerId(1));
    assert_eq!(
        rows(&commit),
        [0, 1, 3],
        "the next request exceeds the size of a commit"
    );
    let Some(Work::Append(next)) = take(&queue) else {
        panic!("appends wait")
    };
    assert_eq!(rows(&next), [2, 4]);
    assert!(matches!(take(&queue), Some(Work::Append(next)) if rows(&next) == [COMMIT_ROWS_MAX]));
    assert!(matches!(take(&queue), Some(Work::Append(next)) if rows(&next) == [5]));
    assert_eq!(queue.depth(), 0);
}

#[test]
fn requests_for_an_owned_ledger_wait_for_its_writer() {
    let queue = Queue::new(QueueLimits::default());
    let push = |ledger| assert!(queue.push_append(append_to(LedgerId(ledger))).is_ok());
    let ledgers = |finished: &[i64]| {
        queue.release(&finished.iter().copied().map(LedgerId).collect());
        let work = queue.take();
        work.map(|work| work.ledgers().iter().map(|ledger| ledger.0).collect::<Vec<_>>())
    };
    push(1);
    assert_eq!(ledgers(&[]), Some(vec![1]));
    push(1);
    push(2);
    push(3);
    assert_eq!(ledgers(&[]), Some(vec![2, 3]), "by another writer");
    push(3);
    assert_eq!(ledgers(&[1]), Some(vec![1]));
    queue.close();
    assert_eq!(ledgers(&[1]), None, "the other writer takes the rest");
    assert_eq!(ledgers(&[2, 3]), Some(vec![3]));
    assert_eq!(ledgers(&[3]), None);
}

#[test]
fn transactions_and_appends_alternate() {
    let queue = Queue::new(QueueLimits::default());
    for _ in 0..2 {
        assert!(
            queue
                .push_transaction(Owner::Deployment, Box::new(|_| true))
                .is_ok()
        );
    }
    assert!(queue.push_append(append()).is_ok());
    assert!(matches!(take(&queue), Some(Work::Transaction(_))));
    assert!(matches!(take(&queue), Some(Work::Append(_))));
    assert!(matches!(take(&queue), Some(Work::Transaction(_))));
}

#[test]
fn a_closed_queue_is_emptied_and_refuses_work() {
    let queue = Queue::new(QueueLimits::default());
    assert!(queue.push_append(append()).is_ok());
    queue.close();
    assert!(matches!(queue.push_append(append()), Err(StoreError::Stopped)));
    assert!(matches!(take(&queue), Some(Work::Append(_))));
    assert!(take(&queue).is_none());
}

#[test]
fn a_request_is_withdrawn_unless_a_writer_has_taken_it() {
    let queue = Queue::new(QueueLimits {
        jobs_max: 15,
        bytes_max: 1_500,
    });
    let push = |ledger, bytes| {
        let waiting = WaitingAppend {
            bytes,
            ..append_to(LedgerId(ledger))
        };
        queue.push_append(waiting)
    };
    let taken = push(1, 10).unwrap();
    assert!(matches!(take(&queue), Some(Work::Append(_))));
    assert!(!queue.withdraw(taken), "a writer has it");
    let numbers = [
        push(2, 400).unwrap(),
        push(3, 300).unwrap(),
        push(4, 300).unwrap(),
    ];
    assert!(push(5, 1).is_err(), "the queue is full");
    assert!(queue.withdraw(numbers[1]));
    assert!(!queue.withdraw(numbers[1]), "it is gone");
    assert!(push(5, 300).is_ok(), "its bytes are free again");
    let Some(Work::Append(rest)) = take(&queue) else {
        panic!("appends wait")
    };
    let ledgers: Vec<_> = rest.iter().map(|append| append.ledger_id().0).collect();
    assert_eq!(ledgers, [2, 4, 5]);
}

#[test]
fn work_is_refused_while_another_attempt_to_connect_follows_a_failed_one() {
    let queue = Queue::new(QueueLimits::default());
    let fail = || Err::<(), _>(StoreError::Unreachable("no route".to_owned()));
    let during_first = queue.connect(|| queue.push_append(append()));
    assert!(during_first.is_ok(), "the first attempt may succeed");
    assert!(queue.connect(fail).is_err());
    assert!(queue.push_append(append()).is_ok(), "it causes the next attempt");
    let during_next = queue.connect(|| {
        let refused = queue.push_append(append()).map(drop);
        let refused_too = queue.push_transaction(Owner::Deployment, Box::new(|_| true));
        assert!(matches!(refused_too, Err(StoreError::Unreachable(_))));
        refused
    });
    assert!(matches!(during_next, Err(StoreError::Unreachable(_))));
    assert!(queue.connect(|| Ok(())).is_ok());
    assert!(queue.connect(|| queue.push_append(append())).is_ok());
}

#[test]
fn a_stalled_queue_refuses_work_until_a_writer_is_there() {
    let queue = Queue::new(QueueLimits::default());
    queue.set_stalled(true);
    assert!(matches!(
        queue.push_append(append()),
        Err(StoreError::Unreachable(_))
    ));
    queue.set_stalled(false);
    assert!(queue.push_append(append()).is_ok());
}

fn organizations(commit: &[WaitingAppend]) -> Vec<usize> {
    let of = |organization: u8| {
        let id = OrganizationId::from_random([organization; 16]);
        let is_own = |append: &&WaitingAppend| append.request.destination.organization_id == id;
        commit.iter().filter(is_own).count()
    };
    (1..4).map(of).collect()
}

#[test]
fn the_requests_of_one_organization_do_not_wait_behind_the_backlog_of_another() {
    let queue = Queue::new(QueueLimits::default());
    let push = |organization: u8, rows| {
        let waiting = WaitingAppend {
            rows,
            ..append_of(organization, LedgerId(i64::from(organization)))
        };
        assert!(queue.push_append(waiting).is_ok());
    };
    (0..1_000).for_each(|_| push(1, 100));
    (0..3).for_each(|_| push(2, 100));
    push(3, 1);
    let Some(Work::Append(commit)) = take(&queue) else {
        panic!("appends wait")
    };
    assert_eq!(organizations(&commit), [36, 3, 1], "a full commit has them all");
}

#[test]
fn organizations_that_always_send_have_equal_shares_whatever_the_size_of_their_requests() {
    let queue = Queue::new(QueueLimits::default());
    let push = |organization: u8, rows, bytes| {
        let waiting = WaitingAppend {
            rows,
            bytes,
            ..append_of(organization, LedgerId(i64::from(organization)))
        };
        assert!(queue.push_append(waiting).is_ok());
    };
    (0..3_000).for_each(|_| push(1, 1, 1_000));
    (0..40).for_each(|_| push(2, 100, 100_000));
    (0..400).for_each(|_| push(3, 10, 10_000));
    let mut bytes = [0; 3];
    for _ in 0..2 {
        let Some(Work::Append(commit)) = take(&queue) else {
            panic!("appends wait")
        };
        for append in &commit {
            let ledger = usize::try_from(append.ledger_id().0).unwrap();
            bytes[ledger - 1] += append.bytes;
        }
    }
    let (least, most) = (bytes.iter().min().unwrap(), bytes.iter().max().unwrap());
    assert!(most - least <= 300_000 && *least > 1_000_000, "{bytes:?}");
}

#[test]
fn requests_of_one_organization_stay_in_their_order_beside_those_of_others() {
    let queue = Queue::new(QueueLimits::default());
    for number in 0..500 {
        for organization in [1, 2] {
            let waiting = WaitingAppend {
                rows: 30,
                bytes: 100 * (number % 7),
                ..append_of(organization, LedgerId(i64::from(organization)))
            };
            assert!(queue.push_append(waiting).is_ok());
        }
    }
    let mut last = [None; 2];
    let mut taken = 0;
    while queue.depth() > 0 {
        let Some(Work::Append(commit)) = take(&queue) else {
            panic!("appends wait")
        };
        for append in &commit {
            let last = &mut last[usize::try_from(append.ledger_id().0).unwrap() - 1];
            assert!(*last < Some(append.number));
            *last = Some(append.number);
        }
        taken += commit.len();
    }
    assert_eq!(taken, 1_000);
}

#[test]
fn an_organization_fills_its_share_of_the_queue_and_others_still_have_room() {
    let queue = Queue::new(QueueLimits {
        jobs_max: 900,
        bytes_max: 9_000,
    });
    let flood = |organization: u8, bytes| {
        let push = || {
            let waiting = WaitingAppend {
                bytes,
                ..append_of(organization, LedgerId(1))
            };
            queue.push_append(waiting)
        };
        (0..).take_while(|_| push().is_ok()).count()
    };
    let alone = 900 * SHARE_OF_FREE / (SHARE_OF_FREE + 1);
    assert_eq!(flood(1, 1), alone, "requests");
    assert_eq!(flood(2, 9), 200, "two thirds of what is left");
    assert!(flood(3, 100) > 0);
    while queue.depth() > 0 {
        take(&queue);
    }
    assert_eq!(flood(1, 10), alone, "bytes");
    assert_eq!(flood(1, 10), 0, "it is refused, and no one else");
    // Each was larger than its body.
    let owner = |organization| append_of(organization, LedgerId(1)).owner();
    let has_room = |organization| queue.check_room(owner(organization), 0).is_ok();
    assert!(!has_room(1) && has_room(2), "before its events are prepared");
    assert!(flood(2, 1_000) > 0);
}

#[test]
fn the_transactions_of_owners_take_turns() {
    let queue = Queue::new(QueueLimits {
        jobs_max: 9,
        bytes_max: 1_000,
    });
    let (sender, ran) = std::sync::mpsc::channel();
    let push = |organization: u8| {
        let sender = sender.clone();
        let owner = Owner::Organization(OrganizationId::from_random([organization; 16]));
        let transaction: Transaction = Box::new(move |_| sender.send(organization).is_ok());
        queue.push_transaction(owner, transaction)
    };
    assert_eq!(
        (0..).take_while(|_| push(1).is_ok()).count(),
        6,
        "two thirds of the queue"
    );
    assert!(push(2).is_ok() && push(3).is_ok());
    while queue.depth() > 0 {
        let Some(Work::Transaction(transaction)) = queue.take() else {
            panic!("transactions wait")
        };
        transaction(Err(StoreError::Stopped));
    }
    assert_eq!(ran.try_iter().collect::<Vec<_>>(), [1, 2, 3, 1, 1, 1, 1, 1]);
}

/// However many clients send to streams, a transaction of the service waits for one of theirs at most.
#[test]
fn anonymous_streams_share_a_turn_that_is_not_that_of_the_service() {
    let queue = Queue::new(QueueLimits::default());
    let (sender, ran) = std::sync::mpsc::channel();
    let transaction = |name: &'static str| -> Transaction {
        let sender = sender.clone();
        Box::new(move |_| sender.send(name).is_ok())
    };
    for _ in 0..5 {
        let pushed = queue.push_transaction(AnonymousStreams, transaction("stream"));
        assert!(pushed.is_ok());
    }
    let pushed = queue.push_transaction(Owner::Deployment, transaction("service"));
    assert!(pushed.is_ok());
    for _ in 0..2 {
        let Some(Work::Transaction(transaction)) = queue.take() else {
            panic!("transactions wait")
        };
        transaction(Err(StoreError::Stopped));
    }
    assert_eq!(ran.try_iter().collect::<Vec<_>>(), ["stream", "service"]);
}
