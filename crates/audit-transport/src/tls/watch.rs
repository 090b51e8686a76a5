//! Reads certificate and key again when their files change, and reports a certificate that expires.

use super::InUse;
use super::pair::{Pair, PairFiles};
use super::validity::Validity;
use crate::TlsStatus;
use audit_cli::SystemClock;
use audit_domain::Clock;
use rustls::crypto::CryptoProvider;
use std::sync::{Arc, mpsc};
use std::thread::JoinHandle;
use std::time::Duration;

/// The interval at which the files are compared with the pair in use. Contents are compared, not times: certbot and Kubernetes
/// swap symbolic links.
const INTERVAL: Duration = Duration::from_secs(2);
/// A pair that cannot be used is reported when so many looks in a row have found one: the new certificate may be there before
/// its key.
const FAILED_LOOKS_MIN: u32 = 2;
/// A certificate that expires is reported again after this time.
const WARNING_INTERVAL_SECONDS: i64 = 24 * 60 * 60;

/// The files, and the pair of them that is in use.
pub(super) struct Watch {
    files: PairFiles,
    /// Of the contents of the files when the pair was read.
    digest: [u8; 32],
    validity: Validity,
    provider: Arc<CryptoProvider>,
    in_use: Arc<InUse>,
    status: Arc<TlsStatus>,
    failed_looks: u32,
    warned_at_seconds: Option<i64>,
}

/// The thread that follows the files. It stops when this is dropped.
pub struct Watching {
    stop: Option<mpsc::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Watch {
    pub(super) fn new(
        files: PairFiles,
        digest: [u8; 32],
        pair: Pair,
        provider: Arc<CryptoProvider>,
        in_use: Arc<InUse>,
        status: Arc<TlsStatus>,
    ) -> Self {
        let mut watch = Self {
            files,
            digest,
            validity: pair.validity,
            provider,
            in_use,
            status,
            failed_looks: 0,
            warned_at_seconds: None,
        };
        watch.put_in_use(pair);
        watch.warn_of_expiry();
        watch
    }

    pub(super) fn start(mut self) -> std::io::Result<Watching> {
        let (stop, stopped) = mpsc::channel();
        let follow = move || {
            while stopped.recv_timeout(INTERVAL) == Err(mpsc::RecvTimeoutError::Timeout) {
                self.look();
                self.warn_of_expiry();
            }
        };
        let thread = std::thread::Builder::new().name("certificate".to_owned());
        Ok(Watching {
            stop: Some(stop),
            thread: Some(thread.spawn(follow)?),
        })
    }

    fn put_in_use(&mut self, pair: Pair) {
        *self.in_use.0.write() = pair.key;
        self.validity = pair.validity;
        self.status.in_use(pair.validity.not_after_seconds);
        self.warned_at_seconds = None;
    }

    /// The pair in the files, if it is another one.
    fn changed(&self) -> anyhow::Result<Option<([u8; 32], Pair)>> {
        let contents = self.files.read()?;
        let digest = contents.digest();
        if digest == self.digest {
            return Ok(None);
        }
        let pair = self.files.parse(&contents, &self.provider)?;
        Ok(Some((digest, pair)))
    }

    fn look(&mut self) {
        match self.changed() {
            Ok(changed) => {
                self.failed_looks = 0;
                self.status.set_reload_failing(false);
                if let Some((digest, pair)) = changed {
                    self.digest = digest;
                    self.put_in_use(pair);
                    log::info!("{}: the new certificate is in use", self.files);
                }
            }
            Err(error) => {
                self.failed_looks = self.failed_looks.saturating_add(1);
                if self.failed_looks == FAILED_LOOKS_MIN {
                    self.status.set_reload_failing(true);
                    log::error!("{error:#}; the certificate before it stays in use");
                }
            }
        }
    }

    fn warn_of_expiry(&mut self) {
        let now = SystemClock.now().as_seconds();
        let is_silent = |at: i64| now < at + WARNING_INTERVAL_SECONDS;
        if self.warned_at_seconds.is_some_and(is_silent) {
            return;
        }
        if let Some(warning) = self.validity.warning(now) {
            self.warned_at_seconds = Some(now);
            log::warn!("{}: {warning}", self.files);
        }
    }
}

impl Drop for Watching {
    fn drop(&mut self) {
        drop(self.stop.take());
        if self.thread.take().is_some_and(|thread| thread.join().is_err()) {
            log::error!("the thread that follows the certificate panicked");
        }
    }
}
