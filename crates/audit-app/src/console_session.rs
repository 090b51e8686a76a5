//! Sessions of the console: how a browser stays signed in with a key that no script can read.
//!
//! A session is the key itself and when it began, sealed with the key of the cursors, so that it is in no table. Requests
//! with it are requests with the key: what a key may do, its limits, its expiry and its revocation need no second rule. A copy of the
//! database opens no session, and a session without the database reveals nothing.

use crate::authentication::Presented;
use crate::error::{AppError, Result};
use crate::self_audit::{Changed, Requester, ServiceEvent};
use crate::service::AuditLog;
use audit_auth::{KeyText, Policy, SessionHolder};
use audit_domain::Timestamp;
use audit_store::Key;
use std::sync::Arc;

/// A sealed text is valid as a session alone.
const SCOPE: &str = "console session";
/// How long a session lasts: 12 hours.
const SESSION_SECONDS: i64 = 12 * 60 * 60;
const NUMBER_BYTES: usize = size_of::<i64>();

/// A session, not looked up: whether its key is valid and whether it was ended is found out when it is used.
#[derive(Clone, Debug)]
pub struct ConsoleSession {
    /// The key that signed in.
    pub key: KeyText,
    began_at: Timestamp,
    /// How often sessions of the key had been ended. No clock, because nodes have several.
    ended_before: i64,
}

impl ConsoleSession {
    /// The session is valid before this time.
    #[must_use]
    pub const fn expires_at(&self) -> Timestamp {
        self.began_at.plus_seconds(SESSION_SECONDS)
    }

    /// Whether it has expired, or a sign-out has ended it.
    pub(crate) fn has_ended(&self, key: &Key, now: Timestamp) -> bool {
        self.ended_before != key.sessions_ended || self.expires_at() <= now
    }

    fn to_bytes(&self) -> Vec<u8> {
        let numbers = [self.began_at.as_micros(), self.ended_before];
        let numbers = numbers.map(i64::to_be_bytes);
        [numbers.as_flattened(), self.key.as_str().as_bytes()].concat()
    }

    fn from_bytes(bytes: &[u8]) -> Option<Self> {
        let (began_at, rest) = bytes.split_first_chunk::<NUMBER_BYTES>()?;
        let (ended_before, key) = rest.split_first_chunk::<NUMBER_BYTES>()?;
        Some(Self {
            key: KeyText::parse(std::str::from_utf8(key).ok()?).ok()?,
            began_at: Timestamp::from_micros(i64::from_be_bytes(*began_at)),
            ended_before: i64::from_be_bytes(*ended_before),
        })
    }
}

impl AuditLog {
    /// Begins a session with the key of the holder, and seals it for the browser.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn begin_console_session(
        self: &Arc<Self>,
        holder: &SessionHolder,
        key: KeyText,
    ) -> Result<(String, ConsoleSession)> {
        let (_, stored) = self.key_of(holder)?;
        let session = ConsoleSession {
            key,
            began_at: self.clock.now(),
            ended_before: stored.sessions_ended,
        };
        Ok((self.cursor_key.seal(&session.to_bytes(), SCOPE), session))
    }

    /// Opens a sealed session. `None` when this service did not seal it, or when it has expired.
    #[must_use]
    pub fn open_console_session(&self, sealed: &str) -> Option<ConsoleSession> {
        let opened = self.cursor_key.open(sealed, SCOPE).ok()?;
        let session = ConsoleSession::from_bytes(&opened)?;
        (self.clock.now() < session.expires_at()).then_some(session)
    }

    /// Signs a session out. All sessions of its key end with it, so that a copy of its cookie is worth nothing.
    ///
    /// # Errors
    /// [`AppError::RateLimited`] for more than 10 a minute; when the change cannot be stored. The sessions go on then.
    pub fn end_console_sessions(
        self: &Arc<Self>,
        holder: &SessionHolder,
        session: &ConsoleSession,
    ) -> Result<()> {
        let (service, key) = self.key_of(holder)?;
        let (id, ended) = (key.id, session.ended_before);
        self.read_limit.count_sign_out(id, self.clock.now())?;
        let requester = Requester::from(&**holder);
        let event = ServiceEvent::console_signed_out(&key);
        let changed = |is_ended: bool| Changed::if_some((), is_ended.then_some(event));
        match key.project {
            Some((project_id, _)) => service.change_project(project_id, &requester, move |configurator| {
                Ok(changed(configurator.end_key_sessions(id, ended)?))
            }),
            None => self.change_organization(key.organization_id, &requester, move |configurator| {
                Ok(changed(configurator.end_master_key_sessions(id, ended)?))
            }),
        }
    }

    /// The key of a holder, and the service of its cell.
    fn key_of(self: &Arc<Self>, holder: &SessionHolder) -> Result<(Arc<Self>, Key)> {
        let id = holder.key_id().ok_or(AppError::InvalidKey)?;
        let service = self.cell_of_key(id)?;
        let key = service.store.read(|reader| reader.key(id))?;
        Ok((service, key.ok_or(AppError::InvalidKey)?))
    }
}

impl<P: Policy> Presented<P> {
    /// The same, presented by a browser with a session of the key: refused once the session has ended.
    #[must_use]
    pub fn in_session(mut self, session: ConsoleSession) -> Self {
        self.session = Some(session);
        self
    }
}
