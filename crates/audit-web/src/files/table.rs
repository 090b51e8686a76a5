//! Written by `web/build`.

use super::File;

/// Every file.
pub(crate) static FILES: &[File] = &[
    File {
        path: "/assets/console-B7NHHXQU.js",
        name: "console-B7NHHXQU.js",
        etag: "\"045df01fce4e\"",
        is_hashed: true,
        bytes: include_bytes!("../../assets/console-B7NHHXQU.js"),
    },
    File {
        path: "/console",
        name: "console.html",
        etag: "\"8fa357ce2ea3\"",
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
        path: "/assets/portal-VOEHR7U6.js",
        name: "portal-VOEHR7U6.js",
        etag: "\"750b8ffe95f4\"",
        is_hashed: true,
        bytes: include_bytes!("../../assets/portal-VOEHR7U6.js"),
    },
    File {
        path: "/portal",
        name: "portal.html",
        etag: "\"d1413a0feb79\"",
        is_hashed: false,
        bytes: include_bytes!("../../assets/portal.html"),
    },
    File {
        path: "/assets/shared-6OZS7H7C.js",
        name: "shared-6OZS7H7C.js",
        etag: "\"bb578cbd700a\"",
        is_hashed: true,
        bytes: include_bytes!("../../assets/shared-6OZS7H7C.js"),
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
        etag: "\"17129bd63a98\"",
        is_hashed: false,
        bytes: include_bytes!("../../assets/viewer.js"),
    },
];
