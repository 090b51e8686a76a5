//! Written by `web/build`.

use super::File;

/// Every file.
pub(crate) static FILES: &[File] = &[
    File {
        path: "/assets/console-6TF7LDV4.js",
        name: "console-6TF7LDV4.js",
        etag: "\"80dd85ab81f2\"",
        is_hashed: true,
        bytes: include_bytes!("../../assets/console-6TF7LDV4.js"),
    },
    File {
        path: "/console",
        name: "console.html",
        etag: "\"0c03f4510480\"",
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
        path: "/assets/portal-WKZTAAES.js",
        name: "portal-WKZTAAES.js",
        etag: "\"d134d522642f\"",
        is_hashed: true,
        bytes: include_bytes!("../../assets/portal-WKZTAAES.js"),
    },
    File {
        path: "/portal",
        name: "portal.html",
        etag: "\"99a31eb1bdda\"",
        is_hashed: false,
        bytes: include_bytes!("../../assets/portal.html"),
    },
    File {
        path: "/assets/shared-7AL4VEQZ.js",
        name: "shared-7AL4VEQZ.js",
        etag: "\"59e317298131\"",
        is_hashed: true,
        bytes: include_bytes!("../../assets/shared-7AL4VEQZ.js"),
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
        etag: "\"a79e9393638f\"",
        is_hashed: false,
        bytes: include_bytes!("../../assets/viewer.js"),
    },
];
