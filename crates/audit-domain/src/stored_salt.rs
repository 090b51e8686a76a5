//! What is stored beside an event to compute its content hash: the salt, or what is left of it after an erasure.

use crate::{ContentHash, ContentSalt, EventPart, FieldTexts, LogName, PartMask, PartProofs};
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;

/// What the column `content_salt` of an event has: 16 bytes of salt, or the parts form of an erased event, which is always longer.
///
/// ```text
/// parts form = n: u8 (1 to 11) ‖ n × position of an erasure: u64, ascending ‖ 11 × part
/// part       = 0: u8 ‖ salt of the part: 16 bytes
///            | k: u8 (1 to n) ‖ hash of the part: 32 bytes, erased by the k-th erasure
/// ```
///
/// Integers are big endian. The parts are in the order of [`EventPart::ALL`]. Each erasure has at least one part.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum StoredSalt {
    /// Nothing was erased.
    Whole(ContentSalt),
    /// Parts were erased.
    Parts(ErasedParts),
}

/// What proves an event of which parts were erased.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ErasedParts {
    proofs: Box<PartProofs>,
    /// The positions of the erasures, ascending.
    erasures: Vec<u64>,
    /// By part: 0 where it is there, otherwise the number of its erasure, from 1.
    erased_by: [u8; EventPart::COUNT],
}

impl StoredSalt {
    /// The member of an erased event with the proofs of its parts.
    pub(crate) const PARTS: &str = "parts";
    /// The member of an erased event with the erasures.
    pub(crate) const ERASED: &str = "erased";
    /// The member of an erasure with its position.
    pub(crate) const SEQ: &str = "seq";

    /// Reads stored bytes; `None` where they are not what [`Self::to_bytes`] writes.
    pub fn read(bytes: &[u8]) -> Option<Self> {
        match bytes.try_into() {
            Ok(salt) => Some(Self::Whole(ContentSalt::from_bytes(salt))),
            Err(_) => ErasedParts::read(bytes).map(Self::Parts),
        }
    }

    /// The stored bytes.
    pub fn to_bytes(&self) -> Vec<u8> {
        match self {
            Self::Whole(salt) => salt.as_bytes().to_vec(),
            Self::Parts(parts) => parts.to_bytes(),
        }
    }

    /// The content hash of an event with this canonical text. `None` when the text is not one of an event, or has a field of a part
    /// that was erased.
    pub fn content_hash(&self, canonical: &str, log: &LogName) -> Option<ContentHash> {
        self.content_hash_of(&FieldTexts::find(canonical)?, log)
    }

    /// The content hash of an event with these fields. `None` when a part that was erased has one of them.
    pub fn content_hash_of(&self, fields: &FieldTexts<'_>, log: &LogName) -> Option<ContentHash> {
        match self {
            Self::Whole(salt) => Some(ContentHash::of_fields(fields, salt, log)),
            Self::Parts(parts) => ContentHash::of_erased(fields, &parts.proofs, log),
        }
    }

    /// What is left when the erasure at a position takes these parts of the event with this text. Parts that are erased already keep
    /// their erasure. `None` when the text is not one of an event.
    pub(crate) fn without(&self, canonical: &str, mask: PartMask, erasure: u64) -> Option<Self> {
        let takes = |part: EventPart| mask.parts().any(|own| own == part);
        let proofs = match self {
            Self::Whole(salt) => PartProofs::new(canonical, salt, takes)?,
            Self::Parts(parts) => PartProofs::clone(&parts.proofs).hiding(canonical, takes)?,
        };
        let mut erased: BTreeMap<u64, Vec<EventPart>> = BTreeMap::new();
        for (earlier, parts) in self.erased().into_iter().flat_map(ErasedParts::masks) {
            erased.insert(earlier, parts.parts().collect());
        }
        let is_erased = |part: &EventPart| erased.values().any(|parts| parts.contains(part));
        let new: Vec<EventPart> = mask.parts().filter(|part| !is_erased(part)).collect();
        if new.is_empty() {
            return Some(self.clone());
        }
        erased.entry(erasure).or_default().extend(new);
        let mut parts = ErasedParts {
            proofs: Box::new(proofs),
            erasures: erased.keys().copied().collect(),
            erased_by: [0; EventPart::COUNT],
        };
        for (number, of_erasure) in (1..).zip(erased.values()) {
            for part in of_erasure {
                parts.erased_by[*part as usize] = number;
            }
        }
        debug_assert!(parts.is_valid(), "{parts:?}");
        Some(Self::Parts(parts))
    }

    /// What was erased; `None` of a whole event.
    pub const fn erased(&self) -> Option<&ErasedParts> {
        match self {
            Self::Whole(_) => None,
            Self::Parts(parts) => Some(parts),
        }
    }

    /// The members that a full read adds to the text: `content_salt`, or `erased` and `parts`.
    pub fn to_members(&self) -> Map<String, Value> {
        let mut members = Map::new();
        match self {
            Self::Whole(salt) => {
                members.insert("content_salt".to_owned(), salt.to_string().into());
            }
            Self::Parts(parts) => {
                members.insert(Self::ERASED.to_owned(), parts.erased_json());
                members.insert(Self::PARTS.to_owned(), parts.proofs.to_json().into());
            }
        }
        members
    }

    /// Takes the members of [`Self::to_members`] out of an event of a full read. `None` where it does not have them. Viewers do not see the
    /// positions of erasures; the numbers of these stand for them.
    pub fn take_members(event: &mut Map<String, Value>) -> Option<Self> {
        if let Some(salt) = event.remove("content_salt") {
            return salt.as_str()?.parse().ok().map(Self::Whole);
        }
        let (proofs, erased) = (event.remove(Self::PARTS)?, event.remove(Self::ERASED)?);
        let mut parts = ErasedParts {
            proofs: Box::new(PartProofs::from_json(&proofs)?),
            erasures: Vec::new(),
            erased_by: [0; EventPart::COUNT],
        };
        for (index, entry) in (0..).zip(erased.as_array()?) {
            let seq = entry.get(Self::SEQ);
            parts.erasures.push(seq.map_or(Some(index), Value::as_u64)?);
            let number = u8::try_from(parts.erasures.len()).ok()?;
            for part in entry["parts"].as_array()? {
                let part: EventPart = part.as_str()?.parse().ok()?;
                if std::mem::replace(&mut parts.erased_by[part as usize], number) != 0 {
                    return None;
                }
            }
        }
        parts.is_valid().then_some(Self::Parts(parts))
    }
}

impl From<ContentSalt> for StoredSalt {
    fn from(salt: ContentSalt) -> Self {
        Self::Whole(salt)
    }
}

impl ErasedParts {
    /// The most erasures of one event: each has at least one part.
    pub const ERASURES_MAX: usize = EventPart::COUNT;

    fn read(bytes: &[u8]) -> Option<Self> {
        let (count, rest) = bytes.split_first()?;
        let (erasures, parts) = rest.split_at_checked(usize::from(*count) * 8)?;
        let (erasures, _) = erasures.as_chunks();
        let (proofs, erased_by) = PartProofs::from_stored(parts)?;
        let read = Self {
            proofs: Box::new(proofs),
            erasures: erasures.iter().copied().map(u64::from_be_bytes).collect(),
            erased_by,
        };
        read.is_valid().then_some(read)
    }

    fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = vec![self.erasures.len() as u8];
        for erasure in &self.erasures {
            bytes.extend_from_slice(&erasure.to_be_bytes());
        }
        self.proofs.to_stored(&self.erased_by, &mut bytes);
        bytes
    }

    /// Whether the erasures ascend, each has a part, and their parts are those that the proofs do not show.
    fn is_valid(&self) -> bool {
        let count = self.erasures.len();
        let erased = EventPart::ALL.iter().copied();
        let erased = erased.filter(|part| self.erased_by[*part as usize] != 0);
        (1..=Self::ERASURES_MAX).contains(&count)
            && self.erasures.is_sorted_by(|one, next| one < next)
            && self.masks().count() == count
            && self.erased_by.iter().all(|number| usize::from(*number) <= count)
            && self.proofs.hidden().eq(erased)
    }

    /// The positions of the erasures in the log, ascending.
    pub fn erasures(&self) -> &[u64] {
        &self.erasures
    }

    /// The erasures, by position, with the parts that each erased.
    pub fn masks(&self) -> impl Iterator<Item = (u64, PartMask)> {
        (1..).zip(&self.erasures).filter_map(move |(number, erasure)| {
            let parts = EventPart::ALL.iter().copied();
            let parts = parts.filter(|part| self.erased_by[*part as usize] == number);
            Some((*erasure, PartMask::of_parts(parts)?))
        })
    }

    /// The salts of the parts that are there, and the hashes of the others.
    pub fn proofs(&self) -> &PartProofs {
        &self.proofs
    }

    fn erased_json(&self) -> Value {
        let entry = |(seq, mask): (u64, PartMask)| {
            let parts: Vec<&str> = mask.parts().map(EventPart::as_str).collect();
            json!({(StoredSalt::SEQ): seq, "parts": parts})
        };
        self.masks().map(entry).collect()
    }
}

#[cfg(test)]
mod tests;
