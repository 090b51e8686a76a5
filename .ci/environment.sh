# shellcheck shell=bash
# What all steps share. Each step sources it.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
# A clone is built once, and incremental data takes half of the disk.
export CARGO_INCREMENTAL=0
# Clippy compiles the workspace in every step, and lints and tests share one compilation: `cargo clippy` would analyse everything once
# more. What is shipped is compiled without it (deploy/release/build, and the step `packages`).
export RUSTC_WORKSPACE_WRAPPER=clippy-driver CLIPPY_ARGS=-Dwarnings
# A download that fails once does not end the run.
export CARGO_NET_RETRY=10 PIP_RETRIES=10 PIP_DEFAULT_TIMEOUT=60
export npm_config_fetch_retries=6 npm_config_fetch_retry_mintimeout=2000

target=${CARGO_TARGET_DIR:-$PWD/target}
# The environment of the libraries in tests/requirements.txt.
tools=$target/tools

# install PACKAGE…: Debian's packages.
install() {
    mkdir -p "$target"
    if [ -z "$(find "$target/apt-updated" -mmin -60 2>/dev/null)" ]; then
        apt-get update -q -o Acquire::Retries=10
        touch "$target/apt-updated"
    fi
    DEBIAN_FRONTEND=noninteractive apt-get install -y -q --no-install-recommends -o Acquire::Retries=10 "$@"
}

# The debug server of the tests, for the steps that use one. Builds it where the tests have not run before.
use_server() {
    cargo build -p audit-server --bin audit-server --features as-tested --locked
    export AUDIT_SERVER_BIN=$target/debug/audit-server
}
