//! The name of a log within its deployment.

use crate::{Environment, ProjectId};
use std::fmt;

/// The log that an event belongs to, as its content hash names it: `<project id>/<environment>`.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct LogName([u8; Self::BYTES]);

impl LogName {
    const ID_BYTES: usize = uuid::fmt::Hyphenated::LENGTH;
    /// Both environments have names of this length.
    const ENVIRONMENT_BYTES: usize = 4;
    const BYTES: usize = Self::ID_BYTES + 1 + Self::ENVIRONMENT_BYTES;

    /// The log of a project and environment.
    pub fn new(project_id: ProjectId, environment: Environment) -> Self {
        let mut name = [b'/'; Self::BYTES];
        let id = project_id.as_uuid().as_hyphenated();
        id.encode_lower(&mut name[..Self::ID_BYTES]);
        let word: &[u8; Self::ENVIRONMENT_BYTES] = match environment {
            Environment::Live => b"live",
            Environment::Test => b"test",
        };
        name[Self::ID_BYTES + 1..].copy_from_slice(word);
        Self(name)
    }

    /// The log of a project and environment as texts; `None` where they are not such.
    pub fn parse(project_id: &str, environment: &str) -> Option<Self> {
        let name = Self::new(project_id.parse().ok()?, environment.parse().ok()?);
        name.as_str().starts_with(project_id).then_some(name)
    }

    /// The log of a checkpoint with this origin, which is `<name of the deployment>/<project id>/<environment>`, in the log of a
    /// tenant with `/tenants/<label>` behind it.
    pub fn of_origin(origin: &str) -> Option<Self> {
        let of_tenant = origin.rsplit_once("/tenants/");
        let of_tenant = of_tenant.filter(|(_, label)| !label.contains('/'));
        let origin = of_tenant.map_or(origin, |(log, _)| log);
        let (rest, environment) = origin.rsplit_once('/')?;
        let (_, project_id) = rest.rsplit_once('/')?;
        Self::parse(project_id, environment)
    }

    /// The text.
    pub fn as_str(&self) -> &str {
        str::from_utf8(&self.0).unwrap_or_default()
    }
}

impl fmt::Debug for LogName {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "LogName({})", self.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_log_is_named_by_project_and_environment() {
        let id = "729f9843-9137-4ff6-bf03-7f4b3ef8ab36";
        for environment in Environment::ALL {
            let name = LogName::new(id.parse().unwrap(), *environment);
            assert_eq!(name.as_str(), format!("{id}/{environment}"));
            assert_eq!(LogName::parse(id, environment.as_str()), Some(name));
            let origin = format!("audit.example.com/a/{name}", name = name.as_str());
            assert_eq!(LogName::of_origin(&origin), Some(name));
        }
        for (id, environment) in [
            (id, "Live"),
            (id, ""),
            (&id[1..], "live"),
            (&id.to_uppercase(), "live"),
        ] {
            assert_eq!(LogName::parse(id, environment), None);
        }
        assert_eq!(LogName::of_origin("a/b"), None);
    }
}
