//! Short texts on the stack.

/// A number in decimal.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Decimal {
    bytes: [u8; Decimal::DIGITS_MAX],
    start: usize,
}

impl Decimal {
    const DIGITS_MAX: usize = 20;

    pub(crate) fn new(mut number: u64) -> Decimal {
        let mut bytes = [b'0'; Decimal::DIGITS_MAX];
        let mut start = Decimal::DIGITS_MAX - 1;
        while number > 9 {
            bytes[start] = b'0' + (number % 10) as u8;
            number /= 10;
            start -= 1;
        }
        bytes[start] = b'0' + number as u8;
        Decimal { bytes, start }
    }

    pub(crate) fn as_str(&self) -> &str {
        std::str::from_utf8(&self.bytes[self.start..]).unwrap_or_default()
    }
}

/// The last bytes of a key. Earlier bytes are out of reach of every keyword search.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Tail {
    bytes: [u8; Tail::BYTES_MAX],
    len: usize,
}

impl Default for Tail {
    fn default() -> Self {
        Tail {
            bytes: [0; Tail::BYTES_MAX],
            len: 0,
        }
    }
}

impl Tail {
    const BYTES_MAX: usize = 160;

    pub(crate) fn new(text: &str) -> Tail {
        let mut start = text.len().saturating_sub(Tail::BYTES_MAX);
        while !text.is_char_boundary(start) {
            start += 1;
        }
        let kept = &text.as_bytes()[start..];
        let mut tail = Tail {
            len: kept.len(),
            ..Tail::default()
        };
        tail.bytes[..kept.len()].copy_from_slice(kept);
        tail
    }

    pub(crate) fn as_str(&self) -> &str {
        std::str::from_utf8(&self.bytes[..self.len]).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_written_in_decimal() {
        for number in [0, 9, 10, 4_111_111_111_111_111, u64::MAX] {
            assert_eq!(Decimal::new(number).as_str(), number.to_string());
        }
    }

    #[test]
    fn a_tail_keeps_whole_characters() {
        let text = "é".repeat(200) + "x";
        assert_eq!(Tail::new(&text).as_str(), "é".repeat(79) + "x");
        assert_eq!(Tail::new("ssn").as_str(), "ssn");
    }
}
