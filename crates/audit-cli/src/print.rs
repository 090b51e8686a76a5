//! Texts of others on the operator's terminal.
//!
//! A control character can move the cursor, change the title of the window or hide a line, and a bidirectional one can reorder
//! what follows it.

use std::borrow::Cow;
use std::io::Write;
use std::sync::OnceLock;

/// Whether a terminal shows the character as something else than itself.
fn is_active(character: char) -> bool {
    character.is_control()
        || matches!(
            character,
            '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}'
        )
}

/// A text in which control characters are escaped as in Rust, `\u{1b}`.
pub fn printable(text: &str) -> Cow<'_, str> {
    escaped(text, is_active)
}

/// As [`printable`], for a text of several lines.
pub fn printable_lines(text: &str) -> Cow<'_, str> {
    escaped(text, |character| character != '\n' && is_active(character))
}

fn escaped(text: &str, is_escaped: impl Fn(char) -> bool) -> Cow<'_, str> {
    // Most texts are of these, which takes a fraction of the time to see.
    let is_plain = text.bytes().all(|byte| (b' '..=b'~').contains(&byte));
    if is_plain || !text.contains(&is_escaped) {
        return Cow::Borrowed(text);
    }
    let mut escaped = String::with_capacity(text.len() + 8);
    for character in text.chars() {
        match is_escaped(character) {
            true => escaped.extend(character.escape_default()),
            false => escaped.push(character),
        }
    }
    Cow::Owned(escaped)
}

static PROGRAM: OnceLock<&'static str> = OnceLock::new();
static VARIABLES: OnceLock<Vec<(String, String)>> = OnceLock::new();

/// Names the program, for its errors. Its `main` calls this first.
pub fn name_program(name: &'static str) {
    PROGRAM.get_or_init(|| name);
}

/// Takes the options that variables of the environment set, each with its variable. An error that names such an option then
/// names the variable too.
pub fn name_variables(options: Vec<(String, String)>) {
    VARIABLES.get_or_init(|| options);
}

/// The message of an error, with the variable of each option that it names, if one sets the option.
pub(crate) fn with_variables(message: &str) -> String {
    add_variables(message, VARIABLES.get().map(Vec::as_slice).unwrap_or_default())
}

fn add_variables(message: &str, options: &[(String, String)]) -> String {
    let is_part = |character: char| character.is_ascii_alphanumeric() || character == '-';
    let mut text = message.to_owned();
    for (option, variable) in options {
        let mut words = message.split(|character| !is_part(character));
        if words.any(|word| word == option) {
            text += &format!(" ({option} is set by {variable})");
        }
    }
    text
}

/// Prints one line on standard error, after the name of the program.
pub fn print_error(message: &str) {
    let program = PROGRAM.get().copied().unwrap_or("audit");
    let line = with_variables(message).replace('\n', " ");
    let line = printable(&line);
    // A closed standard error cannot be reported anywhere.
    writeln!(std::io::stderr(), "{program}: {line}").ok();
}

/// Whether the reader of the output has closed it, as in `audit-server routes | head`.
pub fn is_broken_pipe(error: &anyhow::Error) -> bool {
    error
        .downcast_ref::<std::io::Error>()
        .is_some_and(|error| error.kind() == std::io::ErrorKind::BrokenPipe)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_terminal_would_execute_is_escaped() {
        assert_eq!(printable("a\u{1b}[2Jb\u{9b}c\n"), "a\\u{1b}[2Jb\\u{9b}c\\n");
        assert_eq!(printable("a\u{202e}b"), "a\\u{202e}b");
        assert_eq!(printable_lines("a\nb\r"), "a\nb\\r");
        assert!(matches!(printable("Müller & Söhne — 株式会社"), Cow::Borrowed(_)));
    }

    #[test]
    fn an_error_names_the_variables_of_its_options() {
        let options = [("--key".to_owned(), "AUDIT_KEY".to_owned())];
        let wrong = "invalid value 'x' for '--key <KEY>'";
        let named = format!("{wrong} (--key is set by AUDIT_KEY)");
        assert_eq!(add_variables(wrong, &options), named);
        for other in ["--key-file: no such file", "the key is empty"] {
            assert_eq!(add_variables(other, &options), other);
        }
    }
}
