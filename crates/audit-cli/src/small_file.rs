//! Files that are read whole: keys, certificates, policies, proofs. Their size is limited, so that no file exhausts the memory.
//! Large inputs are read line by line or in blocks, and not by this module.

use std::fs::File;
use std::io::{self, ErrorKind, Read};
use std::path::Path;

/// The most bytes of a file that is read whole.
pub const BYTES_MAX: u64 = 1 << 20;

/// The content of a file.
///
/// # Errors
/// As [`std::fs::read`], and [`ErrorKind::FileTooLarge`] for one of more than [`BYTES_MAX`] bytes.
pub fn read(path: &Path) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    File::open(path)?.take(BYTES_MAX + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > BYTES_MAX {
        let message = format!("it has more than {BYTES_MAX} bytes");
        return Err(io::Error::new(ErrorKind::FileTooLarge, message));
    }
    Ok(bytes)
}

/// The text of a file.
///
/// # Errors
/// As [`read`], and [`ErrorKind::InvalidData`] for what is not UTF-8.
pub fn read_text(path: &Path) -> io::Result<String> {
    String::from_utf8(read(path)?).map_err(|error| io::Error::new(ErrorKind::InvalidData, error.utf8_error()))
}

/// As [`read_text`]; `None` where there is no file.
///
/// # Errors
/// As [`read_text`].
pub fn read_text_if_any(path: &Path) -> io::Result<Option<String>> {
    match read_text(path) {
        Ok(text) => Ok(Some(text)),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn a_file_that_is_too_large_is_refused_and_not_read_to_its_end() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("file");
        let file = File::create(&path).unwrap();
        file.set_len(BYTES_MAX).unwrap();
        assert_eq!(read(&path).unwrap().len() as u64, BYTES_MAX);
        // More than there is memory for, without a block on the disk.
        file.set_len(1 << 42).unwrap();
        assert_eq!(read(&path).unwrap_err().kind(), ErrorKind::FileTooLarge);
        assert_eq!(read_text_if_any(&directory.path().join("none")).unwrap(), None);
    }

    /// Outside of tests, nothing but this module reads a file of an operator or an attacker whole.
    #[test]
    fn every_file_that_is_read_whole_has_a_bound() {
        let programs = [
            "crates/audit-cli",
            "crates/audit-operations",
            "crates/audit-transport",
            "crates/audit-verifier",
            "crates/audit-witness",
            "bins/audit-server",
            "bins/audit-verify",
        ];
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
        let mut directories = programs.map(|program| root.join(program).join("src")).to_vec();
        let mut files = 0;
        while let Some(directory) = directories.pop() {
            for entry in fs::read_dir(directory).unwrap() {
                let path = entry.unwrap().path();
                if path.is_dir() {
                    directories.push(path);
                    continue;
                }
                files += 1;
                if path.ends_with("tests.rs") {
                    continue;
                }
                let text = fs::read_to_string(&path).unwrap();
                let product = text.split("#[cfg(test)]").next().unwrap_or_default();
                for call in ["fs::read(", "fs::read_to_string("] {
                    assert!(!product.contains(call), "{}: {call}", path.display());
                }
            }
        }
        assert!(files > 80, "{files} files");
    }
}
