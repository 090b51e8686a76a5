//! The file of the index, and how a connection reads it.

use std::path::{Path, PathBuf};

/// The path of the index of the database at `database`.
pub(crate) fn path(database: &Path) -> PathBuf {
    let mut path = database.as_os_str().to_owned();
    path.push("-index");
    path.into()
}

/// The statement that attaches the index to a connection of the database, read-only: a transaction that writes the database
/// must not wait for the indexer.
pub(crate) fn attach_statement(database: &Path) -> String {
    let mut uri = String::from("file:");
    for character in path(database).to_string_lossy().chars() {
        match character {
            '%' => uri.push_str("%25"),
            '?' => uri.push_str("%3f"),
            '#' => uri.push_str("%23"),
            '\'' => uri.push_str("''"),
            other => uri.push(other),
        }
    }
    format!("ATTACH DATABASE '{uri}?mode=ro' AS search")
}
