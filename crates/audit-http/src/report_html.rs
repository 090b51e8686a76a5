//! The report for auditors as a document to read and print. It loads nothing.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::Value;
use sha2::{Digest, Sha256};
use std::sync::LazyLock;

const STYLE: &str = "body{font:14px/1.5 sans-serif;margin:2rem auto;max-width:70rem;padding:0 1rem}\
                     table{border-collapse:collapse;margin:0 0 2rem;width:100%}\
                     th,td{border:1px solid #999;overflow-wrap:anywhere;padding:.25rem .5rem;text-align:left;vertical-align:top}\
                     thead{display:table-header-group}tr{break-inside:avoid}h2{break-after:avoid}\
                     pre{overflow-wrap:anywhere;white-space:pre-wrap}\
                     @page{margin:15mm}@media print{body{font-size:10px;margin:0;max-width:none;padding:0}}";

/// The header `Content-Security-Policy` of the document. The style is known by its hash.
pub(crate) static CONTENT_POLICY: LazyLock<String> = LazyLock::new(|| {
    let hash = STANDARD.encode(Sha256::digest(STYLE));
    format!(
        "default-src 'none'; style-src 'sha256-{hash}'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    )
});

/// Title, list, and the columns: members of an entry.
const TABLES: [(&str, &str, &str); 9] = [
    (
        "Legal holds",
        "holds",
        "placed/metadata/hold placed/metadata/reason placed/seq placed/at placed/by from to names \
         released/seq released/at released/by released/metadata/reason",
    ),
    (
        "Removals by retention",
        "removals",
        "seq at metadata/plan metadata/events metadata/first_seq metadata/end_seq metadata/received_before metadata/digest metadata/archive",
    ),
    (
        "Erasures",
        "erasures",
        "seq at metadata/plan metadata/erasure metadata/basis metadata/ticket metadata/events metadata/rows metadata/digest",
    ),
    (
        "Archives",
        "archives",
        "seq at by metadata/end_seq metadata/manifest",
    ),
    (
        "Restored events",
        "restored",
        "seq at by metadata/hold metadata/events metadata/first_seq metadata/end_seq metadata/archive",
    ),
    (
        "Plans in their grace period",
        "planned",
        "seq at by metadata/erasure metadata/events metadata/held metadata/not_before",
    ),
    (
        "Cancelled plans",
        "cancelled",
        "seq at by metadata/plan metadata/erasure metadata/reason",
    ),
    (
        "Retention policies",
        "policies",
        "seq at by metadata/days metadata/categories metadata/preset metadata/archive",
    ),
    (
        "Confirmations of how far plans reach",
        "confirmed",
        "seq at by metadata/until",
    ),
];

/// The document of a report as [`report_json`](crate::report_json) returns it.
pub fn report_html(report: &Value) -> String {
    let (log, made_at) = (text(&report["log"]), text(&report["made_at"]));
    let mut html = format!(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n<title>Audit log {log}</title>\n\
         <style>{STYLE}</style>\n</head>\n<body>\n<h1>Audit log {log}</h1>\n<p>Report of {made_at}</p>\n"
    );
    for sentence in sentences(report) {
        html += &format!("<p>{sentence}</p>\n");
    }
    for (title, list, columns) in TABLES {
        write_table(&mut html, title, &report[list], columns);
    }
    if report["more"] == true {
        html += "<p>A list has only its newest entries. The log has all of them.</p>\n";
    }
    let (signed, checkpoint) = (text(&report["signed"]), text(&report["checkpoint"]));
    html += &format!(
        "<h2>Checkpoint</h2>\n<p>Of {signed} events</p>\n<pre>{checkpoint}</pre>\n</body>\n</html>\n"
    );
    html
}

/// What an auditor asks first: what is kept, what is gone, what is held, and whether anything is missing.
fn sentences(report: &Value) -> [String; 4] {
    let (policy, counts, verified) = (&report["policy"], &report["counts"], &report["verified"]);
    let since = text(&policy["since"]);
    let kept = match (policy, &policy["days"]) {
        (Value::Null, _) => "No retention policy was ever set: the log keeps all events.".to_owned(),
        (_, Value::Null) => format!("Since {since}, the log keeps all events."),
        (_, days) => {
            let categories = match text(&policy["categories"]) {
                none if none.is_empty() => none,
                days => format!(", and by category: {days}"),
            };
            format!(
                "Since {since}, the log keeps events for these days: {}{categories}.",
                text(days)
            )
        }
    };
    let gone = format!(
        "Of {} positions, {} lack their event and {} a part of it, each by a removal or erasure that is an event of the log.",
        text(&counts["positions"]),
        text(&counts["removed"]),
        text(&counts["erased"])
    );
    let holds = report["holds"].as_array().into_iter().flatten();
    let in_force = holds.filter(|hold| hold["released"].is_null());
    let reasons: Vec<String> = in_force
        .map(|hold| text(&hold["placed"]["metadata"]["reason"]))
        .collect();
    let held = match reasons.len() {
        0 => "No legal hold is in force.".to_owned(),
        count => format!("Legal holds in force: {count} ({}).", reasons.join("; ")),
    };
    let missing = match verified {
        Value::Null => {
            "Whether anything else is missing was not verified: `audit-server log report` does it.".to_owned()
        }
        _ => format!(
            "The events were verified at {}: {} positions lack their event without an explanation; findings: {}.",
            text(&verified["at"]),
            text(&counts["unexplained"]),
            text(&verified["findings"])
        ),
    };
    [kept, gone, held, missing]
}

/// Writes a list, unless it is empty. The heading of a column is its members.
fn write_table(html: &mut String, title: &str, entries: &Value, columns: &str) {
    let Some(entries) = entries.as_array().filter(|entries| !entries.is_empty()) else {
        return;
    };
    *html += &format!("<h2>{title}</h2>\n<table>\n<thead><tr>");
    for column in columns.split(' ') {
        let heading = column.replace("metadata/", "").replace(['/', '_'], " ");
        *html += &format!("<th>{heading}</th>");
    }
    *html += "</tr></thead>\n<tbody>\n";
    for entry in entries {
        *html += "<tr>";
        for column in columns.split(' ') {
            let cell = match (column, entry.pointer(&format!("/{column}"))) {
                ("metadata/days", Some(Value::Null)) => "for ever".to_owned(),
                (_, value) => text(value.unwrap_or(&Value::Null)),
            };
            *html += &format!("<td>{cell}</td>");
        }
        *html += "</tr>\n";
    }
    *html += "</tbody>\n</table>\n";
}

/// A value as text of the document. Every value of a report goes through this function.
fn text(value: &Value) -> String {
    let plain = match value {
        Value::Null => String::new(),
        Value::String(text) => text.clone(),
        Value::Object(members) => {
            let member = |(name, value): (&String, &Value)| match value {
                Value::String(text) => format!("{name} {text}"),
                value => format!("{name} {value}"),
            };
            let members = members.iter().filter(|(_, value)| !value.is_null());
            members.map(member).collect::<Vec<_>>().join(", ")
        }
        value => value.to_string(),
    };
    let plain = plain.replace('&', "&amp;").replace('<', "&lt;");
    let plain = plain.replace('>', "&gt;").replace('"', "&quot;");
    plain.replace('\'', "&#39;")
}
