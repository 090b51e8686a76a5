//! The roots of a segment: what its row says about the keys of its directory blocks, so that a look-up reads one of them.
//!
//! ```text
//! roots = (length: varint, key)*
//! ```
//!
//! The keys are the first token, the last token, and the first separator of every directory block except the first. A segment
//! without tokens has empty roots. A segment of two million rows has some 350 bytes.

use crate::blocks::Damaged;
use crate::term::Lookup;
use crate::varint::{self, Reader};
use std::sync::Arc;

/// The range of a segment's tokens, and the first separator of each directory block.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Roots(Arc<[u8]>);

impl Roots {
    /// The encoded roots.
    pub(crate) fn as_bytes(&self) -> &[u8] {
        &self.0
    }

    pub(crate) fn from_bytes(bytes: &[u8]) -> Self {
        Self(bytes.into())
    }

    /// The only directory block where a token, or the first token with a prefix, can be found; `None` if it is outside of the
    /// range of the segment's tokens.
    pub(crate) fn directory_of(&self, lookup: Lookup<'_>) -> Result<Option<u32>, Damaged> {
        let mut reader = Reader::new(&self.0);
        if reader.is_at_end() {
            return Ok(None);
        }
        let (first, last) = (next_key(&mut reader)?, next_key(&mut reader)?);
        if lookup.ends_before(first) || lookup.text > last {
            return Ok(None);
        }
        let mut number = 0;
        while !reader.is_at_end() && next_key(&mut reader)? <= lookup.text {
            number += 1;
        }
        Ok(Some(number))
    }
}

fn next_key<'a>(reader: &mut Reader<'a>) -> Result<&'a [u8], Damaged> {
    let length = reader.number()?;
    reader.bytes(length)
}

/// Collects the roots of a segment.
#[derive(Debug, Default)]
pub(crate) struct RootsWriter {
    first: Option<Vec<u8>>,
    separators: Vec<u8>,
}

impl RootsWriter {
    /// Adds a directory block by its first separator and the first token behind it.
    pub(crate) fn push(&mut self, separator: &[u8], token: &[u8]) {
        match self.first {
            None => self.first = Some(token.to_vec()),
            Some(_) => push_key(&mut self.separators, separator),
        }
    }

    /// The roots of a segment with this last token.
    pub(crate) fn finish(self, last: &[u8]) -> Roots {
        let mut bytes = Vec::new();
        if let Some(first) = &self.first {
            push_key(&mut bytes, first);
            push_key(&mut bytes, last);
            bytes.extend(self.separators);
        }
        Roots(bytes.into())
    }
}

fn push_key(bytes: &mut Vec<u8>, key: &[u8]) {
    varint::put(bytes, key.len() as u32);
    bytes.extend_from_slice(key);
}
