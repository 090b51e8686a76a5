//! `audit-server key trace`: the events that a key has sent, and from where.

use crate::options::{DatabaseOptions, Output};
use crate::service::open_to_administer;
use audit_app::TracedEvent;
use audit_cli::printable;
use audit_domain::{KeyId, Timestamp};
use clap::Args;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::io::Write;
use std::net::IpAddr;
use std::process::ExitCode;

#[derive(Debug, Args)]
pub struct TraceOptions {
    /// Id of a project key or a master key.
    id: KeyId,
    /// Leave out events that were received earlier, such as `2027-01-15T00:00:00Z`.
    #[arg(long, value_name = "TIME", value_parser = super::time)]
    from: Option<Timestamp>,
    /// Leave out events that were received later.
    #[arg(long, value_name = "TIME", value_parser = super::time)]
    to: Option<Timestamp>,
    #[command(flatten)]
    output: Output,
    #[command(flatten)]
    database: DatabaseOptions,
}

/// The events of one address.
#[derive(Debug, Default, PartialEq, Eq)]
struct FromAddress {
    events: u64,
    first: String,
    last: String,
}

/// Prints a line for each event, and in the text a line for each address at the end.
pub(super) fn trace(options: &TraceOptions) -> anyhow::Result<ExitCode> {
    let service = open_to_administer(&options.database)?;
    let mut stdout = std::io::stdout().lock();
    let mut addresses = BTreeMap::<Option<IpAddr>, FromAddress>::new();
    let traced = service.trace_key(options.id, |traced| -> anyhow::Result<()> {
        let event: Value = serde_json::from_str(&traced.event.canonical)?;
        let received_at = text(&event, "received_at");
        if !options.includes(&received_at) {
            return Ok(());
        }
        let of_address = addresses.entry(traced.event.address).or_default();
        of_address.add(&received_at);
        match options.output.json {
            true => writeln!(stdout, "{}", as_json(&traced, &event))?,
            false => writeln!(stdout, "{}", as_line(&traced, &event))?,
        }
        Ok(())
    });
    service.close();
    traced?;
    if !options.output.json {
        write!(stdout, "{}", summary(&addresses))?;
    }
    Ok(ExitCode::SUCCESS)
}

impl TraceOptions {
    fn includes(&self, received_at: &str) -> bool {
        // A stored time is always readable; one that was changed in the database is shown.
        let Ok(time) = Timestamp::parse_rfc3339(received_at) else {
            return true;
        };
        self.from.is_none_or(|from| from <= time) && self.to.is_none_or(|to| time <= to)
    }
}

impl FromAddress {
    /// Claimed events have earlier times than those before them.
    fn add(&mut self, received_at: &str) {
        if self.events == 0 || received_at < self.first.as_str() {
            received_at.clone_into(&mut self.first);
        }
        if received_at > self.last.as_str() {
            received_at.clone_into(&mut self.last);
        }
        self.events += 1;
    }
}

fn text(event: &Value, field: &str) -> String {
    event[field].as_str().unwrap_or_default().to_owned()
}

fn as_json(traced: &TracedEvent, event: &Value) -> Value {
    json!({
        "project_id": traced.project_id,
        "environment": traced.environment.as_str(),
        "seq": traced.event.seq,
        "id": event["id"],
        "received_at": event["received_at"],
        "action": event["action"],
        "client": traced.event.address.map(|address| address.to_string()),
    })
}

fn as_line(traced: &TracedEvent, event: &Value) -> String {
    let line = format!(
        "{}  {}  {}/{}  seq {}  {}  {}",
        text(event, "received_at"),
        shown(traced.event.address),
        traced.project_id,
        traced.environment.as_str(),
        traced.event.seq,
        text(event, "id"),
        text(event, "action"),
    );
    printable(&line).to_string()
}

fn shown(address: Option<IpAddr>) -> String {
    address.map_or_else(
        || "address not recorded".to_owned(),
        |address| address.to_string(),
    )
}

fn summary(addresses: &BTreeMap<Option<IpAddr>, FromAddress>) -> String {
    if addresses.is_empty() {
        return "the key has sent no events\n".to_owned();
    }
    let line = |(address, of): (&Option<IpAddr>, &FromAddress)| {
        let address = shown(*address);
        format!(
            "{address}: {} events, received from {} to {}\n",
            of.events, of.first, of.last
        )
    };
    addresses.iter().map(line).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_summary_has_the_count_and_the_times_of_each_address() {
        let mut of = FromAddress::default();
        for time in [
            "2027-01-02T00:00:00Z",
            "2027-01-01T00:00:00Z",
            "2027-01-03T00:00:00Z",
        ] {
            of.add(time);
        }
        let addresses = BTreeMap::from([("192.0.2.7".parse().ok(), of)]);
        assert_eq!(
            summary(&addresses),
            "192.0.2.7: 3 events, received from 2027-01-01T00:00:00Z to 2027-01-03T00:00:00Z\n"
        );
        assert_eq!(summary(&BTreeMap::new()), "the key has sent no events\n");
    }
}
