//! Written by `web/build`.

use super::File;

/// Every file.
pub(crate) static FILES: &[File] = &[
    File {
        path: "/assets/console-A2E5E2PH.js",
        name: "console-A2E5E2PH.js",
        etag: "\"5830c32004d9\"",
        is_hashed: true,
        bytes: include_bytes!("../../assets/console-A2E5E2PH.js"),
    },
    File {
        path: "/console",
        name: "console.html",
        etag: "\"e96437e982f2\"",
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
        path: "/assets/portal-P4MIDJEY.js",
        name: "portal-P4MIDJEY.js",
        etag: "\"f42d7b2c3bdd\"",
        is_hashed: true,
        bytes: include_bytes!("../../assets/portal-P4MIDJEY.js"),
    },
    File {
        path: "/portal",
        name: "portal.html",
        etag: "\"80d8fb78f82b\"",
        is_hashed: false,
        bytes: include_bytes!("../../assets/portal.html"),
    },
    File {
        path: "/assets/shared-FLMQIQMX.js",
        name: "shared-FLMQIQMX.js",
        etag: "\"528f6333130e\"",
        is_hashed: true,
        bytes: include_bytes!("../../assets/shared-FLMQIQMX.js"),
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
