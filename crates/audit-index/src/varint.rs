//! Unsigned LEB128: seven bits per byte, lowest first. Every byte except the last has its high bit set. At most 32 bits.

use crate::blocks::Damaged;

const TRUNCATED: Damaged = Damaged::new("a block ends too early");

pub(crate) fn put(bytes: &mut Vec<u8>, mut number: u32) {
    while number >= 0x80 {
        bytes.push(number as u8 | 0x80);
        number >>= 7;
    }
    bytes.push(number as u8);
}

/// Reads consecutive numbers and byte strings.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Reader<'a> {
    bytes: &'a [u8],
}

impl<'a> Reader<'a> {
    pub(crate) const fn new(bytes: &'a [u8]) -> Self {
        Self { bytes }
    }

    pub(crate) const fn is_at_end(&self) -> bool {
        self.bytes.is_empty()
    }

    /// The number of bytes not yet read.
    pub(crate) const fn left(&self) -> usize {
        self.bytes.len()
    }

    #[inline]
    pub(crate) fn number(&mut self) -> Result<u32, Damaged> {
        match self.bytes {
            [byte @ ..0x80, rest @ ..] => {
                self.bytes = rest;
                Ok(u32::from(*byte))
            }
            _ => self.long_number(),
        }
    }

    /// The next eight numbers, if each of them has one byte.
    #[inline]
    pub(crate) fn eight_of_one_byte(&mut self) -> Option<[u8; 8]> {
        const LONGER: u64 = u64::from_le_bytes([0x80; 8]);
        let (bytes, rest) = self.bytes.split_first_chunk()?;
        if u64::from_le_bytes(*bytes) & LONGER != 0 {
            return None;
        }
        self.bytes = rest;
        Some(*bytes)
    }

    fn long_number(&mut self) -> Result<u32, Damaged> {
        let mut number = 0_u32;
        for shift in (0..32).step_by(7) {
            let (byte, rest) = self.bytes.split_first().ok_or(TRUNCATED)?;
            self.bytes = rest;
            number |= u32::from(byte & 0x7f) << shift;
            if byte & 0x80 == 0 {
                return Ok(number);
            }
        }
        Err(Damaged::new("a number is too large"))
    }

    pub(crate) fn bytes(&mut self, count: u32) -> Result<&'a [u8], Damaged> {
        let (taken, rest) = self.bytes.split_at_checked(count as usize).ok_or(TRUNCATED)?;
        self.bytes = rest;
        Ok(taken)
    }
}
