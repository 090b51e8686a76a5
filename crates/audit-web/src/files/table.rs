//! Written by `web/build`.

use super::File;

/// Every file.
pub(crate) static FILES: &[File] = &[
    File {
        path: "/assets/console-EG2TMRNL.js",
        name: "console-EG2TMRNL.js",
        etag: "\"796bd299edf5\"",
        is_hashed: true,
        bytes: include_bytes!("../../assets/console-EG2TMRNL.js"),
    },
    File {
        path: "/console",
        name: "console.html",
        etag: "\"de96d4dfcaf1\"",
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
        path: "/assets/portal-YIKBRYDJ.js",
        name: "portal-YIKBRYDJ.js",
        etag: "\"b7cda90fd952\"",
        is_hashed: true,
        bytes: include_bytes!("../../assets/portal-YIKBRYDJ.js"),
    },
    File {
        path: "/portal",
        name: "portal.html",
        etag: "\"f5b3a2c3c8fe\"",
        is_hashed: false,
        bytes: include_bytes!("../../assets/portal.html"),
    },
    File {
        path: "/assets/shared-RL3Q6N7U.js",
        name: "shared-RL3Q6N7U.js",
        etag: "\"0d5ef3993f57\"",
        is_hashed: true,
        bytes: include_bytes!("../../assets/shared-RL3Q6N7U.js"),
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
        etag: "\"f15c80dff037\"",
        is_hashed: false,
        bytes: include_bytes!("../../assets/viewer.js"),
    },
];
