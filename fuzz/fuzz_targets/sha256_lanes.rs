#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    audit_properties::hashes::sha256_lanes(bytes);
});
