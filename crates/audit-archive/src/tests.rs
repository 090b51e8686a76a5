//! Archives that are written and verified, and changed ones that are refused.

use super::*;
use audit_domain::{
    Environment, Event, EventField, EventId, EventPart, LogName, Month, PartMask, ProjectId, Record, Stamp,
    StoredEvent, StoredSalt, Timestamp, erase_parts, json,
};
use audit_ledger::{
    Checkpoint, ConsistencyProof, Frontier, Hash, KeyName, Origin, SignedCheckpoint, SigningKey, Subtree,
    VerifierKey,
};
use proptest::prelude::*;
use serde_json::{Value, json};
use std::fs::File;

/// 2026-01-15.
const NOW: Timestamp = Timestamp::from_seconds(1_768_473_000);

fn log() -> LogName {
    LogName::new(ProjectId::from_random([1; 16]), Environment::Live)
}

fn key() -> SigningKey {
    SigningKey::from_seed(KeyName::parse("audit.example.com").unwrap(), &[7; 32]).unwrap()
}

/// The event with this content at a position, received then.
fn event_at(seq: u64, at: Timestamp, mut value: Value, claimed: bool) -> StoredEvent {
    value["tenant_id"] = value.get("tenant_id").cloned().unwrap_or_else(|| json!("acme"));
    let service = value["tenant_id"] == json!("audit-server");
    if service {
        value["tenant_id"] = json!("audit-servex");
    }
    let text = value.to_string();
    let parsed = json::parse(text.as_bytes()).unwrap();
    let mut event = Event::from_json(parsed, NOW).unwrap();
    if service {
        event.tenant_id = "audit-server".to_owned();
    }
    let stamp = Stamp {
        id: EventId::new(at, [seq as u8; 10]),
        received_at: at,
    };
    let mut record = Record::new(&event, seq.is_multiple_of(3), stamp);
    if claimed {
        let object = serde_json::from_str(record.canonical()).unwrap();
        let occurred_at = record.occurred_at();
        record = Record::claimed(object, record.redacted(), stamp, occurred_at, at).unwrap();
    }
    let salt = audit_domain::ContentSalt::from_bytes([seq as u8 + 1; 16]);
    let hashed = record.hashed(salt, &log());
    StoredEvent {
        id: hashed.stamp().id,
        occurred_at: hashed.occurred_at(),
        canonical: hashed.canonical().to_owned(),
        content_hash: hashed.content_hash(),
        content_salt: StoredSalt::Whole(salt),
        redacted: hashed.redacted(),
    }
}

fn erased(event: &StoredEvent, mask: PartMask, erasure: u64) -> StoredEvent {
    let (canonical, content_salt) =
        erase_parts(&event.canonical, &event.content_salt, mask, erasure).expect("an event");
    StoredEvent {
        canonical,
        content_salt,
        ..event.clone()
    }
}

fn written(events: &[(u64, StoredEvent)]) -> File {
    let mut writer = EventWriter::new(tempfile::tempfile().unwrap()).unwrap();
    for (seq, event) in events {
        writer.append(*seq, event).unwrap();
    }
    let (file, count) = writer.finish().unwrap();
    assert_eq!(count, events.len() as u64);
    file
}

/// What was read of an event: its position, texts, salt and flag.
type Read = (u64, Vec<String>, StoredSalt, bool);

fn read(file: File) -> Result<Vec<Read>> {
    let mut events = Vec::new();
    read_events(file, &log(), |event| {
        let stored = event.to_stored().expect("an event");
        assert_eq!(
            stored.computed_hash(&log()),
            Some(event.content_hash),
            "{stored:?}"
        );
        let texts = EventField::ALL
            .iter()
            .map(|field| event.fields().get(*field).to_owned());
        events.push((
            event.seq,
            texts.collect(),
            event.content_salt.clone(),
            event.redacted,
        ));
        Ok(())
    })?;
    Ok(events)
}

/// What is expected to be read of events.
fn expected(events: &[(u64, StoredEvent)]) -> Vec<Read> {
    let of = |(seq, event): &(u64, StoredEvent)| {
        let fields = audit_domain::FieldTexts::find(&event.canonical).unwrap();
        let texts = EventField::ALL.iter().map(|field| fields.get(*field).to_owned());
        (*seq, texts.collect(), event.content_salt.clone(), event.redacted)
    };
    events.iter().map(of).collect()
}

/// A log of eight positions in two months. Event 1 was removed under event 4, and event 3 lost parts under event 6.
struct Log {
    events: Vec<StoredEvent>,
    gone: Vec<u64>,
}

impl Log {
    fn new() -> Self {
        let mut events: Vec<StoredEvent> = (0..8)
            .map(|seq| {
                // The second month begins with event 5.
                let at = NOW.plus_seconds(seq as i64 + if seq >= 5 { 31 * 86_400 } else { 0 });
                let value = match seq {
                    4 => service_event("audit.events.removed"),
                    6 => service_event("audit.events.erased"),
                    _ => json!({"action": "user.created", "category": "mutation", "actor": {"id": "u1", "type": "user"},
                        "metadata": {"n": seq}}),
                };
                event_at(seq, at, value, false)
            })
            .collect();
        let parts = PartMask::of_parts([EventPart::Metadata, EventPart::ActorId]).unwrap();
        events[3] = erased(&events[3], parts, 6);
        Self {
            events,
            gone: vec![1],
        }
    }

    fn leaves(&self) -> Vec<Hash> {
        self.events
            .iter()
            .map(|event| Hash::of_event(&event.content_hash))
            .collect()
    }

    fn frontier(&self, size: u64) -> Frontier {
        let mut frontier = Frontier::new();
        for leaf in &self.leaves()[..size as usize] {
            frontier.append(*leaf);
        }
        frontier
    }

    fn checkpoint(&self, size: u64) -> SignedCheckpoint {
        let origin = Origin::parse(&format!("audit.example.com/{}", log().as_str())).unwrap();
        key().sign(Checkpoint::new(origin, self.frontier(size).head()))
    }

    /// The file and the manifest of a range.
    fn part(&self, seqs: std::ops::Range<u64>, previous: Option<&str>) -> (File, Manifest) {
        let there = seqs.clone().filter(|seq| !self.gone.contains(seq));
        let events: Vec<_> = there
            .map(|seq| (seq, self.events[seq as usize].clone()))
            .collect();
        let mut file = written(&events);
        let (file_digest, file_bytes) = file_digest(&mut file).unwrap();
        let mut removed = Vec::new();
        for seq in seqs.clone().filter(|seq| self.gone.contains(seq)) {
            RemovedRun::push(&mut removed, seq, self.events[seq as usize].content_hash, 4);
        }
        let size = self.events.len() as u64;
        let edge = |subtree: Subtree| {
            let mut below = Frontier::new();
            for seq in subtree.leaves() {
                below.append(self.leaves()[seq as usize]);
            }
            Ok::<_, std::convert::Infallible>(below.root())
        };
        let manifest = Manifest {
            log: log(),
            month: Month::of(NOW).plus(i32::from(seqs.start >= 5)),
            events: events.len() as u64,
            file_bytes,
            file_digest,
            removed,
            frontier: self.frontier(seqs.start),
            root: self.frontier(seqs.end).root(),
            checkpoint: self.checkpoint(size).note().to_owned(),
            consistency: ConsistencyProof::prove(seqs.end, size, edge).unwrap(),
            previous: previous.map(Manifest::digest),
            seqs,
        };
        (file, manifest)
    }
}

fn service_event(action: &str) -> Value {
    json!({"action": action, "category": "security", "tenant_id": "audit-server", "actor": {"id": "x", "type": "system"}})
}

fn open(note: &str) -> Result<SignedCheckpoint> {
    let key: VerifierKey = key().verifier().clone();
    Ok(SignedCheckpoint::open_of_owner(note, &key)?)
}

/// Verifies one file at the beginning of a log.
fn verify(text: &str, file: &File) -> Result<Chain> {
    let mut chain = Chain::new(log());
    chain.add(text, file.try_clone().unwrap(), open)?;
    Ok(chain)
}

fn refused(text: &str, file: &File) -> String {
    let mut error: &dyn std::error::Error = &verify(text, file).expect_err("refused");
    let mut said = error.to_string();
    while let Some(source) = error.source() {
        said = format!("{said}: {source}");
        error = source;
    }
    said
}

#[test]
fn a_chain_of_files_has_every_event_of_the_log() {
    let log = Log::new();
    let (first, first_manifest) = log.part(0..5, None);
    let first_text = first_manifest.to_string();
    let (second, second_manifest) = log.part(5..8, Some(&first_text));
    let second_text = second_manifest.to_string();
    assert_eq!(Manifest::parse(&first_text).unwrap(), first_manifest);
    let mut chain = verify(&first_text, &first).unwrap();
    assert!(chain.waits_for_removals(), "the erasure is in the next file");
    chain
        .add(&second_text, second.try_clone().unwrap(), open)
        .unwrap();
    assert_eq!((chain.events, chain.erased, chain.removed), (7, 1, 1));
    assert!(!chain.waits_for_removals());
    assert_eq!(chain.head(), *log.checkpoint(8).head());
    // Not without the first one, nor after another.
    assert!(matches!(
        verify(&second_text, &second),
        Err(ArchiveError::Chain(_))
    ));
    let (_, mut other) = log.part(0..5, None);
    other.checkpoint = log.checkpoint(8).note().to_owned() + "\u{2014} witness AAAAAAAA\n";
    let mut chain = verify(&other.to_string(), &first).unwrap();
    let error = chain.add(&second_text, second, open).unwrap_err();
    assert!(
        error.to_string().contains("another manifest before it"),
        "{error}"
    );
}

#[test]
fn a_manifest_with_another_content_is_refused() {
    let log = Log::new();
    let (file, manifest) = log.part(0..5, None);
    verify(&manifest.to_string(), &file).unwrap();
    let changed = |change: &dyn Fn(&mut Manifest)| {
        let mut other = manifest.clone();
        change(&mut other);
        refused(&other.to_string(), &file)
    };
    let other_hash = log.events[7].content_hash;
    for (change, expected) in [
        (
            &(|m: &mut Manifest| m.log = LogName::new(ProjectId::from_random([1; 16]), Environment::Test))
                as &dyn Fn(&mut Manifest),
            "of another log",
        ),
        (
            &|m: &mut Manifest| m.month = m.month.plus(1),
            "received in another month",
        ),
        (
            &|m: &mut Manifest| m.seqs.end += 1,
            "are not those of the 6 positions",
        ),
        (&|m: &mut Manifest| m.seqs.end = 0, "no positions"),
        (
            &|m: &mut Manifest| m.events += 1,
            "are not those of the 5 positions",
        ),
        (&|m: &mut Manifest| m.file_bytes += 1, "the file is another one"),
        (
            &|m: &mut Manifest| m.file_digest = Manifest::digest(""),
            "the file is another one",
        ),
        (
            &|m: &mut Manifest| m.frontier = log.frontier(1),
            "not written as the service writes it",
        ),
        (&|m: &mut Manifest| m.root = Hash::of_empty_tree(), "root"),
        (
            &|m: &mut Manifest| m.consistency = ConsistencyProof::from_hashes(Vec::new()),
            "not those of the signed checkpoint",
        ),
        (
            &|m: &mut Manifest| m.checkpoint = log.checkpoint(4).note().to_owned(),
            "wrong",
        ),
        (
            &|m: &mut Manifest| m.checkpoint = m.checkpoint.replace("\n8\n", "\n9\n"),
            "its checkpoint is wrong",
        ),
        (
            &|m: &mut Manifest| m.previous = Some(Manifest::digest("")),
            "another manifest before it",
        ),
        (
            &|m: &mut Manifest| m.removed.clear(),
            "are not those of the 5 positions",
        ),
        (
            &|m: &mut Manifest| m.removed[0].content_hashes[0] = other_hash,
            "root",
        ),
        (
            &|m: &mut Manifest| m.removed[0].first_seq = 2,
            "where event 1 belongs",
        ),
        (
            &|m: &mut Manifest| m.removed[0].removal = 8,
            "a run is not where it can be",
        ),
        (
            &|m: &mut Manifest| m.removed[0].removal = 1,
            "a run is not where it can be",
        ),
        (
            &|m: &mut Manifest| m.removed[0].removal = 3,
            "authorises no removal",
        ),
    ] {
        let said = changed(change);
        assert!(said.contains(expected), "{expected}: {said}");
    }
}

#[test]
fn a_manifest_with_another_byte_is_refused() {
    let (file, manifest) = Log::new().part(0..5, None);
    let text = manifest.to_string();
    for at in 0..text.len() {
        let mut bytes = text.clone().into_bytes();
        bytes[at] ^= 1;
        let Ok(other) = String::from_utf8(bytes) else {
            continue;
        };
        match verify(&other, &file) {
            Ok(chain) => {
                // The event that authorises the removal would be behind the end of the archive.
                assert!(text[..at].ends_with("\"removal\": "), "byte {at}");
                assert!(chain.waits_for_removals());
            }
            Err(_) => continue,
        }
    }
    for other in [
        format!("{text}\n"),
        text.replace(": ", ":"),
        text.replacen('{', "{\"a\":1,", 1),
    ] {
        refused(&other, &file);
    }
}

#[test]
fn a_file_with_other_rows_is_refused() {
    let log = Log::new();
    let rows = |seqs: &[u64]| -> Vec<_> {
        seqs.iter()
            .map(|seq| (*seq, log.events[*seq as usize].clone()))
            .collect()
    };
    let (_, manifest) = log.part(0..5, None);
    let of_file = |events: &[(u64, StoredEvent)]| {
        let mut file = written(events);
        let mut manifest = manifest.clone();
        (manifest.file_digest, manifest.file_bytes) = file_digest(&mut file).unwrap();
        (manifest.to_string(), file)
    };
    let (text, file) = of_file(&rows(&[0, 2, 3, 4]));
    verify(&text, &file).unwrap();
    let mut renamed = rows(&[0, 2, 3, 4]);
    renamed[1].0 = 1;
    let mut of_another = rows(&[0, 2, 3, 4]);
    of_another[1].1 = log.events[7].clone();
    let mut backwards = rows(&[0, 2, 3, 4]);
    backwards[0].1 = event_at(
        0,
        NOW.plus_seconds(60),
        json!({"action": "a.b", "category": "auth",
        "actor": {"id": "u", "type": "user"}}),
        false,
    );
    let mut restored = rows(&[0, 2, 3, 4]);
    restored[2].1.content_salt = audit_domain::ContentSalt::from_bytes([4; 16]).into();
    for (events, expected) in [
        (rows(&[0, 2, 3]), "the file has 3 events and not 4"),
        (rows(&[0, 2, 4]), "where event 3 belongs is event 4"),
        (rows(&[0, 2, 3, 4, 5]), "received in another month"),
        (rows(&[0, 3, 2, 4]), "where event 2 belongs"),
        (renamed, "where event 2 belongs"),
        (of_another, "received in another month"),
        (backwards, "received before the event"),
        (restored, "does not have its content hash"),
        (Vec::new(), "where event 0 belongs is event 1"),
    ] {
        let (text, file) = of_file(&events);
        let said = refused(&text, &file);
        assert!(said.contains(expected), "{expected}: {said}");
    }
}

/// What is read of a file with one byte changed is refused or the same. `redacted` is not proved.
#[test]
fn a_file_with_another_byte_is_refused_or_has_the_same_events() {
    let log = Log::new();
    let events: Vec<_> = [0, 3].map(|seq| (seq, log.events[seq as usize].clone())).into();
    let bytes = {
        let mut file = written(&events);
        file_digest(&mut file).unwrap();
        let mut bytes = Vec::new();
        std::io::Seek::rewind(&mut file).unwrap();
        std::io::Read::read_to_end(&mut file, &mut bytes).unwrap();
        bytes
    };
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("changed.parquet");
    let same = |read: Vec<Read>| {
        read.into_iter()
            .map(|(seq, texts, salt, _)| (seq, texts, salt))
            .collect::<Vec<_>>()
    };
    let mut refused = 0;
    for at in (0..bytes.len()).step_by(2) {
        let mut changed = bytes.clone();
        changed[at] ^= 1;
        std::fs::write(&path, &changed).unwrap();
        match read(File::open(&path).unwrap()) {
            // Names and sizes in the footer that no reader needs, and the flag.
            Ok(read) => assert_eq!(same(read), same(expected(&events)), "byte {at}"),
            Err(_) => refused += 1,
        }
    }
    assert!(refused > bytes.len() / 4, "{refused} of {}", bytes.len() / 2);
}

#[test]
fn statistics_that_would_hide_events_are_refused() {
    let log = Log::new();
    let mut file = written(&[(0, log.events[0].clone())]);
    let mut bytes = Vec::new();
    std::io::Seek::rewind(&mut file).unwrap();
    std::io::Read::read_to_end(&mut file, &mut bytes).unwrap();
    // Pages are compressed: the name of the tenant is in the footer alone.
    let places: Vec<usize> = (0..bytes.len())
        .filter(|at| bytes[*at..].starts_with(b"acme"))
        .collect();
    assert!(!places.is_empty());
    for at in places {
        bytes[at..at + 4].copy_from_slice(b"bbbb");
    }
    let mut changed = tempfile::tempfile().unwrap();
    std::io::Write::write_all(&mut changed, &bytes).unwrap();
    let error = read(changed).expect_err("the tenant is not found by them");
    assert!(
        matches!(&error, ArchiveError::Statistics(column) if column == "tenant_id"),
        "{error}"
    );
}

/// Some readers find the values of a column by its name in the row group.
#[test]
fn columns_with_the_names_of_others_are_refused() {
    let log = Log::new();
    let mut file = written(&[(0, log.events[0].clone())]);
    let mut bytes = Vec::new();
    std::io::Seek::rewind(&mut file).unwrap();
    std::io::Read::read_to_end(&mut file, &mut bytes).unwrap();
    // A list of one text of eight bytes: both names are as long.
    let place = |name: &str| {
        let field = [&[0x19, 0x18, 8][..], name.as_bytes()].concat();
        let mut places = (0..bytes.len()).filter(|at| bytes[*at..].starts_with(&field));
        places.next().expect("the name in the row group") + 3
    };
    let (one, other) = (place("actor_id"), place("metadata"));
    bytes[one..one + 8].copy_from_slice(b"metadata");
    bytes[other..other + 8].copy_from_slice(b"actor_id");
    let mut changed = tempfile::tempfile().unwrap();
    std::io::Write::write_all(&mut changed, &bytes).unwrap();
    let error = read(changed).expect_err("the columns are exchanged");
    assert!(error.to_string().contains("other names of columns"), "{error}");
}

#[test]
fn events_of_several_row_groups_are_read_in_order() {
    let event = event_at(
        0,
        NOW,
        json!({"action": "a.b", "category": "auth", "actor": {"id": "u", "type": "user"}}),
        false,
    );
    let count = ROW_GROUP_ROWS_MAX as u64 + 2;
    let mut writer = EventWriter::new(tempfile::tempfile().unwrap()).unwrap();
    for seq in 0..count {
        writer.append(seq, &event).unwrap();
    }
    let (file, _) = writer.finish().unwrap();
    let mut next = 0;
    read_events(file, &log(), |event| {
        assert_eq!(event.seq, next);
        next += 1;
        Ok(())
    })
    .unwrap();
    assert_eq!(next, count);
}

#[test]
fn the_columns_are_those_of_the_documentation() {
    let document = include_str!("../../../docs/archive.md");
    let between = |start: &str, end: &str| {
        let (_, rest) = document.split_once(start).expect("the start is in the document");
        rest.split_once(end).expect("and its end").0
    };
    let schema = crate::columns::schema().unwrap();
    let columns: Vec<&str> = schema.get_fields().iter().map(|field| field.name()).collect();
    let table = between("| Column | Type | Content |\n|---|---|---|\n", "\n\n");
    let cells = table.lines().filter_map(|row| row.split('|').nth(1));
    let listed: Vec<&str> = cells
        .flat_map(|cell| cell.split('`').skip(1).step_by(2))
        .collect();
    assert_eq!(
        listed, columns,
        "archives of version 1 have these columns and are kept for years: others need another version, and a reader of both"
    );
    let statement = between("CREATE EXTERNAL TABLE audit_events (", ")\nPARTITIONED BY");
    let declared = statement
        .split(',')
        .filter_map(|column| column.split_whitespace().next());
    assert_eq!(declared.collect::<Vec<_>>(), columns, "the statement for Athena");
}

#[test]
fn names_of_files_are_read_back_and_others_are_not() {
    let directory = tempfile::tempdir().unwrap();
    let of_log = layout::log_directory(directory.path(), &log());
    let part = |start, end| layout::Part {
        month: Month::of(NOW),
        seqs: start..end,
    };
    let parts = [part(0, 5), part(5, 1_000_000_000_000)];
    std::fs::create_dir_all(of_log.join("month=2026-01")).unwrap();
    for part in &parts {
        std::fs::write(part.file(&of_log), "").unwrap();
        std::fs::write(part.manifest(&of_log), "").unwrap();
    }
    assert!(
        parts[0]
            .file(&of_log)
            .ends_with("month=2026-01/000000000000-000000000005.parquet")
    );
    std::fs::write(part(7, 8).file(&of_log), "").unwrap();
    for other in [
        "0-5.parquet",
        "000000000000-000000000005.parquet.gz",
        "_manifest-5-6.json",
    ] {
        std::fs::write(of_log.join("month=2026-01").join(other), "").unwrap();
    }
    std::fs::write(of_log.join("month=2026-1"), "").unwrap();
    std::fs::write(of_log.join(layout::NEW_FILE), "").unwrap();
    let listing = layout::list(&of_log).unwrap();
    assert_eq!(listing.parts.into_values().collect::<Vec<_>>(), parts);
    assert_eq!(listing.unfinished, [part(7, 8)]);
    assert_eq!(listing.others.len(), 4);
    assert!(!layout::is_unfinished(directory.path()).unwrap());
    std::fs::write(directory.path().join(layout::FROM), "").unwrap();
    assert!(layout::is_unfinished(directory.path()).unwrap());
    assert_eq!(layout::logs(directory.path()).unwrap(), (vec![log()], Vec::new()));
    std::fs::create_dir(directory.path().join("project=x")).unwrap();
    std::fs::write(directory.path().join("project=x/environment=live"), "").unwrap();
    std::fs::write(directory.path().join("notes"), "").unwrap();
    assert_eq!(layout::logs(directory.path()).unwrap().1.len(), 2);
}

/// A text of any characters that an event may have.
fn any_text() -> impl Strategy<Value = String> {
    prop_oneof![
        "[a-z]{1,8}",
        proptest::collection::vec(any::<char>(), 1..12).prop_map(|chars| {
            chars
                .into_iter()
                .filter(|c| *c != '\0' && !c.is_whitespace())
                .chain(['x'])
                .collect::<String>()
        }),
    ]
}

fn any_value() -> impl Strategy<Value = Value> {
    let actor = (
        any_text(),
        proptest::option::of(any_text()),
        proptest::option::of(any_text()),
        any::<bool>(),
    );
    let target = proptest::option::of((any_text(), proptest::option::of(any_text()), any::<bool>()));
    let context = proptest::collection::btree_map(
        prop_oneof![
            Just("ip_address"),
            Just("location"),
            Just("session_id"),
            Just("user_agent")
        ],
        any_text(),
        0..4,
    );
    let rest = (
        proptest::option::of(any_text()),
        proptest::option::of(proptest::collection::btree_map("[a-z]{1,4}", any_text(), 0..3)),
        proptest::option::of(any_text()),
        any::<bool>(),
        any::<bool>(),
    );
    (any_text(), actor, target, context, rest).prop_map(
        |(
            tenant,
            (id, name, email, for_another),
            target,
            context,
            (key, metadata, change, denied, has_time),
        )| {
            let mut value = json!({"action": "user.created", "category": "mutation", "tenant_id": tenant,
                "actor": {"id": id, "type": "user"}});
            let mut set = |pointer: &str, name: &str, member: Value| {
                let holder = value.pointer_mut(pointer).and_then(Value::as_object_mut).unwrap();
                holder.insert(name.to_owned(), member);
            };
            if let Some(name) = name {
                set("/actor", "name", json!(name));
            }
            if let Some(email) = email {
                set("/actor", "email", json!(email));
            }
            if for_another {
                set("/actor", "on_behalf_of", json!({"id": "o", "type": "service"}));
            }
            if let Some((id, name, are_several)) = target {
                let mut target = json!({"id": id, "type": "doc"});
                if let Some(name) = name {
                    target["name"] = json!(name);
                }
                match are_several {
                    true => set("", "targets", json!([target, {"id": "t2", "type": "doc"}])),
                    false => set("", "target", target),
                }
            }
            if !context.is_empty() {
                set("", "context", json!(context));
            }
            if let Some(key) = key {
                set("", "idempotency_key", json!(key));
            }
            if let Some(metadata) = metadata {
                set("", "metadata", json!(metadata));
            }
            if let Some(after) = change {
                set(
                    "",
                    "changes",
                    json!([{"field": "f", "before": null, "after": after}]),
                );
            }
            if denied {
                set("", "outcome", json!("denied"));
            }
            if has_time {
                set("", "occurred_at", json!("2026-01-02T03:04:05.678Z"));
            }
            value
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    #[test]
    fn what_is_written_is_read(
        values in proptest::collection::vec((any_value(), any::<bool>(), proptest::option::of(1_u16..1 << EventPart::COUNT)), 1..6),
    ) {
        let events: Vec<(u64, StoredEvent)> = (0..).zip(values).map(|(seq, (value, claimed, bits))| {
            let event = event_at(seq, NOW.plus_seconds(seq as i64), value, claimed);
            (seq * 5, match bits {
                Some(bits) => erased(&event, PartMask::from_bits(bits).unwrap(), 1_000),
                None => event,
            })
        }).collect();
        prop_assert_eq!(read(written(&events)).unwrap(), expected(&events));
    }
}
