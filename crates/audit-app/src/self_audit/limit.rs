//! How often one requester may make a read that is recorded, or write a note: the events of these use up no daily limit.

use super::requester::Requester;
use crate::error::{AppError, Result};
use audit_domain::{KeyId, ProjectId, Timestamp};
use parking_lot::Mutex;
use quick_cache::sync::Cache;
use std::sync::Arc;

/// New viewer tokens, exports and notes on alerts of one key per minute, on each node.
pub const KEY_READS_PER_MINUTE_MAX: u32 = 6_000;
/// Exports and changes of destinations of the viewers of one tenant per minute, on each node.
pub const VIEWERS_READS_PER_MINUTE_MAX: u32 = 60;
/// Sign-outs from the console of one key per minute, on each node: each makes the nodes read the configuration of the project again.
pub(crate) const SIGN_OUTS_PER_MINUTE_MAX: u32 = 10;
/// The maximum number of requesters that are counted. At the limit, one that was not seen for long is forgotten.
const REQUESTERS_MAX: usize = 10_000;
const MINUTE_SECONDS: i64 = 60;

/// The recorded reads of the present minute, by project and key or tenant.
#[derive(Debug)]
pub(crate) struct ReadLimit(Cache<String, Arc<Mutex<Count>>>);

#[derive(Debug, Default)]
struct Count {
    minute: i64,
    reads: u32,
}

impl Default for ReadLimit {
    fn default() -> Self {
        Self(Cache::new(REQUESTERS_MAX))
    }
}

impl ReadLimit {
    /// Counts a read.
    ///
    /// # Errors
    /// [`AppError::RateLimited`] when the requester had as many in this minute.
    pub(crate) fn count(&self, project_id: ProjectId, requester: &Requester, now: Timestamp) -> Result<()> {
        let (name, max) = match requester {
            Requester::Key { id, .. } => (format!("{project_id} key {id}"), KEY_READS_PER_MINUTE_MAX),
            Requester::Viewer { tenant_id, .. } => (
                format!("{project_id} tenant {tenant_id}"),
                VIEWERS_READS_PER_MINUTE_MAX,
            ),
            Requester::Operator | Requester::Service => return Ok(()),
        };
        let what = "viewer tokens, exports, notes and changes of destinations";
        self.count_of(&name, max, what, now)
    }

    /// Counts a sign-out from the console.
    ///
    /// # Errors
    /// [`AppError::RateLimited`] when the key had as many in this minute.
    pub(crate) fn count_sign_out(&self, key: KeyId, now: Timestamp) -> Result<()> {
        let name = format!("sign-outs {key}");
        self.count_of(&name, SIGN_OUTS_PER_MINUTE_MAX, "sign-outs", now)
    }

    fn count_of(&self, name: &str, max: u32, what: &str, now: Timestamp) -> Result<()> {
        let count = self
            .0
            .get_or_insert_with(name, || Ok::<_, AppError>(Arc::default()))?;
        let mut count = count.lock();
        let minute = now.as_seconds().div_euclid(MINUTE_SECONDS);
        if count.minute != minute {
            *count = Count { minute, reads: 0 };
        }
        if count.reads >= max {
            let left = MINUTE_SECONDS - now.as_seconds().rem_euclid(MINUTE_SECONDS);
            return Err(AppError::RateLimited {
                message: format!("at most {max} {what} a minute"),
                retry_after_seconds: left.unsigned_abs(),
            });
        }
        count.reads += 1;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOON: i64 = 1_768_478_400;

    fn key(number: u8) -> Requester {
        Requester::Key {
            id: KeyId::from_random([number; 16]),
            client: None,
        }
    }

    #[test]
    fn the_limit_is_of_one_key_and_one_minute() {
        let (limit, project) = (ReadLimit::default(), ProjectId::from_random([1; 16]));
        let at = |second| Timestamp::from_seconds(NOON + second);
        for _ in 0..KEY_READS_PER_MINUTE_MAX {
            limit.count(project, &key(1), at(0)).unwrap();
        }
        let refused = limit.count(project, &key(1), at(50)).unwrap_err();
        let retry_after = |error: &AppError| match error {
            AppError::RateLimited {
                retry_after_seconds, ..
            } => Some(*retry_after_seconds),
            _ => None,
        };
        assert_eq!(retry_after(&refused), Some(10));
        limit.count(project, &key(2), at(50)).unwrap();
        limit.count(project, &key(1), at(60)).unwrap();
    }

    #[test]
    fn viewers_of_a_tenant_have_a_smaller_one() {
        let (limit, project) = (ReadLimit::default(), ProjectId::from_random([1; 16]));
        let viewer = Requester::Viewer {
            tenant_id: "acme".to_owned(),
            token_id: "1".to_owned(),
            client: None,
        };
        let now = Timestamp::from_seconds(NOON);
        for _ in 0..VIEWERS_READS_PER_MINUTE_MAX {
            limit.count(project, &viewer, now).unwrap();
        }
        assert!(limit.count(project, &viewer, now).is_err());
    }
}
