//! The configuration of a destination, made of what a request has.

use super::access::Access;
use super::{Destination, DestinationFilter, open_config};
use crate::error::Result;
use crate::secrets;
use crate::service::AuditLog;
use audit_destinations::{Config, Kind, OcsfClasses, RecordFormat, check_format};
use audit_domain::{Name, Violations};
use audit_secrets::{KeyRing, NONCE_BYTES, Zeroizing};
use audit_store::DestinationRow;
use audit_webhooks::{AddressPolicy, WebhookSecret};
use serde_json::{Map, Value};

/// The credential of [`Kind::Https`] that the service makes where a request has none.
const SIGNING_SECRET: &str = "signing_secret";

/// A change to a destination. What is absent stays. It has no `Debug`, which would show credentials.
#[derive(Clone, Default)]
#[expect(missing_docs, reason = "as in NewDestination")]
pub struct DestinationChange {
    pub name: Option<Name>,
    pub format: Option<RecordFormat>,
    pub include_raw: Option<bool>,
    /// All items.
    pub ocsf_classes: Option<OcsfClasses>,
    pub filter: Option<DestinationFilter>,
    /// All settings. They need the credentials as well: stored ones are sent nowhere but where they were given for.
    pub settings: Option<Value>,
    /// All credentials.
    pub credentials: Option<Value>,
    /// `false` also resumes a parked destination.
    pub paused: Option<bool>,
}

/// What making a configuration needs, drawn before the transaction.
pub(super) struct ConfigParts {
    pub(super) keys: KeyRing,
    policy: AddressPolicy,
    secret: WebhookSecret,
    nonce: [u8; NONCE_BYTES],
}

impl ConfigParts {
    pub(super) fn of(service: &AuditLog, access: &Access) -> Self {
        Self {
            keys: service.settings.encryption.clone(),
            policy: access.addresses(service.settings.webhook_addresses),
            secret: WebhookSecret::from_bytes(service.entropy.bytes()),
            nonce: service.entropy.bytes(),
        }
    }

    /// Checks settings and credentials. Returns also the signing secret, if it is the new one.
    pub(super) fn parse(
        &self,
        kind: Kind,
        settings: &Value,
        mut credentials: Value,
    ) -> Result<(Config, Option<WebhookSecret>)> {
        if credentials.is_null() {
            credentials = Value::Object(Map::new());
        }
        let mut made = None;
        if let (Kind::Https, Value::Object(members)) = (kind, &mut credentials)
            && members.get(SIGNING_SECRET).is_none_or(Value::is_null)
        {
            members.insert(SIGNING_SECRET.to_owned(), self.secret.to_text().into());
            made = Some(self.secret.clone());
        }
        Ok((Config::parse(kind, settings, &credentials, self.policy)?, made))
    }

    pub(super) fn seal(&self, config: &Config, id: &str, project_id: &str) -> Vec<u8> {
        let text = Zeroizing::new(config.to_stored());
        self.keys.seal(
            text.as_bytes(),
            &secrets::of_destination(id, project_id),
            self.nonce,
        )
    }
}

pub(super) fn check_record_format(kind: Kind, format: RecordFormat) -> Result<()> {
    check_format(kind, format).map_err(|message| Violations::one("format", message).into())
}

/// What a change makes of a destination.
pub(super) struct ChangedDestination {
    pub(super) row: DestinationRow,
    /// The signing secret, if it is new.
    pub(super) made: Option<WebhookSecret>,
}

impl DestinationChange {
    /// Whether it changes nothing but whether events are sent.
    pub(super) fn only_pauses(&self) -> bool {
        let Self {
            name,
            format,
            include_raw,
            ocsf_classes,
            filter,
            settings,
            credentials,
            paused: _,
        } = self;
        name.is_none()
            && format.is_none()
            && include_raw.is_none()
            && ocsf_classes.is_none()
            && filter.is_none()
            && settings.is_none()
            && credentials.is_none()
    }

    /// The destination after the change.
    ///
    /// # Errors
    /// Names the fields that are not as they must be.
    pub(super) fn apply(
        &self,
        row: &DestinationRow,
        before: &Destination,
        parts: &ConfigParts,
    ) -> Result<ChangedDestination> {
        let format = self.format.unwrap_or(before.format);
        check_record_format(before.kind, format)?;
        let filter = self.filter.as_ref().unwrap_or(&before.filter);
        let changed = DestinationRow {
            name: self
                .name
                .as_ref()
                .map_or_else(|| row.name.clone(), Name::to_string),
            format: format.to_string(),
            include_raw: self.include_raw.unwrap_or(row.include_raw),
            ocsf_classes: self.ocsf_classes.as_ref().map_or_else(
                || row.ocsf_classes.clone(),
                |classes| classes.to_json().to_string(),
            ),
            filter: filter.to_json().to_string(),
            paused: self.paused.unwrap_or(row.paused),
            ..row.clone()
        };
        match (&self.settings, &self.credentials) {
            (None, None) => Ok(ChangedDestination {
                row: changed,
                made: None,
            }),
            (Some(_), None)
                if !before.credentials.is_empty() || open_config(&row.config, row, &parts.keys).is_err() =>
            {
                let message =
                    "is required with settings: stored credentials are not sent to another receiver";
                Err(Violations::one("credentials", message).into())
            }
            (settings, credentials) => {
                let settings = settings.as_ref().unwrap_or(&before.settings);
                let credentials = credentials.clone().unwrap_or(Value::Null);
                let (config, made) = parts.parse(before.kind, settings, credentials)?;
                // Where only the credentials change, the last ones that worked are kept until the new ones do. Otherwise the
                // receiver is another one, and the former gets nothing more.
                let is_same_receiver = config.settings() == before.settings;
                let last_working = || row.previous_config.clone().or_else(|| Some(row.config.clone()));
                Ok(ChangedDestination {
                    row: DestinationRow {
                        config: parts.seal(&config, &row.id, &row.project_id),
                        previous_config: is_same_receiver.then(last_working).flatten(),
                        ..changed
                    },
                    made,
                })
            }
        }
    }
}
