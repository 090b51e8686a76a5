//! Written by `web/build`.

use super::File;

/// Every file.
pub(crate) static FILES: &[File] = &[
    File {
        path: "/assets/console-MH45FZDW.js",
        name: "console-MH45FZDW.js",
        etag: "\"ac55d806d0ce\"",
        is_hashed: true,
        bytes: include_bytes!("../../assets/console-MH45FZDW.js"),
    },
    File {
        path: "/console",
        name: "console.html",
        etag: "\"7003df84a3d1\"",
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
        path: "/assets/portal-JMKMSTQ4.js",
        name: "portal-JMKMSTQ4.js",
        etag: "\"dfa28b3d892a\"",
        is_hashed: true,
        bytes: include_bytes!("../../assets/portal-JMKMSTQ4.js"),
    },
    File {
        path: "/portal",
        name: "portal.html",
        etag: "\"024e7f6d665d\"",
        is_hashed: false,
        bytes: include_bytes!("../../assets/portal.html"),
    },
    File {
        path: "/assets/shared-KJN2Z2G3.js",
        name: "shared-KJN2Z2G3.js",
        etag: "\"89331c8e0587\"",
        is_hashed: true,
        bytes: include_bytes!("../../assets/shared-KJN2Z2G3.js"),
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
        etag: "\"a51cea7dcbc8\"",
        is_hashed: false,
        bytes: include_bytes!("../../assets/viewer.js"),
    },
];
