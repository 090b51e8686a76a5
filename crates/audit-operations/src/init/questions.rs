//! Questions at a terminal, whose answers may come from options.

use anyhow::{Context, bail};
use audit_cli::printable;
use std::io::{BufRead, Write};

/// A question, which has an option.
pub(super) struct Question<'a> {
    option: &'static str,
    text: &'static str,
    /// The answer to an empty line. `Some("")` is none.
    default: Option<&'a str>,
    check: fn(&str) -> anyhow::Result<()>,
}

impl<'a> Question<'a> {
    pub(super) fn new(
        option: &'static str,
        text: &'static str,
        default: Option<&'a str>,
        check: fn(&str) -> anyhow::Result<()>,
    ) -> Self {
        Self {
            option,
            text,
            default,
            check,
        }
    }
}

/// Asks at the terminal. Without `input` there is none, and options and defaults decide.
pub(super) struct Questions<I, O> {
    pub(super) input: Option<I>,
    pub(super) output: O,
}

impl<I: BufRead, O: Write> Questions<I, O> {
    /// The value of the option, or else the answer, or else the default. A wrong answer is asked for again; anything else that is wrong
    /// is an error with the name of the option.
    pub(super) fn ask(&mut self, question: &Question<'_>, given: Option<&str>) -> anyhow::Result<String> {
        let option = question.option;
        let Some(input) = self.input.as_mut().filter(|_| given.is_none()) else {
            let value = given.or(question.default);
            let value = value.with_context(|| format!("{option} is required: {}", question.text))?;
            (question.check)(value).context(option)?;
            return Ok(value.to_owned());
        };
        loop {
            let default = match question.default {
                None => String::new(),
                Some("") => " [none]".to_owned(),
                Some(default) => format!(" [{}]", printable(default)),
            };
            write!(self.output, "{}{default}: ", question.text)?;
            self.output.flush()?;
            let mut line = String::new();
            if input.read_line(&mut line)? == 0 {
                bail!("{option}: there is no answer");
            }
            let answer = match line.trim() {
                "" => question.default,
                answer => Some(answer),
            };
            match answer.map(question.check) {
                None => writeln!(self.output, "There is no default.")?,
                Some(Err(error)) => writeln!(self.output, "{}", printable(&format!("{error:#}")))?,
                Some(Ok(())) => return Ok(answer.unwrap_or_default().to_owned()),
            }
        }
    }
}
