//! Written by `web/build`.

use super::File;

/// Every file.
pub(crate) static FILES: &[File] = &[
    File {
        path: "/assets/console-OLL5L5II.js",
        name: "console-OLL5L5II.js",
        etag: "\"2422c91fe918\"",
        is_hashed: true,
        bytes: include_bytes!("../../assets/console-OLL5L5II.js"),
    },
    File {
        path: "/console",
        name: "console.html",
        etag: "\"9925e8216045\"",
        is_hashed: false,
        bytes: include_bytes!("../../assets/console.html"),
    },
    File {
        path: "/assets/home-3ZICKAEA.js",
        name: "home-3ZICKAEA.js",
        etag: "\"65caede461d8\"",
        is_hashed: true,
        bytes: include_bytes!("../../assets/home-3ZICKAEA.js"),
    },
    File {
        path: "/assets/icon-e4628d12c9cf.svg",
        name: "icon-e4628d12c9cf.svg",
        etag: "\"e4628d12c9cf\"",
        is_hashed: true,
        bytes: include_bytes!("../../assets/icon-e4628d12c9cf.svg"),
    },
    File {
        path: "/",
        name: "index.html",
        etag: "\"667e93641d17\"",
        is_hashed: false,
        bytes: include_bytes!("../../assets/index.html"),
    },
    File {
        path: "/assets/page-0fc27ee545d3.css",
        name: "page-0fc27ee545d3.css",
        etag: "\"0fc27ee545d3\"",
        is_hashed: true,
        bytes: include_bytes!("../../assets/page-0fc27ee545d3.css"),
    },
    File {
        path: "/assets/portal-T4LFWEMW.js",
        name: "portal-T4LFWEMW.js",
        etag: "\"184408c9aeff\"",
        is_hashed: true,
        bytes: include_bytes!("../../assets/portal-T4LFWEMW.js"),
    },
    File {
        path: "/portal",
        name: "portal.html",
        etag: "\"8d2f77c5cb17\"",
        is_hashed: false,
        bytes: include_bytes!("../../assets/portal.html"),
    },
    File {
        path: "/assets/shared-4K6DQWAO.js",
        name: "shared-4K6DQWAO.js",
        etag: "\"24991d6e5a04\"",
        is_hashed: true,
        bytes: include_bytes!("../../assets/shared-4K6DQWAO.js"),
    },
    File {
        path: "/assets/shared-IVR2C6RN.js",
        name: "shared-IVR2C6RN.js",
        etag: "\"af31f56fcef0\"",
        is_hashed: true,
        bytes: include_bytes!("../../assets/shared-IVR2C6RN.js"),
    },
    File {
        path: "/assets/shared-PF2M4KPR.js",
        name: "shared-PF2M4KPR.js",
        etag: "\"771a42683d9c\"",
        is_hashed: true,
        bytes: include_bytes!("../../assets/shared-PF2M4KPR.js"),
    },
    File {
        path: "/assets/shared-PNS4Q5NR.js",
        name: "shared-PNS4Q5NR.js",
        etag: "\"edbe3dc11d7c\"",
        is_hashed: true,
        bytes: include_bytes!("../../assets/shared-PNS4Q5NR.js"),
    },
    File {
        path: "/viewer.js",
        name: "viewer.js",
        etag: "\"3cba0d4fed63\"",
        is_hashed: false,
        bytes: include_bytes!("../../assets/viewer.js"),
    },
];
