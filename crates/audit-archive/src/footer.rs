//! The names of columns in the row groups of a footer. The Parquet library does not read them, and other readers find columns by them.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};

/// Bytes behind the footer: its length and the magic number.
const END_BYTES: u64 = 8;
/// Most levels of the structures in a footer.
const DEPTH_MAX: usize = 16;
/// `FileMetaData.row_groups`, `RowGroup.columns`, `ColumnChunk.meta_data`, `ColumnMetaData.path_in_schema`.
const PATH: [u64; 4] = [4, 1, 3, 3];

/// Reads the footer of a Parquet file.
///
/// # Errors
/// When the file cannot be read, or is too short.
pub(crate) fn read(mut file: &File) -> io::Result<Vec<u8>> {
    let too_short = || io::Error::from(io::ErrorKind::UnexpectedEof);
    let bytes = file.seek(SeekFrom::End(0))?;
    let end = bytes.checked_sub(END_BYTES).ok_or_else(too_short)?;
    file.seek(SeekFrom::Start(end))?;
    let mut length = [0; 4];
    file.read_exact(&mut length)?;
    let length = u64::from(u32::from_le_bytes(length));
    file.seek(SeekFrom::Start(end.checked_sub(length).ok_or_else(too_short)?))?;
    let mut footer = Vec::new();
    file.take(length).read_to_end(&mut footer)?;
    Ok(footer)
}

/// The names of the columns of all row groups, in their order. `None` where the footer is not Thrift in the compact protocol.
pub(crate) fn column_names(footer: &[u8]) -> Option<Vec<&[u8]>> {
    let (mut rest, mut at, mut names) = (Compact(footer), Vec::new(), Vec::new());
    rest.structure(&mut at, &mut names)?;
    Some(names)
}

/// What is left of a text in the compact protocol of Thrift.
struct Compact<'a>(&'a [u8]);

impl<'a> Compact<'a> {
    fn take(&mut self, count: usize) -> Option<&'a [u8]> {
        let (taken, rest) = self.0.split_at_checked(count)?;
        self.0 = rest;
        Some(taken)
    }

    fn byte(&mut self) -> Option<u8> {
        Some(self.take(1)?[0])
    }

    fn varint(&mut self) -> Option<u64> {
        let mut value = 0;
        for shift in (0..64).step_by(7) {
            let byte = self.byte()?;
            value |= u64::from(byte & 0x7f) << shift;
            if byte < 0x80 {
                return Some(value);
            }
        }
        None
    }

    /// Walks over the fields of a structure. `at` has the ids of the fields that lead to it.
    fn structure(&mut self, at: &mut Vec<u64>, names: &mut Vec<&'a [u8]>) -> Option<()> {
        let mut id = 0;
        loop {
            let head = self.byte()?;
            if head == 0 {
                return Some(());
            }
            id = match head >> 4 {
                // Ids are zigzag, and never negative here.
                0 => self.varint()? >> 1,
                more => id + u64::from(more),
            };
            if at.len() == DEPTH_MAX {
                return None;
            }
            at.push(id);
            match head & 0x0f {
                9 | 10 => self.list(at, names)?,
                kind => self.value(kind, at, names)?,
            }
            at.pop();
        }
    }

    /// No list of a footer has lists or truth values.
    fn list(&mut self, at: &mut Vec<u64>, names: &mut Vec<&'a [u8]>) -> Option<()> {
        let head = self.byte()?;
        let count = match head >> 4 {
            15 => self.varint()?,
            count => u64::from(count),
        };
        for _ in 0..count {
            match head & 0x0f {
                1 | 2 => return None,
                kind => self.value(kind, at, names)?,
            }
        }
        Some(())
    }

    fn value(&mut self, kind: u8, at: &mut Vec<u64>, names: &mut Vec<&'a [u8]>) -> Option<()> {
        match kind {
            // The value is in the head of the field.
            1 | 2 => {}
            3 => _ = self.byte()?,
            4..=6 => _ = self.varint()?,
            7 => _ = self.take(8)?,
            8 => {
                let length = usize::try_from(self.varint()?).ok()?;
                let text = self.take(length)?;
                if *at == PATH {
                    names.push(text);
                }
            }
            12 => self.structure(at, names)?,
            _ => return None,
        }
        Some(())
    }
}
