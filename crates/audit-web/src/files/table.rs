//! Written by `web/build`.

use super::File;

/// Every file.
pub(crate) static FILES: &[File] = &[
    File {
        path: "/assets/console-6XXSRVGP.js",
        name: "console-6XXSRVGP.js",
        etag: "\"76c73735412d\"",
        is_hashed: true,
        bytes: include_bytes!("../../assets/console-6XXSRVGP.js"),
    },
    File {
        path: "/console",
        name: "console.html",
        etag: "\"e49ba333d274\"",
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
        path: "/assets/portal-4I2T4XNT.js",
        name: "portal-4I2T4XNT.js",
        etag: "\"44371c658310\"",
        is_hashed: true,
        bytes: include_bytes!("../../assets/portal-4I2T4XNT.js"),
    },
    File {
        path: "/portal",
        name: "portal.html",
        etag: "\"f2c1f69bc1c0\"",
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
        path: "/assets/shared-NZQKAZXI.js",
        name: "shared-NZQKAZXI.js",
        etag: "\"7590a9ef9e7e\"",
        is_hashed: true,
        bytes: include_bytes!("../../assets/shared-NZQKAZXI.js"),
    },
    File {
        path: "/assets/shared-PF2M4KPR.js",
        name: "shared-PF2M4KPR.js",
        etag: "\"771a42683d9c\"",
        is_hashed: true,
        bytes: include_bytes!("../../assets/shared-PF2M4KPR.js"),
    },
    File {
        path: "/viewer.js",
        name: "viewer.js",
        etag: "\"603827984f4e\"",
        is_hashed: false,
        bytes: include_bytes!("../../assets/viewer.js"),
    },
];
