//! The HTTP interface of the audited server.

use super::{AuditOptions, AuditResult, Failure};
use crate::client::{Client, Reply};
use anyhow::{Context, anyhow, bail};
use audit_ledger::{Tile, TileId};
use serde_json::Value;
use ureq::Body;
use ureq::http::Response;

/// The audited server, and the log that is audited.
pub(super) struct LogServer {
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
    pub(super) fn new(options: &AuditOptions) -> Self {
        Self {
            client: Client::new(),
            url: format!("{}/api/v1", options.url.trim_end_matches('/')),
            key: options.key.clone(),
            project: options.project.map(|project| project.to_string()),
            environment: options.environment.map(|environment| environment.to_string()),
        }
    }

    /// A text that every server has.
    pub(super) fn text(&self, path: &str) -> AuditResult<String> {
        let text = match self.get(path, &[])? {
            Fetched::Found(bytes) => {
                String::from_utf8(bytes).with_context(|| format!("GET {path}: the response is not UTF-8"))
            }
            Fetched::Refused(why) => Err(anyhow!("GET {path}: {why}")),
        };
        Ok(text?)
    }

    /// A JSON document.
    pub(super) fn json(&self, path: &str, parameters: &[(&str, String)]) -> AuditResult<Fetched<Value>> {
        Ok(match self.get(path, parameters)? {
            Fetched::Found(bytes) => {
                let read = serde_json::from_slice(&bytes);
                Fetched::Found(read.with_context(|| format!("GET {path}: the response is not JSON"))?)
            }
            Fetched::Refused(why) => Fetched::Refused(why),
        })
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

    fn get(&self, path: &str, parameters: &[(&str, String)]) -> anyhow::Result<Fetched<Vec<u8>>> {
        let request = format!("GET {path}");
        let reply = self
            .client
            .send(&request, |agent| self.call(agent, path, parameters));
        let reply = reply.with_context(|| request.clone())?;
        let error = |reply: &Reply| format!("{} {}", reply.status, reply.error_message());
        match reply.status {
            200 => Ok(Fetched::Found(reply.body)),
            400 | 404 => Ok(Fetched::Refused(error(&reply))),
            _ => bail!("{request}: {}", error(&reply)),
        }
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
