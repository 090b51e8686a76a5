//! Transactions of several owners, one of each in turn. An owner that changes its configuration at full speed delays the
//! transactions of another one by one transaction.

use super::Transaction;
use super::turns::SHARE_OF_FREE;
use crate::configuration::Owner;
use crate::options::QueueLimits;
use std::collections::{HashMap, VecDeque};

/// Whose turn a transaction takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Turn {
    /// The owner of what it changes, or for which it writes.
    Owner(Owner),
    /// All clients of anonymous streams together, so that they delay the service's own transactions by one of theirs.
    AnonymousStreams,
}

/// [`Turn::AnonymousStreams`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AnonymousStreams;

impl From<AnonymousStreams> for Turn {
    fn from(_: AnonymousStreams) -> Self {
        Self::AnonymousStreams
    }
}

impl<O: Into<Owner>> From<O> for Turn {
    fn from(owner: O) -> Self {
        Self::Owner(owner.into())
    }
}

/// The transactions that wait, by owner.
#[derive(Default)]
pub(crate) struct Callers {
    lines: HashMap<Turn, VecDeque<Transaction>>,
    /// The owners that have a line, in the order of their turns.
    order: VecDeque<Turn>,
    len: usize,
}

impl Callers {
    /// The number of waiting transactions.
    pub(crate) const fn len(&self) -> usize {
        self.len
    }

    /// Whether the queue, or the owner's share of it, is full. The first transaction of an owner needs no share.
    pub(crate) fn is_full_for(&self, owner: Turn, limits: &QueueLimits) -> bool {
        if self.len >= limits.jobs_max {
            return true;
        }
        let free = limits.jobs_max - self.len - 1;
        let own = self.lines.get(&owner).map_or(0, VecDeque::len);
        own > 0 && own + 1 > SHARE_OF_FREE * free
    }

    /// Adds a transaction behind those of its owner.
    pub(crate) fn push(&mut self, owner: Turn, transaction: Transaction) {
        let line = self.lines.entry(owner).or_insert_with(|| {
            self.order.push_back(owner);
            VecDeque::new()
        });
        line.push_back(transaction);
        self.len += 1;
    }

    /// Takes the next transaction of the owner whose turn it is.
    pub(crate) fn pop(&mut self) -> Option<Transaction> {
        let owner = self.order.pop_front()?;
        let line = self.lines.get_mut(&owner)?;
        let transaction = line.pop_front()?;
        self.len -= 1;
        match line.is_empty() {
            true => drop(self.lines.remove(&owner)),
            false => self.order.push_back(owner),
        }
        Some(transaction)
    }
}
