//! Who requests a change.

use crate::settings::Settings;
use audit_auth::{DestinationOwner, KeyHolder, MasterKey, Principal, ProjectKey, Viewer};
use audit_domain::{Context, KeyId};
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

impl From<&DestinationOwner> for Requester {
    fn from(owner: &DestinationOwner) -> Self {
        Self::from(&**owner)
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
}
