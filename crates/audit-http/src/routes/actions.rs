//! `/api/v1/actions`.

use crate::caller::Caller;
use crate::error::ApiError;
use crate::input::{Fielded, JsonBody, Parameters, ProjectParameters};
use crate::parameters::read_limit;
use crate::reply::{Deleted, Reply};
use crate::schema::{ActionText, LanguageText, NameText, TemplateText, Word, absent_not_null};
use actix_web::web;
use audit_app::{ActionsRequest, AppError, ListedAction};
use audit_auth::{EventsRead, Keys, Master, Readers};
use audit_domain::{Action, ActionIcon, ActionLabel, Fields, LanguageTag};
use schemars::JsonSchema;
use serde::Serialize;
use std::collections::BTreeMap;

/// Actions of a page, at most.
const ACTIONS_MAX: usize = 100;

/// An action in one language.
#[derive(JsonSchema)]
#[schemars(rename = "ActionTextInput", transform = absent_not_null)]
#[expect(dead_code, reason = "describes what is read")]
struct TextInput {
    /// The action in a few words.
    #[schemars(example = &"Role changed")]
    label: NameText,
    /// An event of the action in a sentence, with the placeholders `{actor}`, `{target}`, `{target.type}`, `{tenant}`, `{outcome}`,
    /// `{before.PATH}`, `{after.PATH}` and `{metadata.PATH}`.
    #[schemars(example = &"{actor} changed the role of {target} to {after.role}")]
    template: Option<TemplateText>,
}

/// How people read an action.
#[derive(JsonSchema)]
#[schemars(rename = "ActionLabelInput", transform = absent_not_null)]
#[expect(dead_code, reason = "describes what is read")]
pub(super) struct LabelInput {
    /// A picture that viewers draw beside the action. By default none.
    icon: Option<Word<ActionIcon>>,
    /// The texts by language tag (BCP 47), from 1 to 16 languages.
    languages: BTreeMap<String, TextInput>,
}

impl Fielded for LabelInput {
    type Read = ActionLabel;

    fn read(fields: &mut Fields<'_>) -> Option<ActionLabel> {
        ActionLabel::read(fields)
    }
}

/// An action in one language.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "ActionTexts")]
struct TextBody {
    #[schemars(with = "NameText")]
    label: String,
    #[schemars(with = "Option<TemplateText>")]
    template: Option<String>,
}

/// How people read an action.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "ActionLabel")]
struct LabelBody {
    /// A picture that viewers draw beside the action.
    #[schemars(with = "Option<Word<ActionIcon>>")]
    icon: Option<&'static str>,
    /// The texts by language tag, in lower case.
    languages: BTreeMap<String, TextBody>,
}

#[derive(Serialize, JsonSchema)]
#[schemars(rename = "ActionLabelResult")]
pub(super) struct OneLabelBody {
    label: LabelBody,
}

impl From<ActionLabel> for LabelBody {
    fn from(label: ActionLabel) -> Self {
        let languages = label.languages.into_iter().map(|(tag, text)| {
            let body = TextBody {
                label: text.label.to_string(),
                template: text.template.map(|template| template.to_string()),
            };
            (tag.to_string(), body)
        });
        Self {
            icon: label.icon.map(ActionIcon::as_str),
            languages: languages.collect(),
        }
    }
}

/// An action that events have, or that has a label.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "ListedAction")]
struct ActionBody {
    #[schemars(with = "ActionText")]
    action: String,
    /// Whether an event of the log has it, or had it before it was removed.
    seen: bool,
    /// Its label; `null` without one.
    label: Option<LabelBody>,
}

#[derive(Serialize, JsonSchema)]
#[schemars(rename = "ActionPage")]
pub(super) struct ActionsBody {
    actions: Vec<ActionBody>,
    /// Asks for the next page; `null` on the last.
    cursor: Option<String>,
    /// Whether there is a next page.
    has_more: bool,
}

/// How many actions, and after which.
#[derive(JsonSchema)]
#[schemars(transform = absent_not_null)]
#[expect(dead_code, reason = "describes what is read")]
pub(super) struct ActionsQuery {
    /// From an earlier response.
    cursor: Option<String>,
    /// Actions of a page.
    #[schemars(range(min = 1, max = ACTIONS_MAX), extend("default" = crate::parameters::LIMIT_DEFAULT), example = 50)]
    limit: Option<u32>,
}

impl Fielded for ActionsQuery {
    type Read = ActionsRequest;

    fn read(fields: &mut Fields<'_>) -> Option<ActionsRequest> {
        let after = fields.optional_text("cursor", 0, usize::MAX).unwrap_or_default();
        let limit = read_limit(fields, ACTIONS_MAX)?;
        Some(ActionsRequest { after, limit })
    }
}

/// The language of the reader.
#[derive(JsonSchema)]
#[schemars(transform = absent_not_null)]
#[expect(dead_code, reason = "describes what is read")]
pub(super) struct LabelsQuery {
    /// A language tag (BCP 47). An action that lacks the language has the text of the same language without its last subtags, or else of
    /// English.
    #[schemars(example = &"de-AT")]
    language: LanguageText,
}

impl Fielded for LabelsQuery {
    type Read = LanguageTag;

    fn read(fields: &mut Fields<'_>) -> Option<LanguageTag> {
        fields.required_parsed("language")
    }
}

/// An action in the language of the reader.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "ReadableAction")]
struct ReadableBody {
    #[schemars(with = "ActionText")]
    action: String,
    #[schemars(with = "Option<Word<ActionIcon>>")]
    icon: Option<&'static str>,
    #[schemars(with = "NameText")]
    label: String,
    #[schemars(with = "Option<TemplateText>")]
    template: Option<String>,
}

#[derive(Serialize, JsonSchema)]
#[schemars(rename = "ReadableActions")]
pub(super) struct LabelsBody {
    labels: Vec<ReadableBody>,
}

impl From<ListedAction> for ActionBody {
    fn from(listed: ListedAction) -> Self {
        Self {
            action: listed.action,
            seen: listed.is_seen,
            label: listed.label.map(LabelBody::from),
        }
    }
}

fn action_in(path: &str) -> Result<Action, AppError> {
    path.parse().map_err(|_| AppError::NotFound("action"))
}

/// One page of actions.
pub(super) async fn list(
    caller: Caller<Keys<EventsRead>>,
    parameters: Parameters<ActionsQuery>,
) -> Result<Reply<ActionsBody>, ApiError> {
    let (selection, request) = parameters.read()?;
    let page = caller
        .run(move |service, principal| service.actions(&principal, selection, &request))
        .await?;
    let last = page.actions.last().map(|listed| listed.action.clone());
    Ok(Reply::ok(ActionsBody {
        cursor: last.filter(|_| page.has_more),
        has_more: page.has_more,
        actions: page.actions.into_iter().map(ActionBody::from).collect(),
    }))
}

/// The labels in one language.
pub(super) async fn labels(
    caller: Caller<Readers>,
    parameters: Parameters<LabelsQuery>,
) -> Result<Reply<LabelsBody>, ApiError> {
    let (selection, language) = parameters.read()?;
    let labels = caller
        .run(move |service, principal| service.labels(&principal, selection, &language))
        .await?;
    let labels = labels.into_iter().map(|(action, (icon, text))| ReadableBody {
        action,
        icon: icon.map(ActionIcon::as_str),
        label: text.label.to_string(),
        template: text.template.map(|template| template.to_string()),
    });
    Ok(Reply::ok(LabelsBody {
        labels: labels.collect(),
    }))
}

/// Sets the label of an action.
pub(super) async fn put(
    caller: Caller<Master>,
    parameters: ProjectParameters,
    action: web::Path<String>,
    body: JsonBody<LabelInput>,
) -> Result<Reply<OneLabelBody>, ApiError> {
    let selection = parameters.read()?;
    let action = action_in(&action)?;
    let label = body.read(caller.room()).await?;
    let stored = caller
        .run(move |service, master| service.put_action_label(&master, selection, action, label))
        .await?;
    Ok(Reply::ok(OneLabelBody { label: stored.into() }))
}

/// Deletes the label of an action.
pub(super) async fn delete(
    caller: Caller<Master>,
    parameters: ProjectParameters,
    action: web::Path<String>,
) -> Result<Reply<Deleted>, ApiError> {
    let selection = parameters.read()?;
    let action = action_in(&action)?;
    let deleted = caller.run(move |service, master| service.delete_action_label(&master, selection, action));
    deleted.await?;
    Ok(Reply::deleted())
}

/// The documentation of the endpoints, by the names of their handlers.
pub(super) mod about {
    use crate::about::{About, PathParameter, Sample, Tag};
    use crate::error_code::ErrorCode;
    use crate::schema::ActionText;

    fn action() -> Option<PathParameter> {
        Some(PathParameter {
            description: "The action.",
            schema: |generator| generator.subschema_for::<ActionText>(),
            example: "user.role.updated",
            refusal: ErrorCode::NotFound,
        })
    }

    const LABEL: &str = r#"{"label": {"icon": "shield", "languages": {
        "de": {"label": "Rolle geändert", "template": "{actor} hat {target} die Rolle {after.role} gegeben"},
        "en": {"label": "Role changed", "template": "{actor} changed the role of {target} to {after.role}"}
    }}}"#;

    pub(crate) fn list() -> About {
        About {
            description: "The actions that events of the log have, and those that have a label, in order. An action is \
                          listed from its first event on, also when its events were removed.",
            outcome: "One page of actions.",
            responses: &[Sample(
                "example",
                r#"{"actions": [
                    {"action": "auth.failed", "seen": true, "label": null},
                    {"action": "user.role.updated", "seen": true, "label": {"icon": "shield", "languages": {
                        "en": {"label": "Role changed", "template": "{actor} changed the role of {target} to {after.role}"}
                    }}}
                ], "cursor": null, "has_more": false}"#,
            )],
            is_additive: true,
            ..About::new("list_actions", Tag::Events, "List actions with their labels")
        }
    }

    pub(crate) fn labels() -> About {
        About {
            description: "The labels for readers of a language. Every viewer token of the project reads those of the \
                          actions that its tier names. A web page may call this path with a viewer token. A \
                          program that shows an event fills the template with the fields of that response.",
            outcome: "The labels.",
            responses: &[Sample(
                "example",
                r#"{"labels": [{"action": "user.role.updated", "icon": "shield", "label": "Rolle geändert",
                    "template": "{actor} hat {target} die Rolle {after.role} gegeben"}]}"#,
            )],
            is_additive: true,
            ..About::new(
                "list_action_labels",
                Tag::Events,
                "Read the labels of actions in one language",
            )
        }
    }

    pub(crate) fn put() -> About {
        About {
            description: "How people read an action: a label and a template in each language, and an icon. The action \
                          need not have been seen. Events do not change: viewers, exports and alerts show the label \
                          beside the action. A project has labels of at most 1,000 actions.",
            path: action(),
            requests: &[Sample(
                "example",
                r#"{"icon": "shield", "languages": {
                    "en": {"label": "Role changed", "template": "{actor} changed the role of {target} to {after.role}"},
                    "de": {"label": "Rolle geändert", "template": "{actor} hat {target} die Rolle {after.role} gegeben"}
                }}"#,
            )],
            outcome: "The label as it is now.",
            responses: &[Sample("example", LABEL)],
            is_additive: true,
            ..About::new("put_action_label", Tag::Events, "Label an action")
        }
    }

    pub(crate) fn delete() -> About {
        About {
            description: "Viewers show the action itself again.",
            path: action(),
            outcome: "The label is deleted.",
            responses: &[Sample("example", r#"{"deleted": true}"#)],
            is_additive: true,
            ..About::new(
                "delete_action_label",
                Tag::Events,
                "Delete the label of an action",
            )
        }
    }
}
