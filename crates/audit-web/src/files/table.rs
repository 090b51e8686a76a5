//! Written by `web/build`.

use super::File;

/// Every file.
pub(crate) static FILES: &[File] = &[
    File {
        path: "/assets/console-NLORE5MX.js",
        name: "console-NLORE5MX.js",
        etag: "\"b6d4edb9bdc3\"",
        is_hashed: true,
        bytes: include_bytes!("../../assets/console-NLORE5MX.js"),
    },
    File {
        path: "/console",
        name: "console.html",
        etag: "\"4aee11e737b9\"",
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
        path: "/assets/portal-2DQA3JEL.js",
        name: "portal-2DQA3JEL.js",
        etag: "\"1245ee1261bc\"",
        is_hashed: true,
        bytes: include_bytes!("../../assets/portal-2DQA3JEL.js"),
    },
    File {
        path: "/portal",
        name: "portal.html",
        etag: "\"c6d78426b15a\"",
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
        path: "/assets/shared-OUFQD5ZA.js",
        name: "shared-OUFQD5ZA.js",
        etag: "\"b29dd5763228\"",
        is_hashed: true,
        bytes: include_bytes!("../../assets/shared-OUFQD5ZA.js"),
    },
    File {
        path: "/assets/shared-PF2M4KPR.js",
        name: "shared-PF2M4KPR.js",
        etag: "\"771a42683d9c\"",
        is_hashed: true,
        bytes: include_bytes!("../../assets/shared-PF2M4KPR.js"),
    },
    File {
        path: "/assets/shared-VKS7RTEX.js",
        name: "shared-VKS7RTEX.js",
        etag: "\"33f6432d86f7\"",
        is_hashed: true,
        bytes: include_bytes!("../../assets/shared-VKS7RTEX.js"),
    },
    File {
        path: "/viewer.js",
        name: "viewer.js",
        etag: "\"ca645db6d395\"",
        is_hashed: false,
        bytes: include_bytes!("../../assets/viewer.js"),
    },
];
