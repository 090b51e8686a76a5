//! Closed lists of words.

/// A word is not one of the values of a closed list.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("must be one of {allowed}")]
pub struct UnknownWord {
    allowed: &'static str,
}

impl UnknownWord {
    /// The error for a word that is none of `allowed`, a list in English.
    pub const fn new(allowed: &'static str) -> Self {
        Self { allowed }
    }
}

/// Makes an enum of named values with `ALL`, `as_str`, `Display` and `FromStr`.
///
/// ```
/// audit_domain::words! {
///     /// How much something matters.
///     pub enum Weight {
///         /// Good to know.
///         Light = "light",
///         /// Look now.
///         Heavy = "heavy",
///     }
/// }
/// assert_eq!("heavy".parse(), Ok(Weight::Heavy));
/// assert_eq!("huge".parse::<Weight>().unwrap_err().to_string(), "must be one of light, heavy");
/// ```
#[macro_export]
macro_rules! words {
    ($(#[$doc:meta])* pub enum $name:ident { $($(#[$variant_doc:meta])* $variant:ident = $word:literal),+ $(,)? }) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub enum $name { $($(#[$variant_doc])* $variant),+ }

        impl $name {
            /// Every value, in the order of the interface.
            pub const ALL: &'static [Self] = &[$(Self::$variant),+];

            /// The word for the value in requests, responses and rows.
            pub const fn as_str(self) -> &'static str {
                match self { $(Self::$variant => $word),+ }
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                formatter.write_str(self.as_str())
            }
        }

        impl std::str::FromStr for $name {
            type Err = $crate::UnknownWord;

            fn from_str(word: &str) -> Result<Self, $crate::UnknownWord> {
                match word {
                    $($word => Ok(Self::$variant),)+
                    _ => Err($crate::UnknownWord::new($crate::words!(@list $($word),+))),
                }
            }
        }
    };
    (@list $first:literal $(, $rest:literal)*) => { concat!($first $(, ", ", $rest)*) };
}

#[cfg(test)]
mod tests {
    use crate::{Environment, Plan};

    #[test]
    fn words_are_read_back_as_written() {
        for plan in Plan::ALL {
            assert_eq!(plan.as_str().parse(), Ok(*plan));
        }
        let error = "Live".parse::<Environment>().unwrap_err();
        assert_eq!(error.to_string(), "must be one of live, test");
    }
}
