//! Archives that were changed, and logs that an archive does not continue.

use super::{Archive, EVENTS, files_below, started};
use crate::log::{store_events, text_of};
use audit_tests::process::Exit;
use audit_tests::{DatabaseKind, command_line, on_both_databases, python, temporary_directory};
use std::path::Path;

on_both_databases! {
    a_changed_archive_is_refused,
    another_log_does_not_continue_an_archive,
}

impl Archive {
    pub(crate) fn copy(&self) -> Self {
        let directory = temporary_directory("archive-").join("copy");
        for path in files_below(&self.directory) {
            let to = directory.join(path.strip_prefix(&self.directory).expect("a file of the archive"));
            std::fs::create_dir_all(to.parent().expect("a directory")).expect("create a directory");
            std::fs::copy(&path, to).expect("copy a file");
        }
        Self {
            directory,
            key: self.key.clone(),
            log: self.log.clone(),
        }
    }

    /// A copy with a change is refused, by the program for this reason; by that of the documentation, too, if it looks at that.
    fn refuse(&self, reason: &str, change: impl Fn(&Self), example_looks: bool) {
        let mut changed = self.copy();
        change(&changed);
        changed.key = self.key.clone();
        changed.expect_refused(reason);
        if let Some(python) = python().filter(|_| example_looks) {
            let output = changed.run_example(&python);
            assert!(!output.status.success(), "{reason}: {output:?}");
        }
    }

    fn expect_refused(&self, reason: &str) {
        let finished = self.verify();
        assert_eq!(finished.exit, Exit::Code(1), "{reason}: {finished:?}");
        assert!(
            finished.stderr.contains("REFUSED: ") && finished.stderr.contains(reason),
            "{reason}: {finished:?}"
        );
    }
}

pub(super) fn edit(path: &Path, change: impl FnOnce(&mut Vec<u8>)) {
    let mut bytes = std::fs::read(path).expect("read a file");
    change(&mut bytes);
    std::fs::write(path, bytes).expect("write a file");
}

pub(super) fn remove(path: &Path) {
    std::fs::remove_file(path).expect("remove a file");
}

fn a_changed_archive_is_refused(kind: DatabaseKind) {
    let (database, _server, organization) = started(kind);
    store_events(&organization.project(), EVENTS);
    let archive = Archive::of(&database, &organization);
    archive.complete(&database, &["--events-per-file", "40"]);
    archive.verified();
    archive.refuse(
        "the file is another one",
        |archive| edit(&archive.parquet()[1], |bytes| bytes[900] ^= 1),
        true,
    );
    archive.refuse(
        "the file is another one",
        |archive| edit(&archive.parquet()[1], |bytes| bytes.truncate(bytes.len() - 1)),
        true,
    );
    archive.refuse("No such file", |archive| remove(&archive.parquet()[1]), true);
    let without_part = |archive: &Archive| {
        remove(&archive.parquet()[1]);
        remove(&archive.manifests()[1]);
    };
    archive.refuse("the events from 40 on are missing", without_part, true);
    archive.refuse(
        "the events from 40 on are missing",
        |archive| remove(&archive.manifests()[1]),
        true,
    );
    let swapped = |archive: &Archive| {
        let files = archive.parquet();
        let first = std::fs::read(&files[0]).expect("read a file");
        std::fs::copy(&files[1], &files[0]).expect("copy a file");
        std::fs::write(&files[1], first).expect("write a file");
    };
    archive.refuse("the file is another one", swapped, true);
    let added = |archive: &Archive| {
        let file = &archive.parquet()[0];
        std::fs::copy(file, file.with_file_name("more.parquet")).expect("copy a file");
    };
    archive.refuse("more.parquet is not of an archive", added, true);
    let hidden = |archive: &Archive| {
        let file = &archive.parquet()[0];
        let log = file.ancestors().nth(2).expect("the directory of the log");
        let folder = log.join("_file.new/month=2026-01");
        std::fs::create_dir_all(&folder).expect("create a directory");
        std::fs::copy(file, folder.join("more.parquet")).expect("copy a file");
    };
    archive.refuse("_file.new is not of an archive", hidden, true);
    let of_another_month = |archive: &Archive| {
        let file = &archive.parquet()[0];
        let month = file.parent().expect("the directory of the month");
        std::fs::rename(month, month.with_file_name("month=2020-01")).expect("rename a directory");
    };
    archive.refuse("in the directory of another month", of_another_month, true);
    let elsewhere = |archive: &Archive| {
        std::fs::write(archive.directory.join("notes.txt"), "").expect("write a file");
    };
    archive.refuse("notes.txt is not of an archive", elsewhere, false);
    let rewritten = |archive: &Archive| {
        edit(&archive.manifests()[1], |bytes| bytes.push(b'\n'));
    };
    archive.refuse("not written as the service writes it", rewritten, true);
    let unsigned = |archive: &Archive| {
        edit(&archive.manifests()[2], |bytes| {
            let text = String::from_utf8(bytes.clone()).expect("UTF-8");
            let at = text.find("=\\n\",").expect("the end of a signature") - 20;
            bytes[at] = if bytes[at] == b'A' { b'B' } else { b'A' };
        });
    };
    archive.refuse("its checkpoint is wrong", unsigned, true);

    // An archive may end early: it says where.
    let shorter = archive.copy();
    remove(shorter.parquet().last().expect("a file"));
    remove(shorter.manifests().last().expect("a manifest"));
    let said = shorter.verified();
    assert!(
        said.contains("the first 80 positions of the log of 120"),
        "{said}"
    );

    let mut other = archive.copy();
    other.log = other.log.replace("/live", "/test");
    other.expect_refused("it has no such log");
    let mut other = archive.copy();
    other.log = format!("other/{}", other.log.split_once('/').expect("a name").1);
    other.expect_refused("it is of the log");
    let (database, _server, _) = started(DatabaseKind::Sqlite);
    let mut other = archive.copy();
    other.key = audit_tests::command_line_on(&database, &["log", "key"]).success();
    other.expect_refused("its checkpoint is wrong");
    let empty = temporary_directory("archive-");
    let none = command_line(&["archive", "verify", text_of(&empty), "--key", &archive.key]);
    assert_eq!(none.exit, Exit::Code(1), "{none:?}");
    let missing = empty.join("missing");
    let none = command_line(&["archive", "verify", text_of(&missing), "--key", &archive.key]);
    assert_eq!(none.exit, Exit::Code(2), "{none:?}");
    assert!(none.stderr.contains("missing: No such file"), "{none:?}");
}

/// A database that was restored from a backup has other events at the positions of the archive, or fewer.
fn another_log_does_not_continue_an_archive(kind: DatabaseKind) {
    let (database, server, organization) = started(kind);
    let project = organization.project();
    store_events(&project, 5);
    let archive = Archive::of(&database, &organization);
    archive.complete(&database, &[]);
    crate::log::stop(server);
    let backup = database.copy();
    let server = audit_tests::Server::start(&database, &[]);
    store_events(&organization.on(&server).project(), 5);
    let longer = archive.copy();
    longer.complete(&database, &[]);
    let refusal = longer.create(&backup, &[]).refusal();
    assert!(refusal.contains("the log is signed up to"), "{refusal}");
    let restored = audit_tests::Server::start(&backup, &[]);
    store_events(&organization.on(&restored).project(), 20);
    let refusal = audit_tests::Deadline::seconds(60).poll("other events that are signed", || {
        let refusal = longer.create(&backup, &[]).refusal();
        refusal
            .contains("has other events than the log")
            .then_some(refusal)
    });
    assert!(refusal.contains("into a new directory"), "{refusal}");
    // The one from before the backup goes on.
    archive.complete(&backup, &[]);
    // Under the next name of the log no key would verify all of the archive.
    crate::log::stop(restored);
    audit_tests::command_line_on(&backup, &["log", "new-name"]).success();
    let _renamed = audit_tests::Server::start(&backup, &[]);
    audit_tests::Deadline::seconds(60).poll("a checkpoint under the new name", || {
        let said = archive.create(&backup, &[]).stderr;
        said.contains("is now named").then_some(())
    });
    archive.verified();
}
