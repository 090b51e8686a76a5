//! What is gone of an event: some of its parts, or its whole row.

use crate::EventPart;

/// What a removal takes of an event. Bit *n* stands for part *n* of [`EventPart::ALL`]; all 16 bits for the whole row.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct PartMask(u16);

impl PartMask {
    /// The whole row.
    pub const ROW: Self = Self(u16::MAX);

    /// The mask with these bits; `None` where they are neither those of a row nor of at least one part.
    pub const fn from_bits(bits: u16) -> Option<Self> {
        match bits >> EventPart::COUNT == 0 && bits != 0 || bits == u16::MAX {
            true => Some(Self(bits)),
            false => None,
        }
    }

    /// Its bits.
    pub const fn bits(self) -> u16 {
        self.0
    }

    /// The mask of these parts; `None` where there are none.
    pub fn of_parts(parts: impl IntoIterator<Item = EventPart>) -> Option<Self> {
        Self::from_bits(
            parts
                .into_iter()
                .fold(0_u16, |bits, part| bits | 1 << part as u16),
        )
    }

    /// Its parts. A row has all of them.
    pub fn parts(self) -> impl Iterator<Item = EventPart> {
        EventPart::ALL
            .iter()
            .copied()
            .filter(move |part| self.0 >> *part as u16 & 1 == 1)
    }

    /// Whether it stands for the whole row.
    pub const fn is_row(self) -> bool {
        self.0 == u16::MAX
    }

    /// Whether it has everything that `other` has.
    pub const fn contains(self, other: Self) -> bool {
        self.0 & other.0 == other.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mask_has_parts_or_is_a_row() {
        for bits in 0..=u16::MAX {
            let parts = (1_u16..1 << EventPart::COUNT).contains(&bits);
            let mask = PartMask::from_bits(bits);
            assert_eq!(mask.is_some(), parts || bits == u16::MAX, "{bits}");
            if let Some(mask) = mask.filter(|mask| !mask.is_row()) {
                assert_eq!(PartMask::of_parts(mask.parts()), Some(mask));
                assert!(PartMask::ROW.contains(mask) && !mask.contains(PartMask::ROW));
            }
        }
        assert_eq!(PartMask::of_parts([]), None);
        assert_eq!(PartMask::ROW.parts().count(), EventPart::COUNT);
    }
}
