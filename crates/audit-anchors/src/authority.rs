//! Time-stamp authorities over HTTP (RFC 3161 section 3.4).

use crate::http::{TIMEOUT, agent};
use crate::{PlaceError, TimeStamp, TimeStampRequest, TimeStampRoots};
use ureq::Agent;
use ureq::http::header::CONTENT_TYPE;

/// Most bytes of a response. Those of public authorities have 2 to 8 KB.
const RESPONSE_BYTES_MAX: u64 = 256 * 1024;

/// An authority that stamps digests with its time.
#[derive(Clone, Debug)]
pub struct TimeStampAuthority {
    agent: Agent,
    url: String,
    roots: Option<TimeStampRoots>,
}

impl TimeStampAuthority {
    /// The authority at this URL. With `roots`, only a time stamp that leads to one of them is accepted.
    pub fn new(url: impl Into<String>, roots: Option<TimeStampRoots>, user_agent: &str) -> Self {
        Self {
            agent: agent(user_agent, TIMEOUT),
            url: url.into(),
            roots,
        }
    }

    /// Asks for a time stamp. Returns the response, which is one for this request.
    ///
    /// # Errors
    /// When there is no such response.
    pub fn stamp(&self, request: &TimeStampRequest) -> Result<Vec<u8>, PlaceError> {
        let mut response = self
            .agent
            .post(&self.url)
            .header(CONTENT_TYPE, "application/timestamp-query")
            .send(request.der())?;
        let body = response.body_mut().with_config().limit(RESPONSE_BYTES_MAX);
        let body = body.read_to_vec()?;
        let stamp = TimeStamp::parse(&body)?;
        stamp.check(request)?;
        if let Some(roots) = &self.roots {
            stamp.verify(roots)?;
        }
        Ok(body)
    }
}
