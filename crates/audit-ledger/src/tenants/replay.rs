//! The map, recomputed from the events.

use super::map::root_over;
use super::{MapPart, TenantLabel, TenantMapKey};
use crate::{Frontier, Hash};
use std::collections::{BTreeMap, HashMap, HashSet};

/// The logs of all tenants of a log, by label: some 400 bytes for each tenant.
#[derive(Clone, Debug, Default)]
pub struct TenantLogs {
    logs: HashMap<TenantLabel, TenantLog>,
}

#[derive(Clone, Debug, Default)]
struct TenantLog {
    /// `None` while only removed events of it were appended.
    tenant_id: Option<String>,
    frontier: Frontier,
}

impl TenantLogs {
    /// Appends the next event of the log. The label is that of its tenant, whose id is not known of a removed event.
    pub fn append(&mut self, label: TenantLabel, tenant_id: Option<&str>, leaf: Hash) {
        let log = self.logs.entry(label).or_default();
        log.frontier.append(leaf);
        if log.tenant_id.is_none() {
            log.tenant_id = tenant_id.map(str::to_owned);
        }
    }

    /// The log of a tenant that has events.
    pub fn get(&self, label: &TenantLabel) -> Option<&Frontier> {
        self.logs.get(label).map(|log| &log.frontier)
    }

    /// The tenants with their ids, as far as they are known, and their logs.
    pub fn iter(&self) -> impl Iterator<Item = (&TenantLabel, Option<&str>, &Frontier)> {
        let logs = self.logs.iter();
        logs.map(|(label, log)| (label, log.tenant_id.as_deref(), &log.frontier))
    }

    /// The number of tenants.
    pub fn len(&self) -> usize {
        self.logs.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.logs.is_empty()
    }

    /// The leaves of the map by slot.
    pub fn leaves(&self) -> BTreeMap<u64, Hash> {
        let leaf = |(label, _, log): (&TenantLabel, Option<&str>, &Frontier)| {
            (label.slot(), label.leaf(&log.head()))
        };
        self.iter().map(leaf).collect()
    }

    /// The root of the map.
    pub fn root(&self, key: &TenantMapKey) -> Hash {
        root_over(key, &self.leaves())
    }
}

/// The map of a growing log. Its root costs as much as the tenants that have grown since the last one, and not as all of them.
#[derive(Clone, Debug)]
pub struct TenantMapReplay {
    key: TenantMapKey,
    logs: TenantLogs,
    map: MapPart,
    grown: HashSet<TenantLabel>,
}

impl TenantMapReplay {
    /// The map of a log without events.
    pub fn new(key: TenantMapKey) -> Self {
        Self {
            key,
            logs: TenantLogs::default(),
            map: MapPart::default(),
            grown: HashSet::new(),
        }
    }

    /// Appends the next event of the log: see [`TenantLogs::append`].
    pub fn append(&mut self, label: TenantLabel, tenant_id: Option<&str>, leaf: Hash) {
        self.logs.append(label, tenant_id, leaf);
        self.grown.insert(label);
    }

    /// The root of the map.
    pub fn root(&mut self) -> Hash {
        let (key, logs) = (&self.key, &self.logs);
        let leaf = |label: TenantLabel| Some((label.slot(), label.leaf(&logs.get(&label)?.head())));
        let (root, _) = self.map.update(key, self.grown.drain().filter_map(leaf));
        root
    }
}
