//! The number of groups into which projects are divided.

use crate::{create_project, open_url};
use audit_store::{DatabaseUrl, StoreError, StoreOptions};
use audit_tests::{Database, DatabaseKind};
use std::sync::Arc;

fn options(groups: Option<u16>) -> StoreOptions {
    StoreOptions {
        postgres_groups: groups,
        ..StoreOptions::default()
    }
}

#[test]
fn their_number_is_fixed_when_the_first_project_is_created() {
    if !DatabaseKind::Postgres.is_available() {
        return;
    }
    let database = Database::create(DatabaseKind::Postgres);
    let url: DatabaseUrl = database.url().parse().expect("a valid URL");
    for (given, expected) in [(None, 16), (Some(3), 3), (Some(40), 40), (None, 40)] {
        open_url(&url, options(given)).close();
        assert_eq!(database.count("index_groups"), expected);
        assert_eq!(database.count("index_groups WHERE id BETWEEN 0 AND 39"), expected);
    }
    let store = open_url(&url, options(Some(40)));
    for number in 1..=5 {
        create_project(&store, number);
    }
    store.close();
    assert_eq!(
        database.count(
            "(SELECT FROM ledgers GROUP BY project_id HAVING count(DISTINCT group_id) = 1) AS projects"
        ),
        5
    );
    assert!(database.count("(SELECT DISTINCT group_id FROM ledgers) AS used") > 1);
    open_url(&url, options(Some(40))).close();
    let clock: Arc<dyn audit_domain::Clock> = Arc::new(crate::NOW);
    let key = audit_ledger::HeadKey::new(&[7; 32]);
    let refused = audit_store::Store::open(&url, options(Some(16)), &key, &clock);
    assert!(
        matches!(&refused, Err(StoreError::Unsupported(why)) if why.contains("has 40 groups")),
        "{:?}",
        refused.err()
    );
    open_url(&url, options(None)).close();
    assert_eq!(database.count("index_groups"), 40);
}
