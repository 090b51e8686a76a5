//! The layout of a zip file (APPNOTE.TXT of PKWARE, 4.3 and 4.4), as `log export` writes it: files behind each other, not compressed,
//! then their directory, and nothing else. So every program that unpacks it finds the same files.

use super::Failure;
use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use zip::{CompressionMethod, ZipArchive};

/// Bytes of the header of a file without its name and its extra field.
const HEADER_BYTES: usize = 30;
/// Bytes of the end of the directory, without a comment.
const END_BYTES: usize = 22;
/// Bytes of the end of the directory of an archive of more than 4 GiB, and of its locator, which stand in front of the usual one.
const LARGE_END_BYTES: u64 = 56 + 20;

/// Refuses an archive with bytes that belong to no file, with two files of a name, or with anything but files.
pub(super) fn check<R: Read + Seek>(archive: &mut ZipArchive<R>, file: &mut File) -> Result<(), Failure> {
    let other =
        |what: &str| Failure::Refused(format!("it is not an archive as `log export` writes it: {what}"));
    let mut end = 0;
    for index in 0..archive.len() {
        let entry = archive.by_index_raw(index).map_err(Failure::refused)?;
        let name = entry.name_raw().to_vec();
        if entry.header_start() != end {
            return Err(other("there are bytes between its files"));
        }
        // The method in the directory too: the server's build of `zip` can read compressed entries.
        let is_stored = entry.compression() == CompressionMethod::Stored;
        if !entry.is_file() || !is_stored || entry.size() != entry.compressed_size() {
            return Err(other("an entry is not an uncompressed file"));
        }
        let (size, mut header) = (entry.size(), [0; HEADER_BYTES]);
        drop(entry);
        file.seek(SeekFrom::Start(end))?;
        file.read_exact(&mut header)?;
        let half = |at: usize| u16::from_le_bytes([header[at], header[at + 1]]);
        let (flags, method, name_bytes, extra_bytes) = (half(6), half(8), half(26), half(28));
        let mut own_name = vec![0; usize::from(name_bytes)];
        file.read_exact(&mut own_name)?;
        /// The name is UTF-8.
        const UTF_8: u16 = 1 << 11;
        if own_name != name || flags & !UTF_8 != 0 || method != 0 {
            return Err(other("the header of a file differs from the directory"));
        }
        end += (HEADER_BYTES + own_name.len()) as u64 + u64::from(extra_bytes) + size;
    }
    let mut last = [0; END_BYTES];
    let bytes = file.seek(SeekFrom::End(-(END_BYTES as i64)))? + END_BYTES as u64;
    file.read_exact(&mut last)?;
    let word = |at: usize| u32::from_le_bytes([last[at], last[at + 1], last[at + 2], last[at + 3]]);
    let (directory_bytes, directory_start) = (word(12), word(16));
    let large = if directory_start == u32::MAX {
        LARGE_END_BYTES
    } else {
        0
    };
    let is_whole = archive.central_directory_start() == end
        && last.starts_with(b"PK\x05\x06")
        && usize::from(u16::from_le_bytes([last[10], last[11]])) == archive.len()
        && end + u64::from(directory_bytes) + large + END_BYTES as u64 == bytes;
    match is_whole && archive.offset() == 0 && archive.comment().is_empty() {
        true => Ok(()),
        false => Err(other(
            "there are bytes in front of its files or behind them, or a file twice",
        )),
    }
}
