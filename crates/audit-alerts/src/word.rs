//! Words of closed lists: severities, groupings, statuses.

/// A word is not one of the values of a closed list.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("must be one of {allowed}")]
pub struct UnknownWord {
    allowed: &'static str,
}

/// The value among `all` that `word` stands for; `allowed` lists them for the error.
pub(crate) fn read<T: Copy>(
    word: &str,
    all: &[T],
    as_str: impl Fn(T) -> &'static str,
    allowed: &'static str,
) -> Result<T, UnknownWord> {
    all.iter()
        .copied()
        .find(|value| as_str(*value) == word)
        .ok_or(UnknownWord { allowed })
}
