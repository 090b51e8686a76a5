//! A cluster that archives its write-ahead log, and its recovery to an earlier point.

use super::{Cluster, directory, ordinary_user};
use crate::documented::run_documented;
use crate::edge::Deadline;
use crate::prerequisite::Prerequisite;
use std::path::PathBuf;

/// A cluster that archives its write-ahead log.
#[derive(Debug)]
pub struct ArchivedCluster {
    /// The cluster.
    pub cluster: Cluster,
    archive: PathBuf,
    /// The user that its programs run as.
    prefix: Vec<String>,
}

impl ArchivedCluster {
    /// A new one, or none where PostgreSQL's programs are missing (see the prerequisites of the tests).
    pub fn start() -> Option<Self> {
        Prerequisite::Postgres.check(Self::create())
    }

    fn create() -> Result<Self, String> {
        let prefix = ordinary_user()?;
        let archive = directory(&prefix)?;
        let command = format!(
            "archive_command=test ! -f {0}/%f && cp %p {0}/%f",
            archive.display()
        );
        Ok(Self {
            cluster: Cluster::create(&["archive_mode=on", &command])?,
            archive,
            prefix,
        })
    }

    /// A base backup, by the command in the documentation.
    pub fn base_backup(&self) -> PathBuf {
        let directory = directory(&self.prefix).expect("create a directory");
        let data = super::data(&directory);
        let url = format!("host={} user=audit", self.cluster.host());
        let variables = [("REPLICATION_URL", url.as_str()), ("NEW_DATA", &data)];
        run_documented(
            "docs/backup.md",
            "Point-in-time recovery",
            0,
            &variables,
            &self.prefix,
        );
        directory
    }

    /// Names the present point, once, and waits until it is in the archive.
    pub fn create_restore_point(&self, name: &str) {
        let cluster = &self.cluster;
        cluster.execute(&format!("SELECT pg_create_restore_point('{name}')"));
        cluster.execute("CREATE TABLE switched AS SELECT pg_walfile_name(pg_switch_wal()) AS segment");
        let archived = "coalesce(last_archived_wal, '') >= segment FROM pg_stat_archiver, switched";
        Deadline::seconds(60).poll("the segment is archived", || {
            cluster.holds(archived).then_some(())
        });
    }

    /// A cluster of a base backup, recovered to a named point by the commands in the documentation.
    pub fn recover(&self, base_backup: PathBuf, point: &str) -> Cluster {
        let target = format!("recovery_target_name = '{point}'");
        let data = super::data(&base_backup);
        let archive = self.archive.display().to_string();
        let variables = [
            ("NEW_DATA", data.as_str()),
            ("ARCHIVE", &archive),
            ("RECOVERY_TARGET", &target),
        ];
        run_documented(
            "docs/backup.md",
            "Point-in-time recovery",
            1,
            &variables,
            &self.prefix,
        );
        let recovered = Cluster::serve(base_backup, &[]).expect("start the recovered cluster");
        Deadline::seconds(60).poll("the recovery ends", || {
            recovered.holds("NOT pg_is_in_recovery()").then_some(())
        });
        recovered
    }
}
