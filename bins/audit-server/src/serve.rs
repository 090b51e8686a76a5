//! `audit-server serve`: runs the service until SIGTERM or SIGINT.

pub(crate) mod anchors;
mod background;
mod cells;
mod decided;

use crate::otlp::Exporter;
use crate::witnesses::witnesses;
use actix_web::rt::time::timeout;
use actix_web::{App, web};
use anchors::{AnchorWorker, Anchors};
use anyhow::{Context, bail};
use audit_admission::TrustedProxies;
use audit_app::{AuditLog, NewOrganization, Sender, Tracer};
use audit_cli::{SystemClock, SystemEntropy};
use audit_http::{CorsOrigins, HttpState, RateLimit, Surface};
use audit_operations::OPEN_FILES_MIN;
use audit_operations::administration::describe;
use audit_operations::backup::schedule::{BackupWorker, Schedule};
use audit_operations::otlp_options::Collector;
use audit_operations::serve_options::{HttpOptions, Proxy, ServeOptions};
use audit_operations::service::open;
use audit_store::StoreOptions;
use audit_transport::listener::{Bound, ListenAddress, SocketFile};
use audit_transport::tls::{self, Tls, Watching};
use audit_transport::{Connections, Encryption, EndSignals, Service, Timeouts};
use audit_web::{FrameAncestors, Pages};
use cells::CellWorkers;
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use std::io::Write;
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
/// A TLS handshake must be complete within this time.
const HANDSHAKE_SECONDS_MAX: u64 = 10;
/// TLS handshakes in flight, at most. Each may hold some 70 KiB.
const HANDSHAKES_MAX: usize = 2_048;
/// Connections to the address of the metrics, at most. They are few, and apart from those of clients.
const METRICS_CONNECTIONS_MAX: usize = 64;
/// `audit-server serve`.
pub(crate) fn serve(options: &ServeOptions) -> anyhow::Result<ExitCode> {
    // The port first: otherwise a port in use would leave an organization whose keys were never printed.
    let sockets = Sockets::open(&options.http)?;
    let sender = options.webhooks.sender()?;
    let anchors = Anchors {
        every: options.anchors.anchor_every,
        places: options.anchors.places(&options.webhooks)?,
    };
    let settings = options.service.settings(&options.hash_keys)?;
    let mut settings = options.webhooks.settings(settings)?;
    settings.project_metrics = usize::from(options.metrics.project_metrics);
    settings.pages_url = options.http.pages_url();
    settings.stamps_anchors = anchors.places.authority.is_some();
    settings.removal_grace_seconds = options.removal_grace;
    settings.removes_events = !options.no_removals;
    settings.self_audit = options.self_audit.self_audit;
    settings.witnesses = witnesses(&options.policy)?;
    settings.signing_program = options.signing.program()?;
    settings.signing_program_before = options.signing_before.program()?;
    let signer = options.database.signer()?;
    settings.signer = Some(Arc::clone(&signer));
    let decided = decided::for_good(options, settings.hash_key.is_some())?;
    let collector = options.otlp.collector()?;
    let backups = options.backups.schedule(&options.database)?;
    let replica = options.service.replica()?;
    let service = open(
        &options.database,
        settings,
        StoreOptions {
            unsigned_max: Some(Duration::from_secs(options.unsigned_seconds_max)),
            ..options.service.store()
        },
        replica.as_ref(),
    )?;
    service.check_secrets()?;
    service.check_log_key().context("the key of the log")?;
    service.load_remembered()?;
    service
        .set_self_audit(options.self_audit.self_audit)
        .context("--self-audit")?;
    match service.create_first_organization()? {
        Some(new) => {
            let mut stdout = std::io::stdout().lock();
            write!(
                stdout,
                "{}{decided}",
                first_start(&new, &sockets.curl_arguments())
            )?;
        }
        None if signer.is_new() => log::warn!(
            "the state directory is empty and the database is not: unless this node is new, what it knew of the logs is lost, and with it the \
             only sign that the database was set back. This server signs what continues the checkpoints in the database"
        ),
        None => {}
    }
    let extras = Extras {
        anchors: Some(anchors),
        backups,
        collector,
    };
    run(sockets, service, &options.http, sender, extras)
}

/// The output of the first start.
fn first_start(new: &NewOrganization, server: &str) -> String {
    format!(
        "The database is new. Its keys are printed only now; the database stores their hashes.\n\n{}\n\
         Store an event:\n\n  \
         curl -sS {server}/api/v1/events -H 'Authorization: Bearer {}' -H 'Content-Type: application/json' \
         -d '{{\"action\":\"user.created\",\"category\":\"mutation\",\"tenant_id\":\"acme\",\"actor\":{{\"id\":\"user_1\",\"type\":\"user\",\"email\":\"jane@example.com\"}}}}'\n\n\
         Read it back, with the service's own events (tenant audit-server):\n\n  \
         curl -sS {server}/api/v1/events -H 'Authorization: Bearer {}'\n\n",
        describe(new),
        new.project_key.as_str(),
        new.project_key.as_str(),
    )
}

/// The sockets of the server, and its TLS.
pub(crate) struct Sockets {
    main: Bound,
    metrics: Option<Bound>,
    tls: Option<(Tls, Watching)>,
}

impl Sockets {
    /// Binds the addresses and reads the certificate.
    pub(crate) fn open(options: &HttpOptions) -> anyhow::Result<Self> {
        let files = options.tls_certificate.as_deref().zip(options.tls_key.as_deref());
        if files.is_some() && matches!(options.listen, ListenAddress::Unix(_)) {
            bail!("--tls-certificate cannot be used with --listen unix:, which has no network to protect");
        }
        let tls = files.map(|(certificate, key)| tls::open(certificate, key));
        let tls = tls.transpose()?;
        raise_open_files_limit();
        let metrics = options.metrics_listen.as_ref().map(ListenAddress::bind);
        Ok(Self {
            metrics: metrics.transpose().context("--metrics-listen")?,
            main: options.listen.bind()?,
            tls,
        })
    }

    /// The arguments with which curl reaches the server, up to the path of a URL.
    pub(crate) fn curl_arguments(&self) -> String {
        self.main.place.curl_arguments(self.tls.is_some())
    }

    /// The URL of the server, or `unix:PATH`.
    pub(crate) fn base_url(&self) -> String {
        self.main.place.url(self.tls.is_some())
    }

    /// The lines that say where the server listens.
    fn announcement(&self) -> String {
        let metrics = self.metrics.as_ref();
        let metrics = metrics.map(|bound| format!("metrics on {}\n", bound.place.url(false)));
        let main = self.base_url();
        format!("{}listening on {main}\n", metrics.unwrap_or_default())
    }
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

/// Optional background work of a server.
#[derive(Default)]
pub(crate) struct Extras {
    anchors: Option<Anchors>,
    backups: Option<Schedule>,
    collector: Option<Collector>,
}

/// Serves until SIGTERM or SIGINT, then completes the accepted requests.
pub(crate) fn run(
    sockets: Sockets,
    service: Arc<AuditLog>,
    options: &HttpOptions,
    sender: Sender,
    extras: Extras,
) -> anyhow::Result<ExitCode> {
    let mut http = http_options(options, sockets.tls.as_ref().map(|(tls, _)| tls));
    let tracing = extras.collector.map(|collector| {
        let (tracer, spans, counts) = Tracer::new(Arc::new(SystemClock), Arc::new(SystemEntropy));
        http.tracer = Some(Arc::new(tracer));
        (collector, spans, counts)
    });
    let state = HttpState::new(Arc::clone(&service), Arc::new(SystemEntropy), http)?;
    let state = web::Data::new(state);
    let exporter = tracing
        .map(|(collector, spans, counts)| Exporter::start(collector, spans, counts, Arc::clone(&state)));
    let exporter = exporter.transpose()?;
    let pages = pages(options)?;
    let system = actix_web::rt::System::new();
    // Before the wait for cells: process 1 of a container ignores a signal that it does not handle.
    let mut signals = system.block_on(async { EndSignals::install() })?;
    let mut workers = CellWorkers::start(&service, sender)?;
    let opened = system.block_on(signals.unless_received(workers.wait_until_open()));
    if opened.is_none() {
        exit_at_deadline(Arc::clone(&service));
        workers.stop();
        service.close();
        log::info!("stopped before it listened");
        return Ok(ExitCode::SUCCESS);
    }
    let anchor_worker = AnchorWorker::start(&service, extras.anchors)?;
    let backup_worker = BackupWorker::start(&service, extras.backups)?;
    warn_of_few_open_files(getrlimit(Resource::Nofile).current);
    let serving = serve_requests(sockets, options, state, pages, Arc::clone(&service), signals);
    let outcome = system.block_on(serving);
    drop(system);
    // All accepted requests have their responses.
    if let Some(exporter) = exporter {
        exporter.stop();
    }
    if let Some(worker) = anchor_worker {
        worker.stop();
    }
    if let Some(worker) = backup_worker {
        worker.stop();
    }
    workers.stop();
    service.close();
    outcome.context("the server stopped")?;
    log::info!("stopped");
    Ok(ExitCode::SUCCESS)
}

/// What is served on each socket.
fn services<I>(
    sockets: Sockets,
    options: &HttpOptions,
    application: impl Fn(Surface) -> I,
) -> (Vec<Service<I>>, Kept) {
    let (proxies, exempt) = (trusted_proxies(options), trusted_proxies(options));
    let open_files_max = getrlimit(Resource::Nofile).current;
    let main = match sockets.metrics {
        Some(_) => Surface::WithoutMetrics,
        None => Surface::Whole,
    };
    let (tls, watching) = sockets.tls.unzip();
    let encryption = tls.map(|tls| Encryption {
        tls,
        handshakes: Connections::new(HANDSHAKES_MAX, move |peer| exempt.trust(peer)),
    });
    let mut services = vec![Service {
        listener: sockets.main.listener,
        encryption,
        connections: Connections::within(open_files_max, move |peer| proxies.trust(peer)),
        application: application(main),
    }];
    let mut files = vec![sockets.main.file];
    if let Some(metrics) = sockets.metrics {
        services.push(Service {
            listener: metrics.listener,
            encryption: None,
            connections: Connections::new(METRICS_CONNECTIONS_MAX, |_| false),
            application: application(Surface::Operations),
        });
        files.push(metrics.file);
    }
    let kept = Kept {
        _watching: watching,
        _files: files.into_iter().flatten().collect(),
    };
    (services, kept)
}

/// What must live as long as the server runs.
struct Kept {
    _watching: Option<Watching>,
    _files: Vec<SocketFile>,
}

async fn serve_requests(
    sockets: Sockets,
    options: &HttpOptions,
    state: web::Data<HttpState>,
    pages: Option<Pages>,
    service: Arc<AuditLog>,
    mut signals: EndSignals,
) -> std::io::Result<()> {
    let timeouts = Timeouts {
        keep_alive: Duration::from_secs(KEEP_ALIVE_SECONDS),
        request_head: Duration::from_secs(REQUEST_HEAD_SECONDS_MAX),
        handshake: Duration::from_secs(HANDSHAKE_SECONDS_MAX),
        shutdown_seconds: SHUTDOWN_SECONDS_MAX,
    };
    let announcement = sockets.announcement();
    let (services, _kept) = services(sockets, options, |surface| {
        let state = state.clone();
        let pages = pages.clone().filter(|_| surface != Surface::Operations);
        move || {
            App::new().configure(|config| {
                // Before the API, which takes every path.
                if let Some(pages) = &pages {
                    audit_web::configure(config, pages);
                }
                audit_http::configure(config, state.clone(), surface);
            })
        }
    });
    let server = audit_transport::start(services, options.http_workers, timeouts)?;
    let handle = server.handle();
    let drain = Duration::from_secs(options.drain_seconds);
    actix_web::rt::spawn(async move {
        signals.wait().await;
        if !drain.is_zero() {
            state.drain();
            log::info!(
                "going on for {} s, with /readyz 503; a second signal ends that",
                drain.as_secs()
            );
            // Ends at the timeout or at a second signal.
            drop(timeout(drain, signals.wait()).await);
        }
        log::info!("completing the accepted requests");
        service.stop_feeds();
        exit_at_deadline(service);
        handle.stop(true).await;
    });
    {
        let mut stdout = std::io::stdout().lock();
        write!(stdout, "{announcement}")?;
        stdout.flush()?;
    }
    server.await
}

fn trusted_proxies(options: &HttpOptions) -> TrustedProxies {
    let network = |proxy: &Proxy| match proxy {
        Proxy::Network(network) => Some(*network),
        Proxy::Unix => None,
    };
    let networks = options.trusted_proxies.iter().filter_map(network).collect();
    TrustedProxies::new(networks, options.trusted_proxies.contains(&Proxy::Unix))
}

/// The options of the HTTP interface as audit-http takes them.
fn http_options(options: &HttpOptions, tls: Option<&Tls>) -> audit_http::HttpOptions {
    let origin = |origin: &String| origin.trim_end_matches('/').to_owned();
    let per_second = options.rate_limit_per_second;
    audit_http::HttpOptions {
        cors_origins: match options.cors_origins.as_slice() {
            [] => CorsOrigins::Any,
            origins => CorsOrigins::Only(origins.iter().map(origin).collect()),
        },
        trusted_proxies: trusted_proxies(options),
        without_streams: !options.streams,
        without_pages: !options.pages,
        public_url: options.public_url.clone(),
        tls: tls.map(|tls| Arc::clone(&tls.status)),
        tracer: None,
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
