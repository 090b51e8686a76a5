//! The portals of projects: name, logo, what tenants may create, and where readers sign in.

use super::schema::portals;
use crate::access::{Configurator, Reader};
use crate::columns::{read_list, write_list};
use crate::error::Result;
use audit_domain::ProjectId;
use diesel::prelude::*;

/// What the portal of a project shows, as stored.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[expect(missing_docs, reason = "the fields are the columns")]
pub struct PortalRow {
    pub name: Option<String>,
    pub logo: Option<PortalLogoRow>,
    /// The kinds of destinations that tenants may create, as text; `None` for all.
    pub destination_kinds: Option<Vec<String>>,
    pub sign_in_url: Option<String>,
}

/// A logo, as stored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PortalLogoRow {
    /// Its media type.
    pub media_type: String,
    /// The file.
    pub bytes: Vec<u8>,
}

type Columns = (
    portals::name,
    portals::logo_type,
    portals::logo,
    portals::destination_kinds,
    portals::sign_in_url,
);
type Row = (
    Option<String>,
    Option<String>,
    Option<Vec<u8>>,
    Option<String>,
    Option<String>,
);
const COLUMNS: Columns = (
    portals::name,
    portals::logo_type,
    portals::logo,
    portals::destination_kinds,
    portals::sign_in_url,
);

impl Reader<'_> {
    /// What the portal of a project shows.
    ///
    /// # Errors
    /// When the database cannot be queried.
    pub fn portal(&mut self, project_id: ProjectId) -> Result<PortalRow> {
        let row = portals::table
            .find(project_id.to_string())
            .select(COLUMNS)
            .get_result::<Row>(self.session())
            .optional()?;
        let (name, logo_type, logo, destination_kinds, sign_in_url) = row.unwrap_or_default();
        let logo = logo_type
            .zip(logo)
            .map(|(media_type, bytes)| PortalLogoRow { media_type, bytes });
        let destination_kinds = destination_kinds
            .map(|text| read_list(&text, "kind of destination"))
            .transpose()?;
        Ok(PortalRow {
            name,
            logo,
            destination_kinds,
            sign_in_url,
        })
    }

    /// Where readers of the portal of a project sign in; `None` also where there is no such project.
    ///
    /// # Errors
    /// When the database cannot be queried.
    pub fn sign_in_url(&mut self, project_id: ProjectId) -> Result<Option<String>> {
        let url = portals::table
            .find(project_id.to_string())
            .select(portals::sign_in_url)
            .get_result::<Option<String>>(self.session())
            .optional()?;
        Ok(url.flatten())
    }
}

impl Configurator<'_, ProjectId> {
    /// Replaces what the portal of the project shows.
    ///
    /// # Errors
    /// When the database cannot be written.
    pub fn set_portal(&mut self, portal: &PortalRow) -> Result<()> {
        let project_id = self.owner().to_string();
        // No node caches it, and the owner is locked, so no other transaction inserts the row meanwhile.
        let session = self.uncached_session();
        diesel::delete(portals::table.find(&project_id)).execute(session)?;
        let logo = portal.logo.as_ref();
        diesel::insert_into(portals::table)
            .values((
                portals::project_id.eq(&project_id),
                portals::name.eq(portal.name.as_deref()),
                portals::logo_type.eq(logo.map(|logo| logo.media_type.as_str())),
                portals::logo.eq(logo.map(|logo| logo.bytes.as_slice())),
                portals::destination_kinds.eq(portal.destination_kinds.as_deref().map(write_list)),
                portals::sign_in_url.eq(portal.sign_in_url.as_deref()),
            ))
            .execute(session)?;
        Ok(())
    }
}
