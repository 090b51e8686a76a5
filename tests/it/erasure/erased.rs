//! A deployment in which five persons were erased.

use super::{
    ERASURE_SECONDS, GRACE_MILLIS, Scene, confirm, events_of, listed, path_of, post, read, request_of,
};
use crate::log::{Case, audit, copy_of, stop, store_events};
use crate::retention::places;
use audit_tests::{
    DatabaseKind, Deadline, Organization, Receiver, Server, alert_rule, door_opened, event_with, merge,
    temporary_directory,
};
use serde_json::{Value, json};
use std::path::PathBuf;
use std::sync::OnceLock;

/// In every text of the events of one person.
pub(super) const MARKER: &str = "quixoticmarker";
/// The tenant that is a person.
pub(super) const PAT: &str = "usr_pat";
/// Events of others, so that the log has a full tile and a part of the next one.
const OTHERS: usize = 260;

// The events by position.
pub(super) const BY_JANE: usize = 0;
pub(super) const ON_JANE: usize = 1;
pub(super) const ABOUT_JANE: usize = 2;
pub(super) const HELD: usize = 3;
pub(super) const OF_PAT: usize = 4;
pub(super) const MARKED: usize = 5;
pub(super) const DOOR: usize = 6;
pub(super) const NEARLY_JANE: usize = 7;
pub(super) const BY_ROWAN: usize = 8;

// The erasures by number.
pub(super) const OF_JANE: usize = 0;
pub(super) const OF_BOB: usize = 1;
pub(super) const OF_TENANT: usize = 2;
pub(super) const OF_ROW: usize = 4;

/// Who is erased: the identifiers, the extent, and how many events, whole rows and held events are found.
pub(super) fn persons() -> [(Value, &'static str, [u64; 3]); 5] {
    [
        (
            json!({"ids": ["usr_jane"], "texts": ["Jane Doeson", "jane@example.com"]}),
            "person",
            [3, 0, 1],
        ),
        // The event by Jane is on Bob.
        (
            json!({"ids": ["usr_bob"], "texts": ["Bob Stoneson"]}),
            "person",
            [1, 0, 0],
        ),
        (json!({"ids": [PAT]}), "person", [1, 1, 0]),
        (json!({"ids": [format!("actor-{MARKER}")]}), "all", [2, 0, 0]),
        (json!({"ids": ["usr_rowan"]}), "row", [1, 1, 0]),
    ]
}

/// What must be in no line, response, metric or event after the erasures; and before them nowhere but in events.
pub(super) const NAMES: [&str; 9] = [
    "usr_jane",
    "Jane Doeson",
    "jane@example.com",
    "usr_bob",
    "Bob Stoneson",
    PAT,
    MARKER,
    "usr_rowan",
    "zebra crossing",
];

pub(super) fn by_jane() -> Value {
    event_with(json!({
        "action": "account.changed", "tenant_id": "acme",
        "actor": {"id": "usr_jane", "name": "Jane Doeson", "email": "jane@example.com"},
        "target": {"type": "user", "id": "usr_bob", "name": "Bob Stoneson"},
        "context": {"ip_address": "192.0.2.7", "user_agent": "Netscape", "session_id": "s-1"},
        "metadata": {"note": "zebra crossing"},
        "changes": [{"field": "title", "before": "giraffe", "after": "okapi"}],
        "idempotency_key": "key-1",
    }))
}

fn marked() -> Value {
    let text = |name: &str| format!("{name} {MARKER}");
    event_with(json!({
        "tenant_id": "acme",
        "actor": {"id": format!("actor-{MARKER}"), "name": text("Name"), "email": format!("{MARKER}@example.com")},
        "target": {"type": "file", "id": format!("target-{MARKER}"), "name": text("File")},
        "context": {"user_agent": text("Agent"), "session_id": format!("session-{MARKER}")},
        "metadata": {"note": text("Note"), (format!("member_{MARKER}")): 1},
        "changes": [{"field": "title", "before": text("Before"), "after": text("After")}],
        "idempotency_key": format!("key-{MARKER}"),
    }))
}

/// The events that the erasures are about, by position.
fn events() -> Vec<Value> {
    let by = |actor: &str, tenant: &str| event_with(json!({"actor": {"id": actor}, "tenant_id": tenant}));
    let on_jane = json!({
        "target": {"type": "user", "id": "usr_jane", "name": "Jane Doeson"}, "metadata": {"reason": "moved"},
    });
    let about_jane =
        json!({"metadata": {"list": [{"note": "Call JANE DOESON, please"}]}, "changes": [{"field": "x"}]});
    let held = json!({"actor": {"name": "Jane Doeson", "email": "jane@example.com"}});
    let nearly_jane = json!({"actor": {"name": "Mary Jane Doesonova"}, "metadata": {"note": "stoic text"}});
    vec![
        by_jane(),
        merge(by("usr_admin", "acme"), on_jane),
        merge(by("usr_admin", "acme"), about_jane),
        merge(by("usr_jane", "held"), held),
        by("somebody", PAT),
        marked(),
        merge(
            door_opened(&format!("actor-{MARKER}")),
            json!({"tenant_id": "acme"}),
        ),
        merge(by("usr_janet", "acme"), nearly_jane),
        by("usr_rowan", "acme"),
    ]
}

/// A deployment in which five persons were erased, without a server.
pub(super) struct Erased {
    scene: Scene,
    pub(super) ids: Vec<String>,
    /// The events as they were.
    pub(super) before: Vec<Value>,
    /// The receipt of the event by Jane, from before.
    pub(super) receipt: String,
    /// The state file of an auditor from before.
    state: PathBuf,
    /// The erasures when they were done.
    pub(super) erasures: Vec<Value>,
    /// The events of each, when they were listed.
    pub(super) listed: Vec<Vec<Value>>,
    /// What the server has said while it erased: responses, its own events, alerts, metrics and its log.
    pub(super) said: String,
    /// The records that a destination for other events got, and one of another tenant.
    pub(super) sent: [Vec<Value>; 2],
}

/// Creates a destination. Its receiver listens on `path`.
fn create_destination(organization: &Organization, receiver: &Receiver, path: &str, filter: Value) {
    let destination = json!({
        "name": path, "kind": "https", "settings": {"url": receiver.url(path)}, "filter": filter,
    });
    post(organization, "/destinations", destination).expect_status(201);
}

/// The events that have arrived on a path.
fn arrived(receiver: &Receiver, path: &str) -> Vec<Value> {
    let requests = receiver.received(path);
    let records = requests
        .iter()
        .flat_map(|request| request.json().as_array().cloned().expect("an array of records"));
    records.filter(|record| record["action"].is_string()).collect()
}

/// The responses about erasures, which name nobody.
fn responses(organization: &Organization, erasures: &[Value]) -> String {
    let master = organization.master();
    let refused = request_of(
        json!({"ids": ["usr_bob", PAT], "texts": ["Bob Stoneson", MARKER, "zebra crossing", "x"]}),
        "row",
    );
    let mut said = vec![
        master.get("/erasures").send().body().to_string(),
        post(organization, "/erasures", refused)
            .expect_status(400)
            .body()
            .to_string(),
    ];
    for erasure in erasures {
        said.push(master.get(&path_of(erasure)).send().body().to_string());
        said.push(Value::from(events_of(organization, erasure)).to_string());
        let wrong = json!({"digest": format!("sha256:{}", "0".repeat(64))});
        let refused = post(organization, &format!("{}/confirm", path_of(erasure)), wrong);
        said.push(refused.expect_error(409, "conflict").body().to_string());
    }
    said.join("\n")
}

impl Erased {
    /// The one that all tests share. `None` without libfaketime.
    pub(super) fn shared(kind: DatabaseKind) -> Option<&'static Self> {
        static SCENES: [OnceLock<Option<Erased>>; 2] = [OnceLock::new(), OnceLock::new()];
        let scene = &SCENES[usize::from(kind == DatabaseKind::Postgres)];
        scene.get_or_init(|| Self::make(kind)).as_ref()
    }

    /// A server on a copy that no test changes, with the organization there.
    pub(super) fn running(kind: DatabaseKind) -> Option<(&'static Self, &'static Organization)> {
        static SERVERS: [OnceLock<(Server, Organization)>; 2] = [OnceLock::new(), OnceLock::new()];
        let erased = Self::shared(kind)?;
        let (_, organization) = SERVERS[usize::from(kind == DatabaseKind::Postgres)].get_or_init(|| {
            let mut scene = erased.scene();
            (scene.start(), scene.organization)
        });
        Some((erased, organization))
    }

    /// A copy of the deployment.
    pub(super) fn scene(&self) -> Scene {
        self.scene.copy()
    }

    /// A copy of the state of an auditor who has read the events before.
    pub(super) fn state(&self) -> PathBuf {
        let state = temporary_directory("audit-").join("state");
        std::fs::copy(&self.state, &state).expect("copy the state of an audit");
        state
    }

    /// For what is asserted of any log.
    pub(super) fn case(&self) -> Case {
        Case {
            database: self.scene.database.copy(),
            organization: self.scene.organization.clone(),
            ids: self.ids.clone(),
            events: self.before.clone(),
            state: self.state(),
            memory: copy_of(&self.scene.memory),
        }
    }

    /// The position of the event of an erasure.
    pub(super) fn erased_seq(&self, number: usize) -> u64 {
        self.erasures[number]["erased_seq"].as_u64().expect("a position")
    }

    fn make(kind: DatabaseKind) -> Option<Self> {
        let (mut scene, server) = Scene::create(kind)?;
        let organization = scene.organization.clone();
        let project = organization.project();
        organization.create_alert_rule(alert_rule(json!({})));
        let receiver = Receiver::start();
        create_destination(
            &organization,
            &receiver,
            "/others",
            json!({"actions": ["nothing.*"]}),
        );
        create_destination(
            &organization,
            &receiver,
            "/tenant",
            json!({"tenant_ids": ["elsewhere"]}),
        );
        let ids = project.store_all(events());
        store_events(&project, OTHERS);
        // The map of tenants has their names.
        project.get("/log/tenants").send().expect_status(200);
        let state = temporary_directory("audit-").join("state");
        audit(server.base_url(), &organization.project_key, &state, &[]).success();
        let before = ids.iter().map(|id| project.event(id)).collect();
        let receipt = project
            .get(&format!("/events/{}/receipt", ids[BY_JANE]))
            .send_raw();
        for name in [MARKER, PAT] {
            assert_ne!(places(&scene.database, name), Vec::<String>::new(), "{name}");
        }
        scene.save(kind, BY_ROWAN);
        post(
            &organization,
            "/holds",
            json!({"reason": "case 12", "tenant_id": "held"}),
        )
        .expect_status(201);

        let erasures: Vec<Value> = persons()
            .into_iter()
            .map(|(identifiers, extent, _)| listed(&organization, request_of(identifiers, extent)))
            .collect();
        let listed = erasures
            .iter()
            .map(|erasure| events_of(&organization, erasure))
            .collect();
        let mut said = vec![responses(&organization, &erasures)];
        for erasure in &erasures {
            let planned = confirm(&organization, erasure).expect_status(202);
            said.push(planned.body().to_string());
        }
        scene.clock.advance_millis(GRACE_MILLIS);
        let erasures = finished(&organization, &erasures, &ids[BY_JANE]);
        let sent = wait_for_records(&mut scene, &receiver);
        said.push(responses(&organization, &erasures));
        said.push(what_else_is_said(&organization));
        said.push(stop(server));
        Some(Self {
            scene,
            ids,
            before,
            receipt: String::from_utf8(receipt.bytes).expect("a receipt in UTF-8"),
            state,
            erasures,
            listed,
            said: said.join("\n"),
            sent,
        })
    }
}

/// Waits until the erasures are done. Meanwhile one of their events is found by what is left of it.
fn finished(organization: &Organization, erasures: &[Value], id: &str) -> Vec<Value> {
    let project = organization.project();
    Deadline::seconds(ERASURE_SECONDS).poll("the end of the erasures", || {
        assert_eq!(project.find_ids(&[("action", "account.changed")]), [id]);
        assert_eq!(project.find_ids(&[("search", "account")]), [id]);
        let read: Vec<Value> = erasures
            .iter()
            .map(|erasure| read(organization, erasure))
            .collect();
        read.iter()
            .all(|erasure| erasure["state"] == "done")
            .then_some(read)
    })
}

/// Waits until one destination has the record of each erasure, and the other one an event that was stored afterwards.
fn wait_for_records(scene: &mut Scene, receiver: &Receiver) -> [Vec<Value>; 2] {
    scene.organization.project().store(event_with(
        json!({"action": "later.happened", "tenant_id": "elsewhere"}),
    ));
    Deadline::seconds(ERASURE_SECONDS).poll("the records of the erasures", || {
        // Deliveries may wait for a time.
        scene.clock.advance_millis(1_000);
        let (others, tenant) = (arrived(receiver, "/others"), arrived(receiver, "/tenant"));
        (others.len() >= persons().len() && !tenant.is_empty()).then_some([others, tenant])
    })
}

/// The service's own events, the alerts and the metrics.
fn what_else_is_said(organization: &Organization) -> String {
    let own = [("tenant_id", "audit-server"), ("limit", "200")];
    let metrics = organization.anonymous().request("GET", "/metrics").send_raw();
    [
        Value::from(organization.master().pages(&own).concat()).to_string(),
        Value::from(organization.project().all_alerts()).to_string(),
        String::from_utf8(metrics.bytes).expect("metrics are text"),
    ]
    .join("\n")
}

impl Scene {
    /// Saves the row of an event, to be put back.
    fn save(&self, kind: DatabaseKind, seq: usize) {
        let columns = match kind {
            DatabaseKind::Sqlite => crate::retention::SQLITE_COLUMNS,
            DatabaseKind::Postgres => "*",
        };
        self.database.execute(&format!(
            "CREATE TABLE saved_events AS SELECT {columns} FROM events WHERE {} AND seq = {seq}",
            self.live()
        ));
    }
}
