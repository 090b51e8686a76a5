//! Bodies as gzip.

use flate2::Compression;
use flate2::read::MultiGzDecoder;
use flate2::write::GzEncoder;
use std::io::{Read, Write};

/// The bytes as gzip.
pub fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
    encoder.write_all(bytes).expect("memory is written");
    encoder.finish().expect("memory is written")
}

/// What the gzip holds.
pub fn gunzip(bytes: &[u8]) -> Vec<u8> {
    let mut inflated = Vec::new();
    let read = MultiGzDecoder::new(bytes).read_to_end(&mut inflated);
    read.expect("whole gzip");
    inflated
}
