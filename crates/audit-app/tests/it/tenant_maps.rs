//! The cost of the maps of tenants, in events that are read back.

use crate::signing::{create_with_key, open, open_with, record, store_batch, take_statements};
use audit_app::{AppError, AuditLog, Selection, Settings};
use audit_auth::{Credential, Readers};
use audit_domain::ProjectId;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// The events of a batch, which are of as many tenants.
const BATCH: usize = 100;

fn prove(service: &Arc<AuditLog>, key: &str) -> Result<String, AppError> {
    let credential = Credential::parse(key).expect("a credential");
    let presented = service.present::<Readers>(credential, None, None);
    let proof = presented.tenant_proof(Selection::default(), Some("tenant-0-0".to_owned()))?;
    Ok(proof.proof.map)
}

/// How often pages of events were read since the last call.
fn pages_read() -> usize {
    let of_events = |text: &String| text.contains("content_salt") && text.starts_with("SELECT");
    take_statements().iter().filter(|text| of_events(text)).count()
}

fn batches(service: &Arc<AuditLog>, project: ProjectId, numbers: std::ops::Range<usize>) {
    for number in numbers {
        store_batch(service, project, number, BATCH);
    }
}

/// Asserts that `log verify` finds nothing.
fn assert_sound(service: &Arc<AuditLog>) {
    let reports = service
        .verify_log(&audit_app::VerifyOptions::default(), &mut |_, _| {})
        .expect("a report");
    assert_eq!(
        reports.iter().map(|report| report.findings_count).sum::<u64>(),
        0,
        "{reports:?}"
    );
}

#[test]
fn the_background_makes_a_map_of_many_events_in_parts_and_reads_each_event_once() {
    let _turn = record();
    let folder = tempfile::tempdir().unwrap();
    let service = open(folder.path());
    let (project, key) = create_with_key(&service);
    // A part ends behind 2,000 tenants.
    batches(&service, project, 0..50);
    take_statements();
    let mut pages = Vec::new();
    for _ in 0..2 {
        let refused = prove(&service, &key).unwrap_err();
        assert!(matches!(refused, AppError::MapBehind(_)), "{refused:?}");
        assert_eq!(pages_read(), 0, "no request reads so many events");
        assert!(service.update_tenant_maps().unwrap());
        pages.push(pages_read());
    }
    // A request itself adds the last thousand.
    prove(&service, &key).unwrap();
    pages.push(pages_read());
    // 5,000 events in pages of 500, none of them twice.
    assert_eq!(pages, [4, 4, 2]);
    assert!(!service.update_tenant_maps().unwrap());
    assert_eq!(pages_read(), 0);
    service.close();
}

#[test]
fn maps_of_organizations_take_turns() {
    let _turn = record();
    let folder = tempfile::tempdir().unwrap();
    let service = open(folder.path());
    let (large, key_of_large) = create_with_key(&service);
    batches(&service, large, 0..80);
    prove(&service, &key_of_large).unwrap_err();
    assert!(service.update_tenant_maps().unwrap());
    let (small, key_of_small) = create_with_key(&service);
    batches(&service, small, 0..20);
    prove(&service, &key_of_small).unwrap_err();
    // The map of the small log is complete before that of the large one.
    service.update_tenant_maps().unwrap();
    prove(&service, &key_of_small).unwrap();
    prove(&service, &key_of_large).unwrap_err();
    while service.update_tenant_maps().unwrap() {}
    prove(&service, &key_of_large).unwrap();
    service.close();
}

#[test]
fn the_events_of_this_process_are_not_read_back() {
    let _turn = record();
    let folder = tempfile::tempdir().unwrap();
    let service = open(folder.path());
    let (project, key) = create_with_key(&service);
    batches(&service, project, 0..1);
    prove(&service, &key).unwrap();
    batches(&service, project, 1..10);
    take_statements();
    let map = prove(&service, &key).unwrap();
    assert_eq!(pages_read(), 0);
    // The same map as from the database.
    let root = |map: &str| map.lines().nth(2).map(str::to_owned);
    service.close();
    let service = open_with(folder.path(), "two", Settings::default());
    assert_sound(&service);
    assert_eq!(root(&prove(&service, &key).unwrap()), root(&map));
    service.close();
}

#[test]
fn a_map_that_grows_while_it_is_verified_is_not_a_finding() {
    let _turn = record();
    let folder = tempfile::tempdir().unwrap();
    let service = open(folder.path());
    let (project, key) = create_with_key(&service);
    batches(&service, project, 0..1);
    prove(&service, &key).unwrap();
    let is_grown = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let growing = scope.spawn(|| {
            for number in 1..60 {
                batches(&service, project, number..number + 1);
                prove(&service, &key).unwrap();
            }
            is_grown.store(true, Ordering::Release);
        });
        while !is_grown.load(Ordering::Acquire) && !growing.is_finished() {
            assert_sound(&service);
        }
    });
    service.close();
}
