//! Database URLs.

use std::borrow::Cow;
use std::fmt;
use std::path::PathBuf;
use std::str::FromStr;

/// The address of a database: `sqlite:PATH` or `postgres://…`.
#[derive(Clone, PartialEq, Eq)]
pub enum DatabaseUrl {
    /// A file; created when it does not exist.
    Sqlite(PathBuf),
    /// The URL of a server, in libpq's syntax, and optionally with the parameter `schema`.
    Postgres(String),
}

/// The parameter that names the schema with all tables. Without it they are in the first schema of the server's
/// `search_path`, usually `public`.
const SCHEMA: &str = "schema";
/// PostgreSQL's limit for the length of a name.
const SCHEMA_BYTES_MAX: usize = 63;

/// Whether the text can be the name of a schema: letters, digits and underscores, so that it needs no quotes in SQL.
pub(crate) fn is_schema_name(name: &str) -> bool {
    let mut bytes = name.bytes();
    let is_letter = |byte: u8| byte.is_ascii_lowercase() || byte == b'_';
    name.len() <= SCHEMA_BYTES_MAX
        && !name.starts_with("pg_")
        && bytes.next().is_some_and(is_letter)
        && bytes.all(|byte| is_letter(byte) || byte.is_ascii_digit())
}

/// The URL as libpq takes it, and the schema.
pub(crate) fn split_schema(url: &str) -> (Cow<'_, str>, Option<&str>) {
    let Some((base, parameters)) = url.split_once('?') else {
        return (Cow::Borrowed(url), None);
    };
    let mut others = Vec::new();
    let mut schema = None;
    for parameter in parameters.split('&') {
        match parameter.split_once('=') {
            Some((SCHEMA, name)) => schema = Some(name),
            _ => others.push(parameter),
        }
    }
    match (schema, others.is_empty()) {
        (None, _) => (Cow::Borrowed(url), None),
        (schema, true) => (Cow::Borrowed(base), schema),
        (schema, false) => (Cow::Owned(format!("{base}?{}", others.join("&"))), schema),
    }
}

/// The URL of a cell: that of the home cell, with the schema of the cell.
pub(crate) fn of_cell(home: &str, schema: Option<&str>) -> String {
    match schema {
        Some(schema) => with_schema(home, schema),
        None => home.to_owned(),
    }
}

/// The URL with this schema instead of its own.
pub(crate) fn with_schema(url: &str, schema: &str) -> String {
    let (url, _) = split_schema(url);
    let separator = if url.contains('?') { '&' } else { '?' };
    format!("{url}{separator}{SCHEMA}={schema}")
}

/// The URL with this server instead of its own ones. Such a server is chosen, so the URL's choice among several is dropped.
pub(crate) fn at_server(url: &str, host: &str, port: i32) -> String {
    const OF_THE_SERVER: [&str; 4] = ["host", "hostaddr", "port", "target_session_attrs"];
    let (address, parameters) = url.split_once('?').unwrap_or((url, ""));
    let (scheme, rest) = address.split_once("://").unwrap_or(("postgres", address));
    let (authority, database) = rest.split_once('/').unwrap_or((rest, ""));
    let user = authority
        .rsplit_once('@')
        .map_or_else(String::new, |(user, _)| format!("{user}@"));
    let is_kept = |parameter: &&str| {
        let name = parameter.split('=').next().unwrap_or_default();
        !parameter.is_empty() && !OF_THE_SERVER.contains(&name)
    };
    let kept = parameters.split('&').filter(is_kept).map(str::to_owned);
    // A name or an address in brackets, or the directory of a socket, needs no other form in a parameter.
    let parameters: Vec<String> = kept
        .chain([format!("host={host}"), format!("port={port}")])
        .collect();
    format!("{scheme}://{user}/{database}?{}", parameters.join("&"))
}

/// The URL for sessions that a standby serves where there is one. A parameter of the URL itself takes precedence.
pub(crate) fn of_standby(url: &DatabaseUrl) -> DatabaseUrl {
    match url {
        DatabaseUrl::Postgres(url) if !url.contains("target_session_attrs=") => {
            let separator = if url.contains('?') { '&' } else { '?' };
            DatabaseUrl::Postgres(format!("{url}{separator}target_session_attrs=prefer-standby"))
        }
        url => url.clone(),
    }
}

/// The text is not a database URL.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "a database URL is sqlite:PATH with the path of a file, or postgres://USER:PASSWORD@HOST/DATABASE, with commas between several hosts, where an @ in the password is written %40; a parameter schema=NAME has a name of lower-case letters, digits and underscores"
)]
pub struct DatabaseUrlError;

impl FromStr for DatabaseUrl {
    type Err = DatabaseUrlError;

    fn from_str(text: &str) -> Result<Self, DatabaseUrlError> {
        if text.starts_with("postgres://") || text.starts_with("postgresql://") {
            // libpq reads the host from the first @ on and would print the rest of a password in its errors.
            let is_ambiguous = text.matches('@').count() > 1;
            let is_wrong_schema = split_schema(text).1.is_some_and(|name| !is_schema_name(name));
            return match is_ambiguous || is_wrong_schema {
                true => Err(DatabaseUrlError),
                false => Ok(Self::Postgres(text.to_owned())),
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
            }
            .and_then(|()| match split_schema(url) {
                (_, Some(schema)) => write!(formatter, " (schema {schema})"),
                (_, None) => Ok(()),
            }),
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
    fn a_schema_is_split_off_the_url_wherever_it_stands() {
        for (url, rest) in [
            ("postgres://h/d?schema=cell_a", "postgres://h/d"),
            (
                "postgres://h/d?schema=cell_a&sslmode=disable",
                "postgres://h/d?sslmode=disable",
            ),
            ("postgres://h/d?a=b&schema=cell_a&c=d", "postgres://h/d?a=b&c=d"),
        ] {
            assert_eq!(split_schema(url), (Cow::Borrowed(rest), Some("cell_a")), "{url}");
            assert_eq!(
                split_schema(&with_schema(url, "b")),
                (Cow::Borrowed(rest), Some("b"))
            );
        }
        for url in ["postgres://schema=x/d", "postgres://h/d?myschema=x"] {
            assert_eq!(split_schema(url), (Cow::Borrowed(url), None), "{url}");
        }
        let url: DatabaseUrl = "postgres://u:secret@h/d?schema=cell_a".parse().unwrap();
        assert_eq!(url.to_string(), "postgres://…@h/d (schema cell_a)");
    }

    #[test]
    fn the_server_of_a_url_is_replaced_and_nothing_else() {
        for (url, replaced) in [
            ("postgres://h/d", "postgres:///d?host=w&port=5"),
            (
                "postgresql://u:p@h1:1,h2:2/d?schema=a&target_session_attrs=read-write&sslmode=require",
                "postgresql://u:p@/d?schema=a&sslmode=require&host=w&port=5",
            ),
            (
                "postgres:///d?host=/run&user=audit&port=6&hostaddr=1.1.1.1",
                "postgres:///d?user=audit&host=w&port=5",
            ),
        ] {
            assert_eq!(at_server(url, "w", 5), replaced, "{url}");
        }
    }

    #[test]
    fn the_name_of_a_schema_needs_no_quotes() {
        let longest = "a".repeat(SCHEMA_BYTES_MAX);
        for name in ["a", "cell_1", "_x", &longest] {
            assert!(
                format!("postgres://h/d?schema={name}")
                    .parse::<DatabaseUrl>()
                    .is_ok(),
                "{name}"
            );
        }
        let too_long = "a".repeat(SCHEMA_BYTES_MAX + 1);
        for name in ["", "1a", "A", "a-b", "a;b", "a%20b", "pg_cell", &too_long] {
            let parsed = format!("postgres://h/d?schema={name}").parse::<DatabaseUrl>();
            assert_eq!(parsed, Err(DatabaseUrlError), "{name}");
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
