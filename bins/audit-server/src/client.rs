//! The HTTP client of the commands that talk to a running server: `import --url` and `log audit`.

use crate::retry::Retries;
use crate::system::{SystemClock, SystemEntropy};
use audit_http::ErrorCode;
use serde_json::Value;
use std::time::Duration;
use ureq::Body;
use ureq::http::Response;

/// One attempt, from the connection to the end of the response.
const ATTEMPT_SECONDS_MAX: u64 = 60;
const RESPONSE_BYTES_MAX: u64 = 64 * 1024 * 1024;

/// A whole response.
pub(crate) struct Reply {
    pub(crate) status: u16,
    pub(crate) retry_after: Option<String>,
    pub(crate) body: Vec<u8>,
}

/// A response of any status, or the failure to get one.
pub(crate) type Outcome = Result<Reply, ureq::Error>;

/// Sends requests, with retries.
pub(crate) struct Client {
    agent: ureq::Agent,
    retries: Retries,
}

impl Client {
    /// A client that waits on the real clock.
    pub(crate) fn new() -> Self {
        Self::with_retries(Retries {
            clock: Box::new(SystemClock),
            entropy: Box::new(SystemEntropy),
            sleep: Box::new(std::thread::sleep),
        })
    }

    fn with_retries(retries: Retries) -> Self {
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
    pub(crate) fn send(
        &self,
        request: &str,
        attempt: impl Fn(&ureq::Agent) -> Result<Response<Body>, ureq::Error>,
    ) -> Outcome {
        self.retries.run(request, || Reply::read(attempt(&self.agent)?))
    }

    /// Calls `attempt` once.
    pub(crate) fn send_once(
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
    pub(crate) fn has_code(&self, code: ErrorCode) -> bool {
        self.error()["code"] == code.as_str()
    }

    /// The message of an error response: its details where it has some. Empty if the body is not one of the service.
    pub(crate) fn error_message(&self) -> String {
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
pub(crate) mod tests {
    use super::*;
    use crate::retry::tests::recorded;
    use std::cell::RefCell;
    use std::io::{BufRead, BufReader, Read, Write};
    use std::net::TcpListener;
    use std::rc::Rc;
    use std::thread::JoinHandle;

    /// A client that records its pauses instead of sleeping.
    pub(crate) fn client() -> (Client, Rc<RefCell<Vec<Duration>>>) {
        let (retries, pauses) = recorded(1);
        (Client::with_retries(retries), pauses)
    }

    /// A server on `http://` + the returned address that sends each of `responses` once, on a connection of its own.
    /// It returns the request bodies.
    pub(crate) fn stub(responses: Vec<&'static str>) -> (String, JoinHandle<Vec<String>>) {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap().to_string();
        let serve = move || {
            responses
                .into_iter()
                .map(|response| answer(&listener, response))
                .collect()
        };
        (address, std::thread::spawn(serve))
    }

    fn answer(listener: &TcpListener, response: &str) -> String {
        let (mut stream, _) = listener.accept().unwrap();
        let mut reader = BufReader::new(stream.try_clone().unwrap());
        let mut length = 0;
        let mut line = String::new();
        while reader.read_line(&mut line).unwrap() > 2 {
            let (name, value) = line.split_once(':').unwrap_or_default();
            if name.eq_ignore_ascii_case("content-length") {
                length = value.trim().parse().unwrap();
            }
            line.clear();
        }
        let mut body = vec![0; length];
        reader.read_exact(&mut body).unwrap();
        stream.write_all(response.as_bytes()).unwrap();
        String::from_utf8(body).unwrap()
    }

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
