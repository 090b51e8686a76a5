//! The two targets of an import: the database, and a running server.

use anyhow::{Context, bail};
use audit_app::{AppError, AuditLog, EventsForm, Ingested, SentEvents};
use audit_cli::client::{Client, Reply};
use audit_domain::{Environment, ProjectId};
use serde_json::Value;
use std::sync::Arc;

/// The target of an import.
#[expect(missing_docs, reason = "as in the command line")]
pub enum Target {
    /// The database, by the service.
    Database {
        service: Arc<AuditLog>,
        project_id: ProjectId,
        environment: Environment,
    },
    /// A running server.
    Http {
        client: Client,
        url: String,
        key: String,
    },
}

/// The result of one request. `rejected` holds indexes in the request, with the reason.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct BatchReport {
    pub(super) stored: usize,
    pub(super) duplicates: usize,
    pub(super) rejected: Vec<(usize, String)>,
}

impl Target {
    /// Sends `body`, JSON lines with `events` events.
    pub(super) fn send(&self, body: &[u8], events: usize) -> anyhow::Result<BatchReport> {
        match self {
            Self::Database {
                service,
                project_id,
                environment,
            } => match service.ingest_blocking(
                *project_id,
                *environment,
                &SentEvents::new(body, EventsForm::Lines),
            ) {
                Ok(ingested) => Ok(BatchReport::of(&ingested)),
                Err(AppError::Invalid(violations)) => {
                    let fields = violations
                        .as_slice()
                        .iter()
                        .map(|one| (one.field.as_str(), one.message.as_str()));
                    Ok(BatchReport::all_invalid(fields, events))
                }
                Err(AppError::Conflict(message)) => Ok(BatchReport::all_conflict(&message, events)),
                Err(error) => Err(error.into()),
            },
            Self::Http { client, url, key } => {
                let reply = client.send(&format!("POST {url}"), |agent| {
                    agent
                        .post(url)
                        .header("Authorization", format!("Bearer {key}"))
                        .header("Content-Type", "application/x-ndjson")
                        .send(body)
                });
                read_reply(&reply.with_context(|| format!("POST {url}"))?, events)
            }
        }
    }
}

impl BatchReport {
    fn of(ingested: &Ingested) -> Self {
        Self {
            stored: ingested.ids.len() - ingested.repeated_count,
            duplicates: ingested.repeated_count,
            rejected: ingested
                .refused
                .iter()
                .map(|one| (one.index, describe(&one.error)))
                .collect(),
        }
    }

    /// Nothing was stored. A field begins with the index of its event, `[3].actor`; one without is about the whole body.
    fn all_invalid<'a>(fields: impl Iterator<Item = (&'a str, &'a str)>, events: usize) -> Self {
        let mut reasons = vec![Vec::new(); events];
        for (field, message) in fields {
            let (indexes, field) = match split_index(field) {
                Some((index, field)) => (index..index + 1, field),
                None => (0..events, field),
            };
            for reason in reasons.get_mut(indexes).into_iter().flatten() {
                reason.push(violation(field, message));
            }
        }
        Self::all_rejected(reasons.into_iter().map(|reason| reason.join("; ")).collect())
    }

    fn all_conflict(message: &str, events: usize) -> Self {
        Self::all_rejected(vec![message.to_owned(); events])
    }

    fn all_rejected(reasons: Vec<String>) -> Self {
        Self {
            stored: 0,
            duplicates: 0,
            rejected: reasons.into_iter().enumerate().collect(),
        }
    }
}

fn violation(field: &str, message: &str) -> String {
    match field {
        "" => message.to_owned(),
        _ => format!("{field}: {message}"),
    }
}

/// `[3].actor` as 3 and `actor`.
fn split_index(field: &str) -> Option<(usize, &str)> {
    let (index, rest) = field.strip_prefix('[')?.split_once(']')?;
    Some((index.parse().ok()?, rest.trim_start_matches('.')))
}

fn describe(error: &AppError) -> String {
    match error {
        AppError::Invalid(violations) => {
            let fields = violations
                .as_slice()
                .iter()
                .map(|one| violation(&one.field, &one.message));
            fields.collect::<Vec<_>>().join("; ")
        }
        other => other.to_string(),
    }
}

fn read_reply(reply: &Reply, events: usize) -> anyhow::Result<BatchReport> {
    let status = reply.status;
    let body: Value = serde_json::from_slice(&reply.body)
        .with_context(|| format!("the response with status {status} is not JSON"))?;
    match (status, text(&body["error"]["code"])) {
        (201, _) => read_stored(&body, events),
        (400, "validation_error") => Ok(BatchReport::all_invalid(details(&body["error"]), events)),
        (409, _) => Ok(BatchReport::all_conflict(text(&body["error"]["message"]), events)),
        (_, code) => bail!(
            "the server responds {status} {code}: {}",
            text(&body["error"]["message"])
        ),
    }
}

fn read_stored(body: &Value, events: usize) -> anyhow::Result<BatchReport> {
    let errors = body["errors"].as_array().into_iter().flatten();
    let rejected = errors.map(|error| {
        let index = error["index"]
            .as_u64()
            .and_then(|index| usize::try_from(index).ok());
        let index = index.filter(|index| *index < events);
        let index = index.context("the server rejects an event that the request does not have")?;
        Ok((index, reason(error)))
    });
    let rejected = rejected.collect::<anyhow::Result<Vec<_>>>()?;
    let accepted = events.saturating_sub(rejected.len());
    let duplicates = body["repeated_count"].as_u64().unwrap_or(0) as usize;
    Ok(BatchReport {
        stored: accepted.saturating_sub(duplicates),
        duplicates,
        rejected,
    })
}

fn reason(error: &Value) -> String {
    let fields: Vec<String> = details(error)
        .map(|(field, message)| violation(field, message))
        .collect();
    match fields.is_empty() {
        true => text(&error["message"]).to_owned(),
        false => fields.join("; "),
    }
}

fn details(error: &Value) -> impl Iterator<Item = (&str, &str)> {
    let details = error["details"].as_array().into_iter().flatten();
    details.map(|detail| (text(&detail["field"]), text(&detail["message"])))
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use audit_cli::testing::{client, stub};
    use std::time::Duration;

    const LIMITED: &str =
        "HTTP/1.1 429 Too Many Requests\r\nRetry-After: 3\r\nContent-Length: 0\r\nConnection: close\r\n\r\n";
    const LIMITED_FOR_HOURS: &str = "HTTP/1.1 429 Too Many Requests\r\nRetry-After: 7200\r\nConnection: close\r\n\r\n\
        {\"error\":{\"code\":\"daily_event_limit_reached\",\"message\":\"the limit is reached\"}}";
    const STORED: &str =
        "HTTP/1.1 201 Created\r\nConnection: close\r\n\r\n{\"ids\":[\"a\",\"b\"],\"repeated_count\":1}";

    fn send(responses: Vec<&'static str>) -> (anyhow::Result<BatchReport>, Vec<Duration>, Vec<String>) {
        let (address, server) = stub(responses);
        let (client, pauses) = client();
        let target = Target::Http {
            client,
            url: format!("http://{address}/api/v1/events"),
            key: "pk_live_x".to_owned(),
        };
        let sent = target.send(b"{}\n{}\n", 2);
        (sent, pauses.take(), server.join().unwrap())
    }

    #[test]
    fn a_rate_limit_is_waited_for_and_the_same_body_sent_again() {
        let (sent, pauses, bodies) = send(vec![LIMITED, STORED]);
        let expected = BatchReport {
            stored: 1,
            duplicates: 1,
            rejected: Vec::new(),
        };
        assert_eq!(sent.unwrap(), expected);
        assert_eq!(pauses, [Duration::from_secs(3)]);
        assert_eq!(bodies, ["{}\n{}\n", "{}\n{}\n"]);
    }

    #[test]
    fn a_daily_limit_ends_the_import_at_once() {
        let (sent, pauses, _) = send(vec![LIMITED_FOR_HOURS]);
        assert_eq!(
            sent.unwrap_err().to_string(),
            "the server responds 429 daily_event_limit_reached: the limit is reached"
        );
        assert!(pauses.is_empty());
    }

    #[test]
    fn reasons_are_assigned_to_their_events() {
        let fields = [
            ("[1].actor", "is missing"),
            ("[1]", "is too large"),
            ("body", "is too long"),
            ("[9].action", "is out of range"),
        ];
        let report = BatchReport::all_invalid(fields.into_iter(), 2);
        let first = "body: is too long".to_owned();
        let second = "actor: is missing; is too large; body: is too long".to_owned();
        assert_eq!(report.rejected, [(0, first), (1, second)]);
    }
}
