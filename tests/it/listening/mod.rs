//! Where and how the server listens: TLS, Unix sockets, an address of its own for the metrics.

mod metrics;
mod reload;
mod tls;
mod unix;

use audit_tests::{Database, DatabaseKind, Identity, Server, temporary_directory};
use std::path::{Path, PathBuf};

/// The files of a certificate and its key, in a directory of their own.
struct Files {
    directory: PathBuf,
}

impl Files {
    fn new(identity: &Identity) -> Self {
        let directory = temporary_directory("tls-");
        identity_into(&directory, identity);
        Self { directory }
    }

    fn path(&self, name: &str) -> String {
        let path = self.directory.join(name);
        path.to_str().expect("a path in UTF-8").to_owned()
    }

    fn write(&self, name: &str, text: &str) {
        std::fs::write(self.directory.join(name), text).expect("write a file");
    }

    /// Starts a server with these files and variables.
    fn serve(&self, environment: &[(&str, &str)]) -> Server {
        self.serve_on(&Database::create(DatabaseKind::Sqlite), environment)
    }

    fn serve_on(&self, database: &Database, environment: &[(&str, &str)]) -> Server {
        let (certificate, key) = (self.path("certificate.pem"), self.path("key.pem"));
        let tls = [
            ("AUDIT_TLS_CERTIFICATE", certificate.as_str()),
            ("AUDIT_TLS_KEY", &key),
        ];
        Server::start(database, &[&tls, environment].concat())
    }
}

/// Writes a certificate and its key into a directory.
fn identity_into(directory: &Path, identity: &Identity) {
    for (name, text) in [
        ("certificate.pem", &identity.certificate),
        ("key.pem", &identity.key),
    ] {
        std::fs::write(directory.join(name), text).expect("write a file");
    }
}
