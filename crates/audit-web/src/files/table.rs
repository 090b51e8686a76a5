//! Written by `web/build`.

use super::File;

/// Every file.
pub(crate) static FILES: &[File] = &[
    File {
        path: "/assets/console-GBOH57CM.js",
        name: "console-GBOH57CM.js",
        etag: "\"f691d5d3eb5c\"",
        is_hashed: true,
        bytes: include_bytes!("../../assets/console-GBOH57CM.js"),
    },
    File {
        path: "/console",
        name: "console.html",
        etag: "\"dc26a4d239c0\"",
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
        path: "/assets/portal-RAMOLQMQ.js",
        name: "portal-RAMOLQMQ.js",
        etag: "\"c669f9aa7bb6\"",
        is_hashed: true,
        bytes: include_bytes!("../../assets/portal-RAMOLQMQ.js"),
    },
    File {
        path: "/portal",
        name: "portal.html",
        etag: "\"d3140f9ff5dd\"",
        is_hashed: false,
        bytes: include_bytes!("../../assets/portal.html"),
    },
    File {
        path: "/assets/shared-SGDPOWOS.js",
        name: "shared-SGDPOWOS.js",
        etag: "\"d507c214f242\"",
        is_hashed: true,
        bytes: include_bytes!("../../assets/shared-SGDPOWOS.js"),
    },
    File {
        path: "/assets/shared-WVQ5VW7H.js",
        name: "shared-WVQ5VW7H.js",
        etag: "\"523f8d1dba92\"",
        is_hashed: true,
        bytes: include_bytes!("../../assets/shared-WVQ5VW7H.js"),
    },
    File {
        path: "/viewer.js",
        name: "viewer.js",
        etag: "\"eec3a9af4368\"",
        is_hashed: false,
        bytes: include_bytes!("../../assets/viewer.js"),
    },
];
