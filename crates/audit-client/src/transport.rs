//! Sends requests: the time limit, the size limit and the retries of one request.

use crate::ambient;
use crate::error::{ApiError, Error, NOT_OF_THE_SERVICE};
use crate::policy::{RetryPolicy, is_known_unsent, is_temporary};
use serde_json::Value;
use std::time::Duration;
use ureq::config::ConfigBuilder;
use ureq::http::{Request, Response};
use ureq::typestate::HttpCrateScope;
use ureq::{Agent, AsSendBody, Body, BodyReader};

/// A larger response is not read. The largest of the service, a page of events, has about 1 MiB. Exports are read piece by piece.
const RESPONSE_BYTES_MAX: u64 = 64 * 1024 * 1024;

/// One request of the API.
#[derive(Clone, Debug)]
pub(crate) struct Call {
    pub(crate) method: &'static str,
    /// Behind `/api/v1`, with the query.
    pub(crate) path: String,
    pub(crate) body: Option<Vec<u8>>,
    /// Whether a second execution does no harm, so that it may be retried when the outcome of the first is unknown.
    pub(crate) is_idempotent: bool,
    /// How much longer than usual the service may take (`wait` of the feed).
    pub(crate) extra: Duration,
    /// The content type of the response.
    accept: &'static str,
    /// Whether the response to events has their receipts.
    with_receipts: bool,
}

impl Call {
    pub(crate) fn new(method: &'static str, path: impl Into<String>) -> Self {
        Self {
            method,
            path: path.into(),
            body: None,
            is_idempotent: true,
            extra: Duration::ZERO,
            accept: "application/json",
            with_receipts: false,
        }
    }

    pub(crate) fn accept(mut self, content_type: &'static str) -> Self {
        self.accept = content_type;
        self
    }

    /// For the receipts of events.
    pub(crate) fn with_receipts(mut self) -> Self {
        self.with_receipts = true;
        self
    }

    pub(crate) fn body(mut self, body: Vec<u8>) -> Self {
        self.body = Some(body);
        self
    }

    /// Retried only if the service has not got the first attempt.
    pub(crate) fn once(mut self) -> Self {
        self.is_idempotent = false;
        self
    }
}

/// Where requests go and with what.
#[derive(Clone)]
pub(crate) struct Transport {
    pub(crate) agent: Agent,
    /// Without `/api/v1`.
    pub(crate) base_url: String,
    /// Names and values.
    pub(crate) headers: Vec<(&'static str, String)>,
    pub(crate) timeout: Duration,
    pub(crate) retry: RetryPolicy,
}

impl Transport {
    /// One request, without retries: the body of a 2xx response.
    pub(crate) fn attempt(&self, call: &Call) -> Result<Vec<u8>, Error> {
        let timeouts = Timeouts::Whole(self.timeout + call.extra);
        read_all(self.request(call, timeouts)?.into_body()).map_err(Error::network)
    }

    /// One request, without retries: a 2xx response whose body is still to be read.
    fn request(&self, call: &Call, timeouts: Timeouts) -> Result<Response<Body>, Error> {
        let mut request = Request::builder()
            .method(call.method)
            .uri(format!("{}/api/v1{}", self.base_url, call.path))
            .header("accept", call.accept);
        for (name, value) in &self.headers {
            request = request.header(*name, value);
        }
        if call.with_receipts {
            request = request.header("prefer", "receipt");
        }
        let response = match &call.body {
            Some(body) => {
                let request = request.header("content-type", "application/json").body(&body[..]);
                let request = self.agent.configure_request(request.map_err(Error::network)?);
                self.agent.run(timeouts.set(request).build())
            }
            // Without a body of length 0, a request that may have one would be sent in chunks, which not every proxy takes.
            None if call.method == "POST" => {
                let request = request.body(&[][..]).map_err(Error::network)?;
                let request = self.agent.configure_request(request);
                self.agent.run(timeouts.set(request).build())
            }
            None => {
                let request = self
                    .agent
                    .configure_request(request.body(()).map_err(Error::network)?);
                self.agent.run(timeouts.set(request).build())
            }
        };
        checked(response.map_err(|error| network_error(&error, &self.base_url))?)
    }

    /// A request with retries. `parse` reads the body of a 2xx response; its network errors are retried. `sleep` waits after an attempt that
    /// failed, and ends the attempts with an error.
    pub(crate) fn send<T>(
        &self,
        call: &Call,
        parse: impl Fn(&[u8]) -> Result<T, Error>,
        sleep: impl Fn(Duration, &Error) -> Result<(), Error>,
    ) -> Result<T, Error> {
        self.retrying(call, || parse(&self.attempt(call)?), sleep)
    }

    fn retrying<T>(
        &self,
        call: &Call,
        once: impl Fn() -> Result<T, Error>,
        sleep: impl Fn(Duration, &Error) -> Result<(), Error>,
    ) -> Result<T, Error> {
        let mut attempt = 1;
        loop {
            let error = match once() {
                Ok(result) => return Ok(result),
                Err(error) => error,
            };
            if !call.is_idempotent && !is_known_unsent(&error) {
                return Err(error);
            }
            let seed = u64::from_le_bytes(ambient::random());
            let Some(wait) = self.retry.wait_before_retry(attempt, &error, seed) else {
                return Err(error);
            };
            log::debug!("attempt {attempt} failed, next in {wait:?}: {error}");
            sleep(wait, &error)?;
            attempt += 1;
        }
    }

    /// A request with retries in the calling thread.
    pub(crate) fn blocking<T>(
        &self,
        call: &Call,
        parse: impl Fn(&[u8]) -> Result<T, Error>,
    ) -> Result<T, Error> {
        self.send(call, parse, sleep)
    }

    /// The first result that is not an outage: `once` is called again after pauses that grow.
    pub(crate) fn through_outages<T>(&self, once: impl Fn() -> Result<T, Error>) -> Result<T, Error> {
        let mut failures = 0;
        loop {
            let error = match once() {
                Err(error) if is_temporary(&error) => error,
                result => return result,
            };
            failures += 1;
            let seed = u64::from_le_bytes(ambient::random());
            let wait = self.retry.pause(failures, &error, seed);
            log::warn!("the next attempt is in {:.1} s: {error}", wait.as_secs_f64());
            sleep(wait, &error)?;
        }
    }

    /// As [`Self::blocking`], for a body that is read piece by piece. Its beginning is retried; an interruption is an error of the reader.
    pub(crate) fn stream(&self, call: &Call) -> Result<BodyReader<'static>, Error> {
        let timeouts = Timeouts::EachRead(self.timeout);
        let response = self.retrying(call, || self.request(call, timeouts), sleep)?;
        let body = response.into_body().into_with_config();
        Ok(body.limit(u64::MAX).reader())
    }

    /// As [`Self::blocking`], for text.
    pub(crate) fn text(&self, call: Call) -> Result<String, Error> {
        let unreadable = |_| Error::network("the response is not text");
        let parse = |body: &[u8]| String::from_utf8(body.to_vec()).map_err(unreadable);
        self.blocking(&call.accept("text/plain"), parse)
    }

    /// As [`Self::blocking`], for a JSON object.
    pub(crate) fn json(&self, call: &Call) -> Result<Value, Error> {
        self.blocking(call, json_of)
    }
}

fn sleep(wait: Duration, _: &Error) -> Result<(), Error> {
    std::thread::sleep(wait);
    Ok(())
}

/// What the time limit of an attempt bounds.
#[derive(Clone, Copy)]
enum Timeouts {
    /// All of it.
    Whole(Duration),
    /// Each step until the body comes, and each read of the body, whose whole length depends on its reader.
    EachRead(Duration),
}

impl Timeouts {
    fn set<S: AsSendBody>(
        self,
        request: ConfigBuilder<HttpCrateScope<S>>,
    ) -> ConfigBuilder<HttpCrateScope<S>> {
        match self {
            Self::Whole(timeout) => request.timeout_global(Some(timeout)),
            Self::EachRead(timeout) => request
                .timeout_resolve(Some(timeout))
                .timeout_connect(Some(timeout))
                .timeout_send_request(Some(timeout))
                .timeout_recv_response(Some(timeout))
                .timeout_per_read(Some(timeout)),
        }
    }
}

fn read_all(mut body: Body) -> Result<Vec<u8>, ureq::Error> {
    body.with_config().limit(RESPONSE_BYTES_MAX).read_to_vec()
}

/// The response, or the error that it is.
fn checked(response: Response<Body>) -> Result<Response<Body>, Error> {
    let status = response.status().as_u16();
    if (200..300).contains(&status) {
        return Ok(response);
    }
    let header = |name| response.headers().get(name)?.to_str().ok().map(str::to_owned);
    let (retry_after, request_id) = (header("retry-after"), header("x-request-id"));
    let retry_after = retry_after.as_deref().and_then(seconds_of);
    let body = read_all(response.into_body()).map_err(Error::network)?;
    let error = ApiError::of_response(status, retry_after, request_id, &body);
    Err(Error::Api(Box::new(error)))
}

/// Seconds of `Retry-After`; `None` for a date or what cannot be read.
fn seconds_of(text: &str) -> Option<Duration> {
    Duration::try_from_secs_f64(text.trim().parse().ok()?).ok()
}

fn network_error(error: &ureq::Error, base_url: &str) -> Error {
    let is_unsent = match error {
        ureq::Error::HostNotFound | ureq::Error::ConnectionFailed => true,
        ureq::Error::Timeout(timeout) => matches!(timeout, ureq::Timeout::Connect | ureq::Timeout::Resolve),
        ureq::Error::Io(error) => error.kind() == std::io::ErrorKind::ConnectionRefused,
        _ => false,
    };
    // Without the path, which can have the token of a stream, and without a password in the address.
    let (scheme, rest) = base_url.split_once("://").unwrap_or(("", base_url));
    let host = rest.rsplit('@').next().unwrap_or_default();
    Error::Network {
        message: format!("no response of {scheme}://{host}: {error}"),
        is_unsent,
    }
}

/// The object in a 2xx response.
pub(crate) fn json_of(body: &[u8]) -> Result<Value, Error> {
    match serde_json::from_slice(body) {
        Ok(value @ Value::Object(_)) => Ok(value),
        _ => Err(Error::network(format!("{NOT_OF_THE_SERVICE}: not a JSON object"))),
    }
}

/// For each of `count` events its id or its error, in order.
///
/// A network error if the response does not account for each event: nothing then says what was stored.
pub(crate) fn outcomes_of(response: &Value, count: usize) -> Result<Vec<Result<String, Error>>, Error> {
    let unaccounted = || Error::network(format!("the response does not account for {count} events"));
    let request_id = response["request_id"].as_str();
    let mut outcomes: Vec<Option<Result<String, Error>>> = vec![None; count];
    for entry in response["errors"].as_array().into_iter().flatten() {
        let index = entry["index"]
            .as_u64()
            .and_then(|index| usize::try_from(index).ok());
        let place = index
            .and_then(|index| outcomes.get_mut(index))
            .ok_or_else(unaccounted)?;
        *place = Some(Err(Error::Api(Box::new(ApiError::of_entry(entry, request_id)))));
    }
    let mut ids = response["ids"].as_array().ok_or_else(unaccounted)?.iter();
    for place in outcomes.iter_mut().filter(|place| place.is_none()) {
        let id = ids.next().and_then(Value::as_str).ok_or_else(unaccounted)?;
        *place = Some(Ok(id.to_owned()));
    }
    match ids.next() {
        Some(_) => Err(unaccounted()),
        None => Ok(outcomes.into_iter().flatten().collect()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn outcomes_are_in_the_order_of_the_events() {
        let response = json!({"ids": ["a", "c"], "errors": [{"index": 1, "code": "conflict", "message": "m"}], "request_id": "req_1"});
        let outcomes = outcomes_of(&response, 3).unwrap();
        assert_eq!(outcomes[0].as_ref().unwrap(), "a");
        assert_eq!(outcomes[1].as_ref().unwrap_err().code(), Some("conflict"));
        assert_eq!(outcomes[2].as_ref().unwrap(), "c");
    }

    #[test]
    fn a_response_that_does_not_account_for_every_event_is_a_network_error() {
        for response in [
            json!({}),
            json!({"ids": ["a"]}),
            json!({"ids": ["a", "b", "c"]}),
            json!({"ids": ["a"], "errors": [{"index": 2}]}),
            json!({"ids": ["a", 1]}),
            json!({"ids": ["a", "b"], "errors": [{"index": 0}]}),
        ] {
            let error = outcomes_of(&response, 2).unwrap_err();
            assert!(matches!(error, Error::Network { .. }), "{response}: {error}");
        }
    }

    #[test]
    fn retry_after_is_a_number_of_seconds() {
        assert_eq!(seconds_of("1"), Some(Duration::from_secs(1)));
        for text in ["soon", "-1", "NaN", "inf", "", "Wed, 21 Oct 2026 07:28:00 GMT"] {
            assert_eq!(seconds_of(text), None, "{text}");
        }
    }
}
