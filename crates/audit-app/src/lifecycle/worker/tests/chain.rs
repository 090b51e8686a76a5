//! What is appended to the chain of lifecycle events can be read back.

use super::Fixture;
use crate::error::AppError;
use crate::self_audit::Requester;
use audit_domain::{CancelReason, Hold, LifecycleEvent};

#[test]
fn a_hold_on_many_forms_of_an_id_is_read_back_whole() {
    let fixture = Fixture::new();
    let hold = Hold {
        hold: "hld_1".to_owned(),
        actor_id: (0..100).map(|key| format!("sha256:{key:064}")).collect(),
        ..Hold::default()
    };
    fixture.add(LifecycleEvent::HoldPlaced(hold.clone()));
    let lifecycle = fixture.service.lifecycle(&fixture.scope).unwrap();
    let holds: Vec<&Hold> = lifecycle.fold.holds().map(|(_, hold)| hold).collect();
    assert_eq!(holds, [&hold]);
}

#[test]
fn an_event_that_contradicts_the_chain_is_not_appended() {
    let fixture = Fixture::new();
    fixture.set_policy();
    let expected = fixture.service.lifecycle(&fixture.scope).unwrap().lifecycle_seq;
    let reason = CancelReason::Requested;
    let event = LifecycleEvent::Cancelled { plan: 3, reason };
    let (service, scope) = (&fixture.service, &fixture.scope);
    let appended = service.append_lifecycle(scope, &Requester::Operator, expected, event, |_, _| Ok(()));
    assert!(matches!(appended, Err(AppError::Internal(_))), "{appended:?}");
    assert_eq!(service.lifecycle(scope).unwrap().lifecycle_seq, expected);
}
