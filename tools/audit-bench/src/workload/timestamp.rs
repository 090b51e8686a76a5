//! RFC 3339 times in UTC with milliseconds. Written without `time`'s formatter, which allocates, because every event sent
//! needs one.

use time::OffsetDateTime;

/// `2026-01-15T10:30:00.000Z`.
pub(crate) const TIMESTAMP_BYTES: usize = 24;

/// Formats milliseconds since the Unix epoch. Values outside the range of `OffsetDateTime` give the epoch.
pub(crate) fn timestamp(ms: i64) -> [u8; TIMESTAMP_BYTES] {
    let nanoseconds = i128::from(ms) * 1_000_000;
    let time = OffsetDateTime::from_unix_timestamp_nanos(nanoseconds).unwrap_or(OffsetDateTime::UNIX_EPOCH);
    let mut text = *b"0000-00-00T00:00:00.000Z";
    write_digits(&mut text[0..4], i64::from(time.year()));
    write_digits(&mut text[5..7], i64::from(u8::from(time.month())));
    write_digits(&mut text[8..10], i64::from(time.day()));
    write_digits(&mut text[11..13], i64::from(time.hour()));
    write_digits(&mut text[14..16], i64::from(time.minute()));
    write_digits(&mut text[17..19], i64::from(time.second()));
    write_digits(&mut text[20..23], i64::from(time.millisecond()));
    text
}

/// [`timestamp`] as a string.
pub(crate) fn timestamp_text(ms: i64) -> String {
    timestamp(ms).iter().map(|byte| char::from(*byte)).collect()
}

/// Writes `number` with leading zeros.
pub(crate) fn write_digits(digits: &mut [u8], number: i64) {
    let mut rest = number;
    for digit in digits.iter_mut().rev() {
        *digit = b'0' + rest.rem_euclid(10) as u8;
        rest = rest.div_euclid(10);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_formatted_as_rfc_3339() {
        for (ms, expected) in [
            (0, "1970-01-01T00:00:00.000Z"),
            (951_782_399_999, "2000-02-28T23:59:59.999Z"),
            (951_782_400_000, "2000-02-29T00:00:00.000Z"),
            (951_868_800_000, "2000-03-01T00:00:00.000Z"),
            (1_704_067_199_001, "2023-12-31T23:59:59.001Z"),
            (1_768_473_000_123, "2026-01-15T10:30:00.123Z"),
            (4_107_542_400_000, "2100-03-01T00:00:00.000Z"),
        ] {
            assert_eq!(timestamp_text(ms), expected);
        }
    }
}
