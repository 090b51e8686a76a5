//! Written by `web/build`.

use super::File;

/// Every file.
pub(crate) static FILES: &[File] = &[
    File {
        path: "/assets/console-FV3AYKEC.js",
        name: "console-FV3AYKEC.js",
        etag: "\"1a2696064ede\"",
        is_hashed: true,
        bytes: include_bytes!("../../assets/console-FV3AYKEC.js"),
    },
    File {
        path: "/console",
        name: "console.html",
        etag: "\"7382f68646ee\"",
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
        path: "/assets/portal-H2WRECCP.js",
        name: "portal-H2WRECCP.js",
        etag: "\"b4bdf9b93ec4\"",
        is_hashed: true,
        bytes: include_bytes!("../../assets/portal-H2WRECCP.js"),
    },
    File {
        path: "/portal",
        name: "portal.html",
        etag: "\"fa68f3621b16\"",
        is_hashed: false,
        bytes: include_bytes!("../../assets/portal.html"),
    },
    File {
        path: "/assets/shared-IVR2C6RN.js",
        name: "shared-IVR2C6RN.js",
        etag: "\"af31f56fcef0\"",
        is_hashed: true,
        bytes: include_bytes!("../../assets/shared-IVR2C6RN.js"),
    },
    File {
        path: "/assets/shared-NZKZ63HU.js",
        name: "shared-NZKZ63HU.js",
        etag: "\"c6e0cc351eb7\"",
        is_hashed: true,
        bytes: include_bytes!("../../assets/shared-NZKZ63HU.js"),
    },
    File {
        path: "/assets/shared-PF2M4KPR.js",
        name: "shared-PF2M4KPR.js",
        etag: "\"771a42683d9c\"",
        is_hashed: true,
        bytes: include_bytes!("../../assets/shared-PF2M4KPR.js"),
    },
    File {
        path: "/assets/shared-YLJ7SFJW.js",
        name: "shared-YLJ7SFJW.js",
        etag: "\"9f327a02c395\"",
        is_hashed: true,
        bytes: include_bytes!("../../assets/shared-YLJ7SFJW.js"),
    },
    File {
        path: "/viewer.js",
        name: "viewer.js",
        etag: "\"afd5d96efef5\"",
        is_hashed: false,
        bytes: include_bytes!("../../assets/viewer.js"),
    },
];
