//! How much an alert matters.

use crate::word::{self, UnknownWord};
use std::fmt;
use std::str::FromStr;

/// How much an alert matters, from least to most.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Severity {
    /// Good to know.
    Low,
    /// Worth a look.
    Medium,
    /// Look soon.
    High,
    /// Look now.
    Critical,
}

impl Severity {
    /// Every value, from least to most.
    pub const ALL: &'static [Self] = &[Self::Low, Self::Medium, Self::High, Self::Critical];

    /// The word that stands for the value in requests, answers and rows.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Low => "low",
            Self::Medium => "medium",
            Self::High => "high",
            Self::Critical => "critical",
        }
    }
}

impl fmt::Display for Severity {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.as_str())
    }
}

impl FromStr for Severity {
    type Err = UnknownWord;

    fn from_str(text: &str) -> Result<Self, UnknownWord> {
        word::read(text, Self::ALL, Self::as_str, "low, medium, high, critical")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_read_back_as_written() {
        for severity in Severity::ALL {
            assert_eq!(severity.as_str().parse(), Ok(*severity));
        }
        let error = "High".parse::<Severity>().unwrap_err();
        assert_eq!(error.to_string(), "must be one of low, medium, high, critical");
    }
}
