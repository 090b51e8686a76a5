//! Events as lines of CSV.

use audit_csv::write_line;
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

#[cfg(test)]
mod tests {
    use super::*;

    fn line(event: &str) -> String {
        let mut lines = Vec::new();
        write_event(&mut lines, &RawValue::from_string(event.to_owned()).unwrap()).unwrap();
        String::from_utf8(lines).unwrap()
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
            "id":"evt_1","idempotency_key":"k","metadata":{"b": [1, "x"]},"occurred_at":"o","received_at":"r","claimed_at":"m",
            "target":{"id":"ti","name":"tn","type":"tt"},"tenant_id":"t"}"#;
        let expected = concat!(
            r#"evt_1,o,r,m,a.b,auth,t,i,user,n,e,ti,tt,tn,p,u,l,s,k,"{""b"": [1, ""x""]}","#,
            r#""[{""field"":""f"",""before"":1.0}]",true,sha256:0a,5a"#,
            "\r\n"
        );
        assert_eq!(line(event), expected);
    }

    #[test]
    fn what_is_hidden_or_absent_is_empty() {
        let event = r#"{"id":"evt_1","occurred_at":"o","received_at":"r","tenant_id":"t","actor":{"id":"\u0041"},"redacted":false,"content_hash":"h"}"#;
        assert_eq!(
            line(event),
            format!("evt_1,o,r,,,,t,A{}false,h,\r\n", ",".repeat(14))
        );
    }
}
