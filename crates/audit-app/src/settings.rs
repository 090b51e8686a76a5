//! The settings of the operator.

use crate::log::{KeyAccess, SignerMemory, SigningProgram, Witnesses};
use crate::streams::limits::StreamLimits;
use audit_destinations::DestinationSender;
use audit_domain::{DigestKey, KeyId, Plan};
use audit_redact::{Behavior, Builtin, Engine, EngineBuilder, HashKey};
use audit_secrets::KeyRing;
use audit_store::EventSender;
use audit_webhooks::AddressPolicy;
use std::net::IpAddr;
use std::sync::Arc;

/// The settings of the operator.
#[derive(Clone, Debug)]
pub struct Settings {
    /// The key of the hashes that redaction writes. It prevents guessing short secrets from their hashes.
    pub hash_key: Option<HashKey>,
    /// Keys that stored hashes may have been made with. Filters search their forms too.
    pub hash_keys_previous: Vec<HashKey>,
    /// The key of the digests that distinguish idempotent repeats from conflicts; `None` for one of the store
    /// ([`audit_store::Store::digest_key`]).
    pub digest_key: Option<DigestKey>,
    /// The URL at which people reach the pages, without a slash at the end. None: alerts have no link.
    pub pages_url: Option<String>,
    /// The addresses that webhooks and destinations may use.
    pub webhook_addresses: AddressPolicy,
    /// Sends records to destinations. None in a process that sends none.
    pub destination_sender: Option<Arc<DestinationSender>>,
    /// The keys that encrypt secrets in the database.
    pub encryption: KeyRing,
    /// What this node has signed. None in a process that signs no checkpoints.
    pub signer: Option<Arc<SignerMemory>>,
    /// Signs checkpoints, where the key is not in the database.
    pub signing_program: Option<Arc<dyn SigningProgram>>,
    /// Signs as well from a rotation until the old key is retired, where the old key is not in the database.
    pub signing_program_before: Option<Arc<dyn SigningProgram>>,
    /// The witnesses that cosign checkpoints. None where nobody is asked.
    pub witnesses: Option<Arc<Witnesses>>,
    /// Whether an authority stamps anchors with its time: then events are removed only while there is a new time stamp.
    pub stamps_anchors: bool,
    /// How long a plan of retention waits before its events are removed, in seconds.
    pub removal_grace_seconds: i64,
    /// Whether this process removes events, and lists those of erasures.
    pub removes_events: bool,
    /// Whether the service records its own changes as events, where the database does not say so yet.
    pub self_audit: bool,
    /// Whether the addresses from which keys send events are stored, for [`AuditLog::trace_key`](crate::AuditLog::trace_key).
    pub sender_addresses: bool,
    /// Projects with metrics of their own, at most; 0 for none.
    pub project_metrics: usize,
    /// The limits of anonymous streams.
    pub stream_limits: StreamLimits,
    /// Events per day on the free plan; `None` for no limit.
    pub daily_events_max_free: Option<u64>,
    /// Events per day on the pro plan; `None` for no limit.
    pub daily_events_max_pro: Option<u64>,
    /// Events per day on the enterprise plan; `None` for no limit.
    pub daily_events_max_enterprise: Option<u64>,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            hash_key: None,
            hash_keys_previous: Vec::new(),
            digest_key: None,
            pages_url: None,
            webhook_addresses: AddressPolicy::Public,
            destination_sender: None,
            encryption: KeyRing::default(),
            signer: None,
            signing_program: None,
            signing_program_before: None,
            witnesses: None,
            stamps_anchors: false,
            removal_grace_seconds: 86_400,
            removes_events: true,
            self_audit: true,
            sender_addresses: true,
            project_metrics: 0,
            stream_limits: StreamLimits::default(),
            daily_events_max_free: Some(1_000),
            daily_events_max_pro: Some(1_000_000),
            daily_events_max_enterprise: None,
        }
    }
}

impl Settings {
    /// The sender of events that the holder of a key sends from this address.
    pub(crate) fn sender(&self, key_id: KeyId, client: Option<IpAddr>) -> EventSender {
        EventSender::new(key_id, client.filter(|_| self.sender_addresses))
    }

    /// The redaction rules of all streams.
    pub(crate) fn stream_engine(&self) -> Engine {
        let default_rules = Builtin::ALL.iter().filter(|builtin| builtin.enabled_by_default());
        default_rules
            .fold(self.engine_builder(), |builder, builtin| {
                builder.builtin(*builtin, Behavior::Replace)
            })
            .build()
    }

    /// No rules, but the keys of the hashes of identifiers.
    pub(crate) fn identifier_engine(&self) -> Engine {
        self.engine_builder().build()
    }

    fn engine_builder(&self) -> EngineBuilder {
        Engine::builder()
            .hash_key(self.hash_key.clone())
            .previous_hash_keys(self.hash_keys_previous.clone())
    }

    /// What this process has for the keys of the log.
    pub(crate) fn key_access(&self) -> KeyAccess<'_> {
        KeyAccess {
            encryption: &self.encryption,
            program: self.signing_program.as_ref(),
            program_before: self.signing_program_before.as_ref(),
        }
    }

    /// The maximum number of events that a project on this plan may store per UTC day.
    pub fn daily_events_max(&self, plan: Plan) -> Option<u64> {
        match plan {
            Plan::Free => self.daily_events_max_free,
            Plan::Pro => self.daily_events_max_pro,
            Plan::Enterprise => self.daily_events_max_enterprise,
        }
    }
}
