//! Directories.

use crate::PlaceError;
use std::fs::{self, File};
use std::io::{self, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

/// Stores a file in a directory, which may be shared with other processes. It is on disk when the call returns.
///
/// # Errors
/// [`PlaceError::Different`] when the directory has a file of this name and of other content, [`PlaceError::Io`] when it
/// cannot be written.
pub fn store_in(directory: &Path, name: &str, content: &[u8]) -> Result<(), PlaceError> {
    let path = directory.join(name);
    let failed = |source| PlaceError::Io {
        path: path.display().to_string(),
        source,
    };
    match fs::read(&path) {
        Ok(stored) if stored == content => return Ok(()),
        Ok(_) => return Err(PlaceError::Different(path.display().to_string())),
        Err(error) if error.kind() == io::ErrorKind::NotFound => {}
        Err(error) => return Err(failed(error)),
    }
    let mut file = tempfile::Builder::new()
        .prefix(".partial-")
        .permissions(fs::Permissions::from_mode(0o644))
        .tempfile_in(directory)
        .map_err(failed)?;
    file.write_all(content).map_err(failed)?;
    file.as_file().sync_all().map_err(failed)?;
    match file.persist_noclobber(&path) {
        Ok(_) => File::open(directory)
            .and_then(|directory| directory.sync_all())
            .map_err(failed),
        // Another process was faster.
        Err(error) => match fs::read(&path) {
            Ok(stored) if stored == content => Ok(()),
            Ok(_) => Err(PlaceError::Different(path.display().to_string())),
            Err(_) => Err(failed(error.error)),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_stored_once_and_never_replaced() {
        let directory = tempfile::tempdir().unwrap();
        store_in(directory.path(), "one", b"content").unwrap();
        store_in(directory.path(), "one", b"content").unwrap();
        let error = store_in(directory.path(), "one", b"other").unwrap_err();
        assert!(matches!(error, PlaceError::Different(_)), "{error}");
        assert_eq!(fs::read(directory.path().join("one")).unwrap(), b"content");
        let names = fs::read_dir(directory.path()).unwrap();
        assert_eq!(names.count(), 1, "no partial file stays");
        let gone = directory.path().join("gone");
        let error = store_in(&gone, "one", b"content").unwrap_err();
        assert!(matches!(error, PlaceError::Io { .. }), "{error}");
    }
}
