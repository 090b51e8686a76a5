//! Passwords in short options and arguments of command lines: `curl -u user:password`, `mysql -ppassword`,
//! `redis-cli -a password`. What an option means depends on the program: `ssh -p` has a port.

mod programs;

use super::name::Name;
use super::spoken::flag;
use super::value::{Place, secret_in};
use crate::scan::Span;
use crate::work;
use programs::{Arguments, Joint, PROGRAMS, Part, Program};

/// Finds the passwords behind the options of known programs.
pub(super) fn find(text: &str, hit: &mut impl FnMut(Span)) {
    let mut program: Option<&Program> = None;
    let mut subcommand = false;
    let mut tokens = Tokens { text, at: 0 };
    while let Some(token) = tokens.next() {
        let word = &text[token.start..token.end];
        if let Some(known) = program_of(word) {
            program = Some(known);
            subcommand = known.subcommand.is_empty();
            let mut arguments = known.arguments.iter();
            if let Some(secret) = arguments.find_map(|form| argument(text, token.end, *form)) {
                hit(secret);
            }
            continue;
        }
        // `"--password", "value"` in a list. Without quotation marks it is an assignment.
        if word.starts_with('-') && text[token.end..].starts_with(['"', '\'', '\\']) && flag(word).is_some() {
            let value = quoted_or_word(text, next_word(text, token.end).0);
            if is_password(text, value) {
                hit(value);
                continue;
            }
        }
        let Some(known) = program else { continue };
        if matches!(word, "|" | "||" | "&&" | ";") {
            program = None;
            continue;
        }
        subcommand |= word == known.subcommand;
        if !subcommand || !word.starts_with(['-', '/']) {
            continue;
        }
        let Some((start, part)) = option_value(text, token, known) else {
            continue;
        };
        let value = quoted_or_word(text, start);
        if let Some(secret) = part_of(text, value, part).filter(|span| is_password(text, *span)) {
            hit(secret);
            tokens.at = tokens.at.max(value.end);
            if part == Part::Whole {
                // In `sshpass -p … ssh -p 22`, the second option is that of another program.
                program = None;
            }
        }
    }
}

/// The words of a text, without quotation marks and the punctuation of lists around them.
struct Tokens<'t> {
    text: &'t str,
    at: usize,
}

impl Iterator for Tokens<'_> {
    type Item = Span;

    fn next(&mut self) -> Option<Span> {
        const MARKS: &[char] = &['"', '\'', '`', '[', ']', ',', '(', ')', '{', '}', '\\'];
        loop {
            let rest = &self.text[self.at..];
            let start = self.at + rest.find(|ch: char| !ch.is_ascii_whitespace())?;
            let rest = &self.text[start..];
            let bytes = rest.as_bytes();
            // A comma of a list has a quotation mark before it.
            let ends = |at: &usize| match bytes[*at] {
                b',' => *at > 0 && matches!(bytes[*at - 1], b'"' | b'\''),
                byte => byte.is_ascii_whitespace(),
            };
            let len = (0..bytes.len()).find(ends).unwrap_or(bytes.len());
            work::bytes_read(start + len - self.at);
            self.at = (start + len + 1).min(self.text.len());
            while !self.text.is_char_boundary(self.at) {
                self.at += 1;
            }
            let word = &rest[..len];
            let inner = word.trim_start_matches(MARKS);
            let start = start + len - inner.len();
            let end = start + inner.trim_end_matches(MARKS).len();
            if start < end {
                return Some(Span::new(start, end));
            }
        }
    }
}

/// The program that a word names: `mysql`, `/usr/bin/mysql`, `COMMAND=/usr/bin/mysql`, `mysql.exe`.
fn program_of(word: &str) -> Option<&'static Program> {
    let name = word
        .rsplit(['/', '\\', '=', '"', '\'', '(', ':', '`'])
        .next()
        .unwrap_or_default();
    let name = name.strip_suffix(".exe").unwrap_or(name);
    PROGRAMS
        .iter()
        .find(|program| program.names.iter().any(|known| known.eq_ignore_ascii_case(name)))
}

/// The start of the value of an option with a password, and the part of the value that is one.
fn option_value(text: &str, token: Span, program: &Program) -> Option<(usize, Part)> {
    let word = &text[token.start..token.end];
    let (next, is_spaced) = next_word(text, token.end);
    program.options.iter().find_map(|option| {
        let rest = word.strip_prefix(option.flag);
        match (rest, option.joint) {
            (Some(""), Joint::Spaced | Joint::Either) if is_spaced => Some((next, option.part)),
            (Some(""), Joint::Joined | Joint::Either) if text[token.end..].starts_with(['"', '\'']) => {
                Some((token.end, option.part))
            }
            (Some(value), Joint::Joined | Joint::Either) if !value.is_empty() => {
                let is_long = option.flag.starts_with("--");
                let sign = usize::from(value.starts_with('='));
                (!is_long || sign == 1).then(|| (token.end - value.len() + sign, option.part))
            }
            // The last of several letters, as in `curl -sSu user:password`.
            (None, Joint::Either) if is_spaced && option.part == Part::BehindColon => {
                let letters = word.strip_prefix('-')?;
                let is_last = letters.bytes().all(|byte| byte.is_ascii_alphabetic())
                    && option.flag.len() == 2
                    && letters.ends_with(&option.flag[1..]);
                is_last.then_some((next, option.part))
            }
            _ => None,
        }
    })
}

/// The start of the next word, and whether a space or, in a list, a comma is before it.
fn next_word(text: &str, end: usize) -> (usize, bool) {
    let rest = &text[end..];
    let rest = rest.trim_start_matches('\\');
    let rest = rest.strip_prefix(['"', '\'']).unwrap_or(rest);
    let behind = rest.strip_prefix(',').unwrap_or(rest);
    let is_spaced = behind.len() < rest.len() || behind.starts_with([' ', '\t']);
    (
        text.len() - behind.trim_start_matches([' ', '\t']).len(),
        is_spaced,
    )
}

/// The word at `start`, or what is between the quotation marks there.
fn quoted_or_word(text: &str, start: usize) -> Span {
    let rest = &text[start..];
    let escapes = rest.len() - rest.trim_start_matches('\\').len();
    let quoted = &rest[escapes..];
    if let Some(quote) = quoted.chars().next().filter(|ch| matches!(ch, '"' | '\'')) {
        let inner = &quoted[1..];
        let len = inner.find(quote).unwrap_or(inner.len());
        work::bytes_read(len);
        let len = inner[..len].trim_end_matches('\\').len();
        let start = start + escapes + 1;
        return Span::new(start, start + len);
    }
    let len = rest
        .find(|ch: char| ch.is_ascii_whitespace() || matches!(ch, '"' | '\'' | ';' | '|' | '`'))
        .unwrap_or(rest.len());
    work::bytes_read(len);
    Span::new(
        start,
        start + rest[..len].trim_end_matches([',', ']', ')', '.', '\\']).len(),
    )
}

/// Whether the program whose name ends at `from` prints the password of another, as in `--password-command 'echo …'`.
fn is_command_of_option(text: &str, from: usize) -> bool {
    const OPTIONS: &[&str] = &[
        "password-command",
        "password_command",
        "passphrase-command",
        "passcommand",
        "passcmd",
    ];
    let before = text[..from].trim_end_matches(|ch: char| ch.is_ascii_alphabetic() || ch == '/');
    let before = before.trim_end_matches(['"', '\'', '=', ' ', '\\']).as_bytes();
    OPTIONS.iter().any(|option| {
        let at = before.len().checked_sub(option.len());
        at.is_some_and(|at| before[at..].eq_ignore_ascii_case(option.as_bytes()))
    })
}

fn part_of(text: &str, value: Span, part: Part) -> Option<Span> {
    let word = &text[value.start..value.end];
    let behind = |mark: char| {
        word.find(mark)
            .filter(|at| *at > 0)
            .map(|at| Span::new(value.start + at + mark.len_utf8(), value.end))
    };
    match part {
        Part::Whole => Some(value),
        Part::BehindColon => behind(':'),
        Part::BehindPercent => behind('%'),
        Part::BehindComma => behind(','),
        Part::BehindEquals => behind('='),
        Part::BehindPass => word
            .strip_prefix("pass:")
            .map(|rest| Span::new(value.end - rest.len(), value.end)),
    }
}

/// Whether what stands where a password belongs may be one. A path, a flag or a variable is none.
fn is_password(text: &str, span: Span) -> bool {
    let value = &text[span.start..span.end];
    let is_variable = value.strip_prefix('$').is_some_and(|name| {
        name.bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
    });
    !value.starts_with('-')
        && !is_variable
        && secret_in(Name::Password, text, span, Place::Assigned).is_some()
}

/// Where the program that reads a pipe is searched for.
const PIPE_BYTES_MAX: usize = 256;
/// What makes a program read a password from a pipe.
const STDIN_OPTIONS: &[&str] = &["--password-stdin", "sudo -S", "--stdin", "--passphrase-fd 0"];

/// The password among the arguments behind the name of a program, which ends at `from`.
fn argument(text: &str, from: usize, form: Arguments) -> Option<Span> {
    const ARGUMENTS_MAX: usize = 12;
    let is_end = |span: &Span| matches!(&text[span.start..span.end], "|" | "||" | "&&" | ";");
    let words = || {
        Tokens { text, at: from }
            .take(ARGUMENTS_MAX)
            .take_while(move |span| !is_end(span))
    };
    let word = |span: &Span| &text[span.start..span.end];
    let is_option = |span: &Span| word(span).starts_with(['-', '/']);
    let found = match form {
        // `htpasswd -b file user password`
        Arguments::Last { flag } => {
            let is_given = |span: Span| {
                let letters = word(&span).strip_prefix('-');
                letters.is_some_and(|letters| letters.contains(flag))
            };
            words().any(is_given).then(|| words().last())?
        }
        // `rabbitmqctl add_user user password`
        Arguments::Behind { verbs, plain } => {
            let mut rest = words().skip_while(|span| !verbs.contains(&word(span)));
            rest.next()?;
            rest.filter(|span| !is_option(span)).nth(plain)
        }
        // `net use \\host\share password /user:name`
        Arguments::Before { option } => {
            let mut last = None;
            words()
                .find_map(|span| {
                    let is_it = word(&span)
                        .get(..option.len())
                        .is_some_and(|start| start.eq_ignore_ascii_case(option));
                    if is_it { last } else { last.replace(span).and(None) }
                })
                .filter(|span| !word(span).starts_with('\\') && !word(span).ends_with([':', '*']))
                .filter(|span| span.start > 0 && !text[..span.start].ends_with('\\'))
        }
        Arguments::After { option } => {
            let mut rest = words().skip_while(|span| {
                !word(span)
                    .get(..option.len())
                    .is_some_and(|start| start.eq_ignore_ascii_case(option))
            });
            rest.next()?;
            rest.next().filter(|span| !word(span).ends_with('*'))
        }
        Arguments::First => words()
            .next()
            .map(|_| quoted_or_word(text, next_word(text, from).0)),
        Arguments::Piped => {
            let mut end = text.len().min(from + PIPE_BYTES_MAX);
            while !text.is_char_boundary(end) {
                end -= 1;
            }
            let is_read =
                |(_, behind): (&str, &str)| STDIN_OPTIONS.iter().any(|option| behind.contains(option));
            let reads_password =
                text[from..end].split_once('|').is_some_and(is_read) || is_command_of_option(text, from);
            reads_password.then(|| quoted_or_word(text, next_word(text, from).0))
        }
        // `sqlplus user/password@database`
        Arguments::BehindSlash => words().find(|span| !is_option(span)).and_then(|span| {
            let user = word(&span);
            let slash = user.find('/').filter(|at| *at > 0)?;
            let end = user.rfind('@').filter(|at| *at > slash).unwrap_or(user.len());
            Some(Span::new(span.start + slash + 1, span.start + end))
        }),
    }?;
    (!is_option(&found) && is_password(text, found)).then_some(found)
}
