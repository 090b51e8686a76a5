//! PostgreSQL that serves TLS.

use crate::certificates::{CertificateAuthority, Identity};
use crate::cluster::{Cluster, ordinary_user, run};
use crate::edge::temporary_directory;
use crate::prerequisite::Prerequisite;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

/// The name in its certificate. It has no address: URLs give it by `hostaddr`.
const NAME: &str = "db.example";
const PASSWORD: &str = "correct-horse";
/// Who may connect over TCP: with TLS only. The role `audit` by password, `certified` by its client certificate.
const HOST_RULES: &str = "local all all trust\n\
     hostssl all certified all cert\n\
     hostssl all audit all scram-sha-256\n";

/// A cluster that accepts connections with TLS only over TCP, at an address of its own in 127.0.0.0/8.
#[expect(missing_debug_implementations, reason = "it holds private keys")]
pub struct TlsCluster {
    cluster: Cluster,
    address: String,
    /// Certificates and keys of clients.
    files: PathBuf,
}

impl TlsCluster {
    /// The one of this test process, or none where PostgreSQL's programs are missing (see the prerequisites of the tests).
    pub fn shared() -> Option<&'static Self> {
        static SHARED: OnceLock<Result<TlsCluster, String>> = OnceLock::new();
        let shared = SHARED.get_or_init(Self::create).as_ref();
        Prerequisite::Postgres.check(shared)
    }

    /// Debian's processes have numbers of up to 22 bits.
    fn own_address() -> String {
        let [_, high, middle, low] = std::process::id().to_be_bytes();
        format!("127.{}.{middle}.{low}", 64 + high % 128)
    }

    fn create() -> Result<Self, String> {
        let files = temporary_directory("postgres-tls-");
        let authority = CertificateAuthority::create("authority of databases");
        let write = |name: &str, text: &str| {
            let path = files.join(name);
            std::fs::write(&path, text).expect("write a certificate");
            // libpq refuses a key that others may read.
            std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o600)).expect("set permissions");
        };
        write("ca.pem", authority.pem());
        write(
            "other-ca.pem",
            CertificateAuthority::create("another authority").pem(),
        );
        let certified = authority.client("certified");
        write("client.pem", &certified.certificate);
        write("client.key", &certified.key);
        write("pgpass", &format!("*:*:*:audit:{PASSWORD}\n"));

        let server = authority.server(&[NAME]);
        let address = Self::own_address();
        let listen = format!("listen_addresses={address}");
        let settings = [
            &listen,
            "ssl=on",
            "ssl_cert_file=server.pem",
            "ssl_key_file=server.key",
            "ssl_ca_file=ca.pem",
        ];
        let cluster = Cluster::create_prepared(&settings, |data| prepare(data, &server, authority.pem()))?;
        cluster.execute(&format!("ALTER ROLE audit PASSWORD '{PASSWORD}'"));
        cluster.execute("CREATE ROLE certified SUPERUSER LOGIN");
        Ok(Self {
            cluster,
            address,
            files,
        })
    }

    /// A file of a client: `ca.pem`, `other-ca.pem` (which signed nothing), `client.pem`, `client.key`, `pgpass`.
    pub fn file(&self, name: &str) -> String {
        self.files.join(name).display().to_string()
    }

    /// The URL of a database for the user `audit` with its password, at the host of the certificate.
    pub fn url(&self, database: &str, parameters: &str) -> String {
        self.url_of(&format!("audit:{PASSWORD}@{NAME}/{database}"), parameters)
    }

    /// The URL for `USER@HOST/DATABASE`; each host leads to the cluster.
    pub fn url_of(&self, location: &str, parameters: &str) -> String {
        let address = &self.address;
        format!("postgres://{location}?hostaddr={address}&{parameters}")
    }

    /// The cluster, over its Unix socket.
    pub fn cluster(&self) -> &Cluster {
        &self.cluster
    }
}

/// Writes the certificate, the key and the rules into the data directory, as files of its owner.
fn prepare(data: &Path, server: &Identity, authority: &str) -> Result<(), String> {
    for (name, text) in [
        ("server.pem", server.certificate.as_str()),
        ("server.key", &server.key),
        ("ca.pem", authority),
        ("pg_hba.conf", HOST_RULES),
    ] {
        let path = data.join(name);
        std::fs::write(&path, text).map_err(|error| format!("{name}: {error}"))?;
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o600))
            .map_err(|error| format!("{name}: {error}"))?;
        if let Some(user) = ordinary_user()?
            .get(1)
            .and_then(|option| option.strip_prefix("--reuid="))
        {
            run(&["chown".into(), user.into(), path.display().to_string()])?;
        }
    }
    Ok(())
}
