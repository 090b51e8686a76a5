//! Keys from files and programs.

use super::{KEY, NEW, OLD, on_both, run, start, status, stop};
use audit_tests::{DatabaseKind, serve_refused, temporary_directory};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

fn text_of(path: &Path) -> &str {
    path.to_str().expect("a path in UTF-8")
}

#[test]
fn keys_come_from_files_and_programs() {
    let database = on_both(DatabaseKind::Sqlite);
    let folder = temporary_directory("keys-");
    let (old, new, hash) = (folder.join("old"), folder.join("new key"), folder.join("hash"));
    for (file, key) in [(&old, OLD), (&new, NEW), (&hash, "hash key")] {
        std::fs::write(file, format!("{key}\n")).expect("write a key");
        std::fs::set_permissions(file, PermissionsExt::from_mode(0o440)).expect("set the mode");
    }
    let server = start(
        &database,
        &[
            ("AUDIT_ENCRYPTION_KEY_FILE", text_of(&old)),
            ("AUDIT_HASH_KEY_FILE", text_of(&hash)),
        ],
    );
    let finished = server.stop();
    assert!(
        !finished.stderr.contains("every user of the machine can read"),
        "{}",
        finished.stderr
    );
    finished.success();
    assert!(status(&database, &[(KEY, OLD)]).1);
    let command = format!("cat '{}'", text_of(&new));
    let both = [
        ("AUDIT_ENCRYPTION_KEY_COMMAND", command.as_str()),
        ("AUDIT_ENCRYPTION_KEYS_PREVIOUS_FILE", text_of(&old)),
    ];
    run(&database, &["secrets", "rewrap"], &both).success();
    stop(start(&database, &[(KEY, NEW)]));
    // A file that everybody can read is used, and reported.
    std::fs::set_permissions(&new, PermissionsExt::from_mode(0o644)).expect("set the mode");
    let server = start(&database, &[("AUDIT_ENCRYPTION_KEY_FILE", text_of(&new))]);
    let finished = server.stop();
    assert!(
        finished.stderr.contains("every user of the machine can read"),
        "{}",
        finished.stderr
    );
}

#[test]
fn a_key_with_two_sources_or_none_that_works_is_refused() {
    let database = on_both(DatabaseKind::Sqlite);
    for (keys, why) in [
        (
            &[(KEY, OLD), ("AUDIT_ENCRYPTION_KEY_FILE", "/nonexistent")][..],
            "give one of them",
        ),
        (
            &[("AUDIT_HASH_KEY", "a"), ("AUDIT_HASH_KEY_COMMAND", "echo a")],
            "give one of them",
        ),
        (&[("AUDIT_ENCRYPTION_KEY_FILE", "/nonexistent")], "/nonexistent"),
        (&[("AUDIT_ENCRYPTION_KEY_COMMAND", "false")], "exit status: 1"),
        (
            &[("AUDIT_ENCRYPTION_KEY_COMMAND", "echo secret")],
            "32 random bytes",
        ),
        (&[("AUDIT_HASH_KEY_FILE", "/dev/null")], "the key is empty"),
        (&[("AUDIT_HASH_KEYS_PREVIOUS", "a,,b")], "a key is empty"),
        (&[(KEY, "")], "the key is empty"),
    ] {
        let refused = serve_refused(&database, keys);
        assert!(refused.contains(why), "{refused}");
        assert_eq!(refused.lines().count(), 1, "{refused}");
        assert!(!refused.contains(OLD), "{refused}");
    }
}
