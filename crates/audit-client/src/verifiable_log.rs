//! The verifiable log.

use crate::administration::Object;
use crate::client::Client;
use crate::error::Error;
use crate::pages::{segment, with_query};
use crate::transport::Call;
use serde_json::Value;

/// The log of the client's project and environment: what auditors and viewers read of it. `docs/ledger.md` has the formats.
#[derive(Clone, Copy, Debug)]
pub struct Log<'a> {
    client: &'a Client,
}

impl Client {
    /// The verifiable log.
    pub fn log(&self) -> Log<'_> {
        Log { client: self }
    }
}

impl Log<'_> {
    fn text(&self, path: &str) -> Result<String, Error> {
        let path = self.client.in_environment(path);
        self.client.shared.transport.text(Call::new("GET", path))
    }

    /// The key that verifies proofs and checkpoints. Compare it with the one that the operator gave you over another channel.
    ///
    /// # Errors
    /// [`Error::Api`], [`Error::Network`].
    pub fn key(&self) -> Result<String, Error> {
        let key = self.client.shared.transport.text(Call::new("GET", "/log/key"))?;
        Ok(key.trim().to_owned())
    }

    /// The statements by which each key names the next one.
    ///
    /// # Errors
    /// [`Error::Api`], [`Error::Network`].
    pub fn key_rotations(&self) -> Result<String, Error> {
        let call = Call::new("GET", "/log/key/rotations");
        self.client.shared.transport.text(call)
    }

    /// The latest signed checkpoint, a note for `verify_checkpoint`.
    ///
    /// # Errors
    /// [`Error::Api`], [`Error::Network`].
    pub fn checkpoint(&self) -> Result<String, Error> {
        self.text("/log/checkpoint")
    }

    /// The last checkpoint that a quorum of witnesses has cosigned.
    ///
    /// # Errors
    /// [`Error::Api`] with the status 404 if there is none.
    pub fn cosigned_checkpoint(&self) -> Result<String, Error> {
        self.text("/log/checkpoint?cosigned=true")
    }

    /// Hashes of the tree, by the path of a tile behind `tile/`: `0/000`, `entries/000.p/12` (C2SP tlog-tiles).
    ///
    /// # Errors
    /// [`Error::Api`] with the status 404 for a tile that the tree does not have.
    pub fn tile(&self, path: &str) -> Result<Vec<u8>, Error> {
        for step in path.split('/') {
            segment(step)?;
        }
        let path = self.client.in_environment(&format!("/log/tile/{path}"));
        let call = Call::new("GET", path).accept("application/octet-stream");
        self.client
            .shared
            .transport
            .blocking(&call, |body| Ok(body.to_vec()))
    }

    /// The proof that the log of `to` events continues that of `from` events, for `verify_consistency`.
    ///
    /// # Errors
    /// [`Error::Api`] with the status 400 for a size that the log never had.
    pub fn consistency(&self, from: u64, to: u64) -> Result<Value, Error> {
        let path = format!("/log/consistency?from={from}&to={to}");
        self.client.get(&self.client.in_environment(&path))
    }

    /// The proof of all events of a tenant, for `verify_completeness`. A viewer token has a tenant; keys name one.
    ///
    /// # Errors
    /// [`Error::Api`], [`Error::Network`].
    pub fn completeness(&self, tenant_id: Option<&str>) -> Result<Value, Error> {
        let path = with_query("/log/completeness", tenant_id.map(|id| ("tenant_id", id)));
        self.client.get(&self.client.in_environment(&path))
    }

    /// For auditors: the signed map of all tenants, its key, and the size of the log to which it is bound.
    ///
    /// # Errors
    /// [`Error::Api`], [`Error::Network`].
    pub fn tenants(&self) -> Result<Object, Error> {
        match self.client.get(&self.client.in_environment("/log/tenants"))? {
            Value::Object(map) => Ok(map),
            _ => Err(Error::network("the response is not an object")),
        }
    }
}
