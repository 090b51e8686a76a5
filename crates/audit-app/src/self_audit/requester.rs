//! Who requests a change.

use crate::error::{AppError, Result};
use crate::service::AuditLog;
use crate::settings::Settings;
use audit_auth::{KeyHolder, MasterKey, Principal, ProjectKey, Viewer};
use audit_domain::{Actor, ActorType, Context, KeyId, SERVICE_TENANT_ID};
use audit_store::EventSender;
use std::net::IpAddr;

/// Who requests a change, as its event names them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Requester {
    /// The operator, by the command line.
    Operator,
    /// The holder of a master key or a project key.
    Key {
        /// The key.
        id: KeyId,
        /// The address of the client, if it is known.
        client: Option<IpAddr>,
    },
    /// The holder of a viewer token.
    Viewer {
        /// The tenant of the token.
        tenant_id: String,
        /// The id of the token.
        token_id: String,
        /// The address of the client, if it is known.
        client: Option<IpAddr>,
    },
    /// The service itself.
    Service,
}

/// The actor of changes by the command line.
const OPERATOR: &str = "operator";

impl From<&MasterKey> for Requester {
    fn from(key: &MasterKey) -> Self {
        Self::Key {
            id: key.key_id,
            client: key.client,
        }
    }
}

impl From<&ProjectKey> for Requester {
    fn from(key: &ProjectKey) -> Self {
        Self::Key {
            id: key.key_id,
            client: key.client,
        }
    }
}

impl From<&Viewer> for Requester {
    fn from(viewer: &Viewer) -> Self {
        Self::Viewer {
            tenant_id: viewer.tenant_id.clone(),
            token_id: viewer.token_id.clone(),
            client: viewer.client,
        }
    }
}

impl From<&Principal> for Requester {
    fn from(principal: &Principal) -> Self {
        match principal {
            Principal::Master(key) => key.into(),
            Principal::Project(key) => key.into(),
            Principal::Viewer(viewer) => viewer.into(),
        }
    }
}

impl From<&KeyHolder> for Requester {
    fn from(holder: &KeyHolder) -> Self {
        Self::from(&**holder)
    }
}

impl Requester {
    /// The sender of the events that the request brings; `None` without a key.
    pub(crate) fn sender(&self, settings: &Settings) -> Option<EventSender> {
        match self {
            Self::Key { id, client } => Some(settings.sender(*id, *client)),
            Self::Operator | Self::Viewer { .. } | Self::Service => None,
        }
    }

    /// From where the request came.
    pub(super) fn context(&self) -> Option<Context> {
        let (client, token_id) = match self {
            Self::Key { client, .. } => (client, None),
            Self::Viewer { client, token_id, .. } => (client, Some(token_id)),
            Self::Operator | Self::Service => return None,
        };
        let context = Context {
            ip_address: client.map(|address| address.to_canonical().to_string()),
            session_id: token_id.cloned(),
            ..Context::default()
        };
        Some(context).filter(|context| *context != Context::default())
    }

    /// The actor of an event. Reads the name of a key.
    pub(super) fn actor(&self, service: &AuditLog) -> Result<Actor> {
        let (id, actor_type, name) = match self {
            Self::Operator => (
                OPERATOR.to_owned(),
                ActorType::System,
                Some("command line".to_owned()),
            ),
            Self::Service => (SERVICE_TENANT_ID.to_owned(), ActorType::System, None),
            Self::Key { id, .. } => (id.to_string(), ActorType::ApiKey, service.key_name(*id)?),
            Self::Viewer { tenant_id, .. } => (
                tenant_id.clone(),
                ActorType::User,
                Some("viewer token".to_owned()),
            ),
        };
        Ok(Actor {
            id,
            actor_type,
            name,
            email: None,
        })
    }
}

impl AuditLog {
    /// The name of a key, which the home cell has if this cell does not.
    fn key_name(&self, id: KeyId) -> Result<Option<String>> {
        let found = match self.store.read(|reader| reader.key(id))? {
            None if self.is_cell() => self.home_store.read(|reader| reader.key(id))?,
            found => found,
        };
        Ok::<_, AppError>(found.map(|key| key.name))
    }
}
