//! The kinds of credentials, as the document has them.

use crate::openapi::model::SecurityScheme;
use audit_auth::{MasterKey, Policy, Principal, ProjectKey, Viewer};
use audit_domain::{Environment, KeyId, KeyScopes, OrganizationId, ProjectId};

/// A kind of credential.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum CredentialKind {
    MasterKey,
    ProjectKey,
    ViewerToken,
}

impl CredentialKind {
    pub(crate) const ALL: [Self; 3] = [Self::MasterKey, Self::ProjectKey, Self::ViewerToken];

    /// The kinds that the policy admits, found by asking it about one principal of each.
    pub(crate) fn admitted_by<P: Policy>() -> Vec<Self> {
        let is_admitted = |kind: &Self| P::admit(kind.principal()).is_ok();
        Self::ALL.into_iter().filter(is_admitted).collect()
    }

    /// A holder of a credential of this kind.
    fn principal(self) -> Principal {
        let key_id = KeyId::from_random([0; 16]);
        let organization_id = OrganizationId::from_random([0; 16]);
        let project_id = ProjectId::from_random([0; 16]);
        match self {
            Self::MasterKey => Principal::Master(MasterKey {
                key_id,
                organization_id,
                scopes: KeyScopes::ALL,
                client: None,
            }),
            Self::ProjectKey => Principal::Project(ProjectKey {
                key_id,
                organization_id,
                project_id,
                environment: Environment::Live,
                scopes: KeyScopes::ALL,
                client: None,
            }),
            Self::ViewerToken => Principal::Viewer(Viewer {
                organization_id,
                project_id,
                tenant_id: String::new(),
                tier: String::new(),
                token_id: String::new(),
                client: None,
            }),
        }
    }

    /// Its name among the security schemes.
    pub(crate) const fn scheme_name(self) -> &'static str {
        match self {
            Self::MasterKey => "masterKey",
            Self::ProjectKey => "projectKey",
            Self::ViewerToken => "viewerToken",
        }
    }

    /// Its name in text.
    pub(crate) const fn title(self) -> &'static str {
        match self {
            Self::MasterKey => "master key",
            Self::ProjectKey => "project key",
            Self::ViewerToken => "viewer token",
        }
    }

    /// The shell variable for it in examples.
    pub(crate) const fn variable(self) -> &'static str {
        match self {
            Self::MasterKey => "$MASTER_KEY",
            Self::ProjectKey => "$PROJECT_KEY",
            Self::ViewerToken => "$VIEWER_TOKEN",
        }
    }

    pub(crate) const fn security_scheme(self) -> SecurityScheme {
        let (bearer_format, description) = match self {
            Self::MasterKey => (
                "mk_ and 39 letters and digits",
                "Reaches all projects of one organization, administration included. Made at set-up, with `POST /api/v1/master-keys` or with \
                 `audit-server master-key create`.",
            ),
            Self::ProjectKey => (
                "pk_live_ or pk_test_ and 39 letters and digits",
                "Reaches one project in one environment. Made with `POST /api/v1/keys` or `audit-server key create`.",
            ),
            Self::ViewerToken => (
                "vt_ and a JWT",
                "Reads the live events of one tenant of one project, as far as its tier shows them, and can do \
                 nothing else. Made with `POST /api/v1/viewer-tokens`.",
            ),
        };
        SecurityScheme {
            kind: "http",
            scheme: "bearer",
            bearer_format,
            description,
        }
    }
}
