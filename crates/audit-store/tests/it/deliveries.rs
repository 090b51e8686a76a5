//! The queue of deliveries: what is ready, taken, put aside, asked for, and removed.

use crate::{NOW, create_project, open};
use audit_domain::{OrganizationId, Plan, ProjectId, Timestamp};
use audit_store::{
    AfterAttempt, AttemptRow, Configurator, DELIVERY_PENDING, DeliveryRow, LeasedDelivery, Store, StoreError,
    WebhookRow,
};
use std::path::Path;

const LEASE: [u8; 16] = [1; 16];

/// A store with a project.
struct Place {
    store: Store,
    project_id: ProjectId,
    _folder: tempfile::TempDir,
}

impl Place {
    fn new() -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let store = open(Path::new(folder.path()));
        let project_id = create_project(&store, 1).project_id;
        Self {
            store,
            project_id,
            _folder: folder,
        }
    }

    fn write<T: Send + 'static>(
        &self,
        work: impl FnOnce(&mut Configurator<'_>) -> Result<T, StoreError> + Send + 'static,
    ) -> T {
        self.store.configure(work).expect("it is written")
    }

    fn version(&self) -> i64 {
        self.store
            .read(|rows| rows.configuration_version())
            .expect("a version")
    }

    fn row(&self, id: &str) -> WebhookRow {
        WebhookRow {
            id: id.to_owned(),
            project_id: self.project_id.to_string(),
            url: "https://a.example/".to_owned(),
            enabled: true,
            created_at: 0,
        }
    }

    fn add_webhook(&self, id: &str) -> WebhookRow {
        let row = self.row(id);
        let added = row.clone();
        self.write(move |rows| rows.insert_webhook(&added, b"secret"));
        row
    }

    fn enable(&self, webhook: &WebhookRow, enabled: bool) {
        let (before, after) = (
            WebhookRow {
                enabled: !enabled,
                ..webhook.clone()
            },
            WebhookRow {
                enabled,
                ..webhook.clone()
            },
        );
        self.write(move |rows| rows.update_webhook(&before, &after));
    }

    /// Adds deliveries of the schedule, due at once.
    fn add(&self, webhook_id: &str, numbers: std::ops::Range<u16>) {
        let rows: Vec<DeliveryRow> = numbers.map(|number| delivery(webhook_id, number)).collect();
        self.write(move |tables| rows.iter().try_for_each(|row| tables.insert_delivery(row)));
    }

    /// Ids of the webhooks that have something ready, and whether they are in use.
    fn ready(&self) -> Vec<(String, bool)> {
        let ready = self.store.read(|rows| rows.ready_webhooks()).expect("the queue");
        let mut ready: Vec<_> = ready
            .into_iter()
            .map(|ready| (ready.webhook_id, ready.is_in_use))
            .collect();
        ready.sort();
        ready
    }

    fn lease(&self, webhook_id: &'static str, now: Timestamp, limit: usize) -> Vec<LeasedDelivery> {
        let until = now.plus_seconds(30);
        self.write(move |rows| rows.lease_deliveries(webhook_id, now, until, &LEASE, limit))
    }

    fn wake(&self, now: Timestamp) -> usize {
        self.write(move |rows| rows.make_due_deliveries_ready(now, 500))
    }

    fn logged(&self, webhook_id: &str) -> Vec<DeliveryRow> {
        let read = self
            .store
            .read(|rows| rows.deliveries(webhook_id, None, None, 10_000));
        read.expect("the log")
    }
}

fn id(webhook_id: &str, number: u16) -> Vec<u8> {
    let mut id = vec![0; 16];
    id[..2].copy_from_slice(&number.to_be_bytes());
    id[8..8 + webhook_id.len()].copy_from_slice(webhook_id.as_bytes());
    id
}

fn delivery(webhook_id: &str, number: u16) -> DeliveryRow {
    DeliveryRow {
        is_retried: true,
        ..DeliveryRow::single(id(webhook_id, number), webhook_id.to_owned(), "webhook.test", NOW)
    }
}

fn attempt_of(leased: &LeasedDelivery) -> AttemptRow {
    AttemptRow {
        delivery_id: leased.delivery.id.clone(),
        number: leased.delivery.attempts + 1,
        started_at: 0,
        duration_ms: 0,
        status_code: Some(500),
        failure: None,
    }
}

fn due_again(at: Timestamp) -> AfterAttempt {
    AfterAttempt {
        status: DELIVERY_PENDING.to_owned(),
        scheduled_attempts: 1,
        is_retried: true,
        due_at: Some(at),
        scheduled_at: None,
        finished_at: None,
    }
}

#[test]
fn what_was_taken_is_nobody_elses_until_the_lease_ends() {
    let place = Place::new();
    place.add_webhook("a");
    place.add("a", 0..3);
    let leased = place.lease("a", NOW, 2);
    assert_eq!(leased.len(), 2, "as many as are asked for");
    assert_eq!(place.lease("a", NOW, 10).len(), 1);
    assert_eq!((place.lease("a", NOW, 10).len(), place.ready()), (0, vec![]));
    let end = NOW.plus_seconds(30);
    assert_eq!(place.store.read(|rows| rows.next_due_at()).unwrap(), Some(end));
    assert_eq!(place.wake(NOW.plus_seconds(29)), 0);
    assert_eq!(place.wake(end), 3);
    assert_eq!(place.ready(), [("a".to_owned(), true)]);
    assert_eq!(place.lease("a", end, 10).len(), 3);
}

#[test]
fn what_failed_is_ready_when_it_is_due_and_not_before() {
    let place = Place::new();
    place.add_webhook("a");
    place.add("a", 0..1);
    let leased = place.lease("a", NOW, 1).remove(0);
    let due_at = NOW.plus_seconds(5);
    let delivery_id = leased.delivery.id.clone();
    let held = place.write(move |rows| {
        let held = rows.lock_leased_delivery(&delivery_id, &LEASE)?;
        rows.finish_attempt(&attempt_of(&leased), &due_again(due_at))?;
        Ok((held, rows.lock_leased_delivery(&delivery_id, &LEASE)?))
    });
    assert_eq!(held, (Some(false), None), "no longer taken");
    assert_eq!((place.wake(NOW.plus_seconds(4)), place.ready()), (0, vec![]));
    assert_eq!(place.wake(due_at), 1);
    assert_eq!(place.ready().len(), 1);
    let row = place.logged("a").remove(0);
    assert_eq!((row.attempts, row.scheduled_attempts), (1, 1));
}

#[test]
fn a_retry_that_is_asked_for_during_an_attempt_is_known_at_its_end() {
    let place = Place::new();
    place.add_webhook("a");
    place.add("a", 0..1);
    let leased = place.lease("a", NOW, 1).remove(0);
    let (project_id, delivery_id) = (place.project_id, leased.delivery.id);
    let ask = move |rows: &mut Configurator<'_>| {
        let (mut row, _) = rows
            .lock_delivery(project_id, &delivery_id)?
            .expect("it is there");
        row.request_attempt(NOW.plus_seconds(1));
        rows.reschedule_delivery(&row)?;
        rows.lock_leased_delivery(&delivery_id, &LEASE)
    };
    assert_eq!(place.write(ask), Some(true));
    // It is for this attempt; another one, after a crash, is the one that was asked for.
    place.wake(NOW.plus_seconds(30));
    assert_eq!(place.lease("a", NOW.plus_seconds(30), 1).len(), 1);
    assert!(!place.logged("a")[0].retry_asked);
}

#[test]
fn what_cannot_be_sent_to_is_put_aside_and_comes_back() {
    let place = Place::new();
    let webhook = place.add_webhook("a");
    place.add_webhook("b");
    place.add("a", 0..5);
    place.add("b", 5..6);
    place.enable(&webhook, false);
    assert_eq!(place.ready(), [("a".to_owned(), false), ("b".to_owned(), true)]);
    assert!(place.lease("a", NOW, 10).is_empty());
    assert_eq!(
        place.write(|rows| rows.hold_deliveries("b", 10)),
        0,
        "it is in use"
    );
    assert_eq!(place.write(|rows| rows.hold_deliveries("a", 3)), 3);
    assert_eq!(place.write(|rows| rows.hold_deliveries("a", 3)), 2);
    assert_eq!(place.ready(), [("b".to_owned(), true)]);
    assert_eq!(
        place.write(|rows| rows.release_held_deliveries(10)),
        0,
        "still disabled"
    );
    let pending = place.store.read(|rows| rows.pending_deliveries()).unwrap();
    assert_eq!((pending.count, pending.oldest_created_at), (1, Some(NOW)));

    place.enable(&webhook, true);
    for released in [3, 2, 0] {
        assert_eq!(place.write(|rows| rows.release_held_deliveries(3)), released);
    }
    assert_eq!(place.lease("a", NOW, 10).len(), 5);
}

#[test]
fn nothing_is_sent_for_an_organization_until_it_pays() {
    let place = Place::new();
    place.add_webhook("a");
    place.add("a", 0..1);
    let organization_id = OrganizationId::from_random([1; 16]);
    place.write(move |rows| rows.set_plan(organization_id, Plan::Free));
    assert_eq!(place.ready(), [("a".to_owned(), false)]);
    assert!(place.lease("a", NOW, 1).is_empty());
    assert_eq!(place.write(|rows| rows.hold_deliveries("a", 1)), 1);
    place.write(move |rows| rows.set_plan(organization_id, Plan::Pro));
    assert_eq!(place.write(|rows| rows.release_held_deliveries(1)), 1);
    assert_eq!(place.lease("a", NOW, 1).len(), 1);
}

#[test]
fn a_deleted_webhook_is_gone_at_once_and_its_rows_little_by_little() {
    let place = Place::new();
    place.add_webhook("a");
    place.add_webhook("b");
    place.add("a", 0..7);
    place.add("b", 7..8);
    let project_id = place.project_id;
    let delete = move |rows: &mut Configurator<'_>| rows.delete_webhook(project_id, "a", NOW);
    assert!(place.write(delete) && !place.write(delete), "once");
    let webhooks = place.store.read(|rows| rows.webhooks(project_id)).unwrap();
    assert_eq!(webhooks, [place.row("b")]);
    assert_eq!(
        place.store.read(|rows| rows.webhook(project_id, "a")).unwrap(),
        None
    );
    let of_deleted = place.write(move |rows| rows.lock_delivery(project_id, &id("a", 0)));
    assert_eq!(of_deleted, None);
    assert!(place.lease("a", NOW, 1).is_empty());
    let secrets = place.store.read(|rows| rows.all_webhook_secrets(NOW)).unwrap();
    assert_eq!(secrets, [("b".to_owned(), b"secret".to_vec())]);

    let purge = |before: Timestamp| place.write(move |rows| rows.purge_deleted_webhooks(before, 5));
    assert_eq!(purge(NOW), 0, "deleted before, not at");
    let later = NOW.plus_seconds(1);
    assert_eq!((purge(later), place.logged("a").len()), (5, 2));
    assert_eq!(
        (purge(later), place.logged("a").len()),
        (3, 0),
        "two, and the webhook"
    );
    assert_eq!((purge(later), place.logged("b").len()), (0, 1));
}

#[test]
fn only_what_is_remembered_is_a_change_of_the_configuration() {
    let place = Place::new();
    let webhook = place.add_webhook("a");
    let version = place.version();
    let elsewhere = WebhookRow {
        url: "https://b.example/".to_owned(),
        ..webhook.clone()
    };
    let moved = elsewhere.clone();
    place.write(move |rows| rows.update_webhook(&webhook, &moved));
    assert_eq!(place.version(), version, "where it leads is not");
    place.enable(&elsewhere, false);
    assert_eq!(place.version(), version + 1);
}

#[test]
fn a_webhook_is_disabled_only_while_it_leads_where_the_answer_came_from() {
    let place = Place::new();
    place.add_webhook("a");
    let version = place.version();
    assert!(!place.write(|rows| rows.disable_webhook("a", "https://old.example/")));
    assert_eq!(place.version(), version);
    for _ in 0..2 {
        assert!(place.write(|rows| rows.disable_webhook("a", "https://a.example/")));
        assert_eq!(place.version(), version + 1, "a second answer changes nothing");
    }
}

#[test]
fn secrets_that_have_expired_are_not_read_and_are_removed() {
    let place = Place::new();
    place.add_webhook("a");
    let (soon, later) = (NOW.plus_seconds(10), NOW.plus_seconds(20));
    place.write(move |rows| {
        rows.rotate_webhook_secret("a", b"second", NOW, soon)?;
        rows.rotate_webhook_secret("a", b"third", NOW, later)
    });
    let in_force = |now: Timestamp| {
        let all = place.store.read(|rows| rows.all_webhook_secrets(now)).unwrap();
        let own = place.store.read(|rows| rows.webhook_secrets("a", now)).unwrap();
        assert_eq!(all.len(), own.len());
        own.len()
    };
    assert_eq!([NOW, soon, later].map(in_force), [3, 2, 1]);
    let purge = |now: Timestamp| place.write(move |rows| rows.purge_webhook_secrets(now, 10));
    assert_eq!([NOW, soon, later, later].map(purge), [0, 1, 1, 0]);
    assert_eq!(in_force(later), 1);
}
