//! What a schema of the store must be so that Citus can place it on a server and move it. Citus itself is not needed for this.

use crate::open_at;
use audit_tests::{Database, DatabaseKind};
use std::path::Path;

/// Objects of a cell's schema that schema-based sharding refuses, does not move with the tables, or moves too late.
const REFUSED: [(&str, &str); 10] = [
    (
        "a sequence exists on one server only",
        "pg_class WHERE relkind = 'S' AND relnamespace = 'cell'::regnamespace",
    ),
    (
        "a foreign key refers to a table outside",
        "pg_constraint JOIN pg_class AS target ON target.oid = confrelid \
         WHERE contype = 'f' AND connamespace = 'cell'::regnamespace AND target.relnamespace <> connamespace",
    ),
    (
        "a foreign key from outside refers to a table",
        "pg_constraint JOIN pg_class AS target ON target.oid = confrelid \
         WHERE contype = 'f' AND connamespace <> 'cell'::regnamespace AND target.relnamespace = 'cell'::regnamespace",
    ),
    (
        "a table has no primary key, which the logical replication of a move needs",
        "pg_class WHERE relkind IN ('r', 'p') AND relnamespace = 'cell'::regnamespace \
         AND NOT EXISTS (SELECT FROM pg_index WHERE indrelid = pg_class.oid AND indisprimary)",
    ),
    (
        "a table is inherited from or unlogged",
        "pg_class WHERE relkind IN ('r', 'p') AND relnamespace = 'cell'::regnamespace AND (relpersistence <> 'p' \
         OR EXISTS (SELECT FROM pg_inherits WHERE inhrelid = pg_class.oid AND NOT relispartition))",
    ),
    (
        "a partition is outside of the schema of its table",
        "pg_inherits JOIN pg_class AS child ON child.oid = inhrelid JOIN pg_class AS parent ON parent.oid = inhparent \
         WHERE parent.relnamespace = 'cell'::regnamespace AND child.relnamespace <> parent.relnamespace",
    ),
    (
        "a relation is no table and no index",
        "pg_class WHERE relkind NOT IN ('r', 'p', 'i', 'I', 'S', 'c') AND relnamespace = 'cell'::regnamespace",
    ),
    (
        "a function, which Citus does not move",
        "pg_proc WHERE pronamespace = 'cell'::regnamespace",
    ),
    (
        "a trigger or a rule",
        "(SELECT tgrelid AS relation FROM pg_trigger WHERE NOT tgisinternal UNION ALL SELECT ev_class FROM pg_rewrite) AS found \
         JOIN pg_class ON pg_class.oid = relation WHERE relnamespace = 'cell'::regnamespace",
    ),
    (
        "an exclusion constraint, a generated or an identity column",
        "(SELECT conrelid AS relation FROM pg_constraint WHERE contype = 'x' \
          UNION ALL SELECT attrelid FROM pg_attribute WHERE attnum > 0 AND (attidentity <> '' OR attgenerated <> '')) AS found \
         JOIN pg_class ON pg_class.oid = relation WHERE relnamespace = 'cell'::regnamespace",
    ),
];

/// A database with the schema `cell` of a store; `None` where there is no PostgreSQL, and the test passes.
fn database_with_cell() -> Option<Database> {
    let kind = DatabaseKind::Postgres;
    if !kind.is_available() {
        return None;
    }
    let database = Database::create(kind);
    let separator = if database.url().contains('?') { '&' } else { '?' };
    open_at(&format!("{}{separator}schema=cell", database.url())).close();
    Some(database)
}

#[test]
fn the_schema_of_a_cell_has_nothing_that_citus_refuses_or_leaves_behind() {
    let Some(database) = database_with_cell() else {
        return;
    };
    let tables = "pg_class WHERE relkind IN ('r', 'p') AND relnamespace = 'cell'::regnamespace";
    assert!(database.count(tables) > 40);
    for (what, objects) in REFUSED {
        assert_eq!(database.count(objects), 0, "{what}");
    }
}

#[test]
fn each_of_these_objects_is_found() {
    let Some(database) = database_with_cell() else {
        return;
    };
    database.execute(
        "SET search_path = cell; CREATE SCHEMA other;
         CREATE SEQUENCE a_sequence;
         CREATE TABLE other.target (id BIGINT PRIMARY KEY);
         CREATE TABLE outwards (id BIGINT PRIMARY KEY REFERENCES other.target (id));
         CREATE TABLE other.inwards (id BIGINT PRIMARY KEY REFERENCES counters_like (id));
         CREATE TABLE without_key (id BIGINT)"
            .replace(
                "CREATE TABLE other.inwards",
                "CREATE TABLE counters_like (id BIGINT PRIMARY KEY); CREATE TABLE other.inwards",
            )
            .as_str(),
    );
    database.execute(
        "SET search_path = cell;
         CREATE UNLOGGED TABLE unlogged (id BIGINT PRIMARY KEY);
         CREATE TABLE other.events_1970_01 PARTITION OF events FOR VALUES FROM (0) TO (1);
         CREATE VIEW a_view AS SELECT 1 AS one;
         CREATE FUNCTION a_function() RETURNS TRIGGER LANGUAGE plpgsql AS 'BEGIN RETURN NULL; END';
         CREATE TRIGGER a_trigger AFTER INSERT ON counters FOR EACH ROW EXECUTE FUNCTION a_function();
         CREATE TABLE numbered (id BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY)",
    );
    for (what, objects) in REFUSED {
        assert_ne!(database.count(objects), 0, "{what}");
    }
}

/// The storage settings of a cell's tables: what PostgreSQL would do otherwise is in the comments of the migration.
#[test]
fn tables_have_their_storage_settings() {
    let Some(database) = database_with_cell() else {
        return;
    };
    let settings = [
        ("api_keys", "fillfactor=50"),
        ("ledgers", "fillfactor=70"),
        ("log_checkpoints", "fillfactor=70"),
        (
            "event_backlog",
            "autovacuum_vacuum_threshold=2000,autovacuum_vacuum_scale_factor=0,autovacuum_vacuum_cost_delay=0",
        ),
        (
            "index_blocks",
            "toast_tuple_target=8160,autovacuum_vacuum_scale_factor=0.05",
        ),
    ];
    for (table, options) in settings {
        let found = format!(
            "pg_class WHERE oid = 'cell.{table}'::regclass AND array_to_string(reloptions, ',') = '{options}'"
        );
        assert_eq!(database.count(&found), 1, "{table}: {options}");
    }
    let others = "pg_class WHERE reloptions IS NOT NULL AND relnamespace = 'cell'::regnamespace";
    assert_eq!(
        database.count(others),
        settings.len() as i64,
        "settings that are not listed"
    );
    // What does not compress is stored as it is.
    let uncompressed = [
        ("index_blocks", "bytes"),
        ("log_tiles", "hashes"),
        ("removed_events", "records"),
        ("tenant_tiles", "hashes"),
    ];
    for (table, column) in uncompressed {
        let found = format!(
            "pg_attribute WHERE attrelid = 'cell.{table}'::regclass AND attname = '{column}' AND attstorage = 'e'"
        );
        assert_eq!(database.count(&found), 1, "{table}.{column}");
    }
}

/// Each table is named without its schema, so that all statements of a session stay in its cell; and nothing draws from a
/// sequence.
#[test]
fn no_statement_names_a_schema_or_a_sequence() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut folders = vec![root];
    let mut files = 0;
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).expect("a folder of the sources") {
            let path = entry.expect("a source file").path();
            if path.is_dir() {
                folders.push(path);
                continue;
            }
            files += 1;
            let source = std::fs::read_to_string(&path).expect("a source in UTF-8");
            let code: Vec<&str> = source
                .lines()
                .map(|line| line.split("//").next().unwrap_or_default())
                .collect();
            let code = code.join("\n");
            for forbidden in [
                "nextval",
                "setval",
                "currval",
                "lastval",
                "public.",
                "search_path =",
            ] {
                let is_allowed = forbidden == "search_path =" && path.ends_with("postgres/connection.rs");
                assert!(
                    is_allowed || !code.contains(forbidden),
                    "{forbidden} in {}",
                    path.display()
                );
            }
        }
    }
    assert!(files > 50, "{files} source files");
}
