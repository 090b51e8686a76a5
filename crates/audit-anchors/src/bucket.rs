//! S3-compatible buckets, with object lock.

use crate::PlaceError;
use crate::http::{TIMEOUT, agent};
use audit_domain::{Sha256Digest, Timestamp};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use rusty_s3::actions::{GetObject, PutObject};
use rusty_s3::{Credentials, S3Action, UrlStyle};
use sha2::{Digest, Sha256};
use std::fmt;
use std::io::{self, Read, Write};
use std::str::FromStr;
use std::time::Duration;
use ureq::{Agent, AsSendBody};
use url::Url;

/// How long a signed request is valid. It is sent at once.
const SIGNED_FOR: Duration = Duration::from_secs(300);
/// The timeout of an object that may be large.
const LARGE_TIMEOUT: Duration = Duration::from_secs(3_600);
/// Most bytes of a page of names: it has 1,000 of them.
const PAGE_BYTES_MAX: u64 = 8 * 1024 * 1024;
/// Most objects that are listed.
const NAMES_MAX: usize = 100_000;
/// Bytes that are copied at once.
const CHUNK_BYTES: usize = 64 * 1024;
/// The object exists.
const PRECONDITION_FAILED: u16 = 412;

/// How to reach a bucket.
#[derive(Clone)]
pub struct BucketOptions {
    /// The bucket, such as `https://s3.eu-central-1.amazonaws.com/bucket`, and before the names of the objects a prefix.
    pub url: String,
    /// The region for the signature.
    pub region: String,
    /// The id of the access key.
    pub access_key: String,
    /// The secret of the access key.
    pub secret_key: String,
    /// How the objects are locked; `None` leaves that to the bucket.
    pub lock: Option<ObjectLock>,
}

/// How long objects are locked, as `compliance:3650`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ObjectLock {
    /// Who may end it.
    pub mode: LockMode,
    /// How many days it lasts.
    pub days: u32,
}

/// Who may end the lock of an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LockMode {
    /// No account: the object stays until the lock ends.
    Compliance,
    /// Accounts with a permission for it.
    Governance,
}

/// The text is not an object lock.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("must be compliance or governance, a colon, and a number of days from 1, such as compliance:3650")]
pub struct ObjectLockError;

/// The URL is not that of a bucket.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BucketError {
    /// The URL cannot be parsed, or has another scheme.
    #[error("must be an http or https URL")]
    Url,
    /// The URL has no path.
    #[error("must end in the name of the bucket, such as https://s3.eu-central-1.amazonaws.com/bucket")]
    Name,
}

/// A bucket.
pub struct Bucket {
    agent: Agent,
    large_agent: Agent,
    bucket: rusty_s3::Bucket,
    /// Before the names of objects.
    prefix: String,
    credentials: Credentials,
    lock: Option<ObjectLock>,
}

impl FromStr for ObjectLock {
    type Err = ObjectLockError;

    fn from_str(text: &str) -> Result<Self, ObjectLockError> {
        let (mode, days) = text.split_once(':').ok_or(ObjectLockError)?;
        let mode = match mode {
            "compliance" => LockMode::Compliance,
            "governance" => LockMode::Governance,
            _ => return Err(ObjectLockError),
        };
        match days.parse() {
            Ok(days) if (1..=36_500).contains(&days) => Ok(Self { mode, days }),
            _ => Err(ObjectLockError),
        }
    }
}

impl LockMode {
    const fn as_str(self) -> &'static str {
        match self {
            Self::Compliance => "COMPLIANCE",
            Self::Governance => "GOVERNANCE",
        }
    }
}

impl Bucket {
    /// The bucket of these options. Nothing is sent.
    ///
    /// # Errors
    /// [`BucketError`] when the URL is not that of a bucket.
    pub fn new(options: BucketOptions, user_agent: &str) -> Result<Self, BucketError> {
        let mut url = Url::parse(&options.url).map_err(|_| BucketError::Url)?;
        let path = url.path().trim_matches('/').to_owned();
        let (name, prefix) = path.split_once('/').unwrap_or((&path, ""));
        if name.is_empty() {
            return Err(BucketError::Name);
        }
        url.set_path("");
        let bucket = rusty_s3::Bucket::new(url, UrlStyle::Path, name.to_owned(), options.region);
        Ok(Self {
            agent: agent(user_agent, TIMEOUT),
            large_agent: agent(user_agent, LARGE_TIMEOUT),
            bucket: bucket.map_err(|_| BucketError::Url)?,
            prefix: match prefix {
                "" => String::new(),
                prefix => format!("{prefix}/"),
            },
            credentials: Credentials::new(options.access_key, options.secret_key),
            lock: options.lock,
        })
    }

    fn full(&self, name: &str) -> String {
        format!("{}{name}", self.prefix)
    }

    /// Stores an object that was made at `made_at`, which is when its lock begins.
    ///
    /// # Errors
    /// [`PlaceError::Different`] when the bucket has an object of this name and of other content.
    pub fn store(
        &self,
        name: &str,
        content: &[u8],
        made_at: Timestamp,
        now: Timestamp,
    ) -> Result<(), PlaceError> {
        let name = self.full(name);
        let sha256 = Sha256Digest::from_bytes(Sha256::digest(content).into());
        match self.put(&self.agent, &name, (content, sha256), made_at, now) {
            Err(PlaceError::Status(PRECONDITION_FAILED)) => self.compare(&name, content, now),
            outcome => outcome,
        }
    }

    /// Stores an object with this digest, which may be large. The bucket compares the digest.
    ///
    /// # Errors
    /// [`PlaceError::Different`] when the bucket has an object of this name and of other content.
    pub fn store_large(
        &self,
        name: &str,
        content: impl AsSendBody,
        sha256: Sha256Digest,
        now: Timestamp,
    ) -> Result<(), PlaceError> {
        let full = self.full(name);
        match self.put(&self.large_agent, &full, (content, sha256), now, now) {
            Err(PlaceError::Status(PRECONDITION_FAILED)) => {
                match self.read_large(name, &mut io::sink(), u64::MAX, now)? == Some(sha256) {
                    true => Ok(()),
                    false => Err(PlaceError::Different(full)),
                }
            }
            outcome => outcome,
        }
    }

    fn put(
        &self,
        agent: &Agent,
        name: &str,
        (content, sha256): (impl AsSendBody, Sha256Digest),
        made_at: Timestamp,
        now: Timestamp,
    ) -> Result<(), PlaceError> {
        // A bucket with object lock refuses requests without the digest of the content.
        let mut headers = vec![
            ("if-none-match", "*".to_owned()),
            ("x-amz-checksum-sha256", STANDARD.encode(sha256.as_bytes())),
        ];
        if let Some(lock) = self.lock {
            let until = made_at.plus_seconds(86_400 * i64::from(lock.days));
            headers.push(("x-amz-object-lock-mode", lock.mode.as_str().to_owned()));
            headers.push(("x-amz-object-lock-retain-until-date", until.to_string()));
        }
        let mut action = PutObject::new(&self.bucket, Some(&self.credentials), name);
        for (name, value) in &headers {
            action.headers_mut().insert(*name, value.clone());
        }
        let url = action.sign_with_time(SIGNED_FOR, &signed_at(now));
        let mut request = agent.put(url.as_str());
        for (name, value) in &headers {
            request = request.header(*name, value);
        }
        request.send(content)?;
        Ok(())
    }

    /// The content of an object; `None` where there is none, or the credentials may only write.
    ///
    /// # Errors
    /// When there is no response, or the object has more than `bytes_max` bytes.
    pub fn read(&self, name: &str, bytes_max: u64, now: Timestamp) -> Result<Option<Vec<u8>>, PlaceError> {
        match self.get(&self.full(name), bytes_max, now) {
            Ok(content) => Ok(Some(content)),
            Err(ureq::Error::StatusCode(401 | 403 | 404)) => Ok(None),
            Err(error) => Err(error.into()),
        }
    }

    /// Writes the content of an object, which may be large, to `out`. Returns its digest; `None` where there is no object.
    ///
    /// # Errors
    /// When there is no response, it has `bytes_max` bytes or more, or `out` cannot be written.
    pub fn read_large(
        &self,
        name: &str,
        out: &mut impl Write,
        bytes_max: u64,
        now: Timestamp,
    ) -> Result<Option<Sha256Digest>, PlaceError> {
        let name = self.full(name);
        let url = GetObject::new(&self.bucket, Some(&self.credentials), &name)
            .sign_with_time(SIGNED_FOR, &signed_at(now));
        let response = match self.large_agent.get(url.as_str()).call() {
            Err(ureq::Error::StatusCode(404)) => return Ok(None),
            response => response?,
        };
        let (mut content, mut sha256) = (
            response.into_body().into_with_config().limit(bytes_max).reader(),
            Sha256::new(),
        );
        let mut chunk = vec![0; CHUNK_BYTES];
        loop {
            let read = content.read(&mut chunk).map_err(ureq::Error::from)?;
            if read == 0 {
                return Ok(Some(Sha256Digest::from_bytes(sha256.finalize().into())));
            }
            sha256.update(&chunk[..read]);
            out.write_all(&chunk[..read]).map_err(ureq::Error::from)?;
        }
    }

    /// The names of the objects that begin with `start`, in order. One with a character that XML escapes is given as it is listed.
    ///
    /// # Errors
    /// When there is no response, or there are more than 100,000 names: a bucket could list names for ever.
    pub fn names(&self, start: &str, now: Timestamp) -> Result<Vec<String>, PlaceError> {
        let mut names: Vec<String> = Vec::new();
        loop {
            let mut list = GetObject::new(&self.bucket, Some(&self.credentials), "");
            list.query_mut().insert("list-type", "2");
            list.query_mut().insert("prefix", self.full(start));
            let last = names.last().map(|name| self.full(name));
            if let Some(last) = &last {
                list.query_mut().insert("start-after", last.clone());
            }
            let url = list.sign_with_time(SIGNED_FOR, &signed_at(now));
            let mut page = self.agent.get(url.as_str()).call()?;
            let page = page
                .body_mut()
                .with_config()
                .limit(PAGE_BYTES_MAX)
                .read_to_string()?;
            let keys = page.split("<Key>").skip(1);
            let keys = keys.filter_map(|rest| Some(rest.split_once("</Key>")?.0));
            let new = keys.filter(|key| last.as_deref().is_none_or(|last| *key > last));
            let count = names.len();
            names.extend(new.filter_map(|key| Some(key.strip_prefix(&self.prefix)?.to_owned())));
            if names.len() == count {
                return Ok(names);
            }
            if names.len() > NAMES_MAX {
                return Err(PlaceError::TooMany(NAMES_MAX));
            }
        }
    }

    /// Compares an object that exists. Credentials that may only write cannot: then the name counts.
    fn compare(&self, name: &str, content: &[u8], now: Timestamp) -> Result<(), PlaceError> {
        match self.get(name, content.len() as u64 + 1, now) {
            Err(ureq::Error::StatusCode(401 | 403)) => Ok(()),
            Ok(stored) if stored == content => Ok(()),
            Ok(_) | Err(ureq::Error::BodyExceedsLimit(_)) => Err(PlaceError::Different(name.to_owned())),
            Err(error) => Err(error.into()),
        }
    }

    fn get(&self, name: &str, bytes_max: u64, now: Timestamp) -> Result<Vec<u8>, ureq::Error> {
        let action = GetObject::new(&self.bucket, Some(&self.credentials), name);
        let url = action.sign_with_time(SIGNED_FOR, &signed_at(now));
        let mut response = self.agent.get(url.as_str()).call()?;
        response.body_mut().with_config().limit(bytes_max).read_to_vec()
    }
}

fn signed_at(now: Timestamp) -> jiff::Timestamp {
    jiff::Timestamp::from_second(now.as_seconds()).unwrap_or_default()
}

impl fmt::Debug for BucketOptions {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut shown = formatter.debug_struct("BucketOptions");
        shown
            .field("url", &self.url)
            .field("lock", &self.lock)
            .finish_non_exhaustive()
    }
}

impl fmt::Debug for Bucket {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut shown = formatter.debug_struct("Bucket");
        shown
            .field("bucket", &self.bucket.name())
            .field("lock", &self.lock)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_object_lock_has_a_mode_and_days() {
        let lock = ObjectLock {
            mode: LockMode::Compliance,
            days: 3_650,
        };
        assert_eq!("compliance:3650".parse(), Ok(lock));
        for other in [
            "",
            "compliance",
            "compliance:0",
            "COMPLIANCE:1",
            "governance:-1",
            "none:1",
        ] {
            assert_eq!(other.parse::<ObjectLock>(), Err(ObjectLockError), "{other}");
        }
    }

    #[test]
    fn a_bucket_has_a_name_and_secrets_are_not_shown() {
        let options = |url: &str| BucketOptions {
            url: url.to_owned(),
            region: "eu-central-1".to_owned(),
            access_key: "key".to_owned(),
            secret_key: "secret text".to_owned(),
            lock: None,
        };
        let bucket = Bucket::new(options("https://s3.example.com/anchors/audit/x/"), "test").unwrap();
        assert_eq!(
            (bucket.bucket.name(), bucket.prefix.as_str()),
            ("anchors", "audit/x/")
        );
        assert!(!format!("{bucket:?}{:?}", options("u")).contains("secret"));
        for (url, error) in [
            ("https://s3.example.com", BucketError::Name),
            ("https://s3.example.com//", BucketError::Name),
            ("ftp://s3.example.com/a", BucketError::Url),
            ("anchors", BucketError::Url),
        ] {
            assert_eq!(Bucket::new(options(url), "test").err(), Some(error), "{url}");
        }
    }
}
