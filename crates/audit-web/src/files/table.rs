//! Written by `web/build`.

use super::File;

/// Every file.
pub(crate) static FILES: &[File] = &[
    File {
        path: "/assets/console-RGH52VW2.js",
        name: "console-RGH52VW2.js",
        etag: "\"78ed97957562\"",
        is_hashed: true,
        bytes: include_bytes!("../../assets/console-RGH52VW2.js"),
    },
    File {
        path: "/console",
        name: "console.html",
        etag: "\"fe7e0c292c8c\"",
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
        path: "/assets/portal-RL7Z4IYH.js",
        name: "portal-RL7Z4IYH.js",
        etag: "\"9ffd7308ff53\"",
        is_hashed: true,
        bytes: include_bytes!("../../assets/portal-RL7Z4IYH.js"),
    },
    File {
        path: "/portal",
        name: "portal.html",
        etag: "\"ebf6aff908d6\"",
        is_hashed: false,
        bytes: include_bytes!("../../assets/portal.html"),
    },
    File {
        path: "/assets/shared-M7ABVIRO.js",
        name: "shared-M7ABVIRO.js",
        etag: "\"347f2048867e\"",
        is_hashed: true,
        bytes: include_bytes!("../../assets/shared-M7ABVIRO.js"),
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
        etag: "\"a1d91f476cd2\"",
        is_hashed: false,
        bytes: include_bytes!("../../assets/viewer.js"),
    },
];
