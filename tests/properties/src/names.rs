//! Names and identifiers: of paths, parameters, members of bodies and stored rows.

use crate::{seeds, text};
use audit_alerts::AlertRuleId;
use audit_domain::{
    Action, ActorType, Bound, Category, ClaimToken, ContentHash, ContentSalt, Environment, EventId,
    HiddenField, KeyId, LanguageTag, LogName, MetadataPath, Name, Network, OrganizationId, ProjectId, RuleId,
    SentenceTemplate, TierName, TimeOrdered, Timestamp,
};
use audit_ledger::{Hash, TenantPath};
use audit_redact::FieldPath;
use std::str::FromStr;

/// What is read, written again. Reading that gives the same.
fn written<T: FromStr + ToString>(text: &str) -> Option<String> {
    let written = text.parse::<T>().ok()?.to_string();
    let again = written.parse::<T>().ok().expect("what was written is read");
    assert_eq!(again.to_string(), written);
    Some(written)
}

/// As [`written`], of what has one text.
fn is_read<T: FromStr + ToString>(text: &str) -> bool {
    let written = written::<T>(text);
    written.is_some_and(|written| {
        assert_eq!(written, text);
        true
    })
}

/// A name or an identifier that is accepted is written as it was read; those that have several texts are written in one.
pub fn identifier(bytes: &[u8]) -> bool {
    let Some(text) = text(bytes) else { return false };
    let is_word = is_read::<Action>(text)
        | is_read::<ActorType>(text)
        | is_read::<Category>(text)
        | is_read::<Environment>(text)
        | is_read::<HiddenField>(text)
        | is_read::<MetadataPath>(text)
        | is_read::<Name>(text)
        | is_read::<TierName>(text);
    let is_id = is_read::<EventId>(text) | is_read::<ContentHash>(text) | is_read::<Hash>(text);
    let is_other = written::<ProjectId>(text).is_some()
        | written::<OrganizationId>(text).is_some()
        | written::<KeyId>(text).is_some()
        | written::<RuleId>(text).is_some()
        | written::<AlertRuleId>(text).is_some()
        | written::<ClaimToken>(text).is_some()
        | written::<ContentSalt>(text).is_some()
        | written::<Network>(text).is_some();
    // Nearly every short text is one of these.
    written::<LanguageTag>(text);
    is_read::<SentenceTemplate>(text);
    let time = TimeOrdered::parse(text);
    if let Some(time) = time {
        assert_eq!(TimeOrdered::from_bytes(time.to_bytes()), time);
    }
    let log = text
        .split_once(' ')
        .and_then(|(project, environment)| LogName::parse(project, environment));
    let path = TenantPath::from_base64(text.lines());
    if let Ok(path) = &path {
        assert_eq!(path.to_base64(), text.lines().collect::<Vec<_>>());
    }
    let bounds = [Bound::Start, Bound::End].map(|bound| Timestamp::parse_bound(text, bound));
    if let [Ok(start), Ok(end)] = &bounds {
        assert!(start <= end, "{text}");
    }
    let is_path = FieldPath::parse(text).is_ok();
    is_word
        || is_id
        || is_other
        || time.is_some()
        || log.is_some()
        || path.is_ok()
        || bounds[0].is_ok()
        || is_path
}

/// Inputs of [`identifier`].
pub fn identifier_seeds() -> Vec<Vec<u8>> {
    seeds(&[
        "user.role.updated",
        "actor.email",
        "evt_01KF07DRS8D1M6YG3BR2EQN1V5",
        "5d0c7b0e-8d0f-4d0a-9d0e-000000000001",
        "5d0c7b0e-8d0f-4d0a-9d0e-000000000001 live",
        "sha256:0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a",
        "10.0.0.0/8",
        "2001:db8::/32",
        "2026-01-15T10:30:00+01:00",
        "2026-01-15",
        "2026-W03-4",
        "metadata.*.password",
        "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=",
    ])
}
