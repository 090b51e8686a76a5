"""What requests and responses contain. Everything is a plain dictionary at run time.

Responses may have fields that are not listed here: the service adds fields without a new version.
"""

from datetime import datetime
from typing import TYPE_CHECKING, Any, Dict, List, Literal, Optional, Sequence, TypeVar, Union

if TYPE_CHECKING:
    from typing import TypedDict
else:
    try:
        # Pydantic, and so FastAPI, accepts only this one before Python 3.12. httpx brings it along there.
        from typing_extensions import TypedDict
    except ImportError:
        from typing import TypedDict

Category = Literal["auth", "access", "mutation", "admin", "security", "system"]
ActorType = Literal["user", "api_key", "service", "system"]
Outcome = Literal["success", "failure", "denied"]
Severity = Literal["low", "medium", "high", "critical"]
AlertStatus = Literal["open", "acknowledged", "resolved"]
WebhookFormat = Literal["json", "slack", "teams"]
GroupBy = Literal["actor_id", "tenant_id", "ip_address", "session_id", "target_id"]
DistinctField = Literal["actor_id", "ip_address", "session_id", "target_id"]
ActionIcon = Literal[
    "add", "alert", "card", "delete", "download", "edit", "file", "key", "lock", "mail", "settings", "shield", "user"
]
Behavior = Literal["replace", "hash", "mask"]
Environment = Literal["live", "test"]
Scope = Literal["events:write", "events:read", "alerts", "viewer-tokens", "admin"]
TierRoute = Literal["event", "summary", "feed", "export", "proofs", "destinations"]
DeliveryStatus = Literal["pending", "delivered", "failed"]
DestinationKind = Literal["https", "s3", "splunk_hec", "datadog", "otlp", "syslog"]
DestinationState = Literal["active", "delayed", "credentials", "parked", "paused"]
RecordFormat = Literal["json", "ocsf", "cef"]
Verdict = Literal["delivered", "retry", "credentials", "refused"]
#: ISO 8601 text, or a datetime with a time zone.
Time = Union[str, datetime]
#: The type of a filter's value.
Value = TypeVar("Value", bound=str)
#: A value of a filter, or several alternatives.
OneOrMore = Union[Value, Sequence[Value]]


class _ActorRequired(TypedDict):
    id: str
    type: ActorType


class OnBehalfOf(_ActorRequired, total=False):
    """The party that an actor acts for, by impersonation or delegation."""

    name: str


class Actor(_ActorRequired, total=False):
    """Who acted."""

    name: str
    email: str
    on_behalf_of: OnBehalfOf


class _TargetRequired(TypedDict):
    id: str
    type: str


class Target(_TargetRequired, total=False):
    """What was acted upon."""

    name: str


class Context(TypedDict, total=False):
    """Where the action came from."""

    ip_address: str
    user_agent: str
    location: str
    session_id: str


class _ChangeRequired(TypedDict):
    field: str


class Change(_ChangeRequired, total=False):
    """One changed field; ``before`` and ``after`` are any JSON."""

    before: Any
    after: Any


class _EventRequired(TypedDict):
    action: str
    category: Category
    tenant_id: str
    actor: Actor


class EventInput(_EventRequired, total=False):
    """An event to record. ``action`` is dot-namespaced lower case, such as ``user.role.updated``."""

    target: Target
    targets: List[Target]
    outcome: Outcome
    context: Context
    metadata: Dict[str, Any]
    changes: List[Change]
    idempotency_key: str
    occurred_at: Time


class _StoredEventRequired(_EventRequired):
    id: str
    content_hash: str
    redacted: bool
    occurred_at: str
    received_at: str


class _ErasedPartsRequired(TypedDict):
    parts: List[str]


class ErasedParts(_ErasedPartsRequired, total=False):
    """Parts of an event that an erasure has taken. ``seq`` is the position of its event; viewer tokens do not get it."""

    seq: int


class Event(_StoredEventRequired, total=False):
    """An event as the service returns it, redacted as it was stored.

    One with ``erased`` lacks the fields of these parts, such as ``actor.id``. It has ``parts`` in place of ``content_salt``: by
    part the salt, or the hash of one that was erased.
    """

    target: Target
    targets: List[Target]
    outcome: Outcome
    context: Context
    metadata: Dict[str, Any]
    changes: List[Change]
    idempotency_key: str
    claimed_at: str
    content_salt: str
    erased: List[ErasedParts]
    parts: Dict[str, Dict[str, str]]


class FieldError(TypedDict):
    field: str
    message: str


class _RefusedRequired(TypedDict):
    index: int
    code: str
    message: str


class Refused(_RefusedRequired, total=False):
    """A refused event of a batch, by its index."""

    details: List[FieldError]


class LogSize(TypedDict):
    size: int


class _IngestResultRequired(TypedDict):
    ids: List[str]
    redacted_count: int
    request_id: str


class IngestResult(_IngestResultRequired, total=False):
    """The response to events that were stored durably."""

    repeated_count: int
    errors: List[Refused]
    log: LogSize
    receipts: List[str]


class EventPage(TypedDict):
    events: List[Event]
    cursor: Optional[str]
    has_more: bool
    request_id: str


Interval = Literal["minute", "hour", "day", "week", "month"]


class _SummaryBucketRequired(TypedDict):
    start: str
    count: int


class SummaryBucket(_SummaryBucketRequired, total=False):
    """``categories`` is there with ``split="category"``."""

    categories: Dict[str, int]


class CountedValue(TypedDict):
    value: str
    count: int


class _FrequentValuesRequired(TypedDict):
    looked_at: int


class FrequentValues(_FrequentValuesRequired, total=False):
    """The most frequent values of each field that the reader sees, among the newest ``looked_at`` events."""

    actor_id: List[CountedValue]
    action: List[CountedValue]
    category: List[CountedValue]
    target_type: List[CountedValue]
    tenant_id: List[CountedValue]


class EventSummary(TypedDict):
    """Exact numbers of events by time."""

    interval: Interval
    buckets: List[SummaryBucket]
    total: int
    top: FrequentValues
    request_id: str


class FeedPage(TypedDict):
    """Events in commit order. Store ``cursor`` after the events are safe; it is never ``None``."""

    events: List[Event]
    cursor: str
    has_more: bool
    request_id: str


class _AlertRequired(TypedDict):
    id: str
    rule_id: str
    rule_name: str
    severity: Severity
    status: AlertStatus
    tenant_id: str
    group_by: GroupBy
    group_key: str
    event_count: int
    sample_event_ids: List[str]
    fired_at: str
    acknowledged_at: Optional[str]
    resolved_at: Optional[str]
    project_id: str
    project_name: str
    environment: Environment


class Alert(_AlertRequired, total=False):
    """An alert. ``actor_name`` is there if the rule groups by actor, ``url`` if the operator has set ``AUDIT_PUBLIC_URL``."""

    count_distinct: DistinctField
    actor_name: str
    url: str


class AlertFired(TypedDict):
    """The message of a webhook when an alert fires. ``data`` is the alert as it fired."""

    type: Literal["alert.fired"]
    timestamp: str
    data: Alert


class WebhookTestData(TypedDict):
    webhook_id: str


class WebhookTest(TypedDict):
    """The message of a webhook that was requested as a test."""

    type: Literal["webhook.test"]
    timestamp: str
    data: WebhookTestData


#: The message of a webhook; its ``type`` says which one.
WebhookMessage = Union[AlertFired, WebhookTest]


class AlertPage(TypedDict):
    alerts: List[Alert]
    cursor: Optional[str]
    has_more: bool
    request_id: str


class _AlertRuleRequired(TypedDict):
    id: str
    type: Literal["builtin", "custom"]
    name: str
    action_pattern: str
    threshold: int
    window_seconds: int
    group_by: GroupBy
    severity: Severity
    enabled: bool
    cooldown_seconds: int


class AlertRule(_AlertRuleRequired, total=False):
    further_action_patterns: List[str]
    failed_action_patterns: List[str]
    count_distinct: DistinctField
    actor_types: List[ActorType]
    categories: List[Category]
    not_actor_ids: List[str]
    outcomes: List[Outcome]
    created_at: str


class Webhook(TypedDict):
    """``secret`` is complete only in the responses that create a webhook or rotate its secret."""

    id: str
    url: str
    format: WebhookFormat
    enabled: bool
    secret: str
    created_at: str


class DeliveryAttempt(TypedDict):
    number: int
    started_at: str
    duration_ms: int
    status_code: Optional[int]
    error: Optional[str]


class WebhookDelivery(TypedDict):
    id: str
    webhook_id: str
    message_id: str
    type: str
    alert_id: Optional[str]
    status: DeliveryStatus
    created_at: str
    next_attempt_at: Optional[str]
    finished_at: Optional[str]
    attempts: List[DeliveryAttempt]


class DeliveryPage(TypedDict):
    deliveries: List[WebhookDelivery]
    cursor: Optional[str]
    has_more: bool
    request_id: str


class DestinationFilter(TypedDict, total=False):
    """The events that a destination gets: those that meet every condition. In ``actions``, ``*`` stands for any characters."""

    actions: List[str]
    categories: List[Category]
    tenant_ids: List[str]


class OcsfClass(TypedDict):
    """The class in OCSF of records of actions that match ``action``, in which ``*`` stands for any characters."""

    action: str
    class_uid: int
    activity_id: int


class DestinationFailure(TypedDict):
    """``status`` is ``None`` without a response."""

    at: str
    status: Optional[int]
    request: str
    response: str


class DestinationReplay(TypedDict):
    """A second run over events of the past. Its records have ``number`` as ``stream.run``."""

    number: int
    position: int
    cursor_seq: int
    end_seq: int
    state: DestinationState


class _DestinationRequired(TypedDict):
    id: str
    name: str
    kind: DestinationKind
    environment: Environment
    format: RecordFormat
    include_raw: bool
    ocsf_classes: List[OcsfClass]
    filter: DestinationFilter
    settings: Dict[str, Any]
    credentials: List[str]
    paused: bool
    state: DestinationState
    created_at: str
    created_by_tenant: Optional[str]
    position: int
    cursor_seq: int
    lag_events: int
    lag_seconds: Optional[int]
    last_success_at: Optional[str]
    last_error: Optional[DestinationFailure]
    next_attempt_at: Optional[str]
    set_aside: int
    previous_credentials_in_use: bool
    replay: Optional[DestinationReplay]


class Destination(_DestinationRequired, total=False):
    """``credentials`` has the names of those that are set, ``created_by_tenant`` the tenant whose viewer token has created it.

    Only the response to the request that made it has ``signing_secret``.
    """

    signing_secret: str


RetentionPreset = Literal["pci", "hipaa", "cnil"]


class RetentionPolicy(TypedDict):
    """``days`` is ``None`` for ever; ``categories`` has the days of those that are kept longer."""

    days: Optional[int]
    categories: Dict[Category, int]
    preset: Optional[RetentionPreset]
    archive: bool
    since: str
    seq: int


class RetentionPlan(TypedDict):
    """A plan in its grace period. ``received_before`` has times by category and ``default``."""

    seq: int
    received_before: Dict[str, str]
    events: int
    held: int
    kept: int
    digest: str
    planned_at: str
    not_before: str
    state: Optional[str]


class RetentionRemoval(TypedDict):
    """A removal. ``received_before`` has times by category and ``default``."""

    seq: int
    id: str
    at: str
    events: int
    received_before: Dict[str, str]
    archive: Optional[str]
    state: Optional[str]


class RecordedArchive(TypedDict):
    """An archive that the log names: its end, and the digest of its newest manifest."""

    end_seq: int
    manifest: str
    seq: int
    at: str


class RetentionInfo(TypedDict):
    """The retention of a log. ``waiting_for`` is what holds the plan, or the next one, back."""

    policy: Optional[RetentionPolicy]
    plan: Optional[RetentionPlan]
    waiting_for: Optional[Literal["confirmation", "clock", "time_stamp", "signature", "quorum", "destination", "archive"]]
    archive: Optional[RecordedArchive]
    removals: List[RetentionRemoval]
    removed: int
    holds: int
    minimum_days: int


class RetentionPreviewMonth(TypedDict):
    """A month of a preview, such as ``2026-01``."""

    month: str
    events: int
    to_remove: int
    held: int
    kept: int


class RetentionPreview(TypedDict):
    """What a policy would remove now. All numbers are estimates."""

    received_before: Dict[str, str]
    months: List[RetentionPreviewMonth]
    events: int
    estimated: Literal[True]
    destinations_behind: List[str]
    archived: bool


_HoldTimes = TypedDict("_HoldTimes", {"from": Optional[str], "to": Optional[str]})


class Hold(_HoldTimes):
    """A legal hold. Its ids are in all forms in which redaction may have stored them; an empty list is any."""

    id: str
    reason: str
    tenant_id: List[str]
    actor_id: List[str]
    target_id: List[str]
    placed_at: str
    placed_by: str
    seq: int
    second_key: bool
    released_at: Optional[str]
    released_by: Optional[str]
    release_reason: Optional[str]


class LoggedRemoval(TypedDict):
    """A plan in its grace period, a removal or an erasure, as its event in the log says."""

    seq: int
    kind: Literal["retention", "erasure"]
    action: str
    first_seq: Optional[int]
    end_seq: Optional[int]
    events: int
    digest: str
    at: str


ErasureExtent = Literal["person", "all", "row"]
ErasureBasis = Literal["gdpr_17", "ccpa", "contract", "other"]
ErasureState = Literal["listing", "listed", "planned", "erasing", "cleaning", "done", "cancelled"]


class OutOfReach(TypedDict):
    """A place where the person may still be. ``name`` is that of a destination."""

    kind: Literal["destination", "receipt", "backup", "client", "configuration", "postgres"]
    name: Optional[str]
    detail: str


class Erasure(TypedDict):
    """An erasure. ``read`` of ``size`` events were searched; ``held`` ones match and stay, because a hold covers them."""

    id: str
    environment: Environment
    state: ErasureState
    extent: ErasureExtent
    basis: ErasureBasis
    ticket: Optional[str]
    created_at: str
    created_by: str
    read: int
    size: int
    events: int
    rows: int
    held: int
    digest: Optional[str]
    not_before: Optional[str]
    planned_seq: Optional[int]
    erased_seq: Optional[int]
    erased_at: Optional[str]
    done_at: Optional[str]
    waiting_for: Optional[Literal["confirmation", "clock", "time_stamp", "signature", "quorum", "destination"]]
    out_of_reach: List[OutOfReach]


class ErasureEvent(TypedDict):
    """An event of the list: the whole ``row`` goes, or its ``parts``. ``id`` and the others are ``None`` once it is gone."""

    seq: int
    id: Optional[str]
    occurred_at: Optional[str]
    action: Optional[str]
    row: bool
    parts: List[str]


class ErasureEventPage(TypedDict):
    events: List[ErasureEvent]
    cursor: Optional[str]
    has_more: bool


class LogReport(TypedDict):
    """What auditors read of the lifecycle of a log. docs/api.md#get-logreport says what each list has."""

    log: str
    made_at: str
    size: int
    signed: Optional[int]
    checkpoint: Optional[str]
    policy: Optional[Dict[str, Any]]
    policies: List[Dict[str, Any]]
    confirmed: List[Dict[str, Any]]
    planned: List[Dict[str, Any]]
    cancelled: List[Dict[str, Any]]
    removals: List[Dict[str, Any]]
    erasures: List[Dict[str, Any]]
    archives: List[Dict[str, Any]]
    restored: List[Dict[str, Any]]
    holds: List[Dict[str, Any]]
    #: Whether a list has more than its newest 1,000 entries.
    more: bool
    counts: Dict[str, Optional[int]]
    verified: Optional[Dict[str, Any]]


class DestinationAttempt(TypedDict):
    """An attempt to send one record. ``status`` is ``None`` without a response."""

    verdict: Verdict
    status: Optional[int]
    request: str
    response: str


class DestinationPreview(TypedDict):
    """``records`` are objects, in the format ``cef`` strings."""

    format: RecordFormat
    records: List[Any]


class ReplayCount(TypedDict):
    """``matching`` of the first ``looked_at`` events pass the filter."""

    matching: int
    looked_at: int


class ReplayResult(TypedDict):
    """``count`` is there after a dry run, ``replay`` after a start."""

    from_seq: int
    end_seq: int
    count: Optional[ReplayCount]
    replay: Optional[DestinationReplay]


class SetAsideEvent(TypedDict):
    """An event that the receiver refused. ``run`` is 0, or the number of a replay."""

    run: int
    position: int
    seq: int
    event_id: str
    at: str
    reason: str


class SetAsidePage(TypedDict):
    events: List[SetAsideEvent]
    cursor: Optional[str]
    has_more: bool
    request_id: str


class ResentEvent(DestinationAttempt):
    run: int
    position: int


class ResendResult(TypedDict):
    """``remaining`` is the number of events that are still set aside."""

    events: List[ResentEvent]
    remaining: int


class _CreatedKeyRequired(TypedDict):
    key: str
    id: str
    prefix: str
    name: str
    expiresAt: Optional[str]
    scopes: Optional[List[Scope]]
    networks: Optional[List[str]]


class CreatedKey(_CreatedKeyRequired, total=False):
    """A new key. ``key`` is shown only here."""

    type: str
    environment: Environment


class _KeyInfoRequired(TypedDict):
    id: str
    prefix: str
    name: str
    lastUsedAt: Optional[str]
    createdAt: str
    revokedAt: Optional[str]
    expiresAt: Optional[str]
    scopes: Optional[List[Scope]]
    networks: Optional[List[str]]


class KeyInfo(_KeyInfoRequired, total=False):
    type: str
    project_id: str
    environment: Environment
    lastUsedFrom: Optional[str]


class _ProjectRequired(TypedDict):
    id: str
    name: str
    created_at: str


class Project(_ProjectRequired, total=False):
    #: Since when it takes no events.
    archived_at: str
    #: The members of the metadata by which events can be filtered; absent if none.
    metadata_filter_paths: List[str]


class Tenant(TypedDict):
    tenant_id: str
    event_count: int


class TenantPage(TypedDict):
    tenants: List[Tenant]
    cursor: Optional[str]
    has_more: bool


class _RedactionRuleRequired(TypedDict):
    id: str
    type: Literal["builtin", "pattern", "field_redact"]
    name: str
    behavior: Behavior
    enabled: bool


class RedactionRule(_RedactionRuleRequired, total=False):
    builtin_id: str
    pattern: str
    fields: List[str]
    created_at: str


class RedactionMetadata(TypedDict):
    was_redacted: bool
    redacted_fields: List[str]
    redacted_rules: List[str]
    rules_evaluated: int


class RedactionTest(TypedDict):
    original: Dict[str, Any]
    redacted: Dict[str, Any]
    metadata: RedactionMetadata


class Quota(TypedDict):
    count: int
    max: Optional[int]


class StoredEvents(TypedDict):
    live: int
    test: int


class Usage(TypedDict):
    plan: Literal["free", "pro", "enterprise"]
    events_today: Quota
    day_ends_at: str
    events: StoredEvents
    keys: Quota
    redaction_rules: Quota
    alert_rules: Quota
    webhooks: Quota
    viewer_tiers: Quota


class PortalLook(TypedDict):
    """``destination_kinds`` are the kinds that tenants may create; with a viewer token those that it may create.

    ``sign_in_url`` is where readers without a token sign in.
    """

    name: Optional[str]
    logo: Optional[str]
    destination_kinds: List[DestinationKind]
    sign_in_url: Optional[str]


class _ActionTextRequired(TypedDict):
    label: str


class ActionText(_ActionTextRequired, total=False):
    """An action in one language. ``template`` is a sentence such as ``{actor} changed the role of {target} to {after.role}``."""

    template: Optional[str]


class ActionLabel(TypedDict):
    icon: Optional[ActionIcon]
    languages: Dict[str, ActionText]


class ListedAction(TypedDict):
    """``seen`` says whether an event of the log has the action, or had it."""

    action: str
    seen: bool
    label: Optional[ActionLabel]


class ActionPage(TypedDict):
    actions: List[ListedAction]
    cursor: Optional[str]
    has_more: bool


class ReadableAction(TypedDict):
    """An action in the language of the reader."""

    action: str
    icon: Optional[ActionIcon]
    label: str
    template: Optional[str]


class _ViewerTokenRequired(TypedDict):
    token: str
    expires_at: str


class ViewerToken(_ViewerTokenRequired, total=False):
    portal_url: str


class ViewerTier(TypedDict):
    name: str
    categories: Optional[List[Category]]
    actions: Optional[List[str]]
    hidden_fields: List[str]
    routes: Optional[List[TierRoute]]
    created_at: str


class StreamInfo(TypedDict):
    claim_token: str
    event_count: int
    status: Literal["active", "claimed", "expired"]
    created_at: str
    expires_at: str


class PartProof(TypedDict, total=False):
    """``salt`` or ``hash`` of one part of an event."""

    salt: str
    hash: str


class _ProofRequired(TypedDict):
    seq: int
    content_hash: str
    inclusion: List[str]
    checkpoint: str


class Proof(_ProofRequired, total=False):
    """Proof that an event is in the log. Readers of the whole event get ``content_salt``, others ``parts``."""

    content_salt: str
    parts: Dict[str, PartProof]


class ConsistencyProof(TypedDict):
    consistency: List[str]


class RemovedLeaf(TypedDict):
    index: int
    hash: str


class RemovedFromTenant(TypedDict):
    """What removals have taken of a tenant's events, by the statement of the server."""

    events: int
    before: str
    prefix: int
    frontier: List[str]
    leaves: List[RemovedLeaf]


class _CompletenessRequired(TypedDict):
    tenant_id: str
    salt: str
    map: str


class Completeness(_CompletenessRequired, total=False):
    """Proof that a tenant's events are complete."""

    checkpoint: str
    path: List[str]
    removed: RemovedFromTenant
