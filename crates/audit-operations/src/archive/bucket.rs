//! The copy of an archive in a bucket: what the directory lacks is taken from there first, and what was written is put there.

use super::LogArchive;
use crate::anchor_options::open_bucket;
use anyhow::{Context, bail};
use audit_app::Bucket;
use audit_archive::Manifest;
use audit_archive::layout::{self, MANIFEST_BYTES_MAX, NEW_FILE, Part, log_directory};
use audit_cli::SystemClock;
use audit_domain::Clock;
use clap::Args;
use clap::builder::NonEmptyStringValueParser;
use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File};
use std::io::{self, Write};
use std::path::Path;

/// The URL and the secret are kept as text: an error of the command-line parser would repeat them.
#[derive(Debug, Args)]
pub struct ArchiveBucketOptions {
    /// S3-compatible bucket that gets a copy: endpoint, bucket and prefix, such as `https://s3.eu-central-1.amazonaws.com/bucket/archive`.
    #[arg(
        long,
        value_name = "URL",
        env = "AUDIT_ARCHIVE_BUCKET",
        hide_env_values = true,
        conflicts_with = "from"
    )]
    archive_bucket: Option<String>,
    /// Region of the bucket.
    #[arg(
        long,
        value_name = "REGION",
        env = "AUDIT_ARCHIVE_BUCKET_REGION",
        default_value = "us-east-1"
    )]
    archive_bucket_region: String,
    /// Id of the access key of the bucket, which may list, read and write objects.
    #[arg(long, value_name = "ID", env = "AUDIT_ARCHIVE_BUCKET_ACCESS_KEY", value_parser = NonEmptyStringValueParser::new())]
    archive_bucket_access_key: Option<String>,
    /// Secret of the access key of the bucket.
    #[arg(long, value_name = "SECRET", env = "AUDIT_ARCHIVE_BUCKET_SECRET_KEY", hide_env_values = true, value_parser = NonEmptyStringValueParser::new())]
    archive_bucket_secret_key: Option<String>,
}

impl ArchiveBucketOptions {
    /// The bucket; nothing is sent.
    pub(super) fn open(&self) -> anyhow::Result<Option<Bucket>> {
        let keys = (&self.archive_bucket_access_key, &self.archive_bucket_secret_key);
        let region = &self.archive_bucket_region;
        let open = |url: &String| open_bucket("--archive-bucket", url, region, keys, None);
        self.archive_bucket.as_ref().map(open).transpose()
    }
}

impl LogArchive<'_> {
    /// Takes the files that the bucket has, and whose manifests follow those of the directory.
    pub(super) fn take_from(&self, bucket: &Bucket) -> anyhow::Result<()> {
        let below = self.objects();
        let mut stored = BTreeMap::new();
        for name in self.names(bucket)? {
            if let Some((part, true)) = Part::of_path(name.strip_prefix(&below).unwrap_or_default())
                && let Some(other) = stored.insert(part.seqs.start, part)
            {
                bail!("two manifests of the bucket begin at {}", other.seqs.start);
            }
        }
        let there = layout::list(&self.directory)?.parts;
        let mut end = there.last_key_value().map_or(0, |(_, last)| last.seqs.end);
        for part in stored
            .values()
            .filter(|part| there.get(&part.seqs.start) != Some(part))
        {
            let [file_name, name] = self.objects_of(part);
            if part.seqs.start != end {
                bail!(
                    "{name} of the bucket does not go on where {} ends: they are not one archive",
                    self.directory.display()
                );
            }
            let mut text = Vec::new();
            let now = SystemClock.now();
            let found = bucket.read_large(&name, &mut text, MANIFEST_BYTES_MAX, now)?;
            let text = String::from_utf8(text).ok().filter(|_| found.is_some());
            let text = text.with_context(|| format!("the bucket has no text as {name}"))?;
            let manifest = Manifest::parse(&text).with_context(|| name.clone())?;
            fs::create_dir_all(&self.directory)?;
            let path = self.directory.join(NEW_FILE);
            let mut file = File::create(&path)?;
            let bytes = manifest.file_bytes.saturating_add(1);
            if bucket.read_large(&file_name, &mut file, bytes, now)? != Some(manifest.file_digest) {
                bail!("{file_name} of the bucket is not the file of its manifest");
            }
            file.sync_all()?;
            self.publish(part, &path, &text)?;
            end = part.seqs.end;
        }
        Ok(())
    }

    /// Puts the files into the bucket that it lacks, in their order, and each before its manifest. No object is replaced.
    pub(super) fn put_into(&self, bucket: &Bucket) -> anyhow::Result<()> {
        let parts = layout::list(&self.directory)?.parts;
        let there: BTreeSet<String> = self.names(bucket)?.into_iter().collect();
        let expected: BTreeSet<String> = parts.values().flat_map(|part| self.objects_of(part)).collect();
        if let Some(other) = there.difference(&expected).next() {
            bail!(
                "the bucket has {other}, which is not of {}: it is of another archive, or of a directory that is lost; delete it there if no \
                 manifest names it",
                self.directory.display()
            );
        }
        for part in parts.values() {
            let text = part.read_manifest(&self.directory)?;
            let [file_name, name] = self.objects_of(part);
            let (digest, now) = (Manifest::digest(&text), SystemClock.now());
            if there.contains(&name) && there.contains(&file_name) {
                if bucket.read_large(&name, &mut io::sink(), MANIFEST_BYTES_MAX, now)? != Some(digest) {
                    bail!("the bucket has another {name} than {}", self.directory.display());
                }
                continue;
            }
            let manifest = Manifest::parse(&text).with_context(|| name.clone())?;
            let file = part.open(&self.directory)?;
            bucket.store_large(&file_name, &file, manifest.file_digest, now)?;
            bucket.store_large(&name, text.as_bytes(), digest, SystemClock.now())?;
            writeln!(io::stdout(), "{file_name}  is in the bucket")?;
        }
        Ok(())
    }

    /// The names in the bucket of the objects of this log.
    fn names(&self, bucket: &Bucket) -> anyhow::Result<Vec<String>> {
        Ok(bucket.names(&self.objects(), SystemClock.now())?)
    }

    /// How the names of the objects of this log begin.
    fn objects(&self) -> String {
        format!("{}/", log_directory(Path::new(""), &self.log.log).display())
    }

    /// The names of the objects that are the copies of a file and of its manifest.
    fn objects_of(&self, part: &Part) -> [String; 2] {
        let log = log_directory(Path::new(""), &self.log.log);
        [part.file(&log), part.manifest(&log)].map(|path| path.display().to_string())
    }
}
