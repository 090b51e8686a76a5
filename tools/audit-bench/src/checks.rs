//! Checks that redaction, alert rules and idempotency were active, and the measurement of proofs of inclusion.

use crate::generator::{HttpClient, count, events_on_page};
use crate::latency::{Latencies, LatencySummary};
use crate::results::ratio;
use crate::workload::vocabulary::TENANT;
use anyhow::{Context, bail};
use serde::{Deserialize, Serialize};

const PAGE_EVENTS: usize = 200;
const REPEATED_EVENT: &str = r#"{"action":"benchmark.repeated","category":"system","tenant_id":"benchmark",
    "actor":{"id":"benchmark","type":"system"},"idempotency_key":"benchmark-repeated"}"#;

/// State of the service after the ingest measurements.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize)]
pub(crate) struct Checks {
    /// Share of the newest events that redaction changed.
    pub(crate) redacted_share: f64,
    /// Alerts that the built-in rules raised, at most one page.
    pub(crate) alerts: usize,
    /// Whether an event sent twice is stored once.
    pub(crate) is_repeat_detected: bool,
}

/// Proofs of inclusion.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize)]
pub(crate) struct Proofs {
    pub(crate) latency: LatencySummary,
    /// Of the longest response.
    pub(crate) bytes_max: usize,
}

impl Checks {
    /// Reads events and alerts, and sends one event twice.
    pub(crate) fn read(client: &mut HttpClient) -> anyhow::Result<Self> {
        let (page, _) = client.get(&format!("/api/v1/events?limit={PAGE_EVENTS}"))?;
        let redacted_share = ratio(
            count(page, b"\"redacted\":true") as f64,
            f64::from(events_on_page(page)),
        );
        let (page, _) = client.get("/api/v1/alerts?limit=100")?;
        let alerts = count(page, b"\"fired_at\":");
        let mut stored_id = || -> anyhow::Result<String> {
            #[derive(Deserialize)]
            struct Stored {
                ids: [String; 1],
            }
            let body = client.post("/api/v1/events", REPEATED_EVENT)?;
            let Stored { ids: [id] } =
                serde_json::from_slice(body).context("the response to an event has no id")?;
            Ok(id)
        };
        Ok(Self {
            redacted_share,
            alerts,
            is_repeat_detected: stored_id()? == stored_id()?,
        })
    }
}

impl Proofs {
    /// Requests proofs of the newest events and of some of the oldest, repeatedly.
    pub(crate) fn measure(client: &mut HttpClient, requests: usize) -> anyhow::Result<Self> {
        let first = format!("/api/v1/events?limit={PAGE_EVENTS}&tenant_id={}", TENANT.rare);
        let mut ids = event_ids(client, &first)?;
        let newest = format!("/api/v1/events?limit={PAGE_EVENTS}");
        ids.extend(event_ids(client, &newest)?);
        if ids.is_empty() {
            bail!("there are no events to request proofs of");
        }
        let (mut latencies, mut bytes_max) = (Latencies::default(), 0);
        for id in ids.iter().cycle().take(requests) {
            let (proof, took) = client.get(&format!("/api/v1/events/{id}/proof"))?;
            bytes_max = bytes_max.max(proof.len());
            latencies.add(took);
        }
        Ok(Self {
            latency: latencies.summary(),
            bytes_max,
        })
    }
}

fn event_ids(client: &mut HttpClient, target: &str) -> anyhow::Result<Vec<String>> {
    #[derive(Deserialize)]
    struct Page {
        events: Vec<Event>,
    }
    #[derive(Deserialize)]
    struct Event {
        id: String,
    }
    let (body, _) = client.get(target)?;
    let page: Page = serde_json::from_slice(body).context("malformed page of events")?;
    Ok(page.events.into_iter().map(|event| event.id).collect())
}
