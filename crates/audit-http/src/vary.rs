//! The header `Vary` (RFC 9110, section 12.5.5), to which several layers add names.

use actix_web::http::header::{HeaderMap, HeaderValue, VARY};

/// Adds the name of a request header that the response depends on, so that a cache keeps its forms apart.
pub(crate) fn add(headers: &mut HeaderMap, name: &'static str) {
    if !headers.contains_key(VARY) {
        headers.insert(VARY, HeaderValue::from_static(name));
        return;
    }
    let listed = headers.get_all(VARY).filter_map(|value| value.to_str().ok());
    let mut names: Vec<&str> = listed.flat_map(|value| value.split(',')).map(str::trim).collect();
    if names
        .iter()
        .any(|listed| *listed == "*" || listed.eq_ignore_ascii_case(name))
    {
        return;
    }
    names.push(name);
    if let Ok(value) = HeaderValue::from_str(&names.join(", ")) {
        headers.insert(VARY, value);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn after_adding(present: &[&'static str], names: &[&'static str]) -> String {
        let mut headers = HeaderMap::new();
        for value in present {
            headers.append(VARY, HeaderValue::from_static(value));
        }
        for name in names {
            add(&mut headers, name);
        }
        let values = headers.get_all(VARY).map(|value| value.to_str().expect("text"));
        values.collect::<Vec<_>>().join(" | ")
    }

    #[test]
    fn names_are_added_to_those_that_are_listed_once_each() {
        let names = ["Origin", "Accept-Encoding", "Origin", "accept-encoding"];
        assert_eq!(after_adding(&[], &names), "Origin, Accept-Encoding");
        assert_eq!(
            after_adding(&["Origin"], &["Accept-Encoding"]),
            "Origin, Accept-Encoding"
        );
    }

    #[test]
    fn lists_in_one_value_or_several_are_read_and_a_star_covers_every_name() {
        assert_eq!(after_adding(&["Accept, Origin"], &["Origin"]), "Accept, Origin");
        assert_eq!(
            after_adding(&["Accept", "Cookie"], &["Origin"]),
            "Accept, Cookie, Origin"
        );
        assert_eq!(after_adding(&["*"], &["Origin"]), "*");
    }
}
