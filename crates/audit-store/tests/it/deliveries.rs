//! The queue of deliveries: ready, leased, held, requested and removed ones; and the secrets of webhooks.

use crate::{NOW, create_project, open};
use audit_domain::{OrganizationId, Plan, ProjectId, Timestamp};
use audit_store::{
    AfterAttempt, AttemptRow, ConfigurationVersion, Configurator, DELIVERY_PENDING, DeliveryRow,
    LeasedDelivery, SecretRow, Store, StoreError, WebhookRow,
};
use std::path::Path;

const LEASE: [u8; 16] = [1; 16];

/// A store with a project.
struct Fixture {
    store: Store,
    project_id: ProjectId,
    _folder: tempfile::TempDir,
}

impl Fixture {
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
        work: impl FnOnce(&mut Configurator<'_, ProjectId>) -> Result<T, StoreError> + Send + 'static,
    ) -> T {
        self.store
            .configure(self.project_id, work)
            .expect("the transaction commits")
    }

    fn set_plan(&self, plan: Plan) {
        let organization_id = OrganizationId::from_random([1; 16]);
        let set = self
            .store
            .configure(organization_id, move |configurator| configurator.set_plan(plan));
        assert!(set.expect("the transaction commits"));
    }

    fn version(&self) -> ConfigurationVersion {
        self.store
            .read(|reader| reader.configuration_version(self.project_id))
            .expect("the version is read")
            .expect("a version")
    }

    fn deployment_version(&self) -> ConfigurationVersion {
        self.store
            .read(|reader| reader.deployment_version())
            .expect("a version")
    }

    fn row(&self, id: &str) -> WebhookRow {
        WebhookRow {
            id: id.to_owned(),
            project_id: self.project_id.to_string(),
            url: b"https://a.example/".to_vec(),
            format: "json".to_owned(),
            enabled: true,
            created_at: 0,
        }
    }

    fn add_webhook(&self, id: &str) -> WebhookRow {
        let row = self.row(id);
        let added = row.clone();
        self.write(move |configurator| configurator.insert_webhook(&added, b"secret"));
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
        self.write(move |configurator| configurator.update_webhook(&before, &after));
    }

    /// Adds deliveries of the schedule, due at once.
    fn add(&self, webhook_id: &str, numbers: std::ops::Range<u16>) {
        let rows: Vec<DeliveryRow> = numbers.map(|number| delivery(webhook_id, number)).collect();
        self.write(move |configurator| rows.iter().try_for_each(|row| configurator.insert_delivery(row)));
    }

    /// Ids of the webhooks that have ready deliveries, and whether they are in use.
    fn ready(&self) -> Vec<(String, bool)> {
        let ready = self
            .store
            .read(|reader| reader.ready_webhooks())
            .expect("the queue");
        let mut ready: Vec<_> = ready
            .into_iter()
            .map(|ready| (ready.webhook_id, ready.is_in_use))
            .collect();
        ready.sort();
        ready
    }

    fn lease(&self, webhook_id: &'static str, now: Timestamp, limit: usize) -> Vec<LeasedDelivery> {
        let until = now.plus_seconds(30);
        self.write(move |configurator| configurator.lease_deliveries(webhook_id, now, until, &LEASE, limit))
    }

    fn wake(&self, now: Timestamp) -> usize {
        self.write(move |configurator| configurator.make_due_deliveries_ready(now, 500))
    }

    fn logged(&self, webhook_id: &str) -> Vec<DeliveryRow> {
        let read = self
            .store
            .read(|reader| reader.deliveries(webhook_id, None, None, 10_000));
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
fn a_leased_delivery_is_not_leased_again_until_the_lease_expires() {
    let fixture = Fixture::new();
    fixture.add_webhook("a");
    fixture.add("a", 0..3);
    let leased = fixture.lease("a", NOW, 2);
    assert_eq!(leased.len(), 2, "the limit");
    assert_eq!(fixture.lease("a", NOW, 10).len(), 1);
    assert_eq!((fixture.lease("a", NOW, 10).len(), fixture.ready()), (0, vec![]));
    let end = NOW.plus_seconds(30);
    assert_eq!(
        fixture.store.read(|reader| reader.next_due_at()).unwrap(),
        Some(end)
    );
    assert_eq!(fixture.wake(NOW.plus_seconds(29)), 0);
    assert_eq!(fixture.wake(end), 3);
    assert_eq!(fixture.ready(), [("a".to_owned(), true)]);
    assert_eq!(fixture.lease("a", end, 10).len(), 3);
}

#[test]
fn a_failed_delivery_is_ready_when_it_is_due_and_not_before() {
    let fixture = Fixture::new();
    fixture.add_webhook("a");
    fixture.add("a", 0..1);
    let leased = fixture.lease("a", NOW, 1).remove(0);
    let due_at = NOW.plus_seconds(5);
    let delivery_id = leased.delivery.id.clone();
    let held = fixture.write(move |configurator| {
        let held = configurator.lock_leased_delivery(&delivery_id, &LEASE)?;
        configurator.finish_attempt(&attempt_of(&leased), &due_again(due_at))?;
        Ok((held, configurator.lock_leased_delivery(&delivery_id, &LEASE)?))
    });
    assert_eq!(held, (Some(false), None), "the lease ends with the attempt");
    assert_eq!((fixture.wake(NOW.plus_seconds(4)), fixture.ready()), (0, vec![]));
    assert_eq!(fixture.wake(due_at), 1);
    assert_eq!(fixture.ready().len(), 1);
    let row = fixture.logged("a").remove(0);
    assert_eq!((row.attempts, row.scheduled_attempts), (1, 1));
}

#[test]
fn an_attempt_that_ended_after_a_delivery_was_read_is_not_among_its_attempts() {
    let fixture = Fixture::new();
    fixture.add_webhook("a");
    fixture.add("a", 0..1);
    let leased = fixture.lease("a", NOW, 1).remove(0);
    let before = fixture.logged("a").remove(0);
    fixture.write(move |configurator| {
        configurator.finish_attempt(&attempt_of(&leased), &due_again(NOW.plus_seconds(5)))
    });
    let after = fixture.logged("a").remove(0);
    let attempts = |row: &DeliveryRow| fixture.store.read(|reader| reader.attempts(row)).unwrap().len();
    assert_eq!((attempts(&before), attempts(&after)), (0, 1));
}

#[test]
fn a_retry_requested_during_an_attempt_is_reported_at_its_end() {
    let fixture = Fixture::new();
    fixture.add_webhook("a");
    fixture.add("a", 0..1);
    let leased = fixture.lease("a", NOW, 1).remove(0);
    let (project_id, delivery_id) = (fixture.project_id, leased.delivery.id);
    let request = move |configurator: &mut Configurator<'_, ProjectId>| {
        let (mut row, _) = configurator
            .lock_delivery(project_id, &delivery_id)?
            .expect("the delivery exists");
        row.request_attempt(NOW.plus_seconds(1));
        configurator.reschedule_delivery(&row)?;
        configurator.lock_leased_delivery(&delivery_id, &LEASE)
    };
    assert_eq!(fixture.write(request), Some(true));
    // After a crash of the node, the next attempt is the requested one.
    fixture.wake(NOW.plus_seconds(30));
    assert_eq!(fixture.lease("a", NOW.plus_seconds(30), 1).len(), 1);
    assert!(!fixture.logged("a")[0].retry_requested);
}

#[test]
fn deliveries_to_a_disabled_webhook_are_held_and_released() {
    let fixture = Fixture::new();
    let webhook = fixture.add_webhook("a");
    fixture.add_webhook("b");
    fixture.add("a", 0..5);
    fixture.add("b", 5..6);
    fixture.enable(&webhook, false);
    assert_eq!(fixture.ready(), [("a".to_owned(), false), ("b".to_owned(), true)]);
    assert!(fixture.lease("a", NOW, 10).is_empty());
    assert_eq!(
        fixture.write(|configurator| configurator.hold_deliveries("b", 10)),
        0,
        "the webhook is in use"
    );
    assert_eq!(
        fixture.write(|configurator| configurator.hold_deliveries("a", 3)),
        3
    );
    assert_eq!(
        fixture.write(|configurator| configurator.hold_deliveries("a", 3)),
        2
    );
    assert_eq!(fixture.ready(), [("b".to_owned(), true)]);
    assert_eq!(
        fixture.write(|configurator| configurator.release_held_deliveries(10)),
        0,
        "the webhook is still disabled"
    );
    let pending = fixture.store.read(|reader| reader.pending_deliveries()).unwrap();
    assert_eq!((pending.count, pending.oldest_created_at), (1, Some(NOW)));

    fixture.enable(&webhook, true);
    for released in [3, 2, 0] {
        assert_eq!(
            fixture.write(|configurator| configurator.release_held_deliveries(3)),
            released
        );
    }
    assert_eq!(fixture.lease("a", NOW, 10).len(), 5);
}

#[test]
fn deliveries_of_an_organization_on_the_free_plan_are_held() {
    let fixture = Fixture::new();
    fixture.add_webhook("a");
    fixture.add("a", 0..1);
    fixture.set_plan(Plan::Free);
    assert_eq!(fixture.ready(), [("a".to_owned(), false)]);
    assert!(fixture.lease("a", NOW, 1).is_empty());
    assert_eq!(
        fixture.write(|configurator| configurator.hold_deliveries("a", 1)),
        1
    );
    fixture.set_plan(Plan::Pro);
    assert_eq!(
        fixture.write(|configurator| configurator.release_held_deliveries(1)),
        1
    );
    assert_eq!(fixture.lease("a", NOW, 1).len(), 1);
}

#[test]
fn a_deleted_webhook_is_hidden_at_once_and_its_rows_are_removed_in_steps() {
    let fixture = Fixture::new();
    fixture.add_webhook("a");
    fixture.add_webhook("b");
    fixture.add("a", 0..7);
    fixture.add("b", 7..8);
    let project_id = fixture.project_id;
    let delete = |configurator: &mut Configurator<'_, ProjectId>| configurator.delete_webhook("a", NOW);
    assert!(fixture.write(delete) && !fixture.write(delete), "once");
    let webhooks = fixture.store.read(|reader| reader.webhooks(project_id)).unwrap();
    assert_eq!(webhooks, [fixture.row("b")]);
    assert_eq!(
        fixture
            .store
            .read(|reader| reader.webhook(project_id, "a"))
            .unwrap(),
        None
    );
    let of_deleted = fixture.write(move |configurator| configurator.lock_delivery(project_id, &id("a", 0)));
    assert_eq!(of_deleted, None);
    assert!(fixture.lease("a", NOW, 1).is_empty());
    let secrets = fixture
        .store
        .read(|reader| reader.all_webhook_secrets(NOW))
        .unwrap();
    assert_eq!(secrets, [("b".to_owned(), 1, b"secret".to_vec())]);

    let purge =
        |before: Timestamp| fixture.write(move |configurator| configurator.purge_deleted_webhooks(before, 5));
    assert_eq!(purge(NOW), 0, "deleted before, not at");
    let later = NOW.plus_seconds(1);
    assert_eq!((purge(later), fixture.logged("a").len()), (5, 2));
    assert_eq!(
        (purge(later), fixture.logged("a").len()),
        (3, 0),
        "two, and the webhook"
    );
    assert_eq!((purge(later), fixture.logged("b").len()), (0, 1));
}

#[test]
fn a_change_of_a_webhooks_url_keeps_the_version() {
    let fixture = Fixture::new();
    let webhook = fixture.add_webhook("a");
    let version = fixture.version();
    let with_other_url = WebhookRow {
        url: b"https://b.example/".to_vec(),
        ..webhook.clone()
    };
    let updated = with_other_url.clone();
    fixture.write(move |configurator| configurator.update_webhook(&webhook, &updated));
    assert_eq!(fixture.version(), version, "no node caches the URL");
    fixture.enable(&with_other_url, false);
    assert_ne!(fixture.version(), version);
}

#[test]
fn a_change_that_keeps_the_url_keeps_it_as_it_was_encrypted_meanwhile() {
    let fixture = Fixture::new();
    let read = fixture.add_webhook("a");
    let rows = fixture
        .store
        .read(|reader| reader.stored_secrets())
        .expect("rows");
    let url = rows
        .into_iter()
        .find(|row| matches!(row.row, SecretRow::WebhookUrl(..)));
    let url = url.expect("a URL");
    let replaced = fixture
        .store
        .write(move |writer| writer.replace_secret(&url, b"again"));
    assert!(replaced.expect("a write"));
    fixture.enable(&read, false);
    let project_id = fixture.project_id;
    let row = fixture.store.read(|reader| reader.webhook(project_id, "a"));
    let row = row.expect("a read").expect("a webhook");
    assert_eq!((row.url.as_slice(), row.enabled), (b"again".as_slice(), false));
}

#[test]
fn a_webhook_is_disabled_only_while_it_has_the_url_of_the_response() {
    let fixture = Fixture::new();
    fixture.add_webhook("a");
    let enabled = fixture.version();
    assert!(!fixture.write(|configurator| configurator.disable_webhook("a", b"https://old.example/")));
    assert_eq!(fixture.version(), enabled);
    let disable = || fixture.write(|configurator| configurator.disable_webhook("a", b"https://a.example/"));
    assert!(disable());
    let disabled = fixture.version();
    assert_ne!(disabled, enabled);
    assert!(disable());
    assert_eq!(fixture.version(), disabled, "a second response changes nothing");
}

#[test]
fn nodes_look_for_held_deliveries_when_a_webhook_may_have_come_into_use() {
    let fixture = Fixture::new();
    let enabled = fixture.add_webhook("a");
    let disabled = WebhookRow {
        enabled: false,
        ..enabled.clone()
    };
    let created = fixture.deployment_version();
    fixture.enable(&enabled, false);
    fixture.set_plan(Plan::Free);
    assert_eq!(fixture.deployment_version(), created);
    fixture.enable(&disabled, true);
    let after_enabling = fixture.deployment_version();
    assert_ne!(after_enabling, created);
    fixture.set_plan(Plan::Pro);
    assert_ne!(fixture.deployment_version(), after_enabling);
}

#[test]
fn expired_secrets_are_not_returned_and_are_removed() {
    let fixture = Fixture::new();
    fixture.add_webhook("a");
    let (soon, later) = (NOW.plus_seconds(10), NOW.plus_seconds(20));
    fixture.write(move |configurator| {
        configurator.rotate_webhook_secret("a", |_| b"second".to_vec(), NOW, soon)?;
        configurator.rotate_webhook_secret("a", |_| b"third".to_vec(), NOW, later)
    });
    let in_force = |now: Timestamp| {
        let all = fixture
            .store
            .read(|reader| reader.all_webhook_secrets(now))
            .unwrap();
        let own = fixture
            .store
            .read(|reader| reader.webhook_secrets("a", now))
            .unwrap();
        assert_eq!(all.len(), own.len());
        own.len()
    };
    assert_eq!([NOW, soon, later].map(in_force), [3, 2, 1]);
    let purge =
        |now: Timestamp| fixture.write(move |configurator| configurator.purge_webhook_secrets(now, 10));
    assert_eq!([NOW, soon, later, later].map(purge), [0, 1, 1, 0]);
    assert_eq!(in_force(later), 1);
}
