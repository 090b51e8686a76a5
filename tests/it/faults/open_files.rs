//! A process without a free file descriptor.

use super::{Acknowledged, wait_until_ready};
use audit_tests::{Client, Database, DatabaseKind, Organization, Server, command_line_on, few_open_files};
use std::net::TcpStream;

/// Enough to start, and few beyond that.
const OPEN_FILES: u32 = 96;
/// Connections of a proxy, which have no share, so that they can take all of them.
const CONNECTIONS: usize = 200;

#[test]
fn without_a_free_descriptor_open_connections_are_served_and_new_ones_wait() {
    let Some(prefix) = few_open_files(OPEN_FILES) else {
        return;
    };
    let database = Database::create(DatabaseKind::Sqlite);
    let environment = [("AUDIT_TRUSTED_PROXIES", "127.0.0.1")];
    let server = Server::start_under(&database, &environment, &prefix);
    server.wait_for_log("only 96 files may be open; raise LimitNOFILE or `ulimit -n`");
    let organization = Organization::create(&server, "enterprise");
    let mut acknowledged = Acknowledged::default();
    let project: Client = organization.project();
    acknowledged.store(&project, "before");
    let address = server.base_url().strip_prefix("http://").expect("a URL");
    let connections: Vec<TcpStream> = (0..CONNECTIONS)
        .map(|_| TcpStream::connect(address).expect("the kernel accepts"))
        .collect();
    server.wait_for_log("Too many open files");
    (0..20).for_each(|number| {
        acknowledged.send(&project, &format!("during-{number}"));
    });
    drop(connections);
    wait_until_ready(&server, true);
    (0..20).for_each(|number| acknowledged.store_in_the_end(&project, &format!("during-{number}")));
    acknowledged.assert_kept(&project, &[]);
    server.kill();
    let server = Server::start(&database, &[]);
    acknowledged.assert_kept(&organization.on(&server).project(), &[]);
    server.stop();
    command_line_on(&database, &["log", "verify"]).success();
}
