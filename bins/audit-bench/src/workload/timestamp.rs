//! Times as RFC 3339 in UTC with milliseconds, written without a formatting library: one for every event sent.

/// `2026-01-15T10:30:00.000Z`.
pub(crate) const TIMESTAMP_BYTES: usize = 24;

const MS_PER_DAY: i64 = 86_400_000;

/// Milliseconds since the Unix epoch as text. For the years 1970 to 9999.
pub(crate) fn timestamp(ms: i64) -> [u8; TIMESTAMP_BYTES] {
    let (days, of_day) = (ms.div_euclid(MS_PER_DAY), ms.rem_euclid(MS_PER_DAY));
    let (year, month, day) = date(days);
    let mut text = *b"0000-00-00T00:00:00.000Z";
    write_digits(&mut text[0..4], year);
    write_digits(&mut text[5..7], month);
    write_digits(&mut text[8..10], day);
    write_digits(&mut text[11..13], of_day / 3_600_000);
    write_digits(&mut text[14..16], of_day / 60_000 % 60);
    write_digits(&mut text[17..19], of_day / 1_000 % 60);
    write_digits(&mut text[20..23], of_day % 1_000);
    text
}

/// The same as a string.
pub(crate) fn timestamp_text(ms: i64) -> String {
    timestamp(ms).iter().map(|byte| char::from(*byte)).collect()
}

/// The civil date of a day since 1970-01-01. Years begin in March here, so that the leap day is the last of its year.
fn date(days: i64) -> (i64, i64, i64) {
    let shifted = days + 719_468;
    let (era, of_era) = (shifted.div_euclid(146_097), shifted.rem_euclid(146_097));
    let year_of_era = (of_era - of_era / 1_460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let shifted_month = (5 * of_year + 2) / 153;
    let day = of_year - (153 * shifted_month + 2) / 5 + 1;
    let month = if shifted_month < 10 {
        shifted_month + 3
    } else {
        shifted_month - 9
    };
    (year_of_era + era * 400 + i64::from(month <= 2), month, day)
}

/// Writes `number` with leading zeros into all of `place`.
pub(crate) fn write_digits(place: &mut [u8], number: i64) {
    let mut rest = number;
    for digit in place.iter_mut().rev() {
        *digit = b'0' + rest.rem_euclid(10) as u8;
        rest = rest.div_euclid(10);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_written_as_the_calendar_has_them() {
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
