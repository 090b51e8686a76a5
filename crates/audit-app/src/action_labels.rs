//! The catalogue of a project's actions: which were seen, and how people read them.

use crate::error::{AppError, Result};
use crate::reading::visible_tier;
use crate::self_audit::{Changed, Requester, ServiceEvent};
use crate::service::{AuditLog, Selection};
use audit_auth::{KeyHolder, MasterKey, Principal};
use audit_domain::{Action, ActionIcon, ActionLabel, ActionText, Fields, LanguageTag, ProjectId};
use audit_store::{Reader, StoreError};
use std::collections::BTreeMap;

/// The entries of a project's catalogue, at most.
pub const ACTION_LABELS_MAX: usize = 1_000;

/// A request for a page of actions.
#[derive(Clone, Debug)]
pub struct ActionsRequest {
    /// The last action of the page before; empty for the first page.
    pub after: String,
    /// The maximum number of actions.
    pub limit: usize,
}

/// An action that events have, or that the catalogue has.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ListedAction {
    /// The action.
    pub action: String,
    /// Whether an event of the log has it, or had it.
    pub is_seen: bool,
    /// Its entry in the catalogue.
    pub label: Option<ActionLabel>,
}

/// A page of actions.
#[derive(Clone, Debug)]
pub struct ActionsResponse {
    /// The actions, in order.
    pub actions: Vec<ListedAction>,
    /// Whether there are more.
    pub has_more: bool,
}

/// How people who read one language read actions.
pub type LabelsByAction = BTreeMap<String, (Option<ActionIcon>, ActionText)>;

impl AuditLog {
    /// One page of the actions of a project and environment.
    ///
    /// # Errors
    /// When the principal has no access to the project.
    pub fn actions(
        &self,
        principal: &KeyHolder,
        selection: Selection,
        request: &ActionsRequest,
    ) -> Result<ActionsResponse> {
        let after = request.after.as_str();
        let limit = i64::try_from(request.limit + 1).unwrap_or(i64::MAX);
        let (seen, entries) = self.store.read(|reader| -> Result<_> {
            let scope = self.scope(reader, principal, selection)?;
            let seen = reader.actions_after(scope.ledger_id, after, limit)?;
            Ok((
                seen,
                reader.action_labels(scope.project.project.id, after, limit)?,
            ))
        })?;
        let mut listed: BTreeMap<String, (bool, Option<ActionLabel>)> = BTreeMap::new();
        for action in seen {
            listed.insert(action, (true, None));
        }
        for (action, entry) in entries {
            listed.entry(action).or_default().1 = Some(read_entry(&entry)?);
        }
        let has_more = listed.len() > request.limit;
        let actions = listed.into_iter().take(request.limit);
        let actions = actions.map(|(action, (is_seen, label))| ListedAction {
            action,
            is_seen,
            label,
        });
        Ok(ActionsResponse {
            actions: actions.collect(),
            has_more,
        })
    }

    /// The labels for readers of a language, for everybody who may read the project's events. A viewer has those of the actions that its
    /// tier names.
    ///
    /// # Errors
    /// When the principal has no access to the project.
    pub fn labels(
        &self,
        principal: &Principal,
        selection: Selection,
        language: &LanguageTag,
    ) -> Result<LabelsByAction> {
        self.store.read(|reader| {
            let scope = self.scope(reader, principal, selection)?;
            let tier = visible_tier(&scope, principal)?;
            let is_named = |action: &str| tier.as_ref().is_none_or(|tier| tier.names_action(action));
            let mut labels = LabelsByAction::new();
            for (action, entry) in reader.action_labels(scope.project.project.id, "", i64::MAX)? {
                if !is_named(&action) {
                    continue;
                }
                let label = read_entry(&entry)?;
                if let Some(text) = label.text(language) {
                    labels.insert(action, (label.icon, text.clone()));
                }
            }
            Ok(labels)
        })
    }

    /// Sets the entry of an action.
    ///
    /// # Errors
    /// [`AppError::Forbidden`] when the project has [`ACTION_LABELS_MAX`] entries; when the principal has no access to the project.
    pub fn put_action_label(
        &self,
        master: &MasterKey,
        selection: Selection,
        action: Action,
        label: ActionLabel,
    ) -> Result<ActionLabel> {
        let principal = &Principal::Master(*master);
        let project_id = self.project_id(principal, selection)?;
        self.change_project(project_id, &Requester::from(master), move |configurator| {
            let before = configurator.action_label(project_id, action.as_str())?;
            let before = before.map(|entry| read_entry(&entry)).transpose()?;
            if before.as_ref() == Some(&label) {
                return Ok(Changed::nothing(label));
            }
            let count = configurator.action_label_count(project_id)?;
            if before.is_none() && usize::try_from(count).is_ok_and(|count| count >= ACTION_LABELS_MAX) {
                return Err(AppError::Forbidden(format!(
                    "a project has labels of at most {ACTION_LABELS_MAX} actions"
                )));
            }
            configurator.put_action_label(action.as_str(), &label.to_json().to_string())?;
            let event = ServiceEvent::action_label(&action, before.as_ref(), Some(&label));
            Ok(Changed::if_some(label, event))
        })
    }

    /// Deletes the entry of an action.
    ///
    /// # Errors
    /// [`AppError::NotFound`].
    pub fn delete_action_label(
        &self,
        master: &MasterKey,
        selection: Selection,
        action: Action,
    ) -> Result<()> {
        let principal = &Principal::Master(*master);
        let project_id = self.project_id(principal, selection)?;
        self.change_project(project_id, &Requester::from(master), move |configurator| {
            let before = configurator.action_label(project_id, action.as_str())?;
            let before = read_entry(&before.ok_or(AppError::NotFound("label of this action"))?)?;
            configurator.delete_action_label(action.as_str())?;
            let event = ServiceEvent::action_label(&action, Some(&before), None);
            Ok(Changed::if_some((), event))
        })
    }
}

/// The label of an action in the default language.
pub(crate) fn default_label(
    reader: &mut Reader<'_>,
    project_id: ProjectId,
    action: &str,
) -> Result<Option<String>> {
    let entry = reader.action_label(project_id, action)?;
    let label = entry.map(|entry| read_entry(&entry)).transpose()?;
    let text = label
        .as_ref()
        .and_then(|label| label.text(&LanguageTag::default()));
    Ok(text.map(|text| text.label.to_string()))
}

fn read_entry(entry: &str) -> Result<ActionLabel> {
    let damaged = || {
        AppError::from(StoreError::Damaged {
            what: "label of an action",
        })
    };
    let value: serde_json::Value = serde_json::from_str(entry).map_err(|_| damaged())?;
    Fields::read(value, ActionLabel::read).map_err(|_| damaged())
}
