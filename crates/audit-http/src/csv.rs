//! Events as lines of CSV (RFC 4180), made to be opened in a spreadsheet.
//!
//! `csv-core` escapes the fields. Which of them are quoted is decided here, because no quote style of `csv` fits: a
//! text that a spreadsheet would evaluate as a formula gets a `'` before it (OWASP, "CSV Injection"), and every field
//! but a plain word is quoted. A program with another separator, such as Excel where the comma is the decimal separator,
//! ignores a quote that is not at the begin of what it takes for a field, and finds starts of fields within a field. So
//! a formula gets a `'` there too.

use audit_domain::EventField;
use serde::Deserialize;
use serde_json::value::RawValue;
use std::borrow::Cow;

/// The name of a field's column. The columns are in the order of [`EventField::ALL`].
pub(crate) const fn column(field: EventField) -> &'static str {
    match field {
        EventField::Id => "id",
        EventField::OccurredAt => "occurred_at",
        EventField::ReceivedAt => "received_at",
        EventField::Action => "action",
        EventField::Category => "category",
        EventField::TenantId => "tenant_id",
        EventField::ActorId => "actor_id",
        EventField::ActorType => "actor_type",
        EventField::ActorName => "actor_name",
        EventField::ActorEmail => "actor_email",
        EventField::TargetId => "target_id",
        EventField::TargetType => "target_type",
        EventField::TargetName => "target_name",
        EventField::IpAddress => "ip_address",
        EventField::UserAgent => "user_agent",
        EventField::Location => "location",
        EventField::SessionId => "session_id",
        EventField::IdempotencyKey => "idempotency_key",
        EventField::Metadata => "metadata",
        EventField::Changes => "changes",
        EventField::Redacted => "redacted",
        EventField::ContentHash => "content_hash",
        EventField::ContentSalt => "content_salt",
    }
}

/// An event as a reader sees it. Fields that a tier can hide may be missing.
#[derive(Deserialize)]
struct EventRow<'a> {
    #[serde(borrow)]
    id: Cow<'a, str>,
    #[serde(borrow)]
    occurred_at: Cow<'a, str>,
    #[serde(borrow)]
    received_at: Cow<'a, str>,
    #[serde(borrow)]
    action: Option<Cow<'a, str>>,
    #[serde(borrow)]
    category: Option<Cow<'a, str>>,
    #[serde(borrow)]
    tenant_id: Cow<'a, str>,
    #[serde(borrow, default)]
    actor: PartyFields<'a>,
    #[serde(borrow, default)]
    target: PartyFields<'a>,
    #[serde(borrow, default)]
    context: ContextFields<'a>,
    #[serde(borrow)]
    idempotency_key: Option<Cow<'a, str>>,
    #[serde(borrow)]
    metadata: Option<&'a RawValue>,
    #[serde(borrow)]
    changes: Option<&'a RawValue>,
    redacted: bool,
    #[serde(borrow)]
    content_hash: Cow<'a, str>,
    #[serde(borrow)]
    content_salt: Option<Cow<'a, str>>,
}

#[derive(Default, Deserialize)]
struct PartyFields<'a> {
    #[serde(borrow)]
    id: Option<Cow<'a, str>>,
    #[serde(borrow, rename = "type")]
    kind: Option<Cow<'a, str>>,
    #[serde(borrow)]
    name: Option<Cow<'a, str>>,
    #[serde(borrow)]
    email: Option<Cow<'a, str>>,
}

#[derive(Default, Deserialize)]
struct ContextFields<'a> {
    #[serde(borrow)]
    ip_address: Option<Cow<'a, str>>,
    #[serde(borrow)]
    user_agent: Option<Cow<'a, str>>,
    #[serde(borrow)]
    location: Option<Cow<'a, str>>,
    #[serde(borrow)]
    session_id: Option<Cow<'a, str>>,
}

impl EventRow<'_> {
    /// The text in a field's column.
    fn cell(&self, field: EventField) -> &str {
        let text = match field {
            EventField::Id => Some(&self.id),
            EventField::OccurredAt => Some(&self.occurred_at),
            EventField::ReceivedAt => Some(&self.received_at),
            EventField::Action => self.action.as_ref(),
            EventField::Category => self.category.as_ref(),
            EventField::TenantId => Some(&self.tenant_id),
            EventField::ActorId => self.actor.id.as_ref(),
            EventField::ActorType => self.actor.kind.as_ref(),
            EventField::ActorName => self.actor.name.as_ref(),
            EventField::ActorEmail => self.actor.email.as_ref(),
            EventField::TargetId => self.target.id.as_ref(),
            EventField::TargetType => self.target.kind.as_ref(),
            EventField::TargetName => self.target.name.as_ref(),
            EventField::IpAddress => self.context.ip_address.as_ref(),
            EventField::UserAgent => self.context.user_agent.as_ref(),
            EventField::Location => self.context.location.as_ref(),
            EventField::SessionId => self.context.session_id.as_ref(),
            EventField::IdempotencyKey => self.idempotency_key.as_ref(),
            EventField::ContentHash => Some(&self.content_hash),
            EventField::ContentSalt => self.content_salt.as_ref(),
            EventField::Metadata => return self.metadata.map(RawValue::get).unwrap_or_default(),
            EventField::Changes => return self.changes.map(RawValue::get).unwrap_or_default(),
            EventField::Redacted => return if self.redacted { "true" } else { "false" },
        };
        text.map(AsRef::as_ref).unwrap_or_default()
    }
}

/// The first line.
pub(crate) fn write_header(lines: &mut Vec<u8>) {
    write_line(lines, EventField::ALL.iter().map(|field| column(*field)));
}

/// The line of an event.
pub(crate) fn write_event(lines: &mut Vec<u8>, event: &RawValue) -> serde_json::Result<()> {
    let row: EventRow<'_> = serde_json::from_str(event.get())?;
    write_line(lines, EventField::ALL.iter().map(|field| row.cell(*field)));
    Ok(())
}

fn write_line<'a>(lines: &mut Vec<u8>, cells: impl Iterator<Item = &'a str>) {
    for (index, cell) in cells.enumerate() {
        if index > 0 {
            lines.push(b',');
        }
        write_field(lines, cell);
    }
    lines.extend_from_slice(b"\r\n");
}

fn write_field(lines: &mut Vec<u8>, field: &str) {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'.' | b':' | b'-');
    let is_formula = begins_formula(field);
    if !is_formula && field.bytes().all(is_plain) {
        lines.extend_from_slice(field.as_bytes());
        return;
    }
    let guarded = guarded(field);
    let field = guarded.as_bytes();
    lines.push(b'"');
    let start = lines.len();
    // Every byte may be a quote, which is written twice.
    lines.resize(start + 2 * field.len(), 0);
    let (_, _, written) = csv_core::quote(field, &mut lines[start..], b'"', b'"', true);
    lines.truncate(start + written);
    lines.push(b'"');
}

/// A text with a `'` before each formula: at its begin, and behind what some program takes for a separator, with the
/// white space and quotes that programs skip there.
fn guarded(field: &str) -> Cow<'_, str> {
    let mut guarded = String::new();
    let mut copied = 0;
    let mut is_start = true;
    for (index, character) in field.char_indices() {
        let is_separator = matches!(character, ';' | '\t' | '\r' | '\n');
        let is_formula = is_start && is_operator(character) || index == 0 && begins_formula(field);
        if is_formula {
            guarded.push_str(&field[copied..index]);
            guarded.push('\'');
            copied = index;
        }
        is_start = is_separator || is_start && !is_formula && (character.is_whitespace() || character == '"');
    }
    if copied == 0 && guarded.is_empty() {
        return Cow::Borrowed(field);
    }
    guarded.push_str(&field[copied..]);
    Cow::Owned(guarded)
}

/// What a formula begins with, also in full-width form.
const fn is_operator(character: char) -> bool {
    matches!(character, '=' | '+' | '-' | '@' | '＝' | '＋' | '－' | '＠')
}

/// Whether a spreadsheet may evaluate a text that begins like this: an operator, or white space that some programs skip
/// before one.
fn begins_formula(field: &str) -> bool {
    let first = field.chars().next();
    first.is_some_and(|first| is_operator(first) || matches!(first, '\t' | '\r' | '\n'))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn field(text: &str) -> String {
        let mut lines = Vec::new();
        write_field(&mut lines, text);
        String::from_utf8(lines).unwrap()
    }

    fn line(event: &str) -> String {
        let mut lines = Vec::new();
        write_event(&mut lines, &RawValue::from_string(event.to_owned()).unwrap()).unwrap();
        String::from_utf8(lines).unwrap()
    }

    #[test]
    fn what_is_no_plain_word_is_quoted() {
        for plain in [
            "",
            "user.created",
            "evt_01",
            "2026-01-15T10:30:00.000Z",
            "sha256:0a",
        ] {
            assert_eq!(field(plain), plain);
        }
        assert_eq!(field("a,b"), "\"a,b\"");
        assert_eq!(field("say \"hi\""), "\"say \"\"hi\"\"\"");
        assert_eq!(field("two\r\nlines"), "\"two\r\nlines\"");
        assert_eq!(field("a;b"), "\"a;b\"");
        assert_eq!(field("é"), "\"é\"");
    }

    #[test]
    fn what_begins_like_a_formula_is_made_a_text() {
        for first in ["=", "+", "-", "@", "\t", "\r", "\n", "＝", "＋", "－", "＠"] {
            let formula = format!("{first}1+1");
            assert_eq!(field(&formula), format!("\"'{formula}\""));
        }
        assert_eq!(field("=a\"b"), "\"'=a\"\"b\"");
        assert_eq!(field("a=1"), "\"a=1\"");
        assert_eq!(field("'=1"), "\"'=1\"");
    }

    /// Excel splits at `;` or a tab in most of Europe. The quote at the begin of the comma-separated field is then within
    /// a field, where it has no meaning.
    #[test]
    fn what_begins_a_formula_behind_another_separator_is_made_a_text() {
        for separator in [";", "\t", "\r\n", "\n", "; ", ";\u{a0}"] {
            for operator in ["=", "+", "-", "@", "＝"] {
                assert_eq!(
                    field(&format!("a{separator}{operator}1;b")),
                    format!("\"a{separator}'{operator}1;b\"")
                );
            }
        }
        assert_eq!(field("a;\"=1\""), "\"a;\"\"'=1\"\"\"");
        assert_eq!(field(";=1;=2"), "\";'=1;'=2\"");
        assert_eq!(field("=1;@2"), "\"'=1;'@2\"");
        assert_eq!(field(" =1"), "\" '=1\"");
        assert_eq!(field("a;b=1-2 @c"), "\"a;b=1-2 @c\"");
        // A comma separates nothing within quotes.
        assert_eq!(field("[1,-2]"), "\"[1,-2]\"");
    }

    #[test]
    fn a_line_has_a_field_for_each_column() {
        let mut header = Vec::new();
        write_header(&mut header);
        let header = String::from_utf8(header).unwrap();
        assert!(
            header.starts_with("id,occurred_at,")
                && header.ends_with(",redacted,content_hash,content_salt\r\n")
        );
        let event = r#"{"content_hash":"sha256:0a","content_salt":"5a","redacted":true,"action":"a.b","actor":{"email":"e","id":"i","name":"n","type":"user"},
            "category":"auth","changes":[{"field":"f","before":1.0}],"context":{"ip_address":"p","location":"l","session_id":"s","user_agent":"u"},
            "id":"evt_1","idempotency_key":"k","metadata":{"b": [1, "x"]},"occurred_at":"o","received_at":"r",
            "target":{"id":"ti","name":"tn","type":"tt"},"tenant_id":"t"}"#;
        let expected = concat!(
            r#"evt_1,o,r,a.b,auth,t,i,user,n,e,ti,tt,tn,p,u,l,s,k,"{""b"": [1, ""x""]}","#,
            r#""[{""field"":""f"",""before"":1.0}]",true,sha256:0a,5a"#,
            "\r\n"
        );
        assert_eq!(line(event), expected);
    }

    #[test]
    fn a_csv_reader_finds_every_field_as_it_was() {
        let fields = [
            "",
            "word",
            "\"",
            "say \"hi\"",
            "a,b;c",
            "two\r\nlines",
            "\"\"\"",
            "é",
            "",
        ];
        let mut line = Vec::new();
        write_line(&mut line, fields.into_iter());
        let (mut text, mut ends) = ([0; 256], [0; 16]);
        let (result, read, _, count) = csv_core::Reader::new().read_record(&line, &mut text, &mut ends);
        // A reader counts the line feed of the CRLF as part of the next record.
        assert_eq!(
            (result, read),
            (csv_core::ReadRecordResult::Record, line.len() - 1)
        );
        let mut start = 0;
        let found = ends[..count].iter().map(|end| {
            let field = &text[start..*end];
            start = *end;
            std::str::from_utf8(field).unwrap()
        });
        assert_eq!(found.collect::<Vec<_>>(), fields);
    }

    #[test]
    fn what_is_hidden_or_absent_is_empty() {
        let event = r#"{"id":"evt_1","occurred_at":"o","received_at":"r","tenant_id":"t","actor":{"id":"\u0041"},"redacted":false,"content_hash":"h"}"#;
        assert_eq!(
            line(event),
            format!("evt_1,o,r,,,t,A{}false,h,\r\n", ",".repeat(14))
        );
    }
}
