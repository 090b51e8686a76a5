//! Viewer tiers, and the secrets that sign viewer tokens.

use super::owner::Deployment;
use super::schema::{viewer_secrets, viewer_tiers};
use crate::access::{Configurator, Reader};
use crate::columns::{read_list, stored, write_list};
use crate::database::AnySession;
use crate::error::Result;
use audit_domain::{ActionGlob, Category, ProjectId, TierName, Timestamp, ViewerRoute, ViewerTier};
use diesel::prelude::*;

/// A tier with the time of its creation: older tokens were issued for another tier of the same name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredTier {
    /// The tier.
    pub tier: ViewerTier,
    /// When it was created.
    pub created_at: Timestamp,
}

type TierRow = (
    String,
    String,
    Option<String>,
    Option<String>,
    String,
    Option<String>,
    i64,
);

fn read_tier(
    (_, name, categories, actions, hidden_fields, routes, created_at): TierRow,
) -> Result<StoredTier> {
    Ok(StoredTier {
        tier: ViewerTier {
            name: stored(&name, "tier name")?,
            categories: categories
                .map(|text| read_list::<Category>(&text, "category"))
                .transpose()?,
            actions: actions
                .map(|text| read_list::<ActionGlob>(&text, "action pattern"))
                .transpose()?,
            hidden_fields: read_list(&hidden_fields, "hidden field")?,
            routes: routes
                .map(|text| read_list::<ViewerRoute>(&text, "route of a tier"))
                .transpose()?,
        },
        created_at: Timestamp::from_micros(created_at),
    })
}

/// Tiers.
#[expect(
    clippy::missing_errors_doc,
    reason = "all fail only when the database cannot be queried"
)]
impl Reader<'_> {
    /// The tiers of a project, by creation and then name.
    pub fn tiers(&mut self, project_id: ProjectId) -> Result<Vec<StoredTier>> {
        let rows = viewer_tiers::table
            .filter(viewer_tiers::project_id.eq(project_id.to_string()))
            .order((viewer_tiers::created_at, viewer_tiers::name))
            .load::<TierRow>(self.session())?;
        rows.into_iter().map(read_tier).collect()
    }
}

#[expect(
    clippy::missing_errors_doc,
    reason = "all fail only when the database cannot be written"
)]
impl Configurator<'_, ProjectId> {
    /// Adds a tier; [`crate::StoreError::Duplicate`] when the project has one of this name.
    pub fn insert_tier(&mut self, tier: &ViewerTier, now: Timestamp) -> Result<()> {
        let project_id = self.owner();
        insert_tier(self.session()?, project_id, tier, now)
    }

    /// Replaces the settings of a tier. Its name and time of creation stay.
    pub fn update_tier(&mut self, tier: &ViewerTier) -> Result<()> {
        let row = viewer_tiers::table.find((self.owner().to_string(), tier.name.as_str().to_owned()));
        self.change_if_found(|session| {
            let updated = diesel::update(row)
                .set((
                    viewer_tiers::categories.eq(tier.categories.as_deref().map(write_list)),
                    viewer_tiers::actions.eq(tier.actions.as_deref().map(write_list)),
                    viewer_tiers::hidden_fields.eq(write_list(&tier.hidden_fields)),
                    viewer_tiers::routes.eq(tier.routes.as_deref().map(write_list)),
                ))
                .execute(session)?;
            Ok(updated > 0)
        })?;
        Ok(())
    }

    /// Removes a tier; `false` when there is none.
    pub fn delete_tier(&mut self, name: &TierName) -> Result<bool> {
        let row = viewer_tiers::table.find((self.owner().to_string(), name.as_str().to_owned()));
        self.change_if_found(|session| Ok(diesel::delete(row).execute(session)? > 0))
    }
}

/// Adds a tier to a project.
pub(super) fn insert_tier(
    session: &mut AnySession,
    project_id: ProjectId,
    tier: &ViewerTier,
    now: Timestamp,
) -> Result<()> {
    diesel::insert_into(viewer_tiers::table)
        .values((
            viewer_tiers::project_id.eq(project_id.to_string()),
            viewer_tiers::name.eq(tier.name.as_str()),
            viewer_tiers::categories.eq(tier.categories.as_deref().map(write_list)),
            viewer_tiers::actions.eq(tier.actions.as_deref().map(write_list)),
            viewer_tiers::hidden_fields.eq(write_list(&tier.hidden_fields)),
            viewer_tiers::routes.eq(tier.routes.as_deref().map(write_list)),
            viewer_tiers::created_at.eq(now.as_micros()),
        ))
        .execute(session)?;
    Ok(())
}

/// A signing secret and the time of its retirement.
#[derive(Clone)]
pub struct StoredViewerSecret {
    /// Its name in the header of tokens.
    pub kid: String,
    /// The secret as it is stored, which may be encrypted.
    pub secret: Vec<u8>,
    /// When it stopped signing; it verifies until its last token has expired.
    pub retired_at: Option<Timestamp>,
}

/// Without the secret.
impl std::fmt::Debug for StoredViewerSecret {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter
            .debug_struct("StoredViewerSecret")
            .field("kid", &self.kid)
            .field("retired_at", &self.retired_at)
            .finish_non_exhaustive()
    }
}

/// Signing secrets.
#[expect(
    clippy::missing_errors_doc,
    reason = "all fail only when the database cannot be queried"
)]
impl Reader<'_> {
    /// The signing secrets, newest first.
    pub fn viewer_secrets(&mut self) -> Result<Vec<StoredViewerSecret>> {
        let rows = viewer_secrets::table
            .order((viewer_secrets::created_at.desc(), viewer_secrets::kid))
            .select((
                viewer_secrets::kid,
                viewer_secrets::secret,
                viewer_secrets::retired_at,
            ))
            .load::<(String, Vec<u8>, Option<i64>)>(self.session())?;
        let read = |(kid, secret, retired_at): (String, Vec<u8>, Option<i64>)| StoredViewerSecret {
            kid,
            secret,
            retired_at: retired_at.map(Timestamp::from_micros),
        };
        Ok(rows.into_iter().map(read).collect())
    }
}

#[expect(
    clippy::missing_errors_doc,
    reason = "all fail only when the database cannot be written"
)]
impl Configurator<'_, Deployment> {
    /// Makes `secret` the one that signs. The present one is retired; those retired before `forget_before` are deleted.
    pub fn rotate_viewer_secret(
        &mut self,
        (kid, secret): (&str, &[u8]),
        now: Timestamp,
        forget_before: Timestamp,
    ) -> Result<()> {
        // The secrets are read at each use.
        diesel::delete(
            viewer_secrets::table.filter(viewer_secrets::retired_at.lt(forget_before.as_micros())),
        )
        .execute(self.uncached_session())?;
        diesel::update(viewer_secrets::table.filter(viewer_secrets::retired_at.is_null()))
            .set(viewer_secrets::retired_at.eq(Some(now.as_micros())))
            .execute(self.uncached_session())?;
        diesel::insert_into(viewer_secrets::table)
            .values((
                viewer_secrets::kid.eq(kid),
                viewer_secrets::secret.eq(secret),
                viewer_secrets::created_at.eq(now.as_micros()),
            ))
            .execute(self.uncached_session())?;
        Ok(())
    }
}
