//! The files, compiled in.

mod table;

pub(crate) use table::FILES;

/// A file of `assets/`.
#[derive(Debug)]
pub(crate) struct File {
    /// The path at which it is served.
    pub(crate) path: &'static str,
    /// Its name in `assets/`.
    pub(crate) name: &'static str,
    /// Its entity tag, which is part of the hash of its content.
    pub(crate) etag: &'static str,
    /// Whether its name has the hash of its content.
    pub(crate) is_hashed: bool,
    pub(crate) bytes: &'static [u8],
}

impl File {
    /// Whether it is a document and no part of one.
    pub(crate) fn is_page(&self) -> bool {
        self.name.ends_with(".html")
    }

    /// Whether pages of other origins embed it.
    pub(crate) fn is_embedded(&self) -> bool {
        self.path == "/viewer.js"
    }

    pub(crate) fn media_type(&self) -> &'static str {
        match self.name.rsplit('.').next() {
            Some("html") => "text/html; charset=utf-8",
            Some("js") => "text/javascript; charset=utf-8",
            Some("css") => "text/css; charset=utf-8",
            Some("svg") => "image/svg+xml",
            _ => "application/octet-stream",
        }
    }
}
