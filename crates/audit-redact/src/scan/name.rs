//! The words of a name such as `contactIDs`, `CONTACT_ID` or `contact-id`.

/// Whether a word of a name begins at `at`: at its start, behind anything but a letter, at a change of case
/// (`userPhone`), or at the last capital of an acronym (`SMSPhone`). The `s` of a plural acronym (`IDs`) begins none.
pub(crate) fn begins_word(bytes: &[u8], at: usize) -> bool {
    let Some(first) = bytes.get(at).filter(|byte| byte.is_ascii_alphabetic()) else {
        return false;
    };
    let Some(before) = at.checked_sub(1).map(|before| bytes[before]) else {
        return true;
    };
    if !before.is_ascii_alphabetic() {
        return true;
    }
    first.is_ascii_uppercase()
        && (before.is_ascii_lowercase()
            || (bytes.get(at + 1).is_some_and(u8::is_ascii_lowercase) && !is_plural_at(bytes, at + 1)))
}

/// Whether the `s` at `at` makes the acronym before it a plural: `IDs`, `CallIDsSeen`.
fn is_plural_at(bytes: &[u8], at: usize) -> bool {
    bytes[at] == b's' && bytes.get(at + 1).is_none_or(|next| !next.is_ascii_lowercase())
}

/// The words of a name, the last one first. Digits and punctuation separate words and are part of none.
pub(crate) fn words_from_end(name: &[u8]) -> impl Iterator<Item = &[u8]> {
    let mut end = name.len();
    std::iter::from_fn(move || {
        while end > 0 && !name[end - 1].is_ascii_alphabetic() {
            end -= 1;
        }
        let start = (0..end).rev().find(|at| begins_word(name, *at))?;
        let word = &name[start..end];
        end = start;
        Some(word)
    })
}

#[cfg(test)]
mod tests {
    use super::words_from_end;

    #[test]
    fn a_name_has_the_same_words_in_every_style() {
        for (name, words) in [
            ("contactId", "contact id"),
            ("ContactID", "contact id"),
            ("CONTACT_ID", "contact id"),
            ("contact-id", "contact id"),
            ("callSID", "call sid"),
            ("cellIDs", "cell ids"),
            ("CallIDsSeen", "call ids seen"),
            ("smsID", "sms id"),
            ("SMSPhone", "sms phone"),
            ("HTTPServerURL", "http server url"),
            ("user2.phone_1", "user phone"),
            ("IDs", "ids"),
            ("__", ""),
        ] {
            let mut found: Vec<_> = words_from_end(name.as_bytes())
                .map(|word| String::from_utf8_lossy(word).to_lowercase())
                .collect();
            found.reverse();
            assert_eq!(found.join(" "), words, "{name}");
        }
    }
}
