//! The commands that create and change organizations and projects.

use crate::options::{DatabaseOptions, Output, SelfAuditOptions};
use crate::service::{open_to_administer, open_to_administer_with};
use audit_app::{NewOrganization, Organization, Project, Requester, Settings};
use audit_cli::{printable, printable_lines};
use audit_domain::{Name, OrganizationId, Plan};
use clap::Subcommand;
use serde_json::{Value, json};
use std::io::Write;
use std::process::ExitCode;

/// The commands.
#[derive(Debug, Subcommand)]
pub enum OrganizationCommand {
    /// Create an organization with a project, a master key and a project key, and print the keys once.
    Create {
        /// Name of 1 to 100 characters.
        #[arg(long)]
        name: Name,
        /// free, pro or enterprise.
        #[arg(long, default_value = "enterprise")]
        plan: Plan,
        #[command(flatten)]
        self_audit: SelfAuditOptions,
        #[command(flatten)]
        output: Output,
        #[command(flatten)]
        database: DatabaseOptions,
    },
    /// Change the plan of an organization, from the next request on.
    SetPlan {
        /// Organization.
        organization_id: OrganizationId,
        /// free, pro or enterprise.
        plan: Plan,
        #[command(flatten)]
        database: DatabaseOptions,
    },
    /// List organizations and their projects.
    List {
        #[command(flatten)]
        output: Output,
        #[command(flatten)]
        database: DatabaseOptions,
    },
}

/// The commands.
#[derive(Debug, Subcommand)]
pub enum ProjectCommand {
    /// Create a project.
    Create {
        /// Organization of the project.
        #[arg(long, value_name = "UUID")]
        organization: OrganizationId,
        /// Name of 1 to 100 characters.
        #[arg(long)]
        name: Name,
        #[command(flatten)]
        output: Output,
        #[command(flatten)]
        database: DatabaseOptions,
    },
}

/// The commands.
#[derive(Debug, Subcommand)]
pub enum ViewerSecretCommand {
    /// Sign viewer tokens with a new secret. Tokens signed with the old one stay valid until they expire.
    Rotate {
        #[command(flatten)]
        database: DatabaseOptions,
    },
}

/// Prints JSON or the lines for people.
pub(crate) fn print(output: &Output, value: &Value, lines: &str) -> anyhow::Result<ExitCode> {
    let mut stdout = std::io::stdout().lock();
    match output.json {
        true => writeln!(stdout, "{value}")?,
        false => writeln!(stdout, "{}", printable_lines(lines.trim_end()))?,
    }
    Ok(ExitCode::SUCCESS)
}

/// A new organization with its keys.
pub fn describe(new: &NewOrganization) -> String {
    format!(
        "organization  {}  {} ({})\nproject       {}  {}\nmaster key    {}\nproject key   {}\n",
        new.organization.id,
        printable(&new.organization.name),
        new.organization.plan,
        new.project.id,
        printable(&new.project.name),
        new.master_key.as_str(),
        new.project_key.as_str(),
    )
}

/// `org`.
pub fn organizations(command: &OrganizationCommand) -> anyhow::Result<ExitCode> {
    match command {
        OrganizationCommand::Create {
            name,
            plan,
            self_audit,
            output,
            database,
        } => {
            let settings = Settings {
                self_audit: self_audit.self_audit,
                ..Settings::default()
            };
            let service = open_to_administer_with(database, settings)?;
            let new = service.create_organization(name, *plan)?;
            service.close();
            let value = json!({
                "organization_id": new.organization.id,
                "project_id": new.project.id,
                "master_key": new.master_key.as_str(),
                "project_key": new.project_key.as_str(),
            });
            let notice = "The keys are printed only now; the database stores their hashes.";
            print(output, &value, &(describe(&new) + notice))
        }
        OrganizationCommand::SetPlan {
            organization_id,
            plan,
            database,
        } => {
            let service = open_to_administer(database)?;
            service.set_plan(*organization_id, *plan)?;
            service.close();
            let line = format!("organization {organization_id} is on the {plan} plan");
            print(&Output { json: false }, &Value::Null, &line)
        }
        OrganizationCommand::List { output, database } => {
            let organizations = open_to_administer(database)?.organizations()?;
            let values = organizations.iter().map(organization_json).collect();
            let lines: String = organizations.iter().map(organization_lines).collect();
            print(output, &Value::Array(values), &lines)
        }
    }
}

fn organization_json((organization, projects): &(Organization, Vec<Project>)) -> Value {
    let project = |project: &Project| {
        let mut value = json!({"id": project.id, "name": project.name});
        if let Some(at) = project.archived_at {
            value["archived_at"] = at.to_string().into();
        }
        if !project.metadata_filter_paths.is_empty() {
            let paths = project.metadata_filter_paths.iter().map(ToString::to_string);
            value["metadata_filter_paths"] = paths.collect();
        }
        value
    };
    json!({
        "id": organization.id,
        "name": organization.name,
        "plan": organization.plan.as_str(),
        "created_at": organization.created_at.to_string(),
        "projects": projects.iter().map(project).collect::<Vec<_>>(),
    })
}

fn organization_lines((organization, projects): &(Organization, Vec<Project>)) -> String {
    let mut lines = format!(
        "{}  {} ({})\n",
        organization.id,
        printable(&organization.name),
        organization.plan
    );
    for project in projects {
        let archived = match project.archived_at {
            Some(_) => "  (archived)",
            None => "",
        };
        lines += &format!(
            "    project {}  {}{archived}\n",
            project.id,
            printable(&project.name)
        );
    }
    lines
}

/// `project`.
pub fn projects(command: &ProjectCommand) -> anyhow::Result<ExitCode> {
    let ProjectCommand::Create {
        organization,
        name,
        output,
        database,
    } = command;
    let service = open_to_administer(database)?;
    let project = service.create_project(*organization, name, &Requester::Operator)?;
    service.close();
    let value = json!({"project_id": project.id, "name": project.name});
    print(
        output,
        &value,
        &format!("project  {}  {}", project.id, printable(&project.name)),
    )
}

/// `viewer-secret`.
pub fn viewer_secret(command: &ViewerSecretCommand) -> anyhow::Result<ExitCode> {
    let ViewerSecretCommand::Rotate { database } = command;
    let service = open_to_administer(database)?;
    let kid = service.rotate_viewer_secret()?;
    service.close();
    let line = format!("new viewer tokens are signed with the secret {kid}");
    print(&Output { json: false }, &Value::Null, &line)
}

/// `routes`.
pub fn routes() -> anyhow::Result<ExitCode> {
    let mut stdout = std::io::stdout().lock();
    for endpoint in audit_http::ENDPOINTS {
        let path = endpoint.path.replace('{', ":").replace('}', "");
        writeln!(stdout, "{} {path}", endpoint.method)?;
    }
    Ok(ExitCode::SUCCESS)
}
