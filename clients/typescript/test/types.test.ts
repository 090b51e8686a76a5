// Checked by the compiler: that a change of the OpenAPI document has not emptied a public type.
import assert from "node:assert/strict";
import test from "node:test";
import type * as Types from "audit-server-client";
import type { AuditViewer } from "audit-server-client/browser";
import type { WebhookMessage } from "audit-server-client/verify";

type Empty<Members> = { [Name in keyof Members]: [Members[Name]] extends [never] ? Name : never }[keyof Members];

/** The names of types that are `never`. */
type EmptyTypes = Empty<{
  ErrorResponse: Types.ErrorResponse;
  ErrorCode: Types.ErrorCode;
  ErrorDetail: Types.ErrorDetail;
  NewEvent: Types.NewEvent;
  AuditEvent: Types.AuditEvent;
  VisibleEvent: Types.VisibleEvent;
  EventPage: Types.EventPage;
  EventFilter: Types.EventFilter;
  FeedPage: Types.FeedPage;
  FeedFilter: Types.FeedFilter;
  ExportFilter: Types.ExportFilter;
  IngestResult: Types.IngestResult;
  RefusedEvent: Types.RefusedEvent;
  EventProof: Types.EventProof;
  Completeness: Types.Completeness;
  ProjectKey: Types.ProjectKey;
  NewProjectKey: Types.NewProjectKey;
  CreatedProjectKey: Types.CreatedProjectKey;
  MasterKey: Types.MasterKey;
  NewMasterKey: Types.NewMasterKey;
  CreatedMasterKey: Types.CreatedMasterKey;
  Project: Types.Project;
  NewViewerToken: Types.NewViewerToken;
  ViewerToken: Types.ViewerToken;
  ViewerTier: Types.ViewerTier;
  NewViewerTier: Types.NewViewerTier;
  ViewerTierChange: Types.ViewerTierChange;
  RedactionRule: Types.RedactionRule;
  NewRedactionRule: Types.NewRedactionRule;
  RedactionRuleChange: Types.RedactionRuleChange;
  RedactionTestResult: Types.RedactionTestResult;
  AlertRule: Types.AlertRule;
  NewAlertRule: Types.NewAlertRule;
  AlertRuleChange: Types.AlertRuleChange;
  Alert: Types.Alert;
  AlertPage: Types.AlertPage;
  AlertFilter: Types.AlertFilter;
  Webhook: Types.Webhook;
  NewWebhook: Types.NewWebhook;
  WebhookChange: Types.WebhookChange;
  Delivery: Types.Delivery;
  DeliveryPage: Types.DeliveryPage;
  DeliveryFilter: Types.DeliveryFilter;
  Destination: Types.Destination;
  NewDestination: Types.NewDestination;
  DestinationChange: Types.DestinationChange;
  DestinationAttempt: Types.DestinationAttempt;
  DestinationPreview: Types.DestinationPreview;
  PreviewOptions: Types.PreviewOptions;
  ReplayRange: Types.ReplayRange;
  ReplayResult: Types.ReplayResult;
  SetAsideEvent: Types.SetAsideEvent;
  SetAsidePage: Types.SetAsidePage;
  SetAsideFilter: Types.SetAsideFilter;
  SetAsideSelection: Types.SetAsideSelection;
  ResendResult: Types.ResendResult;
  StreamInfo: Types.StreamInfo;
  ClaimResult: Types.ClaimResult;
}>;

/** What a key reads is whole, what a viewer token reads is not; a message of a webhook is what its `type` says. */
export function texts(audit: Types.AuditClient, viewer: AuditViewer, message: WebhookMessage): Promise<string>[] {
  const body = message.body;
  return [
    audit.events.get("evt_1").then((event) => event.action + event.actor.id + event.content_salt + (event.changes?.[0]?.field ?? "")),
    // @ts-expect-error A tier may hide the actor.
    viewer.get("evt_1").then((event) => event.actor.id),
    Promise.resolve(body.type === "alert.fired" ? body.data.severity + body.data.project_name + (body.data.actor_name ?? "") + (body.data.url ?? "") : body.data.webhook_id),
  ];
}

// Does not compile if there is a name.
const noEmptyTypes: [EmptyTypes] extends [never] ? true : EmptyTypes = true;

test("no public type is empty", () => {
  assert.equal(noEmptyTypes, true);
});
