//! Written by `web/build`.

use super::File;

/// Every file.
pub(crate) static FILES: &[File] = &[
    File {
        path: "/assets/console-TRV7VJLE.js",
        name: "console-TRV7VJLE.js",
        etag: "\"226e13efeded\"",
        is_hashed: true,
        bytes: include_bytes!("../../assets/console-TRV7VJLE.js"),
    },
    File {
        path: "/console",
        name: "console.html",
        etag: "\"58e48ba18cff\"",
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
        path: "/assets/portal-DNHKKFRT.js",
        name: "portal-DNHKKFRT.js",
        etag: "\"225ac8296d59\"",
        is_hashed: true,
        bytes: include_bytes!("../../assets/portal-DNHKKFRT.js"),
    },
    File {
        path: "/portal",
        name: "portal.html",
        etag: "\"746b58fd514e\"",
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
        path: "/assets/shared-T67FQKHN.js",
        name: "shared-T67FQKHN.js",
        etag: "\"baaa26150d23\"",
        is_hashed: true,
        bytes: include_bytes!("../../assets/shared-T67FQKHN.js"),
    },
    File {
        path: "/viewer.js",
        name: "viewer.js",
        etag: "\"caa6b3d6890f\"",
        is_hashed: false,
        bytes: include_bytes!("../../assets/viewer.js"),
    },
];
