//! What a person is found by, as it is sent.

use super::{IDENTIFIER_CHARS_MAX, IDENTIFIERS_MAX, Identifiers, TEXT_CHARS_MIN};
use audit_domain::Fields;
use audit_domain::json::Json;
use std::fmt::{self, Display};
use std::str::FromStr;

/// A value that is found as a whole.
struct Exact(String);

/// A value that is found within texts. With nothing to read in it, it would be found in texts of everybody.
struct Within(String);

/// The message does not repeat the text.
#[derive(Debug)]
struct IdentifierError(usize);

impl Display for IdentifierError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self(chars_min) = self;
        write!(
            formatter,
            "must have {chars_min} to {IDENTIFIER_CHARS_MAX} characters"
        )?;
        match *chars_min {
            TEXT_CHARS_MIN => formatter.write_str(", a letter or digit, and no white space at either end"),
            _ => Ok(()),
        }
    }
}

impl FromStr for Exact {
    type Err = IdentifierError;

    fn from_str(text: &str) -> Result<Self, IdentifierError> {
        match (1..=IDENTIFIER_CHARS_MAX).contains(&text.chars().count()) {
            true => Ok(Self(text.to_owned())),
            false => Err(IdentifierError(1)),
        }
    }
}

impl FromStr for Within {
    type Err = IdentifierError;

    fn from_str(text: &str) -> Result<Self, IdentifierError> {
        let is_found = (TEXT_CHARS_MIN..=IDENTIFIER_CHARS_MAX).contains(&text.chars().count())
            && text.contains(char::is_alphanumeric)
            && text.trim() == text;
        match is_found {
            true => Ok(Self(text.to_owned())),
            false => Err(IdentifierError(TEXT_CHARS_MIN)),
        }
    }
}

impl Identifiers {
    /// Reads the member `identifiers`. No violation repeats one.
    pub fn read(fields: &mut Fields<'_>) -> Option<Self> {
        let members = fields.required_object("identifiers")?;
        let count = |value: &Json<'_>| match value {
            Json::Array(items) => items.len(),
            Json::Null => 0,
            _ => 1,
        };
        match members.iter().map(|(_, value)| count(value)).sum::<usize>() {
            0 => return fields.violate("identifiers", "must have an id or a text"),
            1..=IDENTIFIERS_MAX => {}
            _ => {
                return fields.violate(
                    "identifiers",
                    format_args!("must have at most {IDENTIFIERS_MAX} ids and texts together"),
                );
            }
        }
        let mut identifiers = fields.nested("identifiers", members);
        let ids = identifiers.optional_list::<Exact>("ids", IDENTIFIERS_MAX);
        let texts = identifiers.optional_list::<Within>("texts", IDENTIFIERS_MAX);
        identifiers.refuse_the_rest();
        Some(Self {
            ids: ids.into_iter().flatten().map(|Exact(id)| id).collect(),
            texts: texts.into_iter().flatten().map(|Within(text)| text).collect(),
        })
    }
}
