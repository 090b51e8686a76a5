//! Written by `web/build`.

use super::File;

/// Every file.
pub(crate) static FILES: &[File] = &[
    File {
        path: "/assets/console-f1a30a76793c.js",
        name: "console-f1a30a76793c.js",
        etag: "\"f1a30a76793c\"",
        is_hashed: true,
        bytes: include_bytes!("../../assets/console-f1a30a76793c.js"),
    },
    File {
        path: "/console",
        name: "console.html",
        etag: "\"3d9af1d00802\"",
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
        path: "/assets/portal-52e12e8a6492.js",
        name: "portal-52e12e8a6492.js",
        etag: "\"52e12e8a6492\"",
        is_hashed: true,
        bytes: include_bytes!("../../assets/portal-52e12e8a6492.js"),
    },
    File {
        path: "/portal",
        name: "portal.html",
        etag: "\"2bdbb769b625\"",
        is_hashed: false,
        bytes: include_bytes!("../../assets/portal.html"),
    },
    File {
        path: "/viewer.js",
        name: "viewer.js",
        etag: "\"e51da8ead0cf\"",
        is_hashed: false,
        bytes: include_bytes!("../../assets/viewer.js"),
    },
];
