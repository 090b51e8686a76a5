//! All stored secrets, to encrypt them again. [`SecretRow`] names every table that has some.

use super::destinations::DestinationRow;
use super::schema::{destinations, secrets, viewer_secrets, webhook_secrets, webhooks};
use crate::access::{Reader, Writer};
use crate::error::Result;
use diesel::prelude::*;

/// The row of a secret.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum SecretRow {
    /// Of the service itself, by name. Some of these are not secret, such as the name of the log.
    Service(String),
    /// Signs viewer tokens, by `kid`.
    Viewer(String),
    /// Signs the deliveries of a webhook: its id, and the number of the secret.
    Webhook(String, i64),
    /// The URL of a webhook: the ids of the webhook and of its project. Its path is often all that protects a receiver.
    WebhookUrl(String, String),
    /// The configuration of a destination, present or previous: the ids of the destination and of its project.
    Destination(String, String),
}

/// A secret as it is stored.
#[derive(Clone, PartialEq, Eq)]
pub struct StoredSecret {
    /// Its row.
    pub row: SecretRow,
    /// As stored: encrypted or not.
    pub secret: Vec<u8>,
}

/// Without the secret.
impl std::fmt::Debug for StoredSecret {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter
            .debug_struct("StoredSecret")
            .field("row", &self.row)
            .finish_non_exhaustive()
    }
}

impl Reader<'_> {
    /// Every row that has a secret, in order, expired ones included.
    ///
    /// # Errors
    /// When the database cannot be queried.
    pub fn stored_secrets(&mut self) -> Result<Vec<StoredSecret>> {
        let of_service: Vec<(String, Vec<u8>)> = secrets::table
            .order(secrets::name)
            .select((secrets::name, secrets::secret))
            .load(self.session())?;
        let of_viewers: Vec<(String, Vec<u8>)> = viewer_secrets::table
            .order(viewer_secrets::kid)
            .select((viewer_secrets::kid, viewer_secrets::secret))
            .load(self.session())?;
        let of_webhooks: Vec<(String, i64, Vec<u8>)> = webhook_secrets::table
            .order((webhook_secrets::webhook_id, webhook_secrets::number))
            .select((
                webhook_secrets::webhook_id,
                webhook_secrets::number,
                webhook_secrets::secret,
            ))
            .load(self.session())?;
        // Of deleted ones too: their rows stay until their deliveries are removed.
        let urls: Vec<(String, String, Vec<u8>)> = webhooks::table
            .order(webhooks::id)
            .select((webhooks::id, webhooks::project_id, webhooks::url))
            .load(self.session())?;
        let configurations = destinations::table
            .order(destinations::id)
            .select(DestinationRow::as_select())
            .load(self.session())?;
        let stored = |row, secret| StoredSecret { row, secret };
        let of_service = of_service.into_iter();
        let of_service = of_service.map(|(name, secret)| stored(SecretRow::Service(name), secret));
        let of_viewers = of_viewers.into_iter();
        let of_viewers = of_viewers.map(|(kid, secret)| stored(SecretRow::Viewer(kid), secret));
        let of_webhooks = of_webhooks.into_iter();
        let of_webhooks =
            of_webhooks.map(|(id, number, secret)| stored(SecretRow::Webhook(id, number), secret));
        let urls = urls.into_iter();
        let urls = urls.map(|(id, project, url)| stored(SecretRow::WebhookUrl(id, project), url));
        let of_destinations = configurations.into_iter().flat_map(|destination| {
            let row = SecretRow::Destination(destination.id, destination.project_id);
            let configs = [Some(destination.config), destination.previous_config]
                .into_iter()
                .flatten();
            configs.map(move |config| stored(row.clone(), config))
        });
        Ok(of_service
            .chain(of_viewers)
            .chain(of_webhooks)
            .chain(urls)
            .chain(of_destinations)
            .collect())
    }
}

impl Writer<'_> {
    /// Stores the same secret in another form. `false`, and nothing is changed, when `before` is no longer what is stored.
    ///
    /// # Errors
    /// When the database cannot be written.
    pub fn replace_secret(&mut self, before: &StoredSecret, after: &[u8]) -> Result<bool> {
        let present = &before.secret;
        let replaced = match &before.row {
            SecretRow::Service(name) => {
                let row = secrets::table.find(name).filter(secrets::secret.eq(present));
                let update = diesel::update(row).set(secrets::secret.eq(after));
                update.execute(self.session())?
            }
            SecretRow::Viewer(kid) => {
                let row = viewer_secrets::table
                    .find(kid)
                    .filter(viewer_secrets::secret.eq(present));
                let update = diesel::update(row).set(viewer_secrets::secret.eq(after));
                update.execute(self.session())?
            }
            SecretRow::Webhook(id, number) => {
                let row = webhook_secrets::table
                    .find((id, number))
                    .filter(webhook_secrets::secret.eq(present));
                let update = diesel::update(row).set(webhook_secrets::secret.eq(after));
                update.execute(self.session())?
            }
            SecretRow::WebhookUrl(id, _) => {
                let row = webhooks::table.find(id).filter(webhooks::url.eq(present));
                let update = diesel::update(row).set(webhooks::url.eq(after));
                update.execute(self.session())?
            }
            SecretRow::Destination(id, _) => {
                let row = destinations::table.find(id);
                let row = row.filter(destinations::config.eq(present));
                let update = diesel::update(row).set(destinations::config.eq(after));
                let replaced = update.execute(self.session())?;
                let row = destinations::table.find(id);
                let row = row.filter(destinations::previous_config.eq(present));
                let update = diesel::update(row).set(destinations::previous_config.eq(after));
                replaced + update.execute(self.session())?
            }
        };
        Ok(replaced > 0)
    }
}
