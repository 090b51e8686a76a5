//! Moves of projects between cells: every step may be the last one of a process.

use crate::{NOW, append, count, create_project, destination, open_at, prepare};
use audit_domain::{EventFilter, OrganizationId, ProjectId, Timestamp};
use audit_store::{
    Appended, CellId, Destination, LedgerId, MovedProject, NewCell, ProjectMove, Store, StoreError,
};
use audit_tests::{Database, DatabaseKind};
use serde_json::json;
use std::sync::Arc;

/// A home cell and another one in the same database.
struct Cells {
    database: Database,
    home: Store,
    other: Store,
    other_id: CellId,
}

impl Cells {
    /// `None` where there is no PostgreSQL, and the test passes.
    fn create() -> Option<Self> {
        if !DatabaseKind::Postgres.is_available() {
            return None;
        }
        let database = Database::create(DatabaseKind::Postgres);
        let home = open_at(database.url());
        let new = NewCell {
            name: "other".to_owned(),
            url: None,
            schema: "cell_other".to_owned(),
        };
        let id = home.write(|writer| writer.next_cell_id()).expect("a number");
        let inserted = home.write(move |writer| writer.insert_cell(id, &new, NOW));
        inserted.expect("the cell is entered");
        let cells = home.read(|reader| reader.cells()).expect("the cells are read");
        let clock: Arc<dyn audit_domain::Clock> = Arc::new(crate::NOW);
        let other = home.open_cell(&cells[1], &clock).expect("the cell opens");
        other
            .write(move |writer| writer.number_ledgers_of(id))
            .expect("the ledgers are numbered");
        Some(Self {
            database,
            home,
            other,
            other_id: id,
        })
    }

    /// A project of the home cell with `events` events, whose organization is known to the other cell.
    fn project(&self, number: u8, events: usize) -> Destination {
        let to = create_project(&self.home, number);
        let organization = OrganizationId::from_random([number; 16]);
        let organization = self.home.read(|reader| reader.organization(organization));
        let organization = organization.expect("it is read").expect("it exists");
        let copied = self
            .other
            .write(move |writer| writer.copy_organization(&organization));
        copied.expect("the organization is copied");
        store_events(&self.home, &to, 0, events);
        to
    }

    fn begin(&self, project_id: ProjectId, target: CellId) -> ProjectMove {
        ProjectMove::begin(&self.home, project_id, target).expect("the move begins")
    }

    /// The stores that serve a project.
    fn serving(&self, project_id: ProjectId) -> Vec<CellId> {
        [(CellId::HOME, &self.home), (self.other_id, &self.other)]
            .into_iter()
            .filter(|(_, store)| is_served(store, project_id))
            .map(|(id, _)| id)
            .collect()
    }

    fn place(&self, project_id: ProjectId) -> CellId {
        self.home
            .read(|reader| reader.cell_of_project(project_id))
            .expect("the directory is read")
    }

    fn store(&self, id: CellId) -> &Store {
        if id == CellId::HOME {
            &self.home
        } else {
            &self.other
        }
    }
}

fn is_served(store: &Store, project_id: ProjectId) -> bool {
    match store.read(|reader| reader.configuration_version(project_id)) {
        Ok(found) => found.is_some(),
        Err(StoreError::ProjectMoved) => false,
        Err(error) => panic!("{error}"),
    }
}

fn store_events(store: &Store, to: &Destination, first: usize, count: usize) {
    for number in first..first + count {
        let event = json!({
            "action": "a.b", "category": "auth", "tenant_id": "t", "actor": {"id": format!("actor {number}"), "type": "user"},
            "idempotency_key": format!("key {number}"),
        });
        let at = Timestamp::from_seconds(NOW.as_seconds() + number as i64);
        let appended = append(store, to, vec![prepare(to, &event, at, number as u8)]);
        assert!(matches!(appended[..], [Appended::Stored(_)]), "{appended:?}");
    }
}

type Step = fn(&mut ProjectMove);

/// The steps of a move after its beginning, in their order.
const STEPS: [(&str, Step); 6] = [
    ("copy", |moving| {
        moving.copy().expect("copy");
    }),
    ("pause", |moving| moving.pause().expect("pause")),
    ("copy_rest", |moving| {
        moving.copy_rest().expect("copy_rest");
    }),
    ("switch", |moving| moving.switch().expect("switch")),
    ("activate", |moving| moving.activate().expect("activate")),
    ("clean", |moving| moving.clean().expect("clean")),
];

#[test]
fn a_move_that_ends_after_any_step_leaves_one_serving_cell_and_can_be_repeated() {
    let Some(cells) = Cells::create() else { return };
    for steps in 0..=STEPS.len() {
        let to = cells.project(steps as u8 + 1, 5);
        let project_id = to.project_id;
        let mut moving = cells.begin(project_id, cells.other_id);
        for (_, step) in &STEPS[..steps] {
            step(&mut moving);
        }
        drop(moving);
        let last = steps.checked_sub(1).map_or("begin", |index| STEPS[index].0);
        assert!(cells.serving(project_id).len() <= 1, "after {last}");
        // What a request of the project does that no cell serves, once the pause has expired.
        let expire = format!(
            "UPDATE placements SET paused_until = clock_timestamp() WHERE project_id = '{project_id}'"
        );
        cells.database.execute(&expire);
        cells
            .home
            .serve_project(project_id)
            .expect("the project is served");
        let place = cells.place(project_id);
        assert_eq!(cells.serving(project_id), [place], "after {last}");
        let is_switched = steps > 3;
        assert_eq!(place == cells.other_id, is_switched, "after {last}");

        // It takes events there, and the repeated move takes them along.
        let to = destination(cells.store(place), project_id);
        store_events(cells.store(place), &to, 100, 1);
        cells
            .begin(project_id, cells.other_id)
            .run()
            .expect("the repeated move");
        assert_eq!(cells.serving(project_id), [cells.other_id], "after {last}");
        let to = destination(&cells.other, project_id);
        assert_eq!(
            count(&cells.other, &to, EventFilter::default()),
            6,
            "after {last}"
        );
    }
}

#[test]
fn a_moved_project_has_its_ledger_keys_and_tree() {
    let Some(cells) = Cells::create() else { return };
    // More than one full tile of the tree.
    let to = cells.project(1, 300);
    let frontier = |store: &Store, id: LedgerId| {
        let read = store.read(|reader| reader.log_frontier(id));
        read.expect("the frontier is read").root()
    };
    let root = frontier(&cells.home, to.ledger_id);
    let moved: MovedProject = cells
        .begin(to.project_id, cells.other_id)
        .run()
        .expect("it moves");
    assert_eq!(moved.events, 300);
    let there = destination(&cells.other, to.project_id);
    assert_eq!(there.ledger_id, to.ledger_id, "the ledger keeps its number");
    assert_eq!(frontier(&cells.other, there.ledger_id), root);
    // A known key is a repeat there, and the log continues.
    let event = json!({
        "action": "a.b", "category": "auth", "tenant_id": "t", "actor": {"id": "actor 7", "type": "user"},
        "idempotency_key": "key 7",
    });
    let appended = append(&cells.other, &there, vec![prepare(&there, &event, NOW, 7)]);
    assert!(matches!(appended[..], [Appended::Repeated(_)]), "{appended:?}");
    store_events(&cells.other, &there, 300, 1);
    // Nothing of it is left but the entry in the list of projects.
    for table in [
        "events",
        "ledgers",
        "log_tiles",
        "ledger_actions",
        "event_backlog",
    ] {
        assert_eq!(cells.database.count(&format!("public.{table}")), 0, "{table}");
    }
    assert_eq!(cells.database.count("public.projects"), 1);
    // And back.
    cells
        .begin(to.project_id, CellId::HOME)
        .run()
        .expect("it moves back");
    assert_eq!(cells.serving(to.project_id), [CellId::HOME]);
    let back = destination(&cells.home, to.project_id);
    store_events(&cells.home, &back, 301, 1);
    assert_eq!(cells.database.count("cell_other.projects"), 0);
}

#[test]
fn a_paused_project_takes_no_event_and_no_change() {
    let Some(cells) = Cells::create() else { return };
    let to = cells.project(1, 1);
    let mut moving = cells.begin(to.project_id, cells.other_id);
    moving.copy().expect("copy");
    moving.pause().expect("pause");
    let event =
        json!({"action": "a.b", "category": "auth", "tenant_id": "t", "actor": {"id": "a", "type": "user"}});
    let appended = cells
        .home
        .append_blocking(to.clone(), vec![prepare(&to, &event, NOW, 9)]);
    assert!(matches!(appended, Err(StoreError::Stale)), "{appended:?}");
    let changed = cells.home.configure(to.project_id, |configurator| {
        configurator.insert_tier(&audit_domain::ViewerTier::initial()[0].clone(), NOW)
    });
    assert!(matches!(changed, Err(StoreError::ProjectMoved)), "{changed:?}");
    let held = {
        let project_id = to.project_id;
        cells.home.write(move |writer| writer.hold_project(project_id))
    };
    assert!(matches!(held, Err(StoreError::ProjectMoved)), "{held:?}");
    // A change of the organization does not have it served again.
    let organization = OrganizationId::from_random([1; 16]);
    let changed = cells.home.configure(organization, |configurator| {
        configurator.set_plan(audit_domain::Plan::Pro)
    });
    assert!(changed.expect("the plan is changed"));
    assert_eq!(cells.serving(to.project_id), []);
    assert!(
        !cells
            .home
            .serve_project(to.project_id)
            .expect("the directory is read")
    );
    assert_eq!(cells.serving(to.project_id), [], "the pause has not expired");
}

#[test]
fn a_pause_that_expired_before_the_switch_ends_the_move() {
    let Some(cells) = Cells::create() else { return };
    let to = cells.project(1, 1);
    let mut moving = cells.begin(to.project_id, cells.other_id);
    moving.copy().expect("copy");
    moving.pause().expect("pause");
    moving.copy_rest().expect("copy_rest");
    cells
        .database
        .execute("UPDATE placements SET paused_until = clock_timestamp()");
    let switched = moving.switch();
    assert!(
        matches!(switched, Err(StoreError::Unreachable(_))),
        "{switched:?}"
    );
    assert!(
        cells
            .home
            .serve_project(to.project_id)
            .expect("the home cell serves it")
    );
    assert_eq!(cells.serving(to.project_id), [CellId::HOME]);
}

#[test]
fn a_project_whose_events_were_changed_is_not_moved() {
    let Some(cells) = Cells::create() else { return };
    let to = cells.project(1, 3);
    cells
        .database
        .execute("UPDATE events SET content_hash = decode(repeat('00', 32), 'hex') WHERE seq = 1");
    let moved = cells.begin(to.project_id, cells.other_id).run();
    assert!(matches!(moved, Err(StoreError::Damaged { .. })), "{moved:?}");
    assert_eq!(cells.serving(to.project_id), [CellId::HOME]);
}
