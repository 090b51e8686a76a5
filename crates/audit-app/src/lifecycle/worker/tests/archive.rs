//! A policy that lets events go once an archive has them.

use super::{Fixture, HOUR, NEW, OLD};
use crate::lifecycle::WaitingFor;
use audit_domain::{Archived, LifecycleEvent, RetentionPolicy, Sha256Digest};
use audit_store::RemovalState;

const DIGEST: Sha256Digest = Sha256Digest::from_bytes([7; 32]);

#[test]
fn a_plan_waits_until_the_log_names_an_archive_that_has_its_events() {
    let fixture = Fixture::new();
    fixture.add(LifecycleEvent::RetentionChanged(RetentionPolicy {
        days: Some(100),
        archive: true,
        ..RetentionPolicy::default()
    }));
    let mut thread = fixture.thread();
    thread.round().unwrap();
    fixture.pass(HOUR + 1);
    let old = OLD as u64;
    let archived = |end_seq, manifest| LifecycleEvent::Archived(Archived { end_seq, manifest });
    for recorded in [None, Some(archived(old - 1, DIGEST))] {
        recorded.into_iter().for_each(|event| fixture.add(event));
        thread.round().unwrap();
        assert_eq!(fixture.waits_for(), Some(WaitingFor::Archive));
        assert_eq!(fixture.states(), [RemovalState::Planned]);
        assert_eq!(fixture.events(), OLD + NEW);
    }
    fixture.add(archived(old, DIGEST));
    // The removal does not name an archive that was recorded later and ends before the plan.
    fixture.add(archived(old - 1, Sha256Digest::from_bytes([8; 32])));
    thread.round().unwrap();
    assert_eq!((fixture.events(), fixture.alarms()), (NEW, 0));
    let lifecycle = fixture.service.lifecycle(&fixture.scope).unwrap();
    let removed: Vec<_> = lifecycle.fold.removals().collect();
    assert_eq!(removed[0].2.archive, Some(DIGEST));
}
