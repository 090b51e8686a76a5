//! The HTTP interface of the audited server.

use super::{AuditResult, Failure};
use anyhow::{Context, anyhow};
use audit_cli::client::{Client, Reply};
use audit_domain::json;
use audit_ledger::{Tile, TileId};
use serde_json::Value;
use ureq::Body;
use ureq::http::Response;

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

    /// A JSON document that a server with an inconsistent log does not have, so a 500 is not repeated.
    pub(super) fn json_of_consistent_log(&self, path: &str) -> AuditResult<Fetched<Value>> {
        match self.client.send_once(|agent| self.call(agent, path, &[])) {
            Ok(reply) if reply.status == 500 => Err(no_response(path, &reply)),
            _ => self.json(path, &[]),
        }
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
