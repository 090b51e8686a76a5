//! `audit-server log export`: a zip archive of events with their inclusion proofs, which anyone can verify offline.

use super::arguments::ExportOptions;
use super::open_log;
use anyhow::{Context, bail};
use audit_app::{AuditLog, Evidence, EvidenceError, EvidenceRequest};
use audit_domain::{LogName, StoredSalt};
use audit_verifier::evidence::{SUMS, proof_line, readme, removed_line, sum_line};
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;
use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::Path;
use std::process::ExitCode;
use std::time::{Duration, Instant};
use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, ZipWriter};

/// A running server signs its latest events within a second, and has them cosigned by witnesses in moments. How long it is waited
/// for, and how often it is looked.
const WAIT: Duration = Duration::from_secs(5);
const PAUSE: Duration = Duration::from_millis(250);

pub(super) fn run(options: &ExportOptions) -> anyhow::Result<ExitCode> {
    if options.file.exists() {
        bail!("{} already exists", options.file.display());
    }
    if options.from > options.to {
        bail!("--from is later than --to");
    }
    let home = open_log(&options.log_key)?;
    let service = home.cell_of_project(options.project)?;
    let evidence = select(&service, options)?;
    let folder = options
        .file
        .parent()
        .filter(|folder| !folder.as_os_str().is_empty());
    let file = tempfile::NamedTempFile::new_in(folder.unwrap_or(Path::new(".")));
    let mut file = file.with_context(|| format!("cannot write {}", options.file.display()))?;
    let mut archive = Archive::new(file.as_file_mut());
    archive.write(options, &service, &evidence)?;
    archive.finish()?;
    home.close();
    file.as_file().sync_all()?;
    let kept = file.persist_noclobber(&options.file);
    kept.with_context(|| format!("cannot write {}", options.file.display()))?;
    writeln!(
        std::io::stdout(),
        "{} events of {} and their neighbours exported to {}, each with its inclusion proof in the signed log of {} events{}",
        evidence.events(),
        evidence.checkpoint.checkpoint().origin(),
        options.file.display(),
        evidence.head().size,
        match evidence.has_quorum {
            Some(true) => ", cosigned by a quorum of witnesses",
            Some(false) => ", without a quorum of witnesses",
            None => "",
        }
    )?;
    Ok(ExitCode::SUCCESS)
}

fn select(service: &AuditLog, options: &ExportOptions) -> anyhow::Result<Evidence> {
    let request = EvidenceRequest {
        project_id: options.project,
        environment: options.environment,
        from: options.from.truncated_to_millis(),
        to: options.to.truncated_to_millis(),
    };
    let policy = options.policy.read()?;
    let started_at = Instant::now();
    loop {
        let selected = service.select_evidence(&request, policy.as_ref());
        let is_early = match &selected {
            Ok(evidence) => evidence.has_quorum == Some(false),
            Err(error) => matches!(
                error,
                EvidenceError::Unsigned { .. } | EvidenceError::WithoutQuorum
            ),
        };
        if !is_early || started_at.elapsed() >= WAIT {
            return Ok(selected?);
        }
        std::thread::sleep(PAUSE);
    }
}

/// A zip file that is being written, and the line of `SHA256SUMS` for each of its files so far.
struct Archive<'a> {
    zip: ZipWriter<BufWriter<&'a mut File>>,
    sums: BTreeMap<&'static str, String>,
}

/// A file of the archive, hashed while it is written.
struct Entry<'a, W> {
    out: &'a mut W,
    digest: Sha256,
}

impl<W: Write> Write for Entry<'_, W> {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        let written = self.out.write(bytes)?;
        self.digest.update(&bytes[..written]);
        Ok(written)
    }

    fn flush(&mut self) -> std::io::Result<()> {
        self.out.flush()
    }
}

impl<'a> Archive<'a> {
    fn new(file: &'a mut File) -> Self {
        Self {
            zip: ZipWriter::new(BufWriter::new(file)),
            sums: BTreeMap::new(),
        }
    }

    fn write(
        &mut self,
        options: &ExportOptions,
        service: &AuditLog,
        evidence: &Evidence,
    ) -> anyhow::Result<()> {
        let (from, to) = (
            options.from.truncated_to_millis(),
            options.to.truncated_to_millis(),
        );
        let log = LogName::new(options.project, options.environment);
        let (signed, key) = (&evidence.checkpoint, &evidence.key);
        let readme = readme(signed, &log, (from, to), evidence.events(), key);
        let range = format!("{from}\n{to}\n");
        self.add("README.txt", |out| Ok(out.write_all(readme.as_bytes())?))?;
        self.add("key.txt", |out| Ok(writeln!(out, "{}", evidence.key)?))?;
        let note = evidence.checkpoint.note();
        self.add("checkpoint.txt", |out| Ok(out.write_all(note.as_bytes())?))?;
        self.add("range.txt", |out| Ok(out.write_all(range.as_bytes())?))?;
        self.add("events.jsonl", |out| write_events(out, service, evidence))?;
        self.add("proofs.jsonl", |out| write_proofs(out, service, evidence))?;
        self.add("removed.jsonl", |out| write_removed(out, service, evidence))?;
        let sums: String = self.sums.values().map(String::as_str).collect();
        self.add(SUMS, |out| Ok(out.write_all(sums.as_bytes())?))
    }

    fn add(
        &mut self,
        name: &'static str,
        write: impl FnOnce(&mut dyn Write) -> anyhow::Result<()>,
    ) -> anyhow::Result<()> {
        // Uncompressed, so that a damaged archive stays readable by hand.
        let options = SimpleFileOptions::default()
            .compression_method(CompressionMethod::Stored)
            .large_file(true);
        self.zip.start_file(name, options)?;
        let mut entry = Entry {
            out: &mut self.zip,
            digest: Sha256::new(),
        };
        write(&mut entry).with_context(|| format!("cannot write {name}"))?;
        let digest = entry.digest.finalize();
        self.sums.insert(name, sum_line(name, &digest));
        Ok(())
    }

    fn finish(self) -> anyhow::Result<()> {
        self.zip.finish()?.flush()?;
        Ok(())
    }
}

/// One event per line, as a full read returns it, with `seq` in front. The canonical text follows the fourth comma, so a
/// verifier does not need an implementation of canonical JSON.
fn write_events(out: &mut dyn Write, service: &AuditLog, evidence: &Evidence) -> anyhow::Result<()> {
    service.evidence_events(evidence, |logged| {
        let event = &logged.event;
        let StoredSalt::Whole(content_salt) = &event.content_salt else {
            let why = format!(
                "parts of event {} were erased, which the format has no line for",
                logged.seq
            );
            return Err(std::io::Error::other(why));
        };
        let rest = event.canonical.strip_prefix('{').unwrap_or_default();
        writeln!(
            out,
            "{{\"seq\":{},\"content_hash\":\"{}\",\"content_salt\":\"{}\",\"redacted\":{},{rest}",
            logged.seq, event.content_hash, content_salt, event.redacted
        )
    })?;
    Ok(())
}

fn write_proofs(out: &mut dyn Write, service: &AuditLog, evidence: &Evidence) -> anyhow::Result<()> {
    service.evidence_proofs(evidence, |id, proof| {
        let id = id.map(|id| id.to_string());
        writeln!(out, "{}", proof_line(proof.seq, id.as_deref(), &proof.inclusion))
    })?;
    Ok(())
}

/// One line per event of the range that a removal took: its position, the content hash that it had, and the position of the removal.
fn write_removed(out: &mut dyn Write, service: &AuditLog, evidence: &Evidence) -> anyhow::Result<()> {
    service.evidence_removed(evidence, |seq, removed| {
        writeln!(
            out,
            "{}",
            removed_line(seq, &removed.content_hash, removed.removal)
        )
    })?;
    Ok(())
}
