//! Programs of `tests/` that check the log with independent libraries: in Python (`AUDIT_TEST_PYTHON` names an
//! interpreter that has `tests/requirements.txt`), and in Go (`AUDIT_TEST_GO`, else `go` in `PATH`, with
//! golang.org/x/mod as Debian's `golang-golang-x-mod-dev` brings it).

use crate::edge::{environment, temporary_directory};
use crate::prerequisite::Prerequisite;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::OnceLock;

const TESTS: &str = env!("CARGO_MANIFEST_DIR");
/// Where Debian has the sources of Go's libraries.
const GO_LIBRARIES: &str = "/usr/share/gocode";

/// The Python interpreter, if there is one.
pub fn python() -> Option<String> {
    let python = environment("AUDIT_TEST_PYTHON").ok_or("AUDIT_TEST_PYTHON is not set");
    Prerequisite::Python.check(python)
}

/// The program `aics-witness`: the one that `AUDIT_TEST_WITNESS` names, else the one beside the Python interpreter.
pub fn aics_witness() -> Option<String> {
    let beside_python = || {
        let python = environment("AUDIT_TEST_PYTHON")?;
        let program = Path::new(&python).with_file_name("aics-witness");
        program.is_file().then(|| program.display().to_string())
    };
    let program = environment("AUDIT_TEST_WITNESS").or_else(beside_python);
    Prerequisite::Witness
        .check(program.ok_or("it is not beside AUDIT_TEST_PYTHON, and AUDIT_TEST_WITNESS is not set"))
}

/// The `go` command, if there is one with golang.org/x/mod.
pub fn go() -> Option<String> {
    let on_path = || {
        let path = environment("PATH")?;
        let programs = std::env::split_paths(&path).map(|directory| directory.join("go"));
        let found: Option<PathBuf> = programs.into_iter().find(|program| program.is_file());
        Some(found?.display().to_string())
    };
    let has_library = Path::new(GO_LIBRARIES)
        .join("src/golang.org/x/mod/sumdb/tlog")
        .is_dir();
    let go = match environment("AUDIT_TEST_GO").or_else(on_path) {
        None => Err("there is no go in PATH, and AUDIT_TEST_GO is not set"),
        Some(_) if !has_library => Err("golang.org/x/mod is not there (Debian: golang-golang-x-mod-dev)"),
        Some(go) => Ok(go),
    };
    Prerequisite::Go.check(go)
}

/// Runs a script of `tests/`.
pub fn run_python(python: &str, script: &str, arguments: &[&str]) -> Output {
    run(Command::new(python)
        .arg(Path::new(TESTS).join(script))
        .args(arguments))
}

/// Runs `tests/log_sumdb`, built once per test process.
pub fn run_log_sumdb(go: &str, arguments: &[&str]) -> Output {
    static PROGRAM: OnceLock<PathBuf> = OnceLock::new();
    let program = PROGRAM.get_or_init(|| build_go(go, &Path::new(TESTS).join("log_sumdb/main.go")));
    run(Command::new(program).args(arguments))
}

/// Builds a Go program of one file, without the network.
pub fn build_go(go: &str, source: &Path) -> PathBuf {
    let program = temporary_directory("go-").join("program");
    let mut build = Command::new(go);
    build.args(["build", "-o"]).arg(&program).arg(source);
    build
        .env("GO111MODULE", "off")
        .env("GOPATH", GO_LIBRARIES)
        .env("GOFLAGS", "");
    let output = run(&mut build);
    assert!(output.status.success(), "{output:?}");
    program
}

/// Runs a program to its end.
pub fn run(command: &mut Command) -> Output {
    command
        .output()
        .unwrap_or_else(|error| panic!("{command:?}: {error}"))
}
