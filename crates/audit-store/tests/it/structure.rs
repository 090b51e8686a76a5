//! The boundaries between the modules of this crate that the compiler does not check.

use std::path::{Path, PathBuf};

/// The paths of all source files of the crate, relative to `src`, each with its identifiers.
fn sources() -> Vec<(String, Vec<String>)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut files = Vec::new();
    let mut folders = vec![root.clone()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).expect("a folder of the sources") {
            let path: PathBuf = entry.expect("a source file").path();
            if path.is_dir() {
                folders.push(path);
            } else {
                let name = path
                    .strip_prefix(&root)
                    .expect("a path in src")
                    .to_str()
                    .expect("a path in UTF-8")
                    .to_owned();
                files.push((
                    name,
                    identifiers(&std::fs::read_to_string(path).expect("a source in UTF-8")),
                ));
            }
        }
    }
    assert!(files.len() > 50, "{} source files", files.len());
    files
}

/// The identifiers of a source file, without its comments.
fn identifiers(source: &str) -> Vec<String> {
    let code = source
        .lines()
        .map(|line| line.split("//").next().unwrap_or_default());
    let words =
        code.flat_map(|line| line.split(|character: char| !character.is_alphanumeric() && character != '_'));
    words.filter(|word| !word.is_empty()).map(str::to_owned).collect()
}

/// Whether a file belongs to a module: `module.rs` or `module/…`.
fn belongs_to(file: &str, module: &str) -> bool {
    file.strip_prefix(module)
        .is_some_and(|rest| rest == ".rs" || rest.starts_with('/'))
}

/// The files for which `is_checked` holds that use one of these identifiers.
fn users<'a>(
    sources: &'a [(String, Vec<String>)],
    is_checked: impl Fn(&str) -> bool,
    forbidden: &[&str],
) -> Vec<(&'a str, &'a str)> {
    let mut found = Vec::new();
    for (file, identifiers) in sources.iter().filter(|(file, _)| is_checked(file)) {
        let used = identifiers
            .iter()
            .filter(|word| forbidden.contains(&word.as_str()));
        found.extend(used.map(|word| (file.as_str(), word.as_str())));
    }
    found
}

const OF_SQLITE: [&str; 4] = ["sqlite", "Sqlite", "SqliteConnection", "SqliteSession"];
const OF_POSTGRES: [&str; 6] = [
    "postgres",
    "pg",
    "Pg",
    "Postgres",
    "PgConnection",
    "PostgresSession",
];

#[test]
fn the_modules_of_the_databases_do_not_use_each_other() {
    let sources = sources();
    assert_eq!(
        users(&sources, |file| belongs_to(file, "postgres"), &OF_SQLITE),
        []
    );
    assert_eq!(
        users(&sources, |file| belongs_to(file, "sqlite"), &OF_POSTGRES),
        []
    );
}

/// The other modules are written once, for both databases.
#[test]
fn only_the_seam_and_the_migrations_name_a_database() {
    // `DatabaseUrl` is public: `lib.rs` names the databases in its example, and declares the modules.
    let is_shared = |file: &str| {
        let databases = ["sqlite", "postgres", "database", "migrate", "lib"];
        !databases.iter().any(|module| belongs_to(file, module))
    };
    let sources = sources();
    let modules = [
        "sqlite",
        "postgres",
        "SqliteSession",
        "PostgresSession",
        "SqliteConnection",
        "PgConnection",
    ];
    assert_eq!(users(&sources, is_shared, &modules), []);
}

#[test]
fn only_the_seam_matches_on_the_database_of_a_session() {
    let sources = sources();
    let outside = sources.iter().filter(|(file, _)| file != "database.rs");
    let matches = outside.filter(|(_, identifiers)| {
        let mut pairs = identifiers.array_windows();
        pairs.any(|[of, variant]| of == "AnySession" && ["Sqlite", "Postgres"].contains(&variant.as_str()))
    });
    let files: Vec<_> = matches.map(|(file, _)| file).collect();
    assert!(files.is_empty(), "{files:?}");
}

#[test]
fn a_use_of_the_other_database_is_found_in_any_spelling() {
    for code in [
        "use crate::sqlite::entry;",
        "use crate::{error, sqlite};",
        "super::super::sqlite::index::path()",
        "fn a(_: &mut SqliteConnection) {}",
    ] {
        let sources = [("postgres/a.rs".to_owned(), identifiers(code))];
        let found = users(&sources, |file| belongs_to(file, "postgres"), &OF_SQLITE);
        assert_eq!(found.len(), 1, "{code}");
    }
    assert!(!identifiers("a // unlike sqlite").contains(&"sqlite".to_owned()));
    assert!(belongs_to("postgres.rs", "postgres") && belongs_to("postgres/a.rs", "postgres"));
    assert!(!belongs_to("postgresql.rs", "postgres"));
}
