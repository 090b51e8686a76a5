#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    audit_properties::removals::removed(bytes);
});
