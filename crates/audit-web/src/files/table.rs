//! Written by `web/build`.

use super::File;

/// Every file.
pub(crate) static FILES: &[File] = &[
    File {
        path: "/assets/console-YRBWHMKG.js",
        name: "console-YRBWHMKG.js",
        etag: "\"75b65c9e9f17\"",
        is_hashed: true,
        bytes: include_bytes!("../../assets/console-YRBWHMKG.js"),
    },
    File {
        path: "/console",
        name: "console.html",
        etag: "\"5157f2ecfe0e\"",
        is_hashed: false,
        bytes: include_bytes!("../../assets/console.html"),
    },
    File {
        path: "/assets/home-HQTR35NA.js",
        name: "home-HQTR35NA.js",
        etag: "\"8953cebae243\"",
        is_hashed: true,
        bytes: include_bytes!("../../assets/home-HQTR35NA.js"),
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
        etag: "\"06179724c6c7\"",
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
        path: "/assets/portal-5QMSLIA2.js",
        name: "portal-5QMSLIA2.js",
        etag: "\"898b426cbb5d\"",
        is_hashed: true,
        bytes: include_bytes!("../../assets/portal-5QMSLIA2.js"),
    },
    File {
        path: "/portal",
        name: "portal.html",
        etag: "\"2108de408cd7\"",
        is_hashed: false,
        bytes: include_bytes!("../../assets/portal.html"),
    },
    File {
        path: "/assets/shared-5CMOE7FV.js",
        name: "shared-5CMOE7FV.js",
        etag: "\"0a8fd32cbc72\"",
        is_hashed: true,
        bytes: include_bytes!("../../assets/shared-5CMOE7FV.js"),
    },
    File {
        path: "/assets/shared-SGDPOWOS.js",
        name: "shared-SGDPOWOS.js",
        etag: "\"d507c214f242\"",
        is_hashed: true,
        bytes: include_bytes!("../../assets/shared-SGDPOWOS.js"),
    },
    File {
        path: "/viewer.js",
        name: "viewer.js",
        etag: "\"52ebe96a06f8\"",
        is_hashed: false,
        bytes: include_bytes!("../../assets/viewer.js"),
    },
];
