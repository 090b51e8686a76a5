//! The files in `deploy/` against the documents that the other tests hold to the code: metrics, environment variables,
//! options and sections.

use super::read;
use super::routes::anchors;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// What is made from the definition of the command line.
const REFERENCE: &str = "docs/reference/options.md";
const RULES: &str = "deploy/prometheus/rules.yml";
const RULE_TESTS: &str = "deploy/prometheus/rules_test.yml";
const DASHBOARD: &str = "deploy/grafana/audit-server.json";
/// Series of a histogram, which the document lists by its name only.
const HISTOGRAM_SERIES: [&str; 3] = ["_bucket", "_sum", "_count"];

/// All files below a directory of the repository, by their paths in it.
fn files_below(directory: &str) -> Vec<String> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let mut files = Vec::new();
    let mut directories = vec![PathBuf::from(directory)];
    while let Some(directory) = directories.pop() {
        let entries = std::fs::read_dir(root.join(&directory)).expect("a directory of the repository");
        for entry in entries {
            let entry = entry.expect("an entry");
            let path = directory.join(entry.file_name());
            // make-secrets writes there.
            if path.ends_with("docker/secrets") {
                continue;
            }
            match entry.file_type().expect("its type").is_dir() {
                true => directories.push(path),
                false => files.push(path.to_str().expect("a path of ASCII").to_owned()),
            }
        }
    }
    files.sort();
    files
}

/// The words of a text that begin with a prefix, out of letters, digits and the given other characters.
fn words<'text>(
    text: &'text str,
    prefix: &'text str,
    others: &'text str,
) -> impl Iterator<Item = &'text str> {
    let is_inner = move |letter: char| letter.is_ascii_alphanumeric() || others.contains(letter);
    text.split(move |letter: char| !is_inner(letter))
        .filter(move |word| word.starts_with(prefix) && word.len() > prefix.len())
}

/// The values of a key, one on each line, such as `- alert: NAME`.
fn values<'text>(text: &'text str, key: &'text str) -> impl Iterator<Item = &'text str> {
    let lines = text.lines().map(|line| line.trim().trim_start_matches("- "));
    lines.filter_map(move |line| Some(line.strip_prefix(key)?.strip_prefix(": ")?.trim()))
}

/// The names in the first cells of the table of metrics.
fn documented_metrics() -> BTreeSet<String> {
    let document = read("docs/api.md");
    let rows = document.lines().filter_map(|line| line.strip_prefix("| `audit_"));
    rows.filter_map(|row| row.split('`').next())
        .map(|name| format!("audit_{name}"))
        .collect()
}

/// The words of a text that are names of metrics, without the suffixes of histograms.
fn metrics(text: &str) -> BTreeSet<String> {
    let names = words(text, "audit_", "_").map(|name| {
        let suffix = HISTOGRAM_SERIES.iter().find(|suffix| name.ends_with(**suffix));
        suffix
            .map_or(name, |suffix| name.trim_end_matches(*suffix))
            .to_owned()
    });
    names.collect()
}

#[test]
fn rules_and_dashboard_use_metrics_that_exist() {
    let documented = documented_metrics();
    assert!(documented.len() > 25, "{documented:?}");
    for file in [RULES, RULE_TESTS, DASHBOARD] {
        let used = metrics(&read(file));
        assert!(used.len() > 10, "{file}: {used:?}");
        let unknown: Vec<_> = used.difference(&documented).collect();
        assert!(
            unknown.is_empty(),
            "{file} uses {unknown:?}, which docs/api.md does not have"
        );
    }
}

#[test]
fn the_dashboard_shows_every_metric() {
    let shown = metrics(&read(DASHBOARD));
    let documented = documented_metrics();
    let missing: Vec<_> = documented.difference(&shown).collect();
    assert!(missing.is_empty(), "{DASHBOARD} lacks {missing:?}");
}

#[test]
fn every_panel_of_the_dashboard_has_a_query_and_a_title() {
    let dashboard: serde_json::Value = serde_json::from_str(&read(DASHBOARD)).expect("a JSON document");
    let panels = dashboard["panels"].as_array().expect("panels");
    let mut ids = BTreeSet::new();
    for panel in panels {
        assert!(
            ids.insert(panel["id"].as_u64()),
            "two panels with one id: {panel}"
        );
        assert!(
            panel["title"].as_str().is_some_and(|title| !title.is_empty()),
            "{panel}"
        );
        let targets = panel["targets"].as_array().map_or(0, Vec::len);
        assert_eq!(targets == 0, panel["type"] == "row", "{panel}");
    }
    assert!(panels.len() > 20);
}

#[test]
fn every_alert_has_a_severity_a_section_and_a_unit_test() {
    let rules = read(RULES);
    let alerts: Vec<_> = values(&rules, "alert").collect();
    let names: BTreeSet<_> = alerts.iter().copied().collect();
    assert!(names.len() > 15 && names.len() == alerts.len(), "{alerts:?}");
    let severities: Vec<_> = values(&rules, "labels").collect();
    assert_eq!(severities.len(), alerts.len());
    for severity in severities {
        let known = ["{severity: critical}", "{severity: warning}"];
        assert!(known.contains(&severity), "{severity}");
    }
    let sections: Vec<_> = values(&rules, "document").collect();
    assert_eq!(sections.len(), alerts.len());
    for section in sections {
        let (file, anchor) = section.split_once('#').expect("a section of a document");
        assert!(anchors(&read(file)).contains(anchor), "there is no {section}");
    }
    let tests = read(RULE_TESTS);
    // An alert that is only expected to be silent may be one that never fires.
    let fires = tests.split("alertname: ").skip(1).filter_map(|case| {
        let name = case.lines().next()?;
        case.contains("exp_labels").then_some(name)
    });
    assert_eq!(fires.collect::<BTreeSet<_>>(), names);
}

#[test]
fn deployment_files_use_variables_that_exist() {
    let reference = read(REFERENCE) + &read("docs/databases.md");
    let documented: BTreeSet<_> = words(&reference, "AUDIT_", "_").collect();
    let mut count = 0;
    for file in files_below("deploy") {
        let text = read(&file);
        for variable in words(&text, "AUDIT_", "_").chain(words(&text, "PGPASS", "")) {
            let is_documented = documented.contains(variable) || reference.contains(&format!("`{variable}`"));
            assert!(
                is_documented,
                "{file} uses {variable}, which {REFERENCE} does not have"
            );
            count += 1;
        }
    }
    assert!(count > 20, "only {count} uses of variables were found");
}

/// The command line of the service in a line of a file: what follows its name.
fn command_line(line: &str) -> Option<&str> {
    let (_, rest) = line.rsplit_once("audit-server ")?;
    Some(rest.split(['`', '|', ';']).next().unwrap_or_default())
}

#[test]
fn deployment_files_use_commands_and_options_that_exist() {
    let reference = read(REFERENCE);
    let options: BTreeSet<_> = words(&reference, "--", "-").collect();
    let mut commands = BTreeSet::new();
    for file in files_below("deploy") {
        let text = read(&file);
        for command in text.lines().filter_map(command_line) {
            for option in words(command, "--", "-") {
                assert!(options.contains(option), "{file}: there is no {option}");
            }
            let names: Vec<_> = command
                .split_whitespace()
                .take_while(|word| !word.starts_with('-'))
                .collect();
            commands.insert(names.join(" "));
        }
    }
    for command in ["serve", "log verify", "org create"] {
        assert!(commands.contains(command), "{command}: {commands:?}");
        assert!(
            reference.contains(&format!("`{command}`")),
            "there is no {command}"
        );
    }
}

#[test]
fn the_links_of_the_deployment_s_readme_lead_somewhere() {
    let readme = read("deploy/README.md");
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let links: Vec<_> = readme
        .split("](")
        .skip(1)
        .filter_map(|rest| rest.split(')').next())
        .collect();
    assert!(links.len() > 10, "{links:?}");
    for link in links.into_iter().filter(|link| !link.starts_with("https://")) {
        let (file, anchor) = link.split_once('#').unwrap_or((link, ""));
        let file = Path::new("deploy").join(file);
        assert!(root.join(&file).exists(), "there is no {link}");
        if !anchor.is_empty() {
            let text = read(file.to_str().expect("a path of ASCII"));
            assert!(anchors(&text).contains(anchor), "there is no {link}");
        }
    }
}
