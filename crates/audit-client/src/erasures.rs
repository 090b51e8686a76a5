//! Erasures of persons from the log of one environment.

use crate::administration::Object;
use crate::client::Client;
use crate::error::Error;
use crate::pages::{Pages, objects, segment};
use crate::reading::object;
use serde_json::{Value, json};

impl Client {
    /// The erasures, newest first, without the cancelled ones. Master key.
    ///
    /// # Errors
    /// [`Error::Api`], [`Error::Network`].
    pub fn erasures(&self) -> Result<Vec<Object>, Error> {
        let path = self.in_environment("/erasures");
        objects(&self.get(&path)?, "erasures").map(Vec::from)
    }

    /// One erasure, with its state and what it cannot reach. Master key.
    ///
    /// # Errors
    /// [`Error::Api`] with the status 404 if there is none, [`Error::Network`].
    pub fn erasure(&self, id: &str) -> Result<Object, Error> {
        object(self.get(&self.erasure_path(id, "")?)?, "erasure")
    }

    /// Begins to list the events that name a person: `identifiers` (`ids` match whole values, `texts` match words), `basis`, and optionally
    /// `extent` and `ticket`, which enters the log for ever: no name, no address. Nothing is erased before
    /// [`confirm_erasure`](Self::confirm_erasure). Master key.
    ///
    /// # Errors
    /// [`Error::Api`], [`Error::Network`].
    pub fn request_erasure(&self, members: &Value) -> Result<Object, Error> {
        let path = self.in_environment("/erasures");
        object(self.send("POST", path, Some(members), true)?, "erasure")
    }

    /// The events of the list with the parts that go, `limit` (1 to 200) on a page. Master key.
    ///
    /// # Errors
    /// [`Error::Argument`] for an id that is none.
    pub fn erasure_events(&self, id: &str, limit: u32) -> Result<Pages, Error> {
        let path = format!("/erasures/{}/events", segment(id)?);
        let params = vec![("limit".into(), limit.to_string())];
        Ok(Pages::new(self, path, "events", params))
    }

    /// Takes events out of the list, up to 100 by their positions. The digest is another one then. Master key.
    ///
    /// # Errors
    /// [`Error::Api`] with the status 409 if it is not listed, [`Error::Network`].
    pub fn exclude_from_erasure(&self, id: &str, seqs: &[u64]) -> Result<Object, Error> {
        let path = self.erasure_path(id, "/exclude")?;
        let body = json!({"seqs": seqs});
        object(self.send("POST", path, Some(&body), true)?, "erasure")
    }

    /// Plans the erasure of the list that has this digest. It is carried out after the grace period. Master key.
    ///
    /// # Errors
    /// [`Error::Api`] with the status 409 if the list is another one by now, [`Error::Network`].
    pub fn confirm_erasure(&self, id: &str, digest: &str) -> Result<Object, Error> {
        let path = self.erasure_path(id, "/confirm")?;
        let body = json!({"digest": digest});
        object(self.send("POST", path, Some(&body), true)?, "erasure")
    }

    /// Cancels an erasure until the end of its grace period. Its list is deleted. Master key.
    ///
    /// # Errors
    /// [`Error::Api`] with the status 409 if it is carried out already, [`Error::Network`].
    pub fn cancel_erasure(&self, id: &str) -> Result<(), Error> {
        let path = self.erasure_path(id, "")?;
        self.send("DELETE", path, None, false).map(drop)
    }

    fn erasure_path(&self, id: &str, step: &str) -> Result<String, Error> {
        Ok(self.in_environment(&format!("/erasures/{}{step}", segment(id)?)))
    }
}
