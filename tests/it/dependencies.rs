//! The arrows between the crates of the workspace, from the graph that `cargo metadata` resolves: normal and build
//! dependencies, transitively, with the features that the workspace enables. Dev-dependencies do not count.
//!
//! The map in docs/architecture.md lists the workspace crates that each crate depends on, so a new edge fails until the map has it. A
//! crate without a rule or without a row fails, and so does one of these that names a crate which does not exist: a renamed crate
//! cannot escape its rule.

use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::process::Command;

/// The dependencies that a crate may not have.
struct Rule {
    package: &'static str,
    /// Crates of the registry that it must not reach.
    avoids: &'static [&'static [&'static str]],
}

const DATABASE: &[&str] = &["diesel", "libsqlite3-sys", "pq-sys", "r2d2"];
const RUNTIME: &[&str] = &["tokio", "mio", "actix-rt"];
const WEB: &[&str] = &["actix-web", "actix-http"];
const CLIENT: &[&str] = &["ureq", "rustls"];
const OPENSSL: &[&str] = &["openssl-sys"];
/// For crates without I/O.
const IO: &[&[&str]] = &[DATABASE, RUNTIME, WEB, CLIENT];

const RULES: &[Rule] = &[
    Rule {
        package: "audit-domain",
        avoids: IO,
    },
    Rule {
        package: "audit-admission",
        // It waits with the runtime's timer.
        avoids: &[DATABASE, WEB, CLIENT],
    },
    Rule {
        package: "audit-sha256",
        avoids: IO,
    },
    Rule {
        package: "audit-csv",
        avoids: IO,
    },
    Rule {
        package: "audit-redact",
        avoids: IO,
    },
    Rule {
        package: "audit-index",
        avoids: IO,
    },
    Rule {
        package: "audit-ledger",
        avoids: IO,
    },
    Rule {
        package: "audit-alerts",
        avoids: IO,
    },
    Rule {
        package: "audit-auth",
        avoids: IO,
    },
    Rule {
        package: "audit-secrets",
        avoids: IO,
    },
    Rule {
        package: "audit-webhooks",
        avoids: &[DATABASE, RUNTIME, WEB],
    },
    Rule {
        package: "audit-destinations",
        avoids: &[DATABASE, RUNTIME, WEB],
    },
    Rule {
        package: "audit-timestamp",
        avoids: IO,
    },
    Rule {
        package: "audit-anchors",
        avoids: &[DATABASE, RUNTIME, WEB],
    },
    Rule {
        package: "audit-archive",
        avoids: IO,
    },
    Rule {
        package: "audit-store",
        avoids: &[WEB, CLIENT],
    },
    Rule {
        package: "audit-app",
        avoids: &[WEB],
    },
    // Files and their headers: no other crate of the workspace.
    Rule {
        package: "audit-web",
        avoids: &[DATABASE, CLIENT],
    },
    Rule {
        package: "audit-http",
        avoids: &[],
    },
    Rule {
        package: "audit-operations",
        avoids: &[],
    },
    Rule {
        package: "audit-cli",
        avoids: &[DATABASE, RUNTIME, WEB],
    },
    Rule {
        package: "audit-transport",
        avoids: &[DATABASE],
    },
    // What an auditor reads and installs.
    Rule {
        package: "audit-verifier",
        avoids: &[DATABASE, RUNTIME, WEB, OPENSSL],
    },
    Rule {
        package: "audit-witness",
        avoids: &[DATABASE, OPENSSL],
    },
    Rule {
        package: "audit-verify",
        avoids: &[DATABASE, OPENSSL],
    },
    Rule {
        package: "audit-server",
        avoids: &[],
    },
    // What it checks: the pure crates.
    Rule {
        package: "audit-properties",
        avoids: &[DATABASE, WEB],
    },
    // What other people's programs link.
    Rule {
        package: "audit-client",
        avoids: &[DATABASE, RUNTIME, WEB],
    },
    // Both see the service from outside.
    Rule {
        package: "audit-bench",
        avoids: &[],
    },
    Rule {
        package: "audit-tests",
        avoids: &[],
    },
];

/// A package of the graph. Dependencies are ids, which stay the same when a dependency is renamed in a manifest.
struct Package {
    name: String,
    is_member: bool,
    dependencies: Vec<String>,
}

fn text(value: &Value) -> String {
    value.as_str().expect("a text of cargo metadata").to_owned()
}

fn list(value: &Value) -> &[Value] {
    value.as_array().expect("a list of cargo metadata")
}

fn read(metadata: &Value) -> BTreeMap<String, Package> {
    let members: BTreeSet<String> = list(&metadata["workspace_members"]).iter().map(text).collect();
    let names: BTreeMap<String, String> = list(&metadata["packages"])
        .iter()
        .map(|package| (text(&package["id"]), text(&package["name"])))
        .collect();
    // A kind of null is a normal dependency.
    let counts = |dependency: &&Value| {
        list(&dependency["dep_kinds"])
            .iter()
            .any(|kind| kind["kind"] != "dev")
    };
    let package = |node: &Value| {
        let id = text(&node["id"]);
        let dependencies = list(&node["deps"]).iter().filter(counts);
        let package = Package {
            name: names[&id].clone(),
            is_member: members.contains(&id),
            dependencies: dependencies.map(|dependency| text(&dependency["pkg"])).collect(),
        };
        (id, package)
    };
    list(&metadata["resolve"]["nodes"]).iter().map(package).collect()
}

/// Everything that a package depends on, without itself.
fn reached<'a>(packages: &'a BTreeMap<String, Package>, id: &str) -> Vec<&'a Package> {
    let mut seen = BTreeSet::new();
    let mut next = vec![id.to_owned()];
    while let Some(id) = next.pop() {
        for dependency in &packages[&id].dependencies {
            if seen.insert(dependency.clone()) {
                next.push(dependency.clone());
            }
        }
    }
    seen.iter().map(|id| &packages[id]).collect()
}

/// The map of the crates: what each depends on in the workspace.
fn map() -> BTreeMap<String, BTreeSet<String>> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/architecture.md");
    let document = std::fs::read_to_string(path).expect("the architecture is documented");
    let rows = document.lines().filter_map(|line| {
        let mut cells = line.strip_prefix("| `audit-")?.split(" | ");
        let package = cells.next()?.strip_suffix('`')?;
        let dependencies = cells.next()?.split(", ").filter(|name| *name != "–");
        cells.next()?;
        let full = |name: &str| format!("audit-{name}");
        Some((full(package), dependencies.map(full).collect()))
    });
    rows.collect()
}

/// Every violation of the rules and of the map in the graph.
fn violations(metadata: &Value) -> Vec<String> {
    let packages = read(metadata);
    let members: BTreeMap<&str, &str> = packages
        .iter()
        .filter(|(_, package)| package.is_member)
        .map(|(id, package)| (package.name.as_str(), id.as_str()))
        .collect();
    let all: BTreeSet<&str> = packages.values().map(|package| package.name.as_str()).collect();
    let ruled: BTreeSet<&str> = RULES.iter().map(|rule| rule.package).collect();
    let mut violations: Vec<String> = members
        .keys()
        .filter(|name| !ruled.contains(**name))
        .map(|name| format!("{name} has no rule"))
        .collect();
    let map = map();
    for (package, expected) in &map {
        let dependencies = members
            .get(package.as_str())
            .map(|id| &packages[*id].dependencies);
        let present = dependencies.into_iter().flatten().map(|id| &packages[id]);
        let present = present.filter(|package| package.is_member);
        let present: BTreeSet<String> = present.map(|package| package.name.clone()).collect();
        if dependencies.is_none() || present != *expected {
            violations.push(format!(
                "{package} depends on {present:?}, and docs/architecture.md says {expected:?}"
            ));
        }
    }
    let mapped = |name: &&&str| map.contains_key(**name);
    let without_row = members.keys().filter(|name| !mapped(name));
    violations.extend(without_row.map(|name| format!("{name} is not in the map of docs/architecture.md")));
    for rule in RULES {
        let package = rule.package;
        let avoided: BTreeSet<&str> = rule.avoids.concat().into_iter().collect();
        let missing = avoided.iter().filter(|name| !all.contains(**name));
        violations.extend(missing.map(|name| format!("{package} avoids {name}, which does not exist")));
        let Some(id) = members.get(package) else {
            violations.push(format!("the rule of {package} names a crate that does not exist"));
            continue;
        };
        let reached = reached(&packages, id);
        let names: BTreeSet<&str> = reached.iter().map(|package| package.name.as_str()).collect();
        let forbidden = names.intersection(&avoided);
        violations.extend(forbidden.map(|name| format!("{package} must not depend on {name}")));
    }
    violations
}

fn cargo(arguments: &[&str]) -> String {
    let output = Command::new(env!("CARGO"))
        .args(arguments)
        .current_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join(".."))
        .output()
        .expect("run cargo");
    assert!(output.status.success(), "cargo {arguments:?}: {output:?}");
    String::from_utf8(output.stdout).expect("cargo writes UTF-8")
}

fn metadata() -> Value {
    let version = cargo(&["--version", "--verbose"]);
    let host = version.lines().find_map(|line| line.strip_prefix("host: "));
    // Without a platform, cargo downloads the dependencies of all platforms.
    let platform = ["--filter-platform", host.expect("cargo names its host")];
    let arguments = [&["metadata", "--format-version", "1", "--locked"], &platform[..]].concat();
    serde_json::from_str(&cargo(&arguments)).expect("cargo metadata is JSON")
}

/// The resolved node of a package.
fn node<'a>(metadata: &'a mut Value, name: &str) -> &'a mut Value {
    let id = id(metadata, name);
    let nodes = metadata["resolve"]["nodes"].as_array_mut().expect("nodes");
    let node = nodes.iter_mut().find(|node| node["id"] == id);
    node.unwrap_or_else(|| panic!("{name} is not resolved"))
}

fn id(metadata: &Value, name: &str) -> Value {
    let package = list(&metadata["packages"])
        .iter()
        .find(|package| package["name"] == name);
    package.unwrap_or_else(|| panic!("there is no package {name}"))["id"].clone()
}

/// The graph with one more edge. The dependency is renamed, as a manifest may do.
fn with_edge(metadata: &Value, from: &str, to: &str, kind: Value) -> Value {
    let mut changed = metadata.clone();
    let edge =
        json!({"name": "other_name", "pkg": id(metadata, to), "dep_kinds": [{"kind": kind, "target": null}]});
    node(&mut changed, from)["deps"]
        .as_array_mut()
        .expect("dependencies")
        .push(edge);
    changed
}

fn with_renamed(metadata: &Value, from: &str, to: &str) -> Value {
    let mut changed = metadata.clone();
    let packages = changed["packages"].as_array_mut().expect("packages");
    for package in packages.iter_mut().filter(|package| package["name"] == from) {
        package["name"] = json!(to);
    }
    changed
}

#[test]
fn crates_depend_on_what_their_rules_say_and_on_nothing_else() {
    let violations = violations(&metadata());
    assert!(violations.is_empty(), "{violations:#?}");
}

#[test]
fn a_forbidden_dependency_is_caught() {
    let metadata = metadata();
    for (from, to, kind, expected) in [
        (
            "audit-domain",
            "tokio",
            Value::Null,
            "audit-domain must not depend on tokio",
        ),
        (
            "audit-domain",
            "diesel",
            json!("build"),
            "audit-domain must not depend on diesel",
        ),
        (
            "audit-app",
            "actix-web",
            Value::Null,
            "audit-app must not depend on actix-web",
        ),
        // Through a crate of the registry.
        (
            "regex-automata",
            "actix-http",
            Value::Null,
            "audit-redact must not depend on actix-http",
        ),
    ] {
        let violations = violations(&with_edge(&metadata, from, to, kind));
        assert!(
            violations.iter().any(|violation| violation == expected),
            "{violations:#?}"
        );
    }
    let dev = with_edge(&metadata, "audit-domain", "tokio", json!("dev"));
    assert_eq!(
        violations(&dev),
        [""; 0],
        "a dev-dependency is not a dependency of the library"
    );
}

#[test]
fn a_new_edge_between_crates_of_the_workspace_is_caught() {
    let metadata = metadata();
    for (from, to) in [("audit-redact", "audit-domain"), ("audit-store", "audit-auth")] {
        let violations = violations(&with_edge(&metadata, from, to, Value::Null));
        let start = format!("{from} depends on ");
        assert!(
            violations.iter().any(|violation| violation.starts_with(&start)),
            "{violations:#?}"
        );
    }
}

#[test]
fn a_renamed_crate_is_caught() {
    let metadata = metadata();
    for (name, expected) in [
        ("diesel", "audit-domain avoids diesel, which does not exist"),
        (
            "audit-redact",
            "the rule of audit-redact names a crate that does not exist",
        ),
        ("audit-redact", "renamed has no rule"),
        (
            "audit-redact",
            "renamed is not in the map of docs/architecture.md",
        ),
    ] {
        let violations = violations(&with_renamed(&metadata, name, "renamed"));
        assert!(
            violations.iter().any(|violation| violation == expected),
            "{violations:#?}"
        );
    }
}

/// The crates and features of a selection of packages, a line each.
fn built(selection: &[&str]) -> BTreeSet<String> {
    let format = ["--prefix=none", "--no-dedupe", "--format={p} [{f}]", "--locked"];
    let tree = cargo(&[&["tree"], selection, &format[..]].concat());
    tree.lines().map(str::to_owned).collect()
}

#[test]
fn the_server_under_test_is_built_once() {
    let server = built(&[
        "--package=audit-server",
        "--edges=normal,build",
        "--features=as-tested",
    ]);
    let all = built(&["--workspace", "--edges=normal,build,dev"]);
    // The program itself is linked for the tests alone.
    let twice = server
        .difference(&all)
        .filter(|line| !line.starts_with("audit-server "));
    let twice: Vec<_> = twice.collect();
    assert!(
        twice.is_empty(),
        "the tests build these with other features: {twice:#?}; declare the features in the workspace's Cargo.toml"
    );
}
