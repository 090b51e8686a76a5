//! Country calling codes.

/// Assigned codes of two digits (ITU-T E.164).
const TWO_DIGITS: &[u32] = &[
    20, 27, 30, 31, 32, 33, 34, 36, 39, 40, 41, 43, 44, 45, 46, 47, 48, 49, 51, 52, 53, 54, 55, 56, 57, 58,
    60, 61, 62, 63, 64, 65, 66, 81, 82, 84, 86, 90, 91, 92, 93, 94, 95, 98,
];

/// Whether the digits begin with an assigned country code.
pub(super) fn is_assigned(digits: [u8; 3]) -> bool {
    let [one, two, three] = digits.map(|byte| u32::from(byte - b'0'));
    matches!(one, 1 | 7)
        || TWO_DIGITS.contains(&(one * 10 + two))
        || matches!(
            one * 100 + two * 10 + three,
            211..=213
                | 216
                | 218
                | 220..=258
                | 260..=269
                | 290
                | 291
                | 297..=299
                | 350..=359
                | 370..=383
                | 385..=387
                | 389
                | 420
                | 421
                | 423
                | 500..=509
                | 590..=599
                | 670
                | 672..=683
                | 685..=692
                | 800
                | 808
                | 850
                | 852
                | 853
                | 855
                | 856
                | 870
                | 878
                | 880..=883
                | 886
                | 888
                | 960..=968
                | 970..=977
                | 979
                | 992..=996
                | 998
        )
}

/// Longest numbers with their country code, where all of a country's are of one length or nearly so (ITU-T E.164
/// national numbering plans). Where a number is optionally written with a trunk zero, it is counted.
const DIGITS_MAX_BY_CODE: &[(u32, usize)] = &[
    (1, 11),
    (7, 11),
    (27, 12),
    (30, 12),
    (31, 12),
    (32, 12),
    (33, 12),
    (34, 11),
    (40, 12),
    (41, 12),
    (44, 13),
    (45, 10),
    (47, 10),
    (48, 11),
    (61, 12),
    (65, 10),
    (81, 13),
    (90, 13),
    (91, 12),
    (351, 12),
    (353, 13),
    (420, 12),
    (852, 11),
    (966, 13),
    (971, 13),
    (972, 13),
];

/// Most digits of a number that begins with these, country code included.
pub(super) fn digits_max(digits: [u8; 3]) -> usize {
    const DIGITS_MAX: usize = 15;
    let [one, two, three] = digits.map(|byte| u32::from(byte - b'0'));
    let codes = [one, one * 10 + two, one * 100 + two * 10 + three];
    DIGITS_MAX_BY_CODE
        .iter()
        .find(|(code, _)| codes.contains(code))
        .map_or(DIGITS_MAX, |(_, max)| *max)
}

#[cfg(test)]
mod tests {
    use super::is_assigned;

    #[test]
    fn unassigned_codes_are_refused() {
        for code in [
            b"000", b"210", b"214", b"259", b"281", b"384", b"422", b"671", b"801", b"851", b"969", b"999",
        ] {
            assert!(!is_assigned(*code), "{code:?}");
        }
        for code in [b"155", b"749", b"442", b"353", b"998", b"880"] {
            assert!(is_assigned(*code), "{code:?}");
        }
    }
}
