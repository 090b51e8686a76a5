//! The map, recomputed from the events.

use super::map::root_over;
use super::{MapPart, TenantLabel, TenantMapKey};
use crate::{Frontier, Hash};
use std::collections::{BTreeMap, HashMap, HashSet};

/// The logs of all tenants of a log: some 400 bytes for each tenant.
#[derive(Clone, Debug, Default)]
pub struct TenantLogs {
    logs: HashMap<String, Frontier>,
}

impl TenantLogs {
    /// Appends the next event of the log.
    pub fn append(&mut self, tenant_id: &str, leaf: Hash) {
        match self.logs.get_mut(tenant_id) {
            Some(log) => drop(log.append(leaf)),
            None => {
                let mut log = Frontier::new();
                log.append(leaf);
                self.logs.insert(tenant_id.to_owned(), log);
            }
        }
    }

    /// The log of a tenant that has events.
    pub fn get(&self, tenant_id: &str) -> Option<&Frontier> {
        self.logs.get(tenant_id)
    }

    /// The tenants with their logs.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &Frontier)> {
        self.logs.iter().map(|(tenant_id, log)| (tenant_id.as_str(), log))
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
    pub fn leaves(&self, key: &TenantMapKey) -> BTreeMap<u64, Hash> {
        let leaf = |(tenant_id, log): (&str, &Frontier)| {
            let label: TenantLabel = key.label(tenant_id);
            (label.slot(), label.leaf(&log.head()))
        };
        self.iter().map(leaf).collect()
    }

    /// The root of the map.
    pub fn root(&self, key: &TenantMapKey) -> Hash {
        root_over(key, &self.leaves(key))
    }
}

/// The map of a growing log. Its root costs as much as the tenants that have grown since the last one, and not as all of them.
#[derive(Clone, Debug)]
pub struct TenantMapReplay {
    key: TenantMapKey,
    logs: TenantLogs,
    map: MapPart,
    grown: HashSet<String>,
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

    /// Appends the next event of the log.
    pub fn append(&mut self, tenant_id: &str, leaf: Hash) {
        self.logs.append(tenant_id, leaf);
        if !self.grown.contains(tenant_id) {
            self.grown.insert(tenant_id.to_owned());
        }
    }

    /// The root of the map.
    pub fn root(&mut self) -> Hash {
        let (key, logs) = (&self.key, &self.logs);
        let leaf = |tenant_id: String| {
            let label = key.label(&tenant_id);
            Some((label.slot(), label.leaf(&logs.get(&tenant_id)?.head())))
        };
        let (root, _) = self.map.update(key, self.grown.drain().filter_map(leaf));
        root
    }
}
