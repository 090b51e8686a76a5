//! `audit-server init`: asks what a deployment decides first, and writes the environment of its server, with new keys.

mod files;
mod questions;

use crate::key_files;
use crate::serve_options::proxy;
use anyhow::{Context, bail};
use audit_cli::SystemClock;
use audit_domain::Clock;
use audit_http::PublicUrl;
use audit_store::DatabaseUrl;
use audit_transport::listener::ListenAddress;
use audit_transport::tls;
use clap::Args;
use files::{Files, cannot_write};
use questions::{Question, Questions};
use std::fmt::Write as _;
use std::io::{BufRead, IsTerminal, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// Defaults. The first two are those of the server, with absolute paths.
const DATABASE_URL: &str = "sqlite:audit-data/audit.db";
const STATE_DIRECTORY: &str = "audit-data";
const PROXY: &str = "127.0.0.1";
const LISTEN_BEHIND_PROXY: &str = "127.0.0.1:8080";
const LISTEN_WITH_TLS: &str = "0.0.0.0:8443";

/// The options of the command. Those with a variable answer a question, or give what is not asked for.
#[derive(Debug, Args)]
pub struct InitOptions {
    /// Directory of the files that the command writes: audit-server.env, encryption-key and hash-key. None of them may exist.
    #[arg(long, value_name = "PATH", default_value = "audit-config")]
    directory: PathBuf,
    /// Ask nothing. Without a terminal, nothing is asked either.
    #[arg(long)]
    yes: bool,
    /// Database: sqlite:PATH or postgres://USER@HOST/DATABASE; sqlite:audit-data/audit.db by default.
    #[arg(long, value_name = "URL", env = "AUDIT_DATABASE_URL", hide_env_values = true)]
    database_url: Option<String>,
    /// URL at which clients reach the server, such as `https://audit.example.com`. Has no default.
    #[arg(long, value_name = "URL", env = "AUDIT_PUBLIC_URL")]
    public_url: Option<String>,
    /// File with the certificate of the server (PEM). By default a proxy terminates TLS.
    #[arg(long, value_name = "FILE", env = "AUDIT_TLS_CERTIFICATE")]
    tls_certificate: Option<String>,
    /// File with the private key of the certificate (PEM, not encrypted).
    #[arg(
        long,
        value_name = "FILE",
        env = "AUDIT_TLS_KEY",
        requires = "tls_certificate"
    )]
    tls_key: Option<String>,
    /// Networks of the proxy that terminates TLS; 127.0.0.1 by default, and none with a certificate.
    #[arg(long, value_name = "LIST", env = "AUDIT_TRUSTED_PROXIES")]
    trusted_proxies: Option<String>,
    /// Directory for backups of the SQLite database; by default `backups` beside the database. It is created.
    #[arg(long, value_name = "PATH", env = "AUDIT_BACKUP_DIRECTORY")]
    backup_directory: Option<String>,
    /// Existing directory for anchors, which is on another machine; none by default.
    #[arg(long, value_name = "PATH", env = "AUDIT_ANCHOR_DIRECTORY")]
    anchor_directory: Option<String>,
    /// Address and port to listen on; 127.0.0.1:8080 behind a proxy, 0.0.0.0:8443 with a certificate.
    #[arg(long, value_name = "ADDRESS", env = "AUDIT_LISTEN")]
    listen: Option<String>,
    /// Address for /metrics, /healthz and /readyz, away from clients.
    #[arg(
        long,
        value_name = "ADDRESS",
        env = "AUDIT_METRICS_LISTEN",
        default_value = "127.0.0.1:9090"
    )]
    metrics_listen: String,
    /// Directory of the files that must not be in the database; by default that of the SQLite database, or audit-data.
    #[arg(long, value_name = "PATH", env = "AUDIT_STATE_DIR")]
    state_directory: Option<String>,
}

/// A line of the environment file, with the option of `init` that gives its value.
#[derive(Debug, PartialEq, Eq)]
struct Setting {
    option: &'static str,
    variable: &'static str,
    value: String,
}

fn setting(option: &'static str, variable: &'static str, value: impl Into<String>) -> Setting {
    Setting {
        option,
        variable,
        value: value.into(),
    }
}

/// `audit-server init`.
pub fn run(options: &InitOptions) -> anyhow::Result<ExitCode> {
    let files = Files::new(&options.directory)?;
    files.refuse_existing()?;
    let stdin = std::io::stdin();
    let asks = !options.yes && stdin.is_terminal();
    let mut stdout = std::io::stdout().lock();
    let mut questions = Questions {
        input: asks.then(|| stdin.lock()),
        output: &mut stdout,
    };
    let settings = settings(options, &files, &mut questions)?;
    let environment = environment(&settings)?;
    if let Some(directory) = value(&settings, "AUDIT_BACKUP_DIRECTORY") {
        let created = key_files::create_directory(Path::new(directory));
        created.with_context(|| format!("--backup-directory: {}", cannot_write(Path::new(directory))))?;
    }
    files.write(&environment)?;
    write!(stdout, "{}", next_steps(&files, &settings)?)?;
    Ok(ExitCode::SUCCESS)
}

/// The five questions and what is not asked for, in the order of the file.
fn settings<I: BufRead, O: Write>(
    options: &InitOptions,
    files: &Files,
    questions: &mut Questions<I, O>,
) -> anyhow::Result<Vec<Setting>> {
    let question = Question::new("--database-url", "Database", Some(DATABASE_URL), database_url);
    let database = questions.ask(&question, options.database_url.as_deref())?;
    let (database, sqlite) = absolute_database(&database)?;
    let question = Question::new(
        "--public-url",
        "URL at which clients reach the server, such as https://audit.example.com",
        None,
        public_url,
    );
    let public_url = questions.ask(&question, options.public_url.as_deref())?;
    let tls = of_tls(options, questions)?;
    let backups = backup_directory(options, sqlite.as_deref(), questions)?;
    let question = Question::new(
        "--anchor-directory",
        "Existing directory for anchors, on another machine",
        Some(""),
        existing_directory,
    );
    let anchors = questions.ask(&question, options.anchor_directory.as_deref())?;

    let mut settings = vec![setting("--database-url", "AUDIT_DATABASE_URL", database)];
    let state = options.state_directory.as_deref();
    if let Some(state) = state.or(sqlite.is_none().then_some(STATE_DIRECTORY)) {
        let state = absolute("--state-directory", state)?;
        settings.push(setting("--state-directory", "AUDIT_STATE_DIR", state));
    }
    for (variable, path) in [
        ("AUDIT_ENCRYPTION_KEY_FILE", &files.encryption_key),
        ("AUDIT_HASH_KEY_FILE", &files.hash_key),
    ] {
        settings.push(setting("--directory", variable, text_of("--directory", path)?));
    }
    settings.push(setting("--public-url", "AUDIT_PUBLIC_URL", public_url));
    settings.extend(tls);
    let metrics = address(
        "--metrics-listen",
        "AUDIT_METRICS_LISTEN",
        &options.metrics_listen,
    )?;
    settings.push(metrics);
    settings.extend(backups);
    if !anchors.is_empty() {
        let anchors = absolute("--anchor-directory", &anchors)?;
        settings.push(setting("--anchor-directory", "AUDIT_ANCHOR_DIRECTORY", anchors));
    }
    settings.push(setting("--yes", "AUDIT_STREAMS", "off"));
    Ok(settings)
}

/// Certificate and key of the server, or its proxy; and the address that fits.
fn of_tls<I: BufRead, O: Write>(
    options: &InitOptions,
    questions: &mut Questions<I, O>,
) -> anyhow::Result<Vec<Setting>> {
    // A proxy that is given answers the question.
    let proxies = options.trusted_proxies.as_deref();
    let given = options.tls_certificate.as_deref().or(proxies.and(Some("")));
    let question = Question::new(
        "--tls-certificate",
        "File of the server's certificate; none if a proxy terminates TLS",
        Some(""),
        |_| Ok(()),
    );
    let certificate = questions.ask(&question, given)?;
    let listen = |default: &str| {
        let listen = options.listen.as_deref().unwrap_or(default);
        address("--listen", "AUDIT_LISTEN", listen)
    };
    let mut settings = Vec::new();
    if certificate.is_empty() {
        let proxies = proxies.unwrap_or(PROXY);
        for one in proxies.split(',') {
            proxy(one)
                .map_err(anyhow::Error::msg)
                .context("--trusted-proxies")?;
        }
        settings.push(listen(LISTEN_BEHIND_PROXY)?);
        settings.push(setting("--trusted-proxies", "AUDIT_TRUSTED_PROXIES", proxies));
        return Ok(settings);
    }
    let question = Question::new("--tls-key", "File of its private key", None, |_| Ok(()));
    let key = questions.ask(&question, options.tls_key.as_deref())?;
    let (certificate, key) = (
        absolute("--tls-certificate", &certificate)?,
        absolute("--tls-key", &key)?,
    );
    let now_seconds = SystemClock.now().as_seconds();
    tls::examine(Path::new(&certificate), Path::new(&key), now_seconds)
        .context("--tls-certificate and --tls-key")?;
    settings.push(listen(LISTEN_WITH_TLS)?);
    settings.push(setting("--tls-certificate", "AUDIT_TLS_CERTIFICATE", certificate));
    settings.push(setting("--tls-key", "AUDIT_TLS_KEY", key));
    if let Some(proxies) = proxies {
        settings.push(setting("--trusted-proxies", "AUDIT_TRUSTED_PROXIES", proxies));
    }
    Ok(settings)
}

/// The directory of backups, which a server makes of SQLite alone.
fn backup_directory<I: BufRead, O: Write>(
    options: &InitOptions,
    sqlite: Option<&Path>,
    questions: &mut Questions<I, O>,
) -> anyhow::Result<Option<Setting>> {
    let given = options.backup_directory.as_deref();
    let Some(sqlite) = sqlite else {
        if given.is_some() {
            bail!("--backup-directory is for SQLite: back PostgreSQL up with its own programs");
        }
        return Ok(None);
    };
    let beside = sqlite.with_file_name("backups");
    let beside = text_of("--database-url", &beside)?;
    let question = Question::new(
        "--backup-directory",
        "Directory for backups of the database",
        Some(&beside),
        |_| Ok(()),
    );
    let directory = absolute("--backup-directory", &questions.ask(&question, given)?)?;
    Ok(Some(setting(
        "--backup-directory",
        "AUDIT_BACKUP_DIRECTORY",
        directory,
    )))
}

/// An address to listen on, as the server takes it.
fn address(option: &'static str, variable: &'static str, text: &str) -> anyhow::Result<Setting> {
    let parsed = text.parse::<ListenAddress>().map_err(anyhow::Error::msg);
    if let ListenAddress::Tcp(address) = parsed.context(option)?
        && !address.contains(':')
    {
        bail!("{option}: must be an address and a port, or unix:PATH");
    }
    Ok(setting(option, variable, text))
}

fn database_url(text: &str) -> anyhow::Result<()> {
    text.parse::<DatabaseUrl>()?;
    Ok(())
}

fn public_url(text: &str) -> anyhow::Result<()> {
    text.parse::<PublicUrl>()?;
    Ok(())
}

/// A directory, or none. A server would create one that is not mounted on its own disk.
fn existing_directory(text: &str) -> anyhow::Result<()> {
    if !text.is_empty() && !Path::new(text).is_dir() {
        bail!("{text} is not a directory");
    }
    Ok(())
}

/// The URL with an absolute path, because servers and commands have other working directories. And the path of an SQLite database.
fn absolute_database(text: &str) -> anyhow::Result<(String, Option<PathBuf>)> {
    let DatabaseUrl::Sqlite(path) = text.parse::<DatabaseUrl>().context("--database-url")? else {
        return Ok((text.to_owned(), None));
    };
    let path = std::path::absolute(path).context("--database-url")?;
    Ok((
        format!("sqlite:{}", text_of("--database-url", &path)?),
        Some(path),
    ))
}

fn absolute(option: &'static str, text: &str) -> anyhow::Result<String> {
    let path = std::path::absolute(text).context(option)?;
    text_of(option, &path)
}

fn text_of(option: &'static str, path: &Path) -> anyhow::Result<String> {
    let text = path
        .to_str()
        .with_context(|| format!("{option}: the path is not UTF-8"))?;
    Ok(text.to_owned())
}

fn value<'a>(settings: &'a [Setting], variable: &str) -> Option<&'a str> {
    let mut settings = settings.iter();
    let setting = settings.find(|setting| setting.variable == variable)?;
    Some(&setting.value)
}

/// The text of the environment file: the lines that systemd (`EnvironmentFile=`), Docker (`--env-file`) and a shell
/// (`export $(grep ^AUDIT_ FILE)`) read as one value each. They differ in quotation, so a value that would need it is refused.
fn environment(settings: &[Setting]) -> anyhow::Result<String> {
    let mut text = String::from(
        "# The environment of `audit-server serve`, and of every command on its database, for systemd (EnvironmentFile=) and Docker \
         (--env-file).\n# Written by `audit-server init`. docs/configuration.md explains the settings, docs/reference/options.md lists \
         all of them.\n",
    );
    for Setting {
        option,
        variable,
        value,
    } in settings
    {
        let is_plain =
            |letter: char| !letter.is_control() && !letter.is_whitespace() && !"'\"\\`$#*".contains(letter);
        if value.is_empty() || !value.chars().all(is_plain) {
            bail!(
                "{option}: must not be empty or have spaces, control characters, quotation marks or any of \\ ` $ # *: \
                 systemd, Docker and shells read these differently in {variable}"
            );
        }
        writeln!(text, "{variable}={value}")?;
    }
    Ok(text)
}

/// What the operator does next.
fn next_steps(files: &Files, settings: &[Setting]) -> anyhow::Result<String> {
    let quoted = |path: &Path| -> anyhow::Result<String> {
        Ok(shlex::try_quote(&text_of("--directory", path)?)?.into_owned())
    };
    let environment = quoted(&files.environment)?;
    let mut text = format!(
        "Written, for the user who runs this command alone:\n\n  {environment}\n  {}\n  {}\n\n\
         Run the server as the same user. Copy both keys to a place apart from the database and its backups: without the first one no \
         server starts on the database, and without the second one identifiers get other hashes.\n\nStart the server:\n\n  \
         export $(grep ^AUDIT_ {environment})\n",
        quoted(&files.encryption_key)?,
        quoted(&files.hash_key)?,
    );
    let database = value(settings, "AUDIT_DATABASE_URL").unwrap_or_default();
    let is_used = database
        .strip_prefix("sqlite:")
        .is_some_and(|path| Path::new(path).exists());
    if is_used {
        text += "  audit-server secrets rewrap --seal-plain    # the database exists: if it has had no encryption key\n";
    }
    let public_url = value(settings, "AUDIT_PUBLIC_URL").unwrap_or_default();
    writeln!(
        text,
        "  audit-server serve\n\nIt prints the first keys once. Before the first event, choose the redaction rules in {public_url}/console: \
         what they remove is not stored.\nCheck the deployment, with the same environment:\n\n  audit-server doctor"
    )?;
    if value(settings, "AUDIT_ANCHOR_DIRECTORY").is_none() {
        writeln!(
            text,
            "\nIt reports that nothing outside of the deployment holds the state of the logs until you set AUDIT_ANCHOR_DIRECTORY or \
             AUDIT_POLICY."
        )?;
    }
    Ok(text)
}

#[cfg(test)]
mod tests;
