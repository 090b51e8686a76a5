//! Written by `web/build`.

use super::File;

/// Every file.
pub(crate) static FILES: &[File] = &[
    File {
        path: "/assets/console-87b5cd9f1d39.js",
        name: "console-87b5cd9f1d39.js",
        etag: "\"87b5cd9f1d39\"",
        is_hashed: true,
        bytes: include_bytes!("../../assets/console-87b5cd9f1d39.js"),
    },
    File {
        path: "/console",
        name: "console.html",
        etag: "\"fa811175fd3e\"",
        is_hashed: false,
        bytes: include_bytes!("../../assets/console.html"),
    },
    File {
        path: "/assets/icon-e4628d12c9cf.svg",
        name: "icon-e4628d12c9cf.svg",
        etag: "\"e4628d12c9cf\"",
        is_hashed: true,
        bytes: include_bytes!("../../assets/icon-e4628d12c9cf.svg"),
    },
    File {
        path: "/assets/index-2f284c6f0cd4.js",
        name: "index-2f284c6f0cd4.js",
        etag: "\"2f284c6f0cd4\"",
        is_hashed: true,
        bytes: include_bytes!("../../assets/index-2f284c6f0cd4.js"),
    },
    File {
        path: "/",
        name: "index.html",
        etag: "\"b26a0cfe3aa4\"",
        is_hashed: false,
        bytes: include_bytes!("../../assets/index.html"),
    },
    File {
        path: "/assets/page-2c850ee41dac.css",
        name: "page-2c850ee41dac.css",
        etag: "\"2c850ee41dac\"",
        is_hashed: true,
        bytes: include_bytes!("../../assets/page-2c850ee41dac.css"),
    },
    File {
        path: "/assets/portal-d04e133f52da.js",
        name: "portal-d04e133f52da.js",
        etag: "\"d04e133f52da\"",
        is_hashed: true,
        bytes: include_bytes!("../../assets/portal-d04e133f52da.js"),
    },
    File {
        path: "/portal",
        name: "portal.html",
        etag: "\"ecfd8ded994b\"",
        is_hashed: false,
        bytes: include_bytes!("../../assets/portal.html"),
    },
    File {
        path: "/viewer.js",
        name: "viewer.js",
        etag: "\"18e99581c3dd\"",
        is_hashed: false,
        bytes: include_bytes!("../../assets/viewer.js"),
    },
];
