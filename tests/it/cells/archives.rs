//! Archives of a deployment whose logs are in several cells.

use super::Cells;
use crate::archive::this_month;
use crate::log::{store_events, text_of};
use audit_tests::{Deadline, command_line, command_line_on, temporary_directory};

/// Bounds a hang: a server signs within a second.
const SIGNED_SECONDS: u64 = 60;

#[test]
fn an_archive_has_the_logs_of_all_cells() {
    let Some(deployment) = Cells::create() else { return };
    let logs = ["near", "far"].map(|cell| {
        let organization = deployment.organization_in(cell);
        store_events(&organization.project(), 5);
        format!(
            "{}/live: the first 5 positions of the log of 5",
            organization.project_id
        )
    });
    let directory = temporary_directory("archive-");
    let (to, month) = (text_of(&directory), this_month());
    let key = command_line_on(&deployment.database, &["log", "key"]).success();
    let said = Deadline::seconds(SIGNED_SECONDS).poll("an archive of both logs", || {
        let create = ["archive", "create", "--to", to, "--until", &month];
        command_line_on(&deployment.database, &create).success();
        let said = command_line(&["archive", "verify", to, "--key", &key]);
        logs.iter()
            .all(|log| said.stdout.contains(log))
            .then(|| said.success())
    });
    assert_eq!(said.lines().count(), 2, "{said}");
}
