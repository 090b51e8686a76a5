//! What the first start of a server decides for good.

use audit_app::Builtin;
use audit_operations::serve_options::ServeOptions;
use audit_store::DatabaseUrl;
use std::fmt::Write as _;

/// The decisions with their variables, and how to decide otherwise: five lines, of which SQLite has four. `has_hash_key` is whether
/// there is a hash key, from whichever source.
pub(super) fn for_good(options: &ServeOptions, has_hash_key: bool) -> anyhow::Result<String> {
    let url = options.database.url()?;
    let mut database = match &url {
        DatabaseUrl::Sqlite(path) => format!("the files that begin with {}", path.display()),
        DatabaseUrl::Postgres(_) => "the tables".to_owned(),
    };
    if options.database.state_directory.is_some() || matches!(url, DatabaseUrl::Postgres(_)) {
        database += " and the files of the state directory";
    }
    let default_rules = Builtin::ALL.iter().filter(|builtin| builtin.enabled_by_default());
    let kinds: Vec<&str> = default_rules.map(|builtin| builtin.title()).collect();
    let hash_key = match has_hash_key {
        true => "set, and another key makes other hashes of the same identifiers",
        false => "not set, so short values can be guessed from the hashes that redaction writes",
    };
    let self_audit = match options.self_audit.self_audit {
        true => "on, so each log begins with the service's own events",
        false => "off, so no log has the service's own events before it is on",
    };
    let mut text = format!(
        "Decided for good with the first event. To decide otherwise: stop, delete {database}, set the variable, start again.\n\n  \
         redaction rules   remove before anything is stored: {}. Change them first: /console, PUT /api/v1/redaction/rules/:id\n  \
         AUDIT_HASH_KEY    {hash_key}\n  \
         AUDIT_SELF_AUDIT  {self_audit}\n",
        kinds.join(", "),
    );
    if let DatabaseUrl::Postgres(_) = url {
        let groups = options.service.postgres_groups;
        let groups = groups.map_or_else(|| "not set".to_owned(), |groups| groups.to_string());
        writeln!(
            text,
            "  AUDIT_POSTGRES_GROUPS  {groups}, the number of indexes among which projects are divided"
        )?;
    }
    Ok(text + "\n")
}
