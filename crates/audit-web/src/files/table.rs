//! Written by `web/build`.

use super::File;

/// Every file.
pub(crate) static FILES: &[File] = &[
    File {
        path: "/assets/console-e3b0c44298fc.js",
        name: "console-e3b0c44298fc.js",
        etag: "\"e3b0c44298fc\"",
        is_hashed: true,
        bytes: include_bytes!("../../assets/console-e3b0c44298fc.js"),
    },
    File {
        path: "/console",
        name: "console.html",
        etag: "\"bd46af89cc1b\"",
        is_hashed: false,
        bytes: include_bytes!("../../assets/console.html"),
    },
    File {
        path: "/assets/icon-e4628d12c9cf.svg",
        name: "icon-e4628d12c9cf.svg",
        etag: "\"e4628d12c9cf\"",
        is_hashed: true,
        bytes: include_bytes!("../../assets/icon-e4628d12c9cf.svg"),
    },
    File {
        path: "/assets/index-e3b0c44298fc.js",
        name: "index-e3b0c44298fc.js",
        etag: "\"e3b0c44298fc\"",
        is_hashed: true,
        bytes: include_bytes!("../../assets/index-e3b0c44298fc.js"),
    },
    File {
        path: "/",
        name: "index.html",
        etag: "\"444cb77eccd0\"",
        is_hashed: false,
        bytes: include_bytes!("../../assets/index.html"),
    },
    File {
        path: "/assets/page-272cd0322f9b.css",
        name: "page-272cd0322f9b.css",
        etag: "\"272cd0322f9b\"",
        is_hashed: true,
        bytes: include_bytes!("../../assets/page-272cd0322f9b.css"),
    },
    File {
        path: "/assets/portal-e3b0c44298fc.js",
        name: "portal-e3b0c44298fc.js",
        etag: "\"e3b0c44298fc\"",
        is_hashed: true,
        bytes: include_bytes!("../../assets/portal-e3b0c44298fc.js"),
    },
    File {
        path: "/portal",
        name: "portal.html",
        etag: "\"d688c58fe15c\"",
        is_hashed: false,
        bytes: include_bytes!("../../assets/portal.html"),
    },
    File {
        path: "/viewer.js",
        name: "viewer.js",
        etag: "\"e3b0c44298fc\"",
        is_hashed: false,
        bytes: include_bytes!("../../assets/viewer.js"),
    },
];
