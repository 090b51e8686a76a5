//! Every file and directory that the service creates is for its owner alone, whatever the umask is.

use crate::log::{STATE_DIRECTORY, store_events, text_of};
use audit_tests::{Database, Deadline, Server, temporary_directory};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

/// The files and directories in a directory, with their permissions.
fn permissions_in(directory: &Path) -> Vec<(PathBuf, u32)> {
    let mut found = Vec::new();
    let mut directories = vec![directory.to_owned()];
    while let Some(directory) = directories.pop() {
        for entry in std::fs::read_dir(&directory).expect("list a directory") {
            let path = entry.expect("list a directory").path();
            // A backup gets its name, or is deleted.
            let Ok(metadata) = path.symlink_metadata() else {
                continue;
            };
            if metadata.is_dir() {
                directories.push(path.clone());
            }
            found.push((path, metadata.permissions().mode() & 0o7777));
        }
    }
    found
}

#[test]
fn everything_that_a_server_creates_is_private_whatever_the_umask() {
    for umask in ["000", "022", "027"] {
        let root = temporary_directory("private-");
        let backups = root.join("backups");
        std::fs::create_dir(&backups).expect("create a directory");
        std::fs::set_permissions(&backups, std::fs::Permissions::from_mode(0o700)).expect("set a mode");
        let database = Database::in_directory(root.join("data/below"));
        let (state, key) = (root.join("state/below"), root.join("keys/below/head-key"));
        let environment = [
            (STATE_DIRECTORY, text_of(&state)),
            ("AUDIT_HEAD_KEY_FILE", text_of(&key)),
            ("AUDIT_BACKUP_DIRECTORY", text_of(&backups)),
            ("AUDIT_BACKUP_EVERY", "1s"),
        ];
        let prefix = ["sh", "-c", &format!("umask {umask}; exec \"$@\""), "sh"].map(str::to_owned);
        let server = Server::start_under(&database, &environment, &prefix);
        let printed = server.stdout();
        let mut words = printed.split_whitespace();
        let key = words.find(|word| word.starts_with("pk_live_")).expect("a key");
        store_events(&server.client().with_credential(key), 300);
        server.wait_for_metric("audit_backups_total", 1);
        let found = permissions_in(&root);
        for (path, mode) in &found {
            let expected = if path.is_dir() { 0o700 } else { 0o600 };
            assert!(
                *mode == expected,
                "umask {umask}: {} has {mode:o}",
                path.display()
            );
        }
        let is_found = |name: &str| found.iter().any(|(path, _)| path.ends_with(name));
        for name in [
            "audit.db",
            "audit.db-wal",
            "audit.db-shm",
            "audit.db-index",
            "audit.db-index-wal",
            "audit.db.signed",
            "audit.db.backup-id",
            "head-key",
        ] {
            assert!(is_found(name), "{name}");
        }
    }
}

#[test]
fn anchors_in_a_directory_are_for_all_to_read() {
    let directory = temporary_directory("anchors-");
    let database = Database::in_directory(temporary_directory("sqlite-"));
    let environment = [("AUDIT_ANCHOR_DIRECTORY", text_of(&directory))];
    let server = Server::start(&database, &environment);
    server.wait_for_metric("audit_anchor_last_timestamp_seconds", 1);
    let anchors = Deadline::seconds(60).poll("an anchor is in the directory", || {
        let is_anchor = |(path, _): &(PathBuf, u32)| path.extension().is_some_and(|end| end == "anchor");
        let found: Vec<_> = permissions_in(&directory).into_iter().filter(is_anchor).collect();
        (!found.is_empty()).then_some(found)
    });
    assert!(anchors.iter().all(|(_, mode)| *mode == 0o644), "{anchors:?}");
}
