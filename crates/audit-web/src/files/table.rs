//! Written by `web/build`.

use super::File;

/// Every file.
pub(crate) static FILES: &[File] = &[
    File {
        path: "/assets/console-b3332d3e6a29.js",
        name: "console-b3332d3e6a29.js",
        etag: "\"b3332d3e6a29\"",
        is_hashed: true,
        bytes: include_bytes!("../../assets/console-b3332d3e6a29.js"),
    },
    File {
        path: "/console",
        name: "console.html",
        etag: "\"36f12e500e63\"",
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
        path: "/assets/index-2f284c6f0cd4.js",
        name: "index-2f284c6f0cd4.js",
        etag: "\"2f284c6f0cd4\"",
        is_hashed: true,
        bytes: include_bytes!("../../assets/index-2f284c6f0cd4.js"),
    },
    File {
        path: "/",
        name: "index.html",
        etag: "\"b26a0cfe3aa4\"",
        is_hashed: false,
        bytes: include_bytes!("../../assets/index.html"),
    },
    File {
        path: "/assets/page-2c850ee41dac.css",
        name: "page-2c850ee41dac.css",
        etag: "\"2c850ee41dac\"",
        is_hashed: true,
        bytes: include_bytes!("../../assets/page-2c850ee41dac.css"),
    },
    File {
        path: "/assets/portal-41a21fad7dbe.js",
        name: "portal-41a21fad7dbe.js",
        etag: "\"41a21fad7dbe\"",
        is_hashed: true,
        bytes: include_bytes!("../../assets/portal-41a21fad7dbe.js"),
    },
    File {
        path: "/portal",
        name: "portal.html",
        etag: "\"1bdb57ae53f7\"",
        is_hashed: false,
        bytes: include_bytes!("../../assets/portal.html"),
    },
    File {
        path: "/viewer.js",
        name: "viewer.js",
        etag: "\"4d3bd3d68691\"",
        is_hashed: false,
        bytes: include_bytes!("../../assets/viewer.js"),
    },
];
