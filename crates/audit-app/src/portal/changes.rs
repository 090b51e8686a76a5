//! The portal of a project, read and changed, and the link to it.

use super::{Portal, PortalChange};
use crate::error::Result;
use crate::reading::visible_tier;
use crate::self_audit::{Changed, Requester, ServiceEvent};
use crate::service::{AuditLog, Selection};
use audit_auth::{MasterKey, Principal, ViewerTokenText};
use audit_domain::ViewerRoute;

impl AuditLog {
    /// The portal of a project, for everybody who may read its events. For a viewer, `destination_kinds` is what it may create: none, unless
    /// its tier allows destinations.
    ///
    /// # Errors
    /// When the principal has no access to the project.
    pub fn portal(&self, principal: &Principal, selection: Selection) -> Result<Portal> {
        let (row, tier) = self.store.read(|reader| -> Result<_> {
            let scope = self.scope(reader, principal, selection)?;
            let tier = visible_tier(&scope, principal)?;
            Ok((reader.portal(scope.project.project.id)?, tier))
        })?;
        let portal = Portal::from_row(row)?;
        match tier.is_none_or(|tier| tier.allows(ViewerRoute::Destinations)) {
            true => Ok(portal),
            false => Ok(Portal {
                destination_kinds: Some(Vec::new()),
                ..portal
            }),
        }
    }

    /// Changes the portal of a project.
    ///
    /// # Errors
    /// When the principal has no access to the project, or the database cannot be written.
    pub fn change_portal(
        &self,
        master: &MasterKey,
        selection: Selection,
        change: PortalChange,
    ) -> Result<Portal> {
        let principal = &Principal::Master(*master);
        let project_id = self.project_id(principal, selection)?;
        self.change_project(project_id, &Requester::from(master), move |configurator| {
            let before = Portal::from_row(configurator.portal(project_id)?)?;
            let after = Portal {
                name: change.name.unwrap_or_else(|| before.name.clone()),
                logo: change.logo.unwrap_or_else(|| before.logo.clone()),
                destination_kinds: change
                    .destination_kinds
                    .unwrap_or_else(|| before.destination_kinds.clone()),
                sign_in_url: change.sign_in_url.unwrap_or_else(|| before.sign_in_url.clone()),
            };
            if after == before {
                return Ok(Changed::nothing(after));
            }
            configurator.set_portal(&after.to_row())?;
            let event = ServiceEvent::portal_updated(project_id, &before, &after);
            Ok(Changed::by(after, event))
        })
    }

    /// The link that opens the portal of the server at `base_url` with a viewer token, and with the key of the log for the proof
    /// mark. Both are in the fragment, which browsers do not send.
    ///
    /// # Errors
    /// When the key of the log cannot be read.
    pub fn portal_link(&self, base_url: &str, token: &ViewerTokenText) -> Result<String> {
        // The fragment is read as a form, in which a plus sign is a space.
        let key = self.log_key()?.to_string().replace('+', "%2B");
        Ok(format!("{base_url}/portal#token={}&key={key}", token.as_str()))
    }
}
