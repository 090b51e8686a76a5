//! `/api/v1/redaction/test`.

use crate::caller::Caller;
use crate::error::ApiError;
use crate::input::{Fielded, JsonBody, ProjectParameters};
use crate::reply::Reply;
use crate::schema::FreeFormObject;
use audit_app::RedactionTrial;
use audit_auth::Keys;
use audit_domain::{Fields, json};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Map, Value};

/// An event to test the rules with.
#[derive(JsonSchema)]
#[schemars(rename = "RedactionTrial")]
#[expect(dead_code, reason = "describes what is read")]
pub(super) struct TrialInput {
    /// Any JSON object; it need not be a valid event.
    event: FreeFormObject,
}

#[derive(Serialize, JsonSchema)]
#[schemars(rename = "RedactionTrialResult")]
pub(super) struct TrialBody {
    /// The parts of the event that change, before redaction.
    #[schemars(with = "FreeFormObject")]
    original: Value,
    /// The same parts after redaction.
    #[schemars(with = "FreeFormObject")]
    redacted: Value,
    metadata: TrialMetadataBody,
}

/// The matches of the rules.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "RedactionReport")]
struct TrialMetadataBody {
    was_redacted: bool,
    /// Dot paths, with the indexes of arrays as steps.
    redacted_fields: Vec<String>,
    /// `builtin:<name>` or `custom:<name>`.
    redacted_rules: Vec<String>,
    /// How many rules are enabled.
    rules_evaluated: usize,
}

impl From<RedactionTrial> for TrialBody {
    fn from(trial: RedactionTrial) -> Self {
        Self {
            original: trial.original,
            redacted: trial.redacted,
            metadata: TrialMetadataBody {
                was_redacted: trial.report.was_redacted(),
                redacted_fields: trial.report.fields().to_vec(),
                redacted_rules: trial.report.rules().to_vec(),
                rules_evaluated: trial.report.rules_evaluated(),
            },
        }
    }
}

impl Fielded for TrialInput {
    type Read = Map<String, Value>;

    fn read(fields: &mut Fields<'_>) -> Option<Map<String, Value>> {
        fields.required_object("event").map(json::to_map)
    }
}

/// Shows the effect of the project's rules on an event. Nothing is stored.
pub(super) async fn test(
    caller: Caller<Keys>,
    parameters: ProjectParameters,
    body: JsonBody<TrialInput>,
) -> Result<Reply<TrialBody>, ApiError> {
    let selection = parameters.read()?;
    let event = body.read(caller.room()).await?;
    let (presented, principal) = caller.into_parts();
    let trial = presented.try_redaction(principal, selection, event).await?;
    Ok(Reply::ok(trial.into()))
}

/// The documentation of the endpoints, by the names of their handlers.
pub(super) mod about {
    use crate::about::{About, Sample, Tag};

    pub(crate) fn test() -> About {
        About {
            description: "Applies the project's enabled rules to an event and returns what changes. Nothing is stored.",
            requests: &[Sample(
                "example",
                r#"{"event": {
                    "actor": {"id": "u1", "name": "Jane (EMP-123456)", "email": "jane@example.com"},
                    "metadata": {"card": "4111 1111 1111 1111", "ok": "fine"}
                }}"#,
            )],
            outcome: "The changed parts, before and after.",
            responses: &[Sample(
                "example",
                r#"{
                    "original": {"actor": {"email": "jane@example.com"}, "metadata": {"card": "4111 1111 1111 1111"}},
                    "redacted": {"actor": {"email": "[REDACTED]"}, "metadata": {"card": "[REDACTED]"}},
                    "metadata": {
                        "was_redacted": true, "redacted_fields": ["actor.email", "metadata.card"],
                        "redacted_rules": ["builtin:credit_card", "builtin:email"], "rules_evaluated": 7
                    }
                }"#,
            )],
            ..About::new("test_redaction", Tag::Redaction, "Test the redaction rules")
        }
    }
}
