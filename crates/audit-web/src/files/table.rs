//! Written by `web/build`.

use super::File;

/// Every file.
pub(crate) static FILES: &[File] = &[
    File {
        path: "/assets/console-KQKPCZXW.js",
        name: "console-KQKPCZXW.js",
        etag: "\"20477fe4eab9\"",
        is_hashed: true,
        bytes: include_bytes!("../../assets/console-KQKPCZXW.js"),
    },
    File {
        path: "/console",
        name: "console.html",
        etag: "\"99c6fed69d2c\"",
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
        path: "/assets/portal-7WXSV4WK.js",
        name: "portal-7WXSV4WK.js",
        etag: "\"52474c35fcb7\"",
        is_hashed: true,
        bytes: include_bytes!("../../assets/portal-7WXSV4WK.js"),
    },
    File {
        path: "/portal",
        name: "portal.html",
        etag: "\"ebe800256b38\"",
        is_hashed: false,
        bytes: include_bytes!("../../assets/portal.html"),
    },
    File {
        path: "/assets/shared-CNACGSR2.js",
        name: "shared-CNACGSR2.js",
        etag: "\"47c34df9e571\"",
        is_hashed: true,
        bytes: include_bytes!("../../assets/shared-CNACGSR2.js"),
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
        etag: "\"b254e42d1822\"",
        is_hashed: false,
        bytes: include_bytes!("../../assets/viewer.js"),
    },
];
