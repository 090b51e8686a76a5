//! The options of anchors.

use crate::options::WebhookOptions;
use anyhow::{Context, bail};
use audit_app::{
    AnchorInterval, AnchorPlaces, AnchorWebhook, Bucket, BucketOptions, ObjectLock, TimeStampAuthority,
    WebhookSecret, WebhookUrl,
};
use audit_verifier::anchor_files::time_stamp_roots;
use clap::Args;
use clap::builder::NonEmptyStringValueParser;
use std::path::PathBuf;

const USER_AGENT: &str = concat!("audit-server/", env!("CARGO_PKG_VERSION"));

/// URLs and secrets are kept as text: an error of the command-line parser would repeat them.
#[derive(Debug, Args)]
pub struct AnchorOptions {
    /// Interval of anchors, such as 15m or 1h: it divides a day. They are made if one of the following places is given.
    #[arg(long, value_name = "TIME", env = "AUDIT_ANCHOR_EVERY", default_value = "1h")]
    pub anchor_every: AnchorInterval,
    /// Existing directory for anchors. Each server writes all of them; several may share one.
    #[arg(long, value_name = "PATH", env = "AUDIT_ANCHOR_DIRECTORY")]
    pub anchor_directory: Option<PathBuf>,
    /// Webhook that receives anchors, signed as other webhooks are; needs --anchor-webhook-secret.
    #[arg(
        long,
        value_name = "URL",
        env = "AUDIT_ANCHOR_WEBHOOK",
        hide_env_values = true
    )]
    pub anchor_webhook: Option<String>,
    /// Secret of that webhook: whsec_ and 32 random bytes in base64.
    #[arg(long, value_name = "SECRET", env = "AUDIT_ANCHOR_WEBHOOK_SECRET", hide_env_values = true, value_parser = NonEmptyStringValueParser::new())]
    pub anchor_webhook_secret: Option<String>,
    /// S3-compatible bucket for anchors: endpoint, bucket and prefix, such as `https://s3.eu-central-1.amazonaws.com/bucket/audit`.
    #[arg(long, value_name = "URL", env = "AUDIT_ANCHOR_BUCKET", hide_env_values = true)]
    pub anchor_bucket: Option<String>,
    /// Region of the bucket.
    #[arg(
        long,
        value_name = "REGION",
        env = "AUDIT_ANCHOR_BUCKET_REGION",
        default_value = "us-east-1"
    )]
    pub anchor_bucket_region: String,
    /// Id of the access key of the bucket.
    #[arg(long, value_name = "ID", env = "AUDIT_ANCHOR_BUCKET_ACCESS_KEY", value_parser = NonEmptyStringValueParser::new())]
    pub anchor_bucket_access_key: Option<String>,
    /// Secret of the access key of the bucket.
    #[arg(long, value_name = "SECRET", env = "AUDIT_ANCHOR_BUCKET_SECRET_KEY", hide_env_values = true, value_parser = NonEmptyStringValueParser::new())]
    pub anchor_bucket_secret_key: Option<String>,
    /// Object lock of anchors in the bucket, such as compliance:3650 (days) or governance:365; that of the bucket by default.
    #[arg(long, value_name = "LOCK", env = "AUDIT_ANCHOR_BUCKET_LOCK")]
    pub anchor_bucket_lock: Option<ObjectLock>,
    /// Time-stamp authority (RFC 3161) that stamps anchors.
    #[arg(long, value_name = "URL", env = "AUDIT_TIMESTAMP_URL", hide_env_values = true)]
    pub timestamp_url: Option<String>,
    /// Root certificates (PEM) of the authority. Time stamps that do not lead to one are refused.
    #[arg(long, value_name = "FILE", env = "AUDIT_TIMESTAMP_CA")]
    pub timestamp_ca: Option<PathBuf>,
}

/// The bucket of an option; those of its keys continue the name.
pub(crate) fn open_bucket(
    option: &str,
    url: &str,
    region: &str,
    keys: (&Option<String>, &Option<String>),
    lock: Option<ObjectLock>,
) -> anyhow::Result<Bucket> {
    let (Some(access_key), Some(secret_key)) = keys else {
        bail!("{option} needs {option}-access-key and {option}-secret-key");
    };
    let options = BucketOptions {
        url: url.to_owned(),
        region: region.to_owned(),
        access_key: access_key.clone(),
        secret_key: secret_key.clone(),
        lock,
    };
    Bucket::new(options, USER_AGENT).with_context(|| option.to_owned())
}

impl AnchorOptions {
    /// The places that anchors go to.
    pub fn places(&self, webhooks: &WebhookOptions) -> anyhow::Result<AnchorPlaces> {
        Ok(AnchorPlaces {
            authority: self.authority()?,
            webhook: self.webhook(webhooks)?,
            bucket: self.bucket()?,
            directory: self.directory()?,
        })
    }

    fn authority(&self) -> anyhow::Result<Option<TimeStampAuthority>> {
        let roots = self.timestamp_ca.as_deref().map(time_stamp_roots).transpose()?;
        let Some(url) = &self.timestamp_url else {
            return Ok(None);
        };
        if !url.starts_with("http://") && !url.starts_with("https://") {
            bail!("--timestamp-url: must begin with http:// or https://");
        }
        Ok(Some(TimeStampAuthority::new(url, roots, USER_AGENT)))
    }

    fn webhook(&self, webhooks: &WebhookOptions) -> anyhow::Result<Option<AnchorWebhook>> {
        let Some(url) = &self.anchor_webhook else {
            return Ok(None);
        };
        let secret = self.anchor_webhook_secret.as_deref();
        let secret = secret.context("--anchor-webhook needs --anchor-webhook-secret")?;
        Ok(Some(AnchorWebhook {
            sender: webhooks.sender()?,
            url: WebhookUrl::parse(url, webhooks.addresses()).context("--anchor-webhook")?,
            secret: WebhookSecret::parse(secret).context("--anchor-webhook-secret")?,
        }))
    }

    fn bucket(&self) -> anyhow::Result<Option<Bucket>> {
        let keys = (&self.anchor_bucket_access_key, &self.anchor_bucket_secret_key);
        let (url, region) = (self.anchor_bucket.as_ref(), &self.anchor_bucket_region);
        let bucket =
            url.map(|url| open_bucket("--anchor-bucket", url, region, keys, self.anchor_bucket_lock));
        bucket.transpose()
    }

    fn directory(&self) -> anyhow::Result<Option<PathBuf>> {
        match &self.anchor_directory {
            Some(directory) if !directory.is_dir() => {
                bail!("--anchor-directory: {} is not a directory", directory.display())
            }
            directory => Ok(directory.clone()),
        }
    }
}
