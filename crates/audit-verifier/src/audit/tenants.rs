//! The map of tenants: the auditor computes it from the events, and compares it with the one that the server signs and with those
//! that it has shown to viewers.

use super::events::Event;
use super::server::{Fetched, LogServer};
use super::{AuditOptions, AuditResult, Failure, left_out};
use crate::tenant_proof;
use anyhow::{Context, anyhow};
use audit_domain::{LogName, Timestamp};
use audit_ledger::{
    Hash, Origin, SignedTenantMap, TenantLabel, TenantLogs, TenantMapKey, TreeHead, VerifierKey,
};
use serde_json::Value;
use std::collections::{BTreeMap, HashMap};

/// How many tenants are compared one by one where the maps differ.
const COMPARED_TENANTS_MAX: usize = 10_000;

/// The signed maps of a log, and what the events say at their sizes.
pub(super) struct TenantMaps {
    key: TenantMapKey,
    /// By the size of the log: where it was shown, and the note.
    signed: Vec<(String, u64, SignedTenantMap)>,
    /// Sizes at which a root is needed, with the root over the events.
    roots: BTreeMap<u64, Option<Hash>>,
    logs: TenantLogs,
    /// By tenant.
    labels: HashMap<String, TenantLabel>,
    /// The logs at the size of the map that the server shows now.
    logs_of_server: Option<TenantLogs>,
    /// The log as content hashes name it.
    log: Option<LogName>,
    /// How old an event must be when a map is signed to be in it, in seconds.
    max_unsigned: i64,
    /// A map that lacks such an event.
    stale: Option<String>,
}

impl TenantMaps {
    /// Reads the map that the server signs now, and the notes of viewers from files.
    pub(super) fn read(
        server: &LogServer,
        keys: &[VerifierKey],
        options: &AuditOptions,
    ) -> AuditResult<Self> {
        let body: Value = match server.json_of_consistent_log("log/tenants")? {
            Fetched::Found(body) => body,
            Fetched::Refused(why) => {
                let what = format!("the server does not return the map of tenants: {why}");
                return Err(Failure::Inconsistent(what));
            }
        };
        let map_key = body["key"].as_str().unwrap_or_default();
        let map_key = TenantMapKey::from_base64(map_key).map_err(|error| {
            Failure::Inconsistent(format!("the server returns an invalid key of the map: {error}"))
        })?;
        let size = body["size"].as_u64().context("the map of tenants has no size")?;
        let note = body["map"].as_str().unwrap_or_default();
        let map = SignedTenantMap::open(note, keys).map_err(|error| {
            Failure::Inconsistent(format!("the server returns an invalid map of tenants: {error}"))
        })?;
        let mut signed = vec![("the server".to_owned(), size, map)];
        for file in &options.tenant_proof {
            let proof = tenant_proof::read(file)?;
            let (map, _) = proof
                .verify(keys)
                .map_err(|error| anyhow!("{}: {error}", file.display()))?;
            // Unknown until the binding is compared with that of each size.
            signed.push((file.display().to_string(), u64::MAX, map));
        }
        Ok(Self {
            key: map_key,
            signed,
            roots: BTreeMap::new(),
            logs: TenantLogs::default(),
            labels: HashMap::new(),
            logs_of_server: None,
            log: None,
            max_unsigned: options.max_unsigned.seconds(),
            stale: None,
        })
    }

    /// Determines at which sizes of the log roots are needed, up to the size of a checkpoint of this log. `is_latest`: the log has
    /// no later checkpoint, so every map is of its events.
    pub(super) fn begin(&mut self, log: &Origin, size: u64, is_latest: bool) -> AuditResult<()> {
        self.log = LogName::of_origin(log.as_str());
        let of_server = self.signed.first().map_or(0, |(_, of, _)| *of);
        let size_max = if is_latest { size } else { size.max(of_server) };
        for (shown_by, of, map) in &mut self.signed {
            if map.head().log != *log {
                let what = format!(
                    "the map of tenants of {shown_by} is of the log {}",
                    map.head().log
                );
                return Err(Failure::Inconsistent(what));
            }
            if *of == u64::MAX {
                let binding = map.head().binding;
                let found = (0..=size_max)
                    .rev()
                    .find(|size| self.key.binding(*size) == binding);
                let what = format!("the map of tenants in {shown_by} is of no size that the log has had");
                *of = found.ok_or(Failure::Inconsistent(what))?;
                if *of > size {
                    let what =
                        format!("{shown_by} is of {of} events, and the checkpoint with a quorum has {size}");
                    return Err(Failure::Inconclusive(anyhow!("{what}: audit again later")));
                }
            }
            if *of > size_max || self.key.binding(*of) != map.head().binding {
                let what = format!("the map of tenants of {shown_by} is not bound to {of} events of the log");
                return Err(Failure::Inconsistent(what));
            }
        }
        // The map of later events is compared when a checkpoint of these has a quorum.
        self.signed.retain(|(_, of, _)| *of <= size);
        self.roots
            .extend(self.signed.iter().map(|(_, of, _)| (*of, None)));
        self.note_root(0);
        Ok(())
    }

    /// Adds the event at this position.
    pub(super) fn append(&mut self, seq: u64, event: &Event, leaf: Hash) {
        // A server that signs an old map with the present time hides what came after it.
        for (shown_by, _, map) in self.signed.iter().filter(|(_, of, _)| *of == seq) {
            let signed_at = map.head().signed_at;
            let is_in_time = |at: &Timestamp| at.plus_seconds(self.max_unsigned) >= signed_at;
            if let Some(logged_at) = event.logged_at.filter(|at| !is_in_time(at)) {
                let what = format!(
                    "the map of tenants that {shown_by} shows was signed at {signed_at} and lacks event {seq} ({}), which the log received at {logged_at}",
                    event.id
                );
                self.stale.get_or_insert(what);
            }
        }
        if self.is_needed(seq) {
            let label = match self.labels.get(&event.tenant_id) {
                Some(label) => *label,
                None => {
                    let label = self.key.label(&event.tenant_id);
                    self.labels.insert(event.tenant_id.clone(), label);
                    label
                }
            };
            self.logs.append(label, Some(&event.tenant_id), leaf);
            self.note_root(seq + 1);
        }
    }

    /// Adds the removed event at this position, of which the label of the tenant is left.
    pub(super) fn append_removed(&mut self, seq: u64, label: TenantLabel, leaf: Hash) {
        if self.is_needed(seq) {
            self.logs.append(label, None, leaf);
            self.note_root(seq + 1);
        }
    }

    /// Whether a root is needed of more than `seq` events.
    fn is_needed(&self, seq: u64) -> bool {
        self.roots.last_key_value().is_some_and(|(last, _)| seq < *last)
    }

    fn note_root(&mut self, size: u64) {
        if let Some(root) = self.roots.get_mut(&size) {
            *root = Some(self.logs.root(&self.key));
            if self.signed.first().is_some_and(|(_, of, _)| *of == size) {
                self.logs_of_server = Some(self.logs.clone());
            }
        }
    }

    /// Compares the maps with the events.
    pub(super) fn finish(&self, server: &LogServer) -> AuditResult<()> {
        for (shown_by, size, map) in &self.signed {
            if self.roots.get(size) == Some(&Some(map.head().root)) {
                continue;
            }
            let details = self.first_wrong_tenant(server)?;
            let details = details.map(|what| format!(": {what}")).unwrap_or_default();
            return Err(Failure::Inconsistent(format!(
                "the map of tenants that {shown_by} shows is not that of the first {size} events{details}"
            )));
        }
        match &self.stale {
            Some(what) => Err(Failure::Inconsistent(what.clone())),
            None => Ok(()),
        }
    }

    /// The first tenant whose log the server shows with fewer or other events.
    fn first_wrong_tenant(&self, server: &LogServer) -> AuditResult<Option<String>> {
        let Some(logs) = &self.logs_of_server else {
            return Ok(None);
        };
        // The id of a tenant is not known whose events were all removed.
        let tenants = logs
            .iter()
            .filter_map(|(_, tenant_id, log)| Some((tenant_id?, log)));
        let mut tenants: Vec<_> = tenants.take(COMPARED_TENANTS_MAX).collect();
        tenants.sort_by_key(|(tenant_id, _)| *tenant_id);
        for (tenant_id, log) in tenants {
            let parameters = [("tenant_id", tenant_id.to_owned())];
            let Fetched::Found(body) = server.json("log/completeness", &parameters)? else {
                return Ok(Some(format!("the server has no proof of the tenant {tenant_id}")));
            };
            let shown = tenant_proof::parse(&body)
                .ok()
                .and_then(|proof| proof.claimed_head());
            let shown = shown.unwrap_or_else(TreeHead::of_empty_tree);
            let own = log.head();
            if shown.size < own.size || (shown.size == own.size && shown.root != own.root) {
                let size = self.signed.first().map_or(0, |(_, of, _)| *of);
                let event = left_out::described(server, self.log, size, tenant_id, log, &shown)?;
                return Ok(Some(format!(
                    "the tenant {tenant_id} has {} events, and the server signs {} for it{}{}",
                    own.size,
                    shown.size,
                    if shown.size == own.size { ", others" } else { "" },
                    event.map(|event| format!(": {event}")).unwrap_or_default()
                )));
            }
        }
        Ok(None)
    }
}
