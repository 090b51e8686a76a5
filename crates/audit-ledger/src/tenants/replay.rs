//! The map, recomputed from the events.

use super::map::root_over;
use super::{TenantLabel, TenantMapKey};
use crate::{Frontier, Hash};
use std::collections::{BTreeMap, HashMap};

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
