//! `audit-server log repair`: writes the heads of logs again that the service did not write, and wrong tiles.

use super::arguments::RepairOptions;
use super::open_log;
use anyhow::Context;
use audit_app::SignerMemory;
use audit_verifier::EXIT_INCONSISTENT;
use std::io::Write;
use std::process::ExitCode;

pub(super) fn run(options: &RepairOptions) -> anyhow::Result<ExitCode> {
    let database = &options.log_key.database;
    let known = SignerMemory::read(&database.signer_file()?).context("--state-directory")?;
    let scope = audit_app::RepairOptions {
        project_id: options.project,
        known: known.unwrap_or_default(),
        head_key: database.head_keys()?.in_file()?,
        accepts_unsigned: options.accept_unsigned,
    };
    let service = open_log(&options.log_key)?;
    let reports = service.repair_log(&scope)?;
    service.close();
    let mut stdout = std::io::stdout().lock();
    for report in &reports {
        let (name, events, signed) = (&report.name, report.events, report.signed);
        match &report.refused {
            None => writeln!(
                stdout,
                "{name}  {events} events, signed up to {signed}: repaired ({})",
                report.found
            )?,
            Some(why) => writeln!(stdout, "INCONSISTENT: {name}: not repaired: {why}")?,
        }
    }
    if reports.is_empty() {
        writeln!(
            stdout,
            "nothing to write again: every head was written by the service, and its tiles are those of the events"
        )?;
    }
    Ok(match reports.iter().any(|report| report.refused.is_some()) {
        true => ExitCode::from(EXIT_INCONSISTENT),
        false => ExitCode::SUCCESS,
    })
}
