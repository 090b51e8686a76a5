//! Which requests wait for a turn before they are parsed and redacted.

use super::*;
use crate::accounts::NewOrganization;
use crate::redaction::{NewRedactionRule, RuleSubject};
use crate::settings::Settings;
use crate::turns::ReadTurn;
use crate::turns::tests::at_once;
use audit_alerts::{AlertRule, BuiltinRule};
use audit_auth::{Credential, EventsWrite, Keys, Master, MasterKey};
use audit_domain::{Clock, Entropy, OrganizationId, Plan, Timestamp};
use audit_redact::Behavior;
use audit_store::{DatabaseUrl, Project, QueueLimits, Store, StoreOptions};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc;
use std::time::Duration;
use tokio::task::JoinHandle;
use tokio::time::timeout;

#[derive(Default)]
struct Counting(AtomicU64);

impl Entropy for Counting {
    fn fill(&self, bytes: &mut [u8]) {
        let count = self.0.fetch_add(1, Ordering::Relaxed).to_be_bytes();
        bytes
            .iter_mut()
            .zip(count.iter().cycle())
            .for_each(|(to, from)| *to = *from);
    }
}

struct Fixture {
    service: Arc<AuditLog>,
    new: NewOrganization,
    _folder: tempfile::TempDir,
}

impl Fixture {
    fn new() -> Self {
        Self::with(StoreOptions::default())
    }

    fn with(options: StoreOptions) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let clock: Arc<dyn Clock> = Arc::new(Timestamp::from_seconds(1_768_473_000));
        let url = DatabaseUrl::Sqlite(folder.path().join("audit.db"));
        let key = audit_ledger::HeadKey::new(&[7; 32]);
        let store = Store::open(&url, options, &key, &clock).unwrap();
        let service = AuditLog::open(store, clock, Arc::new(Counting::default()), Settings::default());
        let service = service.unwrap();
        let new = service.create_organization(&"o".parse().unwrap(), Plan::Enterprise);
        Self {
            new: new.unwrap(),
            service,
            _folder: folder,
        }
    }

    fn ingest(&self, body: &str) -> JoinHandle<Result<Ingested>> {
        self.ingest_as(EventsForm::Json, body)
    }

    fn ingest_as(&self, form: EventsForm, body: &str) -> JoinHandle<Result<Ingested>> {
        let credential = Credential::parse(self.new.project_key.as_str()).unwrap();
        let presented = self.service.present::<Keys<EventsWrite>>(credential, None, None);
        let body = body.as_bytes().to_vec();
        tokio::spawn(async move {
            presented.recognise(|| "client".to_owned()).await?;
            let sent = SentEvents::new(&body, form);
            presented.ingest(Selection::default(), &sent).await
        })
    }

    async fn stored(&self, body: &str) -> usize {
        self.ingest(body).await.unwrap().unwrap().ids.len()
    }

    /// All turns, which other organizations have.
    fn all_turns(&self) -> Vec<ReadTurn> {
        let target = self
            .service
            .target_for_project(self.new.project.id, Environment::Live)
            .unwrap();
        let of = |organization: u8| {
            let project = Project {
                organization_id: OrganizationId::from_random([organization; 16]),
                ..target.project.project.clone()
            };
            at_once(self.service.turns.preparation(&project))?.ok()
        };
        let turns = (1..=u8::MAX).flat_map(|organization| std::iter::from_fn(move || of(organization)));
        turns.collect()
    }

    /// Asserts that a request waits for a turn, and is stored when there is one.
    async fn assert_waits(&self, body: &str, events: usize) {
        self.assert_waits_as(EventsForm::Json, body, events).await;
    }

    async fn assert_waits_as(&self, form: EventsForm, body: &str, events: usize) {
        let turns = self.all_turns();
        let waiting = self.ingest_as(form, body);
        let waits = async {
            while self.service.turns.waiting_preparations() == 0 {
                tokio::task::yield_now().await;
            }
        };
        timeout(Duration::from_secs(60), waits).await.expect("it waits");
        assert!(!waiting.is_finished());
        drop(turns);
        assert_eq!(waiting.await.unwrap().unwrap().ids.len(), events);
    }

    /// Changes the configuration of the project.
    async fn administer<T: Send + 'static>(
        &self,
        change: impl FnOnce(&AuditLog, &MasterKey, Selection) -> Result<T> + Send + 'static,
    ) {
        let credential = Credential::parse(self.new.master_key.as_str()).unwrap();
        let presented = self.service.present::<Master>(credential, None, None);
        let selection = Selection {
            project_id: Some(self.new.project.id),
            environment: None,
        };
        let service = Arc::clone(&self.service);
        let change = move || change(&service, &presented.authenticate()?, selection);
        #[expect(clippy::disallowed_methods, reason = "a test")]
        tokio::task::spawn_blocking(change).await.unwrap().unwrap();
    }

    async fn create_rule(&self) {
        let rule = NewRedactionRule {
            name: "r".parse().unwrap(),
            subject: RuleSubject::Pattern("zebra".parse().unwrap()),
            behavior: Behavior::Replace,
            enabled: true,
        };
        let create = |service: &AuditLog, master: &MasterKey, selection| {
            service.create_redaction_rule(master, selection, rule)
        };
        self.administer(create).await;
    }

    async fn create_alert_rules(&self, count: usize) {
        let template = AlertRule::builtin(BuiltinRule::ALL[0]);
        let create = move |service: &AuditLog, master: &MasterKey, selection| {
            for _ in 0..count {
                service.create_alert_rule(master, selection, template.definition().clone())?;
            }
            Ok(())
        };
        self.administer(create).await;
    }
}

/// A request that is not prepared in place, and the number of its events.
fn large_request() -> (String, usize) {
    const EVENT_BYTES: usize = 32 * 1024;
    let events = vec![event(EVENT_BYTES); PREPARED_IN_PLACE_BYTES_MAX / EVENT_BYTES];
    (format!("[{}]", events.join(",")), events.len())
}

fn event(padding: usize) -> String {
    let padding = "x".repeat(padding);
    format!(
        r#"{{"action":"a.b","category":"auth","tenant_id":"t","actor":{{"id":"a","type":"user"}},"metadata":{{"zebra":"{padding}"}}}}"#
    )
}

#[tokio::test]
async fn a_small_request_waits_for_nobody() {
    let fixture = Fixture::new();
    // Compiles the rules.
    fixture.stored(&event(1)).await;
    let turns = fixture.all_turns();
    assert!(!turns.is_empty());
    assert_eq!(fixture.stored(&event(1)).await, 1);
    assert_eq!(fixture.service.turns.waiting_preparations(), 0);
}

#[tokio::test]
async fn a_large_request_waits_for_its_turn() {
    let fixture = Fixture::new();
    fixture.stored(&event(1)).await;
    let (body, events) = large_request();
    fixture.assert_waits(&body, events).await;
}

#[tokio::test]
async fn a_request_of_a_project_with_rules_of_its_own_waits_for_its_turn() {
    let fixture = Fixture::new();
    fixture.stored(&event(1)).await;
    fixture.create_rule().await;
    fixture.assert_waits(&event(1), 1).await;
}

#[tokio::test]
async fn a_request_that_many_alert_rules_match_waits_for_its_turn() {
    let fixture = Fixture::new();
    let body = event(PREPARED_IN_PLACE_BYTES_MAX / 4);
    fixture.stored(&event(1)).await;
    let turns = fixture.all_turns();
    assert_eq!(
        fixture.stored(&body).await,
        1,
        "of the built-in rules there are few"
    );
    drop(turns);
    fixture.create_alert_rules(4 * ALERT_RULES_PER_PARSE).await;
    fixture.assert_waits(&body, 1).await;
}

#[tokio::test]
async fn many_lines_wait_for_a_turn_and_few_do_not() {
    const LINES: usize = 2 * BATCH_EVENTS_MAX;
    let fixture = Fixture::new();
    fixture.stored(&event(1)).await;
    let line = event(1) + "\n";
    let many = line.repeat(LINES);
    assert!(many.len() < PREPARED_IN_PLACE_BYTES_MAX);
    fixture.assert_waits_as(EventsForm::Lines, &many, LINES).await;
    let turns = fixture.all_turns();
    let few = fixture.ingest_as(EventsForm::Lines, &line.repeat(2));
    assert_eq!(few.await.unwrap().unwrap().ids.len(), 2);
    drop(turns);
}

#[tokio::test]
async fn whoever_goes_away_gives_up_the_turn() {
    let fixture = Fixture::new();
    fixture.stored(&event(1)).await;
    let turns = fixture.all_turns();
    let (large, events) = large_request();
    let waiting = fixture.ingest(&large);
    while fixture.service.turns.waiting_preparations() == 0 {
        tokio::task::yield_now().await;
    }
    waiting.abort();
    assert!(waiting.await.unwrap_err().is_cancelled());
    assert_eq!(fixture.service.turns.waiting_preparations(), 0);
    drop(turns);
    assert_eq!(fixture.stored(&large).await, events);
}

/// A client that sends more than the writer takes must not have the server work for what it refuses.
#[tokio::test]
async fn what_the_queue_has_no_room_for_is_refused_before_it_is_parsed() {
    let fixture = Fixture::with(StoreOptions {
        queue: QueueLimits {
            // Two of one organization.
            jobs_max: 3,
            ..QueueLimits::default()
        },
        ..StoreOptions::default()
    });
    fixture.stored(&event(1)).await;
    let (entered, is_held) = mpsc::channel();
    let (release, released) = mpsc::channel::<()>();
    let service = Arc::clone(&fixture.service);
    let writer = std::thread::spawn(move || {
        service.store.write(move |_| {
            entered.send(()).ok();
            // Until the sender is dropped.
            released.recv().ok();
            Ok::<_, AppError>(())
        })
    });
    is_held.recv().unwrap();
    let waiting = [fixture.ingest(&event(1)), fixture.ingest(&event(1))];
    let are_queued = async {
        while fixture.service.store.statistics().queue_depth < waiting.len() {
            tokio::task::yield_now().await;
        }
    };
    timeout(Duration::from_secs(60), are_queued)
        .await
        .expect("they wait");
    let refused = fixture.ingest("{").await.unwrap();
    assert!(
        matches!(refused, Err(AppError::Unavailable(StoreError::Overloaded))),
        "{refused:?}"
    );
    drop(release);
    writer.join().unwrap().unwrap();
    for request in waiting {
        request.await.unwrap().unwrap();
    }
    let parsed = fixture.ingest("{").await.unwrap();
    assert!(matches!(parsed, Err(AppError::Invalid(_))), "{parsed:?}");
}
