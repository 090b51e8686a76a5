//! Finds the commit that is built, for `audit-server --version`.
//!
//! A release names it in `SOURCE_COMMIT`, so that a source archive without `.git` gives the same program. Otherwise release builds
//! read it from git. Debug builds have none: each commit would build them again.

#![expect(
    clippy::disallowed_methods,
    reason = "a build has no other input than its environment"
)]

use std::path::{Path, PathBuf};
use std::process::Command;

/// Digits of the commit in the version.
const COMMIT_DIGITS: usize = 12;

fn main() {
    println!("cargo:rerun-if-env-changed=SOURCE_COMMIT");
    let named = std::env::var("SOURCE_COMMIT")
        .ok()
        .filter(|name| !name.is_empty());
    let is_release = std::env::var("PROFILE").is_ok_and(|profile| profile == "release");
    let commit = match named {
        Some(commit) => {
            assert!(is_commit(&commit), "SOURCE_COMMIT is not a commit: {commit}");
            Some(commit)
        }
        None if is_release => commit_of_repository(),
        None => None,
    };
    let package = std::env::var("CARGO_PKG_VERSION").expect("cargo sets it");
    let version = match commit {
        Some(commit) => format!("{package} ({})", shortened(&commit)),
        None => package,
    };
    println!("cargo:rustc-env=AUDIT_SERVER_VERSION={version}");
}

fn is_commit(name: &str) -> bool {
    name.len() >= COMMIT_DIGITS && name.bytes().all(|byte| byte.is_ascii_hexdigit())
}

/// The first digits of the commit; what follows them, such as a mark, stays.
fn shortened(commit: &str) -> String {
    let (digits, mark) = commit.split_once('-').unwrap_or((commit, ""));
    let separator = if mark.is_empty() { "" } else { "-" };
    format!("{}{separator}{mark}", &digits[..COMMIT_DIGITS])
}

/// The commit of the work tree, marked if tracked files differ from it. `None` without git or outside of this repository.
fn commit_of_repository() -> Option<String> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    // Of a package unpacked inside of another repository, the commit would be that one's.
    let top = PathBuf::from(git(&root, &["rev-parse", "--show-toplevel"])?);
    if top.canonicalize().ok()? != root.canonicalize().ok()? {
        return None;
    }
    for part in ["bins", "crates", "migrations", "Cargo.toml", "Cargo.lock"] {
        println!("cargo:rerun-if-changed={}", root.join(part).display());
    }
    let log = git(&root, &["rev-parse", "--git-path", "logs/HEAD"])?;
    println!("cargo:rerun-if-changed={}", root.join(log).display());
    let commit = git(&root, &["rev-parse", "HEAD"]).filter(|commit| is_commit(commit))?;
    let changes = git(&root, &["status", "--porcelain", "--untracked-files=no"])?;
    Some(match changes.is_empty() {
        true => commit,
        false => format!("{commit}-modified"),
    })
}

fn git(root: &Path, arguments: &[&str]) -> Option<String> {
    let output = Command::new("git")
        .arg("-C")
        .arg(root)
        .args(arguments)
        .output()
        .ok()?;
    let text = String::from_utf8(output.stdout).ok()?;
    output.status.success().then(|| text.trim().to_owned())
}
