//! The text of an event that is sent as it is.

use serde::de::IgnoredAny;
use serde::ser::{Serialize, SerializeStruct as _, Serializer};
use serde_json::{Map, Value};
use std::fmt;

/// The JSON object of an event, as its reader sees it. It serializes as this text, like
/// [`RawValue`](serde_json::value::RawValue), which would check the text of each event of a page again.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EventJson(String);

/// The name by which `serde_json` knows a [`RawValue`](serde_json::value::RawValue) and its only member. A test holds it.
const RAW_VALUE: &str = "$serde_json::private::RawValue";

impl EventJson {
    /// A text that is known to be a JSON object.
    pub(crate) const fn of_checked(text: String) -> Self {
        Self(text)
    }

    /// The text of an object.
    pub fn of(object: Map<String, Value>) -> Self {
        Self(Value::Object(object).to_string())
    }

    /// A text that has to be checked.
    ///
    /// # Errors
    /// When the text is not JSON.
    pub fn parse(text: String) -> serde_json::Result<Self> {
        serde_json::from_str(&text).map(|IgnoredAny| Self(text))
    }

    /// The text.
    pub fn get(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for EventJson {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0)
    }
}

impl Serialize for EventJson {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut raw = serializer.serialize_struct(RAW_VALUE, 1)?;
        raw.serialize_field(RAW_VALUE, &self.0)?;
        raw.end()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    #[derive(serde::Serialize)]
    struct Page<'a> {
        events: [&'a EventJson; 2],
    }

    /// As the routes add the id of the request.
    #[derive(serde::Serialize)]
    struct Identified<'a> {
        #[serde(flatten)]
        page: Page<'a>,
    }

    #[test]
    fn it_serializes_as_its_text() {
        let event = EventJson::parse(r#"{"b": 1.50, "a": "\u00e9"}"#.to_owned()).unwrap();
        let page = Identified {
            page: Page { events: [&event; 2] },
        };
        let text = event.get();
        assert_eq!(
            serde_json::to_string(&page).unwrap(),
            format!(r#"{{"events":[{text},{text}]}}"#)
        );
        assert!(EventJson::parse("{".to_owned()).is_err());
    }
}
