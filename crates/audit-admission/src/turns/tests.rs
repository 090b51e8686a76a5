use super::*;
use proptest::prelude::*;
use std::future::Future;
use std::pin::{Pin, pin};
use std::task::{Context, Poll, Waker};

type Shared = Arc<Turns<u8, u8>>;
type Taking = Pin<Box<dyn Future<Output = Result<Turn<u8, u8>, Busy>>>>;

const OPTIONS: TurnsOptions = TurnsOptions {
    permits: 4,
    group_share: 4,
    member_share: 4,
    group_waiting_max: 8,
    member_waiting_max: 4,
    wait_max: Duration::from_secs(10),
};

fn one_at_a_time() -> Shared {
    Turns::new(TurnsOptions {
        permits: 1,
        ..OPTIONS
    })
}

/// Begins to take a permit; it is polled once.
fn begin(turns: &Shared, group: u8, member: u8) -> (Taking, Option<Turn<u8, u8>>) {
    let turns = Arc::clone(turns);
    let mut taking: Taking = Box::pin(async move { turns.take(group, member).await });
    let taken = polled(&mut taking).map(|taken| taken.expect("the queue is not full"));
    (taking, taken)
}

fn polled(taking: &mut Taking) -> Option<Result<Turn<u8, u8>, Busy>> {
    match pin!(taking).poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(taken) => Some(taken),
        Poll::Pending => None,
    }
}

fn taken(turns: &Shared, group: u8, member: u8) -> Turn<u8, u8> {
    begin(turns, group, member).1.expect("a permit is free")
}

/// Lets each holder end at once, and returns in which order those who wait come to their turn.
fn order(mut held: Vec<Turn<u8, u8>>, mut waiting: Vec<(u8, Taking)>) -> Vec<u8> {
    let mut order = Vec::new();
    while !waiting.is_empty() {
        held.remove(0);
        for index in (0..waiting.len()).rev() {
            if let Some(taken) = polled(&mut waiting[index].1) {
                held.push(taken.expect("nobody waits for long"));
                order.push(waiting.remove(index).0);
            }
        }
    }
    order
}

#[tokio::test]
async fn groups_take_turns_however_many_of_each_wait() {
    let turns = one_at_a_time();
    let held = vec![taken(&turns, 1, 1)];
    let wait = |group: u8| (group, begin(&turns, group, 1).0);
    let waiting = vec![wait(1), wait(1), wait(1), wait(2), wait(3), wait(3)];
    // The group that holds the permit waits for its next turn behind the others.
    assert_eq!(order(held, waiting), [2, 3, 1, 3, 1, 1]);
    assert_eq!(turns.held(), 0);
}

#[tokio::test]
async fn members_of_a_group_take_turns_in_the_turns_of_their_group() {
    let turns = one_at_a_time();
    let held = vec![taken(&turns, 9, 9)];
    let wait = |group: u8, member: u8| (10 * group + member, begin(&turns, group, member).0);
    let waiting = vec![wait(1, 1), wait(1, 1), wait(1, 2), wait(2, 1), wait(2, 1)];
    assert_eq!(order(held, waiting), [11, 21, 12, 21, 11]);
}

#[tokio::test]
async fn a_group_alone_gets_almost_all_and_leaves_permits_to_the_next() {
    let turns = Turns::new(TurnsOptions {
        permits: 8,
        group_share: 2,
        member_share: 2,
        ..OPTIONS
    });
    let mut held: Vec<_> = (0..6).map(|_| taken(&turns, 1, 1)).collect();
    let (mut seventh, refused) = begin(&turns, 1, 1);
    assert!(refused.is_none(), "seven would be more than twice what is free");
    held.push(taken(&turns, 2, 1));
    held.push(taken(&turns, 2, 1));
    assert!(polled(&mut seventh).is_none());
    // Two groups share.
    held.remove(0);
    assert!(polled(&mut seventh).is_none());
    let _other = taken(&turns, 3, 1);
}

#[tokio::test]
async fn a_member_has_a_share_of_its_group() {
    let turns = Turns::new(TurnsOptions {
        permits: 8,
        group_share: 8,
        member_share: 1,
        ..OPTIONS
    });
    let _held: Vec<_> = (0..4).map(|_| taken(&turns, 1, 1)).collect();
    let (mut fifth, refused) = begin(&turns, 1, 1);
    assert!(refused.is_none());
    // Another member of the group is not behind the one that is over its share.
    let _other = taken(&turns, 1, 2);
    assert!(polled(&mut fifth).is_none());
}

#[tokio::test]
async fn the_queues_of_a_member_and_of_a_group_are_bounded() {
    let turns = one_at_a_time();
    let _held = taken(&turns, 9, 9);
    let mut waiting: Vec<_> = (0..OPTIONS.member_waiting_max)
        .map(|_| begin(&turns, 1, 1).0)
        .collect();
    let is_refused = |group, member| {
        let mut future = Box::pin(turns.take(group, member));
        let poll = future.as_mut().poll(&mut Context::from_waker(Waker::noop()));
        matches!(poll, Poll::Ready(Err(Busy)))
    };
    assert!(is_refused(1, 1));
    for _ in OPTIONS.member_waiting_max..OPTIONS.group_waiting_max {
        waiting.push(begin(&turns, 1, 2).0);
    }
    assert!(is_refused(1, 3));
    assert!(!is_refused(2, 1), "another group has a queue of its own");
    assert_eq!(turns.waiting(), OPTIONS.group_waiting_max);
    // Whoever gives up makes room.
    waiting.pop();
    assert!(!is_refused(1, 3));
    drop(waiting);
    assert_eq!(turns.waiting(), 0);
}

#[tokio::test]
async fn a_permit_that_was_granted_to_somebody_who_left_goes_to_the_next() {
    let turns = one_at_a_time();
    let held = taken(&turns, 9, 9);
    let (first, _) = begin(&turns, 1, 1);
    let (mut second, _) = begin(&turns, 2, 1);
    // The permit is granted to the first, who never looks.
    drop(held);
    assert!(polled(&mut second).is_none());
    drop(first);
    assert!(polled(&mut second).is_some_and(|taken| taken.is_ok()));
    assert_eq!((turns.held(), turns.waiting()), (0, 0));
}

#[tokio::test(start_paused = true)]
async fn nobody_waits_for_longer_than_the_longest_wait() {
    let turns = one_at_a_time();
    let _held = taken(&turns, 1, 1);
    assert!(matches!(turns.take(2, 1).await, Err(Busy)));
    assert_eq!(turns.waiting(), 0);
}

#[derive(Clone, Debug)]
enum Step {
    Take(u8, u8),
    /// Ends the holder with this index, modulo their number.
    End(usize),
    Leave(usize),
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        (0..4_u8, 0..3_u8).prop_map(|(group, member)| Step::Take(group, member)),
        any::<usize>().prop_map(Step::End),
        any::<usize>().prop_map(Step::Leave),
    ]
}

proptest! {
    /// Counts fit at every step, nobody waits who could have a permit, and nothing is left in the end.
    #[test]
    fn permits_are_neither_lost_nor_made(steps in prop::collection::vec(step(), 1..200), share in 1..4_usize) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().expect("a runtime");
        let _entered = runtime.enter();
        let turns = Turns::new(TurnsOptions { group_share: share, member_share: share, ..OPTIONS });
        let (mut held, mut waiting) = (Vec::new(), Vec::<Taking>::new());
        for step in steps {
            match step {
                Step::Take(group, member) => {
                    let turns = Arc::clone(&turns);
                    waiting.push(Box::pin(async move { turns.take(group, member).await }));
                }
                Step::End(index) if !held.is_empty() => drop(held.swap_remove(index % held.len())),
                Step::Leave(index) if !waiting.is_empty() => drop(waiting.swap_remove(index % waiting.len())),
                _ => {}
            }
            for index in (0..waiting.len()).rev() {
                if let Some(taken) = polled(&mut waiting[index]) {
                    drop(waiting.swap_remove(index));
                    held.extend(taken.ok());
                }
            }
            prop_assert_eq!((turns.held(), turns.waiting()), (held.len(), waiting.len()));
            prop_assert!(held.len() <= OPTIONS.permits);
            prop_assert!(turns.state.lock().next(&turns.options).is_none(), "somebody waits in vain");
            prop_assert!(!held.is_empty() || waiting.is_empty());
        }
        drop((held, waiting));
        prop_assert_eq!((turns.held(), turns.waiting()), (0, 0));
        prop_assert!(turns.state.lock().groups.entries.is_empty());
    }
}
