//! The trace that a request belongs to (W3C Trace Context, header `traceparent`).

/// The trace that a request belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TraceContext {
    /// Not all zeros.
    pub trace_id: [u8; 16],
    /// The span of the client; `None` at the root of a trace.
    pub parent_id: Option<[u8; 8]>,
    /// Whether the client records the trace.
    pub is_sampled: bool,
}

impl TraceContext {
    /// A new trace.
    pub const fn root(trace_id: [u8; 16]) -> Self {
        Self {
            trace_id,
            parent_id: None,
            is_sampled: true,
        }
    }

    /// Reads `traceparent`: `00-` and trace id, parent id and flags in lower-case hexadecimal (section 3.2). A later version may
    /// have more behind them. `None` for anything else, which begins a new trace.
    pub fn parse(text: &str) -> Option<Self> {
        let fields: Vec<&str> = text.splitn(5, '-').collect();
        let [version, trace_id, parent_id, flags, rest @ ..] = fields.as_slice() else {
            return None;
        };
        let [version] = bytes(version)?;
        if version == 0xff || (version == 0 && !rest.is_empty()) {
            return None;
        }
        let (trace_id, parent_id): ([u8; 16], [u8; 8]) = (bytes(trace_id)?, bytes(parent_id)?);
        let [flags] = bytes(flags)?;
        (trace_id != [0; 16] && parent_id != [0; 8]).then_some(Self {
            trace_id,
            parent_id: Some(parent_id),
            is_sampled: flags & 1 == 1,
        })
    }
}

/// Bytes in lower-case hexadecimal.
fn bytes<const N: usize>(text: &str) -> Option<[u8; N]> {
    let digit = |byte: u8| match byte {
        b'0'..=b'9' => Some(byte - b'0'),
        b'a'..=b'f' => Some(byte - b'a' + 10),
        _ => None,
    };
    let text = text.as_bytes();
    if text.len() != 2 * N {
        return None;
    }
    let mut bytes = [0; N];
    for (byte, digits) in bytes.iter_mut().zip(text.chunks_exact(2)) {
        *byte = digit(digits[0])? << 4 | digit(digits[1])?;
    }
    Some(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    const TRACE: &str = "0af7651916cd43dd8448eb211c80319c";
    const PARENT: &str = "b7ad6b7169203331";

    #[test]
    fn a_header_of_this_or_a_later_version_is_read() {
        for text in [
            format!("00-{TRACE}-{PARENT}-01"),
            format!("00-{TRACE}-{PARENT}-03"),
            format!("cc-{TRACE}-{PARENT}-01-what-the-future-has"),
        ] {
            let context = TraceContext::parse(&text).unwrap();
            assert_eq!((context.trace_id[15], context.is_sampled), (0x9c, true), "{text}");
        }
        let context = TraceContext::parse(&format!("00-{TRACE}-{PARENT}-00")).unwrap();
        assert!(!context.is_sampled);
    }

    #[test]
    fn no_changed_byte_and_no_part_is_read_as_something_else() {
        let text = format!("00-{TRACE}-{PARENT}-01");
        let right = TraceContext::parse(&text).unwrap();
        for end in 0..text.len() {
            assert_eq!(TraceContext::parse(&text[..end]), None, "{end}");
        }
        // Other versions and other flags may have the same ids.
        for place in "00".len()..text.len() - "01".len() {
            for byte in 0..=0x7f_u8 {
                let mut changed = text.clone().into_bytes();
                changed[place] = byte;
                let changed = String::from_utf8(changed).unwrap();
                if changed != text {
                    assert_ne!(TraceContext::parse(&changed), Some(right), "{changed}");
                }
            }
        }
    }

    #[test]
    fn anything_else_begins_a_new_trace() {
        let zeros = "0".repeat(32);
        for text in [
            String::new(),
            format!("ff-{TRACE}-{PARENT}-01"),
            format!("00-{TRACE}-{PARENT}-01-more"),
            format!("00-{TRACE}-{PARENT}"),
            format!("00-{}-{PARENT}-01", TRACE.to_uppercase()),
            format!("00-{zeros}-{PARENT}-01"),
            format!("00-{TRACE}-{}-01", &zeros[..16]),
            format!("00-{TRACE}0-{PARENT}-01"),
            format!("00-{TRACE}-{PARENT}-1"),
            format!("00-{TRACE}-{PARENT}-é"),
        ] {
            assert_eq!(TraceContext::parse(&text), None, "{text}");
        }
    }
}
