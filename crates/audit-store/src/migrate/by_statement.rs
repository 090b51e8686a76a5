//! Sends the statements of PostgreSQL's migrations one by one.
//!
//! Diesel sends a file as one string. Citus refuses a change of a distributed table that comes with other statements in one string,
//! because it sends the whole string to the servers that have the table.

use super::POSTGRES;
use diesel::connection::{BoxableConnection, SimpleConnection};
use diesel::migration::{Migration, MigrationMetadata, MigrationName, MigrationSource, Result};
use diesel::pg::Pg;
use std::any::Any;

/// The migrations of PostgreSQL.
pub(super) struct ByStatement;

impl MigrationSource<Pg> for ByStatement {
    fn migrations(&self) -> Result<Vec<Box<dyn Migration<Pg>>>> {
        let migrations = MigrationSource::<Pg>::migrations(&POSTGRES)?;
        let by_statement = |migration| Box::new(Divided(migration)) as Box<dyn Migration<Pg>>;
        Ok(migrations.into_iter().map(by_statement).collect())
    }
}

/// A migration whose statements are sent one by one.
struct Divided(Box<dyn Migration<Pg>>);

impl Migration<Pg> for Divided {
    fn run(&self, connection: &mut dyn BoxableConnection<Pg>) -> Result<()> {
        let mut recorded = Recorded::default();
        self.0.run(&mut recorded)?;
        for statement in statements(&recorded.0)? {
            connection
                .batch_execute(statement)
                .map_err(|error| format!("{}: {error}, in: {statement}", self.0.name()))?;
        }
        Ok(())
    }

    fn revert(&self, connection: &mut dyn BoxableConnection<Pg>) -> Result<()> {
        self.0.revert(connection)
    }

    fn metadata(&self) -> &dyn MigrationMetadata {
        self.0.metadata()
    }

    fn name(&self) -> &dyn MigrationName {
        self.0.name()
    }
}

/// The text of a migration, which shows only when it is run.
#[derive(Default)]
struct Recorded(String);

impl SimpleConnection for Recorded {
    fn batch_execute(&mut self, text: &str) -> diesel::QueryResult<()> {
        self.0.push_str(text);
        Ok(())
    }
}

impl BoxableConnection<Pg> for Recorded {
    fn as_any(&self) -> &dyn Any {
        self
    }

    fn as_any_mut(&mut self) -> &mut dyn Any {
        self
    }
}

/// The statements of a text, without the comments and blanks before each of them and the semicolon after it.
///
/// Knows comments, strings (also with backslashes: `E'…'`), quoted identifiers and dollar quotes, as chapter 4.1 of PostgreSQL's
/// documentation defines them. The body of a function in standard SQL (`BEGIN ATOMIC`) is refused.
fn statements(text: &str) -> std::result::Result<Vec<&str>, String> {
    let mut found = Vec::new();
    // The statement begins with the first token.
    let mut start = None;
    let mut at = 0;
    while let Some(rest) = text.get(at..).filter(|rest| !rest.is_empty()) {
        let token =
            token(rest).ok_or_else(|| format!("a quote or a comment does not end: {}", line_of(rest)))?;
        match token {
            Token::Blank(_) => {}
            Token::End => found.extend(start.take().map(|start| &text[start..at])),
            Token::Other(_) => {
                start.get_or_insert(at);
            }
        }
        at += token.len();
    }
    found.extend(start.map(|start| text[start..].trim_end()));
    match found.iter().find(|statement| is_atomic(statement)) {
        Some(statement) => Err(format!(
            "a body in standard SQL cannot be divided: {}",
            line_of(statement)
        )),
        None => Ok(found),
    }
}

/// A part of a text, with its length in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Token {
    /// A comment, or white space.
    Blank(usize),
    /// A semicolon.
    End,
    /// Anything else: a quoted text, a word, or a character.
    Other(usize),
}

impl Token {
    const fn len(self) -> usize {
        match self {
            Self::Blank(len) | Self::Other(len) => len,
            Self::End => 1,
        }
    }
}

/// The first token of a text that is not empty. `None` if it does not end.
fn token(text: &str) -> Option<Token> {
    let first = text.chars().next()?;
    Some(match first {
        ';' => Token::End,
        _ if first.is_whitespace() => Token::Blank(first.len_utf8()),
        '-' if text.starts_with("--") => Token::Blank(text.find('\n').unwrap_or(text.len())),
        '/' if text.starts_with("/*") => Token::Blank(comment(text)?),
        '\'' => Token::Other(quoted(text, '\'', false)?),
        '"' => Token::Other(quoted(text, '"', false)?),
        '$' => Token::Other(dollar_quoted(text)?),
        _ if first == '_' || first.is_alphabetic() => {
            let word = word(text);
            match &text[..word] {
                "E" | "e" if text[word..].starts_with('\'') => {
                    Token::Other(word + quoted(&text[word..], '\'', true)?)
                }
                _ => Token::Other(word),
            }
        }
        // So that the digits and the letters after them do not begin a dollar quote.
        _ if first.is_ascii_digit() => Token::Other(word(text)),
        _ => Token::Other(first.len_utf8()),
    })
}

/// The length of a word or number. A dollar sign may be part of it, but not begin it.
fn word(text: &str) -> usize {
    let is_part = |one: char| one == '_' || one == '$' || one.is_alphanumeric();
    text.find(|one| !is_part(one)).unwrap_or(text.len())
}

/// The length of a comment that begins with `/*`. Such comments nest.
fn comment(text: &str) -> Option<usize> {
    let (mut depth, mut at) = (0_u32, 0);
    loop {
        let rest = text.get(at..)?;
        at += match rest {
            _ if rest.starts_with("/*") => {
                depth += 1;
                2
            }
            _ if rest.starts_with("*/") => {
                depth -= 1;
                2
            }
            _ => rest.chars().next()?.len_utf8(),
        };
        if depth == 0 {
            return Some(at);
        }
    }
}

/// The length of a text in quotes. A doubled quote is part of it, and after a backslash, where it escapes, any character.
fn quoted(text: &str, quote: char, has_escapes: bool) -> Option<usize> {
    let mut characters = text.char_indices().skip(1).peekable();
    while let Some((at, one)) = characters.next() {
        let next_is_quote = characters.peek().is_some_and(|(_, next)| *next == quote);
        match one {
            '\\' if has_escapes => characters.next().map(|_| ())?,
            _ if one == quote && next_is_quote => characters.next().map(|_| ())?,
            _ if one == quote => return Some(at + one.len_utf8()),
            _ => {}
        }
    }
    None
}

/// The length of a text in dollar quotes, or of the dollar sign of a parameter.
fn dollar_quoted(text: &str) -> Option<usize> {
    let tag = text[1..].split('$').next().unwrap_or_default();
    let is_tag = !tag.starts_with(|one: char| one.is_ascii_digit())
        && tag.chars().all(|one| one == '_' || one.is_alphanumeric());
    let delimiter = text.get(..tag.len() + 2).filter(|_| is_tag);
    let Some(delimiter) = delimiter else {
        return Some(1);
    };
    let end = text[delimiter.len()..].find(delimiter)?;
    Some(end + 2 * delimiter.len())
}

/// Whether a statement has a body in standard SQL.
fn is_atomic(statement: &str) -> bool {
    let (mut at, mut last) = (0, "");
    while let Some(token) = statement.get(at..).and_then(token) {
        let text = &statement[at..at + token.len()];
        if matches!(token, Token::Other(_)) {
            if last.eq_ignore_ascii_case("begin") && text.eq_ignore_ascii_case("atomic") {
                return true;
            }
            last = text;
        }
        at += token.len();
    }
    false
}

fn line_of(text: &str) -> &str {
    text.lines().next().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts() -> Vec<(String, String)> {
        let migrations = MigrationSource::<Pg>::migrations(&POSTGRES).unwrap();
        let text = |migration: Box<dyn Migration<Pg>>| {
            let mut recorded = Recorded::default();
            migration.run(&mut recorded).unwrap();
            (migration.name().to_string(), recorded.0)
        };
        migrations.into_iter().map(text).collect()
    }

    #[test]
    fn a_semicolon_ends_a_statement_only_outside_of_quotes_and_comments() {
        let text = r#"
            -- a; b
            CREATE TABLE a (b TEXT DEFAULT 'x;''y;'); /* c; /* d; */ e; */ ;;
            INSERT INTO "f;""g;" VALUES (E'h;\';', U&'\0061;', 1.5e3, $1);
            DO $b$ BEGIN PERFORM ';'; PERFORM $$ $c$ ; $$; END $b$;
            SELECT i$j$;
            SELECT $ä$ ; $$ ; $ä$, 'ö;' -- ü;
        "#;
        assert_eq!(
            statements(text).unwrap(),
            [
                "CREATE TABLE a (b TEXT DEFAULT 'x;''y;')",
                r#"INSERT INTO "f;""g;" VALUES (E'h;\';', U&'\0061;', 1.5e3, $1)"#,
                "DO $b$ BEGIN PERFORM ';'; PERFORM $$ $c$ ; $$; END $b$",
                "SELECT i$j$",
                "SELECT $ä$ ; $$ ; $ä$, 'ö;' -- ü;",
            ]
        );
    }

    #[test]
    fn what_does_not_end_or_cannot_be_divided_is_refused() {
        for text in [
            "SELECT 'a;",
            "SELECT \"a;",
            "SELECT $a$ ; $b$",
            "SELECT 1 /* /* */",
            "SELECT E'\\'",
            "CREATE FUNCTION f() RETURNS int BEGIN ATOMIC SELECT 1; SELECT 2; END;",
        ] {
            assert!(statements(text).is_err(), "{text}");
        }
        assert_eq!(statements(" -- nothing\n;; /* */").unwrap(), [""; 0]);
        assert_eq!(statements("SELECT 'begin atomic'").unwrap().len(), 1);
    }

    /// The statements, with what is between them, are the whole text, and each begins with the name of a command.
    #[test]
    fn the_statements_of_every_migration_are_found() {
        for (name, text) in texts() {
            let found = statements(&text).unwrap();
            assert!(!found.is_empty(), "{name}");
            let mut rest = text.as_str();
            for statement in found {
                let command = statement.split_whitespace().next().unwrap();
                let is_command = [
                    "CREATE", "ALTER", "INSERT", "UPDATE", "DELETE", "DROP", "DO", "SELECT", "COMMENT",
                ]
                .contains(&command);
                assert!(is_command, "{name}: {statement}");
                let (between, after) = rest.split_once(statement).unwrap();
                let is_blank =
                    |line: &str| line.is_empty() || line.starts_with("--") || line.starts_with(';');
                assert!(between.lines().map(str::trim).all(is_blank), "{name}: {between}");
                rest = after;
            }
            assert_eq!(rest.trim(), ";", "{name}");
        }
    }
}
