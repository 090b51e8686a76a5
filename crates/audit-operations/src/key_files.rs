//! New files of keys, which only their owner can read.

use audit_cli::SystemEntropy;
use audit_domain::Entropy;
use std::fs::{DirBuilder, File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::Path;

/// The bytes of a new key: those of the head key and of an encryption key, and enough for a hash key.
const KEY_BYTES: usize = 32;

/// A new key as the text of its file: 64 hexadecimal digits.
pub(crate) fn new_key() -> String {
    let mut bytes = [0; KEY_BYTES];
    SystemEntropy.fill(&mut bytes);
    base16ct::lower::encode_string(&bytes) + "\n"
}

/// Creates a file with mode 600, and its directory. It gets its name when it is complete. `AlreadyExists` if there is a file of the name.
pub(crate) fn create(path: &Path, text: &str) -> io::Result<()> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    let folder = folder.unwrap_or(Path::new("."));
    create_directory(folder)?;
    let mut name = path.as_os_str().to_owned();
    name.push(format!(".{}", std::process::id()));
    let mut file = OpenOptions::new()
        .create(true)
        .truncate(true)
        .write(true)
        .mode(0o600)
        .open(&name)?;
    file.write_all(text.as_bytes())?;
    file.sync_all()?;
    // A link takes the name only if no other process has.
    let linked = std::fs::hard_link(&name, path);
    std::fs::remove_file(&name)?;
    File::open(folder)?.sync_all()?;
    linked
}

/// Creates a directory with mode 700 and those above it, unless it exists.
pub(crate) fn create_directory(path: &Path) -> io::Result<()> {
    DirBuilder::new().recursive(true).mode(0o700).create(path)
}
