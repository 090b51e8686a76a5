//! The HTTP client of the commands that talk to a running server: `import --url` and `log audit`.

use crate::retry::Retries;
use crate::system::{SystemClock, SystemEntropy};
use serde_json::Value;
use std::time::Duration;
use ureq::Body;
use ureq::http::Response;

/// One attempt, from the connection to the end of the response.
const ATTEMPT_SECONDS_MAX: u64 = 60;
const RESPONSE_BYTES_MAX: u64 = 64 * 1024 * 1024;

/// A whole response.
pub struct Reply {
    /// The status code.
    pub status: u16,
    /// The header `Retry-After`.
    pub retry_after: Option<String>,
    /// The body.
    pub body: Vec<u8>,
}

/// A response of any status, or the failure to get one.
pub type Outcome = Result<Reply, ureq::Error>;

/// Sends requests, with retries.
pub struct Client {
    agent: ureq::Agent,
    retries: Retries,
}

/// Waits on the real clock.
impl Default for Client {
    fn default() -> Self {
        Self::with_retries(Retries {
            clock: Box::new(SystemClock),
            entropy: Box::new(SystemEntropy),
            sleep: Box::new(std::thread::sleep),
        })
    }
}

impl Client {
    pub(crate) fn with_retries(retries: Retries) -> Self {
        let agent = ureq::Agent::config_builder()
            .http_status_as_error(false)
            .timeout_global(Some(Duration::from_secs(ATTEMPT_SECONDS_MAX)))
            .build();
        Self {
            agent: agent.into(),
            retries,
        }
    }

    /// Calls `attempt`, and repeats it while its failure is temporary. `request` names it in the log.
    pub fn send(
        &self,
        request: &str,
        attempt: impl Fn(&ureq::Agent) -> Result<Response<Body>, ureq::Error>,
    ) -> Outcome {
        self.retries.run(request, || Reply::read(attempt(&self.agent)?))
    }

    /// Calls `attempt` once.
    pub fn send_once(
        &self,
        attempt: impl FnOnce(&ureq::Agent) -> Result<Response<Body>, ureq::Error>,
    ) -> Outcome {
        Reply::read(attempt(&self.agent)?)
    }
}

impl Reply {
    fn read(mut response: Response<Body>) -> Outcome {
        let retry_after = response.headers().get("retry-after");
        Ok(Self {
            status: response.status().as_u16(),
            retry_after: retry_after.and_then(|value| Some(value.to_str().ok()?.to_owned())),
            body: response
                .body_mut()
                .with_config()
                .limit(RESPONSE_BYTES_MAX)
                .read_to_vec()?,
        })
    }

    /// The error of an error response. `null` if the body is not one of the service.
    fn error(&self) -> Value {
        let mut body: Value = serde_json::from_slice(&self.body).unwrap_or_default();
        body["error"].take()
    }

    /// Whether an error response has this code.
    pub(crate) fn has_code(&self, code: &str) -> bool {
        self.error()["code"] == code
    }

    /// The message of an error response: its details where it has some. Empty if the body is not one of the service.
    pub fn error_message(&self) -> String {
        let error = self.error();
        let details = error["details"].as_array().into_iter().flatten();
        let details: Vec<&str> = details.filter_map(|detail| detail["message"].as_str()).collect();
        match details.is_empty() {
            true => error["message"].as_str().unwrap_or_default().to_owned(),
            false => details.join("; "),
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::{client, stub};
    use std::time::Duration;

    #[test]
    fn a_response_that_breaks_off_is_requested_again() {
        let (address, server) = stub(vec![
            "HTTP/1.1 200 OK\r\nContent-Length: 10\r\nConnection: close\r\n\r\nhalf",
            "HTTP/1.1 503 Service Unavailable\r\nRetry-After: 7\r\nContent-Length: 0\r\nConnection: close\r\n\r\n",
            "HTTP/1.1 200 OK\r\nContent-Length: 5\r\nConnection: close\r\n\r\nwhole",
        ]);
        let (client, pauses) = client();
        let url = format!("http://{address}/");
        let reply = client.send("GET /", |agent| agent.get(&url).call()).unwrap();
        assert_eq!((reply.status, reply.body.as_slice()), (200, b"whole".as_slice()));
        let pauses = pauses.borrow();
        assert_eq!((pauses.len(), pauses[1]), (2, Duration::from_secs(7)));
        server.join().unwrap();
    }
}
