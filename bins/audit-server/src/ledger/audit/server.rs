//! The server as an auditor sees it.

use super::{AuditOptions, Audited, Failure};
use anyhow::{Context, anyhow, bail};
use audit_ledger::{Tile, TileId};
use serde_json::Value;
use std::time::Duration;
use ureq::http::Response;

/// How often a request is made that fails with 5xx or 429, or in the network.
const ATTEMPTS_MAX: u32 = 5;
/// The wait before the second attempt; each further one is twice as long.
const RETRY_WAIT_MS: u64 = 250;
/// How long the server can say that it wants to be waited for.
const RETRY_WAIT_SECONDS_MAX: u64 = 30;
const ANSWER_SECONDS_MAX: u64 = 60;
const ANSWER_BYTES_MAX: u64 = 64 * 1024 * 1024;

/// A server and how it is spoken to.
pub(super) struct LogServer {
    agent: ureq::Agent,
    url: String,
    key: String,
    project: Option<String>,
    environment: Option<String>,
}

/// What the server says.
pub(super) enum Reply<T> {
    /// What was asked for.
    Found(T),
    /// That there is no such thing.
    Refused(String),
}

impl LogServer {
    pub(super) fn new(options: &AuditOptions) -> Self {
        let agent = ureq::Agent::config_builder()
            .http_status_as_error(false)
            .timeout_global(Some(Duration::from_secs(ANSWER_SECONDS_MAX)))
            .build()
            .into();
        Self {
            agent,
            url: format!("{}/api/v1", options.url.trim_end_matches('/')),
            key: options.key.clone(),
            project: options.project.map(|project| project.to_string()),
            environment: options.environment.map(|environment| environment.to_string()),
        }
    }

    /// A text that every server has.
    pub(super) fn text(&self, path: &str) -> Audited<String> {
        let text = match self.get(path, &[])? {
            Reply::Found(bytes) => String::from_utf8(bytes).context("the answer is no text"),
            Reply::Refused(why) => Err(anyhow!("GET {path}: {why}")),
        };
        Ok(text?)
    }

    /// A JSON answer.
    pub(super) fn json(&self, path: &str, parameters: &[(&str, String)]) -> Audited<Reply<Value>> {
        Ok(match self.get(path, parameters)? {
            Reply::Found(bytes) => {
                let read = serde_json::from_slice(&bytes);
                Reply::Found(read.with_context(|| format!("GET {path}: the answer is no JSON"))?)
            }
            Reply::Refused(why) => Reply::Refused(why),
        })
    }

    /// A tile that the log has, as it signed a tree with it.
    pub(super) fn tile(&self, id: TileId) -> Audited<Tile> {
        let bytes = match self.get(&format!("log/{id}"), &[])? {
            Reply::Found(bytes) => bytes,
            Reply::Refused(why) => {
                return Err(Failure::Wrong(format!("the log does not show its {id}: {why}")));
            }
        };
        Tile::decode(id, &bytes).map_err(|error| Failure::Wrong(format!("the log shows no tile: {error}")))
    }

    fn get(&self, path: &str, parameters: &[(&str, String)]) -> anyhow::Result<Reply<Vec<u8>>> {
        let mut wait = Duration::from_millis(RETRY_WAIT_MS);
        for attempt in 1.. {
            let problem = match self.ask(path, parameters) {
                Ok(mut response) => {
                    let status = response.status().as_u16();
                    if status != 429 && status < 500 {
                        return read(path, status, response);
                    }
                    wait = wait.max(asked_to_wait(&response));
                    let text = response.body_mut().read_to_string().unwrap_or_default();
                    format!("{status} {}", message(text.as_bytes()))
                }
                Err(error) => error.to_string(),
            };
            if attempt == ATTEMPTS_MAX {
                bail!("GET {path}: {problem}");
            }
            log::warn!("GET {path}: {problem}; attempt {attempt} of {ATTEMPTS_MAX}");
            std::thread::sleep(wait);
            wait *= 2;
        }
        bail!("GET {path} was not tried")
    }

    fn ask(&self, path: &str, parameters: &[(&str, String)]) -> Result<Response<ureq::Body>, ureq::Error> {
        let mut request = self
            .agent
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

fn read(path: &str, status: u16, mut response: Response<ureq::Body>) -> anyhow::Result<Reply<Vec<u8>>> {
    let body = response.body_mut().with_config().limit(ANSWER_BYTES_MAX);
    let bytes = body
        .read_to_vec()
        .with_context(|| format!("GET {path}: cannot read the answer"))?;
    match status {
        200 => Ok(Reply::Found(bytes)),
        400 | 404 => Ok(Reply::Refused(format!("{status} {}", message(&bytes)))),
        _ => bail!("GET {path}: {status} {}", message(&bytes)),
    }
}

/// What an error says.
fn message(body: &[u8]) -> String {
    let body: Value = serde_json::from_slice(body).unwrap_or_default();
    let details = body["error"]["details"].as_array().into_iter().flatten();
    let details: Vec<&str> = details.filter_map(|detail| detail["message"].as_str()).collect();
    match details.is_empty() {
        true => body["error"]["message"].as_str().unwrap_or_default().to_owned(),
        false => details.join("; "),
    }
}

fn asked_to_wait(response: &Response<ureq::Body>) -> Duration {
    let seconds = response.headers().get("retry-after");
    let seconds = seconds.and_then(|value| value.to_str().ok()?.parse().ok());
    Duration::from_secs(seconds.unwrap_or(0).min(RETRY_WAIT_SECONDS_MAX))
}
