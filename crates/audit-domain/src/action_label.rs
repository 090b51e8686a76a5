//! How people read an action: a label and a sentence in each language, and an icon. Presentation alone: no event and no log has any of it.

use crate::canonical;
use crate::words;
use crate::{Fields, Name};
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;
use std::fmt;
use std::str::FromStr;

words! {
    /// The pictures that a viewer can draw beside an action.
    pub enum ActionIcon {
        /// A plus sign.
        Add = "add",
        /// A triangle with an exclamation mark.
        Alert = "alert",
        /// A payment card.
        Card = "card",
        /// A bin.
        Delete = "delete",
        /// An arrow down to a line.
        Download = "download",
        /// A pencil.
        Edit = "edit",
        /// A sheet of paper.
        File = "file",
        /// A key.
        Key = "key",
        /// A padlock.
        Lock = "lock",
        /// An envelope.
        Mail = "mail",
        /// Sliders.
        Settings = "settings",
        /// A shield.
        Shield = "shield",
        /// A person.
        User = "user",
    }
}

/// What stands for a value that the event does not have, or that the reader does not see.
const ABSENT: &str = "–";

/// The language of those whose own a catalogue lacks.
const DEFAULT_LANGUAGE: &str = "en";

/// The tag of a language (BCP 47), such as `de` or `pt-br`, in lower case: tags are compared without case.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct LanguageTag(String);

/// The text is not the tag of a language.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "must be a language tag (BCP 47) such as en, de or pt-BR, with at most {} characters",
    LanguageTag::CHARS_MAX
)]
pub struct LanguageTagError;

impl LanguageTag {
    /// The longest tag, in characters (RFC 5646, section 4.4.1).
    pub const CHARS_MAX: usize = 35;

    /// The text of the tag.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The tags that a lookup tries (RFC 4647, section 3.4): this one, each without the last part of the one before, and English.
    fn tried(&self) -> impl Iterator<Item = &str> {
        std::iter::successors(Some(self.0.as_str()), |tag| shorter(tag)).chain([DEFAULT_LANGUAGE])
    }
}

fn shorter(tag: &str) -> Option<&str> {
    let (rest, _) = tag.rsplit_once('-')?;
    // A part of one character introduces the next one, and does not stand at the end.
    match rest.rsplit_once('-') {
        Some((before, last)) if last.len() == 1 => Some(before),
        _ => Some(rest),
    }
}

/// English.
impl Default for LanguageTag {
    fn default() -> Self {
        Self(DEFAULT_LANGUAGE.to_owned())
    }
}

impl FromStr for LanguageTag {
    type Err = LanguageTagError;

    fn from_str(text: &str) -> Result<Self, LanguageTagError> {
        let mut parts = text.split('-');
        let is_language = |part: &str| part.len() >= 2 && part.bytes().all(|byte| byte.is_ascii_alphabetic());
        let is_part =
            |part: &str| matches!(part.len(), 1..=8) && part.bytes().all(|byte| byte.is_ascii_alphanumeric());
        let is_tag = text.len() <= Self::CHARS_MAX
            && parts.clone().all(is_part)
            && parts.next().is_some_and(is_language);
        match is_tag {
            true => Ok(Self(text.to_ascii_lowercase())),
            false => Err(LanguageTagError),
        }
    }
}

impl fmt::Display for LanguageTag {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0)
    }
}

/// A sentence about an event, with placeholders for its values: `{actor} changed the role of {target} to {after.role}`.
///
/// `{actor}` and `{target}` are names, or ids where there is no name. `{before.PATH}` and `{after.PATH}` are the values of the change whose
/// `field` is the path, or of a member in the value of a change. `{metadata.PATH}` is a member of the metadata.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SentenceTemplate(String);

/// The text is not a template.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[expect(missing_docs, reason = "the messages say it")]
pub enum SentenceTemplateError {
    #[error("must have 1 to {} characters", SentenceTemplate::CHARS_MAX)]
    Length,
    #[error("must not contain a control character")]
    Control,
    #[error("has a brace without its counterpart")]
    Braces,
    #[error(
        "has the unknown placeholder {{{0}}}; known are {{actor}}, {{target}}, {{target.type}}, {{tenant}}, {{outcome}}, {{before.PATH}}, \
         {{after.PATH}} and {{metadata.PATH}}"
    )]
    Unknown(String),
}

/// A part of a template.
enum Part<'a> {
    Text(&'a str),
    Value(&'a str),
}

impl SentenceTemplate {
    /// The longest template, in characters.
    pub const CHARS_MAX: usize = 300;

    /// The text of the template.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The sentence about an event, given as its reader sees it: what is not in it is a dash.
    pub fn filled(&self, event: &Map<String, Value>) -> String {
        let mut sentence = String::with_capacity(self.0.len());
        // Templates are checked when they are parsed.
        for part in parts(&self.0).flatten() {
            match part {
                Part::Text(text) => sentence.push_str(text),
                Part::Value(name) => match value_of(name, event).and_then(text_of) {
                    Some(text) => sentence.push_str(&text),
                    None => sentence.push_str(ABSENT),
                },
            }
        }
        sentence
    }
}

impl FromStr for SentenceTemplate {
    type Err = SentenceTemplateError;

    fn from_str(text: &str) -> Result<Self, SentenceTemplateError> {
        if !(1..=Self::CHARS_MAX).contains(&text.chars().count()) {
            return Err(SentenceTemplateError::Length);
        }
        if text.chars().any(char::is_control) {
            return Err(SentenceTemplateError::Control);
        }
        for part in parts(text) {
            match part.ok_or(SentenceTemplateError::Braces)? {
                Part::Value(name) if !is_placeholder(name) => {
                    return Err(SentenceTemplateError::Unknown(name.to_owned()));
                }
                Part::Text(_) | Part::Value(_) => {}
            }
        }
        Ok(Self(text.to_owned()))
    }
}

impl fmt::Display for SentenceTemplate {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0)
    }
}

/// The parts of a template; `None` for a brace without its counterpart, after which nothing more is read.
fn parts(template: &str) -> impl Iterator<Item = Option<Part<'_>>> {
    let mut rest = template;
    std::iter::from_fn(move || {
        let at = rest.find(['{', '}']).unwrap_or(rest.len());
        if at > 0 {
            let (text, after) = rest.split_at(at);
            rest = after;
            return Some(Some(Part::Text(text)));
        }
        let braced = std::mem::take(&mut rest);
        let Some(inner) = braced.strip_prefix('{') else {
            return (!braced.is_empty()).then_some(None);
        };
        let closed = inner.split_once('}').filter(|(name, _)| !name.contains('{'));
        Some(closed.map(|(name, after)| {
            rest = after;
            Part::Value(name)
        }))
    })
}

fn is_placeholder(name: &str) -> bool {
    match name.split_once('.') {
        Some(("before" | "after" | "metadata", path)) => path.split('.').all(|step| !step.is_empty()),
        _ => matches!(name, "actor" | "target" | "target.type" | "tenant" | "outcome"),
    }
}

/// The value of a placeholder.
fn value_of<'e>(name: &str, event: &'e Map<String, Value>) -> Option<&'e Value> {
    let named = |party: &str| {
        let party = event.get(party)?;
        party.get("name").or_else(|| party.get("id"))
    };
    match name.split_once('.') {
        Some(("metadata", path)) => member(event.get("metadata")?, path),
        Some((side @ ("before" | "after"), path)) => changed(event.get("changes")?.as_array()?, side, path),
        Some(("target", "type")) => event.get("target")?.get("type"),
        None if name == "tenant" => event.get("tenant_id"),
        None if name == "outcome" => event.get("outcome"),
        _ => named(name),
    }
}

/// What a change of this field has on one side, or else what is at the rest of the path in a change of its beginning.
fn changed<'e>(changes: &'e [Value], side: &str, path: &str) -> Option<&'e Value> {
    let field_of = |change: &'e Value| change.get("field").and_then(Value::as_str);
    if let Some(change) = changes.iter().find(|change| field_of(change) == Some(path)) {
        return change.get(side);
    }
    changes.iter().find_map(|change| {
        let rest = path.strip_prefix(field_of(change)?)?.strip_prefix('.')?;
        member(change.get(side)?, rest)
    })
}

fn member<'e>(value: &'e Value, path: &str) -> Option<&'e Value> {
    path.split('.')
        .try_fold(value, |value, step| value.as_object()?.get(step))
}

/// A value in a sentence: texts as they are, numbers and booleans as JSON. Nothing else is one.
fn text_of(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()).filter(|text| !text.is_empty()),
        Value::Number(_) | Value::Bool(_) => Some(canonical::to_string(value)),
        Value::Null | Value::Array(_) | Value::Object(_) => None,
    }
}

/// An action in one language.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ActionText {
    /// The action in a few words.
    pub label: Name,
    /// An event of the action in a sentence.
    pub template: Option<SentenceTemplate>,
}

/// An action in the catalogue of a project.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ActionLabel {
    /// The picture beside it.
    pub icon: Option<ActionIcon>,
    /// The texts, at least one.
    pub languages: BTreeMap<LanguageTag, ActionText>,
}

impl ActionLabel {
    /// The languages of an action, at most.
    pub const LANGUAGES_MAX: usize = 16;
    /// The texts of an action, in bytes of JSON.
    pub const BYTES_MAX: usize = 4_096;

    /// Reads the members `icon` and `languages` of an object.
    pub fn read(fields: &mut Fields<'_>) -> Option<Self> {
        let icon = fields.optional_parsed("icon");
        let members = fields.required_object("languages")?;
        if !(1..=Self::LANGUAGES_MAX).contains(&members.len()) {
            return fields.violate(
                "languages",
                format_args!("must have from 1 to {} languages", Self::LANGUAGES_MAX),
            );
        }
        let mut of_languages = fields.nested("languages", members);
        let mut languages = BTreeMap::new();
        for name in of_languages.names_with("") {
            let text = read_text(&mut of_languages, &name);
            let tag = match name.parse::<LanguageTag>() {
                Ok(tag) if languages.contains_key(&tag) => of_languages.violate(&name, "must be there once"),
                Ok(tag) => Some(tag),
                Err(error) => of_languages.violate(&name, error),
            };
            languages.extend(tag.zip(text));
        }
        let label = Self { icon, languages };
        match label.to_json().to_string().len() <= Self::BYTES_MAX {
            true => Some(label),
            false => fields.violate(
                "languages",
                format_args!("must have at most {} bytes together", Self::BYTES_MAX),
            ),
        }
    }

    /// The object that [`Self::read`] reads.
    pub fn to_json(&self) -> Value {
        let text = |text: &ActionText| match &text.template {
            Some(template) => json!({"label": text.label.as_str(), "template": template.as_str()}),
            None => json!({"label": text.label.as_str()}),
        };
        let languages = self.languages.iter();
        let languages: Map<_, _> = languages.map(|(tag, one)| (tag.to_string(), text(one))).collect();
        json!({"icon": self.icon.map(ActionIcon::as_str), "languages": languages})
    }

    /// The text for a reader of this language: the one of the closest language, or that in English.
    pub fn text(&self, language: &LanguageTag) -> Option<&ActionText> {
        let mut tried = language.tried();
        tried.find_map(|tag| self.languages.get(&LanguageTag(tag.to_owned())))
    }
}

fn read_text(languages: &mut Fields<'_>, name: &str) -> Option<ActionText> {
    let members = languages.required_object(name)?;
    let mut text = languages.nested(name, members);
    let label = text.required_parsed("label");
    let template = text.optional_parsed("template");
    text.refuse_the_rest();
    Some(ActionText {
        label: label?,
        template,
    })
}

#[cfg(test)]
mod tests;
