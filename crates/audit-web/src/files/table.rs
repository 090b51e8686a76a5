//! Written by `web/build`.

use super::File;

/// Every file.
pub(crate) static FILES: &[File] = &[
    File {
        path: "/assets/console-22c095ba71da.js",
        name: "console-22c095ba71da.js",
        etag: "\"22c095ba71da\"",
        is_hashed: true,
        bytes: include_bytes!("../../assets/console-22c095ba71da.js"),
    },
    File {
        path: "/console",
        name: "console.html",
        etag: "\"e27933025e5b\"",
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
        path: "/assets/index-a0b969c13a63.js",
        name: "index-a0b969c13a63.js",
        etag: "\"a0b969c13a63\"",
        is_hashed: true,
        bytes: include_bytes!("../../assets/index-a0b969c13a63.js"),
    },
    File {
        path: "/",
        name: "index.html",
        etag: "\"6af60bc7cfab\"",
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
        path: "/assets/portal-0d08f1fe6cfe.js",
        name: "portal-0d08f1fe6cfe.js",
        etag: "\"0d08f1fe6cfe\"",
        is_hashed: true,
        bytes: include_bytes!("../../assets/portal-0d08f1fe6cfe.js"),
    },
    File {
        path: "/portal",
        name: "portal.html",
        etag: "\"fedc68bf20f3\"",
        is_hashed: false,
        bytes: include_bytes!("../../assets/portal.html"),
    },
    File {
        path: "/viewer.js",
        name: "viewer.js",
        etag: "\"bd18f8d2ab53\"",
        is_hashed: false,
        bytes: include_bytes!("../../assets/viewer.js"),
    },
];
