//! A session of PostgreSQL whose client hangs.

use crate::cluster::Cluster;
use std::io::Write;
use std::os::unix::net::UnixStream;

/// Version 3.0 of the protocol.
const PROTOCOL: i32 = 196_608;

/// The client's end of a session. It sends messages and never reads, like a node that is frozen. Closing it ends the session.
#[derive(Debug)]
pub struct StuckSession {
    client: UnixStream,
}

impl StuckSession {
    /// Runs statements. If their results exceed the buffers of the socket, the server blocks while it sends them.
    pub fn run(cluster: &Cluster, database: &str, statements: &str) -> Self {
        let socket = format!("{}/.s.PGSQL.5432", cluster.host());
        let client = UnixStream::connect(socket).expect("connect to the cluster");
        let mut session = Self { client };
        let startup = format!("user\0audit\0database\0{database}\0application_name\0stuck\0\0");
        session.send(None, &[&PROTOCOL.to_be_bytes()[..], startup.as_bytes()].concat());
        session.send(Some(b'Q'), format!("{statements}\0").as_bytes());
        session
    }

    /// Sends the first message of a statement, but not the others.
    pub fn begin_statement(&mut self, statement: &str) {
        // No name, the text, and no types of parameters.
        self.send(Some(b'P'), format!("\0{statement}\0\0\0").as_bytes());
    }

    fn send(&mut self, kind: Option<u8>, body: &[u8]) {
        let length = i32::try_from(body.len() + 4).expect("a short message");
        let mut message: Vec<u8> = kind.into_iter().collect();
        message.extend(length.to_be_bytes());
        message.extend(body);
        self.client.write_all(&message).expect("send to the cluster");
    }
}
