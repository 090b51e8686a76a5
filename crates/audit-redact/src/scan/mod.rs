//! Text scanning shared by the built-in rules.

pub(crate) mod context;
pub(crate) mod digits;
pub(crate) mod edge;
pub(crate) mod exclusion;
pub(crate) mod name;
pub(crate) mod prefilter;
pub(crate) mod punctuation;
pub(crate) mod width;

/// A byte range. Both ends are character boundaries of the text it belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Span {
    pub(crate) start: usize,
    pub(crate) end: usize,
}

impl Span {
    pub(crate) fn new(start: usize, end: usize) -> Span {
        Span { start, end }
    }

    pub(crate) fn len(self) -> usize {
        self.end - self.start
    }

    pub(crate) fn contains(self, other: Span) -> bool {
        self.start <= other.start && other.end <= self.end
    }
}

/// Where an ASCII mark is in a text. Its punctuation is looked for: a search for a string prepares tables, which takes longer.
pub(crate) fn places(text: &str, mark: &'static str) -> impl Iterator<Item = usize> {
    let offset = mark.find(['[', ':']).unwrap_or(0);
    let punctuation = char::from(mark.as_bytes()[offset]);
    let starts = text
        .match_indices(punctuation)
        .filter_map(move |(at, _)| at.checked_sub(offset));
    starts.filter(move |start| text.as_bytes()[*start..].starts_with(mark.as_bytes()))
}

/// A text to scan, with the object key before it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Subject<'a> {
    pub(crate) key: &'a str,
    pub(crate) text: &'a str,
    /// The text is a JSON integer in decimal. Integers are often ids or times, so rules require more evidence.
    pub(crate) integer: bool,
}

impl<'a> Subject<'a> {
    /// A string that is no value of an object.
    pub(crate) const fn of_text(text: &'a str) -> Self {
        Self {
            key: "",
            text,
            integer: false,
        }
    }

    pub(crate) fn bytes(&self) -> &[u8] {
        self.text.as_bytes()
    }
}
