//! `audit-server serve`: runs the service until SIGTERM or SIGINT.

pub(crate) mod anchors;
mod background;
mod cells;

use crate::administration::describe;
use crate::arguments::{HttpOptions, ServeOptions};
use crate::http::{self, Connections, Timeouts};
use crate::service::open;
use crate::system::SystemEntropy;
use actix_web::rt::signal::unix::{Signal, SignalKind, signal};
use actix_web::{App, web};
use anchors::{AnchorWorker, Anchors};
use anyhow::Context;
use audit_app::{AuditLog, NewOrganization, Sender};
use audit_http::{CorsOrigins, HttpState, RateLimit, TrustedProxies};
use audit_web::{FrameAncestors, Pages};
use cells::CellWorkers;
use rustix::net::sockopt;
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use std::io::Write;
use std::net::TcpListener;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

/// Accepted requests get this long to complete after a shutdown signal.
const SHUTDOWN_SECONDS_MAX: u64 = 6;
/// The process exits this long after a shutdown signal, even if something hangs. Supervisors kill after ten seconds.
const EXIT_SECONDS_MAX: u64 = 9;
/// An idle connection stays open this long: longer than proxies and clients keep theirs, usually a minute. Otherwise the
/// server may close a connection just as the client sends a request on it.
const KEEP_ALIVE_SECONDS: u64 = 75;
/// The head of a request must arrive within this time.
const REQUEST_HEAD_SECONDS_MAX: u64 = 20;
/// Bytes of a response that the kernel takes from the server before the client does; Linux reserves twice as much. It is also
/// how finely the server sees that a client reads.
const SEND_BUFFER_BYTES: usize = 128 * 1024;
/// The kernel closes a connection when bytes that it took wait this long for the client, longer than the server waits.
const UNACKNOWLEDGED_MS_MAX: u32 = 75_000;
/// A lower limit of open files is reported: 512 are for the database and outgoing connections, and as many for clients.
const OPEN_FILES_MIN: u64 = 1_024;
/// The length of the socket's accept queue.
pub(crate) const BACKLOG_CONNECTIONS_MAX: u32 = 4_096;

/// `audit-server serve`.
pub(crate) fn serve(options: &ServeOptions) -> anyhow::Result<ExitCode> {
    // The port first: otherwise a port in use would leave an organization whose keys were never printed.
    let listener = listen(&options.http)?;
    let sender = options.webhooks.sender()?;
    let anchors = Anchors {
        every: options.anchors.anchor_every,
        places: options.anchors.places(&options.webhooks)?,
    };
    let mut settings = options.webhooks.settings(options.service.settings());
    settings.witnesses = options.policy.witnesses()?;
    settings.signing_program = options.signing.program()?;
    settings.signing_program_before = options.signing_before.program()?;
    let signer = options.database.signer()?;
    settings.signer = Some(Arc::clone(&signer));
    let replica = options.service.replica()?;
    let service = open(
        &options.database,
        settings,
        options.service.store(),
        replica.as_ref(),
    )?;
    service
        .check_webhook_secrets()
        .context("AUDIT_ENCRYPTION_KEY does not match the database")?;
    service.check_log_key().context("the key of the log")?;
    if signer.is_new() {
        log::info!("the state file is new: this server signs what continues the checkpoints in the database");
    }
    let address = listener.local_addr()?;
    if let Some(new) = service.create_first_organization()? {
        let mut stdout = std::io::stdout().lock();
        write!(stdout, "{}", first_start(&new, &address.to_string()))?;
    }
    run(listener, service, &options.http, sender, Some(anchors))
}

/// The output of the first start.
fn first_start(new: &NewOrganization, address: &str) -> String {
    format!(
        "The database is new. Its keys are printed only now; the database stores their hashes.\n\n{}\n\
         Store an event:\n\n  \
         curl -sS http://{address}/api/v1/events -H 'Authorization: Bearer {}' -H 'Content-Type: application/json' \
         -d '{{\"action\":\"user.created\",\"category\":\"mutation\",\"tenant_id\":\"acme\",\"actor\":{{\"id\":\"user_1\",\"type\":\"user\",\"email\":\"jane@example.com\"}}}}'\n\n\
         Read it back:\n\n  \
         curl -sS http://{address}/api/v1/events -H 'Authorization: Bearer {}'\n\n",
        describe(new),
        new.project_key.as_str(),
        new.project_key.as_str(),
    )
}

/// Binds the address.
pub(crate) fn listen(options: &HttpOptions) -> anyhow::Result<TcpListener> {
    raise_open_files_limit();
    let listener = TcpListener::bind(&options.listen);
    let listener = listener.with_context(|| format!("cannot listen on {}", options.listen))?;
    // The standard library sets a short accept queue. A second listen(2) on the same socket lengthens it.
    rustix::net::listen(&listener, BACKLOG_CONNECTIONS_MAX as i32).context("cannot listen")?;
    set_options_of_connections(&listener).context("cannot listen")?;
    listener.set_nonblocking(true)?;
    Ok(listener)
}

/// Sets what connections inherit from their listener.
fn set_options_of_connections(listener: &TcpListener) -> rustix::io::Result<()> {
    sockopt::set_socket_send_buffer_size(listener, SEND_BUFFER_BYTES)?;
    sockopt::set_tcp_user_timeout(listener, UNACKNOWLEDGED_MS_MAX)?;
    // A response is written in pieces. Otherwise the last one would wait until the client's kernel has acknowledged the one
    // before it, which it delays by 40 ms (Nagle's algorithm).
    sockopt::set_tcp_nodelay(listener, true)
}

/// Each connection is an open file, and most shells limit those to 1,024.
fn raise_open_files_limit() {
    let Rlimit { maximum, .. } = getrlimit(Resource::Nofile);
    let raised = Rlimit {
        current: maximum,
        maximum,
    };
    if let Err(error) = setrlimit(Resource::Nofile, raised) {
        log::warn!("cannot raise the limit of open files: {error}");
    }
}

/// A process without a free descriptor accepts no connection, and may not be able to open its database again.
fn warn_of_few_open_files(open_files_max: Option<u64>) {
    if let Some(files) = open_files_max.filter(|files| *files < OPEN_FILES_MIN) {
        log::warn!(
            "only {files} files may be open; raise LimitNOFILE or `ulimit -n` to at least {OPEN_FILES_MIN}"
        );
    }
}

/// Serves until SIGTERM or SIGINT, then completes the accepted requests.
pub(crate) fn run(
    listener: TcpListener,
    service: Arc<AuditLog>,
    options: &HttpOptions,
    sender: Sender,
    anchors: Option<Anchors>,
) -> anyhow::Result<ExitCode> {
    let state = web::Data::new(HttpState::new(
        Arc::clone(&service),
        Arc::new(SystemEntropy),
        http_options(options),
    )?);
    let pages = pages(options)?;
    let workers = CellWorkers::start(&service, sender)?;
    let anchor_worker = AnchorWorker::start(&service, anchors)?;
    let proxies = TrustedProxies::new(options.trusted_proxies.clone());
    let open_files_max = getrlimit(Resource::Nofile).current;
    warn_of_few_open_files(open_files_max);
    let connections = Connections::within(open_files_max, move |address| proxies.contain(address));
    let serving = serve_requests(
        listener,
        options.http_workers,
        connections,
        state,
        pages,
        Arc::clone(&service),
    );
    let outcome = actix_web::rt::System::new().block_on(serving);
    // All accepted requests have their responses.
    if let Some(worker) = anchor_worker {
        worker.stop();
    }
    workers.stop();
    service.close();
    outcome.context("the server stopped")?;
    log::info!("stopped");
    Ok(ExitCode::SUCCESS)
}

async fn serve_requests(
    listener: TcpListener,
    workers: Option<usize>,
    connections: Connections,
    state: web::Data<HttpState>,
    pages: Option<Pages>,
    service: Arc<AuditLog>,
) -> std::io::Result<()> {
    let address = listener.local_addr()?;
    let application = move || {
        App::new().configure(|config| {
            // Before the API, which takes every path.
            if let Some(pages) = &pages {
                audit_web::configure(config, pages);
            }
            audit_http::configure(config, state.clone());
        })
    };
    let timeouts = Timeouts {
        keep_alive: Duration::from_secs(KEEP_ALIVE_SECONDS),
        request_head: Duration::from_secs(REQUEST_HEAD_SECONDS_MAX),
        shutdown_seconds: SHUTDOWN_SECONDS_MAX,
    };
    // Before the line "listening on": a reader of that line may send a signal at once.
    let terminate = signal(SignalKind::terminate())?;
    let interrupt = signal(SignalKind::interrupt())?;
    let server = http::start(listener, workers, timeouts, connections, application)?;
    let handle = server.handle();
    actix_web::rt::spawn(async move {
        wait_for_signal(terminate, interrupt).await;
        service.stop_feeds();
        exit_at_deadline(service);
        handle.stop(true).await;
    });
    {
        let mut stdout = std::io::stdout().lock();
        writeln!(stdout, "listening on http://{address}")?;
        stdout.flush()?;
    }
    server.await
}

pub(crate) async fn wait_for_signal(mut terminate: Signal, mut interrupt: Signal) {
    let name = tokio::select! {
        _ = terminate.recv() => "SIGTERM",
        _ = interrupt.recv() => "SIGINT",
    };
    log::info!("{name}: completing the accepted requests");
}

/// The options of the HTTP interface as audit-http takes them.
fn http_options(options: &HttpOptions) -> audit_http::HttpOptions {
    let origin = |origin: &String| origin.trim_end_matches('/').to_owned();
    let per_second = options.rate_limit_per_second;
    audit_http::HttpOptions {
        cors_origins: match options.cors_origins.as_slice() {
            [] => CorsOrigins::Any,
            origins => CorsOrigins::Only(origins.iter().map(origin).collect()),
        },
        trusted_proxies: TrustedProxies::new(options.trusted_proxies.clone()),
        rate_limit: (per_second > 0).then(|| RateLimit {
            per_second,
            burst: options.rate_limit_burst.unwrap_or(per_second),
        }),
    }
}

/// The pages, unless they are switched off.
fn pages(options: &HttpOptions) -> anyhow::Result<Option<Pages>> {
    let ancestors =
        FrameAncestors::parse(&options.portal_frame_ancestors).context("AUDIT_PORTAL_FRAME_ANCESTORS")?;
    let pages = Pages::new(ancestors).context("AUDIT_PORTAL_FRAME_ANCESTORS")?;
    Ok(options.pages.then_some(pages))
}

/// Exits the process if a hanging database keeps it from stopping. Acknowledged events are committed. The requests that
/// still wait were not acknowledged; their connections close without a response.
fn exit_at_deadline(service: Arc<AuditLog>) {
    let watchdog = move || {
        std::thread::sleep(Duration::from_secs(EXIT_SECONDS_MAX));
        let waiting = service.statistics().queue_depth;
        log::warn!("the database does not respond; exiting with {waiting} requests that were not stored");
        std::process::exit(i32::from(waiting > 0));
    };
    let thread = std::thread::Builder::new().name("watchdog".to_owned());
    if let Err(error) = thread.spawn(watchdog) {
        log::warn!("cannot start the shutdown watchdog: {error}");
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::TcpStream;

    #[test]
    fn connections_have_the_options_of_their_listener() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        set_options_of_connections(&listener).unwrap();
        let _client = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        let (connection, _) = listener.accept().unwrap();
        assert!(sockopt::tcp_nodelay(&connection).unwrap());
        assert_eq!(
            sockopt::tcp_user_timeout(&connection).unwrap(),
            UNACKNOWLEDGED_MS_MAX
        );
        // Linux doubles it for its own use.
        assert_eq!(
            sockopt::socket_send_buffer_size(&connection).unwrap(),
            2 * SEND_BUFFER_BYTES
        );
    }
}
