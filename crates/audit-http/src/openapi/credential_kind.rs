//! The kinds of credentials, as the document has them.

use crate::openapi::model::{CredentialInfo, Named, SecurityScheme};
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

    /// Its name in the extension `x-credentials`.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::MasterKey => "master_key",
            Self::ProjectKey => "project_key",
            Self::ViewerToken => "viewer_token",
        }
    }

    const fn about(self) -> CredentialInfo {
        match self {
            Self::MasterKey => CredentialInfo {
                form: "mk_ and 39 letters and digits",
                description: "Has access to all projects of one organization, with administration. Created at set-up, \
                              with `POST /api/v1/master-keys` or with `audit-server master-key create`.",
            },
            Self::ProjectKey => CredentialInfo {
                form: "pk_live_ or pk_test_ and 39 letters and digits",
                description: "Has access to one project in one environment. Created with `POST /api/v1/keys` or \
                              `audit-server key create`.",
            },
            Self::ViewerToken => CredentialInfo {
                form: "vt_ and a JWT",
                description: "Reads the live events of one tenant of one project, as its tier shows them, and manages \
                              destinations of the tenant if its tier allows that. It can do nothing else. Created with `POST /api/v1/viewer-tokens`.",
            },
        }
    }
}

/// The one security scheme. Generators make a setting of each scheme, and a caller has one credential; which kinds an
/// operation admits is an extension of the operation.
pub(crate) fn security_scheme() -> SecurityScheme {
    let kinds = CredentialKind::ALL.iter();
    SecurityScheme {
        kind: "http",
        scheme: "bearer",
        description: "A key or a token in the header `Authorization: Bearer …`. `x-credentials` of an operation lists \
                      the kinds that it admits.",
        credentials: Named(kinds.map(|kind| (kind.name().to_owned(), kind.about())).collect()),
    }
}
