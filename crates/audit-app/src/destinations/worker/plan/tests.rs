use super::super::planned::{Plan, PlannedCheckpoint, planned};
use super::*;
use crate::destinations::classes_of;
use audit_destinations::{OcsfOptions, RecordFormat};
use audit_ledger::StreamChain;

const NOW: Timestamp = Timestamp::from_seconds(1_768_473_000);
const RECORDS_MAX: u64 = 100;

/// Of the main run of a destination that has delivered ten records.
fn run() -> DestinationRunRow {
    DestinationRunRow {
        destination_id: "dst_1".to_owned(),
        number: 0,
        ledger_id: 1,
        cursor_seq: 20,
        end_seq: None,
        position: 10,
        chain: vec![1; 32],
        planned: Some("planned".to_owned()),
        batch_max: 8,
        state: "active".to_owned(),
        attempts: 0,
        next_attempt_at: 0,
        leased_until: 0,
        lease: None,
        set_aside_in_a_row: 0,
        checkpoint_at: NOW.plus_seconds(-10).as_micros(),
        checkpoint_position: 5,
        last_success_at: None,
        last_error: None,
        delivered: 10,
    }
}

fn in_state(state: &str) -> DestinationRunRow {
    DestinationRunRow {
        state: state.to_owned(),
        ..run()
    }
}

/// A run whose last attempt failed so many seconds ago.
fn failed(seconds: i64) -> DestinationRunRow {
    let at = NOW.plus_seconds(-seconds).to_string();
    DestinationRunRow {
        attempts: 3,
        last_error: Some(json!({"at": at}).to_string()),
        ..in_state("delayed")
    }
}

/// Four events that were received a minute ago.
fn batch() -> Batched {
    let received_at = NOW.plus_seconds(-60);
    Batched {
        records: 4,
        covered_position: None,
        end_seq: 30,
        chain: StreamChain::from_bytes([2; 32]),
        received: Some((received_at, received_at)),
        refused_end_seq: None,
        has_more: true,
    }
}

/// A checkpoint that covers everything, or only the events that were set aside up to this position.
fn checkpoint(covered_position: u64) -> Batched {
    Batched {
        records: 1,
        covered_position: Some(covered_position),
        end_seq: 20,
        received: None,
        ..batch()
    }
}

fn late(batch: Batched) -> Batched {
    let received_at = NOW.plus_seconds(-LATE_SECONDS - 1);
    Batched {
        received: Some((received_at, received_at)),
        ..batch
    }
}

fn facts() -> Circumstances {
    Circumstances {
        now: NOW,
        created_at: NOW.plus_seconds(-86_400),
        records_max: RECORDS_MAX,
        has_set_aside: false,
    }
}

fn step(run: &DestinationRunRow, batch: &Batched, verdict: &Verdict) -> Step {
    after(run, batch, verdict, &facts())
}

const RETRY: Verdict = Verdict::Retry { after: None };

/// The state after a verdict and its notices, for each state before it.
type Followed<'a> = [(&'a str, &'a [Notice]); 5];

/// The state after a verdict and its notices, for every state before it. Of the runs that have failed, one was late at that time.
#[test]
fn each_verdict_leads_from_each_state_to_one() {
    use Notice::{CredentialsRefused, Delayed, Recovered};
    let late = late(batch());
    let caught_up = Batched {
        has_more: false,
        ..late
    };
    let before = [
        in_state("active"),
        failed(60),
        failed(0),
        in_state("delayed"),
        in_state("credentials"),
    ];
    let expected: [(&str, Verdict, Batched, Followed<'_>); 7] = [
        (
            "delivered in time",
            Verdict::Delivered,
            batch(),
            [
                ("active", &[]),
                ("active", &[]),
                ("active", &[]),
                ("active", &[Recovered]),
                ("active", &[Recovered]),
            ],
        ),
        (
            "delivered late",
            Verdict::Delivered,
            late,
            [
                ("delayed", &[Delayed]),
                ("delayed", &[Delayed]),
                ("delayed", &[]),
                ("delayed", &[]),
                ("delayed", &[]),
            ],
        ),
        (
            "delivered late, the last",
            Verdict::Delivered,
            caught_up,
            [
                ("active", &[]),
                ("active", &[]),
                ("active", &[Recovered]),
                ("active", &[Recovered]),
                ("active", &[Recovered]),
            ],
        ),
        (
            "failed in time",
            RETRY,
            batch(),
            [
                ("delayed", &[]),
                ("delayed", &[]),
                ("delayed", &[]),
                ("delayed", &[]),
                ("credentials", &[]),
            ],
        ),
        (
            "failed late",
            RETRY,
            late,
            [
                ("delayed", &[Delayed]),
                ("delayed", &[Delayed]),
                ("delayed", &[]),
                ("delayed", &[]),
                ("credentials", &[]),
            ],
        ),
        (
            "refused credentials",
            Verdict::Credentials,
            batch(),
            [
                ("credentials", &[CredentialsRefused]),
                ("credentials", &[CredentialsRefused]),
                ("credentials", &[CredentialsRefused]),
                ("credentials", &[CredentialsRefused]),
                ("credentials", &[]),
            ],
        ),
        (
            "refused",
            Verdict::Refused,
            late,
            [
                ("active", &[]),
                ("active", &[]),
                ("delayed", &[]),
                ("delayed", &[]),
                ("credentials", &[]),
            ],
        ),
    ];
    for (name, verdict, batch, states) in expected {
        for (number, (run, (state, notices))) in before.iter().zip(states).enumerate() {
            let step = step(run, &batch, &verdict);
            let found = (step.run.state.as_str(), step.notices.as_slice());
            assert_eq!(found, (state, notices), "{name}, {number}");
        }
    }
}

#[test]
fn a_late_run_has_recovered_when_nothing_is_left() {
    for (before, notice) in [
        ("active", None),
        ("delayed", Some(Notice::Recovered)),
        ("credentials", None),
    ] {
        let mut run = in_state(before);
        assert_eq!(caught_up(&mut run), notice);
        assert_eq!(run.state == "active", before != "credentials");
    }
}

#[test]
fn a_replay_and_events_from_before_the_destination_are_never_late() {
    let replay = DestinationRunRow { number: 1, ..run() };
    assert_eq!(step(&replay, &late(batch()), &RETRY).notices, []);
    let new = Circumstances {
        created_at: NOW.plus_seconds(-LATE_SECONDS),
        ..facts()
    };
    assert_eq!(after(&run(), &late(batch()), &RETRY, &new).notices, []);
    let older = Circumstances {
        created_at: NOW.plus_seconds(-LATE_SECONDS - 1),
        ..facts()
    };
    assert_eq!(
        after(&run(), &late(batch()), &RETRY, &older).notices,
        [Notice::Delayed]
    );
}

#[test]
fn a_delivered_batch_moves_the_run_behind_it() {
    let failed = DestinationRunRow {
        set_aside_in_a_row: 2,
        ..failed(1)
    };
    let done = step(&failed, &batch(), &Verdict::Delivered);
    let expected = DestinationRunRow {
        cursor_seq: 30,
        position: 14,
        chain: vec![2; 32],
        planned: None,
        batch_max: 16,
        next_attempt_at: NOW.as_micros(),
        last_success_at: Some(NOW.as_micros()),
        delivered: 14,
        ..run()
    };
    assert!(done.run == expected && !done.is_set_aside, "{:?}", done.run);
    let full = DestinationRunRow {
        batch_max: 80,
        ..run()
    };
    assert_eq!(step(&full, &batch(), &Verdict::Delivered).run.batch_max, 100);
}

#[test]
fn a_checkpoint_has_a_position_and_covers_everything_before_it() {
    let before = DestinationRunRow {
        set_aside_in_a_row: 4,
        ..run()
    };
    let done = step(&before, &checkpoint(10), &Verdict::Delivered).run;
    assert_eq!(
        (done.position, done.checkpoint_position, done.delivered),
        (11, 11, 10)
    );
    assert_eq!((done.chain, done.checkpoint_at), (vec![2; 32], NOW.as_micros()));
    assert_eq!(
        (done.set_aside_in_a_row, done.batch_max),
        (4, 8),
        "it says nothing of events"
    );
    // Its note had no room for what was set aside after position 7. So the next one is due.
    let full = step(&before, &checkpoint(7), &Verdict::Delivered).run;
    assert_eq!((full.position, full.checkpoint_position), (11, 7));
    assert_eq!(full.checkpoint_at, before.checkpoint_at);
}

#[test]
fn a_checkpoint_that_is_refused_is_left_out() {
    let refused = step(&run(), &checkpoint(10), &Verdict::Refused);
    let expected = DestinationRunRow {
        planned: None,
        checkpoint_at: NOW.as_micros(),
        next_attempt_at: NOW.as_micros(),
        ..run()
    };
    assert!(
        refused.run == expected && !refused.is_set_aside,
        "{:?}",
        refused.run
    );
    assert!(!is_checkpoint_due(&refused.run, NOW.plus_seconds(299)));
    // It says nothing about how late the events are.
    let delivered = step(&in_state("delayed"), &checkpoint(10), &Verdict::Delivered);
    assert_eq!(delivered.run.state, "delayed");
}

#[test]
fn a_replay_ends_without_a_checkpoint_that_is_refused() {
    let replay = DestinationRunRow {
        number: 1,
        end_seq: Some(20),
        ..run()
    };
    assert!(is_finished(
        &step(&replay, &checkpoint(10), &Verdict::Refused).run
    ));
    let repeated = step(&replay, &checkpoint(10), &RETRY).run;
    assert!(!is_finished(&repeated));
}

#[test]
fn no_checkpoint_is_sent_before_the_events_of_a_refused_batch_are_passed() {
    let due = DestinationRunRow {
        checkpoint_at: 0,
        ..run()
    };
    let is_due = |run: &DestinationRunRow| is_checkpoint_due(run, NOW);
    let refused = step(&due, &batch(), &Verdict::Refused).run;
    assert!(planned(&refused).is_none(), "nothing is in flight");
    assert!(!is_due(&refused) && !is_at_end(&refused));
    // The half of it, up to seq 25, is delivered, and refused.
    let half = Batched {
        records: 2,
        end_seq: 25,
        refused_end_seq: Some(30),
        ..batch()
    };
    assert!(!is_due(&step(&refused, &half, &Verdict::Refused).run));
    let delivered = step(&refused, &half, &Verdict::Delivered).run;
    assert!(
        !is_due(&delivered),
        "the receiver may have the event that follows"
    );
    let rest = Batched { end_seq: 30, ..half };
    let passed = step(&delivered, &rest, &Verdict::Delivered).run;
    assert!(is_due(&passed) && passed.planned.is_none());
}

#[test]
fn a_refused_batch_is_halved_down_to_the_event_that_is_set_aside() {
    let mut batch = Batched {
        records: 7,
        ..batch()
    };
    let mut run = run();
    for half in [4, 2, 1] {
        let halved = step(&run, &batch, &Verdict::Refused);
        assert!(!halved.is_set_aside && halved.notices.is_empty());
        let expected = DestinationRunRow {
            planned: Some(r#"{"refused_end_seq":30}"#.to_owned()),
            batch_max: half,
            next_attempt_at: NOW.as_micros(),
            ..run
        };
        assert!(halved.run == expected, "{:?}", halved.run);
        run = halved.run;
        batch.records = half.cast_unsigned();
    }
    let alone = step(&run, &batch, &Verdict::Refused);
    assert!(alone.is_set_aside);
    assert_eq!(alone.notices, [Notice::EventSetAside]);
    let after = alone.run;
    assert_eq!((after.cursor_seq, after.position, after.delivered), (30, 11, 10));
    assert_eq!(
        (after.chain.as_slice(), after.set_aside_in_a_row),
        ([2; 32].as_slice(), 1)
    );
    assert_eq!((after.last_success_at, after.batch_max), (None, 1));
}

#[test]
fn ten_events_in_a_row_that_are_set_aside_park_the_run() {
    let one = Batched {
        records: 1,
        ..batch()
    };
    for (in_a_row, state, notices) in [
        (8, "active", &[Notice::EventSetAside][..]),
        (9, "parked", &[Notice::EventSetAside, Notice::Parked]),
    ] {
        let run = DestinationRunRow {
            set_aside_in_a_row: in_a_row,
            ..run()
        };
        let step = step(&run, &one, &Verdict::Refused);
        assert_eq!(
            (step.run.state.as_str(), step.notices.as_slice()),
            (state, notices)
        );
    }
}

#[test]
fn one_notice_stands_for_what_is_set_aside_between_two_checkpoints() {
    let one = Batched {
        records: 1,
        ..batch()
    };
    let again = Circumstances {
        has_set_aside: true,
        ..facts()
    };
    let step = after(&run(), &one, &Verdict::Refused, &again);
    assert!(step.is_set_aside && step.notices.is_empty());
}

#[test]
fn a_failure_is_repeated_for_ever_with_the_same_batch() {
    let delay = |attempts: i64, after: Option<RetryAfter>| {
        let run = DestinationRunRow { attempts, ..run() };
        // An event that is late already: otherwise an attempt would come in time for the notice.
        let step = step(&run, &late(batch()), &Verdict::Retry { after });
        let kept = (
            step.run.planned.as_deref(),
            step.run.cursor_seq,
            step.run.attempts,
        );
        assert_eq!(kept, (Some("planned"), 20, attempts + 1));
        (step.run.next_attempt_at - NOW.as_micros()) / Timestamp::MICROS_PER_SECOND
    };
    for (attempts, seconds) in [
        (0, 1),
        (1, 2),
        (2, 4),
        (7, 128),
        (8, 256),
        (9, 300),
        (10, 300),
        (1 << 40, 300),
    ] {
        assert_eq!(delay(attempts, None), seconds, "{attempts}");
    }
    for (asked, seconds) in [
        (RetryAfter::Seconds(1), 4),
        (RetryAfter::Seconds(600), 600),
        (RetryAfter::Seconds(3_601), 3_600),
        (RetryAfter::Seconds(u64::MAX), 3_600),
        (RetryAfter::At(NOW.plus_seconds(90)), 90),
        (RetryAfter::At(NOW.plus_seconds(-90)), 4),
    ] {
        assert_eq!(delay(2, Some(asked)), seconds, "{asked:?}");
    }
    let refused = step(&run(), &batch(), &Verdict::Credentials).run;
    assert_eq!(refused.next_attempt_at, NOW.plus_seconds(300).as_micros());
    assert_eq!(
        (refused.planned.as_deref(), refused.attempts),
        (Some("planned"), 1)
    );
}

#[test]
fn the_notice_of_a_late_run_waits_for_no_retry_after() {
    let asked = Verdict::Retry {
        after: Some(RetryAfter::Seconds(3_600)),
    };
    // Its event was received 60 s ago, and is late after 300 s.
    let delayed = step(&run(), &batch(), &asked);
    assert_eq!(delayed.notices, []);
    assert_eq!(delayed.run.next_attempt_at, NOW.plus_seconds(241).as_micros());
    let then = Circumstances {
        now: NOW.plus_seconds(241),
        ..facts()
    };
    let late = after(&delayed.run, &batch(), &asked, &then);
    let hour_later = then.now.plus_seconds(3_600).as_micros();
    assert_eq!(
        (late.notices.as_slice(), late.run.next_attempt_at),
        (&[Notice::Delayed][..], hour_later)
    );
    let replay = DestinationRunRow { number: 1, ..run() };
    let unhurried = step(&replay, &batch(), &asked).run;
    assert_eq!(unhurried.next_attempt_at, NOW.plus_seconds(3_600).as_micros());
}

#[test]
fn an_error_of_the_service_delays_a_run_as_a_failed_attempt_does() {
    let failed = after_error(&run(), late(batch()).received, &facts());
    assert_eq!(
        (failed.run.state.as_str(), failed.run.attempts, failed.notices),
        ("delayed", 1, vec![Notice::Delayed])
    );
    assert_eq!(failed.run.next_attempt_at, NOW.plus_seconds(1).as_micros());
    // Nothing is left to deliver, and no batch has failed.
    let mut unknown = after_error(&run(), None, &facts()).run;
    assert_eq!(caught_up(&mut unknown), None);
    assert_eq!((unknown.state.as_str(), unknown.attempts), ("active", 0));
}

#[test]
fn a_failure_of_a_replaced_configuration_decides_nothing_for_the_present_one() {
    let kept = DestinationRunRow {
        last_error: Some("before".to_owned()),
        ..run()
    };
    let mut refused = step(&kept, &batch(), &Verdict::Credentials);
    let now = NOW.plus_seconds(5);
    let run_after = superseded(&kept, refused.run, &mut refused.notices, now);
    let expected = DestinationRunRow {
        next_attempt_at: now.as_micros(),
        ..kept.clone()
    };
    assert!(
        run_after == expected && refused.notices.is_empty(),
        "{run_after:?}"
    );
    let after_nine = DestinationRunRow {
        set_aside_in_a_row: 9,
        ..kept
    };
    let one = Batched {
        records: 1,
        ..batch()
    };
    let mut parked = step(&after_nine, &one, &Verdict::Refused);
    let run_after = superseded(&after_nine, parked.run, &mut parked.notices, now);
    assert_eq!(
        (
            run_after.state.as_str(),
            run_after.set_aside_in_a_row,
            run_after.position
        ),
        ("active", 0, 11)
    );
    assert_eq!(parked.notices, [Notice::EventSetAside]);
}

#[test]
fn a_checkpoint_is_due_after_five_minutes_and_at_the_end_of_a_replay() {
    let at = |seconds: i64| DestinationRunRow {
        checkpoint_at: NOW.plus_seconds(seconds).as_micros(),
        ..run()
    };
    assert!(!is_checkpoint_due(&at(-299), NOW) && is_checkpoint_due(&at(-300), NOW));
    assert!(
        !is_checkpoint_due(&at(300), NOW) && is_checkpoint_due(&at(301), NOW),
        "the clock was set back"
    );
    let ended = DestinationRunRow {
        number: 1,
        end_seq: Some(20),
        planned: None,
        last_success_at: Some(NOW.as_micros()),
        ..run()
    };
    assert!(is_checkpoint_due(&ended, NOW) && is_at_end(&ended) && !is_finished(&ended));
    let unsigned = DestinationRunRow {
        checkpoint_at: NOW.as_micros(),
        last_success_at: Some(NOW.as_micros() - 1),
        ..ended.clone()
    };
    assert!(
        !is_checkpoint_due(&unsigned, NOW),
        "the log could not be signed a moment ago"
    );
    let covered = DestinationRunRow {
        checkpoint_position: 10,
        ..ended
    };
    assert!(is_finished(&covered) && !is_checkpoint_due(&covered, NOW));
    assert!(!is_finished(&DestinationRunRow {
        end_seq: Some(21),
        ..covered
    }));
}

#[test]
fn a_plan_is_read_back_as_it_was_written() {
    let plan = Plan {
        end_seq: 1 << 40,
        records: 7,
        filter: json!({"actions": ["user.*"]}),
        format: RecordFormat::Ocsf,
        ocsf: OcsfOptions {
            include_raw: true,
            classes: classes_of(json!([{"action": "a.*", "class_uid": 3004, "activity_id": 1}])).unwrap(),
        },
        at: NOW,
        checkpoint: None,
        settings: None,
        refused_end_seq: None,
    };
    let with_checkpoint = Plan {
        checkpoint: Some(PlannedCheckpoint {
            note: "a\nb\n".to_owned(),
            log_checkpoint: "c\n".to_owned(),
            covered_position: 3,
        }),
        settings: Some("ab".to_owned()),
        refused_end_seq: Some(9),
        ..plan.clone()
    };
    for plan in [plan, with_checkpoint] {
        assert_eq!(Plan::parse(&plan.to_text()), Some(plan));
    }
    for other in [
        "",
        "{}",
        "[]",
        r#"{"end_seq":1,"records":1,"format":"xml","include_raw":true,"at":1,"filter":{}}"#,
    ] {
        assert_eq!(Plan::parse(other), None, "{other}");
    }
}
