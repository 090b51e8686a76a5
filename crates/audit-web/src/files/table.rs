//! Written by `web/build`.

use super::File;

/// Every file.
pub(crate) static FILES: &[File] = &[
    File {
        path: "/assets/console-b8648567753d.js",
        name: "console-b8648567753d.js",
        etag: "\"b8648567753d\"",
        is_hashed: true,
        bytes: include_bytes!("../../assets/console-b8648567753d.js"),
    },
    File {
        path: "/console",
        name: "console.html",
        etag: "\"1042d0489aad\"",
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
        path: "/assets/portal-7b8ab1bfa892.js",
        name: "portal-7b8ab1bfa892.js",
        etag: "\"7b8ab1bfa892\"",
        is_hashed: true,
        bytes: include_bytes!("../../assets/portal-7b8ab1bfa892.js"),
    },
    File {
        path: "/portal",
        name: "portal.html",
        etag: "\"cff05c1a74dd\"",
        is_hashed: false,
        bytes: include_bytes!("../../assets/portal.html"),
    },
    File {
        path: "/viewer.js",
        name: "viewer.js",
        etag: "\"7c42e84addeb\"",
        is_hashed: false,
        bytes: include_bytes!("../../assets/viewer.js"),
    },
];
