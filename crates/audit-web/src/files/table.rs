//! Written by `web/build`.

use super::File;

/// Every file.
pub(crate) static FILES: &[File] = &[
    File {
        path: "/assets/console-WR2URXBV.js",
        name: "console-WR2URXBV.js",
        etag: "\"10f2ac04c437\"",
        is_hashed: true,
        bytes: include_bytes!("../../assets/console-WR2URXBV.js"),
    },
    File {
        path: "/console",
        name: "console.html",
        etag: "\"106f6319516e\"",
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
        path: "/assets/portal-VZ6SYU3R.js",
        name: "portal-VZ6SYU3R.js",
        etag: "\"e411d3796528\"",
        is_hashed: true,
        bytes: include_bytes!("../../assets/portal-VZ6SYU3R.js"),
    },
    File {
        path: "/portal",
        name: "portal.html",
        etag: "\"ef14d7f32e64\"",
        is_hashed: false,
        bytes: include_bytes!("../../assets/portal.html"),
    },
    File {
        path: "/assets/shared-6XWOKUAE.js",
        name: "shared-6XWOKUAE.js",
        etag: "\"3c6a8098593a\"",
        is_hashed: true,
        bytes: include_bytes!("../../assets/shared-6XWOKUAE.js"),
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
        etag: "\"153b03781382\"",
        is_hashed: false,
        bytes: include_bytes!("../../assets/viewer.js"),
    },
];
