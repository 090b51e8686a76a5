//! Database URLs.

use std::fmt;
use std::path::PathBuf;
use std::str::FromStr;

/// The address of a database: `sqlite:PATH` or `postgres://…`.
#[derive(Clone, PartialEq, Eq)]
pub enum DatabaseUrl {
    /// A file; created when it does not exist.
    Sqlite(PathBuf),
    /// The URL of a server, in libpq's syntax.
    Postgres(String),
}

/// The text is not a database URL.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "a database URL is sqlite:PATH with the path of a file, or postgres://USER:PASSWORD@HOST/DATABASE, with commas between several hosts, where an @ in the password is written %40"
)]
pub struct DatabaseUrlError;

impl FromStr for DatabaseUrl {
    type Err = DatabaseUrlError;

    fn from_str(text: &str) -> Result<Self, DatabaseUrlError> {
        if text.starts_with("postgres://") || text.starts_with("postgresql://") {
            // libpq reads the host from the first @ on and would print the rest of a password in its errors.
            let is_ambiguous = text.matches('@').count() > 1;
            return if is_ambiguous {
                Err(DatabaseUrlError)
            } else {
                Ok(Self::Postgres(text.to_owned()))
            };
        }
        match text.strip_prefix("sqlite:") {
            Some(path) if !path.is_empty() && !path.starts_with(':') => Ok(Self::Sqlite(PathBuf::from(path))),
            _ => Err(DatabaseUrlError),
        }
    }
}

/// Without the password, so that it can be printed.
impl fmt::Display for DatabaseUrl {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Sqlite(path) => write!(formatter, "sqlite:{}", path.display()),
            // The part behind the question mark may hold a password too.
            Self::Postgres(url) => match (
                url.split_once("://"),
                url.split('?').next().unwrap_or(url).rsplit_once('@'),
            ) {
                (Some((scheme, _)), Some((_, host))) => write!(formatter, "{scheme}://…@{host}"),
                _ => formatter.write_str("postgres://…"),
            },
        }
    }
}

impl fmt::Debug for DatabaseUrl {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, formatter)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_database_url_names_one_of_two_databases() {
        assert_eq!("sqlite:a/b.db".parse(), Ok(DatabaseUrl::Sqlite("a/b.db".into())));
        assert!(matches!(
            "postgres://u:p@h/d".parse(),
            Ok(DatabaseUrl::Postgres(_))
        ));
        for text in [
            "",
            "sqlite:",
            "sqlite::memory:",
            "mysql://x",
            "audit.db",
            "postgres://u:p@w@h/d",
        ] {
            assert_eq!(text.parse::<DatabaseUrl>(), Err(DatabaseUrlError), "{text}");
        }
    }

    #[test]
    fn a_password_is_never_printed() {
        let url: DatabaseUrl = "postgres://user:secret@host:5432/audit?password=secret"
            .parse()
            .unwrap();
        assert_eq!(
            format!("{url} {url:?}"),
            "postgres://…@host:5432/audit postgres://…@host:5432/audit"
        );
        let several: DatabaseUrl = "postgres://user:secret@h1:5432,h2:5433/audit?target_session_attrs=any"
            .parse()
            .unwrap();
        assert_eq!(several.to_string(), "postgres://…@h1:5432,h2:5433/audit");
    }
}
