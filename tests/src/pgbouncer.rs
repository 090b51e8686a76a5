//! PgBouncer before a cluster of a test.

use crate::cluster::{Cluster, directory, find_program, ordinary_user};
use crate::edge::Deadline;
use crate::prerequisite::Prerequisite;
use crate::process::Process;
use std::path::PathBuf;

/// A running PgBouncer.
#[derive(Debug)]
pub struct PgBouncer {
    directory: PathBuf,
    _process: Process,
}

impl PgBouncer {
    /// Starts one before this cluster, or none where the program is missing (see the prerequisites of the tests).
    pub fn start(cluster: &Cluster, pool_mode: &str, pool_size: usize) -> Option<Self> {
        let program = find_program("pgbouncer").ok_or("there is no pgbouncer");
        let program = Prerequisite::PgBouncer.check(program)?;
        let mut command = ordinary_user().expect("the cluster has a user");
        let directory = directory(&command).expect("create a directory");
        let configuration = format!(
            "[databases]\n* = host={} user=audit\n[pgbouncer]\nlisten_addr =\nlisten_port = 6432\n\
             unix_socket_dir = {}\nauth_type = any\npool_mode = {pool_mode}\ndefault_pool_size = {pool_size}\n\
             ignore_startup_parameters = extra_float_digits\n",
            cluster.host(),
            directory.display()
        );
        let file = directory.join("pgbouncer.ini");
        std::fs::write(&file, configuration).expect("write the configuration");
        command.extend([program, file.display().to_string()]);
        let process = Process::start(&command, &[], "KILL");
        let is_up = |line: &str| line.contains("process up").then_some(());
        let started = process.stderr.wait_for(Deadline::seconds(60), is_up);
        assert!(
            started.is_some(),
            "pgbouncer did not start: {}",
            process.stderr.text()
        );
        Some(Self {
            directory,
            _process: process,
        })
    }

    /// The URL of a database behind it.
    pub fn url(&self, database: &str) -> String {
        let host = self.directory.display();
        format!("postgres:///{database}?host={host}&port=6432&user=audit")
    }
}
