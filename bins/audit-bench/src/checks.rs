//! Whether what makes ingest costly was on while it was measured, and what a proof of inclusion costs.

use crate::generator::{PageReader, count, events_of};
use crate::latency::{Latencies, LatencySummary};
use crate::plan::PROOFS;
use crate::results::ratio;
use crate::workload::vocabulary::TENANT;
use anyhow::{Context, bail};
use serde::{Deserialize, Serialize};

const PAGE_EVENTS: usize = 200;
const REPEATED_EVENT: &str = r#"{"action":"benchmark.repeated","category":"system","tenant_id":"benchmark",
    "actor":{"id":"benchmark","type":"system"},"idempotency_key":"benchmark-repeated"}"#;

/// What was found in the database after ingest was measured.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize)]
pub(crate) struct Checks {
    /// Of the newest events, those that redaction changed.
    pub(crate) redacted_share: f64,
    /// Alerts that the built-in rules raised, at most a page of them.
    pub(crate) alerts: usize,
    /// Whether an event that was sent twice was stored once.
    pub(crate) is_repeat_recognised: bool,
}

/// Proofs that events are in the log.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize)]
pub(crate) struct Proofs {
    pub(crate) latency: LatencySummary,
    /// Of the longest answer.
    pub(crate) bytes_max: usize,
}

impl Checks {
    /// Asks the service, and sends it an event twice.
    pub(crate) fn read(reader: &mut PageReader) -> anyhow::Result<Self> {
        let (page, _) = reader.get(&format!("/api/v1/events?limit={PAGE_EVENTS}"))?;
        let redacted_share = ratio(
            count(page, b"\"redacted\":true") as f64,
            f64::from(events_of(page)),
        );
        let (page, _) = reader.get("/api/v1/alerts?limit=100")?;
        let alerts = count(page, b"\"fired_at\":");
        let mut stored_id = || -> anyhow::Result<String> {
            #[derive(Deserialize)]
            struct Stored {
                ids: [String; 1],
            }
            let body = reader.post("/api/v1/events", REPEATED_EVENT)?;
            let Stored { ids: [id] } = serde_json::from_slice(body).context("an event has no id")?;
            Ok(id)
        };
        Ok(Self {
            redacted_share,
            alerts,
            is_repeat_recognised: stored_id()? == stored_id()?,
        })
    }
}

impl Proofs {
    /// Asks for proofs of the newest events, and of some of the first that were stored.
    pub(crate) fn measure(reader: &mut PageReader) -> anyhow::Result<Self> {
        let first = format!("/api/v1/events?limit={PAGE_EVENTS}&tenant_id={}", TENANT.rare);
        let mut ids = event_ids(reader, &first)?;
        let newest = format!("/api/v1/events?limit={PAGE_EVENTS}");
        ids.extend(event_ids(reader, &newest)?);
        if ids.is_empty() {
            bail!("there are no events to prove");
        }
        let (mut latencies, mut bytes_max) = (Latencies::default(), 0);
        for id in ids.iter().cycle().take(PROOFS) {
            let (proof, took) = reader.get(&format!("/api/v1/events/{id}/proof"))?;
            bytes_max = bytes_max.max(proof.len());
            latencies.add(took);
        }
        Ok(Self {
            latency: latencies.summary(),
            bytes_max,
        })
    }
}

fn event_ids(reader: &mut PageReader, target: &str) -> anyhow::Result<Vec<String>> {
    #[derive(Deserialize)]
    struct Page {
        events: Vec<Event>,
    }
    #[derive(Deserialize)]
    struct Event {
        id: String,
    }
    let (body, _) = reader.get(target)?;
    let page: Page = serde_json::from_slice(body).context("a page of events cannot be read")?;
    Ok(page.events.into_iter().map(|event| event.id).collect())
}
