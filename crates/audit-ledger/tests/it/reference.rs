//! A reference implementation: the recursive definitions of RFC 9162 §2.1.1 (MTH), §2.1.3.1 (PATH) and §2.1.4.1 (PROOF) over
//! a list of leaves, with memoised hashes.

use audit_ledger::{Hash, Subtree, TreeHead};
use sha2::{Digest, Sha256};
use std::cell::RefCell;
use std::collections::HashMap;
use std::convert::Infallible;

pub(crate) struct Reference {
    /// The data of the leaves.
    data: Vec<Vec<u8>>,
    hashed: RefCell<HashMap<(usize, usize), Hash>>,
}

impl Reference {
    pub(crate) fn new(data: Vec<Vec<u8>>) -> Self {
        Self {
            data,
            hashed: RefCell::default(),
        }
    }

    /// A tree of `size` distinct leaves.
    pub(crate) fn of_size(size: u32) -> Self {
        Self::new((0..size).map(|n| n.to_be_bytes().to_vec()).collect())
    }

    pub(crate) fn leaf(&self, index: u64) -> Hash {
        self.mth(index as usize, index as usize + 1)
    }

    pub(crate) fn head(&self, size: u64) -> TreeHead {
        let root = self.mth(0, size as usize);
        TreeHead { size, root }
    }

    /// The hash of a complete subtree, as a source for proofs.
    pub(crate) fn hash(&self, subtree: Subtree) -> Result<Hash, Infallible> {
        let leaves = subtree.leaves();
        Ok(self.mth(leaves.start as usize, leaves.end as usize))
    }

    /// MTH(D[start:end]).
    pub(crate) fn mth(&self, start: usize, end: usize) -> Hash {
        if let Some(hash) = self.hashed.borrow().get(&(start, end)) {
            return *hash;
        }
        let hash = match end - start {
            0 => sha256(&[]),
            1 => sha256(&[&[0], &self.data[start]]),
            n => {
                let k = split(n);
                let (left, right) = (self.mth(start, start + k), self.mth(start + k, end));
                sha256(&[&[1], left.as_bytes(), right.as_bytes()])
            }
        };
        self.hashed.borrow_mut().insert((start, end), hash);
        hash
    }

    /// PATH(m, D[start:end]).
    pub(crate) fn path(&self, m: usize, start: usize, end: usize) -> Vec<Hash> {
        if end - start == 1 {
            return Vec::new();
        }
        let k = split(end - start);
        let (mut path, other) = if m < k {
            (self.path(m, start, start + k), self.mth(start + k, end))
        } else {
            (self.path(m - k, start + k, end), self.mth(start, start + k))
        };
        path.push(other);
        path
    }

    /// PROOF(m, D[0:n]) = SUBPROOF(m, D[0:n], true), for 0 < m < n.
    pub(crate) fn proof(&self, m: usize, n: usize) -> Vec<Hash> {
        self.subproof(m, 0, n, true)
    }

    fn subproof(&self, m: usize, start: usize, end: usize, is_whole: bool) -> Vec<Hash> {
        if m == end - start {
            return match is_whole {
                true => Vec::new(),
                false => vec![self.mth(start, end)],
            };
        }
        let k = split(end - start);
        let (mut proof, other) = if m <= k {
            (
                self.subproof(m, start, start + k, is_whole),
                self.mth(start + k, end),
            )
        } else {
            (
                self.subproof(m - k, start + k, end, false),
                self.mth(start, start + k),
            )
        };
        proof.push(other);
        proof
    }
}

/// The largest power of two smaller than n.
fn split(n: usize) -> usize {
    let mut k = 1;
    while 2 * k < n {
        k *= 2;
    }
    k
}

fn sha256(parts: &[&[u8]]) -> Hash {
    Hash::from_bytes(Sha256::digest(parts.concat()).into())
}
