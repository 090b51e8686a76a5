//! Erasures from the request to the last event, with processes that end in between.

use super::super::authorities::Authorities;
use super::super::taken::Taken;
use super::super::{LISTING_LEASE_SECONDS, list_erasure};
use super::{DAY, Fixture, HOUR, NEW, OLD};
use crate::erasure::{
    EMPTY_ERASURES_MAX, ErasureId, ErasureState, ErasureStatus, Identifiers, NewErasure, OPEN_ERASURES_MAX,
};
use crate::error::AppError;
use crate::lifecycle::WaitingFor;
use crate::service::Selection;
use audit_auth::MasterKey;
use audit_domain::{
    Basis, CancelReason, EventPart, Extent, Hold, KeyId, KeyScopes, LifecycleEvent, PageLimit,
};
use audit_store::{LoggedEvent, RemovalState};
use serde_json::json;

/// The positions of the events of the person, in the order of [`with_jane`].
const ACTED: u64 = (OLD + NEW) as u64;
const TARGET: u64 = ACTED + 1;
const TENANT: u64 = ACTED + 3;

/// A log with events that name Jane, and one that does not.
fn with_jane() -> Fixture {
    let fixture = Fixture::new();
    let event = |tenant: &str, actor: &str, target: &str| {
        json!({
            "action": "user.updated", "category": "mutation", "tenant_id": tenant,
            "actor": {"id": actor, "type": "user", "name": "Somebody"},
            "target": {"id": target, "type": "user"}, "metadata": {"why": "asked"},
        })
    };
    fixture.send(vec![
        event("t", "jane", "joe"),
        event("t", "joe", "jane"),
        event("t", "joe", "ann"),
        event("jane", "joe", "ann"),
    ]);
    fixture
}

fn of_id(id: &str) -> NewErasure {
    NewErasure {
        identifiers: Identifiers {
            ids: vec![id.to_owned()],
            texts: Vec::new(),
        },
        extent: Extent::Person,
        basis: Basis::Gdpr17,
        ticket: Some("DSR-1".to_owned()),
    }
}

impl Fixture {
    fn master(&self) -> (MasterKey, Selection) {
        let project = &self.scope.project.project;
        let master = MasterKey {
            key_id: KeyId::from_random([5; 16]),
            organization_id: project.organization_id,
            scopes: KeyScopes::ALL,
            client: None,
        };
        let selection = Selection {
            project_id: Some(project.id),
            environment: None,
        };
        (master, selection)
    }

    fn request(&self, id: &str) -> ErasureId {
        let (master, selection) = self.master();
        let status = self
            .service
            .request_erasure(&master, selection, of_id(id))
            .unwrap();
        assert_eq!(status.state, ErasureState::Listing);
        status.id.parse().unwrap()
    }

    fn status(&self, id: ErasureId) -> ErasureStatus {
        let (master, selection) = self.master();
        self.service.erasure(&master, selection, id).unwrap()
    }

    fn confirm(&self, id: ErasureId, digest: &str) -> Result<ErasureStatus, AppError> {
        let (master, selection) = self.master();
        self.service.confirm_erasure(&master, selection, id, digest)
    }

    fn cancel(&self, id: ErasureId) -> Result<ErasureStatus, AppError> {
        let (master, selection) = self.master();
        self.service.cancel_erasure(&master, selection, id)
    }

    /// An erasure of Jane that was confirmed.
    fn planned(&self) -> ErasureId {
        let id = self.request("jane");
        self.thread().round().unwrap();
        let digest = self.status(id).digest.unwrap();
        let status = self.confirm(id, &digest).unwrap();
        assert_eq!(status.state, ErasureState::Planned);
        id
    }

    fn event(&self, seq: u64) -> Option<LoggedEvent> {
        let ledger_id = self.scope.ledger_id;
        let found = self
            .service
            .store
            .query(|reader| reader.logged_events(ledger_id, seq, 1));
        found.unwrap().into_iter().find(|found| found.seq == seq)
    }

    /// The parts that are gone of an event, whose content hash is the one that it had.
    fn gone(&self, seq: u64) -> Vec<EventPart> {
        let event = self.event(seq).unwrap().event;
        assert_eq!(event.computed_hash(&self.scope.log()), Some(event.content_hash));
        let erased = event.content_salt.erased();
        erased.map_or_else(Vec::new, |erased| erased.proofs().hidden().collect())
    }

    fn place_hold(&self, actor_id: &str) {
        self.add(LifecycleEvent::HoldPlaced(Hold {
            hold: "hld_1".to_owned(),
            actor_id: vec![actor_id.to_owned()],
            ..Hold::default()
        }));
    }

    fn last(&self) -> LifecycleEvent {
        let lifecycle = self.service.lifecycle(&self.scope).unwrap();
        let (_, _, event) = lifecycle.fold.events().next_back().unwrap();
        event.clone()
    }
}

#[test]
fn an_erasure_is_listed_confirmed_and_after_the_grace_takes_the_person_alone() {
    let fixture = with_jane();
    let mut thread = fixture.thread();
    let id = fixture.request("jane");
    thread.round().unwrap();
    let listed = fixture.status(id);
    assert_eq!(listed.state, ErasureState::Listed);
    assert_eq!((listed.events, listed.rows, listed.held), (3, 1, 0));
    let (master, selection) = fixture.master();
    let page = fixture
        .service
        .erasure_events(&master, selection, id, None, PageLimit::new(2).unwrap());
    let page = page.unwrap();
    assert_eq!(
        page.events.iter().map(|event| event.seq).collect::<Vec<_>>(),
        [ACTED, TARGET]
    );
    assert_eq!(page.next, Some(TARGET));
    let rest = fixture
        .service
        .erasure_events(&master, selection, id, page.next, PageLimit::DEFAULT);
    let rest = rest.unwrap();
    assert!(
        rest.events[0].row && rest.events[0].parts.is_empty() && rest.next.is_none(),
        "{rest:?}"
    );

    let planned = fixture.confirm(id, &listed.digest.unwrap()).unwrap();
    fixture.pass(HOUR - 1);
    thread.round().unwrap();
    assert_eq!(fixture.status(id).state, ErasureState::Planned);
    assert!(fixture.gone(ACTED).is_empty());
    fixture.pass(2);
    thread.round().unwrap();
    let erased = fixture.status(id);
    assert!(
        matches!(erased.state, ErasureState::Cleaning | ErasureState::Done),
        "{erased:?}"
    );
    assert!(erased.erased_seq > planned.planned_seq && erased.planned_seq == planned.planned_seq);
    let acted = fixture.gone(ACTED);
    assert!(
        acted.contains(&EventPart::ActorId) && !acted.contains(&EventPart::TargetId),
        "{acted:?}"
    );
    let target = fixture.gone(TARGET);
    assert!(
        target.contains(&EventPart::TargetId) && !target.contains(&EventPart::ActorId),
        "{target:?}"
    );
    for seq in [ACTED, TARGET] {
        let text = fixture.event(seq).unwrap().event.canonical;
        assert!(!text.contains("jane") && text.contains("user.updated"), "{text}");
    }
    assert!(fixture.gone(TARGET + 1).is_empty() && fixture.event(TENANT).is_none());
    assert_eq!(fixture.alarms(), 0);
}

#[test]
fn an_erasure_that_finds_nothing_is_done_without_an_event() {
    let fixture = with_jane();
    let before = fixture.service.lifecycle(&fixture.scope).unwrap().lifecycle_seq;
    let id = fixture.request("nobody");
    fixture.thread().round().unwrap();
    let status = fixture.status(id);
    assert_eq!(
        (status.state, status.events, status.digest),
        (ErasureState::Done, 0, None)
    );
    let after = fixture.service.lifecycle(&fixture.scope).unwrap().lifecycle_seq;
    assert_eq!(after, before);
}

#[test]
fn a_held_event_is_not_listed_and_is_counted() {
    let fixture = with_jane();
    fixture.place_hold("jane");
    let id = fixture.request("jane");
    fixture.thread().round().unwrap();
    let status = fixture.status(id);
    assert_eq!((status.events, status.held), (2, 1));
}

#[test]
fn a_hold_that_is_placed_after_the_list_was_made_prevents_the_erasure() {
    let fixture = with_jane();
    let id = fixture.request("jane");
    let mut thread = fixture.thread();
    thread.round().unwrap();
    let digest = fixture.status(id).digest.unwrap();
    fixture.place_hold("somebody");
    let refused = fixture.confirm(id, &digest);
    assert!(matches!(refused, Err(AppError::Conflict(_))), "{refused:?}");
}

#[test]
fn an_erasure_tells_what_it_waits_for() {
    let fixture = with_jane();
    let mut thread = fixture.thread();
    thread.round().unwrap();
    let id = fixture.planned();
    assert_eq!(fixture.status(id).waiting_for, None);
    fixture.pass(365 * DAY);
    thread.round().unwrap();
    assert_eq!(fixture.status(id).waiting_for, Some(WaitingFor::Clock));
    fixture.cancel(id).unwrap();
    thread.round().unwrap();
    assert!(
        fixture
            .service
            .lifecycles
            .waiting_for((fixture.scope.ledger_id, Some(1)))
            .is_none()
    );
}

#[test]
fn a_hold_in_the_grace_cancels_the_erasure() {
    let fixture = with_jane();
    fixture.planned();
    fixture.place_hold("somebody");
    fixture.thread().round().unwrap();
    let reason = CancelReason::Hold;
    assert!(
        matches!(fixture.last(), LifecycleEvent::ErasureCancelled { reason: found, .. } if found == reason)
    );
    assert!(fixture.rows().is_empty() && fixture.gone(ACTED).is_empty());
}

#[test]
fn an_excluded_event_stays_and_the_list_has_another_digest() {
    let fixture = with_jane();
    let id = fixture.request("jane");
    let mut thread = fixture.thread();
    thread.round().unwrap();
    let before = fixture.status(id).digest.unwrap();
    let (master, selection) = fixture.master();
    let excluded =
        fixture
            .service
            .exclude_from_erasure(&master, selection, id, &[TARGET, TARGET + 1, TENANT]);
    let excluded = excluded.unwrap();
    assert_eq!(
        (excluded.state, excluded.events, excluded.rows),
        (ErasureState::Listed, 1, 0)
    );
    let refused = fixture.confirm(id, &before);
    assert!(matches!(refused, Err(AppError::Conflict(_))), "{refused:?}");
    fixture.confirm(id, &excluded.digest.unwrap()).unwrap();
    let refused = fixture
        .service
        .exclude_from_erasure(&master, selection, id, &[ACTED]);
    assert!(matches!(refused, Err(AppError::Conflict(_))), "{refused:?}");
    fixture.pass(2 * HOUR);
    thread.round().unwrap();
    assert!(!fixture.gone(ACTED).is_empty() && fixture.gone(TARGET).is_empty());
    assert!(fixture.event(TENANT).is_some());
    assert_eq!(fixture.alarms(), 0);
}

#[test]
fn a_list_that_was_shortened_since_its_row_was_read_is_not_taken_for_a_changed_one() {
    let fixture = with_jane();
    let id = fixture.request("jane");
    fixture.thread().round().unwrap();
    let mut row = fixture.rows().remove(0);
    // As another exclusion leaves it until the digest is noted.
    row.request.as_mut().unwrap().digest = None;
    let (master, selection) = fixture.master();
    fixture
        .service
        .exclude_from_erasure(&master, selection, id, &[TARGET])
        .unwrap();
    let (ledger_id, number, lease, now) = (row.ledger_id, row.number, [9; 16], fixture.service.clock.now());
    let project_id = fixture.scope.project.project.id;
    let is_leased: Result<bool, AppError> = fixture.service.store.write_for(project_id, move |writer| {
        Ok(writer.lease_removal(ledger_id, number, &lease, now, now.plus_seconds(HOUR))?)
    });
    assert!(is_leased.unwrap());
    let mut taken = Taken::new(&fixture.service, &fixture.scope, row, lease);
    list_erasure::decide(&mut taken).unwrap();
    assert_eq!(taken.row, fixture.rows().remove(0));
}

#[test]
fn an_erasure_is_cancelled_until_it_is_carried_out() {
    let fixture = with_jane();
    let mut thread = fixture.thread();
    let listing = fixture.request("jane");
    assert_eq!(fixture.cancel(listing).unwrap().state, ErasureState::Cancelled);
    let listed = fixture.request("jane");
    thread.round().unwrap();
    assert_eq!(fixture.status(listed).state, ErasureState::Listed);
    assert_eq!(fixture.cancel(listed).unwrap().state, ErasureState::Cancelled);
    let planned = fixture.planned();
    assert_eq!(fixture.cancel(planned).unwrap().state, ErasureState::Cancelled);
    let reason = CancelReason::Requested;
    assert!(
        matches!(fixture.last(), LifecycleEvent::ErasureCancelled { reason: found, .. } if found == reason)
    );
    // A client that has got no response repeats its request.
    let seq = fixture.service.lifecycle(&fixture.scope).unwrap().lifecycle_seq;
    assert_eq!(fixture.cancel(planned).unwrap().state, ErasureState::Cancelled);
    assert_eq!(
        fixture.service.lifecycle(&fixture.scope).unwrap().lifecycle_seq,
        seq
    );
    thread.round().unwrap();
    assert!(fixture.rows().is_empty(), "{:?}", fixture.rows());
    let erased = fixture.planned();
    fixture.pass(2 * HOUR);
    thread.round().unwrap();
    let refused = fixture.cancel(erased);
    assert!(matches!(refused, Err(AppError::Conflict(_))), "{refused:?}");
    assert_eq!(fixture.alarms(), 0);
}

#[test]
fn a_list_that_nobody_confirms_is_cancelled_after_a_month() {
    let fixture = with_jane();
    fixture.request("jane");
    fixture.thread().round().unwrap();
    fixture.pass(30 * DAY - 1);
    fixture.thread().round().unwrap();
    assert_eq!(fixture.states(), [RemovalState::Listed]);
    fixture.pass(1);
    fixture.thread().round().unwrap();
    assert!(fixture.rows().is_empty());
}

#[test]
fn a_list_of_a_process_that_ended_is_cancelled() {
    let fixture = with_jane();
    fixture.request("jane");
    let row = fixture.rows().remove(0);
    drop(fixture.service.removal_worker.listings.take(&row));
    fixture.pass(LISTING_LEASE_SECONDS - 1);
    fixture.thread().round().unwrap();
    assert_eq!(
        fixture.states(),
        [RemovalState::Collecting],
        "its lease has not expired"
    );
    fixture.pass(1);
    fixture.thread().round().unwrap();
    assert!(fixture.rows().is_empty());
}

#[test]
fn the_lease_of_a_list_is_renewed_while_other_removals_go_on() {
    let fixture = with_jane();
    fixture.request("jane");
    for _ in 0..2 {
        fixture.pass(LISTING_LEASE_SECONDS - 1);
        // As each step of another removal does.
        fixture.service.renew_listings().unwrap();
    }
    fixture.pass(LISTING_LEASE_SECONDS - 1);
    let (row, now) = (fixture.rows().remove(0), fixture.service.clock.now());
    let project_id = fixture.scope.project.project.id;
    let is_leased: Result<bool, AppError> = fixture.service.store.write_for(project_id, move |writer| {
        Ok(writer.lease_removal(row.ledger_id, row.number, &[9; 16], now, now.plus_seconds(HOUR))?)
    });
    assert!(!is_leased.unwrap(), "another node would cancel it");
}

#[test]
fn a_complete_list_is_confirmed_before_the_turn_that_completed_it_ends() {
    let fixture = with_jane();
    let id = fixture.request("jane");
    let row = fixture.rows().remove(0);
    let listing = fixture.service.removal_worker.listings.take(&row).unwrap();
    let lease = listing.lease;
    let mut taken = Taken::new(&fixture.service, &fixture.scope, row, lease);
    list_erasure::list(&mut taken, listing).unwrap();
    let digest = fixture.status(id).digest.unwrap();
    fixture.confirm(id, &digest).unwrap();
    assert_eq!(fixture.states(), [RemovalState::Planned]);
}

#[test]
fn a_list_that_was_completed_since_its_row_was_read_is_cancelled() {
    let fixture = with_jane();
    fixture.request("jane");
    let row = fixture.rows().remove(0);
    fixture.thread().round().unwrap();
    assert_eq!(fixture.states(), [RemovalState::Listed]);
    fixture.service.drop_list(&fixture.scope, &row).unwrap();
    assert_eq!(fixture.states(), [RemovalState::Cancelled]);
}

#[test]
fn a_list_that_is_cancelled_while_its_turn_begins_is_dropped_in_the_next_round() {
    let fixture = with_jane();
    let id = fixture.request("jane");
    let row = fixture.rows().remove(0);
    let listings = &fixture.service.removal_worker.listings;
    for is_there in [true, false] {
        let listing = listings.take(&row);
        fixture.cancel(id).unwrap();
        // The turn has begun with the row as it was, and has seen the list.
        if let Some(listing) = listing.filter(|_| is_there) {
            listings.put(
                fixture.scope.project.project.id,
                &row,
                listing,
                fixture.service.clock.now(),
            );
        }
        assert!(fixture.thread().carry_on(row.clone()).is_err());
    }
    fixture.thread().round().unwrap();
    assert!(fixture.rows().is_empty(), "{:?}", fixture.rows());
}

#[test]
fn a_row_that_was_set_back_does_not_have_the_records_of_its_erasure_deleted() {
    let fixture = with_jane();
    let id = fixture.request("jane");
    fixture.thread().round().unwrap();
    fixture.execute("CREATE TABLE listed AS SELECT * FROM removals");
    let digest = fixture.status(id).digest.unwrap();
    fixture.confirm(id, &digest).unwrap();
    let records = || {
        let ledger_id = fixture.scope.ledger_id;
        let found = fixture
            .service
            .store
            .read(|reader| reader.records_of(ledger_id, 1, 0, 8));
        found.unwrap().len()
    };
    let listed = records();
    for is_erased in [false, true] {
        if is_erased {
            fixture.execute("DELETE FROM removals; INSERT INTO removals SELECT * FROM planned");
            fixture.pass(2 * HOUR);
            fixture.thread().round().unwrap();
            assert!(fixture.status(id).erased_seq.is_some());
        } else {
            fixture.execute("CREATE TABLE planned AS SELECT * FROM removals");
        }
        fixture.execute("DELETE FROM removals; INSERT INTO removals SELECT * FROM listed");
        fixture.execute("UPDATE removals SET changed_at = 0");
        let alarms = fixture.alarms();
        fixture.thread().round().unwrap();
        assert!(fixture.alarms() > alarms, "{is_erased}");
        assert_eq!(records(), listed, "{is_erased}");
    }
}

#[test]
fn the_newest_erasures_that_have_found_nothing_are_kept() {
    let fixture = with_jane();
    let mut thread = fixture.thread();
    let ids: Vec<ErasureId> = (0..=EMPTY_ERASURES_MAX)
        .map(|_| {
            let id = fixture.request("nobody");
            thread.round().unwrap();
            id
        })
        .collect();
    assert_eq!(fixture.rows().len(), EMPTY_ERASURES_MAX);
    let (master, selection) = fixture.master();
    let found = |id: &ErasureId| fixture.service.erasure(&master, selection, *id).is_ok();
    assert_eq!(
        ids.iter().map(found).filter(|is_found| !is_found).count(),
        1,
        "the first one"
    );
    assert!(!found(&ids[0]));
}

#[test]
fn a_list_is_made_of_no_other_person_than_its_request_names() {
    let fixture = with_jane();
    fixture.request("jane");
    let row = fixture.rows().remove(0);
    let listings = &fixture.service.removal_worker.listings;
    let listing = listings.take(&row).unwrap();
    // Another node has cancelled it, and a request to another node then has its number.
    fixture.execute("DELETE FROM removals");
    let other = fixture.request("joe");
    let other_row = fixture.rows().remove(0);
    assert_eq!(other_row.number, row.number);
    drop(listings.take(&other_row));
    let project_id = fixture.scope.project.project.id;
    listings.put(project_id, &row, listing, fixture.service.clock.now());
    fixture.pass(LISTING_LEASE_SECONDS);
    fixture.thread().round().unwrap();
    assert!(
        fixture.rows().is_empty(),
        "{other:?} was listed: {:?}",
        fixture.rows()
    );
}

#[test]
fn an_erasure_goes_on_in_another_process_and_is_authorised_once() {
    let fixture = with_jane();
    fixture.planned();
    fixture.pass(2 * HOUR);
    let (mut one, mut other) = (fixture.thread(), fixture.thread());
    one.round().unwrap();
    other.round().unwrap();
    let lifecycle = fixture.service.lifecycle(&fixture.scope).unwrap();
    assert_eq!(lifecycle.fold.erasures().count(), 1);
    assert_eq!((fixture.gone(ACTED).is_empty(), fixture.alarms()), (false, 0));
}

#[test]
fn two_erasures_take_their_parts_of_one_event() {
    let fixture = with_jane();
    let mut thread = fixture.thread();
    let ids = ["jane", "joe"].map(|id| fixture.request(id));
    thread.round().unwrap();
    for id in ids {
        let digest = fixture.status(id).digest.unwrap();
        fixture.confirm(id, &digest).unwrap();
    }
    fixture.pass(2 * HOUR);
    for _ in 0..3 {
        thread.round().unwrap();
    }
    let gone = fixture.gone(ACTED);
    assert!(
        gone.contains(&EventPart::ActorId) && gone.contains(&EventPart::TargetId),
        "{gone:?}"
    );
    let event = fixture.event(ACTED).unwrap().event;
    assert_eq!(event.content_salt.erased().unwrap().erasures().len(), 2);
    assert_eq!(fixture.alarms(), 0);
}

#[test]
fn a_row_that_was_set_back_erases_nothing_again() {
    let fixture = with_jane();
    fixture.planned();
    fixture.execute("CREATE TABLE saved AS SELECT * FROM removals");
    fixture.pass(2 * HOUR);
    fixture.thread().round().unwrap();
    fixture.execute("DELETE FROM removals; INSERT INTO removals SELECT * FROM saved");
    fixture.thread().round().unwrap();
    assert_eq!(fixture.states(), [RemovalState::Planned]);
    assert_ne!(fixture.alarms(), 0);
}

#[test]
fn an_erasure_whose_row_was_deleted_stops_the_requests_of_the_log() {
    let fixture = with_jane();
    fixture.planned();
    fixture.execute("DELETE FROM removals");
    let (master, selection) = fixture.master();
    let refused = fixture.service.request_erasure(&master, selection, of_id("jane"));
    assert!(
        matches!(refused, Err(AppError::LogInconsistent(_))),
        "{refused:?}"
    );
}

#[test]
fn records_of_an_erasure_that_were_deleted_are_missed() {
    let verified = |fixture: &Fixture| {
        let mut known = Authorities::default();
        let verified = fixture.service.verify_authorities(&fixture.scope, &mut known);
        verified.map(|()| known)
    };
    for tampering in ["DELETE FROM removed_events", "DELETE FROM removals"] {
        let fixture = with_jane();
        fixture.request("nobody");
        fixture.planned();
        // Before it is carried out, nothing has gone.
        let planned = verified(&fixture).unwrap();
        fixture.pass(2 * HOUR);
        let mut thread = fixture.thread();
        for _ in 0..3 {
            thread.round().unwrap();
        }
        let lifecycle = fixture.service.lifecycle(&fixture.scope).unwrap();
        let (seq, ..) = lifecycle.fold.erasures().next().unwrap();
        assert!(!planned.is_erasure(seq));
        assert!(verified(&fixture).unwrap().is_erasure(seq));
        fixture.execute(tampering);
        let refused = verified(&fixture);
        assert!(
            matches!(refused, Err(AppError::LogInconsistent(_))),
            "{tampering}: {refused:?}"
        );
    }
}

#[test]
fn a_changed_event_is_not_erased() {
    for is_listed in [false, true] {
        let fixture = with_jane();
        let change = format!("UPDATE events SET content_salt = zeroblob(16) WHERE seq = {ACTED}");
        if is_listed {
            fixture.planned();
            fixture.execute(&change);
            fixture.pass(2 * HOUR);
        } else {
            fixture.request("jane");
            fixture.execute(&change);
        }
        let text = fixture.event(ACTED).unwrap().event.canonical;
        let mut thread = fixture.thread();
        for _ in 0..3 {
            thread.round().unwrap();
        }
        let expected: &[RemovalState] = match is_listed {
            true => &[RemovalState::Removing],
            false => &[],
        };
        assert_eq!(fixture.states(), expected);
        assert_eq!(fixture.event(ACTED).unwrap().event.canonical, text);
        assert_eq!(fixture.alarms(), 1);
    }
}

#[test]
fn a_changed_record_stops_the_erasure() {
    let fixture = with_jane();
    fixture.planned();
    fixture.execute("UPDATE removed_events SET records = substr(records, 1, 43)");
    fixture.pass(2 * HOUR);
    let mut thread = fixture.thread();
    for _ in 0..3 {
        thread.round().unwrap();
    }
    assert_eq!(fixture.states(), [RemovalState::Removing]);
    assert_eq!((fixture.gone(ACTED).is_empty(), fixture.alarms()), (true, 1));
}

#[test]
fn a_log_has_a_bounded_number_of_open_erasures() {
    let fixture = with_jane();
    for _ in 0..OPEN_ERASURES_MAX {
        fixture.request("jane");
    }
    let (master, selection) = fixture.master();
    let refused = fixture.service.request_erasure(&master, selection, of_id("jane"));
    assert!(matches!(refused, Err(AppError::Conflict(_))), "{refused:?}");
    let all = fixture.service.erasures(&master, selection).unwrap();
    assert_eq!(all.len(), OPEN_ERASURES_MAX);
    fixture.cancel(all[0].id.parse().unwrap()).unwrap();
    fixture.request("jane");
}
