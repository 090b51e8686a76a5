//! The use cases of the audit log: where domain, redaction, credentials and storage meet. No HTTP in here.
//!
//! [`AuditLog`] is the service. A caller's credential becomes a [`Presented`] under the policy of the endpoint.
//! [`Presented::authenticate`] gives the proof that most use cases take. The others look the credential up themselves.
//! Ingest does so in a cache; the transaction that stores the events detects a stale cache. Queries, proofs and the feed do
//! so on the connection that reads.
//!
//! ```
//! use audit_app::{AuditLog, Settings};
//! use audit_domain::{Clock, Entropy, Plan, Timestamp};
//! use audit_store::{DatabaseUrl, Store, StoreOptions};
//! use std::sync::Arc;
//!
//! struct Fixed;
//! impl Entropy for Fixed {
//!     fn fill(&self, bytes: &mut [u8]) {
//!         bytes.fill(7);
//!     }
//! }
//!
//! let folder = tempfile::tempdir()?;
//! let clock: Arc<dyn Clock> = Arc::new(Timestamp::from_seconds(1_768_473_000));
//! let url = DatabaseUrl::Sqlite(folder.path().join("audit.db"));
//! let store = Store::open(&url, StoreOptions::default(), &audit_app::HeadKey::new(&[7; 32]), &clock)?;
//! let service = AuditLog::open(store, clock, Arc::new(Fixed), Settings::default())?;
//! assert!(service.organizations()?.is_empty());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! Invariants:
//! - Redaction runs before the store gets an event. Of the original, only a digest is stored.
//! - A request reads and writes only within the organization, project, environment and tenant of its principal.
//! - Revocations and changes of rules, tiers and plans apply to every request that begins after their commit.

mod accounts;
mod action_labels;
mod activity;
mod alert_rules;
mod alerts;
mod archive;
mod authentication;
mod backups;
mod cells;
mod console_session;
mod copy;
mod credential_hash;
mod deliveries;
mod destinations;
mod directory;
mod dispatcher;
mod erasure;
mod error;
mod events;
mod evidence;
mod export;
mod feed;
mod ingest;
mod key_trace;
mod keys;
mod lifecycle;
mod log;
mod measured;
mod portal;
mod purge;
mod reading;
mod redact_event;
mod redaction;
mod restore;
mod secrets;
mod self_audit;
mod service;
mod settings;
mod statistics;
mod streams;
mod summary;
mod telemetry;
mod turns;
mod usage;
mod verify;
mod viewers;
mod wake;
mod webhooks;

pub use accounts::{NewOrganization, PROJECTS_MAX, ProjectChange, ProjectListing};
pub use action_labels::{ACTION_LABELS_MAX, ActionsRequest, ActionsResponse, LabelsByAction, ListedAction};
pub use activity::ActivityReport;
pub use alert_rules::AlertRules;
pub use alerts::{AlertChange, AlertInContext, AlertsRequest, AlertsResponse};
pub use archive::{LoggedPosition, SignedLog};
pub use authentication::{Identity, Presented};
pub use backups::{BackupStatistics, Backups};
pub use cells::administration::CellReport;
pub use console_session::ConsoleSession;
pub use copy::{CopyError, CopyOutcome, CopyRequest, CopyStep, copy_database};
pub use deliveries::{DeliveriesRequest, DeliveriesResponse, Delivery, DeliveryAttempt, DeliveryKind};
pub use destinations::worker::thread::Destinations;
pub use destinations::worker::{DestinationLag, DestinationStatistics};
pub use destinations::{
    DESTINATIONS_MAX, Destination, DestinationAttempt, DestinationChange, DestinationError,
    DestinationFilter, DestinationPreview, DestinationProgress, DestinationReport, DestinationState,
    DestinationVerdict, NewDestination, RESENT_MAX, ReplayCount, ReplayProgress, ReplayRange, ReplayRequest,
    ResendRequest, Resent, ResentEvent, SetAsideEvent, SetAsidePage, TENANT_DESTINATIONS_MAX,
    TENANTS_DESTINATIONS_MAX,
};
pub use dispatcher::DeliveryStatistics;
pub use dispatcher::thread::Deliveries;
pub use erasure::{
    EXCLUDED_MAX, ErasureEvent, ErasureEvents, ErasureId, ErasureState, ErasureStatus, IDENTIFIER_CHARS_MAX,
    IDENTIFIERS_MAX, Identifiers, NewErasure, OPEN_ERASURES_MAX, OutOfReach, OutOfReachKind, TEXT_CHARS_MIN,
};
pub use error::{AppError, Result, SecretFailure};
pub use events::{EventsRequest, EventsResponse, RemovedBefore};
pub use evidence::{Evidence, EvidenceError, EvidenceProof, EvidenceRequest, RemovedEvidence};
pub use export::pages::Export;
pub use export::{EXPORTS_MAX, ORGANIZATION_EXPORTS_MAX};
pub use feed::follower::{FeedRequest, Follower};
pub use feed::page::{FeedEvent, FeedPage};
pub use ingest::{BATCH_EVENTS_MAX, EventsForm, Ingested, LINES_EVENTS_MAX, RefusedEvent, SentEvents};
pub use key_trace::TracedEvent;
pub use keys::{
    KEY_OVERLAP_DEFAULT, KEY_OVERLAP_MAX, KeyChange, KeyManager, MASTER_KEYS_MAX, NewKey, PROJECT_KEYS_MAX,
};
pub use lifecycle::worker::archived::{ArchiveErasure, RetiredEvent};
pub use lifecycle::worker::authorities::Authorities;
pub use lifecycle::worker::{RemovalStatistics, thread::Removals};
pub use lifecycle::{
    HOLDS_MAX, HeldFor, HoldId, HoldRelease, LegalHold, LogReport, LoggedRemoval, NewHold,
    PREVIEW_MONTHS_MAX, PolicyInForce, PreviewMonth, RETENTION_DAYS_MAX, RecordedArchive, ReportedEvent,
    Retention, RetentionChange, RetentionPlan, RetentionPreset, RetentionPreview, RetentionRemoval,
    StoredPlan, StoredRetention, VerifiedLog, WaitingFor, stored_report, stored_retention,
};
pub use log::tenants::completeness::{RemovedOfTenant, TenantCompleteness};
pub use log::tenants::listed::{ListedTenant, TenantsRequest, TenantsResponse};
pub use log::tenants::{AuditedTenantMap, StoredMapSecret};
pub use log::witnessing::cosigned::LogCheckpoint;
pub use log::witnessing::threads::WitnessThreads;
pub use log::{
    AnchorInterval, AnchorIntervalError, AnchorPlace, AnchorPlaces, AnchorWebhook, Disclosure, EventProof,
    LogKeyError, MapBehind, PlaceStatistics, Remembered, Signed, SignerMemory, SignerMemoryError,
    SigningError, SigningProgram, UnreachableQuorum, WitnessClient, WitnessReply, WitnessStatistics,
    Witnesses,
};
pub use measured::Measured;
pub use portal::{Logo, LogoError, Portal, PortalChange, SignInUrl, SignInUrlError};
pub use purge::{DELIVERIES_KEPT_SECONDS, Purged};
pub use reading::ReadingStatistics;
pub use redaction::trial::RedactionTrial;
pub use redaction::{
    CUSTOM_RULES_MAX, NewRedactionRule, PatternText, RULES_COMPILED_BYTES_MAX, RedactionRule,
    RedactionRuleChange, RuleSubject,
};
pub use restore::{ArchivedFate, ArchivedRow, LogRestore, RestoreError};
pub use secrets::head_key_place;
pub use secrets::rewrap::Rewrapped;
pub use secrets::status::{SecretState, SecretStatus, secrets_status};
pub use self_audit::{KEY_READS_PER_MINUTE_MAX, Requester, ServiceAction, VIEWERS_READS_PER_MINUTE_MAX};
pub use service::{AuditLog, PendingDeliveries, Selection};
pub use settings::Settings;
pub use streams::limits::StreamLimits;
pub use streams::{StreamInfo, StreamStatus};
pub use summary::SummaryRequest;
pub use telemetry::{
    AttributeValue, QUEUED_SPANS_MAX, RequestSpan, Span, SpanCounts, SpanKind, TraceContext, Tracer,
};
pub use turns::{CredentialOwner, Member};
pub use usage::{Quota, Usage};
pub use verify::{
    AnchorFinding, AnchorReport, AnchoredHead, AnchoredLog, AnchoredLogs, AnchoredTenantMap, CellDatabase,
    FINDINGS_MAX, Finding, LedgerReport, ListMismatch, Problem, Removed, RepairOptions, RepairReport,
    VerifiedRemoval, VerifyOptions, cells_of_deployment, first_finding, keys_in_database, list_mismatch,
    verify_anchors, verify_deployment, verify_log,
};
pub use viewers::{TIERS_MAX, TierChange};
pub use webhooks::{REPLACED_SECRET_SECONDS, WEBHOOKS_MAX, Webhook, WebhookChange, WebhookFormat};

// The types of other crates that appear in the API of this crate.
pub use audit_alerts::{
    Alert, AlertAction, AlertId, AlertNote, AlertRule, AlertRuleId, AlertStatus, BuiltinRule,
    CooldownSeconds, DistinctField, GroupBy, RuleChange, RuleCondition, RuleConditions, RuleDefinition,
    RuleOrigin, Severity, SuppressedAlerts, Threshold, WindowSeconds,
};
pub use audit_anchors::{
    Bucket, BucketError, BucketOptions, LockMode, ObjectLock, ObjectLockError, RootsError, TimeStamp,
    TimeStampAuthority, TimeStampError, TimeStampRoots,
};
pub use audit_destinations::{
    DestinationId, DestinationSender, Kind as DestinationKind, OcsfClasses, RecordFormat,
};
pub use audit_ledger::{
    ConsistencyProof, HeadKey, HeadKeyId, InclusionProof, TenantProof, TileId, VerifierKey,
};
pub use audit_redact::{Behavior, Builtin, FieldPath, HashKey, Pattern};
pub use audit_secrets::{EncryptionKey, KeyId, KeyRing, OpenError, Secret, SecretText};
pub use audit_store::{
    AlertFilter, Cell, CellSize, EventSummary, FrequentValues, Key, NewCell, Organization, Project,
    RemovalState, RestoredRow, StoreStatistics, StoredTier, SummaryBucket,
};
pub use audit_webhooks::{
    AddressPolicy, DeliveryId, DeliveryStatus, FailureKind, Sender, SenderOptions, WebhookId, WebhookSecret,
    WebhookUrl,
};
