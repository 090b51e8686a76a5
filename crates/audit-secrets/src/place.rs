//! Where a secret is stored.

use std::fmt;

/// The place of a secret in a database: table, column and primary key of the row. A sealed secret opens at its place only.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Place {
    table: &'static str,
    column: &'static str,
    row: Vec<String>,
}

impl Place {
    /// The place in `column` of the row with this primary key.
    pub fn new<const N: usize>(table: &'static str, column: &'static str, row: [&str; N]) -> Self {
        Self {
            table,
            column,
            row: row.map(str::to_owned).to_vec(),
        }
    }

    /// The table.
    pub const fn table(&self) -> &'static str {
        self.table
    }

    /// What is authenticated of the place: each part after its length, so that no two places have the same bytes.
    pub(crate) fn encode(&self) -> Vec<u8> {
        let parts = [self.table, self.column].into_iter();
        let mut bytes = Vec::new();
        for part in parts.chain(self.row.iter().map(String::as_str)) {
            bytes.extend_from_slice(&(part.len() as u64).to_be_bytes());
            bytes.extend_from_slice(part.as_bytes());
        }
        bytes
    }
}

impl fmt::Display for Place {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{} {}", self.table, self.row.join("/"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_two_places_have_the_same_bytes() {
        let places = [
            Place::new("t", "c", ["ab"]),
            Place::new("t", "ca", ["b"]),
            Place::new("tc", "", ["ab"]),
            Place::new("t", "c", ["a", "b"]),
            Place::new("t", "c", ["ab", ""]),
            Place::new("u", "c", ["ab"]),
        ];
        for (index, place) in places.iter().enumerate() {
            for other in &places[index + 1..] {
                assert_ne!(place.encode(), other.encode(), "{place:?} {other:?}");
            }
        }
    }
}
