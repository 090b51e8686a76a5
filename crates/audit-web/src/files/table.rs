//! Written by `web/build`.

use super::File;

/// Every file.
pub(crate) static FILES: &[File] = &[
    File {
        path: "/assets/console-TNWCCWIG.js",
        name: "console-TNWCCWIG.js",
        etag: "\"ca62219d9019\"",
        is_hashed: true,
        bytes: include_bytes!("../../assets/console-TNWCCWIG.js"),
    },
    File {
        path: "/console",
        name: "console.html",
        etag: "\"29ada2c127a4\"",
        is_hashed: false,
        bytes: include_bytes!("../../assets/console.html"),
    },
    File {
        path: "/assets/home-IIEBMA6K.js",
        name: "home-IIEBMA6K.js",
        etag: "\"3adb618ac48b\"",
        is_hashed: true,
        bytes: include_bytes!("../../assets/home-IIEBMA6K.js"),
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
        etag: "\"d6a617b829c9\"",
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
        path: "/assets/portal-DRP7CZGA.js",
        name: "portal-DRP7CZGA.js",
        etag: "\"4f29a36edaff\"",
        is_hashed: true,
        bytes: include_bytes!("../../assets/portal-DRP7CZGA.js"),
    },
    File {
        path: "/portal",
        name: "portal.html",
        etag: "\"3c3a3a579731\"",
        is_hashed: false,
        bytes: include_bytes!("../../assets/portal.html"),
    },
    File {
        path: "/assets/shared-MOKFRY6M.js",
        name: "shared-MOKFRY6M.js",
        etag: "\"a881a29a1fb1\"",
        is_hashed: true,
        bytes: include_bytes!("../../assets/shared-MOKFRY6M.js"),
    },
    File {
        path: "/assets/shared-PL53VPD7.js",
        name: "shared-PL53VPD7.js",
        etag: "\"ce1ae3ed6bf0\"",
        is_hashed: true,
        bytes: include_bytes!("../../assets/shared-PL53VPD7.js"),
    },
    File {
        path: "/viewer.js",
        name: "viewer.js",
        etag: "\"7c3be0a2d19f\"",
        is_hashed: false,
        bytes: include_bytes!("../../assets/viewer.js"),
    },
];
