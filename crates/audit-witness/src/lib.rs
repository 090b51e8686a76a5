//! A witness of logs (C2SP `tlog-witness`), which anybody may run for anybody.
//!
//! It needs no database and sees no events: it stores the last checkpoint of each log, and cosigns the next one if the log
//! only grew.

mod state;

use actix_web::dev::Payload;
use actix_web::error::ErrorRequestTimeout;
use actix_web::http::StatusCode;
use actix_web::http::header::ContentType;
use actix_web::rt::time::timeout;
use actix_web::{App, Error, FromRequest, HttpRequest, HttpResponse, web};
use anyhow::Context;
use audit_cli::SystemClock;
use audit_cli::logging::{LogFormat, LogOptions};
use audit_cli::small_file;
use audit_domain::Clock;
use audit_ledger::{AddCheckpoint, KeyName, KeyRotation, VerifierKey, WitnessError, key_successors};
use audit_transport::listener::{Bound, ListenAddress};
use audit_transport::{Connections, EndSignals, Service, Timeouts};
use clap::Args;
use rustix::process::{Resource, getrlimit};
use state::{Refusal, WitnessState};
use std::io::Write;
use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::pin::Pin;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

/// The content type of the size in a response with status 409.
const SIZE_TYPE: &str = "text/x.tlog.size";
/// An idle connection of a log, which asks every second, stays open this long.
const KEEP_ALIVE_SECONDS: u64 = 75;
/// The head of a request must arrive within this time.
const REQUEST_HEAD_SECONDS_MAX: u64 = 10;
/// How long a body may take.
const BODY_SECONDS_MAX: Duration = Duration::from_secs(10);
/// Accepted requests get this long to complete after a shutdown signal.
const SHUTDOWN_SECONDS_MAX: u64 = 5;

/// The command line of a witness.
#[derive(Debug, Args)]
pub struct WitnessOptions {
    #[command(flatten)]
    logging: LogOptions,
    /// Address and port to listen on; port 0 picks a free port.
    #[arg(
        long,
        value_name = "ADDRESS",
        env = "AUDIT_WITNESS_LISTEN",
        default_value = "127.0.0.1:8090"
    )]
    listen: String,
    /// Directory with the key of the witness and the last checkpoint of each log; created by the first start.
    #[arg(
        long,
        value_name = "DIRECTORY",
        env = "AUDIT_WITNESS_STATE",
        default_value = "audit-witness"
    )]
    state: PathBuf,
    /// Name of the witness, by convention its URL without the scheme. Needed by the first start, which makes the key.
    #[arg(long, value_name = "NAME", env = "AUDIT_WITNESS_NAME")]
    name: Option<String>,
    /// Keys of the logs that are witnessed, as `log key` prints them. A key covers all logs of its deployment.
    #[arg(
        long,
        value_name = "LIST",
        env = "AUDIT_WITNESS_LOGS",
        value_delimiter = ',',
        required = true
    )]
    log: Vec<String>,
    /// Files with rotations of these keys, as `log key --rotations` prints them: the latest key that they lead to must have signed.
    #[arg(
        long,
        value_name = "LIST",
        env = "AUDIT_WITNESS_ROTATIONS",
        value_delimiter = ','
    )]
    rotations: Vec<PathBuf>,
    /// Logs of one key, at most.
    #[arg(
        long,
        value_name = "N",
        env = "AUDIT_WITNESS_LOGS_MAX",
        default_value = "10000"
    )]
    logs_max: NonZeroUsize,
}

impl WitnessOptions {
    /// The form of the log.
    pub const fn log_format(&self) -> LogFormat {
        self.logging.log_format
    }
}

/// Serves until a signal ends it.
///
/// # Errors
/// When it cannot listen, or an option is wrong, or its state cannot be read.
pub fn run(options: &WitnessOptions) -> anyhow::Result<ExitCode> {
    let bound = ListenAddress::Tcp(options.listen.clone()).bind()?;
    let logs = options.log.iter().map(|key| key.trim().parse());
    let logs: Vec<VerifierKey> = logs.collect::<Result<_, _>>().context("--log")?;
    let logs = latest(logs, &options.rotations)?;
    let name = options.name.as_deref().map(KeyName::parse);
    let name = name.transpose().context("--name")?;
    let state = WitnessState::open(&options.state, name, logs, options.logs_max.get())?;
    writeln!(std::io::stdout(), "witness key: {}", state.key())?;
    let serving = serve(bound, web::Data::new(state));
    actix_web::rt::System::new()
        .block_on(serving)
        .context("the witness stopped")?;
    log::info!("stopped");
    Ok(ExitCode::SUCCESS)
}

/// The latest keys that the statements in these files lead to.
fn latest(logs: Vec<VerifierKey>, files: &[PathBuf]) -> anyhow::Result<Vec<VerifierKey>> {
    let mut rotations = Vec::new();
    for file in files {
        let shown = file.display();
        let text = small_file::read_text(file).with_context(|| format!("cannot read {shown}"))?;
        rotations.extend(KeyRotation::open_all(&text).with_context(|| format!("--rotations: {shown}"))?);
    }
    let latest = |log: VerifierKey| key_successors(&log, &rotations).pop().unwrap_or(log);
    Ok(logs.into_iter().map(latest).collect())
}

async fn serve(bound: Bound, state: web::Data<WitnessState>) -> std::io::Result<()> {
    let application = move || {
        App::new()
            .app_data(state.clone())
            .app_data(web::PayloadConfig::new(AddCheckpoint::BYTES_MAX))
            .route("/add-checkpoint", web::post().to(add_checkpoint))
            .route("/{origin_hash}/checkpoint", web::get().to(checkpoint))
            .route("/healthz", web::get().to(HttpResponse::Ok))
    };
    let timeouts = Timeouts {
        keep_alive: Duration::from_secs(KEEP_ALIVE_SECONDS),
        request_head: Duration::from_secs(REQUEST_HEAD_SECONDS_MAX),
        handshake: Duration::from_secs(REQUEST_HEAD_SECONDS_MAX),
        shutdown_seconds: SHUTDOWN_SECONDS_MAX,
    };
    let mut signals = EndSignals::install()?;
    let open_files_max = getrlimit(Resource::Nofile).current;
    let connections = Connections::within(open_files_max, |_| false);
    let service = Service {
        listener: bound.listener,
        encryption: None,
        connections,
        application,
    };
    let server = audit_transport::start(vec![service], None, timeouts)?;
    let handle = server.handle();
    actix_web::rt::spawn(async move {
        signals.wait().await;
        handle.stop(true).await;
    });
    {
        let mut stdout = std::io::stdout().lock();
        writeln!(stdout, "listening on {}", bound.place.url(false))?;
        stdout.flush()?;
    }
    server.await
}

/// The body of a request, if it arrives within [`BODY_SECONDS_MAX`].
struct TimelyBody(String);

impl FromRequest for TimelyBody {
    type Error = Error;
    type Future = Pin<Box<dyn Future<Output = Result<Self, Error>>>>;

    fn from_request(request: &HttpRequest, payload: &mut Payload) -> Self::Future {
        let body = timeout(BODY_SECONDS_MAX, String::from_request(request, payload));
        Box::pin(async {
            match body.await {
                Ok(body) => Ok(Self(body?)),
                Err(_) => Err(ErrorRequestTimeout("the body did not arrive in time\n")),
            }
        })
    }
}

/// `POST /add-checkpoint`.
async fn add_checkpoint(state: web::Data<WitnessState>, body: TimelyBody) -> HttpResponse {
    let request: AddCheckpoint = match body.0.parse() {
        Ok(request) => request,
        Err(error) => return plain(StatusCode::BAD_REQUEST, format!("{error}\n")),
    };
    let time = SystemClock.now().as_seconds().unsigned_abs();
    let state = Arc::clone(&state.into_inner());
    #[expect(clippy::disallowed_methods, reason = "a witness serves logs, which it limits")]
    let witnessed = web::block(move || state.add(&request, time));
    match witnessed.await {
        Ok(Ok(cosignature)) => plain(StatusCode::OK, cosignature.line),
        Ok(Err(Refusal::Witness(WitnessError::Conflict { last }))) => HttpResponse::Conflict()
            .content_type(SIZE_TYPE)
            .body(format!("{last}\n")),
        Ok(Err(Refusal::Witness(error))) => plain(status_of(&error), format!("{error}\n")),
        Ok(Err(Refusal::TooManyLogs)) => plain(
            StatusCode::FORBIDDEN,
            "this witness has too many logs of this key\n".to_owned(),
        ),
        Ok(Err(Refusal::State(error))) => {
            log::error!("cannot use the state of the witness: {error}");
            unavailable()
        }
        Err(error) => {
            log::error!("cannot run the request: {error}");
            unavailable()
        }
    }
}

/// The status that `tlog-witness` prescribes.
const fn status_of(error: &WitnessError) -> StatusCode {
    match error {
        WitnessError::Text(_) | WitnessError::OldSize => StatusCode::BAD_REQUEST,
        WitnessError::UnknownLog => StatusCode::NOT_FOUND,
        WitnessError::Signature(_) => StatusCode::FORBIDDEN,
        WitnessError::Conflict { .. } => StatusCode::CONFLICT,
        WitnessError::History(_) | WitnessError::EmptyRoot => StatusCode::UNPROCESSABLE_ENTITY,
    }
}

/// `GET /<origin hash>/checkpoint`: the last checkpoint that was cosigned, for monitors.
async fn checkpoint(state: web::Data<WitnessState>, origin_hash: web::Path<String>) -> HttpResponse {
    let state = Arc::clone(&state.into_inner());
    #[expect(clippy::disallowed_methods, reason = "a witness serves logs, which it limits")]
    let found = web::block(move || state.checkpoint(&origin_hash));
    match found.await {
        Ok(Ok(Some(note))) => plain(StatusCode::OK, note),
        Ok(Ok(None)) => plain(
            StatusCode::NOT_FOUND,
            "this witness has no checkpoint of the log\n".to_owned(),
        ),
        Ok(Err(error)) => {
            log::error!("cannot use the state of the witness: {error}");
            unavailable()
        }
        Err(error) => {
            log::error!("cannot run the request: {error}");
            unavailable()
        }
    }
}

fn unavailable() -> HttpResponse {
    plain(
        StatusCode::SERVICE_UNAVAILABLE,
        "the witness cannot use its state\n".to_owned(),
    )
}

fn plain(status: StatusCode, text: String) -> HttpResponse {
    HttpResponse::build(status)
        .content_type(ContentType::plaintext())
        .body(text)
}
