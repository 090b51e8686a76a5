//! Written by `web/build`.

use super::File;

/// Every file.
pub(crate) static FILES: &[File] = &[
    File {
        path: "/assets/console-GBIYNDFG.js",
        name: "console-GBIYNDFG.js",
        etag: "\"7eaa08aff140\"",
        is_hashed: true,
        bytes: include_bytes!("../../assets/console-GBIYNDFG.js"),
    },
    File {
        path: "/console",
        name: "console.html",
        etag: "\"d3a09c986ce4\"",
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
        path: "/assets/portal-6HGWYBAR.js",
        name: "portal-6HGWYBAR.js",
        etag: "\"9cde90ceda48\"",
        is_hashed: true,
        bytes: include_bytes!("../../assets/portal-6HGWYBAR.js"),
    },
    File {
        path: "/portal",
        name: "portal.html",
        etag: "\"77ae69de170b\"",
        is_hashed: false,
        bytes: include_bytes!("../../assets/portal.html"),
    },
    File {
        path: "/assets/shared-BALWKXJ5.js",
        name: "shared-BALWKXJ5.js",
        etag: "\"5ba90bc86b0f\"",
        is_hashed: true,
        bytes: include_bytes!("../../assets/shared-BALWKXJ5.js"),
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
        etag: "\"e16586c9bd5d\"",
        is_hashed: false,
        bytes: include_bytes!("../../assets/viewer.js"),
    },
];
