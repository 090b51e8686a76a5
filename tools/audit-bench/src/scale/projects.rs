//! Creates projects over HTTP, several at once.

use crate::generator::HttpClient;
use crate::results::ratio;
use anyhow::Context;
use serde::{Deserialize, Serialize};
use std::net::SocketAddr;
use std::ops::Range;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

/// Projects of an organization; the service allows 1,000.
pub(crate) const ORGANIZATION_PROJECTS: usize = 900;
/// Connections that create projects.
const CONNECTIONS: usize = 8;
/// Pause before a refused request is repeated.
const REFUSED_PAUSE: Duration = Duration::from_millis(20);

/// How fast projects were created: each is one request for the project and one for its key.
#[derive(Debug, Clone, Copy, Default, Serialize)]
pub(crate) struct CreationRate {
    pub(crate) projects: usize,
    pub(crate) seconds: f64,
    /// Responses 503, after which the request was repeated.
    pub(crate) refused: u64,
}

impl CreationRate {
    pub(crate) fn per_second(self) -> f64 {
        ratio(self.projects as f64, self.seconds)
    }
}

/// Creates the projects of these numbers, or some of them if `is_over` is set before. Project `n` belongs to the organization
/// of master key `n / ORGANIZATION_PROJECTS`. Returns a live key of each.
pub(crate) fn create(
    address: SocketAddr,
    master_keys: &[String],
    numbers: Range<usize>,
    is_over: &AtomicBool,
) -> anyhow::Result<(Vec<String>, CreationRate)> {
    let (next, refused) = (AtomicUsize::new(numbers.start), AtomicU64::new(0));
    let began = Instant::now();
    let work = || -> anyhow::Result<Vec<String>> {
        let (mut keys, mut connection) = (Vec::new(), None);
        loop {
            let number = next.fetch_add(1, Ordering::Relaxed);
            if number >= numbers.end || is_over.load(Ordering::Relaxed) {
                return Ok(keys);
            }
            let organization = number / ORGANIZATION_PROJECTS;
            let mut client = match connection.take() {
                Some((connected, client)) if connected == organization => client,
                _ => {
                    let master_key = master_keys.get(organization);
                    HttpClient::connect(address, master_key.context("there are too few organizations")?)?
                }
            };
            keys.push(create_one(&mut client, &refused)?);
            connection = Some((organization, client));
        }
    };
    let keys = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..CONNECTIONS).map(|_| scope.spawn(work)).collect();
        let joined = threads.into_iter().map(|thread| {
            let outcome = thread.join();
            outcome.unwrap_or_else(|_| anyhow::bail!("a thread that creates projects panicked"))
        });
        joined.collect::<anyhow::Result<Vec<_>>>()
    })?;
    let keys = keys.concat();
    let rate = CreationRate {
        projects: keys.len(),
        seconds: began.elapsed().as_secs_f64(),
        refused: refused.into_inner(),
    };
    Ok((keys, rate))
}

fn create_one(client: &mut HttpClient, refused: &AtomicU64) -> anyhow::Result<String> {
    #[derive(Deserialize)]
    struct Created {
        project: Project,
    }
    #[derive(Deserialize)]
    struct Project {
        id: String,
    }
    #[derive(Deserialize)]
    struct Key {
        key: String,
    }
    let body = post(client, "/api/v1/projects", r#"{"name":"benchmark"}"#, refused)?;
    let Created { project } = serde_json::from_slice(&body).context("malformed project")?;
    let json = format!(
        r#"{{"project_id":"{}","type":"project","name":"benchmark"}}"#,
        project.id
    );
    let body = post(client, "/api/v1/keys", &json, refused)?;
    let Key { key } = serde_json::from_slice(&body).context("malformed key")?;
    Ok(key)
}

fn post(client: &mut HttpClient, target: &str, json: &str, refused: &AtomicU64) -> anyhow::Result<Vec<u8>> {
    loop {
        let (status, body) = client.try_post(target, json)?;
        if status == 201 {
            return Ok(body.to_vec());
        }
        refused.fetch_add(1, Ordering::Relaxed);
        std::thread::sleep(REFUSED_PAUSE);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rate_is_per_second() {
        let rate = CreationRate {
            projects: 100,
            seconds: 4.0,
            refused: 1,
        };
        assert_eq!(rate.per_second(), 25.0);
        assert_eq!(CreationRate::default().per_second(), 0.0);
    }
}
