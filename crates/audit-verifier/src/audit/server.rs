//! The HTTP interface of the audited server.

use super::{AuditResult, Failure};
use anyhow::{Context, anyhow};
use audit_cli::client::{Client, Reply};
use audit_domain::json;
use audit_ledger::{Tile, TileId};
use serde_json::Value;
use ureq::Body;
use ureq::http::Response;

/// Further rounds of attempts for a server that says that it makes progress. A round takes up to a minute.
const ROUNDS_MAX: usize = 60;

/// The audited server, and the log that is audited.
pub(crate) struct LogServer {
    client: Client,
    url: String,
    key: String,
    project: Option<String>,
    environment: Option<String>,
}

/// The result of a request that the server understood.
pub(super) enum Fetched<T> {
    /// 200.
    Found(T),
    /// 400 or 404, with the message: the server does not have it.
    Refused(String),
}

impl LogServer {
    /// The log that the key accesses.
    pub(crate) fn new(url: &str, key: &str) -> Self {
        Self {
            client: Client::default(),
            url: format!("{}/api/v1", url.trim_end_matches('/')),
            key: key.to_owned(),
            project: None,
            environment: None,
        }
    }

    /// The same, of this project and environment.
    pub(crate) fn of(self, project: Option<impl ToString>, environment: Option<impl ToString>) -> Self {
        Self {
            project: project.map(|project| project.to_string()),
            environment: environment.map(|environment| environment.to_string()),
            ..self
        }
    }

    /// Bytes.
    pub(super) fn bytes(&self, path: &str) -> AuditResult<Fetched<Vec<u8>>> {
        self.get(path, &[])
    }

    /// A text.
    pub(super) fn text(&self, path: &str) -> AuditResult<Fetched<String>> {
        self.text_of(path, &[])
    }

    /// A text, with parameters.
    pub(super) fn text_of(&self, path: &str, parameters: &[(&str, String)]) -> AuditResult<Fetched<String>> {
        Ok(match self.get(path, parameters)? {
            Fetched::Found(bytes) => {
                let text = String::from_utf8(bytes);
                Fetched::Found(text.with_context(|| format!("GET {path}: the response is not UTF-8"))?)
            }
            Fetched::Refused(why) => Fetched::Refused(why),
        })
    }

    /// A JSON document.
    pub(super) fn json(&self, path: &str, parameters: &[(&str, String)]) -> AuditResult<Fetched<Value>> {
        self.parsed(path, self.reply(path, parameters)?)
    }

    fn parsed(&self, path: &str, reply: Reply) -> AuditResult<Fetched<Value>> {
        Ok(match fetched(path, reply)? {
            Fetched::Found(bytes) => {
                let read = json::parse(&bytes).map(Value::from);
                Fetched::Found(read.with_context(|| format!("GET {path}: the response is not JSON"))?)
            }
            Fetched::Refused(why) => Fetched::Refused(why),
        })
    }

    /// A page of the feed, behind a cursor if there is one. Where events behind it were removed, the server returns another cursor to
    /// the same position, which is used then.
    pub(super) fn feed(&self, limit: u64, after: Option<&str>) -> AuditResult<Fetched<Value>> {
        const PATH: &str = "events/feed";
        let limit = || ("limit", limit.to_string());
        let mut parameters = vec![limit()];
        parameters.extend(after.map(|after| ("after", after.to_owned())));
        let reply = self.reply(PATH, &parameters)?;
        match cursor_instead(&reply) {
            Some(after) => self.json(PATH, &[limit(), ("after", after)]),
            None => self.parsed(PATH, reply),
        }
    }

    /// A tile of a tree that the log has signed, so the log must have it.
    pub(super) fn tile(&self, id: TileId) -> AuditResult<Tile> {
        let bytes = match self.get(&format!("log/{id}"), &[])? {
            Fetched::Found(bytes) => bytes,
            Fetched::Refused(why) => {
                let what = format!("the server does not return {id} of the log: {why}");
                return Err(Failure::Inconsistent(what));
            }
        };
        Tile::decode(id, &bytes)
            .map_err(|error| Failure::Inconsistent(format!("the server returns an invalid tile: {error}")))
    }

    /// A JSON document that a server with an inconsistent log does not have, so a 500 is not repeated. A 503 is, beyond the attempts of
    /// other requests, while its message changes: a map of tenants that is brought up to date says how many events it lacks.
    pub(super) fn json_of_consistent_log(&self, path: &str) -> AuditResult<Fetched<Value>> {
        match self.client.send_once(|agent| self.call(agent, path, &[])) {
            Ok(reply) if reply.status == 500 => return Err(no_response(path, &reply)),
            _ => {}
        }
        let mut reply = self.reply(path, &[])?;
        for _ in 0..ROUNDS_MAX {
            if reply.status != 503 {
                break;
            }
            let before = std::mem::replace(&mut reply, self.reply(path, &[])?);
            if reply.error_message() == before.error_message() {
                break;
            }
        }
        self.parsed(path, reply)
    }

    fn get(&self, path: &str, parameters: &[(&str, String)]) -> AuditResult<Fetched<Vec<u8>>> {
        fetched(path, self.reply(path, parameters)?)
    }

    fn reply(&self, path: &str, parameters: &[(&str, String)]) -> AuditResult<Reply> {
        let request = format!("GET {path}");
        let reply = self
            .client
            .send(&request, |agent| self.call(agent, path, parameters));
        Ok(reply.context(request)?)
    }

    fn call(
        &self,
        agent: &ureq::Agent,
        path: &str,
        parameters: &[(&str, String)],
    ) -> Result<Response<Body>, ureq::Error> {
        let mut request = agent
            .get(format!("{}/{path}", self.url))
            .header("Authorization", format!("Bearer {}", self.key));
        if let Some(project) = &self.project {
            request = request.header("X-Project-Id", project);
        }
        if let Some(environment) = &self.environment {
            request = request.query("environment", environment);
        }
        for (name, value) in parameters {
            request = request.query(*name, value);
        }
        request.call()
    }
}

fn fetched(path: &str, reply: Reply) -> AuditResult<Fetched<Vec<u8>>> {
    match reply.status {
        200 => Ok(Fetched::Found(reply.body)),
        400 | 404 => Ok(Fetched::Refused(described(&reply))),
        500 => Err(no_response(path, &reply)),
        _ => Err(anyhow!("GET {path}: {}", described(&reply)).into()),
    }
}

/// The cursor in a response that says that events were removed.
fn cursor_instead(reply: &Reply) -> Option<String> {
    let body: Value = match reply.status {
        410 => serde_json::from_slice(&reply.body).ok()?,
        _ => return None,
    };
    body["error"]["cursor"].as_str().map(str::to_owned)
}

/// The server was reached and works, and cannot return what it has signed.
fn no_response(path: &str, reply: &Reply) -> Failure {
    Failure::Inconsistent(format!(
        "the server does not answer GET {path}: {}",
        described(reply)
    ))
}

fn described(reply: &Reply) -> String {
    format!("{} {}", reply.status, reply.error_message())
}

#[cfg(test)]
mod tests {
    use super::*;
    use audit_cli::testing::{client, stub};

    fn response(status: &str, body: &str) -> &'static str {
        let bytes = body.len();
        format!("HTTP/1.1 {status}\r\nRetry-After: 1\r\nConnection: close\r\nContent-Length: {bytes}\r\n\r\n{body}").leak()
    }

    fn behind(events: u64) -> &'static str {
        let body =
            format!(r#"{{"error":{{"code":"unavailable","message":"the map lacks {events} events"}}}}"#);
        response("503 Service Unavailable", &body)
    }

    /// What the auditor makes of these responses, of which it has to take each.
    fn fetched(responses: Vec<&'static str>) -> AuditResult<Fetched<Value>> {
        let (address, served) = stub(responses);
        let server = LogServer {
            client: client().0,
            ..LogServer::new(&format!("http://{address}"), "pk_live_1")
        };
        let fetched = server.json_of_consistent_log("log/tenants");
        served.join().expect("every response was asked for");
        fetched
    }

    #[test]
    fn a_map_that_is_brought_up_to_date_is_waited_for() {
        // One request that is not repeated, and rounds of five attempts.
        let mut responses = [vec![behind(30); 1 + 5], vec![behind(20); 5], vec![behind(10); 5]].concat();
        responses.push(response("200 OK", r#"{"size":30}"#));
        let Ok(Fetched::Found(body)) = fetched(responses) else {
            panic!("the map is fetched");
        };
        assert_eq!(body["size"], 30);
    }

    #[test]
    fn a_map_that_stays_behind_is_not_waited_for() {
        let Err(Failure::Inconclusive(error)) = fetched(vec![behind(30); 1 + 5 + 5]) else {
            panic!("the map is not there");
        };
        assert!(error.to_string().contains("the map lacks 30 events"), "{error}");
    }
}
