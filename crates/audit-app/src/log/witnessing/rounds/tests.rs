use super::*;

/// Three witnesses, of which two are a quorum.
fn rounds() -> Rounds {
    Rounds::new(3, Box::new(|cosigners| cosigners.len() >= 2))
}

fn published(ledger: i64, size: u64) -> Published {
    Published {
        ledger_id: LedgerId(ledger),
        size,
        note: format!("log/{ledger}\n{size}\n"),
    }
}

/// The checkpoint that a witness is asked for.
fn asked(rounds: &mut Rounds, witness: usize, now: Instant) -> Arc<Published> {
    match rounds.take(witness, now) {
        Next::Ask(published) => published,
        Next::Wait(pause) => panic!("witness {witness} waits {pause:?}"),
    }
}

/// A witness is asked, and cosigns. Returns the size.
fn cosign(rounds: &mut Rounds, witness: usize, now: Instant) -> u64 {
    let published = asked(rounds, witness, now);
    let line = format!("— w{witness} {}\n", published.size);
    rounds.finish(witness, &published, Outcome::Cosigned(line), now);
    published.size
}

/// The stored checkpoints: ledger, size, number of cosignatures, quorum.
fn stored(rounds: &mut Rounds, now: Instant) -> Vec<(i64, u64, usize, bool)> {
    let described = |collected: Collected| {
        let Published { ledger_id, size, .. } = *collected.published;
        (ledger_id.0, size, collected.lines.len(), collected.has_quorum)
    };
    let mut stored: Vec<_> = rounds.take_unwritten(now).into_iter().map(described).collect();
    stored.sort_unstable();
    stored
}

#[test]
fn a_quorum_is_stored_at_once_and_later_cosignatures_a_second_after() {
    let (mut rounds, now) = (rounds(), Instant::now());
    rounds.submit(published(1, 10), now);
    assert_eq!(cosign(&mut rounds, 0, now), 10);
    assert_eq!(stored(&mut rounds, now), [], "one is no quorum");
    cosign(&mut rounds, 1, now);
    assert_eq!(stored(&mut rounds, now), [(1, 10, 2, true)]);
    let third = asked(&mut rounds, 2, now);
    assert_eq!(stored(&mut rounds, now + QUORUM_WAIT), []);
    rounds.finish(2, &third, Outcome::Cosigned("— w2 10\n".to_owned()), now);
    assert_eq!(
        stored(&mut rounds, now),
        [(1, 10, 3, true)],
        "the last one ends the round"
    );
    assert!(rounds.rounds.is_empty());
    assert_eq!(rounds.count_without_quorum(now + QUORUM_WAIT), 0);
}

#[test]
fn what_has_no_quorum_is_stored_after_a_second_and_counted() {
    let (mut rounds, now) = (rounds(), Instant::now());
    rounds.submit(published(1, 10), now);
    cosign(&mut rounds, 0, now);
    assert_eq!(rounds.count_without_quorum(now), 0);
    let later = now + QUORUM_WAIT;
    assert_eq!(rounds.count_without_quorum(later), 1);
    assert_eq!(stored(&mut rounds, later), [(1, 10, 1, false)]);
    assert_eq!(stored(&mut rounds, later), [], "once");
}

#[test]
fn all_witnesses_are_asked_for_one_checkpoint_while_the_log_grows() {
    let (mut rounds, now) = (rounds(), Instant::now());
    rounds.submit(published(1, 10), now);
    let first = asked(&mut rounds, 0, now);
    for size in 11..=20 {
        rounds.submit(published(1, size), now);
    }
    assert_eq!(cosign(&mut rounds, 1, now), 10);
    rounds.finish(0, &first, Outcome::Cosigned("— w0 10\n".to_owned()), now);
    // The quorum: the next round is of the latest checkpoint.
    assert_eq!(stored(&mut rounds, now), [(1, 10, 2, true)]);
    assert_eq!(
        [0, 1, 2].map(|witness| cosign(&mut rounds, witness, now)),
        [20; 3]
    );
    assert!(rounds.rounds.is_empty());
}

#[test]
fn a_witness_that_hangs_delays_neither_the_quorum_nor_other_logs() {
    let (mut rounds, now) = (rounds(), Instant::now());
    rounds.submit(published(1, 10), now);
    let hanging = asked(&mut rounds, 2, now);
    cosign(&mut rounds, 0, now);
    cosign(&mut rounds, 1, now);
    rounds.submit(published(1, 11), now);
    rounds.submit(published(2, 5), now);
    for witness in [0, 1] {
        let mut sizes = [
            cosign(&mut rounds, witness, now),
            cosign(&mut rounds, witness, now),
        ];
        sizes.sort_unstable();
        assert_eq!(sizes, [5, 11]);
    }
    assert_eq!(stored(&mut rounds, now), [(1, 11, 2, true), (2, 5, 2, true)]);
    // It is asked about another log meanwhile, and about this one again when it has responded.
    assert_eq!(cosign(&mut rounds, 2, now), 5);
    rounds.submit(published(1, 12), now);
    rounds.finish(2, &hanging, Outcome::Cosigned("— w2 10\n".to_owned()), now);
    assert_eq!(cosign(&mut rounds, 2, now), 12);
}

#[test]
fn a_witness_that_fails_is_asked_again_after_growing_pauses() {
    let (mut rounds, start) = (rounds(), Instant::now());
    let mut now = start;
    for log in 1..=3 {
        rounds.submit(published(log, 10), now);
    }
    let in_flight = [asked(&mut rounds, 0, now), asked(&mut rounds, 0, now)];
    for published in &in_flight {
        rounds.finish(0, published, Outcome::Failed, now);
    }
    for seconds in [1, 2, 4, 8, 16, 32, 60, 60] {
        let Next::Wait(Some(pause)) = rounds.take(0, now) else {
            panic!("a witness that failed is asked at once");
        };
        assert_eq!(pause, Duration::from_secs(seconds));
        now += pause;
        let published = asked(&mut rounds, 0, now);
        assert_eq!(rounds.take(0, now), Next::Wait(None), "one request at a time");
        rounds.finish(0, &published, Outcome::Failed, now);
    }
    now += RETRY_MAX;
    let left: Vec<u64> = (0..3).map(|_| cosign(&mut rounds, 0, now)).collect();
    assert_eq!(left, [10; 3], "all logs are still there");
}

#[test]
fn without_a_quorum_the_next_checkpoint_waits_only_for_witnesses_that_respond() {
    let (mut rounds, now) = (rounds(), Instant::now());
    rounds.submit(published(1, 10), now);
    for witness in [0, 1] {
        let published = asked(&mut rounds, witness, now);
        rounds.finish(witness, &published, Outcome::Failed, now);
    }
    rounds.submit(published(1, 11), now);
    assert_eq!(cosign(&mut rounds, 2, now), 10);
    assert_eq!(cosign(&mut rounds, 2, now), 11);
    let later = now + RETRY_MAX;
    assert_eq!(cosign(&mut rounds, 0, later), 11);
    assert_eq!(
        stored(&mut rounds, later),
        [(1, 11, 2, true)],
        "the cosignature of 11 with the one that was there"
    );
}

#[test]
fn a_log_that_is_refused_stays_counted_until_the_scan_finds_its_quorum() {
    let (mut rounds, now) = (rounds(), Instant::now());
    rounds.submit(published(1, 10), now);
    for witness in 0..3 {
        let published = asked(&mut rounds, witness, now);
        rounds.finish(witness, &published, Outcome::Refused, now);
    }
    assert!(rounds.rounds.is_empty(), "nobody is left to ask");
    let later = now + SETTLED;
    assert_eq!(rounds.count_without_quorum(later), 1);
    rounds.settle(None, None, &BTreeSet::from([LedgerId(1)]), later);
    rounds.settle(Some(LedgerId(1)), None, &BTreeSet::new(), later);
    rounds.settle(None, Some(LedgerId(0)), &BTreeSet::new(), later);
    assert_eq!(rounds.count_without_quorum(later), 1);
    rounds.settle(None, None, &BTreeSet::new(), later);
    assert_eq!(rounds.count_without_quorum(later), 0);
}

#[test]
fn a_checkpoint_that_another_node_has_overtaken_is_dropped() {
    let (mut rounds, now) = (rounds(), Instant::now());
    rounds.submit(published(1, 10), now);
    let published_10 = asked(&mut rounds, 0, now);
    rounds.finish(0, &published_10, Outcome::Outdated, now);
    assert_eq!(rounds.count_without_quorum(now + QUORUM_WAIT), 0);
    assert_eq!(rounds.take(1, now), Next::Wait(None));
    // Nor does a smaller checkpoint replace a larger one.
    rounds.submit(published(1, 12), now);
    rounds.submit(published(1, 11), now);
    assert_eq!(cosign(&mut rounds, 1, now), 12);
}

#[test]
fn the_number_of_logs_is_bounded() {
    let (mut rounds, now) = (rounds(), Instant::now());
    for log in 0..=LOGS_MAX as i64 {
        rounds.submit(published(log, 1), now);
    }
    assert_eq!(rounds.rounds.len(), LOGS_MAX);
    assert_eq!(rounds.count_without_quorum(now + QUORUM_WAIT), LOGS_MAX + 1);
}

#[test]
fn what_could_not_be_stored_is_kept_unless_there_is_more() {
    let (mut rounds, now) = (rounds(), Instant::now());
    rounds.submit(published(1, 10), now);
    cosign(&mut rounds, 0, now);
    cosign(&mut rounds, 1, now);
    let unwritten = rounds.take_unwritten(now);
    rounds.submit(published(1, 11), now);
    cosign(&mut rounds, 0, now);
    cosign(&mut rounds, 1, now);
    rounds.return_unwritten(unwritten);
    assert_eq!(stored(&mut rounds, now), [(1, 11, 2, true)]);
}
