//! Written by `web/build`.

use super::File;

/// Every file.
pub(crate) static FILES: &[File] = &[
    File {
        path: "/assets/console-KLARZSQS.js",
        name: "console-KLARZSQS.js",
        etag: "\"b0e960cda741\"",
        is_hashed: true,
        bytes: include_bytes!("../../assets/console-KLARZSQS.js"),
    },
    File {
        path: "/console",
        name: "console.html",
        etag: "\"3d4aaf440e81\"",
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
        path: "/assets/portal-ORIS34VG.js",
        name: "portal-ORIS34VG.js",
        etag: "\"476efffea85b\"",
        is_hashed: true,
        bytes: include_bytes!("../../assets/portal-ORIS34VG.js"),
    },
    File {
        path: "/portal",
        name: "portal.html",
        etag: "\"231840a8b732\"",
        is_hashed: false,
        bytes: include_bytes!("../../assets/portal.html"),
    },
    File {
        path: "/assets/shared-RTRPS3EW.js",
        name: "shared-RTRPS3EW.js",
        etag: "\"55a46aa74689\"",
        is_hashed: true,
        bytes: include_bytes!("../../assets/shared-RTRPS3EW.js"),
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
        etag: "\"5538fd018ec4\"",
        is_hashed: false,
        bytes: include_bytes!("../../assets/viewer.js"),
    },
];
