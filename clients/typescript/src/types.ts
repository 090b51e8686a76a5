/**
 * The public types. All of them are read from the operations of the OpenAPI document, so a schema that is renamed there changes
 * nothing here.
 */
import type { operations } from "./generated/openapi.js";

type Operations = operations;
type Json<T> = T extends { content: { "application/json": infer Body } } ? Body : never;
type Success<Responses> = Responses extends { 200: infer R }
  ? R
  : Responses extends { 201: infer R }
    ? R
    : Responses extends { 202: infer R }
      ? R
      : never;

/** The body of the successful response to an operation. */
export type ResponseOf<Name extends keyof Operations> = Json<Success<Operations[Name]["responses"]>>;
/** The body of the request of an operation. */
export type RequestOf<Name extends keyof Operations> = Json<NonNullable<Operations[Name]["requestBody"]>>;
/** The query parameters of an operation, without those that the client sets itself. Where several values may be given, one may be given alone. */
export type QueryOf<Name extends keyof Operations> = OneOrMore<
  Omit<NonNullable<Operations[Name]["parameters"]["query"]>, "project_id" | "environment">
>;
type OneOrMore<Query> = {
  [Parameter in keyof Query]: NonNullable<Query[Parameter]> extends readonly (infer Value)[] ? Value | readonly Value[] | undefined : Query[Parameter];
};

type ErrorOf<Name extends keyof Operations> = Operations[Name]["responses"] extends { 400: infer R } ? Json<R> : never;

/** The body of a failed response. */
export type ErrorResponse = ErrorOf<"list_events">;
/** A code of an error that this version of the interface has. */
export type ErrorCode = ErrorResponse["error"]["code"];
/** One invalid field of a request. */
export type ErrorDetail = NonNullable<ErrorResponse["error"]["details"]>[number];

/** An event to be recorded. */
export type NewEvent = Exclude<RequestOf<"ingest_events">, readonly unknown[]>;
/** An event as a viewer token reads it: its tier may hide fields. */
export type VisibleEvent = ResponseOf<"list_events">["events"][number];
/** An event as keys read it: whole. One with `erased` lacks the fields of these parts, such as `actor.id`, and `content_salt`. */
export type AuditEvent = Omit<VisibleEvent, "action" | "actor" | "category" | "changes" | "target"> &
  Required<Pick<VisibleEvent, "action" | "category">> &
  Pick<NewEvent, "actor" | "changes" | "target">;
/** A page of events; `VisibleEvent` for a viewer token. */
export type EventPage<Event extends VisibleEvent = AuditEvent> = WithEvents<ResponseOf<"list_events">, Event>;
type WithEvents<Page, Event> = Omit<Page, "events"> & { events: Event[] };
/** Conditions on members of the metadata that the project has in its `metadata_filter_paths`. */
type MetadataFilter = { [Path in `${"" | "not_"}metadata.${string}`]?: string | readonly string[] | undefined };
export type EventFilter = QueryOf<"list_events"> & MetadataFilter;
export type EventSummary = ResponseOf<"summarize_events">;
export type SummaryFilter = QueryOf<"summarize_events"> & MetadataFilter;
export type FeedPage<Event extends VisibleEvent = AuditEvent> = WithEvents<ResponseOf<"follow_events">, Event>;
export type FeedFilter = QueryOf<"follow_events"> & MetadataFilter;
export type ExportFilter = QueryOf<"export_events"> & MetadataFilter;
export type IngestResult = ResponseOf<"ingest_events">;
export type RefusedEvent = NonNullable<IngestResult["errors"]>[number];
export type EventProof = ResponseOf<"get_event_proof">;
export type Completeness = ResponseOf<"get_log_completeness">;

export type ProjectKey = ResponseOf<"list_keys">["keys"][number];
export type NewProjectKey = RequestOf<"create_key">;
export type CreatedProjectKey = ResponseOf<"create_key">;
export type ProjectKeyChange = RequestOf<"update_key">;
export type MasterKey = ResponseOf<"list_master_keys">["master_keys"][number];
export type NewMasterKey = RequestOf<"create_master_key">;
export type CreatedMasterKey = ResponseOf<"create_master_key">;
export type Project = ResponseOf<"list_projects">["projects"][number];
export type ProjectFilter = QueryOf<"list_projects">;
export type ProjectChange = RequestOf<"update_project">;
export type Tenant = ResponseOf<"list_tenants">["tenants"][number];
export type TenantPage = ResponseOf<"list_tenants">;
export type TenantFilter = QueryOf<"list_tenants">;

export type Usage = ResponseOf<"get_usage">["usage"];
export type Portal = ResponseOf<"get_portal">["portal"];
export type PortalChange = RequestOf<"update_portal">;

export type ActionFilter = QueryOf<"list_actions">;
export type ActionPage = ResponseOf<"list_actions">;
export type ListedAction = ActionPage["actions"][number];
export type ReadableAction = ResponseOf<"list_action_labels">["labels"][number];
export type NewActionLabel = RequestOf<"put_action_label">;
export type ActionLabel = ResponseOf<"put_action_label">["label"];

export type NewViewerToken = RequestOf<"create_viewer_token">;
export type ViewerToken = ResponseOf<"create_viewer_token">;
export type ViewerTier = ResponseOf<"list_viewer_tiers">["viewer_tiers"][number];
export type NewViewerTier = RequestOf<"create_viewer_tier">;
export type ViewerTierChange = RequestOf<"update_viewer_tier">;

export type RedactionRule = ResponseOf<"list_redaction_rules">["rules"][number];
export type NewRedactionRule = RequestOf<"create_redaction_rule">;
export type RedactionRuleChange = RequestOf<"update_redaction_rule">;
export type RedactionTestResult = ResponseOf<"test_redaction">;

export type AlertRule = ResponseOf<"list_alert_rules">["rules"][number];
export type NewAlertRule = RequestOf<"create_alert_rule">;
export type AlertRuleChange = RequestOf<"update_alert_rule">;
export type Alert = ResponseOf<"list_alerts">["alerts"][number];
export type AlertPage = ResponseOf<"list_alerts">;
export type AlertFilter = QueryOf<"list_alerts">;

export type Webhook = ResponseOf<"list_webhooks">["webhooks"][number];
export type NewWebhook = RequestOf<"create_webhook">;
export type WebhookChange = RequestOf<"update_webhook">;
export type Delivery = ResponseOf<"retry_delivery">["delivery"];
export type DeliveryPage = ResponseOf<"list_deliveries">;
export type DeliveryFilter = QueryOf<"list_deliveries">;

export type Destination = ResponseOf<"list_destinations">["destinations"][number];
export type NewDestination = RequestOf<"create_destination">;
export type DestinationChange = RequestOf<"update_destination">;
export type DestinationAttempt = ResponseOf<"test_destination">;
export type DestinationPreview = ResponseOf<"preview_destination">;
export type PreviewOptions = QueryOf<"preview_destination">;
export type ReplayRange = RequestOf<"replay_destination">;
export type ReplayResult = ResponseOf<"replay_destination">;
export type SetAsideEvent = SetAsidePage["events"][number];
export type SetAsidePage = ResponseOf<"list_set_aside">;
export type SetAsideFilter = QueryOf<"list_set_aside">;
export type SetAsideSelection = RequestOf<"resend_set_aside">;
export type ResendResult = ResponseOf<"resend_set_aside">;

export type RetentionInfo = ResponseOf<"get_retention">;
export type NewRetention = RequestOf<"set_retention">;
export type PreviewedRetention = QueryOf<"preview_retention">;
export type RetentionPreview = ResponseOf<"preview_retention">;
export type Hold = ResponseOf<"list_holds">["holds"][number];
export type NewHold = RequestOf<"place_hold">;
export type HoldFilter = QueryOf<"list_holds">;
export type Erasure = ResponseOf<"list_erasures">["erasures"][number];
export type NewErasure = RequestOf<"request_erasure">;
export type ErasureEvent = ErasureEventPage["events"][number];
export type ErasureEventPage = ResponseOf<"list_erasure_events">;
export type ErasureEventFilter = QueryOf<"list_erasure_events">;
export type LogReport = ResponseOf<"get_log_report">;
export type LoggedRemoval = ResponseOf<"list_log_removals">["removals"][number];

/** The body of a webhook's message; its `type` says which one. Ignore others: the service adds types without a new version. */
export type WebhookBody = RequestOf<"receive_alert_fired"> | RequestOf<"receive_webhook_test">;

export type StreamInfo = ResponseOf<"get_stream">;
export type ClaimResult = ResponseOf<"claim_stream">;
