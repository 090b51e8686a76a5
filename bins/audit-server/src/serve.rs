//! Running the service until it is told to stop.

use crate::administration::describe;
use crate::arguments::{HttpOptions, ServeOptions};
use crate::http::{self, Patience};
use crate::surroundings::{SystemEntropy, open};
use actix_web::rt::signal::unix::{SignalKind, signal};
use actix_web::{App, web};
use anyhow::Context;
use audit_app::{AuditLog, NewOrganization, Purged, Sender};
use audit_http::{CorsOrigins, HttpState, RateLimit, TrustedProxies};
use std::io::Write;
use std::net::TcpListener;
use std::process::ExitCode;
use std::sync::{Arc, mpsc};
use std::time::{Duration, Instant};

/// How long requests that were accepted may take once the service is told to stop.
const SHUTDOWN_SECONDS_MAX: u64 = 6;
/// After how long the process ends whatever hangs. Supervisors kill after ten.
const END_SECONDS_MAX: u64 = 9;
/// How often the last uses of keys are written.
const KEY_USES_INTERVAL_SECONDS: u64 = 5;
/// What waits to be delivered is counted as often; when that takes long, it rests for this many times as long.
const COUNT_REST_FACTOR: u32 = 20;
/// How often what is over is removed: events of expired streams, old deliveries.
const PURGE_INTERVAL_SECONDS: u64 = 300;
/// How often checkpoints are signed. They must be at most a second behind.
const CHECKPOINT_INTERVAL_MS: u64 = 800;
/// How long an idle connection is kept. Longer than the minute after which proxies and clients let go of theirs: who
/// closes first must not be the one who is about to be asked.
const KEEP_ALIVE_SECONDS: u64 = 75;
/// How long the head of a request may take to arrive.
const REQUEST_HEAD_SECONDS_MAX: u64 = 20;
/// Connections that wait to be accepted.
const BACKLOG_CONNECTIONS_MAX: u32 = 4_096;

/// `audit-server serve`.
pub(crate) fn serve(options: &ServeOptions) -> anyhow::Result<ExitCode> {
    // The port first: a service that cannot listen must not make keys that nobody sees.
    let listener = listen(&options.http)?;
    let sender = options.webhooks.sender()?;
    let settings = options.webhooks.settings(options.service.settings())?;
    let service = open(&options.database, settings, options.service.store())?;
    service
        .check_webhook_secrets()
        .context("AUDIT_ENCRYPTION_KEY does not fit the database")?;
    let address = listener.local_addr()?;
    let new = service.create_first_organization()?;
    let mut stdout = std::io::stdout().lock();
    if let Some(new) = &new {
        write!(stdout, "{}", first_start(new, &address.to_string()))?;
    }
    drop(stdout);
    run(listener, service, &options.http, sender)
}

/// What is printed once, on first start.
fn first_start(new: &NewOrganization, address: &str) -> String {
    format!(
        "This database was empty. These keys are shown this once; only their hashes are kept.\n\n{}\n\
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
    // The standard library listens with a short backlog; listening again on the same socket lengthens it.
    rustix::net::listen(&listener, BACKLOG_CONNECTIONS_MAX as i32).context("cannot listen")?;
    listener.set_nonblocking(true)?;
    Ok(listener)
}

/// Each connection is an open file, and the usual limit of a shell is 1,024.
fn raise_open_files_limit() {
    use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
    let Rlimit { maximum, .. } = getrlimit(Resource::Nofile);
    if let Err(error) = setrlimit(
        Resource::Nofile,
        Rlimit {
            current: maximum,
            maximum,
        },
    ) {
        log::warn!("the limit of open files stays as it is: {error}");
    }
}

/// Serves until SIGTERM or SIGINT, then finishes what was accepted.
pub(crate) fn run(
    listener: TcpListener,
    service: Arc<AuditLog>,
    options: &HttpOptions,
    sender: Sender,
) -> anyhow::Result<ExitCode> {
    let address = listener.local_addr()?;
    let state = web::Data::new(HttpState::new(
        Arc::clone(&service),
        Arc::new(SystemEntropy),
        http_options(options),
    )?);
    let (stop, stopped) = mpsc::channel::<()>();
    let background = {
        let service = Arc::clone(&service);
        std::thread::Builder::new()
            .name("background".to_owned())
            .spawn(move || keep_house(&service, &stopped))?
    };
    let (stop_signing, signing_stopped) = mpsc::channel::<()>();
    let signing = {
        let service = Arc::clone(&service);
        std::thread::Builder::new()
            .name("checkpoints".to_owned())
            .spawn(move || sign_checkpoints(&service, &signing_stopped))?
    };
    let deliveries = service.start_deliveries(sender)?;
    let workers = options.http_workers;
    let watched = Arc::clone(&service);
    let outcome = actix_web::rt::System::new().block_on(async move {
        let configure = move || App::new().configure(|config| audit_http::configure(config, state.clone()));
        let patience = Patience {
            keep_alive: Duration::from_secs(KEEP_ALIVE_SECONDS),
            request_head: Duration::from_secs(REQUEST_HEAD_SECONDS_MAX),
            shutdown_seconds: SHUTDOWN_SECONDS_MAX,
        };
        // Before the line that says the service is up: whoever reads it may send a signal at once.
        let mut terminate = signal(SignalKind::terminate())?;
        let mut interrupt = signal(SignalKind::interrupt())?;
        let server = http::start(listener, workers, patience, configure)?;
        let handle = server.handle();
        actix_web::rt::spawn(async move {
            tokio::select! {
                _ = terminate.recv() => log::info!("SIGTERM: finishing what was accepted"),
                _ = interrupt.recv() => log::info!("SIGINT: finishing what was accepted"),
            }
            watched.stop_feeds();
            end_in_time(watched);
            handle.stop(true).await;
        });
        let mut stdout = std::io::stdout().lock();
        writeln!(stdout, "listening on http://{address}")?;
        stdout.flush()?;
        drop(stdout);
        server.await
    });
    drop((stop, stop_signing));
    deliveries.stop();
    for thread in [background, signing] {
        if thread.join().is_err() {
            log::error!("background work ended in a panic");
        }
    }
    service.close();
    outcome.context("the server stopped")?;
    log::info!("stopped");
    Ok(ExitCode::SUCCESS)
}

/// What the command line says about requests.
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

/// Ends the process when a database that hangs keeps it from ending by itself. Nothing that was acknowledged is lost by
/// that; it is committed. What still waits was not acknowledged, and its senders are hung up on.
fn end_in_time(service: Arc<AuditLog>) {
    let watch = move || {
        std::thread::sleep(Duration::from_secs(END_SECONDS_MAX));
        let waiting = service.statistics().queue_depth;
        log::warn!("the database does not answer; ending with {waiting} requests that were not stored");
        std::process::exit(i32::from(waiting > 0));
    };
    if let Err(error) = std::thread::Builder::new()
        .name("watchdog".to_owned())
        .spawn(watch)
    {
        log::warn!("nobody watches over the end of the process: {error}");
    }
}

/// Signs checkpoints of what was stored, until `stopped` closes.
fn sign_checkpoints(service: &AuditLog, stopped: &mpsc::Receiver<()>) {
    let interval = Duration::from_millis(CHECKPOINT_INTERVAL_MS);
    while stopped.recv_timeout(interval) == Err(mpsc::RecvTimeoutError::Timeout) {
        if let Err(error) = service.sign_checkpoints() {
            log::warn!("no checkpoint was signed: {error}");
        }
    }
}

/// What is to be done from time to time, until `stopped` closes.
fn keep_house(service: &AuditLog, stopped: &mpsc::Receiver<()>) {
    let interval = Duration::from_secs(KEY_USES_INTERVAL_SECONDS);
    let mut purged_at = None::<Instant>;
    let mut count_at = Instant::now();
    while stopped.recv_timeout(interval) == Err(mpsc::RecvTimeoutError::Timeout) {
        if let Err(error) = service.write_key_uses() {
            log::warn!("the last uses of keys were not written: {error}");
        }
        if Instant::now() >= count_at {
            let begun_at = Instant::now();
            if let Err(error) = service.count_pending_deliveries() {
                log::warn!("what waits to be delivered could not be counted: {error}");
            }
            count_at = Instant::now() + COUNT_REST_FACTOR * begun_at.elapsed();
        }
        let is_due = |at: Instant| at.elapsed() >= Duration::from_secs(PURGE_INTERVAL_SECONDS);
        if purged_at.is_none_or(is_due) {
            purged_at = Some(Instant::now());
            match service.purge() {
                Ok(purged) if purged == Purged::default() => {}
                Ok(purged) => log::info!("removed what is over: {purged:?}"),
                Err(error) => log::warn!("what is over was not removed: {error}"),
            }
        }
    }
}
