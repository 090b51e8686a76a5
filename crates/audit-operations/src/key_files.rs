//! New files of keys, which only their owner can read.

use audit_cli::SystemEntropy;
use audit_domain::Entropy;
use std::fs::{DirBuilder, File};
use std::io::{self, Write};
use std::os::unix::fs::DirBuilderExt;
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
    // A new file of mode 600 with a random name: another user of the directory can have no link in its place.
    let mut file = tempfile::NamedTempFile::new_in(folder)?;
    file.write_all(text.as_bytes())?;
    file.as_file().sync_all()?;
    file.persist_noclobber(path).map_err(|error| error.error)?;
    File::open(folder)?.sync_all()
}

/// Creates a directory with mode 700 and those above it, unless it exists.
pub(crate) fn create_directory(path: &Path) -> io::Result<()> {
    DirBuilder::new().recursive(true).mode(0o700).create(path)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::{PermissionsExt, symlink};

    #[test]
    fn a_key_is_written_through_no_link_of_a_foreseeable_name() {
        let folder = tempfile::tempdir().unwrap();
        let (path, other) = (folder.path().join("key"), folder.path().join("other"));
        std::fs::write(&other, "other").unwrap();
        for name in ["key.tmp".to_owned(), format!("key.{}", std::process::id())] {
            symlink(&other, folder.path().join(name)).unwrap();
        }
        create(&path, "secret").unwrap();
        assert_eq!(std::fs::read(&other).unwrap(), b"other");
        assert_eq!(std::fs::read(&path).unwrap(), b"secret");
        assert_eq!(path.metadata().unwrap().permissions().mode() & 0o777, 0o600);
    }

    #[test]
    fn a_file_that_exists_is_left_alone_and_nothing_is_beside_it() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("keys/key");
        create(&path, "first").unwrap();
        let refused = create(&path, "second").unwrap_err();
        assert_eq!(refused.kind(), io::ErrorKind::AlreadyExists);
        assert_eq!(std::fs::read(&path).unwrap(), b"first");
        assert_eq!(std::fs::read_dir(path.parent().unwrap()).unwrap().count(), 1);
    }
}
