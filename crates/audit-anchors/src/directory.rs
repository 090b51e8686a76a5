//! Directories.

use crate::PlaceError;
use std::fs::{self, File};
use std::io::{self, Read, Write};
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
        .tempfile_in(directory)
        .map_err(failed)?;
    // Whatever the umask of the process is: anchors are for others to read.
    file.as_file()
        .set_permissions(fs::Permissions::from_mode(0o644))
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

/// The content of a file in a directory; `None` where there is none.
///
/// # Errors
/// [`PlaceError::Io`] when it cannot be read, or has more than `bytes_max` bytes.
pub fn read_from(directory: &Path, name: &str, bytes_max: u64) -> Result<Option<Vec<u8>>, PlaceError> {
    let path = directory.join(name);
    let read = File::open(&path).and_then(|file| {
        let mut content = Vec::new();
        match file.take(bytes_max + 1).read_to_end(&mut content)? as u64 {
            bytes if bytes > bytes_max => Err(io::ErrorKind::FileTooLarge.into()),
            _ => Ok(content),
        }
    });
    match read {
        Ok(content) => Ok(Some(content)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(source) => Err(PlaceError::Io {
            path: path.display().to_string(),
            source,
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_read_back_up_to_a_size() {
        let directory = tempfile::tempdir().unwrap();
        store_in(directory.path(), "one", b"content").unwrap();
        let read = |name, bytes_max| read_from(directory.path(), name, bytes_max);
        assert_eq!(read("one", 7).unwrap().as_deref(), Some(&b"content"[..]));
        assert_eq!(read("two", 7).unwrap(), None);
        assert!(matches!(read("one", 6).unwrap_err(), PlaceError::Io { .. }));
    }

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
