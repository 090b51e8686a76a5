//! The cell of a request.

use crate::authentication::Presented;
use crate::credential_hash::{CredentialHash, hash_of};
use crate::error::{AppError, Result};
use crate::service::AuditLog;
use crate::viewers::viewer_secrets;
use audit_auth::{Credential, KeyKind, Policy, viewer_token};
use audit_domain::ProjectId;
use audit_store::{CellId, Reader, StoreError};
use std::sync::Arc;
use std::sync::atomic::Ordering;

fn is_master(credential: &Credential) -> bool {
    matches!(credential, Credential::Key(text) if text.kind() == KeyKind::Master)
}

/// Whether another cell may serve the request. Only the home cell knows which.
pub(crate) fn is_of_other_cell(error: &AppError) -> bool {
    matches!(
        error,
        AppError::InvalidKey | AppError::InvalidToken | AppError::NotFound("project")
    )
}

impl<P: Policy> Presented<P> {
    /// The cell that is cached for the credential, or for the project that a master key names.
    pub(crate) fn in_cached_cell(mut self, selected: Option<ProjectId>) -> Self {
        let cells = &self.home.cells;
        if !cells.exist.load(Ordering::Relaxed) {
            return self;
        }
        let cached = match (is_master(&self.credential), selected) {
            (true, Some(project_id)) => cells.of_projects.get(&project_id),
            (true, None) => None,
            (false, _) => cells.of_credentials.get(&hash_of(&self.credential)),
        };
        if let Some(service) = cached.and_then(|id| cells.opened_service(id)) {
            self.service = service;
        }
        self
    }

    /// Runs `work` in the cell of the request.
    pub(crate) fn in_its_cell<T>(
        &self,
        selected: Option<ProjectId>,
        mut work: impl FnMut(&Self) -> Result<T>,
    ) -> Result<T> {
        let mut other = None::<Self>;
        loop {
            let presented = other.as_ref().unwrap_or(self);
            match work(presented) {
                Err(error) if is_of_other_cell(&error) => {
                    other = Some(presented.in_other_cell(selected, error)?);
                }
                outcome => return outcome,
            }
        }
    }

    /// The request in the cell that the directory names, after another one has refused it with `error`.
    ///
    /// # Errors
    /// `error` where the directory names no other cell; [`StoreError::NotInCell`] where it names the one that has refused the request
    /// because it does not have the project or the key.
    pub(crate) fn in_other_cell(&self, selected: Option<ProjectId>, error: AppError) -> Result<Self> {
        let home = &self.home;
        if !home.home_store.can_have_cells() {
            return Err(error);
        }
        let Some((project_id, cell)) = home.home_store.read(|reader| self.place(reader, selected))? else {
            return Err(error);
        };
        if cell == CellId::HOME {
            return Err(error);
        }
        let cells = &home.cells;
        match is_master(&self.credential) {
            true => cells.of_projects.insert(project_id, cell),
            false => cells.of_credentials.insert(hash_of(&self.credential), cell),
        }
        let service = home.cell(cell)?;
        if !Arc::ptr_eq(&service, &self.service) {
            return Ok(Self {
                service,
                ..self.clone()
            });
        }
        // Keys are never deleted.
        let is_missing = match (&error, &self.credential) {
            (AppError::InvalidKey, Credential::Key(text)) => text.kind() != KeyKind::Master,
            _ => service
                .store
                .read(|reader| reader.configuration_version(project_id))?
                .is_none(),
        };
        if !is_missing {
            return Err(error);
        }
        cells.note_missing(project_id);
        Err(AppError::Unavailable(StoreError::NotInCell))
    }

    /// The project that the request is about, and its cell, by the directory.
    fn place(
        &self,
        reader: &mut Reader<'_>,
        selected: Option<ProjectId>,
    ) -> Result<Option<(ProjectId, CellId)>> {
        let project_id = match &self.credential {
            Credential::Key(text) if text.kind() != KeyKind::Master => {
                let hash = text.hash();
                return match reader.placement_of_key(hash.as_bytes())? {
                    Some(placement) => Ok(Some((placement.project_id, placement.cell))),
                    // If there is such a key, the home cell has it, which refused it.
                    None => Ok(None),
                };
            }
            Credential::Key(text) => match selected {
                Some(project_id) => Some(project_id),
                None => only_project(reader, text.hash().as_bytes())?,
            },
            Credential::ViewerToken(token) => {
                let secrets = viewer_secrets(reader, &self.home.settings.encryption)?;
                let claims = viewer_token::verify(token, &secrets, self.home.clock.now())?;
                Some(claims.project_id)
            }
        };
        let Some(project_id) = project_id else {
            return Ok(None);
        };
        Ok(Some((project_id, reader.cell_of_project(project_id)?)))
    }

    /// Looks the credential up in the cell of the request. Returns the credential in that cell, and the proof.
    ///
    /// # Errors
    /// As [`Self::authenticate`].
    pub fn locate(&self, selected: Option<ProjectId>) -> Result<(Self, P::Proof)> {
        let is_checked = self.home.cells.exist.load(Ordering::Relaxed) && is_master(&self.credential);
        let located = self.in_its_cell(selected, |presented| {
            let proof = presented.authenticate_here()?;
            if is_checked {
                presented.require_project(selected)?;
            }
            Ok((presented.clone(), proof))
        });
        match located {
            // There is no such project: the use case says so, or does not look at the project.
            Err(AppError::NotFound("project")) if is_checked => {
                let home = Self {
                    service: Arc::clone(&self.home),
                    ..self.clone()
                };
                let proof = home.authenticate_here()?;
                Ok((home, proof))
            }
            located => located,
        }
    }

    /// Fails unless the cell serves the project that a master key names, or the only one of its organization. A master key
    /// that names none of several projects stays in the home cell.
    fn require_project(&self, selected: Option<ProjectId>) -> Result<()> {
        let Credential::Key(text) = &self.credential else {
            return Ok(());
        };
        let project_id = match selected {
            Some(project_id) => Some(project_id),
            None => self
                .home
                .home_store
                .read(|reader| only_project(reader, text.hash().as_bytes()))?,
        };
        let Some(project_id) = project_id else {
            return Ok(());
        };
        let version = self
            .service
            .store
            .read(|reader| reader.configuration_version(project_id))?;
        match version {
            Some(_) => Ok(()),
            None => Err(AppError::NotFound("project")),
        }
    }

    /// The service of the cell in which the request runs.
    pub const fn cell(&self) -> &Arc<AuditLog> {
        &self.service
    }
}

/// The project of a master key's organization, if it has exactly one.
fn only_project(reader: &mut Reader<'_>, hash: &CredentialHash) -> Result<Option<ProjectId>> {
    let Some(found) = reader.key_by_hash(hash)? else {
        return Ok(None);
    };
    match reader.projects(found.key.organization_id)?.as_slice() {
        [only] => Ok(Some(only.id)),
        _ => Ok(None),
    }
}
