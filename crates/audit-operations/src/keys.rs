//! The commands that manage project keys and master keys.

mod trace;

use crate::administration::print;
use crate::options::{DatabaseOptions, Output};
use crate::service::open_to_administer;
use anyhow::bail;
use audit_app::{AppError, AuditLog, KEY_OVERLAP_DEFAULT, KEY_OVERLAP_MAX, Key, KeyManager, NewKey};
use audit_cli::printable;
use audit_domain::{
    Environment, KeyId, KeyLimits, KeyScope, Name, Network, OrganizationId, ProjectId, Timestamp,
};
use clap::{Args, Subcommand};
use serde_json::{Value, json};
use std::process::ExitCode;
use std::time::Duration;
use trace::TraceOptions;

/// Projects that an error lists.
const LISTED_PROJECTS_MAX: usize = 20;

/// The commands.
#[derive(Debug, Subcommand)]
pub enum KeyCommand {
    /// Create a project key and print it once.
    Create {
        /// Project of the key; by default the only project of the database.
        #[arg(long, value_name = "UUID")]
        project: Option<ProjectId>,
        /// Name of 1 to 100 characters.
        #[arg(long)]
        name: Name,
        /// live or test.
        #[arg(long, default_value = "live")]
        environment: Environment,
        #[command(flatten)]
        limits: LimitOptions,
        #[command(flatten)]
        output: Output,
        #[command(flatten)]
        database: DatabaseOptions,
    },
    /// List the keys of a project.
    List {
        /// Project of the keys.
        #[arg(long, value_name = "UUID")]
        project: ProjectId,
        #[command(flatten)]
        output: Output,
        #[command(flatten)]
        database: DatabaseOptions,
    },
    /// Create a key with the same name and limits, print it once, and let the old one end.
    Rotate(RotateOptions),
    /// Revoke a key at once and for good.
    Revoke(RevokeOptions),
    /// List the events that a project key or a master key has sent, with the address of each client.
    Trace(TraceOptions),
}

/// The commands.
#[derive(Debug, Subcommand)]
pub enum MasterKeyCommand {
    /// Create another master key of an organization and print it once.
    Create {
        /// Organization of the key.
        #[arg(long, value_name = "UUID")]
        organization: OrganizationId,
        /// Name of 1 to 100 characters.
        #[arg(long, default_value = "master")]
        name: Name,
        #[command(flatten)]
        limits: LimitOptions,
        #[command(flatten)]
        output: Output,
        #[command(flatten)]
        database: DatabaseOptions,
    },
    /// List the master keys of an organization.
    List {
        /// Organization of the keys.
        #[arg(long, value_name = "UUID")]
        organization: OrganizationId,
        #[command(flatten)]
        output: Output,
        #[command(flatten)]
        database: DatabaseOptions,
    },
    /// Create a key with the same name and limits, print it once, and let the old one end.
    Rotate(RotateOptions),
    /// Revoke a key at once and for good, even if it is the last one.
    Revoke(RevokeOptions),
}

/// What limits a new key.
#[derive(Debug, Args)]
pub struct LimitOptions {
    /// Time from which on the key is not valid, such as `2027-01-15T00:00:00Z`.
    #[arg(long, value_name = "TIME", value_parser = time)]
    expires_at: Option<Timestamp>,
    /// What the key may do: events:write, events:read, alerts, viewer-tokens, admin; everything by default.
    #[arg(long, value_name = "LIST", value_delimiter = ',')]
    scopes: Vec<KeyScope>,
    /// Networks that the key may be used from, such as `10.0.0.0/8`; all by default.
    #[arg(long, value_name = "LIST", value_delimiter = ',')]
    networks: Vec<Network>,
}

/// The options of the command.
#[derive(Debug, Args)]
pub struct RotateOptions {
    /// Id of the old key, as `create` and `list` print it.
    id: KeyId,
    /// Seconds for which the old key stays valid, if it does not end earlier.
    #[arg(long, value_name = "SECONDS", default_value_t = KEY_OVERLAP_DEFAULT.as_secs(),
        value_parser = clap::value_parser!(u64).range(0..=KEY_OVERLAP_MAX.as_secs()))]
    overlap: u64,
    #[command(flatten)]
    output: Output,
    #[command(flatten)]
    database: DatabaseOptions,
}

/// The options of the command.
#[derive(Debug, Args)]
pub struct RevokeOptions {
    /// Id of the key, as `create` and `list` print it.
    id: KeyId,
    #[command(flatten)]
    database: DatabaseOptions,
}

/// The service checks that it is in the future.
fn time(text: &str) -> Result<Timestamp, String> {
    Timestamp::parse_instant(text).map_err(|error| error.to_string())
}

impl LimitOptions {
    fn limits(&self) -> KeyLimits {
        KeyLimits {
            expires_at: self.expires_at,
            scopes: (!self.scopes.is_empty()).then(|| self.scopes.iter().copied().collect()),
            networks: (!self.networks.is_empty()).then(|| self.networks.clone()),
        }
    }
}

/// The error with the options that were given wrongly.
fn with_options(error: AppError) -> anyhow::Error {
    let AppError::Invalid(violations) = error else {
        return error.into();
    };
    let wrong = violations.as_slice().iter();
    let wrong: Vec<String> = wrong
        .map(|violation| format!("--{} {}", violation.field.replace('_', "-"), violation.message))
        .collect();
    anyhow::anyhow!(wrong.join("; "))
}

/// The members of a key that limits add.
fn limits_json(limits: &KeyLimits) -> Value {
    let texts = |networks: &Vec<Network>| networks.iter().map(ToString::to_string).collect::<Vec<_>>();
    json!({
        "expires_at": limits.expires_at.map(|time| time.to_string()),
        "scopes": limits.scopes.map(|scopes| scopes.iter().map(KeyScope::as_str).collect::<Vec<_>>()),
        "networks": limits.networks.as_ref().map(texts),
    })
}

fn with_limits(mut value: Value, limits: &KeyLimits) -> Value {
    let (Some(all), Value::Object(limits)) = (value.as_object_mut(), limits_json(limits)) else {
        return value;
    };
    all.extend(limits);
    value
}

fn key_json(key: &Key) -> Value {
    let value = json!({
        "id": key.id,
        "name": key.name,
        "prefix": key.prefix,
        "environment": key.project.map(|(_, environment)| environment.as_str()),
        "created_at": key.created_at.to_string(),
        "last_used_at": key.last_used_at.map(|time| time.to_string()),
        "last_used_from": key.last_used_from.map(|address| address.to_string()),
        "revoked_at": key.revoked_at.map(|time| time.to_string()),
    });
    with_limits(value, &key.limits)
}

fn key_line(key: &Key) -> String {
    let mut line = format!("{}  {}…  {}", key.id, key.prefix, printable(&key.name));
    if let Some((_, environment)) = key.project {
        line += &format!("  {environment}");
    }
    if let Some(scopes) = key.limits.scopes {
        let scopes: Vec<_> = scopes.iter().map(KeyScope::as_str).collect();
        line += &format!("  only {}", scopes.join(","));
    }
    if let Some(networks) = &key.limits.networks {
        let networks: Vec<_> = networks.iter().map(ToString::to_string).collect();
        line += &format!("  from {}", networks.join(","));
    }
    match (key.last_used_at, key.last_used_from) {
        (Some(at), Some(from)) => line += &format!("  last used {at} from {from}"),
        (Some(at), None) => line += &format!("  last used {at}"),
        (None, _) => line += "  never used",
    }
    match (key.revoked_at, key.limits.expires_at) {
        (Some(at), _) => line += &format!("  revoked {at}"),
        (None, Some(at)) => line += &format!("  expires {at}"),
        (None, None) => {}
    }
    line + "\n"
}

fn print_keys(output: &Output, keys: &[Key]) -> anyhow::Result<ExitCode> {
    let lines: String = keys.iter().map(key_line).collect();
    print(output, &keys.iter().map(key_json).collect(), &lines)
}

fn print_revoked(id: KeyId) -> anyhow::Result<ExitCode> {
    print(
        &Output { json: false },
        &Value::Null,
        &format!("key {id} is revoked"),
    )
}

fn print_project_key(output: &Output, new: &NewKey) -> anyhow::Result<ExitCode> {
    let environment = new.key.project.map(|(_, environment)| environment.as_str());
    let project_id = new.key.project.map(|(project_id, _)| project_id);
    let value = json!({
        "id": new.key.id, "key": new.text.as_str(), "environment": environment, "project_id": project_id,
    });
    let lines = format!(
        "project key  {}  (printed only now)\nproject id   {}\nid           {}",
        new.text.as_str(),
        project_id.map(|id| id.to_string()).unwrap_or_default(),
        new.key.id
    );
    print(output, &with_limits(value, &new.key.limits), &lines)
}

fn print_master_key(output: &Output, new: &NewKey) -> anyhow::Result<ExitCode> {
    let value = json!({"id": new.key.id, "master_key": new.text.as_str()});
    let lines = format!(
        "master key  {}  (printed only now)\nid          {}",
        new.text.as_str(),
        new.key.id
    );
    print(output, &with_limits(value, &new.key.limits), &lines)
}

/// The only project of the database.
fn only_project(service: &AuditLog) -> anyhow::Result<ProjectId> {
    let organizations = service.organizations()?;
    let projects: Vec<_> = organizations.iter().flat_map(|(_, projects)| projects).collect();
    match projects.as_slice() {
        [] => bail!("there is no project: create one with `org create`"),
        [project] => Ok(project.id),
        several => {
            let listed = several.iter().take(LISTED_PROJECTS_MAX);
            let listed: Vec<_> = listed.map(|one| format!("{} {}", one.id, one.name)).collect();
            bail!(
                "there are {} projects (`org list`), so --project is needed: {}",
                several.len(),
                listed.join(", ")
            )
        }
    }
}

/// `key`.
pub fn keys(command: &KeyCommand) -> anyhow::Result<ExitCode> {
    match command {
        KeyCommand::Create {
            project,
            name,
            environment,
            limits,
            output,
            database,
        } => {
            let service = open_to_administer(database)?;
            let project = project.map_or_else(|| only_project(&service), Ok)?;
            let place = (project, *environment);
            let new = service.create_project_key(KeyManager::Operator, place, name, limits.limits());
            let new = new.map_err(with_options)?;
            service.close();
            print_project_key(output, &new)
        }
        KeyCommand::List {
            project,
            output,
            database,
        } => {
            let keys = open_to_administer(database)?.keys_of_project(KeyManager::Operator, *project)?;
            print_keys(output, &keys)
        }
        KeyCommand::Rotate(options) => {
            let service = open_to_administer(&options.database)?;
            let overlap = Duration::from_secs(options.overlap);
            let new = service.rotate_key(KeyManager::Operator, options.id, overlap)?;
            service.close();
            print_project_key(&options.output, &new)
        }
        KeyCommand::Revoke(options) => {
            let service = open_to_administer(&options.database)?;
            service.revoke_key(KeyManager::Operator, options.id)?;
            service.close();
            print_revoked(options.id)
        }
        KeyCommand::Trace(options) => trace::trace(options),
    }
}

/// `master-key`.
pub fn master_keys(command: &MasterKeyCommand) -> anyhow::Result<ExitCode> {
    match command {
        MasterKeyCommand::Create {
            organization,
            name,
            limits,
            output,
            database,
        } => {
            let service = open_to_administer(database)?;
            let new = service.create_master_key(KeyManager::Operator, *organization, name, limits.limits());
            let new = new.map_err(with_options)?;
            service.close();
            print_master_key(output, &new)
        }
        MasterKeyCommand::List {
            organization,
            output,
            database,
        } => {
            let keys = open_to_administer(database)?.master_keys(*organization)?;
            print_keys(output, &keys)
        }
        MasterKeyCommand::Rotate(options) => {
            let service = open_to_administer(&options.database)?;
            let overlap = Duration::from_secs(options.overlap);
            let new = service.rotate_master_key(KeyManager::Operator, options.id, overlap)?;
            service.close();
            print_master_key(&options.output, &new)
        }
        MasterKeyCommand::Revoke(options) => {
            let service = open_to_administer(&options.database)?;
            service.revoke_master_key(KeyManager::Operator, options.id)?;
            service.close();
            print_revoked(options.id)
        }
    }
}
