//! The encoding of lists of values over which codes and hashes are computed.

/// Writes a value after its length in bytes, which is a big-endian number of 64 bits: no two lists of values have the same encoding.
pub fn write_with_length(value: &[u8], mut write: impl FnMut(&[u8])) {
    write(&(value.len() as u64).to_be_bytes());
    write(value);
}
