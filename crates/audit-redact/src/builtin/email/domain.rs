//! The domain of an e-mail address.

use super::is_mark;
use crate::work;

/// Longest domain.
const DOMAIN_BYTES_MAX: usize = 255;
/// Longest label of a domain.
const LABEL_CHARS_MAX: usize = 63;
/// Most labels that are read. Real domains have far fewer.
const LABELS_MAX: usize = 32;

/// File extensions. Those that are also country domains (`.rs`, `.py`, `.sh`) are not listed: a missed address is
/// worse than a redacted file name.
const FILE_EXTENSIONS: &[&str] = &[
    "7z", "asc", "avi", "avro", "bak", "bin", "bmp", "bz2", "cer", "cfg", "class", "conf", "cpp", "crt",
    "crx", "css", "csv", "dat", "deb", "der", "dll", "dmg", "doc", "docx", "eml", "enc", "env", "eps", "exe",
    "flac", "gif", "go", "gpg", "gz", "heic", "hpp", "htm", "html", "ico", "ics", "ini", "ipynb", "iso",
    "jar", "java", "jpeg", "jpg", "js", "json", "jsonl", "jsx", "key", "less", "lock", "log", "lz4", "map",
    "mjs", "mkv", "mov", "mp3", "mp4", "mpg", "msg", "msi", "ndjson", "odt", "ods", "ogg", "orc", "orig",
    "otf", "p12", "parquet", "patch", "pcap", "pdf", "pem", "pfx", "php", "png", "ppt", "pptx", "psd", "rar",
    "raw", "rb", "rpm", "rst", "rtf", "sass", "scss", "sig", "sql", "sqlite", "srt", "svg", "swf", "swp",
    "tar", "tgz", "tif", "tiff", "tmp", "toml", "ts", "tsv", "tsx", "ttf", "txt", "vcf", "vue", "war",
    "wasm", "wav", "webm", "webp", "whl", "woff", "woff2", "xls", "xlsm", "xlsx", "xml", "xz", "yaml", "yml",
    "zip", "zst",
];

/// The end of the domain that begins at `start`.
pub(super) fn end(text: &str, start: usize) -> Option<usize> {
    let mut ends = [0; LABELS_MAX];
    let mut count = 0;
    let mut at = start;
    while count < LABELS_MAX {
        let label_end = label_end(text, at);
        if label_end == at {
            break;
        }
        ends[count] = label_end;
        count += 1;
        at = label_end + 1;
        if text.as_bytes().get(label_end) != Some(&b'.') {
            break;
        }
    }
    let label = |index: usize| {
        let from = if index == 0 { start } else { ends[index - 1] + 1 };
        &text[from..ends[index]]
    };
    if count >= 2 && is_version(label(0), label(1)) {
        return None;
    }
    while count >= 2 && !is_top_level(label(count - 1)) {
        count -= 1;
    }
    let well_formed = count >= 2
        && ends[count - 1] - start <= DOMAIN_BYTES_MAX
        && (0..count)
            .all(|index| label(index).chars().count() <= LABEL_CHARS_MAX && !label(index).starts_with('-'));
    well_formed.then(|| ends[count - 1])
}

/// The end of the label at `start`: letters with their marks, digits and inner dashes. A trailing dash is not part of
/// the label.
fn label_end(text: &str, start: usize) -> usize {
    let rest = &text[start.min(text.len())..];
    let len = rest
        .find(|ch: char| !(ch.is_alphanumeric() || ch == '-' || is_mark(ch)))
        .unwrap_or(rest.len());
    work::bytes_read(len);
    start + rest[..len].trim_end_matches('-').len()
}

/// Whether the first two labels are a version such as `18.2` or `v4.1`.
fn is_version(first: &str, second: &str) -> bool {
    let number = first.strip_prefix(['v', 'V']).unwrap_or(first);
    !number.is_empty()
        && number.bytes().all(|byte| byte.is_ascii_digit())
        && second.bytes().next().is_some_and(|byte| byte.is_ascii_digit())
}

fn is_top_level(label: &str) -> bool {
    let encoded = label
        .get(..4)
        .is_some_and(|head| head.eq_ignore_ascii_case("xn--"));
    let letters = label.chars().count() >= 2 && label.chars().all(|ch| ch.is_alphabetic() || is_mark(ch));
    (encoded || letters)
        && !FILE_EXTENSIONS
            .iter()
            .any(|extension| extension.eq_ignore_ascii_case(label))
}

#[cfg(test)]
mod tests {
    use super::end;

    #[test]
    fn a_domain_ends_with_a_top_level_domain() {
        for (text, domain) in [
            ("example.com", Some("example.com")),
            ("mail.example.co.uk.", Some("mail.example.co.uk")),
            ("example.com-", Some("example.com")),
            ("example.com.tar.gz", Some("example.com")),
            ("example.xn--p1ai", Some("example.xn--p1ai")),
            ("163.com", Some("163.com")),
            ("server.local", Some("server.local")),
            ("example.com.2024", Some("example.com")),
            ("mu\u{308}ller.de", Some("mu\u{308}ller.de")),
            ("example.com\u{200d}", Some("example.com\u{200d}")),
            ("2x.png", None),
            ("18.2.0", None),
            ("1.2.3-rc.beta", None),
            ("host", None),
            ("7.x", None),
        ] {
            assert_eq!(end(text, 0), domain.map(str::len), "{text}");
        }
    }
}
