//! Redaction trials: the effect of a project's rules on an event.

use crate::authentication::Presented;
use crate::error::Result;
use crate::service::Selection;
use audit_auth::{KeyHolder, Keys};
use audit_domain::check_free_form;
use audit_domain::json::Json;
use audit_redact::{Engine, Report, Shape};
use serde_json::{Map, Value};
use std::sync::Arc;

/// The effect of redaction on an event.
#[derive(Clone, Debug)]
pub struct RedactionTrial {
    /// The changed parts, before redaction.
    pub original: Value,
    /// The same parts after redaction.
    pub redacted: Value,
    /// The redacted fields and the rules that matched.
    pub report: Report,
}

impl Presented<Keys> {
    /// Applies the rules of the project to `event`, in the turn of those who prepare events. Stores nothing. `principal` is that of
    /// the credential.
    ///
    /// # Errors
    /// When the principal has no access to the project, or the event exceeds the limits of size or depth;
    /// [`crate::AppError::Unavailable`] when no turn comes in time.
    pub async fn try_redaction(
        &self,
        principal: KeyHolder,
        selection: Selection,
        event: Map<String, Value>,
    ) -> Result<RedactionTrial> {
        let service = Arc::clone(self.cell());
        let look_up = move || {
            let scope = service
                .store
                .read(|reader| service.scope(reader, &principal, selection))?;
            Ok((service, scope.project))
        };
        let (service, project) = self.request(look_up).await?;
        let turn = self.home.turns.preparation(&project.project).await?;
        turn.run(move || redact_trial(&*service.engines.compiled(&project.rules)?, event))
            .await
    }
}

fn redact_trial(engine: &Engine, event: Map<String, Value>) -> Result<RedactionTrial> {
    let event = Json::from(Value::Object(event));
    check_free_form(&event, "event")?;
    let original = Value::from(event);
    let mut redacted = original.clone();
    let report = engine.redact(&mut redacted, &Shape::audit_event());
    let empty = || Value::Object(Map::new());
    let (original, redacted) = differing_parts(original, redacted).unwrap_or_else(|| (empty(), empty()));
    Ok(RedactionTrial {
        original,
        redacted,
        report,
    })
}

/// The parts in which two values differ. Objects are compared key by key, all other values as a whole.
fn differing_parts(before: Value, after: Value) -> Option<(Value, Value)> {
    match (before, after) {
        (before, after) if before == after => None,
        (Value::Object(before), Value::Object(mut after)) => {
            let (mut only_before, mut only_after) = (Map::new(), Map::new());
            for (key, value) in before {
                match after.remove(&key) {
                    Some(changed) => {
                        if let Some((value, changed)) = differing_parts(value, changed) {
                            only_before.insert(key.clone(), value);
                            only_after.insert(key, changed);
                        }
                    }
                    None => {
                        only_before.insert(key, value);
                    }
                }
            }
            only_after.extend(after);
            Some((Value::Object(only_before), Value::Object(only_after)))
        }
        (before, after) => Some((before, after)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn only_differing_parts_are_shown() {
        let before = json!({"a": {"b": 1, "c": 2}, "d": [1, 2], "k@x": 1, "e": 5});
        let after = json!({"a": {"b": 1, "c": 3}, "d": [1, 3], "[REDACTED]": 1, "e": 5});
        assert_eq!(
            differing_parts(before, after),
            Some((
                json!({"a": {"c": 2}, "d": [1, 2], "k@x": 1}),
                json!({"a": {"c": 3}, "d": [1, 3], "[REDACTED]": 1})
            ))
        );
        assert_eq!(differing_parts(json!({"a": 1}), json!({"a": 1})), None);
    }
}
