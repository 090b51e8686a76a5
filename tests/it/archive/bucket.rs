//! The copy of an archive in a bucket.

use super::{Archive, EVENTS, files_below, started, this_month};
use crate::log::anchors::places::{ACCESS_KEY, REGION, SECRET_KEY, StubBucket};
use crate::log::{store_events, text_of};
use audit_tests::process::Exit;
use audit_tests::{DatabaseKind, Deadline, on_both_databases};

on_both_databases! {
    a_bucket_has_what_the_directory_has_and_no_object_is_replaced,
}

/// Bounds a hang: a server signs within a second.
const SIGNED_SECONDS: u64 = 60;

/// Asserts that the bucket has the files of the archive, and nothing else.
fn assert_copied(archive: &Archive, bucket: &StubBucket) {
    let files = files_below(&archive.directory);
    let files = files.iter().filter(|file| !file.ends_with("_lock"));
    let name_of = |file: &std::path::PathBuf| {
        let name = file
            .strip_prefix(&archive.directory)
            .expect("a file of the archive");
        text_of(name).to_owned()
    };
    let mut names: Vec<String> = files.clone().map(name_of).collect();
    for (file, name) in files.zip(&names) {
        let content = std::fs::read(file).expect("read a file");
        assert!(bucket.object(name) == Some(content), "{name}");
    }
    names.sort();
    assert_eq!(bucket.names(), names);
}

fn a_bucket_has_what_the_directory_has_and_no_object_is_replaced(kind: DatabaseKind) {
    let (database, _server, organization) = started(kind);
    let project = organization.project();
    store_events(&project, EVENTS);
    let (archive, bucket) = (
        Archive::of(&database, &organization),
        StubBucket::start_with(false),
    );
    let url = bucket.url();
    let options = [
        "--archive-bucket",
        &url,
        "--archive-bucket-region",
        REGION,
        "--archive-bucket-access-key",
        ACCESS_KEY,
        "--archive-bucket-secret-key",
        SECRET_KEY,
        "--events-per-file",
        "40",
    ];
    archive.complete(&database, &options);
    assert_copied(&archive, &bucket);
    let before = bucket.names();
    assert!(before.len() >= 6, "{before:?}");

    // Nothing is new, and the directory is lost.
    let again = archive.create(&database, &options).success();
    assert!(again.starts_with("0 events archived in 0 files"), "{again}");
    std::fs::remove_dir_all(&archive.directory).expect("remove the archive");
    archive.complete(&database, &options);
    assert_copied(&archive, &bucket);
    assert_eq!(bucket.names(), before);
    assert_eq!(bucket.refused(), [""; 0]);

    // Another file has the name of the next one.
    let last = archive.parquet().pop().expect("a file");
    let last = last.file_stem().expect("a name").to_string_lossy().into_owned();
    let start: u64 = last
        .split('-')
        .next_back()
        .and_then(|end| end.parse().ok())
        .expect("its end");
    let month = before[0].rsplit_once("/month=").expect("a month").0;
    let next = format!(
        "{month}/month={}/{start:012}-{:012}.parquet",
        this_month(),
        start + 1
    );
    bucket.put(&next, b"of another archive");
    store_events(&project, 1);
    let one = [&options[..options.len() - 1], &["1"]].concat();
    let message = format!("something else is stored as audit/{next}");
    Deadline::seconds(SIGNED_SECONDS).poll("the next file", || {
        let finished = archive.create(&database, &one);
        assert_eq!(finished.exit, Exit::Code(1), "{finished:?}");
        finished.stderr.contains(&message).then_some(())
    });
    assert_eq!(bucket.object(&next).as_deref(), Some(&b"of another archive"[..]));
    assert_eq!(bucket.names().len(), before.len() + 1);
    assert_eq!(bucket.refused(), [format!("412 /anchors/audit/{next}")]);
    archive.verified();
}
