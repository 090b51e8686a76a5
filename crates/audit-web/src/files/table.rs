//! Written by `web/build`.

use super::File;

/// Every file.
pub(crate) static FILES: &[File] = &[
    File {
        path: "/assets/console-25004ade48db.js",
        name: "console-25004ade48db.js",
        etag: "\"25004ade48db\"",
        is_hashed: true,
        bytes: include_bytes!("../../assets/console-25004ade48db.js"),
    },
    File {
        path: "/console",
        name: "console.html",
        etag: "\"20164f931b80\"",
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
        path: "/assets/portal-3bea209f4503.js",
        name: "portal-3bea209f4503.js",
        etag: "\"3bea209f4503\"",
        is_hashed: true,
        bytes: include_bytes!("../../assets/portal-3bea209f4503.js"),
    },
    File {
        path: "/portal",
        name: "portal.html",
        etag: "\"a053cd952a53\"",
        is_hashed: false,
        bytes: include_bytes!("../../assets/portal.html"),
    },
    File {
        path: "/viewer.js",
        name: "viewer.js",
        etag: "\"081a8db260ce\"",
        is_hashed: false,
        bytes: include_bytes!("../../assets/viewer.js"),
    },
];
