//! Queries on a standby. The database stands for its own standby, which is always as far as it is.

use crate::{NOW, append, create_project, open_at, prepare};
use audit_domain::{EventFilter, EventOrder, PageLimit};
use audit_store::{EventQuery, LogEnd, Store, StoreError};
use audit_tests::{Database, DatabaseKind};
use serde_json::json;

#[test]
fn a_standby_that_is_further_than_the_request_serves_it() {
    let kind = DatabaseKind::Postgres;
    if !kind.is_available() {
        return;
    }
    let database = Database::create(kind);
    let url = database.url().parse().expect("a valid URL");
    let store = open_at(database.url())
        .with_replica(&url)
        .expect("PostgreSQL has standbys");
    let to = create_project(&store, 1);
    let query = EventQuery {
        ledger_id: to.ledger_id,
        filter: EventFilter::default(),
        tier: None,
        order: EventOrder::Descending,
        after: None,
        limit: PageLimit::new(200).expect("a valid limit"),
    };
    let end = |store: &Store| -> LogEnd {
        let end = store.read(|reader| reader.log_end(to.ledger_id));
        end.map_err(|error: StoreError| error.to_string())
            .expect("the end of the log is read")
    };
    let mut ends = vec![end(&store)];
    for number in 1..=3 {
        let event = json!({"action": "a.b", "category": "auth", "tenant_id": "t", "actor": {"id": "a", "type": "user"}});
        append(&store, &to, vec![prepare(&to, &event, NOW, number)]);
        ends.push(end(&store));
    }
    for (index, end) in ends.iter().enumerate() {
        let page = store
            .query_ledger(to.ledger_id, end, |reader| reader.events(&query))
            .expect("the query is served");
        assert_eq!(page.events.len(), 3);
        let statistics = store.replica_statistics();
        assert_eq!(statistics.served, index as u64 + 1, "{statistics:?}");
    }
}
