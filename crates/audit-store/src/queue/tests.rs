//! Tests of the write queue.

use super::*;
use crate::append::{Destination, Origin};
use crate::configuration::ConfigurationVersion;
use audit_domain::{Environment, ProjectId};

fn append() -> WaitingAppend {
    append_to(LedgerId(1))
}

fn append_to(ledger_id: LedgerId) -> WaitingAppend {
    let destination = Destination {
        ledger_id,
        project_id: ProjectId::from_random([0; 16]),
        environment: Environment::Live,
        configuration_version: ConfigurationVersion(1),
        daily_events_max: None,
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
    assert!(queue.push_append(append()).is_ok() && queue.push_append(append()).is_ok());
    assert!(matches!(queue.push_append(append()), Err(StoreError::Overloaded)));
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
        assert!(queue.push_transaction(Box::new(|_| true)).is_ok());
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
        jobs_max: 10,
        bytes_max: 1_000,
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
        let refused_too = queue.push_transaction(Box::new(|_| true));
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
