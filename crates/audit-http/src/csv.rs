//! Events as lines of CSV.

use audit_app::LabelsByAction;
use audit_csv::{Dialect, Field};
use audit_domain::{EventField, EventJson, TimeZone, Timestamp};
use serde::Deserialize;
use serde::de::Error;
use serde_json::value::RawValue;
use std::borrow::Cow;
use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

/// Excel takes a file without it for one in the encoding of its system.
const BYTE_ORDER_MARK: &str = "\u{feff}";

/// The column with the parts that erasures have taken.
const ERASED: &str = "erased";
/// The column with what people read in the place of the action.
const SUMMARY: &str = "summary";

/// How events are written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Form {
    /// Separator, and whether it is for Excel: then times have no fraction and no offset, so that Excel reads them as times in every
    /// language.
    pub(crate) dialect: Dialect,
    /// The time zone of the times.
    pub(crate) zone: TimeZone,
    /// The labels of actions, where there is a column for what they say.
    pub(crate) labels: Option<Arc<LabelsByAction>>,
}

impl Form {
    fn time(&self, time: Timestamp) -> String {
        let offset = UtcOffset::of(&self.zone, time);
        match self.dialect.is_for_excel {
            true => offset.local(time, ' ', "2026-01-15 11:30:00".len()),
            false => offset.local(time, 'T', "2026-01-15T11:30:00.000".len()) + &offset.to_string(),
        }
    }
}

/// The difference of a local time from UTC, in seconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct UtcOffset(i64);

/// The text is no offset.
#[derive(Debug, thiserror::Error)]
#[error("must be an offset from UTC such as -05:00 or +02:00, at most 14 hours; a + is %2B in a URL")]
pub(crate) struct UtcOffsetError;

impl UtcOffset {
    /// The greatest offset that a place has.
    const MINUTES_MAX: i64 = 14 * 60;

    /// That of a zone at a time, in whole minutes: RFC 3339 has no seconds, which only times before some 1930 have.
    pub(crate) fn of(zone: &TimeZone, time: Timestamp) -> Self {
        Self(zone.offset_seconds(time) / 60 * 60)
    }

    /// The same offset at all times.
    pub(crate) fn zone(self) -> TimeZone {
        TimeZone::fixed(self.0)
    }

    /// The time whose text in UTC is the local date and time.
    pub(crate) const fn shifted(self, time: Timestamp) -> Timestamp {
        time.plus_seconds(self.0)
    }

    /// The local date and time, cut after `bytes` bytes, with `between` between the two.
    fn local(self, time: Timestamp, between: char, bytes: usize) -> String {
        let mut text = self.shifted(time).to_string();
        text.truncate(bytes);
        text.replace('T', between.encode_utf8(&mut [0; 4]))
    }

    /// The local date, `2026-01-15`.
    pub(crate) fn date(self, time: Timestamp) -> String {
        self.local(time, 'T', "2026-01-15".len())
    }
}

/// As RFC 3339 has it.
impl fmt::Display for UtcOffset {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let sign = if self.0 < 0 { '-' } else { '+' };
        let minutes = self.0.abs() / 60;
        write!(formatter, "{sign}{:02}:{:02}", minutes / 60, minutes % 60)
    }
}

impl FromStr for UtcOffset {
    type Err = UtcOffsetError;

    fn from_str(text: &str) -> Result<Self, UtcOffsetError> {
        let number = |digits: &[u8]| match digits {
            [tens @ b'0'..=b'9', ones @ b'0'..=b'9'] => {
                Some(i64::from(tens - b'0') * 10 + i64::from(ones - b'0'))
            }
            _ => None,
        };
        let [
            sign @ (b'+' | b'-'),
            hour_tens,
            hour_ones,
            b':',
            minute_tens,
            minute_ones,
        ] = text.as_bytes()
        else {
            return Err(UtcOffsetError);
        };
        let hours = number(&[*hour_tens, *hour_ones]).ok_or(UtcOffsetError)?;
        let minutes = number(&[*minute_tens, *minute_ones]).ok_or(UtcOffsetError)?;
        let offset = hours * 60 + minutes;
        if minutes >= 60 || offset > Self::MINUTES_MAX {
            return Err(UtcOffsetError);
        }
        Ok(Self(if *sign == b'-' { -offset * 60 } else { offset * 60 }))
    }
}

/// The name of a field's column. The columns are in the order of [`EventField::ALL`].
pub(crate) const fn column(field: EventField) -> &'static str {
    match field {
        EventField::Id => "id",
        EventField::OccurredAt => "occurred_at",
        EventField::ReceivedAt => "received_at",
        EventField::ClaimedAt => "claimed_at",
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
        EventField::Outcome => "outcome",
        EventField::OnBehalfOf => "actor_on_behalf_of",
        EventField::Targets => "targets",
    }
}

/// An event as a reader sees it. Fields that a tier can hide may be missing.
#[derive(Deserialize)]
pub(crate) struct EventRow<'a> {
    #[serde(borrow)]
    id: Cow<'a, str>,
    #[serde(borrow)]
    occurred_at: Cow<'a, str>,
    #[serde(borrow)]
    received_at: Cow<'a, str>,
    #[serde(borrow)]
    claimed_at: Option<Cow<'a, str>>,
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
    #[serde(borrow)]
    outcome: Option<Cow<'a, str>>,
    #[serde(borrow)]
    targets: Option<&'a RawValue>,
    #[serde(default)]
    erased: Vec<ErasedFields>,
}

/// What one erasure has taken.
#[derive(Deserialize)]
struct ErasedFields {
    parts: Vec<String>,
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
    #[serde(borrow)]
    on_behalf_of: Option<&'a RawValue>,
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

impl<'a> EventRow<'a> {
    pub(crate) fn read(event: &'a EventJson) -> serde_json::Result<Self> {
        serde_json::from_str(event.get())
    }

    /// The parts that erasures have taken, with a space between them.
    pub(crate) fn erased(&self) -> String {
        let erased = self.erased.iter().flat_map(|erasure| &erasure.parts);
        erased.map(String::as_str).collect::<Vec<_>>().join(" ")
    }

    /// What the column `summary` says, if there is one: the sentence about the event, or else the label of its action, or else the action.
    pub(crate) fn summary(&self, form: &Form, event: &EventJson) -> serde_json::Result<Option<String>> {
        let Some(labels) = &form.labels else {
            return Ok(None);
        };
        let action = self.action.as_deref().unwrap_or_default();
        let summary = match labels.get(action) {
            None => action.to_owned(),
            Some((_, text)) => match &text.template {
                Some(template) => template.filled(&serde_json::from_str(event.get())?),
                None => text.label.to_string(),
            },
        };
        Ok(Some(summary))
    }

    /// The fields in the order of [`columns`]; times are values.
    pub(crate) fn fields<'b>(
        &'b self,
        erased: &'b str,
        summary: Option<&'b str>,
    ) -> impl Iterator<Item = Field<'b>> {
        let cells = EventField::ALL.iter().map(|field| match field {
            EventField::OccurredAt | EventField::ReceivedAt | EventField::ClaimedAt => {
                Field::Value(self.cell(*field))
            }
            _ => Field::Text(self.cell(*field)),
        });
        let last = summary.map(Field::Text);
        cells.chain([Field::Text(erased)]).chain(last)
    }

    /// The text in a field's column.
    fn cell(&self, field: EventField) -> &str {
        let text = match field {
            EventField::Id => Some(&self.id),
            EventField::OccurredAt => Some(&self.occurred_at),
            EventField::ReceivedAt => Some(&self.received_at),
            EventField::ClaimedAt => self.claimed_at.as_ref(),
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
            EventField::Outcome => self.outcome.as_ref(),
            EventField::Metadata => return self.metadata.map(RawValue::get).unwrap_or_default(),
            EventField::Changes => return self.changes.map(RawValue::get).unwrap_or_default(),
            EventField::OnBehalfOf => return self.actor.on_behalf_of.map(RawValue::get).unwrap_or_default(),
            EventField::Targets => return self.targets.map(RawValue::get).unwrap_or_default(),
            EventField::Redacted => return if self.redacted { "true" } else { "false" },
        };
        text.map(AsRef::as_ref).unwrap_or_default()
    }
}

/// The names of the columns.
pub(crate) fn columns(form: &Form) -> impl Iterator<Item = &'static str> {
    let columns = EventField::ALL.iter().map(|field| column(*field));
    let summary = form.labels.as_ref().map(|_| SUMMARY);
    columns.chain([ERASED]).chain(summary)
}

/// The first line.
pub(crate) fn write_header(lines: &mut Vec<u8>, form: &Form) {
    if form.dialect.is_for_excel {
        lines.extend_from_slice(BYTE_ORDER_MARK.as_bytes());
    }
    form.dialect.write_line(lines, columns(form));
}

/// The line of an event.
pub(crate) fn write_event(lines: &mut Vec<u8>, event: &EventJson, form: &Form) -> serde_json::Result<()> {
    let mut row = EventRow::read(event)?;
    if form.dialect.is_for_excel || !form.zone.is_utc() {
        let times = [
            Some(&mut row.occurred_at),
            Some(&mut row.received_at),
            row.claimed_at.as_mut(),
        ];
        for time in times.into_iter().flatten() {
            let parsed = Timestamp::parse_rfc3339(time).map_err(serde_json::Error::custom)?;
            *time = form.time(parsed).into();
        }
    }
    let (erased, summary) = (row.erased(), row.summary(form, event)?);
    form.dialect
        .write_line(lines, row.fields(&erased, summary.as_deref()));
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use audit_csv::Separator;

    fn plain(zone: TimeZone) -> Form {
        let dialect = Dialect::PLAIN;
        let labels = None;
        Form {
            dialect,
            zone,
            labels,
        }
    }

    fn line(event: &str) -> String {
        let mut lines = Vec::new();
        let event = EventJson::parse(event.to_owned()).unwrap();
        write_event(&mut lines, &event, &plain(TimeZone::utc())).unwrap();
        String::from_utf8(lines).unwrap()
    }

    #[test]
    fn a_line_has_a_field_for_each_column() {
        let mut header = Vec::new();
        write_header(&mut header, &plain(TimeZone::utc()));
        let header = String::from_utf8(header).unwrap();
        assert!(
            header.starts_with("id,occurred_at,")
                && header.ends_with(
                    ",redacted,content_hash,content_salt,outcome,actor_on_behalf_of,targets,erased\r\n"
                )
        );
        let event = r#"{"content_hash":"sha256:0a","content_salt":"5a","redacted":true,"action":"a.b","actor":{"email":"e","id":"i","name":"n","on_behalf_of":{"id":"b","type":"user"},"type":"user"},
            "category":"auth","changes":[{"field":"f","before":1.0}],"context":{"ip_address":"p","location":"l","session_id":"s","user_agent":"u"},
            "id":"evt_1","idempotency_key":"k","metadata":{"b": [1, "x"]},"occurred_at":"o","received_at":"r","claimed_at":"m",
            "erased":[{"seq":7,"parts":["actor.id","network"]},{"seq":9,"parts":["metadata"]}],
            "outcome":"denied","target":{"id":"ti","name":"tn","type":"tt"},"targets":[{"id":"ti"}],"tenant_id":"t"}"#;
        let expected = concat!(
            r#"evt_1,o,r,m,a.b,auth,t,i,user,n,e,ti,tt,tn,p,u,l,s,k,"{""b"": [1, ""x""]}","#,
            r#""[{""field"":""f"",""before"":1.0}]",true,sha256:0a,5a,denied,"{""id"":""b"",""type"":""user""}","[{""id"":""ti""}]","actor.id network metadata""#,
            "\r\n"
        );
        assert_eq!(line(event), expected);
    }

    #[test]
    fn excel_gets_a_byte_order_mark_and_times_as_it_reads_them() {
        let form = Form {
            dialect: Dialect {
                separator: Separator::Semicolon,
                is_for_excel: true,
            },
            zone: "+05:30".parse::<UtcOffset>().unwrap().zone(),
            labels: None,
        };
        let mut lines = Vec::new();
        write_header(&mut lines, &form);
        let event = r#"{"id":"evt_1","occurred_at":"2026-12-31T20:00:00.999Z","received_at":"2027-01-01T00:00:00.000Z","tenant_id":"007",
            "actor":{"id":"+1"},"redacted":false,"content_hash":"h"}"#;
        let event = EventJson::parse(event.to_owned()).unwrap();
        write_event(&mut lines, &event, &form).unwrap();
        let text = String::from_utf8(lines).unwrap();
        assert!(text.starts_with("\u{feff}id;occurred_at;"), "{text}");
        let line = r#"evt_1;"2027-01-01 01:30:00";"2027-01-01 05:30:00";;;;"=""007""";"=""+1""";"#;
        assert!(text.contains(&format!("\r\n{line}")), "{text}");
    }

    #[test]
    fn programs_get_times_with_their_offset() {
        let form = plain("-03:30".parse::<UtcOffset>().unwrap().zone());
        let time = Timestamp::parse_rfc3339("2026-01-01T01:00:00.999Z").unwrap();
        assert_eq!(form.time(time), "2025-12-31T21:30:00.999-03:30");
        assert_eq!(Timestamp::parse_rfc3339(&form.time(time)), Ok(time));
        // Berlin until and after 1893.
        let since = Timestamp::parse_rfc3339("1893-03-31T23:06:32Z").unwrap();
        let form = plain(TimeZone::new(3_208, [(since, 3_600)]));
        for (time, local) in [
            ("1893-03-31T23:06:31.000Z", "1893-03-31T23:59:31.000+00:53"),
            ("1893-03-31T23:06:32.000Z", "1893-04-01T00:06:32.000+01:00"),
        ] {
            let time = Timestamp::parse_rfc3339(time).unwrap();
            assert_eq!(form.time(time), local);
            assert_eq!(Timestamp::parse_rfc3339(local), Ok(time));
        }
    }

    #[test]
    fn an_offset_is_that_of_a_place() {
        for (text, seconds) in [
            ("+00:00", 0),
            ("+02:00", 7_200),
            ("-03:30", -12_600),
            ("+14:00", 50_400),
        ] {
            let offset: UtcOffset = text.parse().unwrap();
            assert_eq!((offset.0, offset.to_string().as_str()), (seconds, text));
        }
        for text in [
            "", "Z", "2", "02:00", " 02:00", "+2:00", "+0200", "+14:01", "+02:60", "+é:00", "+02:000",
        ] {
            assert!(text.parse::<UtcOffset>().is_err(), "{text}");
        }
    }

    #[test]
    fn what_is_hidden_or_absent_is_empty() {
        let event = r#"{"id":"evt_1","occurred_at":"o","received_at":"r","tenant_id":"t","actor":{"id":"\u0041"},"redacted":false,"content_hash":"h"}"#;
        assert_eq!(
            line(event),
            format!("evt_1,o,r,,,,t,A{}false,h,,,,,\r\n", ",".repeat(14))
        );
    }
}
