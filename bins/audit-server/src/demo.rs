//! `audit-server demo`: loads real events, shows three queries, and serves the result.

use crate::arguments::DemoOptions;
use crate::serve::{Extras, Sockets, run};
use anyhow::Context;
use audit_app::{AuditLog, EventsRequest, NewOrganization, Selection, Settings};
use audit_auth::{Credential, Project, Readers, TokenLifetime};
use audit_domain::{Environment, EventFilter, EventOrder, Facet, PageLimit, Search};
use audit_operations::import::{Target, import};
use audit_operations::key_sources::EncryptionOptions;
use audit_operations::options::{DatabaseOptions, WebhookOptions};
use audit_operations::service::open;
use audit_store::StoreOptions;
use comfy_table::{ContentArrangement, Table, presets::ASCII_MARKDOWN};
use indicatif::ProgressBar;
use serde_json::Value;
use std::collections::BTreeMap;
use std::io::Write;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Instant;

/// 2,900 events that AWS CloudTrail recorded during an attack simulation; see `docs/examples/README.md`.
const EVENTS: &[u8] = include_bytes!("../../../docs/examples/cloudtrail-events.jsonl");
const ACTOR: &str = "arn:aws:iam::123837392027:user/benjamin";
const TENANT: &str = "123837392027";
/// Rows of a printed table. The rest is counted.
const TABLE_ROWS_MAX: usize = 10;

/// The command.
pub(crate) fn demo(options: &DemoOptions) -> anyhow::Result<ExitCode> {
    let sockets = Sockets::open(&options.http)?;
    let directory = tempfile::tempdir().context("cannot create a temporary directory")?;
    let database = DatabaseOptions {
        database_url: format!("sqlite:{}", directory.path().join("demo.db").display()),
        state_directory: None,
        head_key_file: None,
        encryption: EncryptionOptions::default(),
    };
    let settings = Settings {
        signer: Some(database.signer()?),
        pages_url: options.http.pages_url(),
        ..Settings::default()
    };
    let settings = WebhookOptions::default().settings(settings)?;
    let service = open(&database, settings, StoreOptions::default(), None)?;
    let new = service
        .create_first_organization()?
        .context("the database of the demo is not empty")?;
    let mut out = std::io::stdout().lock();
    load(&mut out, &service, &new)?;
    let reader = Reader {
        service: &service,
        new: &new,
    };
    reader.show_denied(&mut out)?;
    reader.show_actor(&mut out)?;
    reader.show_tenant(&mut out)?;
    if options.queries_only {
        service.close();
        return Ok(ExitCode::SUCCESS);
    }
    write!(out, "{}", next_steps(&new, &sockets.curl_arguments()))?;
    if options.http.pages {
        let public_url = options.http.public_url.as_ref().map(ToString::to_string);
        let base_url = public_url.unwrap_or_else(|| sockets.base_url());
        write!(out, "{}", links(&service, &new, &base_url)?)?;
    }
    drop(out);
    let code = run(
        sockets,
        service,
        &options.http,
        WebhookOptions::default().sender()?,
        Extras::default(),
    )?;
    directory
        .close()
        .context("cannot remove the temporary directory")?;
    Ok(code)
}

fn load(out: &mut impl Write, service: &Arc<AuditLog>, new: &NewOrganization) -> anyhow::Result<()> {
    writeln!(
        out,
        "Loading 2,900 real audit events (AWS CloudTrail, July 2023) into a temporary database …"
    )?;
    let target = Target::Database {
        service: Arc::clone(service),
        project_id: new.project.id,
        environment: Environment::Live,
    };
    let report = import(EVENTS, &target, &ProgressBar::hidden())?;
    writeln!(out, "{}\n", report.summary())?;
    Ok(())
}

fn next_steps(new: &NewOrganization, server: &str) -> String {
    format!(
        "A server with these events is running. Ctrl-C stops it and removes the database.\n\n\
         master key   {}\nproject key  {}\n\n\
         The latest event of one actor:\n\n  \
         curl -sS -G {server}/api/v1/events -H 'Authorization: Bearer {}' --data-urlencode 'actor_id={ACTOR}' -d limit=1\n\n\
         Store an event of your own:\n\n  \
         curl -sS {server}/api/v1/events -H 'Authorization: Bearer {}' -H 'Content-Type: application/json' \
         -d '{{\"action\":\"user.created\",\"category\":\"mutation\",\"tenant_id\":\"acme\",\"actor\":{{\"id\":\"user_1\",\"type\":\"user\",\"email\":\"jane@example.com\"}}}}'\n\n\
         Next: run audit-server serve, which keeps its database. docs/api.md describes every endpoint.\n\n",
        new.master_key.as_str(),
        new.project_key.as_str(),
        new.project_key.as_str(),
        new.project_key.as_str(),
    )
}

/// Where a browser shows the events: the portal as the customer sees it, with the key that verifies the log, and the console.
fn links(service: &Arc<AuditLog>, new: &NewOrganization, server: &str) -> anyhow::Result<String> {
    let credential = Credential::Key(new.project_key.clone());
    let key = service
        .present::<Project>(credential, None, None)
        .authenticate()?;
    let lifetime = TokenLifetime::from_seconds(TokenLifetime::SECONDS_MAX)?;
    let (token, _) =
        service.create_viewer_token(&key, TENANT.to_owned(), Some("full".to_owned()), lifetime)?;
    let link = service.portal_link(server, &token)?;
    Ok(format!(
        "What the customer {TENANT} sees, for a day:\n\n  {link}\n\n\
         The console, with one of the keys above:\n\n  {server}/console\n\n"
    ))
}

/// Queries with the key of the project.
struct Reader<'a> {
    service: &'a Arc<AuditLog>,
    new: &'a NewOrganization,
}

impl Reader<'_> {
    fn page(
        &self,
        filter: EventFilter,
        cursor: Option<String>,
    ) -> anyhow::Result<(Vec<Value>, Option<String>)> {
        let credential = Credential::Key(self.new.project_key.clone());
        let presented = self.service.present::<Readers>(credential, None, None);
        let request = EventsRequest {
            filter,
            order: EventOrder::Descending,
            ids: None,
            cursor,
            limit: PageLimit::new(PageLimit::EVENTS_MAX)?,
        };
        let page = presented.events(Selection::default(), request)?;
        let events = page.events.iter().map(|event| serde_json::from_str(event.get()));
        Ok((events.collect::<Result<_, _>>()?, page.cursor))
    }

    fn all(&self, filter: &EventFilter) -> anyhow::Result<Vec<Value>> {
        let (mut all, mut cursor) = self.page(filter.clone(), None)?;
        while cursor.is_some() {
            let (more, next) = self.page(filter.clone(), cursor)?;
            all.extend(more);
            cursor = next;
        }
        Ok(all)
    }

    fn show_denied(&self, out: &mut impl Write) -> anyhow::Result<()> {
        let started = Instant::now();
        let filter = EventFilter {
            search: Some(Search::parse("failed")?),
            ..EventFilter::default()
        };
        let mut denied: BTreeMap<(String, String, String), usize> = BTreeMap::new();
        for event in self.all(&filter)? {
            let code = text(&event["metadata"]["error_code"]);
            if code.contains("Denied") || code.contains("Unauthorized") {
                *denied
                    .entry((short(&text(&event["actor"]["id"])), text(&event["action"]), code))
                    .or_default() += 1;
            }
        }
        let elapsed = started.elapsed();
        let mut rows: Vec<_> = denied.into_iter().collect();
        rows.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
        let rows = rows
            .into_iter()
            .map(|((actor, action, code), count)| vec![actor, action, code, count.to_string()]);
        writeln!(
            out,
            "1. Who was denied?   GET /events?search=failed, counted by actor and action   ({elapsed:.1?})"
        )?;
        print_table(out, &["actor", "action", "error", "events"], rows.collect())
    }

    fn show_actor(&self, out: &mut impl Write) -> anyhow::Result<()> {
        let started = Instant::now();
        let filter = EventFilter::of(Facet::ActorId, ACTOR);
        let (events, _) = self.page(filter, None)?;
        let elapsed = started.elapsed();
        let rows = events.iter().map(|event| {
            let target = short(&text(&event["target"]["id"]));
            vec![
                text(&event["occurred_at"]),
                text(&event["action"]),
                target,
                text(&event["context"]["ip_address"]),
            ]
        });
        writeln!(
            out,
            "2. What did benjamin do?   GET /events?actor_id={ACTOR}   ({} events, {elapsed:.1?})",
            events.len()
        )?;
        print_table(out, &["occurred at", "action", "target", "from"], rows.collect())
    }

    fn show_tenant(&self, out: &mut impl Write) -> anyhow::Result<()> {
        let started = Instant::now();
        let filter = EventFilter::of(Facet::TenantId, TENANT);
        let (events, cursor) = self.page(filter, None)?;
        let elapsed = started.elapsed();
        let rows = events.iter().map(|event| {
            let hash = text(&event["content_hash"]);
            let hash = hash.get(..19).unwrap_or_default();
            vec![
                text(&event["occurred_at"]),
                short(&text(&event["actor"]["id"])),
                text(&event["action"]),
                format!("{hash}…"),
            ]
        });
        let more = if cursor.is_some() {
            "the cursor leads to more"
        } else {
            "the last page"
        };
        writeln!(
            out,
            "3. One tenant's page   GET /events?tenant_id={TENANT}   ({} events, {more}, {elapsed:.1?})",
            events.len()
        )?;
        print_table(
            out,
            &["occurred at", "actor", "action", "content hash"],
            rows.collect(),
        )
    }
}

fn text(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}

/// The last part of an ARN, shortened.
fn short(arn: &str) -> String {
    let name = arn.splitn(6, ':').nth(5).unwrap_or(arn);
    match name.char_indices().nth(44) {
        Some((end, _)) => format!("{}…", &name[..end]),
        None => name.to_owned(),
    }
}

fn print_table(out: &mut impl Write, header: &[&str], rows: Vec<Vec<String>>) -> anyhow::Result<()> {
    let hidden = rows.len().saturating_sub(TABLE_ROWS_MAX);
    let mut table = Table::new();
    table
        .load_style(ASCII_MARKDOWN)
        .set_content_arrangement(ContentArrangement::Disabled)
        .set_header(header.to_vec());
    table.add_rows(rows.into_iter().take(TABLE_ROWS_MAX));
    writeln!(out, "{table}")?;
    if hidden > 0 {
        writeln!(out, "… and {hidden} more")?;
    }
    writeln!(out)?;
    Ok(())
}
