//! `audit-server db shrink`: gives the space of removed events back to the system.

use crate::doctor::database::{NO_SPACE_BACK, SPACE_ADVICE};
use crate::options::DatabaseOptions;
use crate::service::open_to_administer;
use anyhow::bail;
use audit_store::{KindSettings, inspect};
use clap::Args;
use std::process::ExitCode;

/// The options of the command.
#[derive(Debug, Args)]
pub struct ShrinkOptions {
    #[command(flatten)]
    database: DatabaseOptions,
}

/// Runs the command.
pub fn run(options: &ShrinkOptions) -> anyhow::Result<ExitCode> {
    let settings = inspect(&options.database.url()?, |reader| reader.database_settings())?;
    if let KindSettings::Sqlite {
        gives_space_back: false,
        ..
    } = settings.kind
    {
        bail!("{NO_SPACE_BACK}: {SPACE_ADVICE}");
    }
    let service = open_to_administer(&options.database)?;
    let outcome = service.give_back_space();
    service.close();
    outcome?;
    Ok(ExitCode::SUCCESS)
}
