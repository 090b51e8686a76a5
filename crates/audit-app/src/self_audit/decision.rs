//! Whether the service records its own changes. The operator decides by an option of `serve`; the database has the present
//! decision, so that the commands of the operator record what the server would.

use crate::error::{AppError, Result};
use audit_domain::{Entropy, Timestamp};
use audit_store::{Configurator, Deployment, Reader, Store, StoreError};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// The name under which the database stores the decision.
pub(crate) const SELF_AUDIT: &str = "self_audit";
const ID_BYTES: usize = 16;

/// Whether this process records the changes of the service. All cells share it.
#[derive(Debug)]
pub(crate) struct SelfAudit(AtomicBool);

/// The decision of the operator as it is stored: one byte, one byte, and the id.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Decision {
    pub(super) is_on: bool,
    /// Whether every project has the event of the switch.
    pub(super) is_recorded: bool,
    /// Identifies the switch.
    pub(super) id: [u8; ID_BYTES],
}

impl Decision {
    fn to_bytes(self) -> Vec<u8> {
        let mut bytes = vec![u8::from(self.is_on), u8::from(self.is_recorded)];
        bytes.extend(self.id);
        bytes
    }

    fn from_bytes(bytes: &[u8]) -> Result<Self> {
        let damaged = || {
            AppError::from(StoreError::Damaged {
                what: "decision about self-audit",
            })
        };
        let (flags, id) = bytes.split_first_chunk::<2>().ok_or_else(damaged)?;
        let [is_on @ 0..=1, is_recorded @ 0..=1] = *flags else {
            return Err(damaged());
        };
        Ok(Self {
            is_on: is_on == 1,
            is_recorded: is_recorded == 1,
            id: id.try_into().map_err(|_| damaged())?,
        })
    }

    pub(super) fn read(reader: &mut Reader<'_>) -> Result<Option<Self>> {
        let stored = reader.secret(SELF_AUDIT)?;
        stored.map(|bytes| Self::from_bytes(&bytes)).transpose()
    }

    pub(super) fn write(self, configurator: &mut Configurator<'_, Deployment>, now: Timestamp) -> Result<()> {
        configurator.delete_secret(SELF_AUDIT)?;
        Ok(configurator.insert_secret(SELF_AUDIT, &self.to_bytes(), now)?)
    }
}

/// Stores a decision, unless it is the stored one. A database without one is on.
pub(super) fn decide(store: &Store, is_on: bool, now: Timestamp, entropy: &Arc<dyn Entropy>) -> Result<()> {
    let is_decided = move |stored: Option<Decision>| stored.is_none_or(|stored| stored.is_on) == is_on;
    if is_decided(store.read(Decision::read)?) {
        return Ok(());
    }
    let id = entropy.bytes();
    store.configure(Deployment, move |configurator| {
        if is_decided(Decision::read(configurator)?) {
            return Ok(());
        }
        let decision = Decision {
            is_on,
            // Without a project there is nothing to record.
            is_recorded: configurator.organizations()?.is_empty(),
            id,
        };
        decision.write(configurator, now)
    })
}

impl SelfAudit {
    /// As the database says. `is_on` decides for a new database.
    pub(crate) fn open(
        store: &Store,
        is_on: bool,
        now: Timestamp,
        entropy: &Arc<dyn Entropy>,
    ) -> Result<Arc<Self>> {
        if !is_on && store.read(|reader| reader.organizations())?.is_empty() {
            decide(store, is_on, now, entropy)?;
        }
        let stored = store.read(Decision::read)?;
        let is_on = stored.is_none_or(|stored| stored.is_on);
        Ok(Arc::new(Self(AtomicBool::new(is_on))))
    }

    pub(crate) fn is_on(&self) -> bool {
        self.0.load(Ordering::Acquire)
    }

    pub(super) fn set(&self, is_on: bool) {
        self.0.store(is_on, Ordering::Release);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_decision_is_read_as_it_was_written() {
        for (is_on, is_recorded) in [(true, false), (false, true)] {
            let decision = Decision {
                is_on,
                is_recorded,
                id: [7; ID_BYTES],
            };
            assert_eq!(Decision::from_bytes(&decision.to_bytes()).unwrap(), decision);
        }
        for damaged in [&[][..], &[1, 1], &[2; 18], &[1; 19]] {
            assert!(Decision::from_bytes(damaged).is_err(), "{damaged:?}");
        }
    }
}
